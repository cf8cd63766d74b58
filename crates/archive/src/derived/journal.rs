//! One journal of the table on disk: head, frames, rows.

use super::{Facts, put_row};
use crate::error::Error;
use crate::files::journal;
use crate::files::name::DERIVED;
use base::bytes::{ByteReader, put_number};
use base::disk::{Disk, Open};
use std::io;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"UTSDRV01";

/// Where the journal of an archive file is.
pub(super) fn path_of(directory: &Path, file: &str) -> PathBuf {
    directory.join(format!("{file}{DERIVED}"))
}

/// The head of the journal of an archive file.
pub(super) fn head(file: &str) -> Vec<u8> {
    journal::head(MAGIC, file)
}

/// A frame for `place` of a journal: what was found in the archive file from `from` to `to`.
pub(super) fn frame(file: &str, place: u64, (from, to): (u64, u64), rows: &[(u64, &Facts)]) -> Vec<u8> {
    let mut content = Vec::new();
    put_number(&mut content, from);
    put_number(&mut content, to);
    put_number(&mut content, rows.len() as u64);
    rows.iter().for_each(|(offset, facts)| put_row(&mut content, from, *offset, facts));
    journal::framed(journal::seed(file), place, &content)
}

/// The whole part of a journal.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The whole file.
    pub(super) bytes: Vec<u8>,
    /// Length of the whole part.
    pub(super) whole_bytes: u64,
    /// How much of the archive file it covers.
    pub(super) covered: u64,
    /// The whole frames: what they cover, and their rows.
    pub(super) frames: Vec<FrameRows>,
}

/// What a frame covers, and where each of its rows begins in the bytes, by offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FrameRows {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) rows: Vec<(u64, u32)>,
}

impl Journal {
    /// Reads the journal of an archive file; `None` if there is none, or it belongs to another file.
    pub(super) fn read(disk: &dyn Disk, directory: &Path, file: &str) -> Result<Option<Self>, Error> {
        let path = path_of(directory, file);
        let opened = match disk.open(&path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|source| Error::io("open", &path, source))?,
        };
        let failed = |source| Error::io("read", &path, source);
        let length = opened.length().map_err(failed)?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        opened.read_at(0, &mut bytes).map_err(failed)?;
        Ok(Self::parse(bytes, file))
    }

    fn parse(bytes: Vec<u8>, file: &str) -> Option<Self> {
        let head = head(file);
        if !bytes.starts_with(&head) {
            return None;
        }
        let seed = journal::seed(file);
        let mut found = Self { whole_bytes: head.len() as u64, ..Self::default() };
        while let Some((content, end)) = journal::frame(&bytes, found.whole_bytes, seed) {
            let begins = end - content.len() as u64;
            let Some(frame) = read_frame(content, begins).filter(|frame| frame.from == found.covered) else {
                break;
            };
            (found.covered, found.whole_bytes) = (frame.to, end);
            found.frames.push(frame);
        }
        Some(Self { bytes, ..found })
    }

    /// The facts of the row that begins at `place`.
    pub(super) fn facts_at(&self, place: u32) -> Option<Facts> {
        let mut bytes = ByteReader(self.bytes.get(place as usize..)?);
        bytes.number()?;
        Facts::decode(&mut bytes)
    }
}

/// The rows of a frame whose content begins at `begins` of its journal.
fn read_frame(content: &[u8], begins: u64) -> Option<FrameRows> {
    let mut bytes = ByteReader(content);
    let (from, to, count) = (bytes.number()?, bytes.number()?, bytes.count()?);
    let mut rows: Vec<(u64, u32)> = Vec::new();
    for _ in 0..count {
        let place = begins + (content.len() - bytes.0.len()) as u64;
        let offset = from.checked_add(bytes.number()?)?;
        let is_in_order = rows.last().is_none_or(|(last, _)| *last < offset) && offset < to;
        Facts::decode(&mut bytes).filter(|_| is_in_order)?;
        rows.push((offset, u32::try_from(place).ok()?));
    }
    (bytes.is_empty() && from <= to).then_some(FrameRows { from, to, rows })
}
