//! Reads under way, and the buffers that they fill.
//!
//! **Invariant:** all buffers but one have one size, and their number is fixed, which bounds reading ahead.

use super::Reader;
use crate::work::ReadDone;
use base::disk::{AlignedBytes, BLOCK_BYTES};
use std::collections::HashMap;

/// Maximum bytes that are read at once.
pub(super) const READ_BYTES_MAX: usize = 512 << 10;
/// What one buffer holds: a read and the blocks around it. One extent may be a little longer than the rest.
const BUFFER_BYTES: usize = READ_BYTES_MAX + 16 * BLOCK_BYTES;
/// With fewer buffers no read would be under way while another is used.
const BUFFERS_MIN: usize = 4;

/// Reads under way.
#[derive(Debug)]
pub(super) struct Reads {
    pub(super) worker: Reader,
    pub(super) next_ticket: u64,
    done: HashMap<u64, ReadDone>,
    /// Buffers, all of one size, made when they are first needed.
    spare: Vec<AlignedBytes>,
    buffers: usize,
    buffers_max: usize,
    /// A buffer of any size, for what comes from memory and not from a read.
    large: AlignedBytes,
    pub(super) spare_offsets: Vec<Vec<u32>>,
}

impl Reads {
    /// Reads ahead in about `bytes` of memory.
    pub(super) fn new(worker: Reader, bytes: usize) -> Self {
        Self {
            worker,
            next_ticket: 0,
            done: HashMap::new(),
            spare: Vec::new(),
            buffers: 0,
            buffers_max: (bytes / BUFFER_BYTES).max(BUFFERS_MIN),
            large: AlignedBytes::new(),
            spare_offsets: Vec::new(),
        }
    }
    pub(super) fn recycle(&mut self, buffer: AlignedBytes) {
        if buffer.capacity() >= 2 * BUFFER_BYTES {
            self.large = buffer;
        } else if buffer.capacity() < BUFFER_BYTES {
            // It was made for one extent only.
        } else if self.buffers > self.buffers_max {
            self.buffers -= 1;
        } else {
            self.spare.push(buffer);
        }
    }
    /// An empty buffer for `bytes` that are in memory already.
    pub(super) fn buffer_for(&mut self, bytes: usize) -> AlignedBytes {
        let mut buffer = if bytes <= BUFFER_BYTES { self.buffer() } else { std::mem::take(&mut self.large) };
        buffer.clear();
        if buffer.capacity() < bytes {
            AlignedBytes::with_capacity(bytes.max(2 * BUFFER_BYTES))
        } else {
            buffer
        }
    }
    /// Takes back what a read was done with.
    pub(super) fn give_back(&mut self, done: ReadDone) {
        self.spare_offsets.push(done.offsets);
        self.recycle(done.buffer);
    }
    pub(super) fn has_buffer(&self) -> bool {
        !self.spare.is_empty() || self.buffers < self.buffers_max
    }
    /// A buffer with any contents; one above the maximum if it is needed at once and all are in use.
    pub(super) fn buffer(&mut self) -> AlignedBytes {
        self.spare.pop().unwrap_or_else(|| {
            self.buffers += 1;
            AlignedBytes::with_capacity(BUFFER_BYTES)
        })
    }
    /// The result of the read with `ticket`.
    pub(super) fn wait(&mut self, ticket: u64) -> ReadDone {
        loop {
            if let Some(done) = self.done.remove(&ticket) {
                return done;
            }
            let done = self.worker.wait().expect("a ticket was given for a read that was begun");
            self.done.insert(done.ticket, done);
        }
    }
}
