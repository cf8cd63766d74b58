//! Which robots file a server has, and which of its sections is private.

use super::FAN;
use crate::draw::{below, draw};

/// The directory that is disallowed where one is.
pub(crate) const PRIVATE: &str = "private";

/// What the robots file of a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Robots {
    Missing,
    Open,
    Private,
    OtherRobot,
    Delay(u64),
}

// Salts of the draws from a server's seed.
const KIND: u64 = 0x726f_626f_0001;
const SLOT: u64 = 0x726f_626f_0002;
const DELAY: u64 = 0x726f_626f_0003;

impl Robots {
    /// The robots file of the server with this seed.
    pub(super) fn of(seed: u64) -> Self {
        match below(draw(seed, KIND), 100) {
            0..20 => Self::Missing,
            20..45 => Self::Open,
            45..85 => Self::Private,
            85..95 => Self::OtherRobot,
            95..99 => Self::Delay(1 + below(draw(seed, DELAY), 5)),
            _ => Self::Delay(20 + below(draw(seed, DELAY), 101)),
        }
    }
}

/// The section whose directory is `/private/` on a server with this seed and number of pages, if there is one.
pub(super) fn private_section(seed: u64, pages: u64) -> Option<u64> {
    let sections = FAN.min(pages - 1);
    let private = matches!(Robots::of(seed), Robots::Private | Robots::Delay(_)) && sections > 0;
    private.then(|| 1 + below(draw(seed, SLOT), sections))
}
