//! Pages whose visit failed with something that may pass: they are visited again within the run, after growing waits.
//!
//! The wait is part of the page's state, so it is the same when the schedule is rebuilt. The store counts in minutes; a page that
//! waits for less is kept here until its moment, and comes back from the store if the run ends before.

use super::Frontier;
use crate::error::Result;
use crate::moment::moment;
use crate::report::Failing;
use crate::state::{LastOutcome, State};
use base::Timestamp;

impl Frontier {
    /// Queues the pages whose retry is due.
    pub(super) fn take_retries(&mut self, now: Timestamp) -> Result<()> {
        while let Some((server, loaded)) = self.workbench.take_retry(now) {
            let state = loaded.state();
            self.enqueue(server, loaded, &state, now)?;
        }
        Ok(())
    }

    /// How many pages failed at their last visit.
    #[must_use]
    pub fn failing_pages(&self) -> u64 {
        self.census.all().failing
    }
    /// The pages that failed at their last visit, at most `limit`; every page is read.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn failing(&mut self, limit: usize) -> Result<Vec<Failing>> {
        let mut all = Vec::new();
        if self.census.all().failing == 0 {
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
