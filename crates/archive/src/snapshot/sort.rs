//! Sorts versions in bounded memory: by where their bytes are, so that they are read in one sweep (A5), or by key.
//!
//! What does not fit is spilled, in sorted pieces, to files without a name that vanish with the process.
//!
//! **Invariant:** the order does not depend on how much was spilled.

use crate::capture::entry::{Entry, Stored};
use crate::error::Error;
use crate::index::Files;
use crate::index::row::{Encoder, Row, Rows};
use crate::snapshot::versions::Version;
use base::bytes::{ByteReader, put_number, put_text};
use base::{Period, Timestamp};
use runs::{RowEncoder as _, Rows as _};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The order that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By file and offset of the record that holds the bytes.
    Address,
    /// By key, then by the moment they are valid from.
    Key,
}

/// What it is sorted by, and the version.
type Item = (Box<[u8]>, Box<[u8]>);

/// Takes versions in any order, then hands them out in the order that is wanted.
#[derive(Debug)]
pub struct Sorter {
    order: Order,
    spool: PathBuf,
    memory_bytes: usize,
    held: Vec<Item>,
    held_bytes: usize,
    spilled: Vec<File>,
    count: u64,
}

/// What an item takes in memory beside its bytes.
const ITEM_BYTES: usize = 64;
/// Of each spilled piece so much is read at once, or less if there are many.
const READ_BYTES_MAX: usize = 256 * 1024;
const READ_BYTES_MIN: usize = 4 * 1024;

impl Sorter {
    /// A sorter that holds about `memory_bytes` and spills the rest into the directory `spool`.
    #[must_use]
    pub fn new(order: Order, spool: &Path, memory_bytes: usize) -> Self {
        let (held, spilled) = (Vec::new(), Vec::new());
        Self { order, spool: spool.to_owned(), memory_bytes, held, held_bytes: 0, spilled, count: 0 }
    }
    /// How many versions were taken.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Takes a version.
    pub fn push(&mut self, version: &Version) -> Result<(), Error> {
        self.push_with(version, &[])
    }
    /// Takes a version, and something that goes with it.
    pub fn push_with(&mut self, version: &Version, beside: &[u8]) -> Result<(), Error> {
        let key = sort_key(self.order, version);
        let item = encode(version, beside);
        self.held_bytes += key.len() + item.len() + ITEM_BYTES;
        self.held.push((key.into(), item.into()));
        self.count += 1;
        if self.held_bytes >= self.memory_bytes { self.spill() } else { Ok(()) }
    }
    /// Hands them all out.
    pub fn finish(self) -> Result<impl Iterator<Item = Result<Version, Error>>, Error> {
        Ok(self.finish_with()?.map(|sorted| sorted.map(|(version, _)| version)))
    }
    /// Hands them all out, each with what goes with it.
    pub fn finish_with(self) -> Result<impl Iterator<Item = Result<(Version, Vec<u8>), Error>>, Error> {
        let failed = failed_to_read(&self.spool);
        let decoded = move |item: Result<Box<[u8]>, Error>| {
            decode(&item?).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))
        };
        Ok(self.finish_encoded()?.map(decoded))
    }
    /// Hands them all out as [`Version::from_bytes`] reads them.
    pub fn finish_encoded(mut self) -> Result<impl Iterator<Item = Result<Box<[u8]>, Error>>, Error> {
        self.held.sort_unstable();
        let failed = failed_to_read(&self.spool);
        let mut pieces = Vec::new();
        let spilled = std::mem::take(&mut self.spilled);
        let read_bytes = (self.memory_bytes / (spilled.len() + 1)).clamp(READ_BYTES_MIN, READ_BYTES_MAX);
        for mut file in spilled {
            file.rewind().map_err(&failed)?;
            pieces.push(Piece::Spilled(BufReader::with_capacity(read_bytes, file)));
        }
        pieces.push(Piece::Held(std::mem::take(&mut self.held).into_iter()));
        let mut heap = BinaryHeap::new();
        for (number, piece) in pieces.iter_mut().enumerate() {
            if let Some((key, item)) = piece.next().map_err(&failed)? {
                heap.push(Reverse((key, item, number)));
            }
        }
        Ok(std::iter::from_fn(move || {
            let Reverse((_, item, number)) = heap.pop()?;
            match pieces.get_mut(number).map(Piece::next) {
                Some(Ok(Some((key, next)))) => heap.push(Reverse((key, next, number))),
                Some(Err(error)) => return Some(Err(failed(error))),
                _ => {}
            }
            Some(Ok(item))
        }))
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.held.sort_unstable();
        let spilled = self.try_spill();
        let file = spilled.map_err(|source| Error::io("spill what is sorted into", &self.spool, source))?;
        self.spilled.push(file);
        self.held.clear();
        self.held_bytes = 0;
        Ok(())
    }
    fn try_spill(&self) -> io::Result<File> {
        let mut output = BufWriter::with_capacity(1024 * 1024, tempfile::tempfile_in(&self.spool)?);
        for (key, item) in &self.held {
            for piece in [key, item] {
                let length = u32::try_from(piece.len()).map_err(io::Error::other)?;
                output.write_all(&length.to_le_bytes())?;
                output.write_all(piece)?;
            }
        }
        output.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

fn failed_to_read(spool: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = spool.to_owned();
    move |source| Error::io("read back what was sorted in", &path, source)
}

enum Piece {
    Held(std::vec::IntoIter<Item>),
    Spilled(BufReader<File>),
}

impl Piece {
    fn next(&mut self) -> io::Result<Option<Item>> {
        match self {
            Self::Held(items) => Ok(items.next()),
            Self::Spilled(file) => {
                let Some(key) = read_piece(file)? else { return Ok(None) };
                let item = read_piece(file)?.ok_or(io::ErrorKind::UnexpectedEof)?;
                Ok(Some((key, item)))
            }
        }
    }
}

fn read_piece(file: &mut impl Read) -> io::Result<Option<Box<[u8]>>> {
    let mut length = [0; 4];
    match file.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut piece = vec![0; u32::from_le_bytes(length) as usize];
    file.read_exact(&mut piece)?;
    Ok(Some(piece.into()))
}

fn sort_key(order: Order, version: &Version) -> Vec<u8> {
    let entry = &version.payload;
    match order {
        Order::Key => {
            let mut key = entry.key.as_str().as_bytes().to_vec();
            key.push(0);
            key.extend_from_slice(&version.validity.from().as_micros().to_be_bytes());
            key.extend_from_slice(&entry.location.offset.to_be_bytes());
            key
        }
        Order::Address => {
            let bytes = match (&entry.kind, &entry.body) {
                (Stored::Revisit, Some(body)) => body,
                _ => &entry.location,
            };
            let mut key = bytes.file.as_bytes().to_vec();
            key.push(0);
            key.extend_from_slice(&bytes.offset.to_be_bytes());
            key.extend_from_slice(&version.validity.from().as_micros().to_be_bytes());
            key
        }
    }
}

impl Version {
    /// The version with everything it needs, and something that goes with it, to be kept elsewhere for a while.
    #[must_use]
    pub fn to_bytes(&self, beside: &[u8]) -> Vec<u8> {
        encode(self, beside)
    }
    /// What goes with a version that [`Version::to_bytes`] wrote, without reading the version.
    #[must_use]
    pub fn beside(bytes: &[u8]) -> Option<&[u8]> {
        let mut bytes = ByteReader(bytes);
        let length = bytes.count()?;
        bytes.take(length)
    }
    /// Reads what [`Version::to_bytes`] wrote.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<(Self, Vec<u8>)> {
        decode(bytes)
    }
}

/// A version with everything it needs, so that it can be read back alone.
fn encode(version: &Version, beside: &[u8]) -> Vec<u8> {
    let mut files = Files::default();
    let row = Row::of(&version.payload, &mut files);
    let mut bytes = Vec::with_capacity(256 + beside.len());
    put_number(&mut bytes, beside.len() as u64);
    bytes.extend_from_slice(beside);
    put_number(&mut bytes, version.validity.to().as_micros().cast_unsigned());
    put_number(&mut bytes, version.validity.from().as_micros().cast_unsigned());
    let first = version.is_first.map_or(0, |is_first| 1 + u8::from(is_first));
    bytes.push(u8::from(version.is_error) | u8::from(version.ended_by_gone) << 1 | first << 2);
    put_number(&mut bytes, files.names().len() as u64);
    files.names().iter().for_each(|name| put_text(&mut bytes, name));
    let mut encoder = Encoder::default();
    encoder.push(version.payload.key.as_str().as_bytes(), &row, &mut |file| file);
    encoder.finish(&mut bytes);
    bytes
}

fn decode(bytes: &[u8]) -> Option<(Version, Vec<u8>)> {
    let mut bytes = ByteReader(bytes);
    let length = bytes.count()?;
    let beside = bytes.take(length)?.to_vec();
    let mut moment = || Timestamp::from_micros(bytes.number()?.cast_signed());
    let (to, from) = (moment()?, moment()?);
    let bits = bytes.byte()?;
    let mut files = Files::default();
    for _ in 0..bytes.number()? {
        files.number(bytes.text()?);
    }
    let numbers: Vec<u32> = (0..).take(files.names().len()).collect();
    let mut rows = Rows::default();
    rows.decode(bytes.0, &numbers)?;
    let payload: Entry = (rows.len() == 1).then(|| rows.row(0).entry(rows.key_text(0), &files))?;
    let version = Version {
        validity: Period::new(from, to)?,
        payload,
        is_error: bits & 1 != 0,
        ended_by_gone: bits & 2 != 0,
        is_first: match bits >> 2 {
            0 => None,
            first => Some(first == 2),
        },
    };
    Some((version, beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::entry::{ContentKey, Flag, Key, Location};
    use base::{Chance, Sha1Digest};
    use std::sync::Arc;

    /// Versions of few keys, moments and places, so that ties are common.
    fn versions(count: u64, seed: u64) -> Vec<Version> {
        let mut chance = Chance::new(seed);
        (0..count).map(|_| version(&mut chance)).collect()
    }

    fn version(chance: &mut Chance) -> Version {
        let location = |chance: &mut Chance| Location {
            file: Arc::from(*chance.pick(&["a.warc.gz", "a.warc.gz2", "b.warc.gz"])),
            offset: *chance.pick(&[0, 7, 255, 256, 1 << 40]),
            length: chance.below(1 << 20),
        };
        let url = format!("https://example.org/{}", chance.pick(&["", "a", "a/b", "a!", "写し"]));
        let kind = *chance.pick(&[Stored::Response, Stored::Revisit, Stored::Metadata]);
        let from = Timestamp::from_micros(*chance.pick(&[0, 1, 300, 1_795_129_200_123_456])).unwrap();
        let place = location(chance);
        let payload = Entry {
            key: Key::of(&url),
            url,
            at: from,
            kind,
            flag: *chance.pick(&Flag::ALL),
            status: *chance.pick(&[None, Some(200), Some(404)]),
            media_type: Arc::from(*chance.pick(&["", "text/html"])),
            payload: chance.happens(0.5).then(|| Sha1Digest::of(&[&chance.bits().to_le_bytes()])),
            content: chance.happens(0.5).then(|| ContentKey::of(&chance.bits().to_le_bytes())),
            truncated: chance.happens(0.1),
            moves_within: chance.happens(0.1),
            group_bytes: place.length + chance.below(500),
            location: place,
            body: (kind == Stored::Revisit && chance.happens(0.7)).then(|| location(chance)),
            sum: u32::try_from(chance.below(1 << 32)).unwrap(),
        };
        Version {
            validity: Period::new(from, Timestamp::MAX).unwrap(),
            payload,
            is_error: chance.happens(0.2),
            ended_by_gone: chance.happens(0.2),
            is_first: *chance.pick(&[None, Some(false), Some(true)]),
        }
    }

    fn sorted(versions: &[Version], order: Order, memory_bytes: usize) -> (Vec<Version>, usize) {
        let spool = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(order, spool.path(), memory_bytes);
        versions.iter().for_each(|version| sorter.push(version).unwrap());
        assert_eq!(sorter.count(), versions.len() as u64);
        let pieces = sorter.spilled.len();
        (sorter.finish().unwrap().map(Result::unwrap).collect(), pieces)
    }

    /// Where the bytes of a version are.
    fn address(version: &Version) -> (Arc<str>, u64) {
        let Entry { kind, location, body, .. } = &version.payload;
        let location = body.as_ref().filter(|_| *kind == Stored::Revisit).unwrap_or(location);
        (Arc::clone(&location.file), location.offset)
    }

    #[test]
    fn what_is_spilled_comes_out_as_if_it_had_not_been() {
        let versions = versions(3_000, 1);
        for order in [Order::Address, Order::Key] {
            let (whole, none) = sorted(&versions, order, usize::MAX);
            assert_eq!((whole.len(), none), (versions.len(), 0));
            for (memory_bytes, pieces_min) in [(400_000, 1), (20_000, 20), (3_000, 100)] {
                let (found, pieces) = sorted(&versions, order, memory_bytes);
                assert!(pieces >= pieces_min, "{pieces} pieces of {memory_bytes} bytes");
                assert_eq!(found, whole, "{order:?} with {memory_bytes} bytes");
            }
        }
    }

    #[test]
    fn orders_are_those_of_a_plain_sort() {
        let versions = versions(2_000, 2);
        let mut by_address: Vec<_> = versions.iter().map(|one| (address(one), one.validity.from())).collect();
        by_address.sort();
        let found = sorted(&versions, Order::Address, 50_000).0;
        assert!(found.iter().map(|one| (address(one), one.validity.from())).eq(by_address));
        let key = |one: &Version| (one.payload.key.clone(), one.validity.from());
        let mut by_key: Vec<_> = versions.iter().map(key).collect();
        by_key.sort();
        assert!(sorted(&versions, Order::Key, 50_000).0.iter().map(key).eq(by_key));
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_invented() {
        let mut versions = versions(500, 3);
        let mut found = sorted(&versions, Order::Address, 10_000).0;
        let text = |version: &Version| format!("{version:?}");
        versions.sort_by_key(text);
        found.sort_by_key(text);
        assert_eq!(found, versions);
        assert!(sorted(&[], Order::Key, 10).0.is_empty());
    }

    #[test]
    fn a_spool_that_is_not_there_is_told() {
        let mut sorter = Sorter::new(Order::Key, Path::new("/nowhere/at/all"), 1);
        let error = sorter.push(&version(&mut Chance::new(4))).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
