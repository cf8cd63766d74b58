//! Reads and copies archive files piece by piece.

use base::disk::DiskFile;
use std::io;

/// Bytes of a file held at once while it is copied.
const PIECE_BYTES: usize = 1024 * 1024;

/// Reads a part of a file piece by piece, each with its offset.
pub(crate) fn in_pieces(
    file: &dyn DiskFile,
    from: u64,
    to: u64,
    mut take: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let length =
        |offset: u64| usize::try_from(to.saturating_sub(offset)).unwrap_or(usize::MAX).min(PIECE_BYTES);
    let (mut offset, mut buffer) = (from, vec![0; length(from)]);
    while offset < to {
        let (piece, _) = buffer.split_at_mut(length(offset));
        file.read_at(offset, piece)?;
        take(offset, piece)?;
        offset += piece.len() as u64;
    }
    Ok(())
}

/// Writes a part of one file to the same offset of another, or again to its own.
pub(crate) fn copy(old: &dyn DiskFile, new: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    in_pieces(old, from, to, |offset, piece| new.write_at(offset, piece))
}
