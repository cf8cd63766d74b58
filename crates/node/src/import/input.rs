//! Input files, recognised by their content and not by their names.
//!
//! **Invariant:** names inside a package are shown and never followed (H17). Reading continues after damage.

use archive::Group;
use base::limits::RECORD_BLOCK_BYTES_MAX;
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use warc::{Record, WarcReader, arc};

const GZIP: [u8; 2] = [0x1f, 0x8b];
/// This many bytes identify an ARC file.
const ARC_BEGIN_BYTES: u64 = 16;

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Warc,
    Arc,
    Wacz,
}

/// A file that can be imported.
#[derive(Debug)]
pub(super) struct Input {
    path: PathBuf,
    file: File,
    form: Form,
    bytes: u64,
}

/// A step through all files.
#[derive(Debug)]
pub(super) enum Step {
    /// A file starts, `from` bytes after the start of the first.
    File { name: String, from: u64 },
    /// The same for a file inside the last one.
    Part { name: String, from: u64 },
    /// A record was read.
    Record(Record),
    /// A record was read that cannot be imported.
    Unfit { offset: u64, why: &'static str },
    /// Something cannot be read.
    Damaged { offset: u64, what: String },
}

impl Input {
    /// Opens a file and detects its format.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let form = match Form::of(&mut file)? {
            Some(form) => form,
            None if metadata.len() == 0 => return Err(io::Error::other("it is empty")),
            None => return Err(io::Error::other("it has no complete record of a WARC, WACZ or ARC file")),
        };
        Ok(Self { path: path.to_owned(), file, form, bytes: metadata.len() })
    }
    /// Its length.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Form {
    fn of(file: &mut File) -> io::Result<Option<Self>> {
        let mut begin = Vec::new();
        file.by_ref().take(4).read_to_end(&mut begin)?;
        file.rewind()?;
        if begin == b"PK\x03\x04" {
            return Ok(Some(Self::Wacz));
        }
        let is_arc = is_arc(file)?;
        file.rewind()?;
        if is_arc {
            return Ok(Some(Self::Arc));
        }
        let has_record = has_record(file)?;
        file.rewind()?;
        Ok(has_record.then_some(Self::Warc))
    }
}

/// Whether the file starts like an ARC file, compressed or not.
fn is_arc(file: &mut File) -> io::Result<bool> {
    let mut file = BufReader::new(file);
    if !file.fill_buf()?.starts_with(&GZIP) {
        return Ok(arc::is_arc(file.buffer()));
    }
    let mut begin = Vec::new();
    let unpacked = GzDecoder::new(file).take(ARC_BEGIN_BYTES).read_to_end(&mut begin);
    Ok(unpacked.is_ok() && arc::is_arc(&begin))
}

/// Whether a record can be read anywhere in the file.
fn has_record(file: &File) -> io::Result<bool> {
    let mut records = WarcReader::new(file, 0);
    loop {
        match records.advance() {
            Some(Ok(_)) => return Ok(true),
            None => return Ok(false),
            Some(Err(warc::Error::Io { source, .. })) => return Err(source),
            Some(Err(_)) => {}
        }
        match records.resume() {
            Ok(true) => {}
            Err(warc::Error::Io { source, .. }) => return Err(source),
            Ok(false) | Err(_) => return Ok(false),
        }
    }
}

/// Nothing receives the steps any more.
struct Gone;

/// The receiver of the steps.
struct Steps<'a>(&'a SyncSender<Step>);

impl Steps<'_> {
    fn send(&self, step: Step) -> Result<(), Gone> {
        self.0.send(step).map_err(|_| Gone)
    }
    fn damaged(&self, offset: u64, what: impl Into<String>) -> Result<(), Gone> {
        self.send(Step::Damaged { offset, what: what.into() })
    }
}

/// Reads all files, until nothing receives the steps any more.
pub(super) fn read_all(inputs: Vec<Input>, spool: &Path, sender: &SyncSender<Step>) {
    let steps = Steps(sender);
    let mut from = 0;
    for input in inputs {
        let bytes = input.bytes;
        if read_one(input, from, spool, &steps).is_err() {
            return;
        }
        from += bytes;
    }
}

fn read_one(input: Input, from: u64, spool: &Path, steps: &Steps<'_>) -> Result<(), Gone> {
    let name = input.path.display().to_string();
    steps.send(Step::File { name: name.clone(), from })?;
    match input.form {
        Form::Warc => read_warc(input.file, steps),
        Form::Arc => read_arc(input.file, steps),
        Form::Wacz => read_wacz(input.file, &name, from, spool, steps),
    }
}

fn read_warc(file: impl Read + Seek, steps: &Steps<'_>) -> Result<(), Gone> {
    let mut records = WarcReader::new(file, RECORD_BLOCK_BYTES_MAX);
    loop {
        let error = match records.advance() {
            None => return Ok(()),
            Some(Ok(record)) => {
                steps.send(Step::Record(record.to_record()))?;
                continue;
            }
            Some(Err(error)) => error,
        };
        let (offset, what) = told(&error);
        match records.resume() {
            Ok(true) => {
                let to = records.lost().map_or(offset, |lost| lost.to);
                steps.damaged(offset, format!("{what}; reading continues at byte {to}"))?;
            }
            Ok(false) => return steps.damaged(offset, format!("{what}; no record follows")),
            Err(again) => {
                steps.damaged(offset, what)?;
                let (offset, what) = told(&again);
                return steps.damaged(offset, what);
            }
        }
    }
}

/// The position of an error, and its description.
fn told(error: &warc::Error) -> (u64, String) {
    match error {
        warc::Error::Damaged { offset, what } => (*offset, format!("the record is damaged: {what}")),
        warc::Error::Cut(tail) => (
            tail.good_bytes,
            format!("the file ends inside a record, {} bytes after it begins", tail.lost_bytes),
        ),
        warc::Error::Io { offset, source } => (*offset, format!("the file cannot be read: {source}")),
        other => (0, other.to_string()),
    }
}

fn read_arc(file: File, steps: &Steps<'_>) -> Result<(), Gone> {
    for found in arc::ArcReader::new(file, RECORD_BLOCK_BYTES_MAX).with_file_headers() {
        match found {
            Ok(arc) => {
                let offset = arc.offset;
                let step = Group::of_arc(arc).map(|group| Step::Record(group.main));
                steps.send(step.unwrap_or(Step::Unfit { offset, why: "it has no date" }))?;
            }
            Err(error) => {
                let (offset, what) = told(&error);
                steps.damaged(offset, what)?;
            }
        }
    }
    Ok(())
}

fn read_wacz(file: File, name: &str, from: u64, spool: &Path, steps: &Steps<'_>) -> Result<(), Gone> {
    let mut package = match formats::wacz::Package::open(file) {
        Ok(package) => package,
        Err(error) => return steps.damaged(0, error.to_string()),
    };
    let warcs = package.warcs();
    if warcs.is_empty() {
        return steps.damaged(0, "the package contains no WARC file");
    }
    let mut done = 0;
    for entry in warcs {
        steps.send(Step::Part { name: format!("{name}#{}", entry.name()), from: from + done })?;
        match package.read(&entry).and_then(|content| content.seekable(spool)) {
            Ok(content) => read_warc(content, steps)?,
            Err(error) => steps.damaged(0, error.to_string())?,
        }
        done += entry.bytes();
    }
    Ok(())
}
