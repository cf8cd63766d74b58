//! A page that was read from the store and waits to be visited, or is being visited.

use crate::Role;
use crate::revisit::RevisitPolicy;
use crate::state::State;
use sat::Number;

/// A loaded page: its key and its state as bytes, because a million of them may wait.
#[derive(Clone, Debug)]
pub(crate) struct LoadedPage {
    pub number: Number,
    key_bytes: u32,
    bytes: Box<[u8]>,
}

/// The memory that a loaded page takes besides its bytes.
const OVERHEAD_BYTES: usize = 128;

/// The order in which pages of a server come: those ordered by an operator, those that need no budget (new, feeds,
/// gone, failing), then by priority, then the longest due, then the longest known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// It waits for the budget of visits.
    pub is_gated: bool,
    priority: i16,
    due: u32,
    number: u32,
}

impl Rank {
    /// The first of those that wait for the budget.
    pub(crate) const GATED: Self = Self { is_gated: true, priority: i16::MIN, due: 0, number: 0 };

    /// Before all others that wait for the budget.
    pub(crate) fn foremost(number: Number) -> Self {
        Self { number: number.0, ..Self::GATED }
    }
    /// Whether an operator asked for the visit: it comes before all others.
    pub(crate) fn is_asked(self) -> bool {
        !self.is_gated && self.priority == i16::MIN
    }
    pub(crate) fn is_foremost(self) -> bool {
        self.is_gated && self.priority == i16::MIN
    }
}

impl LoadedPage {
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
    /// The state; a page whose bytes cannot be read is never loaded.
    pub(crate) fn state(&self) -> State {
        State::read(self.value()).unwrap_or_default()
    }
    /// Its memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + OVERHEAD_BYTES
    }
    pub(crate) fn rank(&self, state: &State, policy: &RevisitPolicy) -> Rank {
        if state.asked > 0 {
            let due = state.next_due.0;
            return Rank { is_gated: false, priority: i16::MIN, due, number: self.number.0 };
        }
        let is_gated = policy.has_budget() && state.is_live() && state.role == Role::Page;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "minutes of a server's life"
        )]
        let due = if is_gated { (state.turn / 60.0) as u32 } else { state.next_due.0 };
        // Pages that need the budget come by due time alone; priorities are for the others.
        let priority = if is_gated { 0 } else { -i16::from(state.priority) };
        Rank { is_gated, priority, due, number: self.number.0 }
    }
}

/// The part of a key that names the server, and the part after its `)`.
pub(crate) fn split_key(key: &str) -> (&str, &str) {
    key.split_once(')').unwrap_or((key, ""))
}
