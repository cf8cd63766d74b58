//! CRC-32C over bytes and their location, so that a misdirected or stale write is detected.

/// Where bytes belong: their store, the kind and number of their file, and the offset in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) store: u64,
    pub(crate) kind: Kind,
    pub(crate) file: u64,
    pub(crate) offset: u64,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Superblock = 1,
    Checkpoint = 2,
    Log = 3,
    Data = 4,
    Index = 5,
}

impl Place {
    /// The checksum of `parts`, one after the other, at this place.
    pub(crate) fn checksum(self, parts: &[&[u8]]) -> u32 {
        let mut place = [0; 32];
        place[0..8].copy_from_slice(&self.store.to_le_bytes());
        place[8..16].copy_from_slice(&(self.kind as u64).to_le_bytes());
        place[16..24].copy_from_slice(&self.file.to_le_bytes());
        place[24..32].copy_from_slice(&self.offset.to_le_bytes());
        parts.iter().fold(crc32c::crc32c(&place), |crc, part| crc32c::crc32c_append(crc, part))
    }
}
