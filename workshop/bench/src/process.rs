//! Measures a process from its start to its end.

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Clock ticks a second in `/proc/PID/stat`, the same on every Linux that Rust runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process of ours that is ended when this is dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self(child))
    }
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }
    /// Seconds of processor time so far, of this process and its children.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.family().iter().map(|pid| cpu_seconds(*pid)).sum()
    }
    /// Resident bytes now, of this process and its children together.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.family().iter().map(|pid| resident_bytes(*pid)).sum()
    }

    fn family(&self) -> Vec<u32> {
        let pid = self.0.id();
        let children =
            std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        std::iter::once(pid).chain(children.split_whitespace().filter_map(|pid| pid.parse().ok())).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        // The process may end in the meantime.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn cpu_seconds(pid: u32) -> f64 {
    stat_seconds(&format!("/proc/{pid}/stat"), 11)
}

/// Two neighbouring fields of a `stat` file, user space and kernel, together; the first is the one at `place` behind the
/// name.
fn stat_seconds(path: &str, place: usize) -> f64 {
    let stat = std::fs::read_to_string(path).unwrap_or_default();
    // The name in parentheses may hold blanks; the fields after it do not.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    fields.skip(place).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
}

fn resident_bytes(pid: u32) -> u64 {
    memory_bytes(pid, "VmRSS:")
}

fn memory_bytes(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Writes a file, making the directories above it.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let parent = path.parent().context("a file has a directory")?;
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
    std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

/// What a process used from its start to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) seconds: f64,
    /// In user space and in the kernel, of all its threads.
    pub(crate) cpu_seconds: f64,
    pub(crate) resident_bytes_max: u64,
    /// What it wrote to files, without reserved space.
    pub(crate) written_bytes: u64,
}

/// How often a process is asked for its memory.
const WATCH: Duration = Duration::from_millis(20);

/// Runs a command to its end; an error if it fails. No other code may wait for a child of ours meanwhile.
pub(crate) fn measure(command: &mut Command) -> Result<Used> {
    measure_any(command, &[0])
}

/// The same for a command that may end with any of some codes.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
pub(crate) fn measure_any(command: &mut Command, codes: &[i32]) -> Result<Used> {
    let (before, began) = (children_cpu_seconds(), Instant::now());
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let mut resident_bytes_max = 0;
    while !has_ended(&child)? {
        resident_bytes_max = resident_bytes_max.max(memory_bytes(child.id(), "VmHWM:"));
        std::thread::sleep(WATCH);
    }
    // A process that has ended can still be inspected until it is waited for.
    let written_bytes = written_bytes(child.id());
    let status = child.wait()?;
    let seconds = began.elapsed().as_secs_f64();
    let ended_well = status.code().is_some_and(|code| codes.contains(&code));
    ensure!(ended_well, "{command:?} ended with {status}");
    Ok(Used { seconds, cpu_seconds: children_cpu_seconds() - before, resident_bytes_max, written_bytes })
}

/// Whether a child has ended; it is not waited for.
fn has_ended(child: &Child) -> Result<bool> {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), how)?.is_some())
}

/// Bytes that a process caused to be written to storage.
fn written_bytes(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// Seconds of processor time of all children that have ended and were waited for.
fn children_cpu_seconds() -> f64 {
    stat_seconds("/proc/self/stat", 13)
}
