//! A server that is measured: started, watched, ended.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Child, Command};

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
        // Nothing can be done about a process that is gone already.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may hold blanks; the fields after it do not.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}

fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Writes a file, making the directories above it.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let parent = path.parent().context("a file has a directory")?;
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
    std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}
