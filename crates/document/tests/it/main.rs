//! Documents and links over archives that are made here: against plain joins, through crashes, damage and takedowns.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod documents;
mod links;
mod survives;
mod web;
