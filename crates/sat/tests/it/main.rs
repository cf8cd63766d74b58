//! The store from outside: its guarantees, crashes, and damage.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod behaviour;
mod detects;
mod disks;
mod driver;
mod examine;
mod foreign;
mod image;
mod killed;
mod model;
mod model_tests;
mod player;
mod read_only;
mod setup;
mod slow;
mod space;
mod survives;
mod timing;
