//! Buckets: the records that become due together, in a write buffer and in extents.
//!
//! **Invariant:** `live` is the number of records whose slot is this bucket. A bucket without any is removed, and its
//! extents are retired.

use crate::extent::Extent;
use crate::pool::Chain;
use crate::slots::SLOT_MAX;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Maximum time before its minute at which an extent is read.
const TOGETHER_MINUTES_MAX: u32 = 12;

/// What a bucket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its records become due from its minute on.
    Due,
    /// Its records were delivered and not written back yet (D5).
    Held,
    /// Its records were offered and not judged yet.
    Pending,
}

/// A copy of record `number` with a sequence below the one noted here is dead.
pub(crate) type Dead = HashMap<u32, u64>;

#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) kind: Kind,
    /// The minute at which it is opened; 0 if it has none.
    pub(crate) start: u32,
    /// Distinguishes it from another bucket that gets the same slot later.
    pub(crate) uid: u64,
    /// Its minute has come: nothing is written to it any more.
    pub(crate) is_open: bool,
    pub(crate) chain: Chain,
    /// The position in the list of buckets with a chain.
    pub(crate) chain_place: Option<usize>,
    /// Whether the chain of an open bucket was delivered.
    pub(crate) is_chain_spent: bool,
    /// Extents not read yet.
    pub(crate) extents: Vec<Extent>,
    /// Whether the extent that is due first is the last element.
    pub(crate) is_ordered: bool,
    /// Extents that were read for delivery. They stay until every record in them is written elsewhere.
    pub(crate) spent: Vec<Extent>,
    pub(crate) live: u64,
    /// Records in the chain and in extents, including dead ones.
    pub(crate) copies: u64,
    /// Jobs that write records of this bucket right now.
    pub(crate) flushing: u32,
    pub(crate) dead: Option<Box<Dead>>,
}

impl Bucket {
    fn new(kind: Kind, start: u32, uid: u64) -> Self {
        Self {
            kind,
            start,
            uid,
            is_open: kind == Kind::Held,
            chain: Chain::default(),
            chain_place: None,
            is_chain_spent: false,
            extents: Vec::new(),
            is_ordered: true,
            spent: Vec::new(),
            live: 0,
            copies: 0,
            flushing: 0,
            dead: None,
        }
    }
    /// Whether another copy of a record that leaves it may come to it later.
    pub(crate) fn may_get_more(&self) -> bool {
        !self.is_open || self.kind == Kind::Held
    }
    /// Whether a copy of `number` with `sequence` was replaced by a later one in this same bucket.
    pub(crate) fn is_dead(&self, number: u32, sequence: u64) -> bool {
        self.dead.as_ref().is_some_and(|dead| dead.get(&number).is_some_and(|after| sequence < *after))
    }
    /// All its extents.
    pub(crate) fn all_extents(&self) -> impl Iterator<Item = &Extent> {
        self.extents.iter().chain(&self.spent)
    }
    /// All its extents, to be changed.
    pub(crate) fn all_extents_mut(&mut self) -> impl Iterator<Item = &mut Extent> {
        self.extents.iter_mut().chain(&mut self.spent)
    }
    /// Takes the extents whose first record is due from minute `from` to `to`; without strict timing all of them.
    pub(crate) fn take_due(&mut self, from: u32, to: u32, strict: bool) -> Vec<Extent> {
        if !self.is_ordered {
            let order = |extent: &Extent| Reverse((extent.first_due, extent.segment, extent.offset));
            self.extents.sort_unstable_by_key(order);
            self.is_ordered = true;
        }
        let later = self.extents.partition_point(|extent| strict && extent.first_due > to);
        let earlier = self.extents.partition_point(|extent| !strict || extent.first_due >= from);
        let taken: Vec<Extent> = self.extents.drain(later..earlier).collect();
        self.spent.extend(&taken);
        taken
    }
    /// Takes extents that directly follow one of `taken` on the disk, or each other, until `bytes_max` are read
    /// together. Each must be due so soon after `minute` that it waits for at most `byte_minutes_max`. The extents must
    /// be in order.
    pub(crate) fn take_following(
        &mut self,
        taken: &[Extent],
        minute: u32,
        byte_minutes_max: usize,
        bytes_max: usize,
    ) -> Vec<Extent> {
        let to = minute.saturating_add(TOGETHER_MINUTES_MAX);
        let first = self.extents.partition_point(|extent| extent.first_due > to);
        if taken.is_empty() || first == self.extents.len() {
            return Vec::new();
        }
        let waits = |extent: &Extent| extent.first_due.saturating_sub(minute) as usize * extent.bytes();
        let near = self.extents[first..].iter().enumerate();
        let mut by_place: HashMap<(u32, u32), usize> =
            near.map(|(place, extent)| ((extent.segment, extent.offset), first + place)).collect();
        let mut following = Vec::new();
        for begin in taken {
            let (mut last, mut bytes) = (*begin, begin.bytes());
            while let Some(place) = by_place.get(&(last.segment, last.end())) {
                let next = self.extents[*place];
                bytes += next.bytes();
                if bytes > bytes_max || next.first_due <= minute || waits(&next) > byte_minutes_max {
                    break;
                }
                by_place.remove(&(next.segment, next.offset));
                following.push(next);
                last = next;
            }
        }
        if !following.is_empty() {
            let mut place = 0;
            self.extents.retain(|extent| {
                place += 1;
                place <= first || by_place.contains_key(&(extent.segment, extent.offset))
            });
            self.spent.extend(&following);
        }
        following
    }
    /// When the first of the remaining extents that are due after `minute` is due. The extents must be in order.
    pub(crate) fn next_due(&self, minute: u32) -> Option<u32> {
        let later = self.extents.partition_point(|extent| extent.first_due > minute);
        later.checked_sub(1).map(|next| self.extents[next].first_due)
    }
}

/// All buckets, by slot and by minute.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    /// Slot 0 is never used.
    slab: Vec<Option<Box<Bucket>>>,
    free: Vec<u32>,
    /// Those whose minute has not come, by minute.
    closed: BTreeMap<u32, u32>,
    /// A cache of recent minutes and their slots: a look-up costs a large part of an update.
    recent: Vec<(u32, u32)>,
    /// Slots of buckets with something in their chain.
    chained: Vec<u32>,
    next_uid: u64,
}

/// How many minutes are remembered.
const RECENT: usize = 1 << 10;

impl Buckets {
    pub(crate) fn new() -> Self {
        Self { slab: vec![None], recent: vec![(0, 0); RECENT], ..Self::default() }
    }
    pub(crate) fn get(&self, slot: u32) -> Option<&Bucket> {
        self.slab.get(slot as usize)?.as_deref()
    }
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Bucket> {
        self.slab.get_mut(slot as usize)?.as_deref_mut()
    }
    /// The bucket at a slot that is in use.
    pub(crate) fn at(&self, slot: u32) -> &Bucket {
        self.get(slot).expect("a slot in use has a bucket")
    }
    /// The bucket at a slot that is in use.
    #[inline]
    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut Bucket {
        self.get_mut(slot).expect("a slot in use has a bucket")
    }
    /// Makes a bucket and gives it a slot.
    pub(crate) fn add(&mut self, kind: Kind, start: u32) -> u32 {
        self.next_uid += 1;
        let bucket = Some(Box::new(Bucket::new(kind, start, self.next_uid)));
        match self.free.pop() {
            Some(slot) => {
                self.slab[slot as usize] = bucket;
                slot
            }
            None => {
                self.slab.push(bucket);
                let slot = u32::try_from(self.slab.len() - 1).ok().filter(|slot| *slot <= SLOT_MAX);
                slot.expect("fewer than 2²⁴ buckets")
            }
        }
    }
    /// Puts a bucket at a given slot, as a checkpoint names it.
    pub(crate) fn add_at(&mut self, slot: u32, kind: Kind, start: u32) -> Option<&mut Bucket> {
        let place = slot as usize;
        if place == 0 || slot > SLOT_MAX {
            return None;
        }
        if self.slab.len() <= place {
            self.slab.resize_with(place + 1, || None);
        }
        if self.slab[place].is_some() {
            return None;
        }
        self.next_uid += 1;
        self.slab[place] = Some(Box::new(Bucket::new(kind, start, self.next_uid)));
        self.slab[place].as_deref_mut()
    }
    /// Recounts the free slots, after [`Buckets::add_at`].
    pub(crate) fn find_free(&mut self) {
        self.free = (1..self.slab.len())
            .rev()
            .filter(|place| self.slab[*place].is_none())
            .filter_map(|place| u32::try_from(place).ok())
            .collect();
    }
    pub(crate) fn remove(&mut self, slot: u32) -> Box<Bucket> {
        self.note_chain_empty(slot);
        let bucket = self.slab[slot as usize].take().expect("a slot in use has a bucket");
        if self.closed.get(&bucket.start) == Some(&slot) {
            self.closed.remove(&bucket.start);
            self.forget(bucket.start);
        }
        self.free.push(slot);
        bucket
    }
    /// The closed bucket of `minute`, made if there is none.
    #[inline]
    pub(crate) fn of_minute(&mut self, minute: u32) -> u32 {
        let place = minute as usize % RECENT;
        if self.recent[place].0 == minute && self.recent[place].1 != 0 {
            return self.recent[place].1;
        }
        let slot = match self.closed.get(&minute) {
            Some(slot) => *slot,
            None => {
                let slot = self.add(Kind::Due, minute);
                self.closed.insert(minute, slot);
                slot
            }
        };
        self.recent[place] = (minute, slot);
        slot
    }
    fn forget(&mut self, minute: u32) {
        let recent = &mut self.recent[minute as usize % RECENT];
        if recent.0 == minute {
            *recent = (0, 0);
        }
    }
    /// The closed bucket of `minute`, if there is one.
    pub(crate) fn closed(&self, minute: u32) -> Option<u32> {
        self.closed.get(&minute).copied()
    }
    /// Notes that `slot` is the closed bucket of `minute` from now on.
    pub(crate) fn set_closed(&mut self, minute: u32, slot: u32) {
        self.closed.insert(minute, slot);
        self.forget(minute);
    }
    /// Opens the bucket of `minute`: nothing more is written to it.
    pub(crate) fn open_minute(&mut self, minute: u32) -> Option<u32> {
        let slot = self.closed.remove(&minute)?;
        self.forget(minute);
        self.at_mut(slot).is_open = true;
        Some(slot)
    }
    /// The first minute after `minute` that has a closed bucket.
    pub(crate) fn next_closed(&self, minute: u32) -> Option<u32> {
        self.closed.range(minute + 1..).next().map(|(minute, _)| *minute)
    }
    pub(crate) fn note_chain(&mut self, slot: u32) {
        let place = self.chained.len();
        let bucket = self.at_mut(slot);
        if bucket.chain_place.is_none() {
            bucket.chain_place = Some(place);
            self.chained.push(slot);
        }
    }
    /// Removes and returns the chain of a bucket.
    pub(crate) fn take_chain(&mut self, slot: u32) -> Chain {
        self.note_chain_empty(slot);
        std::mem::take(&mut self.at_mut(slot).chain)
    }
    fn note_chain_empty(&mut self, slot: u32) {
        let Some(place) = self.at_mut(slot).chain_place.take() else { return };
        self.chained.swap_remove(place);
        if let Some(moved) = self.chained.get(place).copied() {
            self.at_mut(moved).chain_place = Some(place);
        }
    }
    /// Slots of buckets with something in their chain.
    pub(crate) fn chained(&self) -> &[u32] {
        &self.chained
    }
    /// All buckets with their slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Bucket)> {
        let slots = 0..u32::try_from(self.slab.len()).unwrap_or(u32::MAX);
        slots.zip(&self.slab).filter_map(|(slot, bucket)| Some((slot, bucket.as_deref()?)))
    }
}
