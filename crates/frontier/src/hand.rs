//! A page that was taken out of the store and waits for its turn, or is being visited.

use crate::state::State;
use sat::Number;

/// A page in hand: its key and its state as bytes, since a million of them may wait.
#[derive(Clone, Debug)]
pub(crate) struct Hand {
    pub number: Number,
    key_bytes: u32,
    bytes: Box<[u8]>,
}

/// What a page in hand takes beside its bytes.
const OVERHEAD_BYTES: usize = 128;

/// The order in which pages of a server come: the higher priority, then what is due longer, then what is known longer.
pub(crate) type Rank = (i16, u32, u32);

impl Hand {
    pub(crate) fn new(number: Number, key: &[u8], value: &[u8]) -> Self {
        let key_bytes = u32::try_from(key.len()).expect("a key is short");
        Self { number, key_bytes, bytes: [key, value].concat().into() }
    }
    pub(crate) fn key(&self) -> &[u8] {
        &self.bytes[..self.key_bytes as usize]
    }
    pub(crate) fn key_text(&self) -> &str {
        std::str::from_utf8(self.key()).unwrap_or_default()
    }
    pub(crate) fn value(&self) -> &[u8] {
        &self.bytes[self.key_bytes as usize..]
    }
    /// The state; a page whose bytes cannot be read is never taken in hand.
    pub(crate) fn state(&self) -> State {
        State::read(self.value()).unwrap_or_default()
    }
    /// What it takes of memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + OVERHEAD_BYTES
    }
    pub(crate) fn rank(&self, state: &State) -> Rank {
        (-i16::from(state.priority), state.next_due.0, self.number.0)
    }
}

/// The part of a key that names the server, and the part behind its `)`.
pub(crate) fn split_key(key: &str) -> (&str, &str) {
    key.split_once(')').unwrap_or((key, ""))
}
