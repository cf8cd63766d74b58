//! The file that grows: what of it is durable, and what waits in memory.
//!
//! **Invariant:** the file on disk is never longer than what was meant to be durable: a write or sync that fails is
//! taken back by cutting the file to its durable length, and the batch stays in memory.

use crate::error::Error;
use crate::name::Name;
use crate::scan::SYNCED_BYTES;
use base::Timestamp;
use base::disk::{Disk, DiskFile, Open};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::{Draft, Fields, Kind, Level, RecordId, WARC_FIELDS, Writer};

const CONFORMS_TO: &str = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/";

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct GrowingFile {
    name: Arc<str>,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    writer: Writer,
    warcinfo: Option<RecordId>,
    /// Whether the file's name is durable.
    is_named: bool,
    durable_bytes: u64,
    pending: Vec<u8>,
}

/// A record that was put into the file.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) id: RecordId,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl GrowingFile {
    /// Creates the file that has this name.
    pub(crate) fn create(disk: &dyn Disk, directory: &Path, name: &Name, level: Level) -> io::Result<Self> {
        let path = directory.join(name.open());
        Ok(Self {
            file: disk.open(&path, Open::CreateNew)?,
            path,
            name: Arc::from(name.closed()),
            writer: Writer::new(level),
            warcinfo: None,
            is_named: false,
            durable_bytes: 0,
            pending: Vec::new(),
        })
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
    /// How much waits to be written.
    pub(crate) fn pending_bytes(&self) -> u64 {
        self.pending.len() as u64
    }

    /// Puts the record first that says what wrote the file.
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
        let offset = self.position();
        let id = RecordId::at(&self.name, offset, at, kind);
        let mut head = draft(Draft::new(kind, &id, at));
        if let Some(warcinfo) = &self.warcinfo {
            head = head.described_by(warcinfo);
        }
        if self.pending.is_empty() && offset > 0 {
            head = head.text(SYNCED_BYTES, &offset.to_string());
        }
        self.writer.append(head, content_type, block, &mut self.pending);
        Placed { id, offset, length: self.position() - offset }
    }

    /// Writes what waits and makes it durable, the file's name included.
    pub(crate) fn commit(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        if let Err(source) = self.file.write_at(self.durable_bytes, &self.pending) {
            self.file.truncate(self.durable_bytes).map_err(|source| Error::io("cut", &self.path, source))?;
            return Err(Error::writing(disk, "write to", &self.path, source));
        }
        self.sync(disk).inspect_err(|_| {
            // What a failed sync should have carried may look written and be lost later. The caller stops; that this
            // also fails changes nothing.
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

    /// Gives the file its final name. Everything must be durable.
    pub(crate) fn finish(&self, disk: &dyn Disk) -> Result<(), Error> {
        assert!(self.pending.is_empty(), "a file is finished only when all of it is durable");
        let closed = self.path.with_file_name(&*self.name);
        disk.rename(&self.path, &closed)
            .map_err(|source| Error::writing(disk, "rename", &self.path, source))?;
        sync_directory_of(disk, &self.path)
    }
}

/// A buffer that grew beyond this is given back.
const BUFFER_BYTES_KEPT: usize = 4 * 1024 * 1024;

/// Makes the name of `path` durable.
pub(crate) fn sync_directory_of(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    disk.sync_directory(directory).map_err(|source| Error::io("sync directory", directory, source))
}
