//! The documents of a job, pinned: found once, in the order in which they lie on disk, and kept with it (D14).
//!
//! **Invariant:** a document's number is its place in the list, for as long as the job lives.

use crate::error::Error;
use crate::frames::{Frames, Writer};
use crate::wire::{Rest, put_bytes};
use archive::derived::Facts;
use archive::{Location, Stored, Version};
use base::Timestamp;
use base::disk::Disk;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A document of the list.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// Its place in the list.
    pub number: u64,
    /// The URL as requested.
    pub url: String,
    /// When it was captured.
    pub at: Timestamp,
    /// Where it is and the sum of its bytes, if it is a record of its own.
    pub(crate) own: Option<Own>,
    /// The version with what stands beside it, as [`Version::from_bytes`] reads it.
    version: Box<[u8]>,
    /// Number of bytes, at the end of the attached fields, that describe its content.
    facts_bytes: usize,
}

/// A document that is a record of its own, which nearly all are: it can be read without knowing more of it.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) location: Location,
    pub(crate) sum: u32,
    pub(crate) is_answer: bool,
}

impl Pointer {
    /// Which version it is, and what is known of its content.
    #[must_use]
    pub fn version(&self) -> Option<(Version, Facts)> {
        let (version, beside) = Version::from_bytes(&self.version)?;
        let facts = beside.len().checked_sub(self.facts_bytes).and_then(|start| beside.get(start..));
        let facts = facts.filter(|facts| !facts.is_empty()).and_then(Facts::from_bytes);
        Some((version, facts.unwrap_or_default()))
    }
}

/// What stands beside a version in the list: what is needed to read the document, and what is known of its content. To be
/// given to [`Version::to_bytes`] or the sorter of a snapshot, whose bytes [`PointerWriter::push`] takes.
#[must_use]
pub fn beside(version: &Version, facts: &Facts) -> Vec<u8> {
    let entry = &version.payload;
    let kind = match entry.kind {
        Stored::Response => ANSWER,
        Stored::Resource => THING,
        _ => OTHER,
    };
    let (file, url) = (entry.location.file.as_bytes(), entry.url.as_bytes());
    let mut front = Vec::with_capacity(FRONT_BYTES + file.len() + url.len());
    front.push(kind);
    for number in [entry.location.offset, entry.location.length] {
        front.extend_from_slice(&number.to_le_bytes());
    }
    front.extend_from_slice(&entry.sum.to_le_bytes());
    front.extend_from_slice(&entry.at.as_micros().to_le_bytes());
    put_bytes(&mut front, file);
    put_bytes(&mut front, url);
    if !facts.is_empty() {
        front.extend_from_slice(&facts.to_bytes());
    }
    front
}

/// What a front takes beside names and facts.
const FRONT_BYTES: usize = 37;

/// Takes the documents of a job, which must come in the order in which they lie on disk.
#[derive(Debug)]
pub struct PointerWriter {
    writer: Writer,
    count: u64,
}

impl PointerWriter {
    pub(crate) fn create(disk: &dyn Disk, path: &Path) -> Result<Self, Error> {
        Ok(Self { writer: Writer::create(disk, path)?, count: 0 })
    }
    /// Takes a version as [`Version::to_bytes`] gives it, with what [`beside`] says of it.
    pub fn push(&mut self, encoded: &[u8]) -> Result<(), Error> {
        assert!(
            Version::beside(encoded).is_some_and(|beside| beside.len() >= FRONT_BYTES),
            "a version is listed with what is needed to read it"
        );
        self.count += 1;
        self.writer.push(&[encoded])
    }
    /// Ends the list, makes it durable if that is wanted, and says how many there are.
    pub(crate) fn finish(mut self, is_durable: bool) -> Result<u64, Error> {
        self.writer.push(&[END])?;
        if is_durable {
            self.writer.sync()?;
        } else {
            self.writer.flush()?;
        }
        Ok(self.count)
    }
}

const ANSWER: u8 = 0;
const THING: u8 = 1;
const OTHER: u8 = 2;

/// Reads a document of the list; `file` is that of the one before.
fn decode(frame: &[u8], number: u64, file: &mut Arc<str>) -> Option<Pointer> {
    let mut rest = Rest(Version::beside(frame)?);
    let [kind] = rest.chunk()?;
    let (offset, length) = (u64::from_le_bytes(rest.chunk()?), u64::from_le_bytes(rest.chunk()?));
    let sum = u32::from_le_bytes(rest.chunk()?);
    let at = Timestamp::from_micros(i64::from_le_bytes(rest.chunk()?))?;
    let name = rest.text()?;
    if **file != *name {
        *file = name.into();
    }
    let location = Location { file: Arc::clone(file), offset, length };
    let url = rest.text()?.to_owned();
    let own = matches!(kind, ANSWER | THING).then_some(Own { location, sum, is_answer: kind == ANSWER });
    let facts_bytes = rest.0.len();
    Some(Pointer { number, url, at, own, facts_bytes, version: frame.into() })
}

/// The end marker of the list. No version is this short.
const END: &[u8] = b"end";
/// What stands in place of a document that was taken down.
const GONE: &[u8] = b"gone";

/// Rewrites the list at `path` without the documents whose URLs `is_gone`. The others keep their numbers.
pub(crate) fn rewrite(disk: &dyn Disk, path: &Path, is_gone: impl Fn(&str) -> bool) -> Result<(), Error> {
    crate::frames::rewrite(disk, path, &[], |frame| {
        let pointer = decode(frame, 0, &mut Arc::from(""));
        Some(if pointer.is_some_and(|pointer| is_gone(&pointer.url)) { GONE } else { frame })
    })
}

/// The list.
#[derive(Clone, Debug)]
pub struct Pointers {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl Pointers {
    pub(crate) fn new(disk: Arc<dyn Disk>, path: PathBuf) -> Self {
        Self { disk, path }
    }
    /// All documents in their order.
    pub fn read(&self) -> Result<PointerReader, Error> {
        Ok(PointerReader {
            frames: Frames::open(&*self.disk, &self.path)?,
            path: self.path.clone(),
            next: 0,
            is_over: false,
            file: Arc::from(""),
        })
    }
}

/// A walk through the list.
#[derive(Debug)]
pub struct PointerReader {
    frames: Frames,
    path: PathBuf,
    next: u64,
    is_over: bool,
    file: Arc<str>,
}

impl PointerReader {
    /// The next document that is not `skipped`; whatever is skipped is not looked at.
    pub fn next_but(&mut self, skipped: impl Fn(u64) -> bool) -> Result<Option<Pointer>, Error> {
        while !self.is_over {
            let damaged = |what| Error::Damaged { path: self.path.clone(), what };
            let Some(frame) = self.frames.next()? else {
                return Err(damaged("the list of documents breaks off"));
            };
            if frame == END {
                self.is_over = true;
                break;
            }
            let number = self.next;
            self.next += 1;
            if frame == GONE || skipped(number) {
                continue;
            }
            let pointer = decode(frame, number, &mut self.file);
            return pointer.map(Some).ok_or_else(|| damaged("it lists no version"));
        }
        Ok(None)
    }
}

impl Iterator for PointerReader {
    type Item = Result<Pointer, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_but(|_| false).transpose()
    }
}
