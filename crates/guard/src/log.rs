//! The log: one line a decision, written before the decision takes effect.
//!
//! One file a day, `guard-2026-11-16.jsonl`, one JSON object a line. It is what the guard knows of the day after a
//! restart, so a restart does not reset the caps.
//!
//! **Invariant:** a line that was acknowledged has been handed to the system whole, in the file that has its name now:
//! a file or directory that was removed or moved away is noticed. A line that was cut off, by a full disk or the
//! end of the process, stands alone, and the next line begins on a line of its own.

mod lock;
mod past;

pub(crate) use past::Past;

use crate::day::Day;
use crate::error::Error;
use base::disk::{create_private_directory, private_options};
use lock::Lock;
use rustix::fs::{FileType, Stat};
use serde_json::Value;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// As much room as there must be for the next lines: a disk that has less counts as full.
const FREE_BYTES_MIN: u64 = 64 * 1024;

/// The log, open for writing.
#[derive(Debug)]
pub(crate) struct Log {
    directory: PathBuf,
    lock: Lock,
    today: Option<Today>,
}

#[derive(Debug)]
struct Today {
    day: Day,
    path: PathBuf,
    file: File,
    /// The last line before the next one was cut off.
    is_torn: bool,
}

impl Log {
    /// Opens the log of `day`, or of a later one if there is one, and returns the counts of that day.
    ///
    /// A wall clock that jumped back does not bring back a day that is over: it is counted on in the last one (M6).
    pub(crate) fn open(directory: &Path, day: Day) -> Result<(Self, Day, Past), Error> {
        let fail = |action, path: &Path| {
            let path = path.to_owned();
            move |source| Error::Io { action, path, source }
        };
        create_private_directory(directory).map_err(fail("make the directory", directory))?;
        let lock = Lock::take(directory)?;
        let last = last_day(directory).map_err(fail("read the directory", directory))?;
        let day = last.map_or(day, |last| last.max(day));
        let path = path_of(directory, day);
        let past = Past::read(&path).map_err(fail("read the log", &path))?;
        let today = Today::open(directory, day).map_err(fail("write to the log", &path))?;
        Ok((Self { directory: directory.to_owned(), lock, today: Some(today) }, day, past))
    }

    /// Writes a line. After an error nothing may be let through until a line was written again.
    pub(crate) fn write(&mut self, day: Day, line: &str) -> io::Result<()> {
        let outcome = self.today_at(day).and_then(|today| today.write(line));
        if outcome.is_err() {
            // Opening it again checks how it ends and whether it still exists.
            self.today = None;
        }
        outcome
    }

    /// Whether a line could be written, as far as can be seen without writing one.
    pub(crate) fn check(&mut self, day: Day) -> io::Result<()> {
        let today = self.today_at(day)?;
        let room = rustix::fs::fstatvfs(&today.file)?;
        let free = room.f_bavail.saturating_mul(room.f_frsize);
        if free < FREE_BYTES_MIN { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    /// The file of today, to be synced outside of any lock.
    pub(crate) fn file(&self) -> Option<File> {
        self.today.as_ref().and_then(|today| today.file.try_clone().ok())
    }

    /// The open file of a day, which is the one that has its name.
    fn today_at(&mut self, day: Day) -> io::Result<&mut Today> {
        if self.today.as_ref().is_some_and(|today| today.day != day || today.check_place().is_err()) {
            self.today = None;
        }
        if self.today.is_none() {
            self.lock.take_again(&self.directory)?;
            self.today = Some(Today::open(&self.directory, day)?);
        }
        self.today.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Today {
    fn open(directory: &Path, day: Day) -> io::Result<Self> {
        let path = path_of(directory, day);
        let mut file = private_options().read(true).append(true).create(true).open(&path)?;
        let is_torn = ends_torn(&mut file)?;
        Ok(Self { day, path, file, is_torn })
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        let whole = if self.is_torn { format!("\n{line}\n") } else { format!("{line}\n") };
        // In one call, so that a line is there or not, a full disk aside.
        let written = self.file.write(whole.as_bytes())?;
        self.is_torn = false;
        if written < whole.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    /// Whether the open file still is what its name leads to.
    fn check_place(&self) -> io::Result<()> {
        let (held, named) = (rustix::fs::fstat(&self.file)?, rustix::fs::stat(&self.path)?);
        if is_same(&held, &named) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

fn is_same(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
        && FileType::from_raw_mode(a.st_mode) == FileType::RegularFile
}

fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

const PREFIX: &str = "guard-";
const SUFFIX: &str = ".jsonl";

fn path_of(directory: &Path, day: Day) -> PathBuf {
    directory.join(format!("{PREFIX}{day}{SUFFIX}"))
}

/// The last day that has a file.
fn last_day(directory: &Path) -> io::Result<Option<Day>> {
    let mut last = None;
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let date = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
        last = last.max(date.and_then(Day::parse));
    }
    Ok(last)
}

/// A value as one line that can be shown anywhere: no control character, no change of direction (H24).
pub(crate) fn to_line(value: &Value) -> String {
    let plain = value.to_string();
    let needs_escape = |text: &str| matches!(base::printable(text), Cow::Owned(_));
    if !needs_escape(&plain) {
        return plain;
    }
    let escape = |c: char| match needs_escape(c.encode_utf8(&mut [0; 4])) {
        true => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        false => c.to_string(),
    };
    plain.chars().map(escape).collect()
}

#[cfg(test)]
mod tests;
