//! What the look-ups did so far, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the look-ups did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DnsStats {
    /// Queries sent, repetitions included.
    pub queries: u64,
    /// Look-ups answered from memory.
    pub cache_hits: u64,
    /// Look-ups that joined one under way for the same name.
    pub joined: u64,
    /// Look-ups that the name servers answered, be it that there is no such name.
    pub answered: u64,
    /// Look-ups that the name servers did not answer.
    pub failed: u64,
    /// Look-ups that had no turn: too many were waiting before them.
    pub refused: u64,
    /// Look-ups that ended because nobody waited for them any more.
    pub abandoned: u64,
    /// Datagrams that answered nothing that was asked.
    pub strays: u64,
    /// Look-ups under way or waiting for their turn now.
    pub waiting: usize,
    /// Answers in memory now, their lifetime over or not.
    pub cached: usize,
}

/// The counters behind [`DnsStats`].
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) queries: Count,
    pub(super) cache_hits: Count,
    pub(super) joined: Count,
    pub(super) answered: Count,
    pub(super) failed: Count,
    pub(super) refused: Count,
    pub(super) abandoned: Count,
    pub(super) strays: Count,
}

impl Counts {
    pub(super) fn stats(&self, waiting: usize, cached: usize) -> DnsStats {
        DnsStats {
            queries: self.queries.get(),
            cache_hits: self.cache_hits.get(),
            joined: self.joined.get(),
            answered: self.answered.get(),
            failed: self.failed.get(),
            refused: self.refused.get(),
            abandoned: self.abandoned.get(),
            strays: self.strays.get(),
            waiting,
            cached,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
