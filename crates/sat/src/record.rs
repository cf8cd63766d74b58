//! A record: number, sequence, due minute, key, value; and its bytes.
//!
//! The bytes are the same in a write buffer, in an extent and in a batch:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | number |
//! | 6 | sequence: which operation wrote this state; the copy with the greatest is the record |
//! | 4 | due minute |
//! | 2 | key bytes |
//! | 2 | value bytes |
//! | … | key, then value |

use crate::{Minute, Number};

/// Bytes before the key.
pub(crate) const HEAD_BYTES: usize = 18;

/// Maximum bytes of key and value of one record.
pub const RECORD_BYTES_MAX: usize = 48 * 1024;

/// One record of a store, as it was last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueRecord<'a> {
    /// Its dense number, which it keeps for life.
    pub number: Number,
    /// When it is due.
    pub due: Minute,
    /// Its key.
    pub key: &'a [u8],
    /// Its value.
    pub value: &'a [u8],
    /// Which operation wrote it.
    pub(crate) sequence: u64,
}

impl<'a> DueRecord<'a> {
    /// The head of the bytes.
    pub(crate) fn head(&self) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[0..4].copy_from_slice(&self.number.0.to_le_bytes());
        head[4..10].copy_from_slice(&self.sequence.to_le_bytes()[..6]);
        head[10..14].copy_from_slice(&self.due.0.to_le_bytes());
        head[14..16].copy_from_slice(&short(self.key.len()).to_le_bytes());
        head[16..18].copy_from_slice(&short(self.value.len()).to_le_bytes());
        head
    }
    /// How many bytes the record takes.
    pub(crate) fn bytes(&self) -> usize {
        HEAD_BYTES + self.key.len() + self.value.len()
    }
    /// The record at the start of `bytes`, which were written by us and have passed their checksum.
    #[inline]
    pub(crate) fn read(bytes: &'a [u8]) -> Self {
        let Lengths { key, value } = Lengths::read(bytes);
        let (key, value) = bytes[HEAD_BYTES..HEAD_BYTES + key + value].split_at(key);
        Self {
            number: Number(word(bytes, 0)),
            due: Minute(word(bytes, 10)),
            key,
            value,
            sequence: sequence(bytes),
        }
    }
}

/// The lengths in a head.
struct Lengths {
    key: usize,
    value: usize,
}

impl Lengths {
    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let half = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        Self { key: half(14), value: half(16) }
    }
}

/// How many bytes the record at the start of `bytes` takes.
#[inline]
pub(crate) fn bytes_of(bytes: &[u8]) -> usize {
    let Lengths { key, value } = Lengths::read(&bytes[..HEAD_BYTES]);
    HEAD_BYTES + key + value
}

/// The due minute of the record at the start of `bytes`.
#[inline]
pub(crate) fn due_of(bytes: &[u8]) -> u32 {
    word(bytes, 10)
}

/// The number of the record at the start of `bytes`.
#[inline]
pub(crate) fn number_of(bytes: &[u8]) -> u32 {
    word(bytes, 0)
}

/// Where the records in `bytes` begin.
pub(crate) fn offsets(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let here = at;
        (here < bytes.len()).then(|| {
            at += bytes_of(&bytes[here..]);
            here
        })
    })
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[inline]
fn sequence(bytes: &[u8]) -> u64 {
    u64::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], 0, 0])
}

#[expect(clippy::cast_possible_truncation, reason = "checked against `RECORD_BYTES_MAX` where it came in")]
fn short(length: usize) -> u16 {
    debug_assert!(length <= RECORD_BYTES_MAX);
    length as u16
}
const _: () = assert!(RECORD_BYTES_MAX <= u16::MAX as usize);
