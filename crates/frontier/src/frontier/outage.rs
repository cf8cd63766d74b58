//! Whether our own network is down.
//!
//! A web page can link to any number of hosts that cannot be reached. So a failure counts only when the server has
//! answered before: after [`OUTAGE_SERVERS`] such servers in a row that cannot be reached, with no answer in between,
//! the network counts as down. As long as no server has answered at all, every server counts. After that one server a
//! minute is tried, preferably one that has answered before. Nothing is learned from failures, and they are not
//! archived. The first answer ends the outage.
//!
//! **Invariant:** refused addresses and names that do not exist change nothing here.

use super::{Frontier, Task};
use crate::error::Result;
use crate::servers::ServerId;
use base::door::Failure;
use base::{Interval, Timestamp};
use std::collections::HashSet;

/// How many servers in a row cannot be reached before the network counts as down.
const OUTAGE_SERVERS: usize = 12;
/// How often a server is tried during an outage.
const OUTAGE_PROBE: Interval = Interval::from_minutes(1);

/// Whether our own network is down.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    /// The servers that have answered, in this run or recently.
    answered: HashSet<ServerId>,
    /// The servers that could not be reached since the last answer.
    failed: HashSet<ServerId>,
    pub(crate) is_down: bool,
    since: Option<Timestamp>,
    next_probe: Option<Timestamp>,
}

impl Outage {
    pub(super) fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.next_probe.filter(|probe| self.is_down && now < *probe)
    }
    /// Since when the network is down.
    pub(super) fn down_since(&self) -> Option<Timestamp> {
        self.since.filter(|_| self.is_down)
    }
    /// A request, or a look-up, is on its way.
    pub(super) fn probed(&mut self, now: Timestamp) {
        if self.is_down {
            self.next_probe = Some(now.plus(OUTAGE_PROBE));
        }
    }
    pub(super) fn has_answered(&self, server: ServerId) -> bool {
        self.answered.contains(&server)
    }
    /// A server answered in an earlier run.
    pub(super) fn recall(&mut self, server: ServerId) {
        self.answered.insert(server);
    }
    /// A server answered, so the network is up.
    pub(super) fn answered(&mut self, server: ServerId) {
        if self.is_down {
            tracing::warn!("the network is back");
        }
        self.answered.insert(server);
        self.failed.clear();
        self.is_down = false;
    }
    /// A server could not be reached. Returns whether the failure belongs to an outage, so that nothing is learned from
    /// it.
    pub(super) fn failed(&mut self, server: ServerId, failure: &Failure, now: Timestamp) -> bool {
        if !failure.cause.kind().is_network() {
            return false;
        }
        if !self.is_down && (self.answered.is_empty() || self.has_answered(server)) {
            self.failed.insert(server);
            self.is_down = self.failed.len() >= OUTAGE_SERVERS;
            if self.is_down {
                let servers = self.failed.len();
                tracing::warn!(servers, "no server can be reached: the network seems to be down");
                (self.since, self.next_probe) = (Some(now), Some(now.plus(OUTAGE_PROBE)));
            }
        }
        self.is_down
    }
}

impl Frontier {
    /// During an outage, a task of a server that has answered before, if one of those is ready.
    pub(super) fn probe(&mut self, now: Timestamp) -> Result<Option<Task>> {
        if !self.outage.is_down {
            return Ok(None);
        }
        // The listing stays in the heap, where it no longer counts once the server was selected.
        match self.workbench.find_ready(now, |server| self.outage.has_answered(server)) {
            Some((at, server)) => self.select_for(server, at, now),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::door::{Cause, Phase};
    use std::time::Duration;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");

    fn failure(cause: Cause) -> Failure {
        Failure::new(Phase::Connect, cause, Duration::ZERO)
    }
    fn servers(positions: std::ops::Range<usize>) -> impl Iterator<Item = ServerId> {
        positions.map(ServerId::at)
    }
    fn broken() -> Failure {
        failure(Cause::Broken("reset".to_owned()))
    }

    #[test]
    fn only_servers_that_answered_before_show_an_outage() {
        let mut outage = Outage::default();
        servers(0..20).for_each(|server| outage.answered(server));
        assert!(
            !servers(100..200).any(|server| outage.failed(server, &broken(), NOW)),
            "they never answered"
        );
        assert!(!servers(0..11).any(|server| outage.failed(server, &broken(), NOW)));
        outage.answered(ServerId::at(3));
        assert!(
            !servers(0..11).any(|server| outage.failed(server, &broken(), NOW)),
            "an answer begins a new count"
        );
        assert!(outage.failed(ServerId::at(11), &broken(), NOW) && outage.down_since() == Some(NOW));
        assert!(outage.failed(ServerId::at(150), &broken(), NOW), "during an outage no failure counts");
        outage.answered(ServerId::at(150));
        assert_eq!(outage.down_since(), None);
    }

    #[test]
    fn before_any_answer_every_server_counts_but_not_every_cause() {
        let mut outage = Outage::default();
        let address = "10.0.0.1".parse().unwrap();
        for cause in [
            Cause::ForbiddenAddress { address, why: "private" },
            Cause::NoSuchName,
            Cause::Tls("expired".to_owned()),
            Cause::Malformed("no status"),
        ] {
            assert!(
                !servers(0..100).any(|server| outage.failed(server, &failure(cause.clone()), NOW)),
                "{cause}"
            );
        }
        assert!(servers(0..12).any(|server| outage.failed(server, &broken(), NOW)));
    }
}
