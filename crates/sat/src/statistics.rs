//! What a store has done since it was opened.

/// Counts since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Records delivered.
    pub delivered: u64,
    /// Records that were read before they were due and moved to a nearer bucket (S3).
    pub moved: u64,
    /// Records rewritten to free space, or because they are held.
    pub compacted: u64,
    /// Records delivered from a write buffer, without a read.
    pub from_memory: u64,
    /// Times that write buffers were flushed.
    pub flushes: u64,
    /// Extents written.
    pub extents_written: u64,
    /// Bytes of extents written.
    pub data_bytes_written: u64,
    /// Bytes of log written.
    pub log_bytes_written: u64,
    /// Checkpoints made durable.
    pub checkpoints: u64,
    /// Bytes of checkpoints written.
    pub checkpoint_bytes_written: u64,
    /// Reads of extents for delivery.
    pub reads: u64,
    /// Bytes of those reads.
    pub data_bytes_read: u64,
    /// Extents that failed their checksum and were skipped.
    pub damaged_extents: u64,
}

/// What opening a store found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreRecovery {
    /// Commits read back from the log.
    pub frames_replayed: u64,
    /// Bytes at the end of the log of commits that were never acknowledged, and were left out.
    pub bytes_cut: u64,
}
