//! An open file of the simulated disk.

use super::machine::{Machine, lock};
use super::names::File;
use super::{DiskFile, Open, SimulatedDisk};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

/// Usable until the machine is restarted.
pub(super) struct SimulatedFile {
    disk: SimulatedDisk,
    /// The start of the machine that it belongs to.
    start: u64,
    file: File,
    path: PathBuf,
    how: Open,
}

impl SimulatedFile {
    pub(super) fn new(disk: &SimulatedDisk, start: u64, file: File, path: &Path, how: Open) -> Self {
        Self { disk: disk.clone(), start, file, path: path.to_owned(), how }
    }
    fn machine(&self) -> io::Result<MutexGuard<'_, Machine>> {
        let machine = self.disk.running()?;
        if machine.starts != self.start {
            return Err(io::Error::other("the file was opened before the power was cut"));
        }
        Ok(machine)
    }
    fn machine_to_write(&self) -> io::Result<MutexGuard<'_, Machine>> {
        let machine = self.machine()?;
        if self.how == Open::Read { Err(Errno::BADF.into()) } else { Ok(machine) }
    }
}

impl DiskFile for SimulatedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut machine = self.machine()?;
        machine.pass_read()?;
        let is_filled = buffer.is_empty() || lock(&self.file).read(offset, buffer);
        if is_filled { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.machine_to_write()?.write(&self.file, offset, bytes)
    }
    fn sync(&self) -> io::Result<()> {
        self.machine()?.sync_file(&self.file)
    }
    fn length(&self) -> io::Result<u64> {
        let _machine = self.machine()?;
        Ok(lock(&self.file).length())
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.machine_to_write()?.change(|machine| machine.truncate(&self.file, length))
    }
    fn allocate(&self, length: u64) -> io::Result<()> {
        self.machine_to_write()?.change(|machine| machine.allocate(&self.file, length))
    }
}

impl fmt::Debug for SimulatedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedFile")
            .field("path", &self.path)
            .field("how", &self.how)
            .finish_non_exhaustive()
    }
}
