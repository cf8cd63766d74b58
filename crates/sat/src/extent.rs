//! An extent: records of one bucket, sorted by due minute, in a data segment.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `SATX` |
//! | 4 | checksum of the head and the numbers, with their place |
//! | 8 | store |
//! | 4 | bucket (its minute; see [`crate::bucket::Kind`] for those without one) |
//! | 4 | records |
//! | 4 | first due minute |
//! | 4 | last due minute |
//! | 4 | bytes of the records |
//! | 4 | checksum of the records, with their place |
//! | 8 | frame that was being written when the extent was |
//! | 4 each | numbers of the records, in their order |
//! | … | the records ([`crate::record`]) |
//!
//! A flush cuts a buffer into several extents where the due minute changes, so that with strict timing each is read
//! when its first record is due and not before (S3). Those of one flush are adjacent.
//!
//! **Invariant:** the checkpoint has the checksum of the head as well, so a whole extent from an earlier use of the
//! same place is detected.

use crate::checksum::{Kind, Place};
use crate::record::{self, RECORD_BYTES_MAX};
use base::disk::AlignedBytes;

/// Bytes before the numbers.
pub(crate) const HEAD_BYTES: usize = 48;
const MAGIC: &[u8; 4] = b"SATX";

/// Where an extent is, and what must be known without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) segment: u32,
    pub(crate) offset: u32,
    pub(crate) body_bytes: u32,
    pub(crate) records: u32,
    pub(crate) first_due: u32,
    pub(crate) head_checksum: u32,
}

impl Extent {
    /// Its bytes on disk.
    pub(crate) fn bytes(&self) -> usize {
        self.head_bytes() + self.body_bytes as usize
    }
    /// Where the byte after it is.
    pub(crate) fn end(&self) -> u32 {
        self.offset + narrow(self.bytes() as u64)
    }
    /// Head and numbers.
    pub(crate) fn head_bytes(&self) -> usize {
        HEAD_BYTES + 4 * self.records as usize
    }
    fn place(&self, store: u64) -> Place {
        Place { store, kind: Kind::Data, file: self.segment.into(), offset: self.offset.into() }
    }
    /// What is wrong with the head and the numbers at the start of `bytes`, if anything.
    pub(crate) fn check_head(&self, store: u64, bytes: &[u8]) -> Result<(), &'static str> {
        if &bytes[0..4] != MAGIC {
            return Err("there is no extent");
        }
        if word(bytes, 4) != self.head_checksum {
            return Err("the extent is not the one that was written last");
        }
        let sum = self.place(store).checksum(&[&bytes[8..self.head_bytes()]]);
        if sum != self.head_checksum { Err("the head of an extent fails its checksum") } else { Ok(()) }
    }
    /// What is wrong with the extent at the start of `bytes`, if anything.
    pub(crate) fn check(&self, store: u64, bytes: &[u8]) -> Result<(), &'static str> {
        self.check_head(store, bytes)?;
        let sum = self.place(store).checksum(&[&bytes[self.head_bytes()..self.bytes()]]);
        if sum != word(bytes, 36) { Err("the records of an extent fail their checksum") } else { Ok(()) }
    }
    /// The numbers in an extent's bytes.
    pub(crate) fn numbers<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = u32> + use<'a> {
        let (numbers, _) = bytes[HEAD_BYTES..self.head_bytes()].as_chunks::<4>();
        numbers.iter().map(|number| u32::from_le_bytes(*number))
    }
    /// The last due minute of the records in an extent's bytes.
    pub(crate) fn last_due(bytes: &[u8]) -> u32 {
        word(bytes, 28)
    }
    /// Where the records lie in the bytes of an extent that begins at `start`.
    pub(crate) fn body(&self, start: usize) -> std::ops::Range<usize> {
        start + self.head_bytes()..start + self.bytes()
    }
}

/// How records are cut into extents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Whether the records are sorted by due minute first.
    pub(crate) sorted: bool,
    /// A new extent begins with a new due minute once this many bytes are there.
    pub(crate) bytes_min: usize,
    /// And at the latest here.
    pub(crate) bytes_max: usize,
}

/// The label of a bucket's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    pub(crate) store: u64,
    pub(crate) bucket: u32,
    pub(crate) segment: u32,
    pub(crate) frame: u64,
}

/// Maximum bytes of `records` in `body_bytes` after cutting.
pub(crate) fn bytes_max(body_bytes: usize, records: u32, cut: Cut) -> usize {
    // An extent ends where the next record would not fit, or later than `bytes_min`.
    let bytes_least = cut.bytes_min.min(cut.bytes_max - RECORD_BYTES_MAX - record::HEAD_BYTES);
    let extents = (body_bytes / bytes_least + 1).min(records as usize);
    body_bytes + 4 * records as usize + extents * HEAD_BYTES
}

/// Sorts and cuts the records in `body`, and appends the extents to `run`, whose first byte goes to
/// `run_offset` of the segment.
pub(crate) fn write(
    body: &[u8],
    cut: Cut,
    label: Label,
    run_offset: u32,
    run: &mut AlignedBytes,
) -> Vec<Extent> {
    let mut order: Vec<u64> = record::offsets(body)
        .map(|offset| u64::from(record::due_of(&body[offset..])) << 32 | offset as u64)
        .collect();
    if cut.sorted {
        order = sorted_by_due(order);
    }
    let mut extents = Vec::new();
    let mut left = order.as_slice();
    while !left.is_empty() {
        let (now, later) = left.split_at(records_in_next(body, left, cut));
        extents.push(write_one(body, now, label, run_offset, run));
        left = later;
    }
    extents
}

/// The entries in order of their due minutes. A bucket spans few minutes, so this is a counting sort.
fn sorted_by_due(mut order: Vec<u64>) -> Vec<u64> {
    let dues = || order.iter().map(|entry| entry >> 32);
    let (Some(first), Some(last)) = (dues().min(), dues().max()) else { return order };
    if last - first > order.len() as u64 {
        order.sort_unstable();
        return order;
    }
    let place = |entry: u64| narrow((entry >> 32) - first) as usize;
    let mut begins = vec![0_usize; place(last << 32) + 2];
    order.iter().for_each(|entry| begins[place(*entry) + 1] += 1);
    (1..begins.len()).for_each(|minute| begins[minute] += begins[minute - 1]);
    let mut sorted = vec![0; order.len()];
    for entry in order {
        let begin = &mut begins[place(entry)];
        sorted[*begin] = entry;
        *begin += 1;
    }
    sorted
}

/// How many of the records in `order` belong to the next extent.
fn records_in_next(body: &[u8], order: &[u64], cut: Cut) -> usize {
    let (mut bytes, mut due) = (0, order[0] >> 32);
    for (place, entry) in order.iter().enumerate() {
        let next = bytes + record::bytes_of(&body[at(*entry)..]);
        let is_full = next > cut.bytes_max || (cut.sorted && bytes >= cut.bytes_min && entry >> 32 != due);
        if place > 0 && is_full {
            return place;
        }
        (bytes, due) = (next, entry >> 32);
    }
    order.len()
}

fn write_one(body: &[u8], order: &[u64], label: Label, run_offset: u32, run: &mut AlignedBytes) -> Extent {
    let start = run.len();
    run.extend_from_slice(&[0; HEAD_BYTES]);
    for entry in order {
        run.extend_from_slice(&record::number_of(&body[at(*entry)..]).to_le_bytes());
    }
    let body_start = run.len();
    copy_records(body, order, run);
    let dues = order.iter().map(|entry| narrow(entry >> 32));
    let (first_due, last_due) =
        dues.fold((u32::MAX, 0), |(first, last), due| (first.min(due), last.max(due)));
    let mut extent = Extent {
        segment: label.segment,
        offset: run_offset + narrow(start as u64),
        body_bytes: narrow((run.len() - body_start) as u64),
        records: narrow(order.len() as u64),
        first_due,
        head_checksum: 0,
    };
    let head = &mut run.as_mut_slice()[start..start + HEAD_BYTES];
    head[0..4].copy_from_slice(MAGIC);
    head[8..16].copy_from_slice(&label.store.to_le_bytes());
    for (place, word) in
        [label.bucket, extent.records, first_due, last_due, extent.body_bytes].into_iter().enumerate()
    {
        head[16 + 4 * place..20 + 4 * place].copy_from_slice(&word.to_le_bytes());
    }
    head[40..48].copy_from_slice(&label.frame.to_le_bytes());
    seal(&mut extent, label.store, &mut run.as_mut_slice()[start..]);
    extent
}

/// Appends the records in their order; adjacent ones with one copy.
fn copy_records(body: &[u8], order: &[u64], run: &mut AlignedBytes) {
    let mut follows = None;
    for entry in order {
        let begin = at(*entry);
        let end = begin + record::bytes_of(&body[begin..]);
        follows = match follows {
            Some((first, last)) if last == begin => Some((first, end)),
            Some((first, last)) => {
                run.extend_from_slice(&body[first..last]);
                Some((begin, end))
            }
            None => Some((begin, end)),
        };
    }
    if let Some((first, last)) = follows {
        run.extend_from_slice(&body[first..last]);
    }
}

/// Writes the checksums for the place that `extent` names.
fn seal(extent: &mut Extent, store: u64, bytes: &mut [u8]) {
    let place = extent.place(store);
    let sum = place.checksum(&[&bytes[extent.head_bytes()..extent.bytes()]]);
    bytes[36..40].copy_from_slice(&sum.to_le_bytes());
    extent.head_checksum = place.checksum(&[&bytes[8..extent.head_bytes()]]);
    bytes[4..8].copy_from_slice(&extent.head_checksum.to_le_bytes());
}

/// The same extent at another place; `bytes` are its own and have passed their checksums.
pub(crate) fn relocated(extent: Extent, segment: u32, offset: u32, store: u64, bytes: &mut [u8]) -> Extent {
    let mut moved = Extent { segment, offset, ..extent };
    seal(&mut moved, store, bytes);
    moved
}

#[inline]
fn at(entry: u64) -> usize {
    narrow(entry & u64::from(u32::MAX)) as usize
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "bounded by the size of a segment, or shifted down before"
)]
fn narrow(value: u64) -> u32 {
    value as u32
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
