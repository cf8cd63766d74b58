//! Finding records out of turn: by key, by number, all of them (S4).

use super::Store;
use crate::error::{Error, Result, Trying};
use crate::extent::Extent;
use crate::record::{self, DueRecord};
use crate::{Minute, Number, index, pool, slots, work};
use base::disk::{AlignedBytes, BLOCK_BYTES};

/// A record that was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedRecord {
    /// Its dense number.
    pub number: Number,
    /// When it is due.
    pub due: Minute,
    /// Its key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
}

/// A bucket of the store: records that are due at about the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketSlot(u32);

impl From<DueRecord<'_>> for OwnedRecord {
    fn from(record: DueRecord<'_>) -> Self {
        Self {
            number: record.number,
            due: record.due,
            key: record.key.to_vec(),
            value: record.value.to_vec(),
        }
    }
}

impl Store {
    /// The number of a key. Offers that were not settled yet are not found.
    pub fn find(&self, key: &[u8]) -> Result<Option<Number>> {
        let found = self.index.find(index::fingerprint(&self.secret, key))?;
        Ok(found.filter(|number| self.slots.get(*number) != slots::NONE).map(Number))
    }
    /// The record with a key, as it was last written.
    pub fn get(&mut self, key: &[u8]) -> Result<Option<OwnedRecord>> {
        let Some(number) = self.find(key)? else { return Ok(None) };
        Ok(self.get_number(number)?.filter(|record| record.key == key))
    }
    /// The record with a number, as it was last written.
    ///
    /// The bucket of a number is known, the position in it is not: the numbers in every extent of the bucket are read,
    /// a few bytes per record, and then one extent.
    pub fn get_number(&mut self, number: Number) -> Result<Option<OwnedRecord>> {
        self.check_running()?;
        self.wait_for_all_flushes()?;
        let slot = self.slots.get(number.0);
        let Some(bucket) = self.buckets.get(slot) else { return Ok(None) };
        let chain = pool::gathered(&bucket.chain);
        if let Some(record) = self.newest(slot, number, &chain) {
            return Ok(Some(record.into()));
        }
        let extents: Vec<Extent> = self.buckets.at(slot).all_extents().copied().collect();
        for extent in extents {
            let head = self.read_head(&extent)?;
            if extent.numbers(&head).any(|found| found == number.0) {
                let bytes = self.read_extent(&extent)?;
                if let Some(record) = self.newest(slot, number, &bytes[extent.body(0)]) {
                    return Ok(Some(record.into()));
                }
            }
        }
        Ok(None)
    }
    /// Calls `visit` with every record, bucket by bucket, and stops at its first error.
    pub fn for_each<E: From<Error>>(
        &mut self,
        mut visit: impl FnMut(DueRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_running()?;
        self.wait_for_all_flushes()?;
        let slots: Vec<u32> = self.buckets.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            self.for_each_in(slot, &mut |record| visit(record))?;
        }
        Ok(())
    }
    /// Calls `visit` with the records of the next minute: including those that were overdue when written.
    pub fn for_each_of_next_minute<E: From<Error>>(
        &mut self,
        mut visit: impl FnMut(DueRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_running()?;
        self.wait_for_all_flushes()?;
        match self.buckets.closed(self.position + 1) {
            Some(slot) => self.for_each_in(slot, &mut |record| visit(record)),
            None => Ok(()),
        }
    }
    /// The buckets that there are now. With [`Store::for_each_in_bucket`] all records can be visited in parts, with
    /// writes in between; a written record may be met again in another bucket.
    #[must_use]
    pub fn buckets(&self) -> Vec<BucketSlot> {
        self.buckets.iter().map(|(slot, _)| BucketSlot(slot)).collect()
    }
    /// Calls `visit` with every record of one bucket, if it is still there.
    pub fn for_each_in_bucket<E: From<Error>>(
        &mut self,
        bucket: BucketSlot,
        mut visit: impl FnMut(DueRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_running()?;
        self.wait_for_all_flushes()?;
        match self.buckets.get(bucket.0) {
            Some(_) => self.for_each_in(bucket.0, &mut |record| visit(record)),
            None => Ok(()),
        }
    }
    /// Calls `visit` with every record of one bucket.
    pub(super) fn for_each_in<E: From<Error>>(
        &self,
        slot: u32,
        visit: &mut impl FnMut(DueRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let bucket = self.buckets.at(slot);
        for extent in bucket.all_extents() {
            let bytes = self.read_extent(extent)?;
            self.valid(slot, &bytes[extent.body(0)]).try_for_each(&mut *visit)?;
        }
        self.valid(slot, &pool::gathered(&bucket.chain)).try_for_each(visit)
    }
    /// Reads every byte that the store refers to and compares the checksums. What is damaged; empty if nothing is.
    pub fn verify(&mut self) -> Result<Vec<Error>> {
        self.check_running()?;
        self.wait_for_all_flushes()?;
        let mut damage = Vec::new();
        for (_, bucket) in self.buckets.iter() {
            for extent in bucket.all_extents() {
                damage.extend(self.read_extent(extent).err());
            }
        }
        damage.extend(self.index.verify());
        Ok(damage)
    }
    /// The records in `bytes` that are the bucket's and were not replaced in it.
    fn valid<'a>(&'a self, slot: u32, bytes: &'a [u8]) -> impl Iterator<Item = DueRecord<'a>> {
        let bucket = self.buckets.at(slot);
        record::offsets(bytes).map(|offset| DueRecord::read(&bytes[offset..])).filter(move |record| {
            self.slots.get(record.number.0) == slot
                && bucket.kind != crate::bucket::Kind::Pending
                && !bucket.is_dead(record.number.0, record.sequence)
        })
    }
    fn newest<'a>(&'a self, slot: u32, number: Number, bytes: &'a [u8]) -> Option<DueRecord<'a>> {
        self.valid(slot, bytes).filter(|record| record.number == number).max_by_key(|record| record.sequence)
    }
    /// Reads an extent and checks it; it begins at byte 0.
    pub(super) fn read_extent(&self, extent: &Extent) -> Result<AlignedBytes> {
        let bytes = self.read_part(extent, extent.bytes())?;
        self.judged(extent, extent.check(self.store, &bytes))?;
        Ok(bytes)
    }
    fn read_head(&self, extent: &Extent) -> Result<AlignedBytes> {
        let bytes = self.read_part(extent, extent.head_bytes())?;
        self.judged(extent, extent.check_head(self.store, &bytes))?;
        Ok(bytes)
    }
    fn judged(&self, extent: &Extent, checked: Result<(), &'static str>) -> Result<()> {
        let (path, offset) = (self.files.segment(extent.segment), u64::from(extent.offset));
        checked.map_err(|what| Error::Damaged { path, offset, what })
    }
    /// The first `length` bytes of an extent.
    fn read_part(&self, extent: &Extent, length: usize) -> Result<AlignedBytes> {
        let (begin, _) = work::covering(extent, extent);
        let skipped = usize::try_from(u64::from(extent.offset) - begin).expect("less than a block");
        let mut bytes = AlignedBytes::zeroed((skipped + length).next_multiple_of(BLOCK_BYTES));
        let path = self.files.segment(extent.segment);
        self.segments.file(extent.segment).read_at(begin, &mut bytes).trying("read", &path)?;
        bytes.copy_within(skipped.., 0);
        bytes.truncate(length);
        Ok(bytes)
    }
}
