//! Berkeley DB 5.3: a B-tree that is changed in place, with a log and a cache of its own.
//!
//! The paper used its lightest mode, without transactions; here it has its log, since every system must be durable.
//! What its cache does not hold it reads through the page cache, so it runs in a control group too.
#![expect(unsafe_code, reason = "Berkeley DB is written in C; berkeley.c says what its functions expect")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

use anyhow::{Context, Result, bail};
use workload::{Offers, Workload};

use crate::store::{
    Change, Offer, Place, RECORD_BYTES, Record, Register, Store, steady_state_in_parts, stored,
};

/// Records that are loaded in one transaction.
const LOADED_AT_ONCE: usize = 10_000;

/// Bytes of a place and its record, as berkeley.c takes them.
const ENTRY_BYTES: usize = 8 + RECORD_BYTES;

/// What berkeley.c opened.
#[repr(C)]
struct Opened {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn berkeley_open(directory: *const c_char, cache: u64, opened: *mut *mut Opened) -> c_int;
    fn berkeley_close(of: *mut Opened) -> c_int;
    fn berkeley_read(
        of: *mut Opened,
        from: *const u8,
        end: *const u8,
        count_max: usize,
        into: *mut u8,
        count: *mut usize,
    ) -> c_int;
    fn berkeley_commit(
        of: *mut Opened,
        from: *const u8,
        end: *const u8,
        entries: *const u8,
        count: usize,
        synced: c_int,
    ) -> c_int;
    fn berkeley_offer(of: *mut Opened, offers: *const u8, count: usize, new: *mut u8) -> c_int;
    fn berkeley_checkpoint(of: *mut Opened) -> c_int;
    fn berkeley_message(error: c_int) -> *const c_char;
}

pub(crate) struct BerkeleyDb {
    opened: NonNull<Opened>,
    /// Entries on their way in or out.
    entries: Vec<u8>,
}

impl BerkeleyDb {
    pub(crate) fn open(directory: &Path, budget_bytes: u64) -> Result<Self> {
        let path = CString::new(directory.as_os_str().as_bytes())?;
        let mut opened = std::ptr::null_mut();
        // SAFETY: the path ends with a zero, and `opened` may be written to.
        let error = unsafe { berkeley_open(path.as_ptr(), budget_bytes, &raw mut opened) };
        check(error).with_context(|| format!("cannot open Berkeley DB in `{}`", directory.display()))?;
        let opened = NonNull::new(opened).context("Berkeley DB opened nothing")?;
        Ok(Self { opened, entries: Vec::new() })
    }

    /// Deletes `gone`, adds `put` and commits.
    fn change<'a>(
        &mut self,
        gone: &Range<Place>,
        put: impl Iterator<Item = &'a (Place, Record)>,
        synced: bool,
    ) -> Result<()> {
        self.entries.clear();
        for (place, record) in put {
            self.entries.extend_from_slice(&place.bytes());
            self.entries.extend_from_slice(record);
        }
        let (from, end) = (gone.start.bytes(), gone.end.bytes());
        let (entries, count) = (self.entries.as_ptr(), self.entries.len() / ENTRY_BYTES);
        // SAFETY: the places have 8 bytes, and so many whole entries are there.
        check(unsafe {
            berkeley_commit(self.opened.as_ptr(), from.as_ptr(), end.as_ptr(), entries, count, synced.into())
        })
    }

    fn checkpoint(&self) -> Result<()> {
        // SAFETY: it is open.
        check(unsafe { berkeley_checkpoint(self.opened.as_ptr()) })
    }
}

impl Drop for BerkeleyDb {
    fn drop(&mut self) {
        // SAFETY: it is open, and not used again. Everything was synced, so an error now takes nothing away.
        unsafe { berkeley_close(self.opened.as_ptr()) };
    }
}

impl Store for BerkeleyDb {
    fn load(&mut self, workload: &Workload) -> Result<()> {
        let nothing = Place::new(0, 0)..Place::new(0, 0);
        let mut records = steady_state_in_parts(workload);
        loop {
            let some: Vec<_> = records.by_ref().take(LOADED_AT_ONCE).collect();
            if some.is_empty() {
                return self.checkpoint();
            }
            self.change(&nothing, some.iter(), false)?;
        }
    }

    fn read(&mut self, range: Range<Place>, count_max: usize, into: &mut Vec<(Place, Record)>) -> Result<()> {
        // One more: the entry after the last is read before it is seen to be beyond the range.
        self.entries.resize((count_max + 1) * ENTRY_BYTES, 0);
        let (from, end) = (range.start.bytes(), range.end.bytes());
        let mut count = 0;
        // SAFETY: the places have 8 bytes, and so many entries have room.
        check(unsafe {
            let entries = self.entries.as_mut_ptr();
            berkeley_read(
                self.opened.as_ptr(),
                from.as_ptr(),
                end.as_ptr(),
                count_max,
                entries,
                &raw mut count,
            )
        })?;
        for entry in self.entries.chunks_exact(ENTRY_BYTES).take(count) {
            let (place, record) = entry.split_at(8);
            into.push((Place::from_bytes(place)?, stored(record)?));
        }
        Ok(())
    }

    fn commit(&mut self, change: &Change<'_>) -> Result<()> {
        self.change(&change.gone, change.put.iter(), true)
    }

    fn finish(&mut self) -> Result<()> {
        self.checkpoint()
    }
}

impl Register for BerkeleyDb {
    fn offer(&mut self, offers: &[Offer], new: &mut Vec<bool>) -> Result<()> {
        let mut bytes = Vec::with_capacity(offers.len() * (Offers::KEY_BYTES + 4));
        for (key, number) in offers {
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let mut answers = vec![0_u8; offers.len()];
        // SAFETY: so many whole offers are there, and room for as many answers.
        check(unsafe {
            berkeley_offer(self.opened.as_ptr(), bytes.as_ptr(), offers.len(), answers.as_mut_ptr())
        })?;
        new.extend(answers.iter().map(|answer| *answer != 0));
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.checkpoint()
    }
}

fn check(error: c_int) -> Result<()> {
    if error == 0 {
        return Ok(());
    }
    // SAFETY: Berkeley DB returns a text that ends with a zero and stays.
    let message = unsafe { CStr::from_ptr(berkeley_message(error)) };
    bail!("Berkeley DB: {}", message.to_string_lossy())
}
