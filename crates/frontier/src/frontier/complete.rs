//! The result of a task: server and address are free again, after their delay. If no server can be reached, the network
//! is down, and nothing is learned from results ([`super::outage`]).

use super::{Frontier, Step, Task};
use crate::error::Result;
use crate::servers::ServerId;
use base::door::{Cause, Failure, Found};
use base::url::Scheme;
use base::{Interval, Outcome, Refusal, Timestamp};
use robots::{RobotsAnswer, Standing};

/// How long a server waits after a failure that is not its own.
const OWN_FAILURE_DELAY: Interval = Interval::from_minutes(1);
/// How a step ended.
#[derive(Debug)]
pub enum StepResult<'a> {
    /// A look-up.
    LookedUp(Result<Found, Failure>),
    /// A robots file: the outcome, and what it means.
    Robots(&'a Outcome, &'a RobotsAnswer),
    /// A visit: the outcome, and the bytes that came.
    Visited(&'a Outcome, u64),
    /// A refusal.
    Refused,
}

/// What the result of a task is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultUse {
    /// It is archived, and then the page learns from it.
    ArchiveAndLearn,
    /// It is archived, because a proxy refused the request. The page learns nothing and keeps its turn.
    ArchiveOnly,
    /// It is discarded, because no request was sent or our own network is down. The page keeps its turn.
    Discard,
}

impl Frontier {
    /// Takes the result of a task. For a request that was sent it includes the time that it took by the frontier's
    /// clock.
    ///
    /// # Errors
    /// When the store cannot be written.
    ///
    /// # Panics
    /// When `done` is not of the task's kind.
    pub fn complete(
        &mut self,
        task: &Task,
        done: &StepResult<'_>,
        took: Interval,
        now: Timestamp,
    ) -> Result<ResultUse> {
        let server = task.server;
        self.servers[server].in_flight -= 1;
        if let Some(to) = task.step.to() {
            self.rest(server, to, took, now);
            self.count_request(server, done, now);
        }
        if let Step::LookUp(Some(_), ..) = task.step {
            self.servers[server].is_resolving = false;
        }
        let worth = match task.step.robots_url() {
            Some(url) => self.complete_robots_fetch(task, url, done, now),
            None => self.complete_page(task, done, (now.minus(took), now))?,
        };
        self.reschedule(server);
        Ok(worth)
    }

    /// Completes a robots task without a fetch, because the archive has the result (D3).
    ///
    /// # Panics
    /// When the task is for something else.
    pub fn complete_from_archive(&mut self, task: &Task, standing: &Standing, now: Timestamp) {
        let Step::Robots(to, request) = &task.step else { panic!("`{task:?}` asks for no robots file") };
        let server = task.server;
        self.servers[server].in_flight -= 1;
        let free_at = self.address_of(to.ip()).free_at();
        self.free_address(to.ip(), free_at);
        // Other servers that were redirected here ask again, and get the answer that the file's owner has.
        let delay = self.robots.recall(server, request.url.scheme(), standing.clone());
        self.servers[server].set_crawl_delay(delay, now);
        for (asker, _) in self.robots.end(&request.url) {
            self.servers[asker].awaits_robots = false;
            self.reschedule(asker);
        }
        self.reschedule(server);
    }

    /// Completes a task of a page that began and ended at these moments.
    fn complete_page(
        &mut self,
        task: &Task,
        done: &StepResult<'_>,
        (began, now): (Timestamp, Timestamp),
    ) -> Result<ResultUse> {
        let server = task.server;
        match (&task.step, done) {
            (Step::LookUp(Some(page), _, origin), StepResult::LookedUp(result)) => match result {
                Ok(found) => {
                    self.set_address(server, origin.scheme, found, now);
                    Ok(ResultUse::Discard)
                }
                Err(failure) => {
                    let outcome = Outcome::of_failure(failure);
                    let worth = self.judge(server, &outcome, now);
                    if worth == ResultUse::ArchiveAndLearn {
                        self.workbench.start_visit_of(*page);
                        self.apply_look_up_failure(server, failure, now);
                    } else {
                        self.servers[server].leave_until(now.plus(OWN_FAILURE_DELAY));
                    }
                    Ok(worth)
                }
            },
            (Step::Visit(page, ..), StepResult::Visited(outcome, _)) => {
                let worth = self.judge(server, outcome, now);
                if worth != ResultUse::ArchiveAndLearn {
                    let wait = wait_after_hold(outcome);
                    self.servers[server].leave_until(now.plus(wait));
                    self.requeue(*page, now)?;
                } else {
                    self.apply_outcome(server, outcome, began, now);
                }
                Ok(worth)
            }
            (Step::Refuse(..), StepResult::Refused) => Ok(ResultUse::ArchiveAndLearn),
            (step, done) => panic!("`{done:?}` is no end of `{step:?}`"),
        }
    }

    /// What a failed look-up means for the server. If its address may not be visited, no request was sent, and the
    /// server need not wait once the settings allow it.
    fn apply_look_up_failure(&mut self, server: ServerId, failure: &Failure, now: Timestamp) {
        let state = &mut self.servers[server];
        if matches!(failure.cause, Cause::ForbiddenAddress { .. } | Cause::NoContact) {
            state.leave_until(now.plus(state.pause));
        } else {
            state.back_off(None, now);
            self.servers.touch(server);
        }
    }

    /// What the result of a robots fetch is used for. If no request was sent, or our network is down, the server waits for a while.
    pub(super) fn robots_fetch_use(
        &mut self,
        server: ServerId,
        done: &StepResult<'_>,
        now: Timestamp,
    ) -> ResultUse {
        let outcome = match done {
            StepResult::Robots(outcome, _) => (*outcome).clone(),
            StepResult::LookedUp(Err(failure)) => Outcome::of_failure(failure),
            _ => return ResultUse::ArchiveAndLearn,
        };
        let worth = self.judge(server, &outcome, now);
        if worth != ResultUse::ArchiveAndLearn {
            let wait = wait_after_hold(&outcome);
            self.servers[server].leave_until(now.plus(wait));
        }
        worth
    }

    /// Whether an outcome concerns the page, and what it shows about the network.
    fn judge(&mut self, server: ServerId, outcome: &Outcome, now: Timestamp) -> ResultUse {
        match outcome {
            Outcome::Refused(_) if outcome.is_held_back() => ResultUse::ArchiveOnly,
            outcome if outcome.is_held_back() => ResultUse::Discard,
            Outcome::Unreachable(failure) if self.outage.failed(server, failure, now) => ResultUse::Discard,
            // There was no answer, so nothing is known about the network.
            Outcome::Refused(_) | Outcome::Unreachable(_) => ResultUse::ArchiveAndLearn,
            _ => {
                self.outage.answered(server);
                ResultUse::ArchiveAndLearn
            }
        }
    }
    /// What an outcome means for the server.
    fn apply_outcome(&mut self, server: ServerId, outcome: &Outcome, began: Timestamp, now: Timestamp) {
        let state = &mut self.servers[server];
        match outcome {
            Outcome::Failed { retry_after, status: status @ (429 | 503) } => {
                let pause = state.least_pause();
                state.kept.slow.refuse(*status, pause, began, now);
                state.back_off(*retry_after, now);
            }
            Outcome::Failed { retry_after: Some(wait), .. } => state.back_off(Some(*wait), now),
            Outcome::Failed { status: 500.., .. } => state.count_page_error(now),
            Outcome::Unreachable(_) => state.back_off(None, now),
            Outcome::Refused(_) => {}
            _ => {
                state.forget_failures();
                let pause = state.least_pause();
                state.kept.slow.ease(pause, now);
            }
        }
        self.servers.touch(server);
    }

    /// Puts a page whose turn had no result back to the front.
    fn requeue(&mut self, page: sat::Number, now: Timestamp) -> Result<()> {
        if let Some((server, loaded)) = self.workbench.end_visit(page) {
            let state = loaded.state();
            self.enqueue(server, loaded, &state, now)?;
        }
        Ok(())
    }

    fn count_request(&mut self, server: ServerId, done: &StepResult<'_>, now: Timestamp) {
        let bytes = if let StepResult::Visited(_, bytes) = done { *bytes } else { 0 };
        let day = Self::day(now);
        self.servers[server].kept.count(day, bytes);
        self.servers.touch(server);
        self.crawl.count(day, bytes);
    }

    /// The end of a request: the delays of server and address begin, and servers that waited for the address are
    /// scheduled again. A slow server waits for as long as its answer took (H13); a server with an agreement does so
    /// only if its answers take much longer than before.
    fn rest(&mut self, server: ServerId, to: std::net::IpAddr, took: Interval, now: Timestamp) {
        let state = &mut self.servers[server];
        state.latency.learn(took);
        let slow = if state.is_agreed { state.latency.delay() } else { took };
        let pause = state.pause.max(slow);
        state.rest(pause, now);
        let address = self.address_of(to);
        let free_at =
            now.plus(if address.pause == Interval::ZERO { address.pause } else { address.pause.max(took) });
        self.free_address(to, free_at);
    }
    fn free_address(&mut self, to: std::net::IpAddr, free_at: Timestamp) {
        let address = self.address_of(to);
        let (pause, width) = (address.pause, address.width.max(1));
        // A server later in the queue cannot be served before the earlier ones.
        for (place, server) in (0_u32..).zip(address.give_back(free_at)) {
            let turn = free_at.plus(pause.times(f64::from(place / width)));
            self.servers[server].waits = false;
            self.servers[server].leave_until(turn);
            self.reschedule(server);
        }
    }

    /// The first address counts while the answer is valid (D6).
    pub(super) fn set_address(&mut self, server: ServerId, scheme: Scheme, found: &Found, now: Timestamp) {
        let first = *found.addresses.first().expect("a look-up that succeeds finds an address");
        self.servers[server].set_address(scheme, first, now.plus(found.lifetime));
        self.move_load(server, first.ip());
    }
    /// Counts the load of a server at its latest address.
    pub(super) fn move_load(&mut self, server: ServerId, to: std::net::IpAddr) {
        let kept = &mut self.servers[server].kept;
        if kept.address == Some(to) {
            return;
        }
        let (load, from) = (kept.load.units(), kept.address.replace(to));
        if let Some(address) = from.and_then(|from| self.addresses.get_mut(from)) {
            address.remove_load(load);
        }
        self.address_of(to).add_load(load);
        self.servers.touch(server);
    }
}

/// How long to wait before a request that was held back is sent again.
fn wait_after_hold(outcome: &Outcome) -> Interval {
    match outcome {
        Outcome::Refused(Refusal::Proxy { retry_after: Some(wait), .. }) => *wait,
        _ => OWN_FAILURE_DELAY,
    }
}
