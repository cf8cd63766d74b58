//! The checksums of an archive file (its fixity file): a journal beside it that covers its compressed bytes and says
//! what they hold.
//!
//! After every durable batch a frame is written: the length and the CRC-32C of each record, and a row for each capture.
//! So the index can be loaded without decompressing anything, a flipped bit is found even where gzip does not check,
//! and a lookup can check what it finds. Frames are synced now and then, at the latest when the file is finished:
//! frames lost in a crash are rebuilt from the archive file. `docs/formats/sums.md` shows the bytes.
//!
//! **Invariant:** a frame is written only after what it covers is durable. Frames cover the file from its beginning
//! without a gap; the first one that is damaged ends the journal.

use crate::error::Error;
use crate::files::journal;
use crate::index::Files;
use crate::index::row::{Encoder, Row, Rows};
use base::bytes::{ByteReader, put_number, put_text};
use base::disk::{Disk, DiskFile, Open};
use runs::{RowEncoder as _, Rows as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Suffix of a fixity file.
pub(crate) const SUFFIX: &str = ".sums";
const MAGIC: &[u8; 8] = b"UTSUMS01";
const BATCH: u8 = 1;
const END: u8 = 2;

/// A record of an archive file: its length and the CRC-32C of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) length: u64,
    pub(crate) sum: u32,
}

/// The records and captures of one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Where its first record begins.
    pub(crate) from: u64,
    pub(crate) records: Vec<Sum>,
    /// The captures, each with its key.
    pub(crate) captures: Vec<(Box<str>, Row)>,
}

impl Batch {
    /// Where its last record ends.
    pub(crate) fn to(&self) -> u64 {
        self.from + self.records.iter().map(|record| record.length).sum::<u64>()
    }
}

/// Where the checksums of an archive file are.
pub(crate) fn path_of(directory: &Path, file: &str) -> PathBuf {
    directory.join(format!("{file}{SUFFIX}"))
}

/// Whether a file holds checksums, and of which archive file.
pub(crate) fn file_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_suffix(SUFFIX)
}

/// Writes the checksums of one archive file.
#[derive(Debug)]
pub(crate) struct SumsWriter {
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    seed: u64,
    position: u64,
    covered: u64,
}

impl SumsWriter {
    /// Begins the checksums at `path` of the archive file called `name`; an existing file is replaced.
    pub(crate) fn create(disk: &dyn Disk, path: &Path, name: &str) -> Result<Self, Error> {
        match disk.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", path, error));
            }
            _ => {}
        }
        let failed = |action| move |source| Error::writing(disk, action, path, source);
        let file = disk.open(path, Open::CreateNew).map_err(failed("create"))?;
        let head = journal::head(MAGIC, name);
        if let Err(source) = file.write_at(0, &head) {
            let _ = disk.remove(path);
            return Err(failed("write to")(source));
        }
        let position = head.len() as u64;
        Ok(Self { path: path.to_owned(), file, seed: journal::seed(name), position, covered: 0 })
    }
    /// Continues after the frames that [`read`] found. They are rewritten: after a failed sync they may only be in the
    /// page cache (M3).
    pub(crate) fn resume(disk: &dyn Disk, path: &Path, name: &str, found: &Found) -> Result<Self, Error> {
        let failed = |action| move |source| Error::writing(disk, action, path, source);
        let file = disk.open(path, Open::Write).map_err(failed("open"))?;
        let mut bytes = vec![0; usize::try_from(found.whole_bytes).unwrap_or(usize::MAX)];
        file.read_at(0, &mut bytes).map_err(failed("read"))?;
        file.write_at(0, &bytes).map_err(failed("write to"))?;
        file.truncate(found.whole_bytes).map_err(failed("cut"))?;
        let (position, covered) = (found.whole_bytes, found.covered);
        Ok(Self { path: path.to_owned(), file, seed: journal::seed(name), position, covered })
    }

    /// How much of the archive file is covered.
    pub(crate) fn covered(&self) -> u64 {
        self.covered
    }

    /// Appends a batch. It is not durable before [`SumsWriter::sync`].
    pub(crate) fn append(&mut self, disk: &dyn Disk, batch: &Batch, files: &Files) -> Result<(), Error> {
        assert_eq!(batch.from, self.covered, "frames cover the file without a gap");
        let mut content = vec![BATCH];
        put_number(&mut content, batch.from);
        put_number(&mut content, batch.records.len() as u64);
        for record in &batch.records {
            put_number(&mut content, record.length);
            content.extend_from_slice(&record.sum.to_le_bytes());
        }
        let (mut encoder, mut used) = (Encoder::default(), Vec::new());
        for (key, row) in &batch.captures {
            encoder.push(key.as_bytes(), row, &mut |file| local(file, &mut used));
        }
        put_number(&mut content, used.len() as u64);
        used.iter().for_each(|file| put_text(&mut content, files.name(*file)));
        encoder.finish(&mut content);
        self.put(disk, &content)?;
        self.covered = batch.to();
        Ok(())
    }

    /// Marks the archive file as finished, and makes everything durable.
    pub(crate) fn finish(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        let mut content = vec![END];
        put_number(&mut content, self.covered);
        self.put(disk, &content)?;
        self.sync()
    }

    /// Makes everything so far durable.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.file.sync().map_err(|source| Error::io("sync", &self.path, source))
    }

    fn put(&mut self, disk: &dyn Disk, content: &[u8]) -> Result<(), Error> {
        let frame = journal::framed(self.seed, self.position, content);
        if let Err(source) = self.file.write_at(self.position, &frame) {
            // Half a frame does not count, so truncating may fail too.
            let _ = self.file.truncate(self.position);
            return Err(Error::writing(disk, "write to", &self.path, source));
        }
        self.position += frame.len() as u64;
        Ok(())
    }
}

fn local(file: u32, used: &mut Vec<u32>) -> u32 {
    let known = used.iter().position(|known| *known == file);
    let number = known.unwrap_or_else(|| {
        used.push(file);
        used.len() - 1
    });
    u32::try_from(number).expect("a batch refers to few files")
}

/// What was found in the checksums of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Length of the whole part of the checksums.
    pub(crate) whole_bytes: u64,
    /// Length of the checksum file.
    pub(crate) bytes: u64,
    /// How much of the archive file they cover.
    pub(crate) covered: u64,
    /// Whether they say that the archive file is finished.
    pub(crate) is_finished: bool,
}

impl Found {
    /// Whether they are complete, with nothing after them.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_finished && self.whole_bytes == self.bytes
    }
}

/// Reads the checksums at `path` of the archive file called `name`, batch by batch, as far as they are whole. `None`
/// when there are none, or they are those of another file.
pub(crate) fn read(
    disk: &dyn Disk,
    path: &Path,
    name: &str,
    files: &mut Files,
    mut on_batch: impl FnMut(Batch, &Files),
) -> Result<Option<Found>, Error> {
    let Some(mut frames) = Frames::open(disk, path, name)? else { return Ok(None) };
    while let Some(batch) = frames.next(files) {
        on_batch(batch, files);
    }
    Ok(Some(frames.found()))
}

/// The checksums of an archive file as they were when they were opened, to be read batch by batch.
#[derive(Debug)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    seed: u64,
    found: Found,
    rows: Rows,
}

impl Frames {
    /// Opens the checksums at `path` of the archive file called `name`; `None` when there are none, or they are those
    /// of another file.
    pub(crate) fn open(disk: &dyn Disk, path: &Path, name: &str) -> Result<Option<Self>, Error> {
        let file = match disk.open(path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|source| Error::io("open", path, source))?,
        };
        let failed = |source| Error::io("read", path, source);
        let length = file.length().map_err(failed)?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_at(0, &mut bytes).map_err(failed)?;
        let head = journal::head(MAGIC, name);
        if !bytes.starts_with(&head) {
            return Ok(None);
        }
        let found = Found { whole_bytes: head.len() as u64, bytes: length, ..Found::default() };
        Ok(Some(Self { bytes, seed: journal::seed(name), found, rows: Rows::default() }))
    }

    /// The next batch; `None` after the last whole one.
    pub(crate) fn next(&mut self, files: &mut Files) -> Option<Batch> {
        if self.found.is_finished {
            return None;
        }
        let (content, end) = journal::frame(&self.bytes, self.found.whole_bytes, self.seed)?;
        match Frame::read(ByteReader(content), files, &mut self.rows)? {
            Frame::Batch(batch) if batch.from == self.found.covered => {
                (self.found.covered, self.found.whole_bytes) = (batch.to(), end);
                Some(batch)
            }
            Frame::End(covered) if covered == self.found.covered => {
                (self.found.is_finished, self.found.whole_bytes) = (true, end);
                None
            }
            _ => None,
        }
    }

    /// What was found so far.
    pub(crate) fn found(&self) -> Found {
        self.found
    }
}

enum Frame {
    Batch(Batch),
    End(u64),
}

impl Frame {
    fn read(mut bytes: ByteReader<'_>, files: &mut Files, rows: &mut Rows) -> Option<Self> {
        match bytes.byte()? {
            BATCH => read_batch(bytes, files, rows).map(Self::Batch),
            END => bytes.number().map(Self::End),
            _ => None,
        }
    }
}

fn read_batch(mut bytes: ByteReader<'_>, files: &mut Files, rows: &mut Rows) -> Option<Batch> {
    let from = bytes.number()?;
    let records = (0..bytes.number()?).map(|_| Some(Sum { length: bytes.number()?, sum: bytes.u32()? }));
    let records = records.collect::<Option<Vec<_>>>()?;
    let names = (0..bytes.number()?).map(|_| bytes.text().map(|name| files.number(name)));
    let names = names.collect::<Option<Vec<_>>>()?;
    rows.decode(bytes.0, &names)?;
    let captures = (0..rows.len()).map(|number| (rows.key_text(number).into(), rows.row(number).clone()));
    Some(Batch { from, records, captures: captures.collect() })
}
