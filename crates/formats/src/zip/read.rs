//! Reads untrusted ZIP files: by the directory at their end, entry by entry, never extracting to their names (H17).
//!
//! **Invariant:** the directory is read once, within [`DIRECTORY_BYTES_MAX`] and [`ENTRIES_MAX`]. A file with two
//! entries of one name, with entries that share bytes, or with a name that leads elsewhere is refused as a whole. An
//! entry yields exactly the bytes that it announces, with the announced checksum, or an error.

use super::*;
use crate::Error;
use base::limits::{DECODED_FREE_BYTES, DECODED_RATIO_MAX};
use flate2::bufread::DeflateDecoder;
use libdeflater::Crc;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};

/// Maximum number of entries: a hundred terabytes in files of a gigabyte.
pub(crate) const ENTRIES_MAX: u64 = 100_000;
/// The longest directory that is read.
pub(crate) const DIRECTORY_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The longest name of an entry.
pub(crate) const NAME_BYTES_MAX: usize = 1_024;
const COMMENT_BYTES_MAX: u64 = 65_535;
const INPUT_BYTES: usize = 64 * 1024;

/// A ZIP file whose directory was read.
#[derive(Debug)]
pub(crate) struct ZipReader<R> {
    file: R,
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
}

/// An entry as the directory has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    compressed_bytes: u64,
    crc: u32,
    method: u16,
    flags: u16,
    /// Where its header begins.
    offset: u64,
    /// Where the next thing begins.
    end: u64,
}

impl<R: Read + Seek> ZipReader<R> {
    /// Reads the directory.
    pub(crate) fn open(mut file: R) -> Result<Self, Error> {
        let directory = Directory::find(&mut file)?;
        let mut bytes = vec![0; usize::try_from(directory.bytes).unwrap_or_default()];
        read_at(&mut file, directory.offset, &mut bytes)?;
        let entries = read_entries(&bytes, &directory)?;
        let entries = without_overlap(entries, directory.offset)?;
        let by_name = entries.iter().enumerate().map(|(place, entry)| (entry.name.clone(), place)).collect();
        Ok(Self { file, entries, by_name })
    }

    /// The entries in file order.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name.
    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).and_then(|place| self.entries.get(*place))
    }

    /// Where the bytes of an entry begin, after its header was found to agree with the directory.
    fn start(&mut self, entry: &Entry) -> Result<u64, Error> {
        let wrong = |what| Error::entry(&entry.name, what);
        let mut header = [0; LOCAL_BYTES];
        read_at(&mut self.file, entry.offset, &mut header)?;
        let mut header = Numbers(&header);
        let signature = header.u32();
        header.skip(2);
        let (flags, method) = (header.u16(), header.u16());
        header.skip(4);
        let (crc, compressed, size) = (header.u32(), header.u32(), header.u32());
        let (name_bytes, extra_bytes) = (header.u16(), header.u16());
        if signature != LOCAL || usize::from(name_bytes) != entry.name.len() {
            return Err(wrong("there is no header where the directory says"));
        }
        let mut name = vec![0; usize::from(name_bytes)];
        read_at(&mut self.file, entry.offset + LOCAL_BYTES as u64, &mut name)?;
        let is_known = flags & FLAG_SIZES_FOLLOW == 0;
        let differs = |value: u32, listed: u64| value != LARGE32 && u64::from(value) != listed;
        let differ =
            crc != entry.crc || differs(compressed, entry.compressed_bytes) || differs(size, entry.bytes);
        if name != entry.name.as_bytes() || method != entry.method || (is_known && differ) {
            return Err(wrong("its header and the directory do not agree"));
        }
        if (flags | entry.flags) & FLAG_ENCRYPTED != 0 {
            return Err(wrong("it is encrypted"));
        }
        let start = entry.offset + LOCAL_BYTES as u64 + u64::from(name_bytes) + u64::from(extra_bytes);
        match start.checked_add(entry.compressed_bytes) {
            Some(end) if end <= entry.end => Ok(start),
            _ => Err(wrong("it overlaps with what follows it")),
        }
    }

    /// Opens the bytes of an entry.
    pub(crate) fn content(&mut self, entry: &Entry) -> Result<Content<'_, R>, Error> {
        let start = self.start(entry)?;
        self.file.seek(SeekFrom::Start(start)).map_err(Error::io("read the package"))?;
        let window = Window { file: &mut self.file, start, bytes: entry.compressed_bytes, position: 0 };
        match entry.method {
            STORED if entry.bytes == entry.compressed_bytes => {
                Ok(Content::Stored(Stored { window, crc: Some(Crc::new()), expected: entry.crc }))
            }
            STORED => Err(Error::entry(&entry.name, "it is stored and still has two lengths")),
            DEFLATED => Ok(Content::Deflated(Box::new(Deflated::new(window, entry)))),
            _ => Err(Error::entry(&entry.name, "it is compressed in a way that no WACZ uses")),
        }
    }
}

/// Where the directory is.
#[derive(Debug, PartialEq, Eq)]
struct Directory {
    offset: u64,
    bytes: u64,
    count: u64,
}

impl Directory {
    fn find(file: &mut (impl Read + Seek)) -> Result<Self, Error> {
        let length = file.seek(SeekFrom::End(0)).map_err(Error::io("read the package"))?;
        let tail_bytes = length.min(COMMENT_BYTES_MAX + END_BYTES as u64);
        let tail_offset = length - tail_bytes;
        let mut tail = vec![0; usize::try_from(tail_bytes).unwrap_or_default()];
        read_at(file, tail_offset, &mut tail)?;
        let place =
            find_end(&tail).ok_or_else(|| Error::package("it is not a ZIP file, or its end is missing"))?;
        let (mut directory, needs64) = read_end(tail.get(place..).unwrap_or_default())?;
        let mut end = tail_offset + place as u64;
        if let Some(end64) = find_end64(file, end)? {
            (directory, end) = (read_end64(file, end64)?, end64);
        } else if needs64 {
            return Err(Error::package("the record with its large numbers is missing"));
        }
        directory.check(end)?;
        Ok(directory)
    }

    fn check(&self, end: u64) -> Result<(), Error> {
        if self.offset.checked_add(self.bytes).is_none_or(|directory_end| directory_end > end) {
            return Err(Error::package("its directory is cut off, or not where it should be"));
        }
        if self.bytes > DIRECTORY_BYTES_MAX || self.count > ENTRIES_MAX {
            return Err(Error::package(format!("its directory is larger than {ENTRIES_MAX} entries")));
        }
        if self.count.checked_mul(CENTRAL_BYTES as u64).is_none_or(|least| least > self.bytes) {
            return Err(Error::package("its directory is too short for its entries"));
        }
        Ok(())
    }
}

/// The last place where the end of a directory can stand: its comment reaches exactly to the end of the file.
fn find_end(tail: &[u8]) -> Option<usize> {
    let last = tail.len().checked_sub(END_BYTES)?;
    (0..=last).rev().find(|place| {
        let record = tail.get(*place..).unwrap_or_default();
        let comment = record.get(20..22).map_or(0, |bytes| usize::from(Numbers(bytes).u16()));
        record.starts_with(&END.to_le_bytes()) && END_BYTES + comment == record.len()
    })
}

fn read_end(record: &[u8]) -> Result<(Directory, bool), Error> {
    let mut record = Numbers(record.get(4..).unwrap_or_default());
    let (disk, first_disk) = (record.u16(), record.u16());
    let (here, count, bytes, offset) = (record.u16(), record.u16(), record.u32(), record.u32());
    let needs64 = count == LARGE16 || bytes == LARGE32 || offset == LARGE32;
    let is_split = ((disk, first_disk) != (0, 0) || here != count) && !needs64;
    if is_split {
        return Err(Error::package("it is one part of several"));
    }
    Ok((Directory { offset: offset.into(), bytes: bytes.into(), count: count.into() }, needs64))
}

/// Where the record with large numbers stands, if something right before `end` leads there.
fn find_end64(file: &mut (impl Read + Seek), end: u64) -> Result<Option<u64>, Error> {
    let Some(place) = end.checked_sub(LOCATOR64_BYTES as u64) else { return Ok(None) };
    let mut locator = [0; LOCATOR64_BYTES];
    read_at(file, place, &mut locator)?;
    let mut locator = Numbers(&locator);
    if locator.u32() != LOCATOR64 {
        return Ok(None);
    }
    locator.skip(4);
    let end64 = locator.u64();
    if end64.checked_add(END64_BYTES as u64).is_none_or(|after| after > place) {
        return Err(Error::package("the record with its large numbers is not where it should be"));
    }
    Ok(Some(end64))
}

fn read_end64(file: &mut (impl Read + Seek), place: u64) -> Result<Directory, Error> {
    let mut record = [0; END64_BYTES];
    read_at(file, place, &mut record)?;
    let mut record = Numbers(&record);
    if record.u32() != END64 {
        return Err(Error::package("the record with its large numbers is not where it should be"));
    }
    record.skip(12);
    let (disk, first_disk, here, count) = (record.u32(), record.u32(), record.u64(), record.u64());
    if (disk, first_disk) != (0, 0) || here != count {
        return Err(Error::package("it is one part of several"));
    }
    let (bytes, offset) = (record.u64(), record.u64());
    Ok(Directory { offset, bytes, count })
}

fn read_entries(bytes: &[u8], directory: &Directory) -> Result<Vec<Entry>, Error> {
    let mut rest = bytes;
    let mut names = HashSet::new();
    let mut entries = Vec::new();
    for _ in 0..directory.count {
        let entry = read_entry(&mut rest)?;
        if !names.insert(entry.name.clone()) {
            return Err(Error::package(format!("two entries are called `{}`", base::printable(&entry.name))));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn read_entry(rest: &mut &[u8]) -> Result<Entry, Error> {
    let cut = || Error::package("its directory ends in the middle of an entry");
    let (header, after) = rest.split_at_checked(CENTRAL_BYTES).ok_or_else(cut)?;
    let mut header = Numbers(header);
    if header.u32() != CENTRAL {
        return Err(Error::package("its directory holds something that is not an entry"));
    }
    header.skip(4);
    let (flags, method) = (header.u16(), header.u16());
    header.skip(4);
    let (crc, compressed, size) = (header.u32(), header.u32(), header.u32());
    let (name_bytes, extra_bytes, comment_bytes) = (header.u16(), header.u16(), header.u16());
    let disk = header.u16();
    header.skip(6);
    let offset = header.u32();
    let (name, after) = after.split_at_checked(name_bytes.into()).ok_or_else(cut)?;
    let (extra, after) = after.split_at_checked(extra_bytes.into()).ok_or_else(cut)?;
    *rest = after.get(usize::from(comment_bytes)..).ok_or_else(cut)?;

    let name = read_name(name)?;
    let mut large = large_numbers(extra);
    let mut number = |value: u32| {
        if value == LARGE32 && !large.0.is_empty() { large.u64() } else { u64::from(value) }
    };
    let (bytes, compressed_bytes, offset) = (number(size), number(compressed), number(offset));
    if disk != 0 && disk != LARGE16 {
        return Err(Error::entry(&name, "it lies on another disk"));
    }
    Ok(Entry { name, bytes, compressed_bytes, crc, method, flags, offset, end: offset })
}

/// A name that stays inside: no root, no parent, nothing that is not text.
fn read_name(name: &[u8]) -> Result<String, Error> {
    let text = String::from_utf8_lossy(name);
    let outside = |segment: &str| matches!(segment, "." | "..");
    let is_wrong = name.is_empty()
        || name.len() > NAME_BYTES_MAX
        || std::str::from_utf8(name).is_err()
        || text.contains(|c: char| c.is_control() || c == '\\')
        || text.starts_with('/')
        || text.split('/').any(outside);
    if is_wrong {
        let short: String = text.chars().take(100).collect();
        return Err(Error::package(format!(
            "an entry has a name that leads elsewhere, `{}`",
            base::printable(&short)
        )));
    }
    Ok(text.into_owned())
}

/// The numbers in the zip64 field.
fn large_numbers(extra: &[u8]) -> Numbers<'_> {
    let mut rest = Numbers(extra);
    while rest.0.len() >= 4 {
        let (kind, length) = (rest.u16(), rest.u16());
        let Some((field, after)) = rest.0.split_at_checked(length.into()) else { break };
        if kind == EXTRA64 {
            return Numbers(field);
        }
        rest = Numbers(after);
    }
    Numbers(&[])
}

/// The entries in the order of their offsets, each with what follows it as its end.
fn without_overlap(mut entries: Vec<Entry>, directory: u64) -> Result<Vec<Entry>, Error> {
    entries.sort_by_key(|entry| entry.offset);
    let ends: Vec<u64> = entries.iter().skip(1).map(|entry| entry.offset).chain([directory]).collect();
    for (entry, end) in entries.iter_mut().zip(ends) {
        entry.end = end;
        let least = (LOCAL_BYTES + entry.name.len()) as u64;
        let reached =
            entry.offset.checked_add(least).and_then(|start| start.checked_add(entry.compressed_bytes));
        if reached.is_none_or(|reached| reached > end) {
            return Err(Error::entry(&entry.name, "it overlaps with what follows it"));
        }
    }
    Ok(entries)
}

fn read_at(file: &mut (impl Read + Seek), offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
    let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(bytes));
    match read {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(Error::package("it is cut off")),
        other => other.map_err(Error::io("read the package")),
    }
}

/// Takes little-endian numbers from bytes; zeros when there are no more.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) =
            self.0.split_first_chunk().map_or(([0; N], &[][..]), |(taken, rest)| (*taken, rest));
        self.0 = rest;
        taken
    }
    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
    fn skip(&mut self, bytes: usize) {
        self.0 = self.0.get(bytes..).unwrap_or_default();
    }
}

/// A part of a file.
#[derive(Debug)]
pub(crate) struct Window<'a, R> {
    file: &'a mut R,
    start: u64,
    bytes: u64,
    position: u64,
}

impl<R: Read> Read for Window<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.bytes.saturating_sub(self.position);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = buffer.get_mut(..most).unwrap_or_default();
        let read = self.file.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.position += read as u64;
        Ok(read)
    }
}

/// The bytes of an entry.
pub(crate) enum Content<'a, R> {
    Stored(Stored<'a, R>),
    Deflated(Box<Deflated<'a, R>>),
}

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Stored(stored) => stored.read(buffer),
            Self::Deflated(deflated) => deflated.read(buffer),
        }
    }
}

/// Stored bytes. Their checksum is checked when they are read from first to last.
pub(crate) struct Stored<'a, R> {
    window: Window<'a, R>,
    /// `None` after a seek.
    crc: Option<Crc>,
    expected: u32,
}

impl<R: Read> Read for Stored<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.window.read(buffer)?;
        if let Some(crc) = &mut self.crc {
            crc.update(buffer.get(..read).unwrap_or_default());
            if self.window.position == self.window.bytes && crc.sum() != self.expected {
                return Err(wrong("its checksum is not the one in the directory"));
            }
        }
        Ok(read)
    }
}

impl<R: Read + Seek> Seek for Stored<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let window = &mut self.window;
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => window.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => window.position.checked_add_signed(by),
        };
        let place = place.ok_or(ErrorKind::InvalidInput)?;
        if place != window.position {
            self.crc = None;
        }
        let inside = place.min(window.bytes);
        window.file.seek(SeekFrom::Start(window.start + inside))?;
        window.position = place;
        Ok(place)
    }
}

/// Bytes that are deflated.
pub(crate) struct Deflated<'a, R> {
    plain: DeflateDecoder<BufReader<Window<'a, R>>>,
    crc: Crc,
    read: u64,
    entry: Entry,
    is_proved: bool,
}

impl<'a, R: Read> Deflated<'a, R> {
    fn new(window: Window<'a, R>, entry: &Entry) -> Self {
        let plain = DeflateDecoder::new(BufReader::with_capacity(INPUT_BYTES, window));
        Self { plain, crc: Crc::new(), read: 0, entry: entry.clone(), is_proved: false }
    }

    fn check_size(&self) -> io::Result<()> {
        if self.read > self.entry.bytes {
            return Err(wrong("it is longer than the directory says"));
        }
        let most =
            (DECODED_FREE_BYTES as u64).max(self.plain.total_in().saturating_mul(DECODED_RATIO_MAX as u64));
        if self.read > most {
            return Err(wrong("it grows too large when it is decompressed"));
        }
        Ok(())
    }

    fn prove(&mut self) -> io::Result<()> {
        if self.read != self.entry.bytes {
            return Err(wrong("it is shorter than the directory says"));
        }
        if self.crc.sum() != self.entry.crc {
            return Err(wrong("its checksum is not the one in the directory"));
        }
        self.is_proved = true;
        Ok(())
    }
}

impl<R: Read> Read for Deflated<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.is_proved {
            return Ok(0);
        }
        let read = self.plain.read(buffer)?;
        self.crc.update(buffer.get(..read).unwrap_or_default());
        self.read += read as u64;
        if read == 0 {
            self.prove()?;
        } else {
            self.check_size()?;
        }
        Ok(read)
    }
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
