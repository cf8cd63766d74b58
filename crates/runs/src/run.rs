//! Runs: immutable, sorted files.
//!
//! A run holds rows in blocks, ordered by key and then as [`Rows::order`] says; then its secondary entries, in blocks
//! too; then a filter over its keys; then tables with the first key of every block. It is written once, from front to
//! back, and is durable before it is published. `docs/formats/index.md` shows the bytes.
//!
//! **Invariant:** every byte used matched its checksum, which covers the run and the position too.

use crate::checksum::checksum;
use crate::error::Error;
use crate::filter::Filter;
use crate::names::Names;
use crate::rows::{RowEncoder, Rows, Secondary};
use base::bytes::{ByteReader, put_number, put_text};
use base::disk::{Disk, DiskFile, Open};
use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FOOTER_LENGTH: usize = 32;
const FOOTER_BYTES: u64 = FOOTER_LENGTH as u64;
/// A block of rows is finished when it has grown to this.
const BLOCK_BYTES: usize = 16 * 1024;
/// A block grows by one row beyond that; a row and its key take less than a mebibyte.
const BLOCK_BYTES_MAX: usize = BLOCK_BYTES + 1024 * 1024;
const BLOCK_HEAD_BYTES: u64 = 8;
const OUTPUT_BYTES: usize = 1024 * 1024;

/// The first key of a block and where the block is.
#[derive(Clone, Debug)]
struct Fence<K> {
    first: K,
    offset: u64,
    length: u32,
}

/// A run that can be read.
#[derive(Debug)]
pub struct Run<R> {
    id: u64,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    /// What the numbers of names in this run are in the process.
    names: Vec<u32>,
    blocks: Vec<Fence<Box<[u8]>>>,
    secondary: Vec<Fence<u64>>,
    filter: Filter,
    entries: u64,
    keys: u64,
    bytes: u64,
    rows: PhantomData<fn() -> R>,
}

/// The name of a run's file.
pub(crate) fn file_name(id: u64) -> String {
    format!("{id:010}.run")
}

impl<R: Rows> Run<R> {
    /// Opens a run, whose tables and filter are read and checked.
    pub(crate) fn open(disk: &dyn Disk, path: &Path, id: u64, names: &mut Names) -> Result<Self, Error> {
        let read = |source| Error::io("read", path, source);
        let file = disk.open(path, Open::Read).map_err(|source| Error::io("open", path, source))?;
        let bytes = file.length().map_err(read)?;
        let damaged = |what| Error::Damaged { path: path.to_owned(), what };
        if bytes < FOOTER_BYTES + 16 {
            return Err(damaged("it is too short"));
        }
        let mut footer = [0; FOOTER_LENGTH];
        file.read_at(bytes - FOOTER_BYTES, &mut footer).map_err(read)?;
        let (offset, length, sum) =
            read_footer(&footer, R::MAGIC, id, bytes).ok_or_else(|| damaged("its footer is damaged"))?;
        let mut tables = vec![0; length];
        file.read_at(offset, &mut tables).map_err(read)?;
        if checksum(id, offset, &tables) != sum {
            return Err(damaged("its tables are damaged"));
        }
        let run = Tables::read(ByteReader(&tables), offset);
        let tables = run.ok_or_else(|| damaged("its tables are invalid"))?;
        let mut filter = vec![0; tables.filter_bytes];
        file.read_at(tables.filter_offset, &mut filter).map_err(read)?;
        if checksum(id, tables.filter_offset, &filter) != tables.filter_sum {
            return Err(damaged("its filter is damaged"));
        }
        Ok(Self {
            id,
            path: path.to_owned(),
            file,
            names: tables.names.iter().map(|name| names.number(name)).collect(),
            blocks: tables.blocks,
            secondary: tables.secondary,
            filter: Filter::from_stored(filter),
            entries: tables.entries,
            keys: tables.keys,
            bytes,
            rows: PhantomData,
        })
    }

    /// The number that it is named by.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }
    /// How many rows it holds.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }
    /// How many keys its rows have.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }
    /// How long its file is.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// How many blocks of rows it has.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }
    pub(crate) fn secondary_block_count(&self) -> usize {
        self.secondary.len()
    }
    /// Whether the run may hold the key; rarely true if it does not.
    #[must_use]
    pub fn may_hold(&self, key: &[u8]) -> bool {
        self.filter.may_hold(key)
    }
    /// How many blocks begin with a key before `key`.
    pub(crate) fn blocks_before(&self, key: &[u8]) -> usize {
        self.blocks.partition_point(|fence| &*fence.first < key)
    }
    /// Reads a block into `rows`.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    pub fn read_block(&self, number: usize, buffer: &mut Vec<u8>, rows: &mut R) -> Result<(), Error> {
        let fence = &self.blocks[number];
        let bytes = self.read_checked(fence.offset, fence.length, buffer)?;
        rows.decode(bytes, &self.names).ok_or_else(|| self.damaged("a block of it is invalid"))
    }
    /// Passes the secondary entries of every block that may hold some with this prefix to `look`, in order, until it
    /// breaks.
    ///
    /// # Errors
    /// When a block cannot be read, or is damaged.
    pub fn look_up<T>(
        &self,
        prefix: u64,
        mut look: impl FnMut(&[R::Secondary]) -> ControlFlow<T>,
    ) -> Result<Option<T>, Error> {
        let mut number = self.secondary.partition_point(|fence| fence.first < prefix).saturating_sub(1);
        let mut buffer = Vec::new();
        while self.secondary.get(number).is_some_and(|fence| fence.first <= prefix) {
            if let ControlFlow::Break(found) = look(&self.read_secondary(number, &mut buffer)?) {
                return Ok(Some(found));
            }
            number += 1;
        }
        Ok(None)
    }
    /// The secondary entries of a block, in order.
    pub(crate) fn read_secondary(
        &self,
        number: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<Vec<R::Secondary>, Error> {
        let fence = &self.secondary[number];
        let bytes = self.read_checked(fence.offset, fence.length, buffer)?;
        let decode = |bytes| {
            let mut bytes = ByteReader(bytes);
            R::Secondary::decode(&mut bytes, &self.names).filter(|_| bytes.is_empty())
        };
        let entries: Option<Vec<R::Secondary>> = bytes.chunks(R::Secondary::BYTES).map(decode).collect();
        entries.ok_or_else(|| self.damaged("a block of its secondary entries is invalid"))
    }

    /// Reads every block once.
    ///
    /// # Errors
    /// When something cannot be read, or is damaged.
    pub fn verify(&self) -> Result<(), Error> {
        let (mut buffer, mut rows) = (Vec::new(), R::default());
        (0..self.block_count()).try_for_each(|number| self.read_block(number, &mut buffer, &mut rows))?;
        (0..self.secondary_block_count())
            .try_for_each(|number| self.read_secondary(number, &mut buffer).map(drop))?;
        self.check_gaps(&mut buffer)
    }

    /// The few bytes that lie in no block: the beginning of the file.
    fn check_gaps(&self, buffer: &mut Vec<u8>) -> Result<(), Error> {
        buffer.resize(16, 0);
        self.file.read_at(0, buffer).map_err(|source| Error::io("read", &self.path, source))?;
        if *buffer == head(R::MAGIC, self.id) {
            Ok(())
        } else {
            Err(self.damaged("its beginning is damaged"))
        }
    }

    fn read_checked<'b>(&self, offset: u64, length: u32, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Error> {
        buffer.resize(length as usize, 0);
        self.file.read_at(offset, buffer).map_err(|source| Error::io("read", &self.path, source))?;
        let found = split_block(buffer, self.id, offset);
        found.ok_or_else(|| self.damaged("a block of it is damaged"))
    }
    fn damaged(&self, what: &'static str) -> Error {
        Error::Damaged { path: self.path.clone(), what }
    }
}

fn head(magic: &[u8; 8], id: u64) -> Vec<u8> {
    [*magic, id.to_le_bytes()].concat()
}

/// The content of a block whose checksum holds.
fn split_block(bytes: &[u8], id: u64, offset: u64) -> Option<&[u8]> {
    let mut head = ByteReader(bytes);
    let (length, sum) = (head.u32()?, head.u32()?);
    (head.0.len() == length as usize && checksum(id, offset, head.0) == sum).then_some(head.0)
}

/// Where the tables are and what their checksum is.
fn read_footer(footer: &[u8], magic: &[u8; 8], id: u64, file_bytes: u64) -> Option<(u64, usize, u32)> {
    let covered = footer.get(..20)?;
    let mut bytes = ByteReader(footer);
    let (offset, length, sum) = (bytes.u64()?, bytes.u64()?, bytes.u32()?);
    let is_whole = bytes.u32()? == checksum(id, file_bytes, covered) && bytes.array()? == *magic;
    let fits = offset.checked_add(length)? == file_bytes - FOOTER_BYTES;
    (is_whole && fits).then_some((offset, usize::try_from(length).ok()?, sum))
}

/// The end of a run.
struct Tables {
    entries: u64,
    keys: u64,
    names: Vec<String>,
    blocks: Vec<Fence<Box<[u8]>>>,
    secondary: Vec<Fence<u64>>,
    filter_offset: u64,
    filter_bytes: usize,
    filter_sum: u32,
}

impl Tables {
    fn read(mut bytes: ByteReader<'_>, end: u64) -> Option<Self> {
        let (entries, keys) = (bytes.number()?, bytes.number()?);
        let names = (0..bytes.number()?).map(|_| bytes.text().map(str::to_owned)).collect::<Option<_>>()?;
        let mut blocks = Vec::new();
        for _ in 0..bytes.number()? {
            let length = bytes.count()?;
            let first = Box::from(bytes.take(length)?);
            blocks.push(read_fence(first, &mut bytes, end)?);
        }
        let mut secondary = Vec::new();
        for _ in 0..bytes.number()? {
            let first = bytes.u64()?;
            secondary.push(read_fence(first, &mut bytes, end)?);
        }
        let (filter_offset, filter_bytes, filter_sum) = (bytes.number()?, bytes.count()?, bytes.u32()?);
        let fits = filter_offset.checked_add(filter_bytes as u64)? <= end && bytes.is_empty();
        fits.then_some(Self {
            entries,
            keys,
            names,
            blocks,
            secondary,
            filter_offset,
            filter_bytes,
            filter_sum,
        })
    }
}

fn read_fence<K>(first: K, bytes: &mut ByteReader<'_>, end: u64) -> Option<Fence<K>> {
    let (offset, length) = (bytes.number()?, u32::try_from(bytes.number()?).ok()?);
    let is_sane = length as usize <= BLOCK_BYTES_MAX && offset.checked_add(u64::from(length))? <= end;
    is_sane.then_some(Fence { first, offset, length })
}

/// Writes a run from front to back: rows in their order, then secondary entries in theirs.
#[derive(Debug)]
pub struct RunWriter<'d, R: Rows> {
    disk: &'d dyn Disk,
    id: u64,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    position: u64,
    output: Vec<u8>,
    encoder: R::Encoder,
    /// The first key of the block that is being filled, and the last key of all.
    first: Box<[u8]>,
    last: Vec<u8>,
    secondary_output: Vec<u8>,
    secondary_first: u64,
    names: Vec<u32>,
    numbers: HashMap<u32, u32>,
    blocks: Vec<Fence<Box<[u8]>>>,
    secondary: Vec<Fence<u64>>,
    filter: Filter,
    entries: u64,
    keys: u64,
}

impl<'d, R: Rows> RunWriter<'d, R> {
    /// Begins a run in `directory` that will hold at most `keys_max` keys.
    pub(crate) fn create(
        disk: &'d dyn Disk,
        directory: &Path,
        id: u64,
        keys_max: u64,
    ) -> Result<Self, Error> {
        let path = directory.join(file_name(id));
        // A writer that crashed may have left an unpublished file.
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
            output: head(R::MAGIC, id),
            encoder: R::Encoder::default(),
            first: Box::default(),
            last: Vec::new(),
            secondary_output: Vec::new(),
            secondary_first: 0,
            names: Vec::new(),
            numbers: HashMap::new(),
            blocks: Vec::new(),
            secondary: Vec::new(),
            filter: Filter::for_keys(keys_max),
            entries: 0,
            keys: 0,
        })
    }

    /// Adds a row; rows come in their order.
    ///
    /// # Errors
    /// When the run cannot be written.
    pub fn push(&mut self, key: &[u8], row: &R::Row) -> Result<(), Error> {
        if self.entries == 0 || self.last != key {
            self.last.clear();
            self.last.extend_from_slice(key);
            self.filter.add(key);
            self.keys += 1;
        }
        if self.encoder.is_empty() {
            self.first = key.into();
        }
        let (names, numbers) = (&mut self.names, &mut self.numbers);
        self.encoder.push(key, row, &mut |name| local(name, names, numbers));
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

    /// Adds a secondary entry; they come in their order, after all rows.
    ///
    /// # Errors
    /// When the run cannot be written.
    pub fn push_secondary(&mut self, entry: &R::Secondary) -> Result<(), Error> {
        self.finish_block()?;
        if self.secondary_output.is_empty() {
            self.secondary_first = entry.prefix();
        }
        let (names, numbers) = (&mut self.names, &mut self.numbers);
        entry.encode(&mut self.secondary_output, &mut |name| local(name, names, numbers));
        let is_full = self.secondary_output.len() >= R::Secondary::PER_BLOCK * R::Secondary::BYTES;
        if is_full { self.finish_secondary() } else { Ok(()) }
    }

    fn finish_secondary(&mut self) -> Result<(), Error> {
        if self.secondary_output.is_empty() {
            return Ok(());
        }
        let block = std::mem::take(&mut self.secondary_output);
        let (offset, length) = self.put_block(&block)?;
        self.secondary.push(Fence { first: self.secondary_first, offset, length });
        Ok(())
    }

    /// Makes the run durable and opens it.
    pub(crate) fn finish(mut self, names: &mut Names) -> Result<Run<R>, Error> {
        self.finish_block()?;
        self.finish_secondary()?;
        let filter_offset = self.at();
        let filter = self.filter.as_bytes().to_vec();
        let filter_sum = checksum(self.id, filter_offset, &filter);
        self.put(&filter)?;
        let named: Vec<Arc<str>> = self.names.iter().map(|number| Arc::clone(names.name(*number))).collect();
        let mut tables = Vec::new();
        [self.entries, self.keys].into_iter().for_each(|n| put_number(&mut tables, n));
        put_number(&mut tables, named.len() as u64);
        named.iter().for_each(|name| put_text(&mut tables, name));
        put_number(&mut tables, self.blocks.len() as u64);
        for fence in &self.blocks {
            put_number(&mut tables, fence.first.len() as u64);
            tables.extend_from_slice(&fence.first);
            put_number(&mut tables, fence.offset);
            put_number(&mut tables, u64::from(fence.length));
        }
        put_number(&mut tables, self.secondary.len() as u64);
        for fence in &self.secondary {
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
        footer.extend_from_slice(R::MAGIC);
        self.put(&footer)?;
        self.flush()?;
        self.file.sync().map_err(|source| Error::io("sync", &self.path, source))?;
        Run::open(self.disk, &self.path, self.id, names)
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

/// The number that a name has in the run.
fn local(name: u32, names: &mut Vec<u32>, numbers: &mut HashMap<u32, u32>) -> u32 {
    *numbers.entry(name).or_insert_with(|| {
        names.push(name);
        u32::try_from(names.len() - 1).expect("there are fewer names than that")
    })
}
