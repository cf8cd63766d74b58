//! Pages whose visit failed with something that may pass: they are visited again within the run, after growing waits.
//!
//! The wait is part of the page's state, so it is the same when the schedule is rebuilt. The store counts in minutes; a page that
//! waits for less is kept here until its moment, and comes back from the store if the run ends before.

use super::{Frontier, PageLocation};
use crate::error::Result;
use crate::loaded_page::LoadedPage;
use crate::moment::moment;
use crate::report::Failing;
use crate::state::{LastOutcome, State};
use base::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many pages wait here at most; the others wait in the store.
const RETRIES_HELD_MAX: usize = 10_000;

/// The pages that wait, by their moment, and how many pages of the store have failed.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    waiting: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// Pages whose last visit failed, over all servers.
    pub(super) failing: u64,
    /// Those of them that are visited again soon.
    pub(super) retrying: u64,
}

impl Retries {
    /// When the first page that waits here may be visited.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.waiting.peek().map(|Reverse((at, _))| *at)
    }
}

impl Frontier {
    /// Keeps a page until its moment.
    pub(super) fn wait_for_retry(&mut self, server: u32, loaded: LoadedPage, at: Timestamp) {
        if self.retries.waiting.len() < RETRIES_HELD_MAX {
            self.retries.waiting.push(Reverse((at, loaded.number.0)));
            self.held.insert(loaded.number.0, PageLocation::Retrying(server, loaded));
        }
    }
    /// Puts the pages whose moment has come into the queues of their servers.
    pub(super) fn take_retries(&mut self, now: Timestamp) -> Result<()> {
        while let Some(Reverse((_, number))) = self.retries.waiting.peek().copied().filter(|it| it.0.0 <= now)
        {
            self.retries.waiting.pop();
            // It may have gone its way meanwhile.
            if let Some(PageLocation::Retrying(..)) = self.held.get(&number)
                && let Some(PageLocation::Retrying(server, loaded)) = self.held.remove(&number)
            {
                let state = loaded.state();
                self.enqueue(server, loaded, &state, now)?;
            }
        }
        Ok(())
    }

    /// Counts a page that failed, or no longer counts it.
    pub(super) fn count_failing(&mut self, server: u32, state: &State, is_added: bool) {
        let kept = &mut self.servers[server as usize].kept;
        let one = |is_so: bool, sum: &mut u64, total: &mut u64| {
            if is_so && is_added {
                (*sum, *total) = (*sum + 1, *total + 1);
            } else if is_so && *sum > 0 {
                (*sum, *total) = (*sum - 1, total.saturating_sub(1));
            }
        };
        one(state.is_failing(), &mut kept.failing, &mut self.retries.failing);
        one(state.is_retried(), &mut kept.retrying, &mut self.retries.retrying);
    }
    /// How many pages failed at their last visit.
    #[must_use]
    pub fn failing_pages(&self) -> u64 {
        self.retries.failing
    }
    /// The pages that failed at their last visit, at most so many; every page is looked at.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn failing(&mut self, limit: usize) -> Result<Vec<Failing>> {
        let mut all = Vec::new();
        if self.retries.failing == 0 {
            return Ok(all);
        }
        self.store.for_each(|record| -> Result<()> {
            let state = State::read(record.value).unwrap_or_default();
            if state.is_failing() && all.len() < limit {
                all.push(told(&state));
            }
            Ok(())
        })?;
        all.sort_by(|one, other| one.url.cmp(&other.url));
        Ok(all)
    }
}

fn told(state: &State) -> Failing {
    let reason = match state.outcome {
        LastOutcome::Failed => format!("status {}", state.status),
        outcome => outcome.as_str().to_owned(),
    };
    Failing {
        url: state.url.clone(),
        reason,
        failures: state.failures,
        last_visit: Timestamp::from_micros(state.last_visit),
        next_due: moment(state.next_due),
    }
}
