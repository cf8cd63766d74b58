//! The names of archive files: `utsushi-20261115231600123456-00000.warc.gz`, with `.open` appended while it grows.
//!
//! The digits are the moment at which the writer was opened, to the microsecond, and a count.
//!
//! **Invariant:** a new name is greater than every name in the directory, so the names sort by when the files were
//! started, even if the clock was set back, and no name is used twice.

use base::Timestamp;
use std::path::Path;
use warc::Compression;

/// Suffixes of finished files.
const CLOSED: [&str; 2] = [".warc.gz", ".warc.zst"];
/// Suffix of a growing file.
pub(crate) const OPEN: &str = ".open";
/// Suffix of a journal of the derived table.
pub(crate) const DERIVED: &str = ".derived";
const PREFIX: &str = "utsushi-";
const STAMP_DIGITS: usize = 20;
const COUNT_MAX: u32 = 99_999;

/// A name that this crate gave.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    stamp: String,
    count: u32,
    end: &'static str,
}

impl Name {
    /// A name for a file started at `at`, greater than all in `taken`.
    pub(crate) fn new<'a>(
        at: Timestamp,
        compression: Compression,
        taken: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        let [gzip, zstd] = CLOSED;
        let end = if matches!(compression, Compression::Zstd(_)) { zstd } else { gzip };
        let stamp = format!("{}{:06}", at.to_stamp(), at.as_micros() % 1_000_000);
        let last = taken.into_iter().filter_map(Self::of).max();
        let next = last.filter(|last| last.stamp >= stamp).map(|last| last.next());
        let next = next.unwrap_or(Self { stamp, count: 0, end });
        Self { end, ..next }
    }
    /// The next one.
    pub(crate) fn next(&self) -> Self {
        if self.count < COUNT_MAX {
            return Self { stamp: self.stamp.clone(), count: self.count + 1, end: self.end };
        }
        // Names sort as texts, so a count never gets longer; the digits of the stamp only have to be greater.
        let stamp = self
            .stamp
            .parse::<u128>()
            .map_or_else(|_| self.stamp.clone(), |stamp| format!("{:020}", stamp + 1));
        Self { stamp, count: 0, end: self.end }
    }
    /// The name of a finished file.
    pub(crate) fn closed(&self) -> String {
        format!("{PREFIX}{}-{:05}{}", self.stamp, self.count, self.end)
    }
    /// The name while it grows.
    pub(crate) fn open(&self) -> String {
        format!("{}{OPEN}", self.closed())
    }

    fn of(path: &Path) -> Option<Self> {
        Self::read(closed_name(path)?)
    }
    fn read(name: &str) -> Option<Self> {
        let end = CLOSED.into_iter().find(|end| name.ends_with(end))?;
        let (stamp, count) = name.strip_prefix(PREFIX)?.strip_suffix(end)?.split_once('-')?;
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let is_stamp = stamp.len() == STAMP_DIGITS && is_digits(stamp) && is_digits(count);
        Some(Self { stamp: is_stamp.then(|| stamp.to_owned())?, count: count.parse().ok()?, end })
    }
}

/// The name that an archive file has, or will have when it is finished; `None` for any other file, such as those of
/// other writers.
pub(crate) fn closed_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(OPEN).unwrap_or(name);
    Name::read(name).is_some().then_some(name)
}

/// The archive file that a path is the derived journal of, if it is one.
pub(crate) fn derived_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(DERIVED)
}

/// Whether this is a name that this crate gives.
pub(crate) fn is_name(name: &str) -> bool {
    Name::of(Path::new(name)).is_some()
}

/// Whether a file is still growing, or was when its writer crashed.
pub(crate) fn is_open(path: &Path) -> bool {
    closed_name(path).is_some() && path.extension().is_some_and(|extension| extension == &OPEN[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(at: &str, taken: &[&str], expected: &str) {
        let name = Name::new(at.parse().unwrap(), Compression::default(), taken.iter().map(Path::new));
        assert_eq!(name.closed(), expected);
        assert_eq!(Name::of(Path::new(&format!("/a/{}", name.open()))), Some(name.clone()));
        assert!(is_open(Path::new(&name.open())) && !is_open(Path::new(&name.closed())));
    }

    #[test]
    fn a_new_name_is_the_greatest() {
        let first = "utsushi-20261115231600123456-00000.warc.gz";
        check("2026-11-15T23:16:00.123456Z", &[], first);
        check("2026-11-15T23:16:00.123456Z", &["/x/notes.txt", "other.warc.gz"], first);
        check("2026-11-15T23:16:00.123456Z", &[first], "utsushi-20261115231600123456-00001.warc.gz");
        let open = "utsushi-20261115231600123456-00009.warc.gz.open";
        check("2026-11-15T23:16:00Z", &[first, open], "utsushi-20261115231600123456-00010.warc.gz");
        check("2026-11-15T23:16:01Z", &[first, open], "utsushi-20261115231601000000-00000.warc.gz");
    }

    #[test]
    fn only_archive_files_have_a_closed_name() {
        let name = "utsushi-20261115231600123456-00000.warc.gz";
        assert_eq!(closed_name(Path::new(&format!("/a/{name}.open"))), Some(name));
        assert_eq!(closed_name(Path::new(&format!("/a/{name}"))), Some(name));
        assert_eq!(closed_name(Path::new("/a/heritrix.warc.gz.open")), None);
        assert_eq!(closed_name(Path::new("/a/b.warc.gz")), None);
        assert_eq!(closed_name(Path::new("/a/b.cdx")), None);
        assert!(!is_open(Path::new("notes.open")));
    }
}
