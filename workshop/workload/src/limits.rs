//! Limits on memory and disk traffic, by Linux control groups of version 1 or 2.
//!
//! A process enters a new group below its own, so that it keeps the limits it has; processes that it starts later are
//! in the group too. When the [`Confinement`] ends, the process goes back and the group is removed.
//!
//! Memory here includes the page cache that the group fills, which is the point: a store that lives in the page cache
//! gets as much of it as its budget says. On version 1 the disk limit covers what a process reads and what it writes
//! directly or by syncing; pages that the kernel writes back later belong to no group.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// What a process may use; `None` means no limit.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Memory, page cache included.
    pub memory_bytes_max: Option<u64>,
    /// Disk traffic, each way for itself.
    pub io_bytes_per_second_max: Option<u64>,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.memory_bytes_max.is_none() && self.io_bytes_per_second_max.is_none()
    }

    /// Confines this process to these limits; the disk is the one under `directory`.
    ///
    /// # Errors
    ///
    /// If the machine has no such control group, or the user may not make one. Nothing is limited then.
    pub fn enter(&self, directory: &Path) -> Result<Confinement, Error> {
        let mounts = Mounts::read()?;
        let mut confinement = Confinement { groups: Vec::new() };
        let mut unified = Vec::new();
        for resource in self.resources(directory)? {
            match mounts.of_version_1(resource.controller_1()) {
                Some(home) => confinement.enter(&home, &home, &resource.settings_1())?,
                None => unified.push(resource),
            }
        }
        if !unified.is_empty() {
            let home = mounts.of_version_2()?;
            let parent = delegating(&home, &unified)?;
            let settings: Vec<_> = unified.iter().map(Resource::setting_2).collect();
            confinement.enter(&home, &parent, &settings)?;
        }
        Ok(confinement)
    }

    fn resources(&self, directory: &Path) -> Result<Vec<Resource>, Error> {
        let mut resources: Vec<_> = self.memory_bytes_max.map(Resource::Memory).into_iter().collect();
        if let Some(bytes_per_second) = self.io_bytes_per_second_max {
            resources.push(Resource::Io { disk: disk_under(directory)?, bytes_per_second });
        }
        Ok(resources)
    }
}

/// A process inside its groups. It leaves them when this is dropped.
#[derive(Debug)]
pub struct Confinement {
    groups: Vec<Group>,
}

/// One group of ours, and where the process was before.
#[derive(Debug)]
struct Group {
    home: PathBuf,
    directory: PathBuf,
}

impl Confinement {
    /// Makes a group below `parent` and moves this process there from `home`.
    fn enter(&mut self, home: &Path, parent: &Path, settings: &[(&str, String)]) -> Result<(), Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = parent.join(format!("utsushi-{}-{count}", std::process::id()));
        fs::create_dir(&directory)
            .map_err(|source| Error::new("make the control group", &directory, source))?;
        // From here on dropping removes it, whatever fails.
        self.groups.push(Group { home: home.to_owned(), directory: directory.clone() });
        for (file, value) in settings {
            write(&directory.join(file), value)?;
        }
        write(&directory.join("cgroup.procs"), &std::process::id().to_string())
    }
}

impl Drop for Confinement {
    fn drop(&mut self) {
        for group in self.groups.iter().rev() {
            // A group that cannot be left or removed stays; it does no harm.
            let _ = write(&group.home.join("cgroup.procs"), &std::process::id().to_string());
            let _ = fs::remove_dir(&group.directory);
        }
    }
}

/// Why a process could not be limited.
#[derive(Debug)]
pub struct Error {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Error {
    fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self { action, path: path.to_owned(), source }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "cannot {} `{}`: {}", self.action, self.path.display(), self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Something that is limited.
enum Resource {
    Memory(u64),
    Io { disk: String, bytes_per_second: u64 },
}

impl Resource {
    fn controller_1(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memory",
            Self::Io { .. } => "blkio",
        }
    }

    fn controller_2(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memory",
            Self::Io { .. } => "io",
        }
    }

    fn settings_1(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Memory(bytes) => vec![("memory.limit_in_bytes", bytes.to_string())],
            Self::Io { disk, bytes_per_second } => {
                ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"]
                    .map(|file| (file, format!("{disk} {bytes_per_second}")))
                    .into()
            }
        }
    }

    fn setting_2(&self) -> (&'static str, String) {
        match self {
            Self::Memory(bytes) => ("memory.max", bytes.to_string()),
            Self::Io { disk, bytes_per_second: rate } => {
                ("io.max", format!("{disk} rbps={rate} wbps={rate}"))
            }
        }
    }
}

/// The mounted control groups, and those of this process.
struct Mounts {
    mounts: String,
    groups: String,
}

impl Mounts {
    fn read() -> Result<Self, Error> {
        let read = |path: &str| {
            fs::read_to_string(path).map_err(|source| Error::new("read", Path::new(path), source))
        };
        Ok(Self { mounts: read("/proc/self/mountinfo")?, groups: read("/proc/self/cgroup")? })
    }

    /// The directory of the group in which this process is for `controller`.
    fn of_version_1(&self, controller: &str) -> Option<PathBuf> {
        let lists = |list: &str| list.split(',').any(|name| name == controller);
        let group = self.group(|controllers| lists(controllers))?;
        self.directory(group, |kind, options| kind == "cgroup" && lists(options))
    }

    /// The directory of the group of version 2 in which this process is.
    fn of_version_2(&self) -> Result<PathBuf, Error> {
        let found =
            self.group(str::is_empty).and_then(|group| self.directory(group, |kind, _| kind == "cgroup2"));
        let none = || io::Error::new(io::ErrorKind::NotFound, "no such control group here");
        found.ok_or_else(|| Error::new("limit this process by", Path::new("/proc/self/cgroup"), none()))
    }

    /// The path of the group whose controllers are `wanted`.
    fn group(&self, wanted: impl Fn(&str) -> bool) -> Option<&str> {
        let mut lines = self.groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        lines.find(|(controllers, _)| wanted(controllers)).map(|(_, group)| group)
    }

    /// Where `group` is seen, below the mount that is `wanted`.
    fn directory(&self, group: &str, wanted: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
        self.mounts.lines().find_map(|line| {
            let (mount, file_system) = line.split_once(" - ")?;
            let [root, point] = [3, 4].map(|place| mount.split(' ').nth(place));
            let mut file_system = file_system.split(' ');
            let (kind, options) = (file_system.next()?, file_system.nth(1)?);
            wanted(kind, options).then_some(())?;
            let below = Path::new(group).strip_prefix(root?).unwrap_or(Path::new(""));
            Some(Path::new(point?).join(below))
        })
    }
}

/// The nearest group at or above `home` below which groups may have all that `resources` need.
///
/// Version 2 limits no group beside processes, so that is rarely the group in which the process is.
fn delegating(home: &Path, resources: &[Resource]) -> Result<PathBuf, Error> {
    let mut last = Error::new("find the control group", home, io::ErrorKind::NotFound.into());
    for directory in home.ancestors() {
        let control = directory.join("cgroup.subtree_control");
        let Ok(enabled) = fs::read_to_string(&control) else { break };
        let mut missing = resources
            .iter()
            .filter(|resource| !enabled.split_whitespace().any(|name| name == resource.controller_2()));
        match missing.try_for_each(|resource| write(&control, &format!("+{}", resource.controller_2()))) {
            Ok(()) => return Ok(directory.to_owned()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// `MAJOR:MINOR` of the whole disk that holds `directory`.
fn disk_under(directory: &Path) -> Result<String, Error> {
    let error = |source| Error::new("find the disk under", directory, source);
    let device = fs::metadata(directory).map_err(error)?.dev();
    let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
    let minor = device & 0xff | (device >> 12) & !0xff;
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let disk = if device.join("partition").exists() { device.join("..") } else { device };
    // Resolved first: `..` refers to the target of the link.
    let disk = disk.canonicalize().and_then(|disk| fs::read_to_string(disk.join("dev"))).map_err(error)?;
    Ok(disk.trim().to_owned())
}

fn write(path: &Path, value: &str) -> Result<(), Error> {
    fs::write(path, value).map_err(|source| Error::new("write to", path, source))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Mounts;

    fn mounts(mounts: &str, groups: &str) -> Mounts {
        Mounts { mounts: mounts.to_owned(), groups: groups.to_owned() }
    }

    #[test]
    fn groups_of_version_1_are_found_by_their_controller() {
        let here = mounts(
            "25 22 0:22 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             26 22 0:23 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n",
            "4:memory:/job/a\n7:blkio:/\n0::/\n",
        );
        check(&here, "memory", Some("/sys/fs/cgroup/memory/job/a"));
        check(&here, "blkio", Some("/sys/fs/cgroup/blkio"));
        check(&here, "cpu", None);
        assert!(here.of_version_2().is_err());
    }

    #[test]
    fn the_group_of_version_2_is_found_below_what_is_mounted() {
        let here = mounts(
            "30 22 0:26 /box /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/box/job\n",
        );
        check(&here, "memory", None);
        assert_eq!(here.of_version_2().expect("found"), Path::new("/sys/fs/cgroup/job"));
    }

    #[track_caller]
    fn check(mounts: &Mounts, controller: &str, expected: Option<&str>) {
        assert_eq!(mounts.of_version_1(controller).as_deref(), expected.map(Path::new));
    }
}
