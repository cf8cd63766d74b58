//! Servers that starve: they have loaded pages and no delay, and get no request.

use base::{Interval, Timestamp};
use frontier::Frontier;
use std::collections::HashMap;

/// How often all servers are checked.
const LOOK_EVERY: Interval = Interval::from_days(1);

/// The longest such time of every server, in whole checks.
#[derive(Debug, Default)]
pub(super) struct Starvation {
    looked: Option<Timestamp>,
    /// Since when, and how many requests had been made of it then.
    waiting: HashMap<String, (Timestamp, u64)>,
    pub(super) longest: Option<(Interval, String)>,
}

impl Starvation {
    pub(super) fn look(&mut self, frontier: &Frontier, now: Timestamp) {
        if self.looked.is_some_and(|looked| now.since(looked) < LOOK_EVERY) {
            return;
        }
        self.looked = Some(now);
        for server in frontier.servers(now) {
            let rests = server.resting_until.is_some_and(|until| until > now);
            if server.queued == 0 || rests || server.failures > 0 {
                self.waiting.remove(&server.server);
                continue;
            }
            let (since, requests) =
                *self.waiting.entry(server.server.clone()).or_insert((now, server.requests));
            if requests != server.requests {
                self.waiting.insert(server.server, (now, server.requests));
                continue;
            }
            let waited = now.since(since);
            if self.longest.as_ref().is_none_or(|(longest, _)| waited > *longest) && waited > Interval::ZERO {
                self.longest = Some((waited, server.server));
            }
        }
    }
}
