//! Documents that were set aside: each as a WARC file of one document, to try it again, and what is known of why (P3).
//!
//! **Invariant:** names are made of numbers, never of anything from the web (H17).

use crate::error::Error;
use crate::journal::{Row, Settled};
use crate::wire::{Fault, Parcel};
use archive::split_answer;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use warc::{Compression, Draft, Kind, Level, RecordId, Writer};

/// Keeps a document in `directory`, its member and what is known of it, and says where its WARC file is, if it could be read
/// at all.
pub(crate) fn keep(
    directory: &Path,
    row: &Row,
    parcel: Option<(&Parcel, &[u8])>,
) -> Result<Option<PathBuf>, Error> {
    fs::create_dir_all(directory).map_err(|source| Error::io("make", directory, source))?;
    let Settled::SetAside(fault) = &row.settled else { return Ok(None) };
    let warc = parcel.map(|(parcel, member)| {
        (directory.join(warc_name(row.number, member)), warc_of(parcel, member, row))
    });
    if let Some((path, bytes)) = &warc {
        write(path, bytes)?;
    }
    let about = directory.join(format!("{}.json", row.number));
    let text = told(row, fault, warc.as_ref().map(|(path, _)| path.as_path())).to_string();
    write(&about, (text + "\n").as_bytes())?;
    Ok(warc.map(|(path, _)| path))
}

/// Writes a file that is there after a power cut, as the journal says.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = File::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|source| Error::io("write", path, source))
}

fn told(row: &Row, fault: &Fault, warc: Option<&Path>) -> Value {
    json!({
        "document": row.number, "url": row.url, "at": row.at.to_rfc3339(),
        "cause": fault.cause.as_str(), "what": fault.what, "last_words": fault.words,
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
fn warc_of(parcel: &Parcel, member: &[u8], row: &Row) -> Vec<u8> {
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
    Writer::new(form).append(draft, "application/http; msgtype=response", &[head, body], &mut file);
    file
}

/// Removes what is kept in `directory` of pages whose URLs `is_gone`, and says how many documents that were.
pub(crate) fn remove(directory: &Path, is_gone: impl Fn(&str) -> bool) -> Result<u64, Error> {
    let Ok(found) = fs::read_dir(directory) else { return Ok(0) };
    let mut removed = 0;
    for path in
        found.flatten().map(|found| found.path()).filter(|path| path.extension().is_some_and(|e| e == "json"))
    {
        let text = fs::read_to_string(&path).map_err(|source| Error::io("read", &path, source))?;
        let about: Value = serde_json::from_str(&text).unwrap_or_default();
        if !about.get("url").and_then(Value::as_str).is_some_and(&is_gone) {
            continue;
        }
        // What is known of it goes last, so that it is found again if this is cut off.
        let forms = ["warc.gz", "warc.zst", "warc"].map(|form| path.with_extension(form));
        for path in forms.iter().filter(|path| path.exists()).chain([&path]) {
            fs::remove_file(path).map_err(|source| Error::io("remove", path, source))?;
        }
        removed += 1;
    }
    Ok(removed)
}
