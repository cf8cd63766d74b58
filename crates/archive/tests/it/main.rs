//! The archive from outside: storing, crashes, damage, and other programs that read its files.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod append;
mod arrivals;
mod beside;
mod captures;
mod cuts;
mod damage;
mod derived;
mod detects;
mod example;
mod full;
mod import;
mod model;
mod model_tests;
mod notes;
mod oracle;
mod peer;
mod snapshots;
mod survives;
mod takedown;
mod watched;
