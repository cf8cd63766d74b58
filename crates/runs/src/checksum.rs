//! Checksums that cover the position of bytes, not only the bytes.

/// The CRC-32C of `bytes` at offset `place` of the file `of`: the same bytes elsewhere have another one.
pub(crate) fn checksum(of: u64, place: u64, bytes: &[u8]) -> u32 {
    let seed = crc32c::crc32c(&of.to_le_bytes());
    let seed = crc32c::crc32c_append(seed, &place.to_le_bytes());
    crc32c::crc32c_append(seed, bytes)
}
