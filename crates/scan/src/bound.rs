//! Bounds of the kernel on how many processes and how much memory a program takes: a fork bomb is faster than any poll,
//! and buffers of pipes belong to no process.
//!
//! | bound | where |
//! |---|---|
//! | control groups of the worker, one for tasks and one for memory, of either version | they can be made below our own |
//! | a limit on the tasks of the user | always; exact where the user is the worker's own, or counted in a namespace of its own |
//!
//! Beside these a program is always watched ([`crate::tree::weigh`]).

use crate::sandbox::set_limit;
use crate::settings::ProgramLimits;
use rustix::io::Errno;
use rustix::process::{Resource, getgid, getuid};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

const PREFIX: &str = "utsushi-scan-";
/// How often a group is tried to be removed.
const TRIES_MAX: u32 = 50;
/// What others of the same user may start meanwhile, where they cannot be distinguished.
const TASKS_OF_OTHERS: u64 = 128;
/// Threads count as processes do. Some runtimes start several for each processor: on a machine with many there is room.
const FEW_PROCESSORS: usize = 8;
const TASKS_EACH_PROCESSOR: usize = 4;
/// What a program may take beside its own memory: page tables, stacks of the kernel, files that are being written.
const KERNEL_BYTES: u64 = 8 << 20;
const KERNEL_PART: u64 = 8;

/// How many tasks, which are processes and threads, may be where this many processes may be.
fn tasks_max(processes_max: usize) -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let more = TASKS_EACH_PROCESSOR * processors.saturating_sub(FEW_PROCESSORS);
    processes_max.saturating_add(more)
}

/// A kind of control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tasks,
    Memory,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Tasks, Self::Memory];

    const fn controller(self) -> &'static str {
        match self {
            Self::Tasks => "pids",
            Self::Memory => "memory",
        }
    }
    /// The files that set the limit, of which those that exist count: those of the second version, then of the first.
    fn limits(self, limits: &ProgramLimits) -> Vec<(&'static str, String)> {
        let bytes = limits.memory_bytes.saturating_add(limits.memory_bytes / KERNEL_PART + KERNEL_BYTES);
        match self {
            Self::Tasks => vec![("pids.max", tasks_max(limits.processes).to_string())],
            Self::Memory => vec![
                ("memory.max", bytes.to_string()),
                ("memory.swap.max", "0".to_owned()),
                ("memory.limit_in_bytes", bytes.to_string()),
                ("memory.memsw.limit_in_bytes", bytes.to_string()),
            ],
        }
    }
    /// Where the kernel counts how often it refused something, and under which name.
    const fn refusals(self) -> [(&'static str, &'static str); 2] {
        match self {
            Self::Tasks => [("pids.events", "max "), ("pids.events", "max ")],
            Self::Memory => [("memory.events", "oom_kill "), ("memory.oom_control", "oom_kill ")],
        }
    }
    /// Where groups of this kind are made: below our own, so that what bounds all of a service bounds them too.
    fn places(self) -> Vec<PathBuf> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let place = |line: &str| {
            let (names, path) = line.split_once(':')?.1.split_once(':')?;
            let root = Path::new("/sys/fs/cgroup");
            let root = match names {
                "" => root.to_owned(),
                names if names.split(',').any(|name| name == self.controller()) => {
                    root.join(self.controller())
                }
                _ => return None,
            };
            Some(root.join(path.trim_start_matches('/')))
        };
        own.lines().filter_map(place).collect()
    }
}

/// Where there may be groups.
fn places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Kind::ALL.into_iter().flat_map(Kind::places).collect();
    places.sort();
    places.dedup();
    places
}

fn name_of(worker: u32) -> String {
    format!("{PREFIX}{worker}")
}

/// The control groups of a worker, which its programs join one after the other.
#[derive(Debug)]
pub(crate) struct Groups {
    worker: u32,
    made: Vec<(Kind, PathBuf)>,
}

/// How often the kernel refused something to the programs of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusals {
    /// Another process or thread.
    pub(crate) tasks: u64,
    /// More memory: it ended a process instead.
    pub(crate) memory: u64,
}

impl Groups {
    /// Makes those that can be made. This process is their worker.
    pub(crate) fn make(limits: &ProgramLimits) -> Self {
        let worker = std::process::id();
        let made = Kind::ALL.into_iter().filter_map(|kind| Some((kind, make(kind, worker, limits)?)));
        Self { worker, made: made.collect() }
    }

    pub(crate) fn refusals(&self) -> Refusals {
        let of = |wanted: Kind| {
            let made = self.made.iter().filter(|(kind, _)| *kind == wanted);
            made.map(|(kind, path)| kind.refusals().iter().map(|name| count(path, name)).max().unwrap_or(0))
                .sum()
        };
        Refusals { tasks: of(Kind::Tasks), memory: of(Kind::Memory) }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        leave(self.worker);
    }
}

fn make(kind: Kind, worker: u32, limits: &ProgramLimits) -> Option<PathBuf> {
    kind.places().into_iter().map(|place| place.join(name_of(worker))).find(|group| {
        // In the second version one directory is the group of both kinds.
        let is_new = fs::create_dir(group).is_ok();
        if !is_new && !group.exists() {
            return false;
        }
        // The files of a group are there when it is made; a directory without them is none.
        let set = kind.limits(limits).into_iter().map(|(name, value)| put(group, name, &value).is_ok());
        let is_bounded = set.filter(|is_set| *is_set).count() > 0;
        if is_new && !is_bounded {
            let _ = fs::remove_dir(group);
        }
        is_bounded
    })
}

fn put(group: &Path, name: &str, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(group.join(name))?.write_all(value.as_bytes())
}

fn count(group: &Path, (file, name): &(&str, &str)) -> u64 {
    let text = fs::read_to_string(group.join(file)).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0)
}

/// Puts this process into the groups of the worker that looks after it.
pub(crate) fn join(worker: u32) {
    for group in places().into_iter().map(|place| place.join(name_of(worker))) {
        // Where there is none, there is the watch.
        let _ = put(&group, "cgroup.procs", &std::process::id().to_string());
    }
}

/// Limits the tasks of the user of this process; `is_apart` says that they are those of the program.
pub(crate) fn limit_tasks(processes_max: usize, is_apart: bool) -> Result<(), Errno> {
    let own = tasks_max(processes_max) as u64;
    if is_apart {
        return set_limit(Resource::Nproc, own);
    }
    // The kernel does not hold root to it.
    match tasks_of_user() {
        Ok(others) if !getuid().is_root() => set_limit(Resource::Nproc, others + own + TASKS_OF_OTHERS),
        _ => Ok(()),
    }
}

/// Moves this process into a user namespace of its own, in which the kernel counts its tasks apart from others of the user.
/// Root gets another user instead. Says whether it could.
pub(crate) fn count_apart() -> bool {
    !getuid().is_root() && enter_namespace().is_ok()
}

#[expect(unsafe_code, reason = "the call is unsafe for the sake of descriptors, which this does not touch")]
fn enter_namespace() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    // SAFETY: this process has one thread, and shares what it shared before.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWUSER) }?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// How many threads all processes of this user have.
fn tasks_of_user() -> io::Result<u64> {
    let user = getuid().as_raw();
    let is_number = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    };
    let processes = fs::read_dir("/proc")?.flatten().map(|found| found.path()).filter(is_number);
    let own = processes.filter(|path| fs::metadata(path).is_ok_and(|found| found.uid() == user));
    Ok(own.map(|path| fs::read_dir(path.join("task")).map_or(0, |tasks| tasks.count() as u64)).sum())
}

/// Removes the groups of `worker`, whose programs must have ended.
pub(crate) fn leave(worker: u32) {
    for group in places().into_iter().map(|place| place.join(name_of(worker))).filter(|group| group.exists())
    {
        // A process that has just ended may still be counted.
        for _ in 0..TRIES_MAX {
            if fs::remove_dir(&group).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Removes the groups of workers that have ended without doing so themselves.
pub(crate) fn sweep() {
    for place in places() {
        for group in fs::read_dir(place).into_iter().flatten().flatten() {
            let name = group.file_name();
            let worker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
            if worker.is_some_and(|worker| !Path::new("/proc").join(worker).exists()) {
                // One that still has processes stays.
                let _ = fs::remove_dir(group.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_of_a_user_are_counted() {
        assert!(tasks_of_user().unwrap() >= 1);
    }

    #[test]
    fn groups_are_removed_with_what_made_them() {
        let groups = Groups::make(&ProgramLimits::default());
        let paths: Vec<PathBuf> = groups.made.iter().map(|(_, path)| path.clone()).collect();
        assert!(paths.iter().all(|path| path.exists()), "{paths:?}");
        assert_eq!(groups.refusals(), Refusals::default());
        drop(groups);
        assert!(paths.iter().all(|path| !path.exists()), "{paths:?}");
    }
}
