//! What a system has to do.

use std::ops::Range;

use anyhow::{Context, Result};
use workload::{KEY_BYTES, Offers, VALUE_BYTES, Workload};

/// Bytes of a stored record: its key and its value.
pub(crate) const RECORD_BYTES: usize = KEY_BYTES + VALUE_BYTES;

/// A record as it is stored.
pub(crate) type Record = [u8; RECORD_BYTES];

/// When a record is due, and its number: as eight bytes, the more significant first, the key in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) u64);

impl Place {
    /// The place of record `number`, due at `due`.
    pub(crate) fn new(due: u32, number: u32) -> Self {
        Self(u64::from(due) << 32 | u64::from(number))
    }

    /// When the record is due.
    pub(crate) fn due(self) -> u32 {
        u32::try_from(self.0 >> 32).expect("32 bits are left")
    }

    /// The number of the record.
    pub(crate) fn number(self) -> u32 {
        u32::try_from(self.0 & u64::from(u32::MAX)).expect("32 bits are left")
    }

    /// The first place after this one.
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// As stored.
    pub(crate) fn bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// From what is stored.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bytes = bytes.try_into().context("a key of the store has not eight bytes")?;
        Ok(Self(u64::from_be_bytes(bytes)))
    }
}

/// One atomic change.
pub(crate) struct Change<'a> {
    /// All that is stored here goes.
    pub(crate) gone: Range<Place>,
    /// The same, one by one and in order, for systems that cannot delete a range.
    pub(crate) gone_one_by_one: &'a [Place],
    /// What is added, in order. It is all beyond what goes.
    pub(crate) put: &'a [(Place, Record)],
}

/// Records in the order of their places.
pub(crate) trait Store {
    /// Adds records to an empty store, each beyond all before, and makes them durable.
    fn load(&mut self, workload: &Workload) -> Result<()>;

    /// Appends the records in `range` to `into`, in order, at most `count_max`.
    fn read(&mut self, range: Range<Place>, count_max: usize, into: &mut Vec<(Place, Record)>) -> Result<()>;

    /// Makes `change` and syncs it.
    fn commit(&mut self, change: &Change<'_>) -> Result<()>;

    /// Does all work that was put off.
    fn finish(&mut self) -> Result<()>;
}

/// A key that is offered, and the number it gets if it is new.
pub(crate) type Offer = ([u8; Offers::KEY_BYTES], u32);

/// A set of known keys.
pub(crate) trait Register {
    /// Adds the keys that are not known, synced, and appends to `new` whether each was new.
    ///
    /// `offers` is in order of keys and holds each once.
    fn offer(&mut self, offers: &[Offer], new: &mut Vec<bool>) -> Result<()>;

    /// Does all work that was put off.
    fn finish(&mut self) -> Result<()>;
}

/// The steady state at time 0, in order.
pub(crate) fn steady_state(workload: &Workload) -> impl Iterator<Item = (Place, Record)> {
    let order = workload.in_due_order();
    order.into_iter().map(|(due, number)| (Place::new(due, number), record(workload, number)))
}

/// The steady state in two parts, each in order, for B-trees.
///
/// Records that come in order fill a B-tree's pages to the brim, and then nearly every insertion splits one: no B-tree
/// looks like that after years of work. With a quarter of the records added later its pages are two thirds full.
pub(crate) fn steady_state_in_parts(workload: &Workload) -> impl Iterator<Item = (Place, Record)> {
    let order = workload.in_due_order();
    let late = |number: u32| number.is_multiple_of(4);
    let first = order.clone().into_iter().filter(move |&(_, number)| !late(number));
    let second = order.into_iter().filter(move |&(_, number)| late(number));
    first.chain(second).map(|(due, number)| (Place::new(due, number), record(workload, number)))
}

/// The interval that a record carries in the first bytes of its value.
pub(crate) fn interval(record: &Record) -> u32 {
    let bytes = std::array::from_fn(|place| record[KEY_BYTES + place]);
    u32::from_le_bytes(bytes)
}

/// A record from what is stored.
pub(crate) fn stored(bytes: &[u8]) -> Result<Record> {
    bytes.try_into().context("a value of the store has not the length of a record")
}

fn record(workload: &Workload, number: u32) -> Record {
    let mut record = [0; RECORD_BYTES];
    record[..KEY_BYTES].copy_from_slice(&workload.key(number));
    record[KEY_BYTES..].copy_from_slice(&workload.value(number));
    record
}
