//! A bound on how many processes a program can become, by the kernel: a fork bomb outruns whoever watches it.
//!
//! For root that is a control group of its own, of either version, where one can be made; for anyone else a limit on the
//! processes of the user. Where neither can be had the program is watched, as it always is.

use rustix::process::{Resource, Rlimit, getuid, setrlimit};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Where groups are made: below our own, so that what bounds all of a service bounds them too. In the second version of
/// control groups, and in the first. Where our own may have none below it, as that of a service in the second version, there is
/// the watch.
fn places() -> Vec<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let place = |line: &str| {
        let (names, path) = line.split_once(':')?.1.split_once(':')?;
        let root = match names {
            "" => "/sys/fs/cgroup",
            names if names.split(',').any(|name| name == "pids") => "/sys/fs/cgroup/pids",
            _ => return None,
        };
        Some(Path::new(root).join(path.trim_start_matches('/')))
    };
    own.lines().filter_map(place).collect()
}
/// How often a group is tried to be removed.
const TRIES_MAX: u32 = 50;
const PREFIX: &str = "utsushi-scan-";
/// Threads count too, and a process may have some.
const TASKS_EACH: usize = 8;
/// What others of the same user may start meanwhile.
const TASKS_OF_OTHERS: u64 = 512;

/// Bounds this process and what it will start to so many processes, about. `worker` is the process that looks after it.
pub(crate) fn enter(worker: u32, processes_max: usize) {
    let tasks_max = processes_max.saturating_mul(TASKS_EACH);
    // Where it cannot be had, there is the watch.
    let _ = if getuid().is_root() { enter_group(worker, tasks_max) } else { limit_user(tasks_max) };
}

fn enter_group(worker: u32, tasks_max: usize) -> io::Result<()> {
    let own = std::process::id();
    for place in places() {
        let group = place.join(format!("{PREFIX}{worker}-{own}"));
        if fs::create_dir(&group).is_err() {
            continue;
        }
        // The files of a group are there when it is made; a directory without them is none.
        let put = |name: &str, value: String| {
            OpenOptions::new().write(true).open(group.join(name))?.write_all(value.as_bytes())
        };
        let entered =
            put("pids.max", tasks_max.to_string()).and_then(|()| put("cgroup.procs", own.to_string()));
        if entered.is_ok() {
            return Ok(());
        }
        let _ = fs::remove_dir(&group);
    }
    Err(io::ErrorKind::Unsupported.into())
}

fn limit_user(tasks_max: usize) -> io::Result<()> {
    let most = tasks_of_user()?.saturating_add(tasks_max as u64).saturating_add(TASKS_OF_OTHERS);
    let old = rustix::process::getrlimit(Resource::Nproc);
    let most = old.maximum.map_or(most, |maximum| most.min(maximum));
    Ok(setrlimit(Resource::Nproc, Rlimit { current: Some(most), maximum: Some(most) })?)
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

/// Removes the groups of programs that `worker` looked after, which must have ended.
pub(crate) fn leave(worker: u32) {
    let start = format!("{PREFIX}{worker}-");
    for place in places() {
        let found = fs::read_dir(place).into_iter().flatten().flatten();
        for group in found.filter(|group| group.file_name().to_string_lossy().starts_with(&start)) {
            // A process that has just ended may still be counted.
            for _ in 0..TRIES_MAX {
                if fs::remove_dir(group.path()).is_ok() {
                    break;
                }
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Removes the groups of workers that are no more, and whom nobody survived who could: a power cut of a kind.
pub(crate) fn sweep() {
    for place in places() {
        for group in fs::read_dir(place).into_iter().flatten().flatten() {
            let name = group.file_name();
            let worker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
            if worker.is_some_and(|(worker, _)| !Path::new("/proc").join(worker).exists()) {
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
}
