//! The resources used by this process, as Linux counts them.

use std::fs;
use std::io;
use std::process::Command;

/// Clock ticks a second in `/proc/self/stat`, the same on every Linux that Rust runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time and disk traffic of this process, of all its threads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// In user space and in the kernel; what kernel threads do on its behalf is not counted.
    pub cpu_seconds: f64,
    /// Read from the disk; what the page cache held is not counted.
    pub bytes_read: u64,
    /// Written to the disk, or to the page cache on the way there.
    pub bytes_written: u64,
}

impl Usage {
    /// Usage since the process started.
    ///
    /// # Errors
    ///
    /// If `/proc/self` cannot be read.
    pub fn now() -> io::Result<Self> {
        let io = fs::read_to_string("/proc/self/io")?;
        Ok(Self {
            cpu_seconds: cpu_seconds(&fs::read_to_string("/proc/self/stat")?),
            bytes_read: field(&io, "read_bytes:"),
            bytes_written: field(&io, "write_bytes:"),
        })
    }

    /// What was used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_seconds: self.cpu_seconds - earlier.cpu_seconds,
            bytes_read: self.bytes_read - earlier.bytes_read,
            bytes_written: self.bytes_written - earlier.bytes_written,
        }
    }
}

/// The most memory this process has had resident, mapped files included.
///
/// # Errors
///
/// If `/proc/self` cannot be read.
pub fn resident_bytes_max() -> io::Result<u64> {
    Ok(field(&fs::read_to_string("/proc/self/status")?, "VmHWM:") * 1024)
}

/// Writes out what the page cache holds, of all files of the machine, and empties it.
///
/// # Errors
///
/// If `sync` fails, or the user may not empty the cache.
pub fn drop_page_cache() -> io::Result<()> {
    let status = Command::new("sync").status()?;
    if !status.success() {
        return Err(io::Error::other(format!("`sync` ended with {status}")));
    }
    fs::write("/proc/sys/vm/drop_caches", "3")
}

fn cpu_seconds(stat: &str) -> f64 {
    // The name in parentheses may hold blanks; the fields after it do not.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
}

/// The number that follows `name` at the start of a line.
fn field(lines: &str, name: &str) -> u64 {
    let line = lines.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Usage, cpu_seconds, field, resident_bytes_max};

    #[test]
    fn fields_are_found_by_their_names() {
        let io = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 12\ncancelled_write_bytes: 7\n";
        assert_eq!((field(io, "read_bytes:"), field(io, "write_bytes:"), field(io, "none:")), (4096, 12, 0));
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 155 0 0 0 150 25 0 0 20 0 1 0 100 1 1";
        assert!((cpu_seconds(stat) - 1.75).abs() < 1e-9);
    }

    #[test]
    fn a_process_uses_memory_and_never_less_than_before() {
        assert!(resident_bytes_max().expect("proc") > 100_000);
        let before = Usage::now().expect("proc");
        assert!(Usage::now().expect("proc").since(before).cpu_seconds >= 0.0);
    }
}
