//! Selects the next server among those whose delay has passed, in turn, so that none starves.

use super::{Frontier, Next, Step, Task};
use crate::Role;
use crate::error::Result;
use crate::loaded_page::{LoadedPage, Rank};
use crate::scope::ScopeVerdict;
use crate::servers::ServerId;
use crate::state::{State, Version};
use base::door::Request;
use base::{PageUrl, Refusal, Timestamp};
use robots::{Need, RobotsRules};
use std::net::SocketAddr;

impl Frontier {
    /// The next task at `now`.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn next(&mut self, now: Timestamp) -> Result<Next> {
        if self.crawl.is_paused {
            return Ok(Next::Idle);
        }
        self.refill(now)?;
        self.take_retries(now)?;
        if let Some(until) = self.held_up_until(now) {
            return Ok(Next::Wait(until));
        }
        if let Some(task) = self.probe(now)? {
            return Ok(Next::Do(task));
        }
        while let Some(at) = self.workbench.next_ready() {
            if at > now {
                return Ok(Next::Wait(at.min(self.next_refill())));
            }
            if let Some((at, server)) = self.workbench.pop_ready()
                && let Some(task) = self.select_for(server, at, now)?
            {
                return Ok(Next::Do(task));
            }
        }
        Ok(Next::Wait(self.next_refill()))
    }
    /// Until when no requests are sent: the day's budget is spent (D18), or the network is down.
    fn held_up_until(&mut self, now: Timestamp) -> Option<Timestamp> {
        let crawl = &self.crawl;
        let is_today = crawl.day == Self::day(now);
        let spent = |most: Option<u64>, used: u64| most.is_some_and(|most| is_today && used >= most);
        if spent(self.settings.requests_per_day_max, crawl.day_requests)
            || spent(self.settings.bytes_per_day_max, crawl.day_bytes)
        {
            return Some(Self::tomorrow(now));
        }
        self.outage.waits_until(now)
    }

    /// The task of a server scheduled for this moment; `None` if it is not its turn.
    pub(super) fn select_for(
        &mut self,
        server: ServerId,
        listed: Timestamp,
        now: Timestamp,
    ) -> Result<Option<Task>> {
        if !self.workbench.unlist(server, listed) {
            // It was rescheduled for another moment.
            return Ok(None);
        }
        let state = &self.servers[server];
        if !state.has_width() {
            return Ok(None);
        }
        // Its delay may have grown since it was scheduled.
        if let Some(until) = state.rests_until(now) {
            self.workbench.list_at(server, until);
            return Ok(None);
        }
        if let Some(until) = self.has_spent(server, now) {
            self.servers[server].leave_until(until);
            self.workbench.list_at(server, until);
            return Ok(None);
        }
        let Some(step) = self.step(server, now)? else {
            self.reschedule(server);
            return Ok(None);
        };
        self.servers[server].in_flight += 1;
        if !matches!(step, Step::Refuse(..)) {
            self.outage.probed(now);
        }
        self.reschedule(server);
        Ok(Some(Task { server, step }))
    }
    /// Until when a server is not visited because the day's requests or bytes are spent (D18).
    fn has_spent(&self, server: ServerId, now: Timestamp) -> Option<Timestamp> {
        let kept = &self.servers[server].kept;
        let is_today = kept.day == Self::day(now);
        let spent = |most: Option<u64>, used: u64| most.is_some_and(|most| is_today && used >= most);
        let has = spent(self.settings.server_requests_per_day_max, kept.day_requests)
            || spent(self.settings.server_bytes_per_day_max, kept.day_bytes);
        has.then(|| Self::tomorrow(now))
    }

    /// The next task of a server whose delay has passed; `None` if its address is not free, and then it is rescheduled.
    fn step(&mut self, server: ServerId, now: Timestamp) -> Result<Option<Step>> {
        if self.robots_fetch_is_next(server, now) {
            return Ok(self.start_robots_fetch(server, now));
        }
        while !self.servers[server].awaits_robots && !self.waits_for_pages(server, now) {
            let Some(rank) = self.head(server, now)? else { return Ok(None) };
            let Some(state) = self.workbench.queue(server).get(rank).map(LoadedPage::state) else {
                return Ok(None);
            };
            let Ok(url) = PageUrl::parse(&state.url) else {
                // It was a URL when it was added; one that can no longer be parsed is never requested.
                self.leave_out(server, rank)?;
                continue;
            };
            if self.no_longer_wanted(server, &url, state.role) {
                self.leave_out(server, rank)?;
                continue;
            }
            if self.hold_queued(server, rank, &state, now)? {
                continue;
            }
            let step = self.page_step(server, rank, &url, &state, now);
            if step.is_some() {
                self.servers[server].last_was_robots = false;
            }
            return Ok(step);
        }
        Ok(None)
    }
    fn waits_for_pages(&self, server: ServerId, now: Timestamp) -> bool {
        self.servers[server].pages_due(self.workbench.queue(server)).is_none_or(|at| at > now)
    }

    fn page_step(
        &mut self,
        server: ServerId,
        rank: Rank,
        url: &PageUrl,
        state: &State,
        now: Timestamp,
    ) -> Option<Step> {
        let address = self.servers[server].address(url.scheme(), now);
        if let Some(refusal) = self.opted_out(url, address) {
            return Some(self.refuse(server, rank, url, refusal));
        }
        let need = self.robots.needs(server, &self.servers[server].name, url.scheme(), now);
        let refusal = match (need, address) {
            (Need::Ask(_), None) => return self.look_up(server, rank, url),
            (Need::Ask(file), Some(_)) => {
                self.request_robots(server, url.scheme(), file, now);
                return None;
            }
            (Need::Known(rules), _) => refusal(&rules, url),
            (Need::Unreachable(until), _) => {
                // One refusal is enough; the other pages wait until the file is fetched again.
                self.servers[server].leave_pages_until(until);
                Some(Refusal::RobotsUnreachable)
            }
        };
        if let Some(refusal) = refusal {
            return Some(self.refuse(server, rank, url, refusal));
        }
        let Some(to) = address else { return self.look_up(server, rank, url) };
        self.take_address(server, to, now)?;
        let page = self.take_out(server, rank);
        self.pay(server, rank, state);
        Some(Step::Visit(page, to, request(url, state)))
    }
    fn look_up(&mut self, server: ServerId, rank: Rank, url: &PageUrl) -> Option<Step> {
        let state = &mut self.servers[server];
        if std::mem::replace(&mut state.is_resolving, true) {
            return None;
        }
        let page = self.workbench.queue(server).get(rank).map(|loaded| loaded.number);
        Some(Step::LookUp(page, url.clone(), url.origin()))
    }
    fn refuse(&mut self, server: ServerId, rank: Rank, url: &PageUrl, refusal: Refusal) -> Step {
        let page = self.take_out(server, rank);
        Step::Refuse(Some(page), url.clone(), refusal)
    }
    /// Takes a page out of a server's queue, to be visited.
    ///
    /// # Panics
    /// When it is not there.
    fn take_out(&mut self, server: ServerId, rank: Rank) -> sat::Number {
        self.workbench.start_visit(server, rank).expect("the page is in the queue")
    }
    /// Whether scope, exclusions or aliases changed since the page was added, so that it is no longer visited (D18).
    fn no_longer_wanted(&self, server: ServerId, url: &PageUrl, role: Role) -> bool {
        self.servers[server].alias_of.is_some()
            || self.intake.is_excluded(url.key().as_str())
            || matches!(self.judge_scope(url, role), ScopeVerdict::Leave(_))
    }
    /// Puts off a queued page for the longest possible time. Pages of an alias continue under the other name.
    fn leave_out(&mut self, server: ServerId, rank: Rank) -> Result<()> {
        let Some(loaded) = self.workbench.dequeue(server, rank) else { return Ok(()) };
        self.forget_page(server, &loaded)
    }
    fn forget_page(&mut self, server: ServerId, loaded: &LoadedPage) -> Result<()> {
        let state = loaded.state();
        self.forget(server, loaded.number, &state)?;
        let other = self.servers[server].alias_of.is_some();
        if let Some(url) = PageUrl::parse(&state.url).ok().filter(|_| other) {
            self.accept_again(&url, &state)?;
        }
        Ok(())
    }

    /// Whether the operator's opt-out list forbids a URL, or its address.
    pub(super) fn opted_out(&self, url: &PageUrl, address: Option<SocketAddr>) -> Option<Refusal> {
        let list = &self.settings.opt_out;
        let by_address = || address.and_then(|address| list.refuses_address(address.ip()));
        list.refuses(url).or_else(by_address).map(|line| Refusal::OptOut(line.to_string()))
    }

    pub(super) fn take_address(&mut self, server: ServerId, to: SocketAddr, now: Timestamp) -> Option<()> {
        match self.address_of(to.ip()).take(server, now) {
            Ok(()) => Some(()),
            Err(Some(free_at)) => {
                self.servers[server].leave_until(free_at);
                None
            }
            Err(None) => {
                // It waits for the address and is rescheduled when that is released.
                self.servers[server].waits = true;
                None
            }
        }
    }
}

/// The request for a page: conditional if the archive already holds what a 304 would refer to (H13).
fn request(url: &PageUrl, state: &State) -> Request {
    let mut request = Request::get(url.clone());
    if matches!(state.version, Version::Content(_)) {
        let fields = [("If-None-Match", &state.etag), ("If-Modified-Since", &state.last_modified)];
        for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            request.fields.push((name, value.clone()));
        }
    }
    request
}

pub(super) fn refusal(rules: &RobotsRules, url: &PageUrl) -> Option<Refusal> {
    let verdict = rules.judge(url.target());
    (!verdict.allowed)
        .then(|| Refusal::Robots(verdict.line.map(|line| line.text.clone()).unwrap_or_default()))
}
