//! Robots files: asked for where they belong, or where a redirect leads (RFC 9309 §2.3.1.2).
//!
//! A robots file that lies on another server is asked for as a step of *that* server: it waits for that server's
//! pause and for its address like any other request there, while the pages of the one who asks wait. A file is asked
//! for once a day, whoever is sent to it: who asks meanwhile shares the answer, who asks later learns what it said, and
//! the server whose own file it is learns it too.
//!
//! A hop is judged like a page, by the opt-out list, by what was taken down and by its address, and what may not be
//! asked for cannot be had. Robots rules of the server it leads to do not count for it: the file is the word of the
//! server that sent us, and RFC 9309 says that it must be fetched.
//!
//! **Invariant:** a server is away exactly as long as one robots fetch, its own or another server's, carries it among its
//! askers. Robots fetches need no robots rules, so they never wait for each other.

use super::complete::{ResultUse, StepResult};
use super::{Frontier, Step, Task};
use crate::loaded_page::split_key;
use crate::robots_cache::RobotsWaiter;
use crate::servers::ServerId;
use base::door::Request;
use base::url::Scheme;
use base::{Outcome, PageUrl, Timestamp};
use robots::{Need, RobotsAnswer};

/// So many servers are known before no robots file is looked for on a new one.
const SERVERS_MAX: usize = 50_000_000;

impl Frontier {
    /// Sends a server for its robots file, and lists it for whatever it is asked for meanwhile.
    pub(super) fn request_robots(&mut self, server: ServerId, scheme: Scheme, url: PageUrl, now: Timestamp) {
        self.servers[server].awaits_robots = true;
        let asker = (server, scheme);
        match (self.known_robots_answer(&url, now), self.server_for_robots(&url)) {
            (Some((answer, came)), _) => self.deliver_robots(vec![asker], &answer, came),
            (None, Some(target)) => self.queue_robots_fetch(target, url, asker),
            (None, None) => self.deliver_robots(vec![asker], &RobotsAnswer::Unreachable(None), now),
        }
        self.reschedule(server);
    }

    /// What is known of a robots file that was asked for by others.
    fn known_robots_answer(&mut self, url: &PageUrl, now: Timestamp) -> Option<(RobotsAnswer, Timestamp)> {
        let server = self.servers.of_url(url).filter(|_| is_home(url))?;
        self.servers[server].robots_said(url.scheme(), now)
    }

    /// Adds a waiter for a robots file, and queues its fetch unless one is queued or under way.
    fn queue_robots_fetch(&mut self, target: ServerId, url: PageUrl, waiter: RobotsWaiter) {
        if self.robots.wait(&url, waiter) {
            self.servers[target].robots_fetches.push_back(url);
            self.reschedule(target);
        }
    }

    /// The server of a robots file, if it may be asked, and is known or there is room for one more. A robots file that
    /// was taken down is still obeyed, and not archived; any other page that was taken down is left alone.
    fn server_for_robots(&mut self, url: &PageUrl) -> Option<ServerId> {
        let room = self.servers.of_url(url).is_some() || self.servers.len() < SERVERS_MAX;
        let fit = is_home(url) || !self.intake.is_excluded(url.key().as_str());
        (room && fit).then(|| self.server_of(&url.server(), split_key(url.key().as_str()).0))
    }

    /// Whether a robots file is asked for here next. A page that is due comes in between, so that a server which many
    /// are sent to is not asked for robots files alone.
    pub(super) fn robots_fetch_is_next(&self, server: ServerId, now: Timestamp) -> bool {
        let state = &self.servers[server];
        let page_waits = || state.pages_due(self.workbench.queue(server)).is_none_or(|at| at > now);
        !state.robots_fetches.is_empty() && (!state.last_was_robots || page_waits())
    }

    /// The first robots file to ask for here; nothing when its address is not free.
    pub(super) fn start_robots_fetch(&mut self, server: ServerId, now: Timestamp) -> Option<Step> {
        let url = self.servers[server].robots_fetches.front()?.clone();
        let step = self.robots_fetch_step(server, &url, now)?;
        let state = &mut self.servers[server];
        state.robots_fetches.pop_front();
        state.last_was_robots = true;
        Some(step)
    }

    fn robots_fetch_step(&mut self, server: ServerId, url: &PageUrl, now: Timestamp) -> Option<Step> {
        let address = self.servers[server].address(url.scheme(), now);
        if let Some(refusal) = self.opted_out(url, address) {
            return Some(Step::Refuse(None, url.clone(), refusal));
        }
        let Some(to) = address else {
            return Some(Step::LookUp(None, url.clone(), url.origin()));
        };
        self.take_address(server, to, now)?;
        Some(Step::Robots(to, Request::get(url.clone())))
    }

    /// Takes back a step of an robots fetch.
    pub(super) fn complete_robots_fetch(
        &mut self,
        task: &Task,
        url: &PageUrl,
        done: &StepResult<'_>,
        now: Timestamp,
    ) -> ResultUse {
        let worth = self.robots_fetch_use(task.server, done, now);
        if worth != ResultUse::ArchiveAndLearn {
            self.servers[task.server].robots_fetches.push_front(url.clone());
            return worth;
        }
        let state = &mut self.servers[task.server];
        let answer = match (&task.step, done) {
            (Step::LookUp(_, _, origin), StepResult::LookedUp(Ok(found))) => {
                state.robots_fetches.push_front(url.clone());
                self.set_address(task.server, origin.scheme, found, now);
                return ResultUse::Discard;
            }
            (Step::LookUp(..), StepResult::LookedUp(Err(_))) | (Step::Refuse(..), StepResult::Refused) => {
                &RobotsAnswer::Unreachable(None)
            }
            (Step::Robots(..), StepResult::Robots(outcome, answer)) => {
                if let Outcome::Failed { retry_after: Some(wait), .. } = outcome {
                    state.back_off(Some(*wait), now);
                    self.servers.touch(task.server);
                }
                *answer
            }
            (step, done) => panic!("`{done:?}` is no end of `{step:?}`"),
        };
        let waiters = self.robots.end(url);
        if is_home(url) && !waiters.contains(&(task.server, url.scheme())) {
            self.deliver_to_owner(task.server, url, answer, now);
        }
        self.deliver_robots(waiters, answer, now);
        ResultUse::ArchiveAndLearn
    }

    /// Tells the server whose own file this is what it said, unless it knows, or is asking elsewhere.
    fn deliver_to_owner(&mut self, server: ServerId, url: &PageUrl, answer: &RobotsAnswer, now: Timestamp) {
        let state = &mut self.servers[server];
        if matches!(state.robots(url.scheme(), now), Need::Ask(place) if place == *url) {
            state.learn_robots(url.scheme(), answer, now);
        }
    }

    fn deliver_robots(&mut self, waiters: Vec<RobotsWaiter>, answer: &RobotsAnswer, now: Timestamp) {
        for (asker, scheme) in waiters {
            self.servers[asker].learn_robots(scheme, answer, now);
            self.servers[asker].awaits_robots = false;
            self.servers.touch(asker);
            self.reschedule(asker);
        }
    }
}

/// Whether a robots file lies where its server's own belongs.
pub(super) fn is_home(url: &PageUrl) -> bool {
    url.target() == "/robots.txt"
}
