//! A disk in memory that fails, fills up, and loses what was not synced when its power is cut (M1–M5).
//!
//! It distinguishes written from synced, for the data and length of each file and for the names in each directory, as a
//! POSIX file system with a volatile cache does:
//!
//! - An unsynced write is seen by readers. After a power cut it is there, or absent, or torn (a prefix, some of its
//!   512-byte sectors, or its length alone with zeros for data), independently of other writes.
//! - An unsynced truncation or allocation is there or not.
//! - An unsynced creation, rename or removal is there or not. A rename is atomic: its target is the old file or the
//!   new one. The name of a new directory is a name too; without it everything inside is lost.
//! - After a failed `sync`, the unsynced data may be lost although readers see it and later syncs succeed (M3); it must
//!   be rewritten. After a failed `sync_directory`, a later one still syncs the names.
//!
//! Every change passes one *point*: `write_at`, `sync`, `truncate`, `allocate`, `open` with [`Open::CreateNew`],
//! `rename`, `remove`, `create_directory`, `sync_directory`. A test plays its workload once to learn how many points
//! there are, then again for each point with a [`Fault`] planned there. Reads are counted separately;
//! [`SimulatedDisk::fail_read_at`] makes one fail.
//!
//! ```
//! use base::disk::{Disk, DiskFile, Fault, Open, SimulatedDisk};
//! use std::path::Path;
//!
//! /// Writes a note; what returns without an error is durable.
//! fn note(disk: &SimulatedDisk) -> std::io::Result<()> {
//!     let file = disk.open(Path::new("/note"), Open::CreateNew)?;
//!     file.write_at(0, b"hello")?;
//!     file.sync()?;
//!     disk.sync_directory(Path::new("/"))
//! }
//!
//! let trial = SimulatedDisk::new(7);
//! note(&trial)?;
//! for point in 0..=trial.points() {
//!     let disk = SimulatedDisk::new(7);
//!     disk.fail_at(point, Fault::Cut);
//!     let acknowledged = note(&disk).is_ok();
//!     disk.restart();
//!     if acknowledged {
//!         let mut bytes = [0; 5];
//!         disk.open(Path::new("/note"), Open::Read)?.read_at(0, &mut bytes)?;
//!         assert_eq!(&bytes, b"hello");
//!     }
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! With [`SimulatedDisk::ignore_syncs`] the same test must fail: the negative control.
//!
//! **Invariant:** what happens is a function of the seed and of the calls in their order.

mod contents;
mod file;
mod image;
mod machine;
mod names;

use super::{Disk, DiskFile, Open};
use file::SimulatedFile;
use machine::{Machine, lock};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk in memory; a clone is the same disk. The root directory, `/` or the empty path, always exists.
#[derive(Clone)]
pub struct SimulatedDisk(Arc<Mutex<Machine>>);

/// What fails at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation fails once with an I/O error. A write may be done in part; for a sync, see above.
    Error,
    /// The disk is full from here on, until [`SimulatedDisk::make_room`]: what needs room fails, a write possibly after
    /// a part of it. Writes into allocated room, removals, truncations and syncs still work.
    Full,
    /// The power is cut during the operation; it and all that follow fail until [`SimulatedDisk::restart`].
    Cut,
    /// The hardware loses a write: it reports success, and no byte is stored, whatever is synced later. A file that it
    /// should have grown reads as zeros there, because the file system knows the length. Only for `write_at`; other
    /// operations succeed.
    Lost,
    /// The hardware misplaces a write: it reports success, but lands a whole number of 4 KiB blocks before or after its
    /// offset in the same file, as the seed decides. What would land after the end of the file is lost, all of it if
    /// the file has no other block. At its own offset it is as after [`Fault::Lost`]. Only for `write_at`; other
    /// operations succeed.
    Misdirected,
}

/// What happens to unsynced changes at a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// All are there, as if the cache had been written back just before.
    All,
    /// None is there, as if the cache had never been written back.
    None,
    /// The seed decides for each, and where a write is torn.
    Random,
}

impl SimulatedDisk {
    /// An empty disk; the seed decides the effects of its faults.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Machine::new(seed))))
    }
    /// Number of changes so far: the point of the next one.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.machine().points
    }
    /// Plans a fault. Points go on counting over restarts, so recovery can be cut as well (M2).
    pub fn fail_at(&self, point: u64, fault: Fault) {
        self.machine().plan.insert(point, fault);
    }
    /// Number of reads so far: the number of the next one. Each buffer of a `read_many` counts.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.machine().reads
    }
    /// Plans that a read fails, once, with an I/O error. Reads go on counting over restarts.
    pub fn fail_read_at(&self, read: u64) {
        self.machine().read_plan.insert(read);
    }
    /// Every file and its length in bytes, as readers see them, in order of their paths from `/`.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, u64)> {
        self.machine().names.files()
    }
    /// Cuts the power.
    pub fn cut_now(&self) {
        self.machine().cut();
    }
    /// Whether the power is cut.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.machine().is_cut()
    }
    /// Restarts the machine, after a power cut if there was none yet. The disk has what was synced and as much of the
    /// rest as the [`Survival`] says. Files that were open stay unusable.
    pub fn restart(&self) {
        self.machine().restart();
    }
    /// Ends [`Fault::Full`] and any limit of [`SimulatedDisk::set_free_bytes`].
    pub fn make_room(&self) {
        let mut machine = self.machine();
        machine.is_full = false;
        machine.set_free_bytes(None);
    }
    /// Sets the free room. A file takes room up to its end or the end of what was allocated to it.
    pub fn set_free_bytes(&self, free_bytes: Option<u64>) {
        self.machine().set_free_bytes(free_bytes);
    }
    /// Chooses what happens to unsynced changes; [`Survival::Random`] by default.
    pub fn set_survival(&self, survival: Survival) {
        self.machine().survival = survival;
    }
    /// Makes syncs succeed and do nothing. A crash test that still passes then proves nothing.
    pub fn ignore_syncs(&self, ignore: bool) {
        self.machine().ignores_syncs = ignore;
    }
    /// Flips one bit of a file (M5): bit 0 is the lowest of the first byte.
    pub fn flip_bit(&self, path: &Path, bit: u64) -> io::Result<()> {
        let file = self.machine().names.file(path)?;
        if lock(&file).flip_bit(bit) { Ok(()) } else { Err(Errno::INVAL.into()) }
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        lock(&self.0)
    }
    /// The machine, if it has power.
    fn running(&self) -> io::Result<MutexGuard<'_, Machine>> {
        let machine = self.machine();
        machine.check_power()?;
        Ok(machine)
    }
}

impl Disk for SimulatedDisk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Arc<dyn DiskFile>> {
        let mut machine = self.running()?;
        let file = match how {
            Open::Read | Open::Write => machine.names.file(path)?,
            Open::CreateNew => machine.change(|machine| machine.create(path))?,
        };
        Ok(Arc::new(SimulatedFile::new(self, machine.starts, file, path, how)))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.running()?.change(|machine| {
            machine.check_room()?;
            if let Some(replaced) = machine.names.rename(from, to)? {
                machine.release(&replaced);
            }
            Ok(())
        })
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.running()?.change(|machine| {
            let removed = machine.names.remove(path)?;
            machine.release(&removed);
            Ok(())
        })
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        self.running()?.names.list(directory)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.running()?.change(|machine| {
            if machine.names.directory(path).is_ok() {
                return Ok(());
            }
            machine.check_room()?;
            machine.names.create_directory(path)
        })
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.running()?.sync_directory(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let machine = self.running()?;
        machine.names.directory(path).or_else(|_| machine.names.file(path).map(|_| PathBuf::new()))?;
        Ok(machine.free_bytes())
    }
}

impl fmt::Debug for SimulatedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedDisk").field("points", &self.points()).finish_non_exhaustive()
    }
}
