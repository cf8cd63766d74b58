//! Quarantined documents: each as a WARC file of one document, to try it again, with a JSON file that says why (P3).
//!
//! **Invariant:** names are made of numbers, never of anything from the web (H17).
//!
//! **Invariant:** the JSON file is written completely before the WARC file and removed after it, so that a takedown
//! finds every file of a page.

use crate::error::Error;
use crate::journal::{DocumentResult, ScanRow};
use crate::wire::{AnalysisFailure, Parcel};
use archive::split_answer;
use base::disk::{create_private_directory, private_options};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use warc::{Compression, Draft, Kind, Level, RecordId, WarcWriter};

/// Stores a document with its description in `directory`; returns the path of its WARC file, if it could be read
/// at all.
pub(crate) fn keep(
    directory: &Path,
    row: &ScanRow,
    parcel: Option<(&Parcel, &[u8])>,
) -> Result<Option<PathBuf>, Error> {
    create_private_directory(directory).map_err(|source| Error::io("make", directory, source))?;
    let DocumentResult::Quarantined(failure) = &row.result else { return Ok(None) };
    let warc = parcel.map(|(parcel, member)| {
        (directory.join(warc_name(row.number, member)), warc_of(parcel, member, row))
    });
    let about = directory.join(format!("{}.json", row.number));
    let text = description(row, failure, warc.as_ref().map(|(path, _)| path.as_path())).to_string();
    write(&about, (text + "\n").as_bytes())?;
    if let Some((path, bytes)) = &warc {
        write(path, bytes)?;
    }
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|source| Error::io("sync", directory, source))?;
    Ok(warc.map(|(path, _)| path))
}

/// Writes a file atomically.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let part = path.with_added_extension(PART);
    let created = private_options().write(true).create(true).truncate(true).open(&part);
    let written = created.and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)
    });
    written.map_err(|source| Error::io("write", path, source))
}

const PART: &str = "part";

fn description(row: &ScanRow, failure: &AnalysisFailure, warc: Option<&Path>) -> Value {
    json!({
        "document": row.number, "url": row.url, "at": row.at.to_rfc3339(),
        "cause": failure.cause.as_str(), "what": failure.what, "stderr": failure.words,
        "warc": warc.and_then(Path::file_name).map(|name| name.to_string_lossy()),
    })
}

fn warc_name(number: u64, member: &[u8]) -> String {
    match member.first() {
        Some(0x28) => format!("{number}.warc.zst"),
        Some(0x1f) => format!("{number}.warc.gz"),
        _ => format!("{number}.warc"),
    }
}

/// The record as it is stored; of one that another page's record stands for, a record of its own.
fn warc_of(parcel: &Parcel, member: &[u8], row: &ScanRow) -> Vec<u8> {
    let Some(head) = &parcel.head else { return member.to_vec() };
    let Ok(record) =
        warc::Record::from_member(member, parcel.location.offset, base::limits::DECODED_BYTES_MAX, None)
    else {
        return member.to_vec();
    };
    let id = RecordId::at("aside", row.number, row.at, &Kind::Response);
    let draft = Draft::new(&Kind::Response, &id, row.at).target(&row.url);
    let (mut file, body) = (Vec::new(), split_answer(&record.block).1);
    let form = match member.first() {
        Some(0x28) => Compression::Zstd(warc::ZstdLevel::DEFAULT),
        Some(0x1f) => Compression::Gzip(Level::DEFAULT),
        _ => Compression::Plain,
    };
    WarcWriter::new(form).append(draft, "application/http; msgtype=response", &[head, body], &mut file);
    file
}

/// Removes the documents in `directory` whose URLs `is_gone`; returns their number.
pub(crate) fn remove(directory: &Path, is_gone: impl Fn(&str) -> bool) -> Result<u64, Error> {
    let mut removed = 0;
    for (number, paths) in kept(directory)? {
        let about = directory.join(format!("{number}.json"));
        let url = url_of(&about)?;
        // A document without a description may be of any page.
        if url.as_deref().is_none_or(&is_gone) {
            remove_all(&paths, &about)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes every document not in `wanted`: a killed process quarantined the others without noting them in the journal.
pub(crate) fn keep_only(directory: &Path, wanted: &BTreeSet<u64>) -> Result<(), Error> {
    for (number, paths) in kept(directory)?.into_iter().filter(|(number, _)| !wanted.contains(number)) {
        remove_all(&paths, &directory.join(format!("{number}.json")))?;
    }
    Ok(())
}

/// The files of each document. Others are not ours.
pub(crate) fn kept(directory: &Path) -> Result<BTreeMap<u64, Vec<PathBuf>>, Error> {
    let failed = |source| Error::io("list", directory, source);
    let found = match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        found => found.map_err(failed)?,
    };
    let mut files: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    for entry in found {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.split_once('.')?.0.parse().ok());
        if let Some(number) = number {
            files.entry(number).or_default().push(entry.path());
        }
    }
    Ok(files)
}

/// The URL of a document, if that is known.
fn url_of(about: &Path) -> Result<Option<String>, Error> {
    let text = match fs::read_to_string(about) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|source| Error::io("read", about, source))?,
    };
    let about: Value = serde_json::from_str(&text).unwrap_or_default();
    Ok(about.get("url").and_then(Value::as_str).map(str::to_owned))
}

/// Removes files, the description last.
fn remove_all(paths: &[PathBuf], about: &PathBuf) -> Result<(), Error> {
    let is_about = |path: &&PathBuf| *path == about;
    let rest = paths.iter().filter(|path| !is_about(path));
    for path in rest.chain(paths.iter().find(is_about)) {
        fs::remove_file(path).map_err(|source| Error::io("remove", path, source))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::FailureCause;
    use base::Timestamp;

    fn keep_one(directory: &Path, number: u64, url: &str) {
        let failure =
            AnalysisFailure { cause: FailureCause::Hung, what: "it hung".to_owned(), words: String::new() };
        let row = ScanRow {
            number,
            url: url.to_owned(),
            at: Timestamp::MIN,
            result: DocumentResult::Quarantined(failure),
        };
        let parcel = Parcel { number, ..crate::wire::tests::small(3) };
        let path = keep(directory, &row, Some((&parcel, b"\x1f\x8bx"))).unwrap();
        assert_eq!(path, Some(directory.join(format!("{number}.warc.gz"))));
    }

    #[track_caller]
    fn check(directory: &Path, expected: &[&str]) {
        let found = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_removed_goes_with_all_that_is_known_of_it() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path();
        ["http://a/", "http://b/", "http://a/x"]
            .iter()
            .zip(0..)
            .for_each(|(url, n)| keep_one(directory, n, url));
        // A process that was killed in between leaves a document of which nothing is known.
        fs::write(directory.join("9.warc.gz.part"), "half").unwrap();
        fs::write(directory.join("notes.txt"), "of another program").unwrap();
        assert_eq!(remove(directory, |url| url.starts_with("http://a/")).unwrap(), 3);
        check(directory, &["1.json", "1.warc.gz", "notes.txt"]);
        keep_only(directory, &BTreeSet::new()).unwrap();
        check(directory, &["notes.txt"]);
        assert_eq!(remove(&directory.join("nowhere"), |_| true).unwrap(), 0);
    }
}
