//! The machine that the disk belongs to: its power, its room, and the faults that are planned for it.

use super::super::BLOCK_BYTES;
use super::contents::Contents;
use super::names::{File, Names};
use super::{Fault, Survival};
use crate::Chance;
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The size of a disk without a limit.
const FREE_BYTES_UNLIMITED: u64 = 1 << 50;
/// A misplaced write is off by a multiple of this.
const BLOCK: u64 = BLOCK_BYTES as u64;
/// The longest file: a signed offset must reach its end.
const FILE_BYTES_MAX: u64 = i64::MAX.unsigned_abs();

#[derive(Debug)]
pub(super) struct Machine {
    pub(super) names: Names,
    pub(super) survival: Survival,
    pub(super) ignores_syncs: bool,
    /// Planned faults, by point.
    pub(super) plan: BTreeMap<u64, Fault>,
    /// Number of changes so far.
    pub(super) points: u64,
    /// Planned read failures, by number.
    pub(super) read_plan: BTreeSet<u64>,
    /// Number of reads so far.
    pub(super) reads: u64,
    /// Number of starts; files opened before the last one are unusable.
    pub(super) starts: u64,
    pub(super) is_full: bool,
    is_cut: bool,
    chance: Chance,
    used_bytes: u64,
    capacity_bytes: Option<u64>,
}

impl Machine {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            names: Names::default(),
            survival: Survival::Random,
            ignores_syncs: false,
            plan: BTreeMap::new(),
            points: 0,
            read_plan: BTreeSet::new(),
            reads: 0,
            starts: 0,
            is_full: false,
            is_cut: false,
            chance: Chance::new(seed),
            used_bytes: 0,
            capacity_bytes: None,
        }
    }

    // Power.

    pub(super) fn cut(&mut self) {
        self.is_cut = true;
    }
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }
    pub(super) fn restart(&mut self) {
        self.names.settle(self.survival, &mut self.chance);
        self.used_bytes = 0;
        for file in self.names.restart() {
            let mut contents = lock(file);
            contents.settle(self.survival, &mut self.chance);
            contents.restart();
            self.used_bytes += contents.room_bytes;
        }
        self.is_cut = false;
        self.starts += 1;
    }
    /// Fails while the power is cut; every operation begins here.
    pub(super) fn check_power(&self) -> io::Result<()> {
        if self.is_cut { Err(power_is_cut()) } else { Ok(()) }
    }

    // Changes: each passes one point.

    /// Carries out a change that happens whole or not at all.
    pub(super) fn change<T>(&mut self, action: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        match self.pass_point()? {
            None | Some(Fault::Full | Fault::Lost | Fault::Misdirected) => action(self),
            Some(Fault::Error) => Err(Errno::IO.into()),
            Some(Fault::Cut) => {
                // The change was interrupted and not synced, so it may happen or not.
                let _ = action(self);
                self.cut();
                Err(power_is_cut())
            }
        }
    }
    /// Writes; a failed write may be done in part.
    pub(super) fn write(&mut self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset.checked_add(bytes.len() as u64).filter(|end| *end <= FILE_BYTES_MAX);
        let end = end.ok_or(Errno::FBIG)?;
        let fault = self.pass_point()?;
        let mut contents = lock(file);
        match fault {
            None => self.write_within(self.free_bytes(), &mut contents, offset, bytes),
            Some(Fault::Full) => {
                let room = self.chance.below(contents.growth(end));
                self.write_within(room, &mut contents, offset, bytes)
            }
            Some(Fault::Error) => {
                let done = self.chance.index(bytes.len());
                self.put(&mut contents, offset, &bytes[..done]);
                Err(Errno::IO.into())
            }
            Some(Fault::Cut) => {
                self.put(&mut contents, offset, bytes);
                self.cut();
                Err(power_is_cut())
            }
            Some(Fault::Lost | Fault::Misdirected) if bytes.is_empty() => Ok(()),
            Some(Fault::Lost) => self.pretend_to_write(&mut contents, end),
            Some(Fault::Misdirected) => {
                self.pretend_to_write(&mut contents, end)?;
                self.misplace(&mut contents, offset, bytes);
                Ok(())
            }
        }
    }
    /// Makes a file durable. If that fails, the unsynced data may be lost although readers see it and later syncs
    /// succeed: the page cache then considers it clean.
    pub(super) fn sync_file(&mut self, file: &File) -> io::Result<()> {
        match self.pass_point()? {
            Some(Fault::Cut) => {
                self.cut();
                return Err(power_is_cut());
            }
            Some(Fault::Error) => {
                lock(file).settle(self.survival, &mut self.chance);
                return Err(Errno::IO.into());
            }
            _ if self.ignores_syncs => {}
            None | Some(Fault::Full | Fault::Lost | Fault::Misdirected) => lock(file).sync(),
        }
        Ok(())
    }
    /// Makes names durable. If that fails, a later sync that succeeds includes them.
    pub(super) fn sync_directory(&mut self, path: &Path) -> io::Result<()> {
        let directory = self.names.directory(path)?;
        match self.pass_point()? {
            Some(Fault::Cut) => {
                self.cut();
                return Err(power_is_cut());
            }
            Some(Fault::Error) => return Err(Errno::IO.into()),
            _ if self.ignores_syncs => {}
            None | Some(Fault::Full | Fault::Lost | Fault::Misdirected) => self.names.sync(&directory),
        }
        Ok(())
    }

    fn pass_point(&mut self) -> io::Result<Option<Fault>> {
        self.check_power()?;
        let fault = self.plan.remove(&self.points);
        self.points += 1;
        self.is_full |= fault == Some(Fault::Full);
        Ok(fault)
    }
    /// Counts a read; fails if that is planned.
    pub(super) fn pass_read(&mut self) -> io::Result<()> {
        let fails = self.read_plan.remove(&self.reads);
        self.reads += 1;
        if fails { Err(Errno::IO.into()) } else { Ok(()) }
    }

    // Hardware that lies.

    /// What the file system does for a write whose bytes the hardware then loses.
    fn pretend_to_write(&mut self, contents: &mut Contents, end: u64) -> io::Result<()> {
        if contents.growth(end) > self.free_bytes() {
            return Err(Errno::NOSPC.into());
        }
        self.take_room(contents, end);
        contents.grow(end);
        Ok(())
    }
    /// Writes at another block of the file, as far as the file goes.
    fn misplace(&mut self, contents: &mut Contents, offset: u64, bytes: &[u8]) {
        let (block, within) = (offset / BLOCK, offset % BLOCK);
        let others = contents.length().div_ceil(BLOCK) - 1;
        if others == 0 {
            return;
        }
        let other = self.chance.below(others);
        let landing = (other + u64::from(other >= block)) * BLOCK + within;
        let room = usize::try_from(contents.length().saturating_sub(landing)).unwrap_or(usize::MAX);
        contents.write(landing, &bytes[..room.min(bytes.len())]);
    }

    // Room.

    pub(super) fn free_bytes(&self) -> u64 {
        match self.capacity_bytes {
            _ if self.is_full => 0,
            None => FREE_BYTES_UNLIMITED,
            Some(capacity) => capacity.saturating_sub(self.used_bytes),
        }
    }
    pub(super) fn set_free_bytes(&mut self, free_bytes: Option<u64>) {
        self.capacity_bytes = free_bytes.map(|free| self.used_bytes.saturating_add(free));
    }
    /// A new name needs some room.
    pub(super) fn check_room(&self) -> io::Result<()> {
        if self.free_bytes() == 0 { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }
    pub(super) fn create(&mut self, path: &Path) -> io::Result<File> {
        self.check_room()?;
        let file = self.names.create(path)?;
        lock(&file).is_named = true;
        Ok(file)
    }
    /// Frees the room of a file whose last name was removed.
    pub(super) fn release(&mut self, file: &File) {
        let mut contents = lock(file);
        self.used_bytes = self.used_bytes.saturating_sub(contents.room_bytes);
        (contents.room_bytes, contents.is_named) = (0, false);
    }
    pub(super) fn truncate(&mut self, file: &File, length: u64) -> io::Result<()> {
        let mut contents = lock(file);
        if length > FILE_BYTES_MAX {
            return Err(Errno::FBIG.into());
        }
        contents.truncate(length);
        let given_back = contents.room_bytes.saturating_sub(length);
        contents.room_bytes -= given_back;
        self.used_bytes = self.used_bytes.saturating_sub(given_back);
        Ok(())
    }
    pub(super) fn allocate(&mut self, file: &File, length: u64) -> io::Result<()> {
        let mut contents = lock(file);
        if length > FILE_BYTES_MAX {
            return Err(Errno::FBIG.into());
        }
        if contents.growth(length) > self.free_bytes() {
            return Err(Errno::NOSPC.into());
        }
        self.take_room(&mut contents, length);
        contents.grow(length);
        Ok(())
    }

    /// Writes as much as fits into `room`.
    fn write_within(
        &mut self,
        room: u64,
        contents: &mut Contents,
        offset: u64,
        bytes: &[u8],
    ) -> io::Result<()> {
        let missing = contents.growth(offset + bytes.len() as u64).saturating_sub(room);
        let fitting = bytes.len().saturating_sub(usize::try_from(missing).unwrap_or(usize::MAX));
        self.put(contents, offset, &bytes[..fitting]);
        if missing > 0 { Err(Errno::NOSPC.into()) } else { Ok(()) }
    }
    fn put(&mut self, contents: &mut Contents, offset: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.take_room(contents, offset + bytes.len() as u64);
            contents.write(offset, bytes);
        }
    }
    fn take_room(&mut self, contents: &mut Contents, end: u64) {
        let growth = contents.growth(end);
        contents.room_bytes += growth;
        self.used_bytes += growth;
    }
}

fn power_is_cut() -> io::Error {
    io::Error::other("the power is cut")
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // A test that panicked while it held the lock has failed already.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
