//! The writer lock (D1, M8): a lock of the operating system on the file `lock`, which names its holder.
//!
//! The lock ends with the process, even if it is killed; the contents of the file are then stale and harmless, because
//! only the lock decides whether there is a writer.

use super::Error;
use base::Timestamp;
use base::disk::private_options;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

/// The name of the file.
pub(super) const FILE_NAME: &str = "lock";
/// Ten times the usual size of the file.
const FILE_BYTES_MAX: u64 = 4096;
/// A reader that checks for a writer holds the lock for an instant; a writer tries again this many times.
const TRIES: u32 = 10;
/// The time between two tries.
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _held: File,
}

/// The writer of a directory, as far as the lock file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct LockOwner {
    /// The process id.
    pub pid: Option<u32>,
    /// The command.
    pub command: Option<String>,
    /// Since when.
    pub since: Option<String>,
}

/// Commands that accept orders.
const CRAWLING: [&str; 2] = ["crawl", "demo"];

impl LockOwner {
    /// Whether it crawls, and so accepts orders.
    pub fn is_crawling(&self) -> bool {
        self.command.as_deref().is_some_and(|command| CRAWLING.contains(&command))
    }
    /// What another writer can do.
    pub fn advice(&self) -> String {
        match (self.pid, self.command.as_deref()) {
            // It does not end by itself.
            (Some(pid), Some("crawl")) => format!(
                "stop the crawl first with `kill {pid}`, which loses nothing; `utsushi crawl` continues it afterwards"
            ),
            (Some(pid), _) => format!(
                "wait until it has ended, stop it with `kill {pid}`, or name another directory with `--data`"
            ),
            (None, _) => "wait until it has ended, or name another directory with `--data`".to_owned(),
        }
    }
}

impl fmt::Display for LockOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("another process")?,
        }
        if let Some(command) = &self.command {
            write!(f, " (`utsushi {}`)", base::printable(command))?;
        }
        if let Some(since) = &self.since {
            write!(f, " since {}", base::printable(since))?;
        }
        Ok(())
    }
}

impl Lock {
    /// Takes the lock, or returns its holder.
    pub(super) fn take(directory: &Path, command: &str, now: Timestamp) -> Result<Self, Error> {
        let path = directory.join(FILE_NAME);
        let fail = |source| Error::write(directory, source);
        let mut options = private_options();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(fail)?;
        if !try_lock(&file).map_err(fail)? {
            return Err(Error::InUse { path: directory.to_owned(), owner: said_by(&mut file) });
        }
        sign(&mut file, command, now).map_err(fail)?;
        Ok(Self { _held: file })
    }
}

/// The current holder of the lock, if there is one.
///
/// The check takes a shared lock and releases it at once: many may check, and a writer that starts meanwhile
/// tries again.
pub(super) fn owner(directory: &Path) -> io::Result<Option<LockOwner>> {
    let mut file = match File::open(directory.join(FILE_NAME)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(said_by(&mut file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(TRY_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

fn sign(file: &mut File, command: &str, now: Timestamp) -> io::Result<()> {
    let command = toml::Value::String(command.to_owned());
    let text = format!("pid = {}\ncommand = {command}\nsince = \"{now}\"\n", std::process::id());
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// The contents of the file; a holder that has not written it yet is unknown.
fn said_by(file: &mut File) -> LockOwner {
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text);
    read.ok().and_then(|_| toml::from_str(&text).ok()).unwrap_or_default()
}
