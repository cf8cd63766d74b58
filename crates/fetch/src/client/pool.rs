//! Connections kept for the next request to the same server.
//!
//! **Invariant:** a connection serves only the address and the origin it was opened for (H3), at most one is kept for
//! each, and never more than the bound; above it the least recently used one is closed.

use super::connect::Stream;
use base::url::Origin;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The destination of a connection.
pub(super) type Key = (SocketAddr, Origin);

pub(super) struct Pool {
    kept: Mutex<HashMap<Key, Kept>>,
    connections_max: usize,
    idle_time_max: Duration,
}

struct Kept {
    stream: Stream,
    since: Instant,
}

impl Pool {
    pub(super) fn new(connections_max: usize, idle_time_max: Duration) -> Self {
        Self { kept: Mutex::default(), connections_max, idle_time_max }
    }

    /// The connection kept for `key`, if it is recent and idle.
    pub(super) fn take(&self, key: &Key) -> Option<Stream> {
        let mut kept = self.lock().remove(key)?;
        (kept.since.elapsed() <= self.idle_time_max && kept.stream.is_quiet()).then_some(kept.stream)
    }

    /// Keeps a connection; closes expired ones and, if there are too many, the oldest.
    pub(super) fn put(&self, key: Key, stream: Stream) {
        let mut kept = self.lock();
        kept.retain(|_, kept| kept.since.elapsed() <= self.idle_time_max);
        kept.insert(key, Kept { stream, since: Instant::now() });
        if kept.len() > self.connections_max {
            let oldest = kept.iter().min_by_key(|(_, kept)| kept.since).map(|(key, _)| key.clone());
            oldest.and_then(|key| kept.remove(&key));
        }
    }

    /// A panic elsewhere leaves the map consistent, so poisoning can be ignored.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool of {} connections", self.lock().len())
    }
}
