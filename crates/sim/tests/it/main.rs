//! The simulated web from outside: what it serves, and whether that is what it says is true.

#![expect(clippy::unwrap_used, reason = "tests say what must hold: a failed unwrap is a failed test")]

mod asking;
mod changes;
mod conditional;
mod door;
mod golden;
mod listings;
mod reach;
mod serve;
mod size;
