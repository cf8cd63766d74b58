//! Delivers what is due, minute by minute.
//!
//! *Opening* a minute ends writing to its bucket and delivers what was planned for it ([`super::plan`]), what came
//! after the planning, and what is still in the write buffer.
//!
//! **Invariant:** a copy is delivered only if the record's slot names the bucket it was read for and no later copy
//! replaced it there. With strict timing it is not delivered before its own minute.

use super::Store;
use super::plan::{Item, ReadExtents, Rest, Source};
use crate::Minute;
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::record::{self, DueRecord};
use crate::work::ReadDone;
use base::disk::AlignedBytes;

/// Maximum bytes of records in one batch.
const BATCH_BYTES_MAX: usize = 1 << 20;
impl Store {
    /// Fills `batch` with records that are due by the minute given to [`Store::advance`], and returns whether there
    /// were any. Each is delivered once; after a crash it is due again unless it was written back by [`Store::update`]
    /// or deleted (D5).
    ///
    /// An extent that fails its checksum is reported once, as [`Error::Damaged`], and skipped; call again for the rest.
    pub fn next_due(&mut self, batch: &mut Batch) -> Result<bool> {
        self.check_running()?;
        batch.offsets.clear();
        self.reads.recycle(std::mem::take(&mut batch.bytes));
        loop {
            if self.hand_out_rest(batch) {
                return Ok(true);
            }
            if let Some(damage) = self.plan.damage.pop_front() {
                return Err(damage);
            }
            self.plan_overdue();
            while self.plan.queue.front().is_some_and(|item| item.minute <= self.position) {
                self.begin_reads();
                let item = self.plan.queue.pop_front().expect("checked above");
                self.plan.begun -= 1;
                let (slot, uid) = (item.slot, item.uid);
                self.hand_out(item, batch)?;
                if !batch.is_empty() {
                    if batch.record_bytes() <= self.batch_bytes_max() {
                        self.statistics.delivered += batch.len() as u64;
                    } else {
                        self.plan.rest = Some(Rest { slot, uid, records: std::mem::take(batch), next: 0 });
                        self.hand_out_rest(batch);
                    }
                    return Ok(true);
                }
                self.reads.recycle(std::mem::take(&mut batch.bytes));
                if let Some(damage) = self.plan.damage.pop_front() {
                    return Err(damage);
                }
            }
            if self.plan.is_overdue(self.position) {
                continue;
            }
            if self.position >= self.now {
                return Ok(false);
            }
            self.open_next_minute()?;
        }
    }
    /// A batch whose records are all written back fits one commit.
    fn batch_bytes_max(&self) -> usize {
        BATCH_BYTES_MAX.min(self.options.commit_bytes_max() / 4)
    }
    /// Delivers some of what was too much for one batch; `false` if there is nothing. Records written back or deleted
    /// meanwhile are left out.
    fn hand_out_rest(&mut self, batch: &mut Batch) -> bool {
        let bytes_max = self.batch_bytes_max();
        let Some(mut rest) = self.plan.rest.take() else { return false };
        let is_current = self.buckets.get(rest.slot).is_some_and(|bucket| bucket.uid == rest.uid);
        batch.bytes = self.reads.buffer_for(bytes_max);
        while is_current && rest.next < rest.records.len() && batch.bytes.len() < bytes_max / 2 {
            let copy = &rest.records.bytes[rest.records.offsets[rest.next] as usize..];
            rest.next += 1;
            if self.slots.get(record::number_of(copy)) == rest.slot {
                batch.offsets.push(narrow(batch.bytes.len()));
                batch.bytes.extend_from_slice(&copy[..record::bytes_of(copy)]);
            }
        }
        if is_current && rest.next < rest.records.len() {
            self.plan.rest = Some(rest);
        } else {
            self.reads.recycle(rest.records.bytes);
        }
        self.statistics.delivered += batch.len() as u64;
        if batch.is_empty() {
            self.reads.recycle(std::mem::take(&mut batch.bytes));
        }
        !batch.is_empty()
    }
    /// Goes to the next minute in which there is something to do.
    fn open_next_minute(&mut self) -> Result<()> {
        let planned = self.plan.queue.front().map(|item| item.minute);
        let agenda = self.plan.agenda.keys().next().copied();
        let closed = self.buckets.next_closed(self.position);
        let waiting = self.plan.waiting.keys().next().copied();
        let next = [planned, agenda, closed, waiting].into_iter().flatten().min().unwrap_or(self.now);
        let next = next.max(self.position + 1).min(self.now);
        // There is nothing before it.
        self.plan.planned = self.plan.planned.max(next - 1);
        if self.plan.planned < next {
            self.plan_next_minute();
        }
        self.position = next;
        if let Some(slot) = self.buckets.open_minute(self.position) {
            if self.buckets.at(slot).flushing > 0 {
                self.wait_for_all_flushes()?;
            }
            // The wait may have shown that nothing is left in it.
            if let Some(bucket) = self.buckets.get(slot).filter(|bucket| bucket.is_open) {
                let (uid, has_chain) = (bucket.uid, !bucket.chain.is_empty());
                self.plan_late(slot, uid);
                if has_chain {
                    let item = Item { minute: self.position, slot, uid, source: Source::Memory };
                    self.plan.queue.push_front(item);
                    self.plan.begun += 1;
                }
            }
        }
        while let Some(entry) = self.plan.waiting.first_entry().filter(|entry| *entry.key() <= self.position)
        {
            for item in entry.remove() {
                if let Source::Read(read) = &item.source {
                    self.plan.waiting_bytes -= read.done.buffer.len();
                }
                self.plan.queue.push_front(item);
                self.plan.begun += 1;
            }
        }
        self.begin_reads();
        Ok(())
    }
    fn hand_out(&mut self, item: Item, batch: &mut Batch) -> Result<()> {
        let Item { slot, uid, .. } = item;
        let is_current = self.buckets.get(slot).is_some_and(|bucket| bucket.uid == uid);
        let read = match item.source {
            Source::Memory if is_current => return self.hand_out_memory(slot, batch),
            Source::Disk { extents, ticket: Some(ticket) } => {
                let done = self.reads.wait(ticket);
                if is_current {
                    self.checked(&extents, done)
                } else {
                    ReadExtents { extents: Vec::new(), done }
                }
            }
            Source::Read(read) => read,
            Source::Memory | Source::Disk { .. } => return Ok(()),
        };
        if is_current && !read.extents.is_empty() {
            return self.hand_out_read(slot, uid, read, batch);
        }
        self.reads.give_back(read.done);
        Ok(())
    }
    /// What is whole of a read; damage is noted, to be reported.
    fn checked(&mut self, extents: &[Extent], mut done: ReadDone) -> ReadExtents {
        if let Err(error) = std::mem::replace(&mut done.result, Ok(())) {
            self.statistics.damaged_extents += extents.len() as u64;
            self.plan.damage.push_back(error);
            return ReadExtents { extents: Vec::new(), done };
        }
        let (mut whole, mut first) = (Vec::with_capacity(extents.len()), 0);
        for (place, extent) in extents.iter().enumerate() {
            match done.damaged.iter().find(|(damaged, _)| *damaged == place) {
                None => {
                    whole.push((*extent, first));
                    first += extent.records as usize;
                }
                Some((_, what)) => {
                    self.statistics.damaged_extents += 1;
                    let (path, offset) = (self.files.segment(extent.segment), extent.offset.into());
                    self.plan.damage.push_back(Error::Damaged { path, offset, what });
                }
            }
        }
        ReadExtents { extents: whole, done }
    }
    fn hand_out_memory(&mut self, slot: u32, batch: &mut Batch) -> Result<()> {
        if self.buckets.at(slot).flushing > 0 {
            // What is on its way to the disk is not spent: it will be read as extents.
            self.wait_for_all_flushes()?;
        }
        let Some(bucket) = self.buckets.get_mut(slot) else { return Ok(()) };
        bucket.is_chain_spent = true;
        let mut bytes = self.reads.buffer_for(bucket.chain.bytes());
        bucket.chain.pieces().for_each(|piece| bytes.extend_from_slice(piece));
        let copies =
            record::offsets(&bytes).map(|offset| (narrow(offset), record::number_of(&bytes[offset..])));
        self.sift(slot, &bytes, copies, u32::MAX, batch)?;
        batch.bytes = bytes;
        self.statistics.from_memory += batch.len() as u64;
        Ok(())
    }
    /// Delivers the extents of a read whose minute has come; the others wait.
    fn hand_out_read(&mut self, slot: u32, uid: u64, read: ReadExtents, batch: &mut Batch) -> Result<()> {
        let ReadExtents { extents, done } = read;
        let latest = if self.options.strict { self.position } else { u32::MAX };
        let (due, later): (Vec<_>, Vec<_>) =
            extents.into_iter().partition(|(extent, _)| extent.first_due <= latest);
        for (extent, first) in later {
            self.let_wait(slot, uid, &extent, first, &done);
        }
        for (extent, first) in due {
            // Moving the last record removes the bucket, and another may have its slot.
            if self.buckets.get(slot).is_none_or(|bucket| bucket.uid != uid) {
                break;
            }
            let start = usize::try_from(u64::from(extent.offset) - done.offset).expect("inside the read");
            let head = &done.buffer[start..];
            let offsets = done.offsets[first..first + extent.records as usize].iter().copied();
            self.sift(slot, &done.buffer, offsets.zip(extent.numbers(head)), Extent::last_due(head), batch)?;
        }
        batch.bytes = done.buffer;
        self.reads.spare_offsets.push(done.offsets);
        Ok(())
    }
    /// Copies an extent out of a read until its own minute, because the buffer is needed for other reads.
    fn let_wait(&mut self, slot: u32, uid: u64, extent: &Extent, first: usize, done: &ReadDone) {
        let start = usize::try_from(u64::from(extent.offset) - done.offset).expect("inside the read");
        let mut buffer = AlignedBytes::with_capacity(extent.bytes());
        buffer.extend_from_slice(&done.buffer[start..start + extent.bytes()]);
        let mut offsets = self.reads.spare_offsets.pop().unwrap_or_default();
        offsets.clear();
        let moved = done.offsets[first..first + extent.records as usize].iter();
        offsets.extend(moved.map(|offset| *offset - narrow(start)));
        let done = ReadDone { offset: extent.offset.into(), buffer, offsets, ..ReadDone::default() };
        let source = Source::Read(ReadExtents { extents: vec![(*extent, 0)], done });
        let minute = extent.first_due;
        self.plan.waiting_bytes += extent.bytes();
        self.plan.waiting.entry(minute).or_default().push(Item { minute, slot, uid, source });
    }
    /// Adds the records at some offsets to the batch if they belong to the bucket and are due, and moves those that are
    /// not due yet. None is due after `last_due`.
    fn sift(
        &mut self,
        slot: u32,
        bytes: &[u8],
        copies: impl Iterator<Item = (u32, u32)>,
        last_due: u32,
        batch: &mut Batch,
    ) -> Result<()> {
        let bucket = self.buckets.at(slot);
        let before = batch.offsets.len();
        // The numbers are checked first, so that many look-ups of slots overlap.
        batch
            .offsets
            .extend(copies.filter(|(_, number)| self.slots.get(*number) == slot).map(|(offset, _)| offset));
        if bucket.dead.is_some() {
            let mut place = 0;
            batch.offsets.retain(|offset| {
                place += 1;
                let copy = DueRecord::read(&bytes[*offset as usize..]);
                place <= before || !bucket.is_dead(copy.number.0, copy.sequence)
            });
        }
        if !self.options.strict || last_due <= self.position {
            return Ok(());
        }
        let mut early = Vec::new();
        let is_due = |offset: &u32| record::due_of(&bytes[*offset as usize..]) <= self.position;
        let mut place = 0;
        batch.offsets.retain(|offset| {
            place += 1;
            let stays = place <= before || is_due(offset);
            if !stays {
                early.push(*offset);
            }
            stays
        });
        for offset in early {
            self.move_on(&DueRecord::read(&bytes[offset as usize..]))?;
        }
        Ok(())
    }
    /// Moves a record that was read too early to the bucket for its distance.
    fn move_on(&mut self, record: &DueRecord<'_>) -> Result<()> {
        let bucket = self.options.resolution.bucket(Minute(self.position), record.due);
        let to = self.buckets.of_minute(bucket.0);
        self.statistics.moved += 1;
        self.move_record(record, to)
    }
}

fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).expect("a batch is small")
}
