//! Changing records: update, delete, the caller's table, and commits.

use super::{FrameUnderWay, Store};
use crate::error::{Error, Result};
use crate::log::operation::Operation;
use crate::log::{FrameHead, HEAD_BYTES};
use crate::record::{DueRecord, RECORD_BYTES_MAX};
use crate::{Frame, Minute, Number, slots};

/// Commits that may be on their way to the disk at once.
pub(super) const FRAMES_IN_FLIGHT_MAX: usize = 4;
/// Maximum bytes of name and value of an entry in the caller's table.
const ENTRY_BYTES_MAX: usize = 1 << 20;

impl Store {
    /// Writes a record's next state: its value, and when it is due. The number is the one with which the record was
    /// delivered. An overdue record becomes due in the next minute (D5).
    pub fn update(&mut self, number: Number, key: &[u8], due: Minute, value: &[u8]) -> Result<()> {
        self.begin_operation(key.len() + value.len(), RECORD_BYTES_MAX)?;
        if self.slots.get(number.0) == slots::NONE {
            return Err(Error::Unknown { number: number.0 });
        }
        let due = Minute(due.0.max(self.position + 1));
        let bucket = self.options.resolution.bucket(Minute(self.position), due);
        let operation = Operation::Update { number: number.0, bucket: bucket.0, due: due.0, key, value };
        operation.write(&mut self.frame.bytes);
        let sequence = self.next_sequence();
        self.apply_update(&DueRecord { number, due, key, value, sequence }, bucket.0)
    }
    /// Deletes a record. Its number stays bound to its key: offered again, the key is new and has the same number.
    pub fn delete(&mut self, number: Number) -> Result<()> {
        self.begin_operation(0, RECORD_BYTES_MAX)?;
        if self.slots.get(number.0) == slots::NONE {
            return Err(Error::Unknown { number: number.0 });
        }
        Operation::Delete { number: number.0 }.write(&mut self.frame.bytes);
        let sequence = self.next_sequence();
        self.apply_delete(number.0, sequence);
        Ok(())
    }
    /// Sets an entry of the caller's table, such as its checkpoint or its totals. Keep it small: the whole table is in
    /// memory and in every checkpoint.
    pub fn set(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        let bytes_max = ENTRY_BYTES_MAX.min(self.options.commit_bytes_max() / 4);
        self.begin_operation(name.len() + value.len(), bytes_max)?;
        if name.len() > usize::from(u16::MAX) {
            return Err(Error::TooLong { bytes: name.len(), bytes_max: u16::MAX.into() });
        }
        Operation::Set { name, value }.write(&mut self.frame.bytes);
        self.table.insert(name.to_vec(), value.to_vec());
        Ok(())
    }
    /// Removes an entry of the caller's table.
    pub fn unset(&mut self, name: &[u8]) -> Result<()> {
        self.begin_operation(name.len(), usize::from(u16::MAX))?;
        Operation::Unset { name }.write(&mut self.frame.bytes);
        self.table.remove(name);
        Ok(())
    }
    /// Approximate bytes of operations that still fit into the current commit.
    #[must_use]
    pub fn commit_room(&self) -> usize {
        self.options.commit_bytes_max().saturating_sub(self.frame.bytes.len())
    }
    /// Allows delivery of records due up to `now`. Time never goes back: an earlier minute changes nothing, and neither
    /// does one after [`Minute::MAX`].
    pub fn advance(&mut self, now: Minute) {
        self.now = self.now.max(now.0.min(Minute::MAX.0));
    }
    /// Makes all changes since the last commit durable, together.
    pub fn commit(&mut self) -> Result<Frame> {
        let frame = self.begin_commit()?;
        self.wait(frame)?;
        Ok(frame)
    }
    /// Starts writing all changes since the last commit, together, without waiting: they are durable when
    /// [`Store::wait`] returns, or [`Store::durable`] returns this frame or a later one. Later commits may be started
    /// before that.
    pub fn begin_commit(&mut self) -> Result<Frame> {
        self.check_running()?;
        if self.frame.bytes.len() > HEAD_BYTES || self.logged_minute != self.position {
            self.submit_frame()?;
            self.checkpoint_if_due()?;
        }
        Ok(self.last_frame())
    }
    /// Waits until a commit is durable.
    pub fn wait(&mut self, frame: Frame) -> Result<()> {
        self.check_running()?;
        let waited = self.log.wait(frame.0.min(self.last_frame().0));
        self.stop_on_error(waited)
    }
    /// The last durable commit.
    pub fn durable(&mut self) -> Result<Frame> {
        self.check_running()?;
        let durable = self.log.durable();
        self.stop_on_error(durable).map(Frame)
    }

    fn submit_frame(&mut self) -> Result<()> {
        let head = FrameHead {
            frame: self.frame.number,
            durable: 0,
            first_sequence: self.frame.first_sequence,
            operation_bytes: u32::try_from(self.frame.bytes.len() - HEAD_BYTES).expect("a commit is bounded"),
            minute: self.position,
        };
        if !self.has_log_room(self.frame.bytes.len()) {
            return self.commit_by_checkpoint();
        }
        let FrameUnderWay { number: submitted, bytes, .. } = self.begin_next_frame();
        self.log.submit(head, bytes);
        let polled = if self.log.in_flight() > FRAMES_IN_FLIGHT_MAX {
            self.log.wait(submitted - FRAMES_IN_FLIGHT_MAX as u64)
        } else {
            self.log.durable().map(|_| ())
        };
        self.stop_on_error(polled)
    }
    /// Ends the current frame and begins the next.
    pub(super) fn begin_next_frame(&mut self) -> FrameUnderWay {
        self.logged_minute = self.position;
        let next = FrameUnderWay {
            number: self.frame.number + 1,
            first_sequence: self.sequence,
            bytes: self.log.new_frame(),
        };
        std::mem::replace(&mut self.frame, next)
    }
    /// Checks that every operation makes first. After it only the disk can make the operation fail.
    pub(super) fn begin_operation(&mut self, content_bytes: usize, bytes_max: usize) -> Result<()> {
        self.check_running()?;
        if content_bytes > bytes_max {
            return Err(Error::TooLong { bytes: content_bytes, bytes_max });
        }
        let (bytes, bytes_max) = (self.frame.bytes.len(), self.options.commit_bytes_max());
        if bytes + 2 * Operation::bytes_max(content_bytes) > bytes_max {
            return Err(Error::CommitFull { bytes, bytes_max });
        }
        if self.logged_minute != self.position {
            Operation::Advance { minute: self.position }.write(&mut self.frame.bytes);
            self.logged_minute = self.position;
        }
        Ok(())
    }
    fn next_sequence(&mut self) -> u64 {
        assert!(self.sequence < 1 << 48, "fewer than 2⁴⁸ changes");
        self.sequence += 1;
        self.sequence - 1
    }

    /// Puts a record's next state into the bucket of minute `bucket`.
    pub(super) fn apply_update(&mut self, record: &DueRecord<'_>, bucket: u32) -> Result<()> {
        let number = record.number.0;
        let from = self.slots.get(number);
        let old = self.buckets.at_mut(from);
        old.live -= 1;
        let is_left_empty = old.live == 0;
        if old.may_get_more() {
            old.dead.get_or_insert_default().insert(number, record.sequence);
        }
        let to = self.buckets.of_minute(bucket);
        self.buckets.at_mut(to).live += 1;
        self.slots.set(number, to);
        if is_left_empty {
            self.drop_if_empty(from);
        }
        self.append(to, record)
    }
    pub(super) fn apply_delete(&mut self, number: u32, sequence: u64) {
        let from = self.slots.get(number);
        let old = self.buckets.at_mut(from);
        old.live -= 1;
        if old.may_get_more() {
            old.dead.get_or_insert_default().insert(number, sequence);
        }
        self.slots.set(number, slots::NONE);
        self.count -= 1;
        self.drop_if_empty(from);
    }
    /// Moves a record as it is from one bucket to another. Moves are not logged: until a checkpoint knows the new
    /// place, the old one stays.
    pub(super) fn move_record(&mut self, record: &DueRecord<'_>, to: u32) -> Result<()> {
        let from = self.slots.get(record.number.0);
        debug_assert_ne!(from, to);
        self.buckets.at_mut(to).live += 1;
        self.slots.set(record.number.0, to);
        let old = self.buckets.at_mut(from);
        old.live -= 1;
        if old.live == 0 {
            self.drop_if_empty(from);
        }
        self.append(to, record)
    }
    /// Appends a record to the write buffer of a bucket.
    pub(super) fn append(&mut self, slot: u32, record: &DueRecord<'_>) -> Result<()> {
        let bytes = record.bytes();
        let needed = self.pool.needed(&self.buckets.at(slot).chain, bytes);
        if needed > 0 {
            self.make_room(needed, slot, bytes)?;
        }
        let bucket = self.buckets.at_mut(slot);
        bucket.chain.append(&mut self.pool, record);
        bucket.copies += 1;
        if bucket.chain_place.is_none() {
            self.buckets.note_chain(slot);
        }
        Ok(())
    }
    /// Removes a bucket without records.
    pub(super) fn drop_if_empty(&mut self, slot: u32) {
        let bucket = self.buckets.at(slot);
        if bucket.live > 0 || bucket.flushing > 0 || bucket.kind == crate::bucket::Kind::Pending {
            return;
        }
        let bucket = self.buckets.remove(slot);
        bucket.all_extents().for_each(|extent| self.segments.retire(extent));
        self.pool.give_back(bucket.chain.into_blocks());
        if self.held == slot {
            self.held = slots::NONE;
        }
    }
}
