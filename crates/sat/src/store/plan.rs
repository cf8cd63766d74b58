//! Plans what will be delivered and in which order, and starts its reads ahead of time.
//!
//! *Planning* a minute moves the extents whose first record is due then from their buckets to a queue; reads are
//! started from the front of the queue as memory allows.
//!
//! **Invariant:** the queue is in order of minutes. Planned extents stay in the list of spent extents of their bucket,
//! so that a checkpoint names them.

use super::Store;
use super::reads::READ_BYTES_MAX;
use crate::batch::Batch;
use crate::bucket::{Bucket, Kind};
use crate::error::Error;
use crate::extent::Extent;
use crate::work::{self, ReadDone, ReadJob};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// How far ahead of the present minute extents are planned.
const AHEAD_MINUTES_MAX: u32 = 64;
/// Extents this close together are read at once.
const GAP_BYTES_MAX: u32 = 8 << 10;
/// With strict timing, extents that follow another on the disk and are due soon after it are read with it, and wait in
/// memory. This bounds the wait of each: bytes times minutes.
const WAIT_BYTE_MINUTES_MAX: usize = 64 << 10;
/// Maximum bytes that are read together.
const TOGETHER_BYTES_MAX: usize = 128 << 10;

/// What will be delivered, in order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) queue: VecDeque<Item>,
    /// How many at the front of the queue need no read, or are being read.
    pub(super) begun: usize,
    /// Up to which minute extents were planned.
    pub(super) planned: u32,
    /// When open or planned buckets have more: minute → slots and uids.
    pub(super) agenda: BTreeMap<u32, Vec<(u32, u64)>>,
    /// What was read before it is due: minute → items.
    pub(super) waiting: BTreeMap<u32, Vec<Item>>,
    /// Bytes of what waits.
    pub(super) waiting_bytes: usize,
    /// Damage that was found and not reported yet.
    pub(super) damage: VecDeque<Error>,
    /// What was too much for one batch.
    pub(super) rest: Option<Rest>,
}

/// Records of one bucket, some of them delivered already.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) slot: u32,
    pub(super) uid: u64,
    pub(super) records: Batch,
    /// The place of the next one.
    pub(super) next: usize,
}

/// A part of one bucket, delivered in one minute.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) minute: u32,
    pub(super) slot: u32,
    pub(super) uid: u64,
    pub(super) source: Source,
}

/// Where it comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// The write buffer of the bucket.
    Memory,
    /// Extents that are read together, and the ticket of the read once it is started.
    Disk { extents: Vec<Extent>, ticket: Option<u64> },
    /// Extents that were read.
    Read(ReadExtents),
}

/// The extents of a read.
#[derive(Debug)]
pub(super) struct ReadExtents {
    /// Each with the place of its first record among the offsets; those that were handed out or are damaged are gone.
    pub(super) extents: Vec<(Extent, usize)>,
    pub(super) done: ReadDone,
}

impl Plan {
    pub(super) fn new(position: u32) -> Self {
        Self { planned: position, ..Self::default() }
    }
    /// The segments of extents that are planned and not handed out yet.
    pub(super) fn segments(&self) -> impl Iterator<Item = u32> + '_ {
        self.queue.iter().flat_map(|item| match &item.source {
            Source::Disk { extents, .. } => extents.iter().map(|extent| extent.segment).collect(),
            Source::Memory | Source::Read(_) => Vec::new(),
        })
    }
    /// Schedules `slot` again in the present minute.
    pub(super) fn note_overdue(&mut self, position: u32, slot: u32, uid: u64) {
        self.agenda.entry(position).or_default().push((slot, uid));
    }
    pub(super) fn is_overdue(&self, position: u32) -> bool {
        self.agenda.first_key_value().is_some_and(|(minute, _)| *minute <= position)
    }
    /// The buckets with something planned and not delivered yet.
    pub(super) fn uids(&self) -> HashSet<u64> {
        let items = self.queue.iter().chain(self.waiting.values().flatten());
        items.map(|item| item.uid).chain(self.rest.as_ref().map(|rest| rest.uid)).collect()
    }
}

impl Store {
    /// Plans what a flush added to a bucket after its minute was planned.
    pub(super) fn plan_overdue(&mut self) {
        while let Some(entry) = self.plan.agenda.first_entry().filter(|entry| *entry.key() <= self.position) {
            for (slot, uid) in entry.remove() {
                if self.buckets.get(slot).is_some_and(|bucket| bucket.uid == uid) {
                    self.plan_late(slot, uid);
                }
            }
        }
    }
    /// Plans what open buckets hold, after a store was opened: it is due again (D5).
    pub(super) fn plan_again(&mut self) {
        self.plan = Plan::new(self.position);
        let is_due_again = |bucket: &Bucket| bucket.is_open && bucket.kind != Kind::Pending;
        let open: Vec<(u32, u64, bool)> = self
            .buckets
            .iter()
            .filter(|(_, bucket)| is_due_again(bucket))
            .map(|(slot, bucket)| (slot, bucket.uid, !bucket.chain.is_empty()))
            .collect();
        for (slot, uid, has_chain) in open {
            if has_chain {
                self.plan.queue.push_back(Item { minute: self.position, slot, uid, source: Source::Memory });
            }
            let items = self.due_items(self.position, slot, uid);
            self.plan.queue.extend(items);
        }
    }
    /// Plans what came to a bucket after it was planned.
    pub(super) fn plan_late(&mut self, slot: u32, uid: u64) {
        let items = self.due_items(self.position, slot, uid);
        for mut item in items.into_iter().rev() {
            self.begin_read(&mut item);
            self.plan.queue.push_front(item);
            self.plan.begun += 1;
        }
    }
    pub(super) fn plan_next_minute(&mut self) {
        self.plan.planned += 1;
        let minute = self.plan.planned;
        // Entries of minutes that were planned before are left to the opening of those minutes.
        let mut slots = self.plan.agenda.remove(&minute).unwrap_or_default();
        slots.extend(self.buckets.closed(minute).map(|slot| (slot, self.buckets.at(slot).uid)));
        for (slot, uid) in slots {
            if self.buckets.get(slot).is_some_and(|bucket| bucket.uid == uid) {
                let items = self.due_items(minute, slot, uid);
                self.plan.queue.extend(items);
            }
        }
    }
    /// Takes the extents of a bucket that are due at `minute`, grouped into reads. Those due before are taken too when
    /// the minute has come, but not when it is only planned, because their own minute is still to come.
    fn due_items(&mut self, minute: u32, slot: u32, uid: u64) -> Vec<Item> {
        let from = if minute <= self.position { 0 } else { minute };
        let bucket = self.buckets.at_mut(slot);
        let mut extents = bucket.take_due(from, minute, self.options.strict);
        // What waits is bounded like what is read ahead.
        if self.options.strict && self.plan.waiting_bytes < self.options.read_bytes {
            extents.extend(bucket.take_following(
                &extents,
                minute,
                WAIT_BYTE_MINUTES_MAX,
                TOGETHER_BYTES_MAX,
            ));
        }
        if let Some(next) = bucket.next_due(minute) {
            self.plan.agenda.entry(next).or_default().push((slot, uid));
        }
        extents.sort_unstable_by_key(|extent| (extent.segment, extent.offset));
        let groups = extents.chunk_by({
            let mut begin = None;
            move |one: &Extent, next: &Extent| {
                let first = *begin.get_or_insert(one.offset);
                let end = one.offset + u32::try_from(one.bytes()).unwrap_or(u32::MAX);
                let joins = one.segment == next.segment
                    && next.offset - end <= GAP_BYTES_MAX
                    && (next.offset - first) as usize + next.bytes() <= READ_BYTES_MAX;
                if !joins {
                    begin = None;
                }
                joins
            }
        });
        let source = |group: &[Extent]| Source::Disk { extents: group.to_vec(), ticket: None };
        groups.map(|group| Item { minute, slot, uid, source: source(group) }).collect()
    }
    /// Begins reads from the front of the queue, and plans further, as far as memory allows.
    pub(super) fn begin_reads(&mut self) {
        while self.reads.has_buffer() {
            if self.plan.begun < self.plan.queue.len() {
                let place = self.plan.begun;
                let mut item = std::mem::replace(&mut self.plan.queue[place], Item::placeholder());
                self.begin_read(&mut item);
                self.plan.queue[place] = item;
                self.plan.begun += 1;
            } else if self.plan.planned < self.position.saturating_add(AHEAD_MINUTES_MAX) {
                self.plan_next_minute();
            } else {
                break;
            }
        }
        // What is next is read in any case.
        if self.plan.begun == 0
            && let Some(mut item) = self.plan.queue.pop_front()
        {
            self.begin_read(&mut item);
            self.plan.queue.push_front(item);
            self.plan.begun = 1;
        }
    }
    fn begin_read(&mut self, item: &mut Item) {
        let Source::Disk { extents, ticket } = &mut item.source else { return };
        // A removed bucket has freed its extents.
        if ticket.is_some() || self.buckets.get(item.slot).is_none_or(|bucket| bucket.uid != item.uid) {
            return;
        }
        let (Some(first), Some(last)) = (extents.first(), extents.last()) else { return };
        let (offset, length) = work::covering(first, last);
        self.reads.next_ticket += 1;
        self.statistics.reads += 1;
        self.statistics.data_bytes_read += length as u64;
        *ticket = Some(self.reads.next_ticket);
        let (buffer, offsets) = (self.reads.buffer(), self.reads.spare_offsets.pop().unwrap_or_default());
        self.reads.worker.submit(ReadJob {
            ticket: self.reads.next_ticket,
            file: self.segments.file(first.segment).clone(),
            path: self.files.segment(first.segment),
            store: self.store,
            offset,
            length,
            extents: extents.clone(),
            buffer,
            offsets,
        });
    }
}

impl Item {
    fn placeholder() -> Self {
        Self { minute: 0, slot: 0, uid: 0, source: Source::Memory }
    }
}
