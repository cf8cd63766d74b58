//! Members that fit into memory, decompressed in one go.
//!
//! **Invariant:** it takes at most the given room, and does not report why it cannot unpack a member: [`super::stream`]
//! does.

use super::Form;
use super::libdeflate::{Decompressor, Failure};
use super::zstandard::Zstd;
use crate::header::HEAD_BYTES_MAX;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

/// Maximum bytes of a member unpacked whole, whatever the block limit.
const WHOLE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Minimum of that limit, so that a small block limit does not make a reader slow.
const WHOLE_BYTES_MIN: usize = 256 * 1024;

/// Maximum bytes of a member unpacked whole by a reader with this block limit.
pub(crate) fn whole_bytes_max(block_bytes_max: usize) -> usize {
    block_bytes_max.saturating_add(HEAD_BYTES_MAX).clamp(WHOLE_BYTES_MIN, WHOLE_BYTES_MAX)
}

/// The room that every reader begins with: most pages fit.
const ROOM_BYTES: usize = 128 * 1024;

/// The result of trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// The member took this many bytes of the input.
    Taken(usize),
    /// The member is damaged, or ends past the end of the input.
    InputEnds,
    /// The member holds more than may be held.
    TooLarge,
}

/// Unpacks one member after the other into the same room.
#[derive(Debug)]
pub(crate) struct Whole {
    deflate: Option<Decompressor>,
    room: Vec<u8>,
    made: usize,
    room_bytes_max: usize,
}

impl Whole {
    pub(crate) fn new(room_bytes_max: usize) -> Self {
        Self { deflate: None, room: Vec::new(), made: 0, room_bytes_max }
    }
    /// Room for just this member, as far as it tells what it holds.
    pub(crate) fn for_member(form: Form, member: &[u8], block_bytes_max: usize) -> Self {
        let mut whole = Self::new(whole_bytes_max(block_bytes_max));
        if let (Form::Gzip, Some(length)) = (form, member.last_chunk()) {
            let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
            // The stated length of a foreign member may be wrong: it is only a hint.
            whole.make_room(length.max(1));
        }
        whole
    }
    /// The content of the last member.
    pub(crate) fn content(&self) -> &[u8] {
        self.room.get(..self.made).unwrap_or_default()
    }

    /// Unpacks the member that `input` begins with.
    pub(crate) fn unpack(&mut self, form: Form, input: &[u8], zstd: &mut Zstd) -> Tried {
        self.made = 0;
        match form {
            Form::Plain => Tried::TooLarge,
            Form::Gzip => self.unpack_gzip(input),
            Form::Zstd => self.unpack_zstd(input, zstd),
        }
    }

    fn unpack_gzip(&mut self, input: &[u8]) -> Tried {
        if self.room.is_empty() {
            self.make_room(ROOM_BYTES);
        }
        loop {
            let deflate = self.deflate.get_or_insert_with(Decompressor::new);
            match deflate.gzip(input, &mut self.room) {
                Ok(unpacked) => {
                    self.made = unpacked.made;
                    return Tried::Taken(unpacked.taken);
                }
                Err(Failure::Input) => return Tried::InputEnds,
                Err(Failure::Room) if self.make_room(self.room.len() * 2) => {}
                Err(Failure::Room) => return Tried::TooLarge,
            }
        }
    }

    fn unpack_zstd(&mut self, input: &[u8], zstd: &mut Zstd) -> Tried {
        let frame = find_frame_compressed_size(input).ok().and_then(|length| input.get(..length));
        let Some(frame) = frame else { return Tried::InputEnds };
        let said = get_frame_content_size(frame).ok().flatten().map(usize::try_from);
        let (wanted, is_said) = match said {
            Some(Ok(said)) if said <= self.room_bytes_max => (said, true),
            Some(_) => return Tried::TooLarge,
            None => (ROOM_BYTES, false),
        };
        if wanted > self.room.len() {
            self.make_room(wanted.max(self.room.len() * 2));
        }
        loop {
            if let Some(made) = zstd.whole(frame, &mut self.room) {
                self.made = made;
                return Tried::Taken(frame.len());
            }
            if is_said || !self.make_room(self.room.len() * 2) {
                return Tried::TooLarge;
            }
        }
    }

    /// Enlarges the room up to its maximum; false if it is that large already.
    fn make_room(&mut self, bytes: usize) -> bool {
        let bytes = bytes.min(self.room_bytes_max);
        let grows = bytes > self.room.len();
        if grows {
            // The old one is freed first: it is no longer needed.
            self.room = Vec::new();
            self.room = vec![0; bytes];
        }
        grows
    }
}
