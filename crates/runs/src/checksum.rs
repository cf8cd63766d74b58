//! Checksums that cover where bytes stand, not only the bytes.

/// The CRC-32C of `bytes` as they stand at `place` of the file known by `of`: the same bytes elsewhere have another.
pub(crate) fn checksum(of: u64, place: u64, bytes: &[u8]) -> u32 {
    let seed = crc32c::crc32c(&of.to_le_bytes());
    let seed = crc32c::crc32c_append(seed, &place.to_le_bytes());
    crc32c::crc32c_append(seed, bytes)
}
