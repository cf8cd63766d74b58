//! Frees space while the store is in use, by copying live records away from dead ones.
//!
//! Three things keep dead bytes: records that were updated or deleted out of turn, records that were delivered and are
//! written back late, and data files of which only a little is needed. Each is handled before a checkpoint, which then
//! frees the space.

use super::Store;
use crate::bucket::{Bucket, Kind};
use crate::error::{Error, Result, Trying};
use crate::extent::{self, Extent};
use crate::record::DueRecord;
use crate::{pool, slots};
use base::disk::{AlignedBytes, BLOCK_BYTES};
use std::collections::HashSet;

/// A bucket is rewritten when more than one in this many of its copies is dead (or, once it was handed out, when
/// fewer than one in this many is alive).
const DEAD_SHARE: u64 = 4;
/// Fewer dead copies than this are ignored.
const DEAD_MIN: u64 = 64;
/// Data files cleaned before one checkpoint.
const CLEANED_SEGMENTS_MAX: usize = 2;
/// Bytes of extents written at once while cleaning.
const RUN_BYTES: usize = 1 << 20;

impl Store {
    pub(super) fn give_space_back(&mut self) -> Result<()> {
        let planned = self.plan.uids();
        let chosen: Vec<u32> = self
            .buckets
            .iter()
            .filter(|(_, bucket)| !planned.contains(&bucket.uid) && is_wasteful(bucket))
            .map(|(slot, _)| slot)
            .collect();
        for slot in chosen {
            self.rewrite(slot)?;
        }
        for _ in 0..CLEANED_SEGMENTS_MAX {
            let in_use: HashSet<u32> = self.plan.segments().collect();
            match self.segments.emptiest().filter(|segment| !in_use.contains(segment)) {
                Some(segment) => self.clean(segment)?,
                None => break,
            }
        }
        Ok(())
    }
    /// Moves what is alive in a bucket to a new one.
    fn rewrite(&mut self, slot: u32) -> Result<()> {
        self.wait_for_all_flushes()?;
        let Some(bucket) = self.buckets.get(slot) else { return Ok(()) };
        let extents: Vec<Extent> = bucket.all_extents().copied().collect();
        // A damaged bucket stays as it is, and the damage is reported when it is due.
        if extents.iter().any(|extent| self.read_extent(extent).is_err()) {
            return Ok(());
        }
        let chain = pool::gathered(&bucket.chain);
        let (start, uid) = (bucket.start, bucket.uid);
        let to = if bucket.is_open {
            self.held_bucket(slot)
        } else {
            let to = self.buckets.add(Kind::Due, start);
            self.buckets.set_closed(start, to);
            to
        };
        for extent in &extents {
            let read = self.read_extent(extent);
            // It was whole before: a half-moved bucket cannot be used, so the store stops.
            self.is_stopped |= read.is_err();
            self.rewrite_some(slot, uid, to, &read?[extent.body(0)])?;
        }
        self.rewrite_some(slot, uid, to, &chain)?;
        if self.buckets.at(to).live == 0 {
            self.drop_if_empty(to);
        }
        Ok(())
    }
    fn rewrite_some(&mut self, slot: u32, uid: u64, to: u32, bytes: &[u8]) -> Result<()> {
        for offset in crate::record::offsets(bytes) {
            let record = DueRecord::read(&bytes[offset..]);
            let Some(bucket) = self.buckets.get(slot).filter(|bucket| bucket.uid == uid) else {
                return Ok(());
            };
            if self.slots.get(record.number.0) == slot && !bucket.is_dead(record.number.0, record.sequence) {
                self.statistics.compacted += 1;
                self.move_record(&record, to)?;
            }
        }
        Ok(())
    }
    /// The bucket for delivered records; a new one if `slot` is that itself.
    fn held_bucket(&mut self, slot: u32) -> u32 {
        if self.held == slots::NONE || self.held == slot {
            self.held = self.buckets.add(Kind::Held, 0);
            self.buckets.at_mut(self.held).is_chain_spent = true;
        }
        self.held
    }
    /// Copies the extents of a data file that are needed to another one.
    fn clean(&mut self, segment: u32) -> Result<()> {
        let mut moved: Vec<(u32, Extent)> = Vec::new();
        for (slot, bucket) in self.buckets.iter() {
            let inside = bucket.all_extents().filter(|extent| extent.segment == segment);
            moved.extend(inside.map(|extent| (slot, *extent)));
        }
        moved.sort_unstable_by_key(|(_, extent)| extent.offset);
        let mut rest = moved.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let count = rest.iter().take_while(|(_, extent)| {
                bytes += extent.bytes();
                bytes <= RUN_BYTES
            });
            let (now, later) = rest.split_at(count.count().max(1));
            self.relocate(now)?;
            rest = later;
        }
        Ok(())
    }
    fn relocate(&mut self, extents: &[(u32, Extent)]) -> Result<()> {
        let total = extents.iter().map(|(_, extent)| extent.bytes()).sum();
        let start = extents.iter().map(|(slot, _)| self.buckets.at(*slot).start).max().unwrap_or(0);
        let class = self.options.resolution.class(start.saturating_sub(self.position).max(1));
        let room = self.segments.allocate(class, total);
        let (segment, offset, file) = self.stop_on_error(room)?;
        let mut run = AlignedBytes::with_capacity(total + BLOCK_BYTES);
        let mut written = Vec::new();
        for (slot, old) in extents {
            let mut bytes = match self.read_extent(old) {
                Ok(bytes) => bytes,
                Err(Error::Damaged { .. }) => continue,
                Err(error) => return Err(error),
            };
            let at = offset + u32::try_from(run.len()).expect("a run is small");
            written.push((*slot, *old, extent::relocated(*old, segment, at, self.store, &mut bytes)));
            run.extend_from_slice(&bytes);
        }
        run.pad_to(BLOCK_BYTES);
        let result = file.write_at(offset.into(), &run).trying("write to", &self.files.segment(segment));
        self.stop_on_error(result)?;
        self.statistics.data_bytes_written += run.len() as u64;
        self.segments.note_written(segment, written.iter().map(|(_, _, new)| new));
        for (slot, old, new) in written {
            let place = self.buckets.at_mut(slot).all_extents_mut().find(|extent| **extent == old);
            *place.expect("it was found there") = new;
            self.segments.retire(&old);
        }
        Ok(())
    }
}

/// Whether a bucket holds enough dead bytes to be worth rewriting.
fn is_wasteful(bucket: &Bucket) -> bool {
    let dead = bucket.copies.saturating_sub(bucket.live);
    match bucket.kind {
        Kind::Pending => false,
        _ if dead < DEAD_MIN => false,
        Kind::Due if !bucket.is_open => bucket.spent.is_empty() && dead * DEAD_SHARE > bucket.copies,
        // Only if it was delivered completely: the rest of an open bucket will be read in its time.
        _ => {
            bucket.extents.is_empty() && !bucket.spent.is_empty() && bucket.live * DEAD_SHARE < bucket.copies
        }
    }
}
