//! Journals beside archive files: a head that says whose they are, then frames, each with its checksum.
//!
//! **Invariant:** a frame is whole only at its own place in the journal of its own file; anything else ends the journal.

use crate::index::bytes::{Bytes, checksum, put_text};

const FRAME_HEAD_BYTES: usize = 8;

/// The head of a journal of the archive file called `name`.
pub(crate) fn head(magic: &[u8; 8], name: &str) -> Vec<u8> {
    let mut head = magic.to_vec();
    put_text(&mut head, name);
    let sum = crc32c::crc32c(&head);
    head.extend_from_slice(&sum.to_le_bytes());
    head
}

/// What the checksums of the journals of an archive file begin with.
pub(crate) fn seed(name: &str) -> u64 {
    u64::from_le_bytes(*blake3::hash(name.as_bytes()).as_bytes().first_chunk().expect("it is 32 bytes long"))
}

/// A frame for `place` of a journal.
pub(crate) fn framed(seed: u64, place: u64, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("a batch is bounded");
    let mut frame = Vec::with_capacity(content.len() + FRAME_HEAD_BYTES);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&checksum(seed, place, content).to_le_bytes());
    frame.extend_from_slice(content);
    frame
}

/// The content of the frame at `place`, if it is whole, and where it ends.
pub(crate) fn frame(bytes: &[u8], place: u64, seed: u64) -> Option<(&[u8], u64)> {
    let mut rest = Bytes(bytes.get(usize::try_from(place).ok()?..)?);
    let (length, sum) = (rest.u32()? as usize, rest.u32()?);
    let content = rest.take(length)?;
    let end = place + (FRAME_HEAD_BYTES + length) as u64;
    (checksum(seed, place, content) == sum).then_some((content, end))
}
