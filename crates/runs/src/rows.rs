//! What a kind of rows must define.

use crate::names::Names;
use base::bytes::ByteReader;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::fmt::Debug;

/// The rows of one block, decoded. This type identifies a kind of rows.
pub trait Rows: Clone + Debug + Default + Send + Sync + 'static {
    /// What run files begin and end with.
    const MAGIC: &'static [u8; 8];
    /// The first line of the file that names the published generation.
    const GENERATION: &'static str;
    /// A row without its key.
    type Row: Clone + Debug;
    /// Gathers rows into a block.
    type Encoder: RowEncoder<Row = Self::Row>;
    /// A small entry of fixed length that finds a row by something other than its key; [`Infallible`] for none.
    type Secondary: Secondary;

    /// How many rows there are.
    fn len(&self) -> usize;
    /// The key of a row.
    fn key(&self, number: usize) -> &[u8];
    /// A row.
    fn row(&self, number: usize) -> &Self::Row;
    /// Replaces the rows by those of a block. `names` translates the numbers of names; `None` if it is not a block.
    fn decode(&mut self, block: &[u8], names: &[u32]) -> Option<()>;
    /// The order of two rows of one key.
    fn order(one: &Self::Row, other: &Self::Row, names: &Names) -> Ordering;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The first of the rows up to `number` that have the same key.
    fn first_of_key(&self, number: usize) -> usize {
        let is_same = |other: &usize| self.key(*other) == self.key(number);
        (0..number).rev().take_while(is_same).last().unwrap_or(number)
    }
    /// How many rows have a key before `key`.
    fn lower_bound(&self, key: &[u8]) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.key(middle) < key { from = middle + 1 } else { to = middle }
        }
        from
    }
}

/// Gathers rows into a block that can be read without any other.
pub trait RowEncoder: Debug + Default {
    /// A row without its key.
    type Row;
    /// How long the block is so far, about.
    fn bytes(&self) -> usize;
    /// Whether it has no row.
    fn is_empty(&self) -> bool;
    /// Adds a row. `name` translates the number of a name into the one that the block must hold.
    fn push(&mut self, key: &[u8], row: &Self::Row, name: &mut dyn FnMut(u32) -> u32);
    /// Appends the block to `bytes` and starts the next one.
    fn finish(&mut self, bytes: &mut Vec<u8>);
}

/// An entry of fixed length, ordered by a prefix first.
pub trait Secondary: Copy + Debug {
    /// The length of every entry.
    const BYTES: usize;
    /// How many are in one block.
    const PER_BLOCK: usize;
    /// What entries are looked up by. Entries are ordered by this first.
    fn prefix(&self) -> u64;
    /// The order of entries. Of two that are equal, a merge keeps that of the younger run.
    fn order(&self, other: &Self) -> Ordering;
    /// Appends the entry.
    fn encode(&self, bytes: &mut Vec<u8>, name: &mut dyn FnMut(u32) -> u32);
    /// Reads an entry.
    fn decode(bytes: &mut ByteReader<'_>, names: &[u32]) -> Option<Self>;
}

impl Secondary for Infallible {
    const BYTES: usize = 1;
    const PER_BLOCK: usize = 1;

    fn prefix(&self) -> u64 {
        match *self {}
    }
    fn order(&self, _: &Self) -> Ordering {
        match *self {}
    }
    fn encode(&self, _: &mut Vec<u8>, _: &mut dyn FnMut(u32) -> u32) {
        match *self {}
    }
    fn decode(_: &mut ByteReader<'_>, _: &[u32]) -> Option<Self> {
        None
    }
}
