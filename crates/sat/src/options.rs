//! What a store is opened with.

use crate::Resolution;

/// Settings of a store. `log_bytes`, `segment_bytes`, `begin` and `secret` are fixed when a store is created; the
/// others may differ at each opening.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Memory for all write buffers together (S2): at least 512 KiB.
    pub pool_bytes: usize,
    /// Memory for what is read ahead.
    pub read_bytes: usize,
    /// How much log is written before a checkpoint is started. Opening after a crash reads that, and what was written
    /// while the checkpoint was under way. At least 1 MiB.
    pub log_bytes: u64,
    /// Size of a data file; at least 512 KiB.
    pub segment_bytes: u32,
    /// Whether a record is returned at its own minute and never before (S3). Otherwise it may come as early as the
    /// minute of its bucket.
    pub strict: bool,
    /// How time is divided into buckets (S1).
    pub resolution: Resolution,
    /// How write buffers share the pool.
    pub buffers: Buffers,
    /// How many offered keys may wait to be judged; each takes 16 bytes of memory, and some 64 while they are.
    pub pending_max: usize,
    /// Reads in flight at once, each on a thread of its own. With 0 all work is done on the caller's thread, in a
    /// fixed order.
    pub read_threads: usize,
    /// The minute at which a new store begins.
    pub begin: crate::Minute,
    /// The secret of a new store, without which two keys with the same fingerprint cannot be constructed. `None`: drawn
    /// from the system.
    pub secret: Option<[u8; 16]>,
}

/// How write buffers share the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// Buffers grow as they need; when the pool is empty the large ones are written together, in time order (S2).
    Shared,
    /// Every buffer has this size and is written when it is full: the paper's "naive", for comparison.
    Fixed {
        /// The size of each buffer.
        bytes: usize,
    },
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pool_bytes: 32 << 20,
            read_bytes: 16 << 20,
            log_bytes: 256 << 20,
            segment_bytes: 64 << 20,
            strict: true,
            resolution: Resolution::default(),
            buffers: Buffers::Shared,
            pending_max: 1 << 20,
            read_threads: 8,
            begin: crate::Minute(0),
            secret: None,
        }
    }
}

impl Options {
    /// Raises settings to the minima with which the longest record fits.
    pub(crate) fn raise_to_minima(&mut self) {
        self.pool_bytes = self.pool_bytes.max(512 << 10);
        self.log_bytes = self.log_bytes.max(1 << 20);
        self.segment_bytes = self.segment_bytes.max(512 << 10);
        self.pending_max = self.pending_max.max(1);
    }
    /// Maximum bytes of a commit. It bounds how far after a damaged commit the next one can begin.
    pub(crate) fn commit_bytes_max(&self) -> usize {
        usize::try_from(self.log_bytes / 4).unwrap_or(usize::MAX).min(16 << 20)
    }
    /// Size of one log file.
    pub(crate) fn log_file_bytes(&self) -> u64 {
        (self.log_bytes + 2 * self.commit_bytes_max() as u64).next_multiple_of(4096)
    }
    pub(crate) fn threads(&self) -> usize {
        usize::from(self.read_threads > 0)
    }
}
