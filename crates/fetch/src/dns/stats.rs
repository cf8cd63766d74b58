//! Counters of the look-ups.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of the look-ups so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DnsStats {
    /// Queries sent, retries included.
    pub queries: u64,
    /// Look-ups answered from the cache.
    pub cache_hits: u64,
    /// Look-ups that joined a running one for the same name.
    pub joined: u64,
    /// Look-ups that the name servers answered, including that a name does not exist.
    pub answered: u64,
    /// Look-ups that the name servers did not answer.
    pub failed: u64,
    /// Look-ups refused because too many were waiting.
    pub refused: u64,
    /// Look-ups cancelled because no caller waited for them any more.
    pub abandoned: u64,
    /// Datagrams that matched no query.
    pub strays: u64,
    /// Look-ups running or waiting now.
    pub waiting: usize,
    /// Answers in the cache now, expired or not.
    pub cached: usize,
}

/// The counters of [`DnsStats`].
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
