//! Two guards do not share a log (M8): a lock of the system on the file `lock`, which says who holds it.
//!
//! The lock ends with the process, however it ends.

use crate::error::Error;
use base::disk::private_options;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

const NAME: &str = "lock";
/// More than any process id has.
const PID_BYTES_MAX: u64 = 32;

/// The right to write the log, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, or says who holds it.
    pub(super) fn take(directory: &Path) -> Result<Self, Error> {
        let path = directory.to_owned();
        match try_take(directory) {
            Ok(Ok(file)) => Ok(Self { file }),
            Ok(Err(pid)) => Err(Error::InUse { path, pid }),
            Err(source) => Err(Error::Io { action: "lock the directory", path, source }),
        }
    }

    /// Takes the lock again if the directory is not the one it was taken in any more.
    pub(super) fn take_again(&mut self, directory: &Path) -> io::Result<()> {
        let named = rustix::fs::stat(directory.join(NAME));
        let held = rustix::fs::fstat(&self.file)?;
        if named.is_ok_and(|named| super::is_same(&held, &named)) {
            return Ok(());
        }
        let taken = try_take(directory)?;
        self.file = taken.map_err(|_| io::Error::other("another guard writes its log here now"))?;
        Ok(())
    }
}

/// The locked file, or the process that holds it.
fn try_take(directory: &Path) -> io::Result<Result<File, Option<u32>>> {
    let mut file =
        private_options().read(true).write(true).create(true).truncate(false).open(directory.join(NAME))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Err(said_by(&mut file))),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
    Ok(Ok(file))
}

fn said_by(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(PID_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
