//! Sorts versions in bounded memory: by where their bytes are, so that they are read in one sweep (A5), or by key.
//!
//! What does not fit is spilled, in sorted pieces, to files without a name that vanish with the process.

use crate::entry::{Entry, Stored};
use crate::error::Error;
use crate::index::bytes::{Bytes, put_number, put_text};
use crate::index::row::{Encoder, Files, Row, Rows};
use crate::versions::Version;
use base::{Period, Timestamp};
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

/// Takes versions in any order, then hands them out in the order that is wanted.
#[derive(Debug)]
pub struct Sorter {
    order: Order,
    spool: PathBuf,
    memory_bytes: usize,
    held: Vec<(Box<[u8]>, Box<[u8]>)>,
    held_bytes: usize,
    spilled: Vec<File>,
    count: u64,
}

/// What an item takes in memory beside its bytes.
const ITEM_BYTES: usize = 64;

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
        let key = sort_key(self.order, version);
        let item = encode(version);
        self.held_bytes += key.len() + item.len() + ITEM_BYTES;
        self.held.push((key.into(), item.into()));
        self.count += 1;
        if self.held_bytes >= self.memory_bytes { self.spill() } else { Ok(()) }
    }
    /// Hands them all out.
    pub fn finish(mut self) -> Result<impl Iterator<Item = Result<Version, Error>>, Error> {
        self.held.sort_unstable();
        let path = self.spool.clone();
        let failed = move |source| Error::io("read back what was sorted in", &path, source);
        let mut pieces = Vec::new();
        for mut file in std::mem::take(&mut self.spilled) {
            file.rewind().map_err(&failed)?;
            pieces.push(Piece::Spilled(BufReader::with_capacity(256 * 1024, file)));
        }
        pieces.push(Piece::Held(std::mem::take(&mut self.held).into_iter()));
        let mut heap = BinaryHeap::new();
        for (number, piece) in pieces.iter_mut().enumerate() {
            if let Some((key, item)) = piece.next().map_err(&failed)? {
                heap.push(Reverse((key, number, item)));
            }
        }
        Ok(std::iter::from_fn(move || {
            let Reverse((_, number, item)) = heap.pop()?;
            match pieces.get_mut(number).map(Piece::next) {
                Some(Ok(Some((key, next)))) => heap.push(Reverse((key, number, next))),
                Some(Err(error)) => return Some(Err(failed(error))),
                _ => {}
            }
            Some(decode(&item).ok_or_else(|| failed(io::ErrorKind::InvalidData.into())))
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

enum Piece {
    Held(std::vec::IntoIter<(Box<[u8]>, Box<[u8]>)>),
    Spilled(BufReader<File>),
}

impl Piece {
    fn next(&mut self) -> io::Result<Option<(Box<[u8]>, Box<[u8]>)>> {
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

/// A version with everything it needs, so that it can be read back alone.
fn encode(version: &Version) -> Vec<u8> {
    let mut files = Files::default();
    let row = Row::of(&version.payload, &mut files);
    let mut bytes = Vec::with_capacity(256);
    put_number(&mut bytes, version.validity.to().as_micros().cast_unsigned());
    put_number(&mut bytes, version.validity.from().as_micros().cast_unsigned());
    let first = version.is_first.map_or(0, |is_first| 1 + u8::from(is_first));
    bytes.push(u8::from(version.is_error) | u8::from(version.ended_by_gone) << 1 | first << 2);
    put_number(&mut bytes, files.names().len() as u64);
    files.names().iter().for_each(|name| put_text(&mut bytes, name));
    let mut encoder = Encoder::default();
    encoder.push(version.payload.key.as_str(), &row, |file| file);
    encoder.finish(&mut bytes);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Version> {
    let mut bytes = Bytes(bytes);
    let mut moment = || Timestamp::from_micros(bytes.number()?.cast_signed());
    let (to, from) = (moment()?, moment()?);
    let bits = bytes.byte()?;
    let mut files = Files::default();
    for _ in 0..bytes.number()? {
        files.number(bytes.text()?);
    }
    let numbers: Vec<u32> = (0..).take(files.names().len()).collect();
    let mut rows = Rows::default();
    rows.decode(bytes.0, &numbers).ok()?;
    let payload: Entry = (rows.len() == 1).then(|| rows.row(0).entry(rows.key_text(0), &files))?;
    Some(Version {
        validity: Period::new(from, to)?,
        payload,
        is_error: bits & 1 != 0,
        ended_by_gone: bits & 2 != 0,
        is_first: match bits >> 2 {
            0 => None,
            first => Some(first == 2),
        },
    })
}
