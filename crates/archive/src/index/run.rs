//! Runs: immutable, sorted files of the index.
//!
//! A run holds rows in blocks, ordered by key, moment and arrival; then the bodies that its rows store, ordered by
//! digest; then a filter over its keys; then tables with the first key of every block. It is written once, from front
//! to back, and made durable before anyone hears of it. `docs/formats/index.md` shows the bytes.
//!
//! **Invariant:** every byte that is used was seen to match its checksum, which covers the run and the place too. A
//! run that does not is reported and can be made anew from the archive files.

use crate::capture::entry::ContentKey;
use crate::error::Error;
use crate::index::bytes::{Bytes, checksum, put_number, put_text};
use crate::index::filter::Filter;
use crate::index::row::{Encoder, Files, Place, Row, Rows};
use base::Sha1Digest;
use base::disk::{Disk, DiskFile, Open};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"UTSURUN1";
const FOOTER_LENGTH: usize = 32;
const FOOTER_BYTES: u64 = FOOTER_LENGTH as u64;
/// A block of rows is finished when it has grown to this.
const BLOCK_BYTES: usize = 16 * 1024;
/// A block grows by one row beyond that, whose key and URL are bounded by what a record's head may hold.
const BLOCK_BYTES_MAX: usize = BLOCK_BYTES + 1024 * 1024;
const BLOCK_HEAD_BYTES: u64 = 8;
/// A body is its digest, the beginning of its content's key, and its place.
const BODY_BYTES: usize = 20 + 8 + 4 + 8 + 4;
const BODIES_A_BLOCK: usize = 372;
const OUTPUT_BYTES: usize = 1024 * 1024;

/// A stored body: where the record is that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) payload: Sha1Digest,
    /// The beginning of the content's key: two bodies of one SHA-1 are still told apart.
    pub(crate) content: [u8; 8],
    pub(crate) place: Place,
}

impl Body {
    /// The body that a row stores, if it stores one that others may refer to.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        let is_stored = row.kind == crate::Stored::Response && !row.truncated;
        let payload = row.payload.filter(|payload| is_stored && *payload != Sha1Digest::of(&[]))?;
        // Longer records are kept, but nobody refers to them.
        let is_short = u32::try_from(row.place.length).is_ok();
        is_short.then_some(Self { payload, content: tag(row.content?), place: row.place })
    }
}

/// The beginning of a content's key.
pub(crate) fn tag(content: ContentKey) -> [u8; 8] {
    *content.0.first_chunk().expect("it is 16 bytes long")
}

/// The first key of a block and where the block is.
#[derive(Clone, Debug)]
struct Fence<K> {
    first: K,
    offset: u64,
    length: u32,
}

/// A run that can be read.
#[derive(Debug)]
pub(crate) struct Run {
    id: u64,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    /// What the numbers of files in this run are in the process.
    files: Vec<u32>,
    blocks: Vec<Fence<Box<[u8]>>>,
    bodies: Vec<Fence<u64>>,
    filter: Filter,
    pub(crate) entries: u64,
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
}

/// The name of a run's file.
pub(crate) fn file_name(id: u64) -> String {
    format!("{id:010}.run")
}

impl Run {
    /// Opens a run, whose tables and filter are read and checked.
    pub(crate) fn open(disk: &dyn Disk, path: &Path, id: u64, files: &mut Files) -> Result<Self, Error> {
        let read = |source| Error::io("read", path, source);
        let file = disk.open(path, Open::Read).map_err(|source| Error::io("open", path, source))?;
        let bytes = file.length().map_err(read)?;
        let damaged = |what| Error::IndexDamaged { path: path.to_owned(), what };
        if bytes < FOOTER_BYTES + 16 {
            return Err(damaged("it is too short"));
        }
        let mut footer = [0; FOOTER_LENGTH];
        file.read_at(bytes - FOOTER_BYTES, &mut footer).map_err(read)?;
        let (offset, length, sum) =
            read_footer(&footer, id, bytes).ok_or_else(|| damaged("its footer is damaged"))?;
        let mut tables = vec![0; length];
        file.read_at(offset, &mut tables).map_err(read)?;
        if checksum(id, offset, &tables) != sum {
            return Err(damaged("its tables are damaged"));
        }
        let run = Tables::read(Bytes(&tables), offset);
        let tables = run.ok_or_else(|| damaged("its tables make no sense"))?;
        let mut filter = vec![0; tables.filter_bytes];
        file.read_at(tables.filter_offset, &mut filter).map_err(read)?;
        if checksum(id, tables.filter_offset, &filter) != tables.filter_sum {
            return Err(damaged("its filter is damaged"));
        }
        Ok(Self {
            id,
            path: path.to_owned(),
            file,
            files: tables.files.iter().map(|name| files.number(name)).collect(),
            blocks: tables.blocks,
            bodies: tables.bodies,
            filter: Filter::from_stored(filter),
            entries: tables.entries,
            keys: tables.keys,
            bytes,
        })
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }
    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }
    pub(crate) fn body_block_count(&self) -> usize {
        self.bodies.len()
    }
    /// Whether the run may hold the key; a run that does not rarely says so.
    pub(crate) fn may_hold(&self, key: &[u8]) -> bool {
        self.filter.may_hold(key)
    }
    /// How many blocks begin with a key before `key`.
    pub(crate) fn blocks_before(&self, key: &[u8]) -> usize {
        self.blocks.partition_point(|fence| &*fence.first < key)
    }
    /// Reads a block into `rows`.
    pub(crate) fn read_block(
        &self,
        number: usize,
        buffer: &mut Vec<u8>,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let fence = &self.blocks[number];
        let bytes = self.read_checked(fence.offset, fence.length, buffer)?;
        rows.decode(bytes, &self.files).map_err(|_| self.damaged("a block of it makes no sense"))
    }
    /// Where the body with this digest and content is stored, if it is.
    pub(crate) fn find_body(&self, payload: Sha1Digest, content: ContentKey) -> Result<Option<Place>, Error> {
        let wanted = prefix(payload);
        let mut number = self.bodies.partition_point(|fence| fence.first < wanted).saturating_sub(1);
        let mut buffer = Vec::new();
        while self.bodies.get(number).is_some_and(|fence| fence.first <= wanted) {
            let bodies = self.read_bodies(number, &mut buffer)?;
            let start = bodies.partition_point(|body| body.payload < payload);
            let same = bodies[start..].iter().take_while(|body| body.payload == payload);
            if let Some(body) = same.into_iter().find(|body| body.content == tag(content)) {
                return Ok(Some(body.place));
            }
            if bodies.last().is_some_and(|last| last.payload > payload) {
                break;
            }
            number += 1;
        }
        Ok(None)
    }
    /// Where any body with this digest is stored.
    pub(crate) fn find_payload(&self, payload: Sha1Digest) -> Result<Option<Place>, Error> {
        let wanted = prefix(payload);
        let mut number = self.bodies.partition_point(|fence| fence.first < wanted).saturating_sub(1);
        let mut buffer = Vec::new();
        while self.bodies.get(number).is_some_and(|fence| fence.first <= wanted) {
            let bodies = self.read_bodies(number, &mut buffer)?;
            if let Some(body) = bodies.iter().find(|body| body.payload == payload) {
                return Ok(Some(body.place));
            }
            number += 1;
        }
        Ok(None)
    }
    /// The bodies of a block, in order of their digests.
    pub(crate) fn read_bodies(&self, number: usize, buffer: &mut Vec<u8>) -> Result<Vec<Body>, Error> {
        let fence = &self.bodies[number];
        let bytes = self.read_checked(fence.offset, fence.length, buffer)?;
        let bodies: Option<Vec<Body>> =
            bytes.chunks(BODY_BYTES).map(|bytes| read_body(Bytes(bytes), &self.files)).collect();
        bodies.ok_or_else(|| self.damaged("a block of its bodies makes no sense"))
    }

    /// Reads every block once; what is damaged is an error.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        let (mut buffer, mut rows) = (Vec::new(), Rows::default());
        (0..self.block_count()).try_for_each(|number| self.read_block(number, &mut buffer, &mut rows))?;
        (0..self.body_block_count())
            .try_for_each(|number| self.read_bodies(number, &mut buffer).map(drop))?;
        self.check_gaps(&mut buffer)
    }

    /// The few bytes that lie in no block: the beginning of the file.
    fn check_gaps(&self, buffer: &mut Vec<u8>) -> Result<(), Error> {
        buffer.resize(16, 0);
        self.file.read_at(0, buffer).map_err(|source| Error::io("read", &self.path, source))?;
        if *buffer == head(self.id) { Ok(()) } else { Err(self.damaged("its beginning is damaged")) }
    }

    fn read_checked<'b>(&self, offset: u64, length: u32, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Error> {
        buffer.resize(length as usize, 0);
        self.file.read_at(offset, buffer).map_err(|source| Error::io("read", &self.path, source))?;
        let found = split_block(buffer, self.id, offset);
        found.ok_or_else(|| self.damaged("a block of it is damaged"))
    }
    fn damaged(&self, what: &'static str) -> Error {
        Error::IndexDamaged { path: self.path.clone(), what }
    }
}

fn head(id: u64) -> Vec<u8> {
    [*MAGIC, id.to_le_bytes()].concat()
}

/// The content of a block whose checksum holds.
fn split_block(bytes: &[u8], id: u64, offset: u64) -> Option<&[u8]> {
    let mut head = Bytes(bytes);
    let (length, sum) = (head.u32()?, head.u32()?);
    (head.0.len() == length as usize && checksum(id, offset, head.0) == sum).then_some(head.0)
}

fn prefix(payload: Sha1Digest) -> u64 {
    u64::from_be_bytes(*payload.as_bytes().first_chunk().expect("it is 20 bytes long"))
}

fn read_body(mut bytes: Bytes<'_>, files: &[u32]) -> Option<Body> {
    let (payload, content) = (Sha1Digest::from_bytes(bytes.array()?), bytes.array()?);
    let file = *files.get(bytes.u32()? as usize)?;
    let place = Place { file, offset: bytes.u64()?, length: u64::from(bytes.u32()?) };
    bytes.is_empty().then_some(Body { payload, content, place })
}

/// Where the tables are and what their checksum is.
fn read_footer(footer: &[u8], id: u64, file_bytes: u64) -> Option<(u64, usize, u32)> {
    let covered = footer.get(..20)?;
    let mut bytes = Bytes(footer);
    let (offset, length, sum) = (bytes.u64()?, bytes.u64()?, bytes.u32()?);
    let is_whole = bytes.u32()? == checksum(id, file_bytes, covered) && bytes.array()? == *MAGIC;
    let fits = offset.checked_add(length)? == file_bytes - FOOTER_BYTES;
    (is_whole && fits).then_some((offset, usize::try_from(length).ok()?, sum))
}

/// What stands at the end of a run.
struct Tables {
    entries: u64,
    keys: u64,
    files: Vec<String>,
    blocks: Vec<Fence<Box<[u8]>>>,
    bodies: Vec<Fence<u64>>,
    filter_offset: u64,
    filter_bytes: usize,
    filter_sum: u32,
}

impl Tables {
    fn read(mut bytes: Bytes<'_>, end: u64) -> Option<Self> {
        let (entries, keys) = (bytes.number()?, bytes.number()?);
        let files = (0..bytes.number()?).map(|_| bytes.text().map(str::to_owned)).collect::<Option<_>>()?;
        let mut blocks = Vec::new();
        for _ in 0..bytes.number()? {
            let length = bytes.count()?;
            let first = Box::from(bytes.take(length)?);
            blocks.push(read_fence(first, &mut bytes, end)?);
        }
        let mut bodies = Vec::new();
        for _ in 0..bytes.number()? {
            let first = bytes.u64()?;
            bodies.push(read_fence(first, &mut bytes, end)?);
        }
        let (filter_offset, filter_bytes, filter_sum) = (bytes.number()?, bytes.count()?, bytes.u32()?);
        let fits = filter_offset.checked_add(filter_bytes as u64)? <= end && bytes.is_empty();
        fits.then_some(Self { entries, keys, files, blocks, bodies, filter_offset, filter_bytes, filter_sum })
    }
}

fn read_fence<K>(first: K, bytes: &mut Bytes<'_>, end: u64) -> Option<Fence<K>> {
    let (offset, length) = (bytes.number()?, u32::try_from(bytes.number()?).ok()?);
    let is_sane = length as usize <= BLOCK_BYTES_MAX && offset.checked_add(u64::from(length))? <= end;
    is_sane.then_some(Fence { first, offset, length })
}

/// Writes a run from front to back: rows in their order, then bodies in theirs.
#[derive(Debug)]
pub(crate) struct RunWriter<'d> {
    disk: &'d dyn Disk,
    id: u64,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    position: u64,
    output: Vec<u8>,
    encoder: Encoder,
    /// The first key of the block that is being filled, and the last key of all.
    first: Box<[u8]>,
    last: Vec<u8>,
    body_output: Vec<u8>,
    body_first: u64,
    files: Vec<u32>,
    numbers: HashMap<u32, u32>,
    blocks: Vec<Fence<Box<[u8]>>>,
    bodies: Vec<Fence<u64>>,
    filter: Filter,
    entries: u64,
    keys: u64,
}

impl<'d> RunWriter<'d> {
    /// Begins a run in `directory` that will hold at most `keys_max` keys.
    pub(crate) fn create(
        disk: &'d dyn Disk,
        directory: &Path,
        id: u64,
        keys_max: u64,
    ) -> Result<Self, Error> {
        let path = directory.join(file_name(id));
        // A writer that died may have left a file that nobody heard of.
        match disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &path, error));
            }
            _ => {}
        }
        let file = disk
            .open(&path, Open::CreateNew)
            .map_err(|source| Error::writing(disk, "create", &path, source))?;
        Ok(Self {
            disk,
            id,
            path,
            file,
            position: 0,
            output: head(id),
            encoder: Encoder::default(),
            first: Box::default(),
            last: Vec::new(),
            body_output: Vec::new(),
            body_first: 0,
            files: Vec::new(),
            numbers: HashMap::new(),
            blocks: Vec::new(),
            bodies: Vec::new(),
            filter: Filter::for_keys(keys_max),
            entries: 0,
            keys: 0,
        })
    }

    /// Adds a row; they come in the order of the index.
    pub(crate) fn push(&mut self, key: &str, row: &Row) -> Result<(), Error> {
        if self.entries == 0 || self.last != key.as_bytes() {
            self.last.clear();
            self.last.extend_from_slice(key.as_bytes());
            self.filter.add(key.as_bytes());
            self.keys += 1;
        }
        if self.encoder.is_empty() {
            self.first = key.as_bytes().into();
        }
        let (files, numbers) = (&mut self.files, &mut self.numbers);
        self.encoder.push(key, row, |file| local(file, files, numbers));
        self.entries += 1;
        if self.encoder.bytes() >= BLOCK_BYTES { self.finish_block() } else { Ok(()) }
    }

    fn finish_block(&mut self) -> Result<(), Error> {
        if self.encoder.is_empty() {
            return Ok(());
        }
        let mut block = Vec::with_capacity(BLOCK_BYTES + 1024);
        self.encoder.finish(&mut block);
        let (offset, length) = self.put_block(&block)?;
        let first = std::mem::take(&mut self.first);
        self.blocks.push(Fence { first, offset, length });
        Ok(())
    }

    /// Adds a body; they come in the order of their digests, after all rows.
    pub(crate) fn push_body(&mut self, body: &Body) -> Result<(), Error> {
        self.finish_block()?;
        if self.body_output.is_empty() {
            self.body_first = prefix(body.payload);
        }
        let file = local(body.place.file, &mut self.files, &mut self.numbers);
        self.body_output.extend_from_slice(body.payload.as_bytes());
        self.body_output.extend_from_slice(&body.content);
        self.body_output.extend_from_slice(&file.to_le_bytes());
        self.body_output.extend_from_slice(&body.place.offset.to_le_bytes());
        let length = u32::try_from(body.place.length).unwrap_or(u32::MAX);
        self.body_output.extend_from_slice(&length.to_le_bytes());
        if self.body_output.len() >= BODIES_A_BLOCK * BODY_BYTES { self.finish_bodies() } else { Ok(()) }
    }

    fn finish_bodies(&mut self) -> Result<(), Error> {
        if self.body_output.is_empty() {
            return Ok(());
        }
        let block = std::mem::take(&mut self.body_output);
        let (offset, length) = self.put_block(&block)?;
        self.bodies.push(Fence { first: self.body_first, offset, length });
        Ok(())
    }

    /// Makes the run durable and opens it.
    pub(crate) fn finish(mut self, files: &mut Files) -> Result<Run, Error> {
        self.finish_block()?;
        self.finish_bodies()?;
        let filter_offset = self.at();
        let filter = self.filter.as_bytes().to_vec();
        let filter_sum = checksum(self.id, filter_offset, &filter);
        self.put(&filter)?;
        let names: Vec<Arc<str>> = self.files.iter().map(|number| Arc::clone(files.name(*number))).collect();
        let mut tables = Vec::new();
        [self.entries, self.keys].into_iter().for_each(|n| put_number(&mut tables, n));
        put_number(&mut tables, names.len() as u64);
        names.iter().for_each(|name| put_text(&mut tables, name));
        put_number(&mut tables, self.blocks.len() as u64);
        for fence in &self.blocks {
            put_number(&mut tables, fence.first.len() as u64);
            tables.extend_from_slice(&fence.first);
            put_number(&mut tables, fence.offset);
            put_number(&mut tables, u64::from(fence.length));
        }
        put_number(&mut tables, self.bodies.len() as u64);
        for fence in &self.bodies {
            tables.extend_from_slice(&fence.first.to_le_bytes());
            put_number(&mut tables, fence.offset);
            put_number(&mut tables, u64::from(fence.length));
        }
        put_number(&mut tables, filter_offset);
        put_number(&mut tables, filter.len() as u64);
        tables.extend_from_slice(&filter_sum.to_le_bytes());
        let offset = self.at();
        let sum = checksum(self.id, offset, &tables);
        self.put(&tables)?;
        let file_bytes = self.at() + FOOTER_BYTES;
        let mut footer = [offset.to_le_bytes(), (tables.len() as u64).to_le_bytes()].concat();
        footer.extend_from_slice(&sum.to_le_bytes());
        let footer_sum = checksum(self.id, file_bytes, &footer);
        footer.extend_from_slice(&footer_sum.to_le_bytes());
        footer.extend_from_slice(MAGIC);
        self.put(&footer)?;
        self.flush()?;
        self.file.sync().map_err(|source| Error::io("sync", &self.path, source))?;
        Run::open(self.disk, &self.path, self.id, files)
    }

    fn at(&self) -> u64 {
        self.position + self.output.len() as u64
    }
    fn put_block(&mut self, block: &[u8]) -> Result<(u64, u32), Error> {
        let offset = self.at();
        let length = u32::try_from(block.len()).expect("a block is short");
        self.put(&length.to_le_bytes())?;
        self.put(&checksum(self.id, offset, block).to_le_bytes())?;
        self.put(block)?;
        Ok((offset, length + u32::try_from(BLOCK_HEAD_BYTES).expect("it is small")))
    }
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.output.extend_from_slice(bytes);
        if self.output.len() >= OUTPUT_BYTES { self.flush() } else { Ok(()) }
    }
    fn flush(&mut self) -> Result<(), Error> {
        let written = self.file.write_at(self.position, &self.output);
        written.map_err(|source| Error::writing(self.disk, "write to", &self.path, source))?;
        self.position += self.output.len() as u64;
        self.output.clear();
        Ok(())
    }
}

/// The number that a file has in the run.
fn local(file: u32, files: &mut Vec<u32>, numbers: &mut HashMap<u32, u32>) -> u32 {
    *numbers.entry(file).or_insert_with(|| {
        files.push(file);
        u32::try_from(files.len() - 1).expect("there are fewer files than that")
    })
}
