//! Measuring in a process of its own, under limits.
//!
//! The parent enters the control groups and starts the child in them, so that a child killed for lack of memory leaves
//! nothing behind.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use workload::limits::Limits;
use workload::usage::{Usage, drop_page_cache, resident_bytes_max};

/// Runs this program again with the same options as `command`, with an empty page cache and under `limits`.
///
/// The answer is what it printed, with what is known of the limits.
pub(crate) fn measure(command: &str, limits: &Limits, directory: &Path) -> Result<Value> {
    let cold = drop_page_cache();
    if let Err(error) = &cold {
        eprintln!("peers: NOT COLD: cannot empty the page cache: {error}");
    }
    let confinement = limits.enter(directory);
    if let Err(error) = &confinement {
        eprintln!("peers: NOT LIMITED: {error}");
    }
    let printed = printed_by(command)?;
    let mut result: Value =
        serde_json::from_slice(&printed).context("the measuring process printed no result")?;
    result["limited"] = json!(!limits.is_empty() && confinement.is_ok());
    result["memory_bytes_limit"] = json!(limits.memory_bytes_max);
    result["io_bytes_per_second_limit"] = json!(limits.io_bytes_per_second_max);
    result["cold"] = json!(cold.is_ok());
    Ok(result)
}

/// Runs this program again with the same options and prints nothing.
pub(crate) fn must_succeed(command: &str) -> Result<()> {
    printed_by(command).map(drop)
}

fn printed_by(command: &str) -> Result<Vec<u8>> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let options: Vec<OsString> = std::env::args_os().skip(2).collect();
    let mut child = Command::new(program);
    child.arg(command).args(options).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = child.output().with_context(|| format!("cannot start `peers {command}`"))?;
    ensure!(output.status.success(), "`peers {command}` ended with {}", output.status);
    Ok(output.stdout)
}

/// A measurement under way in this process.
pub(crate) struct Meter {
    began: Instant,
    before: Usage,
}

impl Meter {
    /// Begins.
    pub(crate) fn begin() -> Result<Self> {
        let before = Usage::now().context("cannot read what this process used")?;
        Ok(Self { began: now(), before })
    }

    /// Seconds since the beginning.
    pub(crate) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Ends, and adds to `result` what was used for `processed` records.
    pub(crate) fn end(&self, processed: u32, result: &mut Value) -> Result<()> {
        let seconds = self.seconds();
        let used = Usage::now().context("cannot read what this process used")?.since(self.before);
        result["processed"] = json!(processed);
        result["seconds"] = json!(seconds);
        result["records_per_second"] = json!(f64::from(processed) / seconds);
        result["cpu_seconds"] = json!(used.cpu_seconds);
        result["bytes_read"] = json!(used.bytes_read);
        result["bytes_written"] = json!(used.bytes_written);
        result["resident_bytes_max"] =
            json!(resident_bytes_max().context("cannot read what this process used")?);
        Ok(())
    }
}

/// The time that measurements are taken by.
#[expect(clippy::disallowed_methods, reason = "what is measured takes real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Makes `directory`, or makes sure that it is empty.
pub(crate) fn make_empty(directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make `{}`", directory.display()))?;
    let mut entries =
        std::fs::read_dir(directory).with_context(|| format!("cannot list `{}`", directory.display()))?;
    ensure!(entries.next().is_none(), "`{}` is not empty: name another directory", directory.display());
    Ok(())
}

/// Removes `directory`, which was made empty for a store.
pub(crate) fn remove(directory: &Path) -> Result<()> {
    std::fs::remove_dir_all(directory).with_context(|| format!("cannot remove `{}`", directory.display()))
}
