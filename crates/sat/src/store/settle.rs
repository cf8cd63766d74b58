//! Insert-if-new in batches (S4): keys are offered, become durable with the commit, and are judged together later.
//!
//! Judging one key costs a read; judging a million costs one pass over the index. So offers wait in their own bucket,
//! in order of arrival, until they are settled: sorted by fingerprint, compared with the index, the new ones numbered
//! in order of arrival and put into the buckets of their due minutes. Of equal keys the first offer wins.
//!
//! **Invariant:** settling is one step: its checkpoint names the new index run, the new slots and the emptied bucket
//! together. After a crash before that the offers still wait.

use super::Store;
use crate::bucket::Kind;
use crate::error::{Error, Result};
use crate::index::{self, Entry};
use crate::log::operation::Operation;
use crate::record::{self, DueRecord, RECORD_BYTES_MAX};
use crate::{Minute, Number, pool, slots};

/// The result of an offered key. Outcomes come in the order of the offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfferOutcome {
    /// The record's number.
    pub number: Number,
    /// Whether the offer created the record. If not, the offered value is dropped.
    pub is_new: bool,
}

/// The offers that wait.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The bucket that holds them; 0 if there are none.
    pub(super) slot: u32,
    /// Fingerprints, in order of arrival.
    fingerprints: Vec<u128>,
}

impl Store {
    /// Offers a record: if its key is new when the offers are settled, it is inserted, due at `due`. The offer is
    /// durable with the next commit.
    pub fn offer(&mut self, key: &[u8], due: Minute, value: &[u8]) -> Result<()> {
        if self.pending.fingerprints.len() >= self.options.pending_max {
            return Err(Error::PendingFull { pending: self.pending.fingerprints.len() });
        }
        self.begin_operation(key.len() + value.len(), RECORD_BYTES_MAX)?;
        Operation::Offer { due: due.0, key, value }.write(&mut self.frame.bytes);
        self.apply_offer(key, due.0, value)
    }
    /// How many offers wait to be settled.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.fingerprints.len()
    }
    /// Whether enough offers wait to make settling worth its pass over the index.
    #[must_use]
    pub fn should_settle(&self) -> bool {
        let pending = self.pending.fingerprints.len();
        pending >= self.options.pending_max || pending as u64 * 20 >= self.index.entries().max(20_000)
    }
    /// Judges all offers that wait and inserts the new ones; commits and checkpoints on the way. One outcome for each
    /// offer, in order.
    pub fn settle(&mut self) -> Result<Vec<OfferOutcome>> {
        self.commit()?;
        if self.pending.fingerprints.is_empty() {
            return Ok(Vec::new());
        }
        self.finish_checkpoint()?;
        let fingerprints = std::mem::take(&mut self.pending.fingerprints);
        let settled = self.settle_all(&fingerprints);
        if settled.is_err() {
            // The numbers given so far are in memory only.
            self.is_stopped = true;
        }
        settled
    }
    fn settle_all(&mut self, fingerprints: &[u128]) -> Result<Vec<OfferOutcome>> {
        let (answers, fresh) = self.judge(fingerprints)?;
        let obsolete = self.index.add(&fresh)?;
        self.checkpoints.obsolete.extend(obsolete);
        self.insert_new(&answers)?;
        self.begin_checkpoint()?;
        self.finish_checkpoint()?;
        Ok(answers)
    }
    /// An answer for each offer, and the entries of the new ones.
    fn judge(&mut self, fingerprints: &[u128]) -> Result<(Vec<OfferOutcome>, Vec<Entry>)> {
        // Fingerprint in the upper bits, order of arrival in the lower: of equal keys the first comes first.
        let mut order: Vec<Entry> = fingerprints
            .iter()
            .enumerate()
            .map(|(place, fingerprint)| fingerprint << 32 | place as u128)
            .collect();
        order.sort_unstable();
        let mut distinct: Vec<u128> = order.iter().map(|entry| index::fingerprint_of(*entry)).collect();
        distinct.dedup();
        let mut known: Vec<Option<u32>> = vec![None; distinct.len()];
        self.index.find_all(&distinct, |place, number| known[place] = Some(number))?;
        drop(distinct);
        // What is known about each offer: a number, or the index of the first offer of the same new key.
        let mut verdicts: Vec<(bool, u32)> = vec![(false, 0); fingerprints.len()];
        let mut groups = known.into_iter();
        for group in order.chunk_by(|one, next| index::fingerprint_of(*one) == index::fingerprint_of(*next)) {
            let number = groups.next().flatten();
            let verdict = (number.is_some(), number.unwrap_or_else(|| index::number_of(group[0])));
            group.iter().for_each(|entry| verdicts[index::number_of(*entry) as usize] = verdict);
        }
        let mut answers: Vec<OfferOutcome> = Vec::with_capacity(verdicts.len());
        for (place, (is_known, value)) in verdicts.iter().enumerate() {
            let answer = if *is_known {
                // A deleted record's key is new again, and keeps its number.
                let is_new = self.slots.get(*value) == slots::NONE;
                OfferOutcome { number: Number(*value), is_new }
            } else if *value as usize == place {
                OfferOutcome { number: Number(self.slots.push()), is_new: true }
            } else {
                OfferOutcome { number: answers[*value as usize].number, is_new: false }
            };
            if answer.is_new {
                // Marks the number, so that a later offer of the same key is not new.
                self.slots.set(answer.number.0, self.pending.slot);
            }
            answers.push(answer);
        }
        let is_fresh = |entry: &&Entry| {
            let place = index::number_of(**entry) as usize;
            !verdicts[place].0 && verdicts[place].1 as usize == place
        };
        let numbered = |entry: &Entry| {
            let OfferOutcome { number, .. } = answers[index::number_of(*entry) as usize];
            index::fingerprint_of(*entry) << 32 | u128::from(number.0)
        };
        let fresh = order.iter().filter(is_fresh).map(numbered).collect();
        Ok((answers, fresh))
    }
    /// Puts the new records where their due minute asks for, and empties the bucket of offers.
    fn insert_new(&mut self, answers: &[OfferOutcome]) -> Result<()> {
        self.wait_for_all_flushes()?;
        let slot = std::mem::replace(&mut self.pending.slot, slots::NONE);
        let bucket = self.buckets.at(slot);
        let extents = bucket.extents.clone();
        let chain = pool::gathered(&bucket.chain);
        let mut answers = answers.iter();
        for extent in extents {
            let bytes = self.read_extent(&extent)?;
            self.insert_some(&bytes[extent.body(0)], &mut answers)?;
        }
        self.insert_some(&chain, &mut answers)?;
        // The next change of a new record must come after its insertion.
        self.sequence += 1;
        self.frame.first_sequence = self.sequence;
        self.wait_for_all_flushes()?;
        let bucket = self.buckets.remove(slot);
        bucket.extents.iter().for_each(|extent| self.segments.retire(extent));
        self.pool.give_back(bucket.chain.into_blocks());
        Ok(())
    }
    fn insert_some<'a>(
        &mut self,
        bytes: &[u8],
        answers: &mut impl Iterator<Item = &'a OfferOutcome>,
    ) -> Result<()> {
        for offset in record::offsets(bytes) {
            let offered = DueRecord::read(&bytes[offset..]);
            let answer = answers.next().expect("an answer for every offer");
            if !answer.is_new {
                continue;
            }
            let due = Minute(offered.due.0.max(self.position + 1));
            let bucket = self.options.resolution.bucket(Minute(self.position), due);
            let to = self.buckets.of_minute(bucket.0);
            self.buckets.at_mut(to).live += 1;
            self.slots.set(answer.number.0, to);
            self.count += 1;
            self.append(to, &DueRecord { number: answer.number, due, sequence: self.sequence, ..offered })?;
        }
        Ok(())
    }
    pub(super) fn apply_offer(&mut self, key: &[u8], due: u32, value: &[u8]) -> Result<()> {
        if self.pending.slot == slots::NONE {
            self.pending.slot = self.buckets.add(Kind::Pending, 0);
        }
        self.pending.fingerprints.push(index::fingerprint(&self.secret, key));
        let record = DueRecord { number: Number(0), due: Minute(due), key, value, sequence: 0 };
        self.append(self.pending.slot, &record)
    }
    /// Reads the fingerprints of the offers that a checkpoint left waiting.
    pub(super) fn restore_pending(&mut self) -> Result<()> {
        self.wait_for_all_flushes()?;
        let Some(bucket) = self.buckets.get(self.pending.slot) else { return Ok(()) };
        let extents = bucket.extents.clone();
        let chain = pool::gathered(&bucket.chain);
        for extent in extents {
            let bytes = self.read_extent(&extent)?;
            self.note_pending(&bytes[extent.body(0)]);
        }
        self.note_pending(&chain);
        Ok(())
    }
    fn note_pending(&mut self, bytes: &[u8]) {
        let fingerprints = record::offsets(bytes)
            .map(|offset| index::fingerprint(&self.secret, DueRecord::read(&bytes[offset..]).key));
        self.pending.fingerprints.extend(fingerprints);
    }
}
