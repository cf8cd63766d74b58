//! Robots files: fetched from their server, or from where a redirect leads (RFC 9309 §2.3.1.2).
//!
//! A robots file on another server is fetched as a step of *that* server: it waits for the delay of that server and its
//! address like any other request there, while the pages of the asking server wait. A file is fetched once a day,
//! however many servers are redirected to it: all of them, and the server whose own file it is, share the answer.
//!
//! A redirect target is judged like a page, by the opt-out list, takedowns and its address; if it may not be requested,
//! the file counts as unreachable. Robots rules of the target's server do not apply: RFC 9309 says that the file must
//! be fetched.
//!
//! **Invariant:** a server waits exactly as long as it is among the waiters of one robots fetch, its own or another
//! server's. Robots fetches need no robots rules, so they never wait for each other.

use super::complete::{ResultUse, StepResult};
use super::{Frontier, Step, Task};
use crate::loaded_page::split_key;
use crate::robots_cache::RobotsWaiter;
use crate::servers::ServerId;
use base::door::Request;
use base::url::Scheme;
use base::{Outcome, PageUrl, Timestamp};
use robots::{Need, RobotsAnswer};

/// Maximum number of known servers; beyond it robots files on new servers are not fetched.
const SERVERS_MAX: usize = 50_000_000;

impl Frontier {
    /// Starts a server's robots fetch, and schedules the server for other requests meanwhile.
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

    /// The known answer of a robots file that was fetched for others.
    fn known_robots_answer(&mut self, url: &PageUrl, now: Timestamp) -> Option<(RobotsAnswer, Timestamp)> {
        let server = self.servers.of_url(url).filter(|_| is_home(url))?;
        self.robots.said(server, url.scheme(), now)
    }

    /// Adds a waiter for a robots file, and queues its fetch unless one is queued or under way.
    fn queue_robots_fetch(&mut self, target: ServerId, url: PageUrl, waiter: RobotsWaiter) {
        if self.robots.wait(&url, waiter) {
            self.servers[target].robots_fetches.push_back(url);
            self.reschedule(target);
        }
    }

    /// The server of a robots file, if it may be requested, and is known or there is room for one more. A robots file
    /// that was taken down is still obeyed but not archived; other pages that were taken down are not requested.
    fn server_for_robots(&mut self, url: &PageUrl) -> Option<ServerId> {
        let room = self.servers.of_url(url).is_some() || self.servers.len() < SERVERS_MAX;
        let fit = is_home(url) || !self.intake.is_excluded(url.key().as_str());
        (room && fit).then(|| self.server_of(&url.server(), split_key(url.key().as_str()).0))
    }

    /// Whether a robots file is fetched here next. It alternates with due pages, so that a server to which many
    /// redirect is not asked for robots files alone.
    pub(super) fn robots_fetch_is_next(&self, server: ServerId, now: Timestamp) -> bool {
        let state = &self.servers[server];
        let page_waits = || state.pages_due(self.workbench.queue(server)).is_none_or(|at| at > now);
        !state.robots_fetches.is_empty() && (!state.last_was_robots || page_waits())
    }

    /// The first robots file to fetch here; `None` if its address is not free.
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

    /// Takes the result of a step of a robots fetch.
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

    /// Gives the answer to the server whose own file this is, unless it has one or is waiting elsewhere.
    fn deliver_to_owner(&mut self, server: ServerId, url: &PageUrl, answer: &RobotsAnswer, now: Timestamp) {
        let need = self.robots.needs(server, &self.servers[server].name, url.scheme(), now);
        if matches!(need, Need::Ask(place) if place == *url) {
            self.learn_robots((server, url.scheme()), answer, now);
        }
    }

    fn learn_robots(&mut self, asker: RobotsWaiter, answer: &RobotsAnswer, now: Timestamp) {
        let state = &mut self.servers[asker.0];
        let delay = self.robots.learn(asker, &state.name, answer, now);
        state.set_crawl_delay(delay, now);
        state.keep_crawl_delay();
    }

    fn deliver_robots(&mut self, waiters: Vec<RobotsWaiter>, answer: &RobotsAnswer, now: Timestamp) {
        for (asker, scheme) in waiters {
            self.learn_robots((asker, scheme), answer, now);
            self.servers[asker].awaits_robots = false;
            self.servers.touch(asker);
            self.reschedule(asker);
        }
    }
}

/// Whether a URL is that of its server's own robots file.
pub(super) fn is_home(url: &PageUrl) -> bool {
    url.target() == "/robots.txt"
}
