//! The processes below a process: counted, weighed, and ended, all of them.
//!
//! Whoever calls [`adopt`] becomes the parent of every process below it whose own parent ends, so that none can slip
//! away by being started twice removed.
//!
//! **Invariant:** [`end_all`] returns when no process below this one is left, the spared ones and what is below them
//! aside; a program that starts processes as fast as it can is stopped first.

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper, wait, waitpid,
};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::thread;
use std::time::Duration;

/// Makes this process the parent of orphans below it.
pub(crate) fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Whether the system lists the children of a process: a kernel can be built without this.
pub(crate) fn can_see() -> bool {
    fs::exists("/proc/thread-self/children").unwrap_or(false)
}

/// The children of a process, of all its threads.
fn children(pid: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let lists =
        tasks.into_iter().flatten().flatten().map(|task| fs::read_to_string(task.path().join("children")));
    let numbers = lists.flatten().flat_map(|list| {
        list.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect::<Vec<i32>>()
    });
    numbers.filter_map(Pid::from_raw).collect()
}

/// A process and all that are below it, those above first.
pub(crate) fn below(pid: Pid) -> Vec<Pid> {
    up_to(pid, PROCESSES_WALKED_MAX)
}

/// The same, at most about `most` of them.
fn up_to(pid: Pid, most: usize) -> Vec<Pid> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        // A fork bomb is known by its first hundreds; the walk must end.
        if found.len() < most {
            found.extend(children(pid));
        }
        next += 1;
    }
    found
}

const PROCESSES_WALKED_MAX: usize = 10_000;

/// How many processes there are below this one, orphans that it adopted among them, and the memory they hold together; of
/// more than `most`, those that are found first. A program with that many must be killed soon, not counted exactly.
pub(crate) fn weigh(most: usize, bytes_max: u64) -> (usize, u64) {
    let mut processes = up_to(getpid(), most.saturating_add(2));
    processes.remove(0);
    let mut bytes: u64 = processes.iter().map(|pid| resident_bytes(*pid)).sum();
    if bytes > bytes_max && processes.len() > 1 {
        // What forks share was counted for each of them.
        bytes = processes.iter().map(|pid| proportional_bytes(*pid)).sum();
    }
    (processes.len(), bytes + buffered_bytes(&processes))
}

/// What a pipe holds at most, and what a socket can have on its way to another.
const PIPE_BYTES: u64 = 64 * 1024;
const SOCKET_BYTES: u64 = 208 * 1024;
/// Assumed number of descriptors of a process that does not show them.
const DESCRIPTORS_MAX: u64 = crate::sandbox::OPEN_FILES_MAX;

/// What the kernel may hold in the pipes and sockets of these processes.
fn buffered_bytes(processes: &[Pid]) -> u64 {
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    for pid in processes {
        let found = match fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                bytes += DESCRIPTORS_MAX * SOCKET_BYTES;
                continue;
            }
            found => found.into_iter().flatten().flatten(),
        };
        for about in found.filter_map(|descriptor| fs::metadata(descriptor.path()).ok()) {
            let kind = about.file_type();
            if (kind.is_fifo() || kind.is_socket()) && seen.insert((about.dev(), about.ino())) {
                bytes += if kind.is_socket() { SOCKET_BYTES } else { PIPE_BYTES };
            }
        }
    }
    bytes
}

/// What a process holds for itself, and what it shares with others by intent; not the files that it maps.
fn resident_bytes(pid: Pid) -> u64 {
    sum_of(pid, "status", &["RssAnon:", "RssShmem:"])
}

/// The same where processes that share pages each hold a part of them. It is dear to find out, and a process can hide it.
fn proportional_bytes(pid: Pid) -> u64 {
    match sum_of(pid, "smaps_rollup", &["Pss_Anon:", "Pss_Shmem:"]) {
        0 => resident_bytes(pid),
        bytes => bytes,
    }
}

/// The sum of fields of a file of the process, which are in KiB.
fn sum_of(pid: Pid, file: &str, names: &[&str]) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/{file}", pid.as_raw_nonzero())).unwrap_or_default();
    let fields = text.lines().filter_map(|line| {
        let value = names.iter().find_map(|name| line.strip_prefix(name))?;
        value.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    fields.sum::<u64>() * 1024
}

/// The processor time that the processes from `pid` down have used, those that ended among them, in seconds.
pub(crate) fn cpu_seconds(pid: Pid) -> f64 {
    below(pid).into_iter().map(cpu_seconds_of).sum()
}

fn cpu_seconds_of(pid: Pid) -> f64 {
    let stat = stat(pid);
    let fields = stat.split_ascii_whitespace();
    let ticks: f64 = fields.skip(11).take(4).filter_map(|field| field.parse::<f64>().ok()).sum();
    #[expect(clippy::cast_precision_loss, reason = "a hundred a second, in practice")]
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    ticks / per_second
}

/// The group of a process. In a container that may be one that cannot be seen from there, and so is none.
fn group(pid: Pid) -> Option<Pid> {
    Pid::from_raw(stat(pid).split_ascii_whitespace().nth(2)?.parse().ok()?)
}

/// The fields of `/proc/PID/stat` after the name, which may contain anything.
fn stat(pid: Pid) -> String {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit_once(')').map_or_else(String::new, |(_, fields)| fields.to_owned())
}

/// How often processes are looked for before the rest is left to the system.
const PASSES_MAX: u32 = 500;

/// Ends every process below this one, `spared` and what is below those aside.
pub(crate) fn end_all(spared: &[Pid]) {
    for pass in 0..PASSES_MAX {
        let ours = children(getpid()).into_iter().filter(|pid| !spared.contains(pid));
        let found: Vec<Pid> = ours.flat_map(below).collect();
        if found.is_empty() {
            return;
        }
        // A signal to the group kills all of it, whatever it starts meanwhile; its session is its own, so no other process is in it.
        let (own, groups) = (group(getpid()), found.iter().filter_map(|pid| group(*pid)));
        for group in groups.filter(|group| Some(*group) != own).collect::<HashSet<_>>() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Of what is left, stopped ones start no more, so that a bomb runs out of processes that can.
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in &found {
                let _ = kill_process(*pid, signal);
            }
        }
        if spared.is_empty() {
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        } else {
            for pid in &found {
                let _ = waitpid(Some(*pid), WaitOptions::NOHANG);
            }
        }
        if pass > 2 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_below_this_process_and_a_process_weighs_something() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let (processes, _) = weigh(1_000, u64::MAX);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(processes >= 1 && resident_bytes(getpid()) > 100_000);
        assert!(cpu_seconds(getpid()) >= 0.0);
    }

    #[test]
    fn what_a_pair_of_sockets_can_hold_is_charged() {
        let before = buffered_bytes(&[getpid()]);
        let pairs: Vec<_> = (0..50).map(|_| std::os::unix::net::UnixStream::pair().unwrap()).collect();
        // Other tests of this process may close something meanwhile.
        assert!(buffered_bytes(&[getpid()]) >= before + 80 * SOCKET_BYTES);
        drop(pairs);
    }

    #[test]
    fn what_is_not_there_has_used_nothing() {
        let nobody = Pid::from_raw(i32::MAX).unwrap();
        assert_eq!((resident_bytes(nobody), cpu_seconds(nobody)), (0, 0.0));
    }
}
