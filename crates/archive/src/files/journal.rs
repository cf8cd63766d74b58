//! Journals beside archive files: a head that names the archive file, then frames, each with its checksum.
//!
//! **Invariant:** a frame is valid only at its own offset in the journal of its own file; anything else ends the
//! journal.

use base::bytes::put_text;
use runs::frames::ChecksumScope;

/// The head of a journal of the archive file called `name`.
pub(crate) fn head(magic: &[u8; 8], name: &str) -> Vec<u8> {
    let mut head = magic.to_vec();
    put_text(&mut head, name);
    let sum = crc32c::crc32c(&head);
    head.extend_from_slice(&sum.to_le_bytes());
    head
}

/// The seed of the checksums in the journals of an archive file.
pub(crate) fn seed(name: &str) -> u64 {
    u64::from_le_bytes(*blake3::hash(name.as_bytes()).as_bytes().first_chunk().expect("it is 32 bytes long"))
}

/// A frame for `place` of a journal.
pub(crate) fn framed(seed: u64, place: u64, content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    ChecksumScope::Placed(seed).append(&mut frame, place, &[content]);
    frame
}

/// The content of the frame at `place`, if it is whole, and where it ends.
pub(crate) fn frame(bytes: &[u8], place: u64, seed: u64) -> Option<(&[u8], u64)> {
    ChecksumScope::Placed(seed).at(bytes, place)
}
