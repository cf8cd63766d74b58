//! The file `FORMAT`: by it a data directory is recognised, and its version and its web are known.
//!
//! **Invariant:** the file is whole or absent: it is written under another name, synced and renamed. Its last line
//! is a digest of the lines before it, in this version and in every later one.

use super::Error;
use base::disk::{Disk, Open};
use base::{ContentDigest, Timestamp};
use std::fmt;
use std::io;
use std::path::Path;

/// The name of the file.
pub(super) const FILE_NAME: &str = "FORMAT";
/// Its name until it is whole.
pub(super) const UNFINISHED_NAME: &str = "FORMAT.tmp";
/// The version this program writes, and the last it reads.
pub(super) const VERSION: i64 = 1;
const FIRST_LINE: &str =
    "# A data directory of utsushi. Written once, by the program; a changed file is refused.\n";
/// Ten times what the file has ever taken.
const FILE_BYTES_MAX: usize = 4096;

/// What a data directory says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryFormat {
    /// The version of the layout.
    pub version: i64,
    /// When it was made.
    pub created: Timestamp,
    /// The web that is archived in it.
    pub web: WebKind,
}

/// Which web is archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WebKind {
    /// The one made by `sim`.
    Simulated,
    /// The one out there.
    Public,
}

impl fmt::Display for WebKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simulated => "simulated",
            Self::Public => "public",
        })
    }
}

/// The format of the directory, if it has one.
pub(super) fn read(disk: &dyn Disk, directory: &Path) -> Result<Option<DirectoryFormat>, Error> {
    match read_bytes(disk, &directory.join(FILE_NAME)) {
        Ok(bytes) => parse(directory, &bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::read(directory, source)),
    }
}

fn read_bytes(disk: &dyn Disk, path: &Path) -> io::Result<Vec<u8>> {
    let file = disk.open(path, Open::Read)?;
    let length = usize::try_from(file.length()?).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length.min(FILE_BYTES_MAX)];
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

/// Writes the format of a new directory; it is durable afterwards.
pub(super) fn write(disk: &dyn Disk, directory: &Path, format: &DirectoryFormat) -> io::Result<()> {
    let unfinished = directory.join(UNFINISHED_NAME);
    match disk.remove(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.open(&unfinished, Open::CreateNew)?;
    file.write_at(0, to_text(format).as_bytes())?;
    file.sync()?;
    disk.rename(&unfinished, &directory.join(FILE_NAME))?;
    disk.sync_directory(directory)
}

fn to_text(format: &DirectoryFormat) -> String {
    let DirectoryFormat { version, created, web } = format;
    let body = format!("{FIRST_LINE}format = {version}\ncreated = \"{created}\"\nweb = \"{web}\"\n");
    let check = ContentDigest::of(body.as_bytes());
    format!("{body}check = \"{check}\"\n")
}

fn parse(directory: &Path, bytes: &[u8]) -> Result<DirectoryFormat, Error> {
    let damaged = |reason: &str| Error::Damaged { path: directory.to_owned(), reason: reason.to_owned() };
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
    let table: toml::Table = text.parse().map_err(|_| damaged("it is no TOML"))?;
    if !check_holds(text, table.get("check")) {
        return Err(damaged("its contents do not match its last line"));
    }
    let version =
        table.get("format").and_then(toml::Value::as_integer).ok_or_else(|| damaged("it has no `format`"))?;
    match version {
        ..1 => Err(damaged("its `format` is less than 1")),
        1..=VERSION => fields(version, &table).ok_or_else(|| damaged("a field is missing or unknown")),
        _ => Err(Error::Newer { path: directory.to_owned(), version, known: VERSION }),
    }
}

/// Whether the last line is the digest of the lines before it.
fn check_holds(text: &str, check: Option<&toml::Value>) -> bool {
    let body = text.rfind("check = ").and_then(|at| text.get(..at)).unwrap_or_default();
    check.and_then(toml::Value::as_str) == Some(&ContentDigest::of(body.as_bytes()).to_string())
}

fn fields(version: i64, table: &toml::Table) -> Option<DirectoryFormat> {
    let text = |key| table.get(key).and_then(toml::Value::as_str);
    let web = [WebKind::Simulated, WebKind::Public]
        .into_iter()
        .find(|web| text("web") == Some(&web.to_string()))?;
    Some(DirectoryFormat { version, created: text("created")?.parse().ok()?, web })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::disk::{Fault, SimulatedDisk, Survival};

    fn format() -> DirectoryFormat {
        DirectoryFormat {
            version: 1,
            created: "2026-03-31T09:00:00Z".parse().unwrap(),
            web: WebKind::Simulated,
        }
    }

    #[test]
    fn the_file_is_as_documented() {
        let documented = include_str!("../../../../docs/formats/data-directory.md");
        assert!(documented.contains(&to_text(&format())), "{}", to_text(&format()));
        assert_eq!(parse(Path::new("data"), to_text(&format()).as_bytes()).unwrap(), format());
    }

    #[test]
    fn survives_m5_no_flipped_bit_goes_unnoticed() {
        let whole = to_text(&format()).into_bytes();
        for position in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[position / 8] ^= 1 << (position % 8);
            let outcome = parse(Path::new("data"), &flipped);
            assert!(matches!(outcome, Err(Error::Damaged { .. })), "bit {position}: {outcome:?}");
        }
        for length in 0..whole.len() - 1 {
            assert!(parse(Path::new("data"), &whole[..length]).is_err(), "cut to {length}");
        }
    }

    #[test]
    fn a_later_version_is_told_from_damage() {
        let later = to_text(&DirectoryFormat { version: 7, ..format() });
        let outcome = parse(Path::new("data"), later.as_bytes());
        assert!(matches!(outcome, Err(Error::Newer { version: 7, known: 1, .. })), "{outcome:?}");
    }

    fn disk(seed: u64) -> SimulatedDisk {
        let disk = SimulatedDisk::new(seed);
        disk.create_directory(Path::new("/data")).unwrap();
        disk.sync_directory(Path::new("/")).unwrap();
        disk
    }

    /// Writes the file with the power cut at its `point`-th change, and starts again.
    #[track_caller]
    fn check(disk: &SimulatedDisk, point: u64) {
        disk.fail_at(disk.points() + point, Fault::Cut);
        let written = write(disk, Path::new("/data"), &format()).is_ok();
        disk.restart();
        let found = read(disk, Path::new("/data")).expect("the file is whole or absent");
        assert!(found.is_some() || !written, "what was acknowledged is lost");
        write(disk, Path::new("/data"), &format()).expect("a start that was cut off is begun again");
    }

    /// How many changes writing the file takes.
    fn points() -> u64 {
        let disk = disk(0);
        let before = disk.points();
        write(&disk, Path::new("/data"), &format()).unwrap();
        disk.points() - before
    }

    #[test]
    fn survives_m1_a_power_cut_leaves_the_file_whole_or_absent() {
        for (seed, point) in (0..50).flat_map(|seed| (0..points()).map(move |point| (seed, point))) {
            check(&disk(seed), point);
        }
        let written = disk(0);
        write(&written, Path::new("/data"), &format()).unwrap();
        written.restart();
        assert_eq!(read(&written, Path::new("/data")).unwrap(), Some(format()));
    }

    #[test]
    fn survives_m1_needs_the_syncs() {
        let lying = disk(0);
        lying.set_survival(Survival::None);
        lying.ignore_syncs(true);
        write(&lying, Path::new("/data"), &format()).unwrap();
        lying.restart();
        assert_eq!(read(&lying, Path::new("/data")).unwrap(), None);
    }
}
