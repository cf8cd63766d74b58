//! The growing file: its durable part, and what waits in memory.
//!
//! **Invariant:** after a failed write or sync the file is cut to its durable length, and the batch stays in memory.
//!
//! **Invariant:** the checksums beside the file cover nothing that is not durable.

use crate::capture::describe::field;
use crate::error::Error;
use crate::files::directory::sync_directory_of;
use crate::files::name::Name;
use crate::files::scan::SYNCED_BYTES;
use crate::files::sums::{self, Batch, Sum, SumsWriter};
use crate::index::Files;
use crate::index::row::Row;
use base::Timestamp;
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::{Compression, Draft, Fields, Kind, RecordId, WARC_FIELDS, WarcWriter};

const CONFORMS_TO: &str = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/";

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct GrowingFile {
    name: Arc<str>,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    writer: WarcWriter,
    warcinfo: Option<RecordId>,
    /// Whether the file's name is durable.
    is_named: bool,
    durable_bytes: u64,
    pending: Vec<u8>,
    /// What the pending bytes hold.
    batch: Batch,
    /// What is durable and not in the checksums yet, because there was no room for them.
    unsummed: Option<Batch>,
    sums: SumsWriter,
    /// How much the checksums covered when they were last synced.
    summed_bytes: u64,
    /// Whether the checksums say that the file is finished.
    is_summed: bool,
    captures: u64,
}

/// The checksums are synced after this many bytes of the file: the maximum to read again after a power cut.
const SUMS_SYNC_BYTES: u64 = 64 * 1024 * 1024;

/// A record that was put into the file.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) id: RecordId,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) sum: u32,
}

impl GrowingFile {
    /// Creates the file that has this name, and its checksums; `None` when there is one already.
    pub(crate) fn create(
        disk: &dyn Disk,
        directory: &Path,
        name: &Name,
        compression: Compression,
    ) -> Result<Option<Self>, Error> {
        let path = directory.join(name.open());
        let name = name.closed();
        let file = match disk.open(&path, Open::CreateNew) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            file => file.map_err(|source| Error::writing(disk, "create", &path, source))?,
        };
        let sums = SumsWriter::create(disk, &sums::path_of(directory, &name), &name).inspect_err(|_| {
            // Nothing is in it, and another name is used next time; opening the archive removes it too.
            let _ = disk.remove(&path);
        })?;
        Ok(Some(Self {
            file,
            path,
            name: Arc::from(name),
            writer: WarcWriter::new(compression),
            warcinfo: None,
            is_named: false,
            durable_bytes: 0,
            pending: Vec::new(),
            batch: Batch::default(),
            unsummed: None,
            sums,
            summed_bytes: 0,
            is_summed: false,
            captures: 0,
        }))
    }
    /// The name it will have when it is finished.
    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    /// Where the next record will be.
    pub(crate) fn position(&self) -> u64 {
        self.durable_bytes + self.pending_bytes()
    }
    /// Number of bytes that wait to be written.
    pub(crate) fn pending_bytes(&self) -> u64 {
        self.pending.len() as u64
    }

    /// The bytes at `offset`, if they wait to be written.
    pub(crate) fn pending_at(&self, offset: u64, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.durable_bytes)?).ok()?;
        self.pending.get(start..start.checked_add(usize::try_from(length).ok()?)?)
    }

    /// How many captures it holds.
    pub(crate) fn captures(&self) -> u64 {
        self.captures
    }
    /// Adds the capture in the records that were put last.
    pub(crate) fn note_capture(&mut self, key: &str, row: &Row) {
        self.captures += 1;
        self.batch.captures.push((key.into(), row.clone()));
    }

    /// Writes the first record, which describes the file.
    pub(crate) fn describe(&mut self, at: Timestamp, software: &str) {
        let fields = Fields::new().text("software", software).text("format", "WARC File Format 1.1");
        let mut block = Vec::new();
        fields.uri("conformsTo", CONFORMS_TO).write_to(&mut block);
        let name = self.name();
        let draft = |draft: Draft| draft.text(warc::header::name::FILENAME, &name);
        let placed = self.put(&Kind::Warcinfo, at, draft, WARC_FIELDS, &[&block]);
        self.warcinfo = Some(placed.id);
    }

    /// Appends a record whose further fields `draft` writes down.
    pub(crate) fn put(
        &mut self,
        kind: &Kind,
        at: Timestamp,
        draft: impl FnOnce(Draft) -> Draft,
        content_type: &str,
        block: &[&[u8]],
    ) -> Placed {
        self.put_as(None, (kind, at), draft, content_type, block)
    }

    /// The same with a record that keeps a foreign id. A field proves its location; the record that describes its file
    /// is named only if it was before.
    pub(crate) fn put_as(
        &mut self,
        known_as: Option<RecordId>,
        (kind, at): (&Kind, Timestamp),
        draft: impl FnOnce(Draft) -> Draft,
        content_type: &str,
        block: &[&[u8]],
    ) -> Placed {
        let offset = self.position();
        let place = RecordId::at(&self.name, offset, at, kind);
        let (id, mut head) = match known_as {
            Some(id) => {
                let head = Draft::new(kind, &id, at).uri(field::PLACE, place.as_str());
                (id, draft(head))
            }
            None => {
                let head = draft(Draft::new(kind, &place, at));
                let described = self.warcinfo.iter().fold(head, warc::Draft::described_by);
                (place, described)
            }
        };
        if self.pending.is_empty() && offset > 0 {
            head = head.text(SYNCED_BYTES, &offset.to_string());
        }
        let start = self.pending.len();
        self.writer.append(head, content_type, block, &mut self.pending);
        let member = self.pending.get(start..).unwrap_or_default();
        let (length, sum) = (member.len() as u64, crc32c::crc32c(member));
        if self.batch.records.is_empty() {
            self.batch.from = offset;
        }
        self.batch.records.push(Sum { length, sum });
        Placed { id, offset, length, sum }
    }

    /// Writes the batch and makes it durable, including the file's name; then its checksums.
    pub(crate) fn commit(&mut self, disk: &dyn Disk, files: &Files) -> Result<(), Error> {
        self.write_sums(disk, files)?;
        if self.pending.is_empty() {
            return Ok(());
        }
        self.write_pending(disk)?;
        self.unsummed = Some(std::mem::take(&mut self.batch));
        self.write_sums(disk, files)
    }

    fn write_sums(&mut self, disk: &dyn Disk, files: &Files) -> Result<(), Error> {
        if let Some(batch) = &self.unsummed {
            self.sums.append(disk, batch, files)?;
            self.unsummed = None;
        }
        if self.sums.covered() - self.summed_bytes >= SUMS_SYNC_BYTES {
            self.sums.sync()?;
            self.summed_bytes = self.sums.covered();
        }
        Ok(())
    }

    fn write_pending(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        if let Err(source) = self.file.write_at(self.durable_bytes, &self.pending) {
            self.file.truncate(self.durable_bytes).map_err(|source| Error::io("cut", &self.path, source))?;
            return Err(Error::writing(disk, "write to", &self.path, source));
        }
        self.sync(disk).inspect_err(|_| {
            // After a failed sync the bytes may look written and be lost later. The caller stops, so this may fail too.
            let _ = self.file.truncate(self.durable_bytes);
        })?;
        self.durable_bytes = self.position();
        self.pending.clear();
        self.pending.shrink_to(BUFFER_BYTES_KEPT);
        Ok(())
    }

    fn sync(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        self.file.sync().map_err(|source| Error::io("sync", &self.path, source))?;
        if !self.is_named {
            sync_directory_of(disk, &self.path)?;
            self.is_named = true;
        }
        Ok(())
    }

    /// Finishes the checksums and gives the file its final name. Everything must be durable.
    pub(crate) fn finish(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        assert!(self.pending.is_empty() && self.unsummed.is_none(), "only a durable file is finished");
        if !self.is_summed {
            self.sums.finish(disk)?;
            self.is_summed = true;
        }
        let closed = self.path.with_file_name(&*self.name);
        disk.rename(&self.path, &closed)
            .map_err(|source| Error::writing(disk, "rename", &self.path, source))?;
        sync_directory_of(disk, &self.path)
    }
}

/// A larger buffer is freed.
const BUFFER_BYTES_KEPT: usize = 4 * 1024 * 1024;
