//! Which page is visited next: a plain queue per server, politeness per server and per address (C6).
//!
//! The life of a URL: it is offered as a seed or a link, judged by its shape, put at the end of its server's
//! queue. When server and address have rested, the first page of the queue comes out. A server's address is
//! looked up and its robots file asked for before its first page; both count as steps of the server that is asked, the
//! latter as a request (`errand`). A page that was visited goes to the end of the server's second queue and comes out again when
//! nothing new is left and the revisit interval has passed; a page that may not be asked for, when the rules are asked
//! for again.
//!
//! **Invariant:** between [`Queue::next`] handing out a task for a server and [`Queue::done`] taking it back, no
//! other task of that server or of that address is handed out; after it, none for the pause.
//!
//! Not here: any I/O, any clock; every moment is handed in.

mod address;
mod errand;
mod page;
mod server;

pub use page::{Before, Page, PageId};

use crate::admit::fit;
use address::Addresses;
use base::door::{Cause, Failure, Found, Phase, Request};
use base::limits::{REDIRECTS_MAX, ROBOTS_LIFETIME};
use base::url::{Origin, Scheme};
use base::{Interval, Outcome, PageUrl, Refusal, ServerName, Timestamp, UrlKey};
use errand::Askers;
use fetch::opt_out;
use fetch::robots::{Answer, Need, Rules, Standing};
use server::Server;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;

/// How long a server waits when the trouble is not its own.
const OWN_TROUBLE_PAUSE: Interval = Interval::from_minutes(1);

/// How the queue behaves.
#[derive(Clone, Debug)]
pub struct QueueSettings {
    /// The time between two requests to one server, and to one address.
    pub pause: Interval,
    /// The time after which a page may be visited again.
    pub revisit_after: Interval,
    /// The most pages that are known at once.
    pub pages_max: usize,
    /// The product token that robots groups are matched with.
    pub agent: String,
    /// When the first request may leave: a full pause after a restart (H13).
    pub start: Timestamp,
    /// Whom to leave alone.
    pub opt_out: Arc<opt_out::List>,
}

/// What to do now.
#[derive(Debug)]
pub enum Next {
    /// This, at once.
    Do(Task),
    /// Nothing before this moment, unless a task comes back.
    Wait(Timestamp),
    /// Nothing before a task comes back.
    Idle,
}

/// A step that belongs to one server; it comes back by [`Queue::done`].
#[derive(Debug)]
pub struct Task {
    server: usize,
    /// What is to be done.
    pub step: Step,
}

/// The steps.
#[derive(Clone, Debug)]
pub enum Step {
    /// Find the address of an origin, so that a page, or a robots file, can be asked for.
    LookUp(Option<PageId>, PageUrl, Origin),
    /// Ask for a robots file.
    Robots(SocketAddr, Request),
    /// Visit a page.
    Visit(PageId, SocketAddr, Request),
    /// Do not ask for a page, or for a robots file, for this reason; nothing is sent.
    Refuse(Option<PageId>, PageUrl, Refusal),
}

impl Step {
    /// The robots file that the step is taken for; nothing when it is for a page.
    fn errand(&self) -> Option<&PageUrl> {
        match self {
            Self::LookUp(None, url, _) | Self::Refuse(None, url, _) => Some(url),
            Self::Robots(_, request) => Some(&request.url),
            _ => None,
        }
    }
}

/// How a step ended.
#[derive(Debug)]
pub enum Done {
    /// A look-up.
    LookedUp(Result<Found, Failure>),
    /// A robots file: the outcome, and what it means.
    Robots(Outcome, Answer),
    /// A visit: the outcome, and where the page points to.
    Visited(Outcome, Vec<PageUrl>),
    /// A refusal was recorded.
    Refused,
}

/// What makes the next request conditional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The entity tag.
    pub etag: Option<String>,
    /// The date of the last change, as the server wrote it.
    pub last_modified: Option<String>,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    settings: QueueSettings,
    servers: Vec<Server>,
    by_name: HashMap<ServerName, usize>,
    pages: Vec<Page>,
    by_key: HashMap<UrlKey, PageId>,
    addresses: Addresses,
    /// Who waits for which robots file.
    askers: Askers,
    /// Servers by the moment at which they may have something to do.
    ready: BinaryHeap<Reverse<(Timestamp, u64, usize)>>,
    order: u64,
    waiting: u64,
    dropped: u64,
    /// What was taken down and is not visited again (D13).
    excluded: Vec<archive::Target>,
}

impl Queue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: QueueSettings) -> Self {
        Self {
            settings,
            servers: Vec::new(),
            by_name: HashMap::new(),
            pages: Vec::new(),
            by_key: HashMap::new(),
            addresses: Addresses::default(),
            askers: Askers::new(),
            ready: BinaryHeap::new(),
            order: 0,
            waiting: 0,
            dropped: 0,
            excluded: Vec::new(),
        }
    }

    /// Takes up a page, unless it is known, has the shape of a trap, or there is no room. Tells whether it is new.
    pub fn offer(&mut self, url: PageUrl) -> bool {
        self.offer_after(url, 0)
    }

    /// Takes up a page that so many redirects led to.
    fn offer_after(&mut self, url: PageUrl, hops: usize) -> bool {
        let Some((server, page)) = self.enter(url) else { return false };
        self.pages[page.0].hops = hops;
        self.servers[server].fresh.push_back(page);
        self.waiting += 1;
        self.arrange(server);
        true
    }

    /// Leaves out these pages from now on.
    pub fn exclude(&mut self, targets: impl IntoIterator<Item = archive::Target>) {
        self.excluded.extend(targets);
    }
    /// Whether a page is left out.
    #[must_use]
    pub fn is_excluded(&self, url: &PageUrl) -> bool {
        !self.excluded.is_empty() && {
            let key = url.key().into();
            self.excluded.iter().any(|target| target.holds(&key))
        }
    }

    /// Takes up a page that the archive already holds, unless it is known: it is visited again in its turn, and
    /// compared with that.
    pub fn recall(&mut self, before: Before) {
        if let Some((server, page)) = self.enter(before.url.clone()) {
            self.pages[page.0].visited = Some(before.at);
            self.pages[page.0].before = Some(before);
            self.servers[server].seen.push_back(page);
            self.arrange(server);
        }
    }

    /// Takes over what an earlier run learned of an origin's robots file.
    pub fn recall_robots(&mut self, origin: &Origin, standing: Standing) {
        let server = self.server_named(&origin.server);
        self.servers[server].recall_robots(origin.scheme, standing);
    }

    /// Takes up several pages.
    pub fn offer_all(&mut self, urls: impl IntoIterator<Item = PageUrl>) {
        for url in urls {
            self.offer(url);
        }
    }

    /// The next task at `now`.
    pub fn next(&mut self, now: Timestamp) -> Next {
        while let Some(Reverse((at, _, server))) = self.ready.peek().copied() {
            if at > now {
                return Next::Wait(at);
            }
            self.ready.pop();
            if self.servers[server].listed_at != Some(at) {
                // Something was found for it to do at another moment.
                continue;
            }
            self.servers[server].listed_at = None;
            // It may have been told to rest longer since it was listed.
            if let Some(until) = self.servers[server].rests_until(now) {
                self.list_at(server, until);
                continue;
            }
            if let Some(task) = self.step(server, now) {
                self.servers[server].busy = true;
                return Next::Do(task);
            }
        }
        Next::Idle
    }

    /// Takes a task back with what came of it. A request that was sent tells how long it took by the queue's clock.
    ///
    /// # Panics
    /// When `done` is not of the task's kind.
    pub fn done(&mut self, task: &Task, done: Done, took: Interval, now: Timestamp) {
        let server = task.server;
        self.servers[server].busy = false;
        if let Step::Robots(to, _) | Step::Visit(_, to, _) = &task.step {
            self.rest(server, *to, took, now);
        }
        match task.step.errand() {
            Some(url) => self.errand_done(task, url, &done, now),
            None => self.page_done(task, done, now),
        }
        self.arrange(server);
    }

    fn page_done(&mut self, task: &Task, done: Done, now: Timestamp) {
        let server = task.server;
        match (&task.step, done) {
            (Step::LookUp(Some(page), _, origin), Done::LookedUp(result)) => {
                self.looked_up(server, *page, origin, result, now);
            }
            (Step::Visit(page, ..), Done::Visited(outcome, links)) => {
                self.visited(server, *page, &outcome, now);
                self.offer_all(links);
            }
            (Step::Refuse(Some(page), url, refusal), Done::Refused) => {
                self.pages[page.0].visited = Some(now);
                let until = self.judged_again(server, url, refusal, now);
                self.servers[server].refused.insert((until, *page));
            }
            (step, done) => panic!("`{done:?}` is no end of `{step:?}`"),
        }
    }

    /// Remembers as what a page is stored, with the validators of that very version: a 304 to them then stands for
    /// the bytes that the next capture refers to, and for no others.
    pub fn stored(&mut self, page: PageId, before: Before, conditions: Conditions) {
        self.pages[page.0].store(before, conditions);
    }
    /// What is known of a page.
    #[must_use]
    pub fn page(&self, page: PageId) -> &Page {
        &self.pages[page.0]
    }
    /// Servers known, pages known, pages waiting for their first visit, links dropped.
    #[must_use]
    pub fn counts(&self) -> (u64, u64, u64, u64) {
        (self.servers.len() as u64, self.pages.len() as u64, self.waiting, self.dropped)
    }

    /// Enters a page into the tables; its server and its number, if it is one that can be entered.
    fn enter(&mut self, url: PageUrl) -> Option<(usize, PageId)> {
        let key = url.key();
        if self.by_key.contains_key(&key) {
            return None;
        }
        if fit(&url).is_err() || self.is_excluded(&url) || self.pages.len() >= self.settings.pages_max {
            self.dropped += 1;
            return None;
        }
        let server = self.server_of(&url);
        let page = PageId(self.pages.len());
        self.pages.push(Page::new(url));
        self.by_key.insert(key, page);
        Some((server, page))
    }

    fn server_of(&mut self, url: &PageUrl) -> usize {
        self.server_named(&url.server())
    }
    fn server_named(&mut self, name: &ServerName) -> usize {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let server = self.servers.len();
        self.servers.push(Server::new(name.clone(), self.settings.start));
        self.by_name.insert(name.clone(), server);
        server
    }

    /// Lists a server for the moment at which it may have something to do.
    fn arrange(&mut self, server: usize) {
        let state = &self.servers[server];
        if state.busy || state.waits {
            return;
        }
        let due = self.pages_due(server).into_iter().chain(state.errand_due()).min();
        let Some(at) = due else { return };
        if state.listed_at.is_none_or(|listed| at < listed) {
            self.list_at(server, at);
        }
    }
    fn pages_due(&self, server: usize) -> Option<Timestamp> {
        let state = &self.servers[server];
        let oldest = state.seen.front().and_then(|page| self.pages[page.0].visited);
        state.pages_due(oldest, self.settings.revisit_after)
    }

    fn list_at(&mut self, server: usize, at: Timestamp) {
        self.order += 1;
        self.servers[server].listed_at = Some(at);
        self.ready.push(Reverse((at, self.order, server)));
    }

    /// What a rested server does next; nothing when its address is not free, and then it is listed again.
    fn step(&mut self, server: usize, now: Timestamp) -> Option<Task> {
        self.waiting += self.servers[server].forgive(now);
        if self.errand_is_next(server, now) {
            return self.run_errand(server, now);
        }
        let page = self.servers[server].front().filter(|_| !self.servers[server].away)?;
        let step = self.page_step(server, page, now)?;
        self.servers[server].ran_errand = false;
        Some(Task { server, step })
    }

    fn page_step(&mut self, server: usize, page: PageId, now: Timestamp) -> Option<Step> {
        let url = self.pages[page.0].url.clone();
        let address = self.servers[server].address(url.scheme(), now);
        if let Some(refusal) = self.opted_out(&url, address) {
            self.take_out(server, page);
            return Some(Step::Refuse(Some(page), url, refusal));
        }
        let refusal = match (self.servers[server].robots(url.scheme(), now), address) {
            (Need::Ask(_), None) => return Some(look_up(page, url)),
            (Need::Ask(file), Some(_)) => {
                self.send(server, url.scheme(), file, now);
                return None;
            }
            (Need::Known(rules), _) => refusal(&rules, &url),
            (Need::Unreachable(until), _) => {
                // One refusal says it for all; the other pages wait until the file is asked for again.
                self.servers[server].leave_pages_until(until);
                Some(Refusal::RobotsUnreachable)
            }
        };
        if let Some(refusal) = refusal {
            self.take_out(server, page);
            return Some(Step::Refuse(Some(page), url, refusal));
        }
        let Some(to) = address else { return Some(look_up(page, url)) };
        self.take_address(server, to, now)?;
        self.take_out(server, page);
        Some(Step::Visit(page, to, self.pages[page.0].request()))
    }

    /// Whether the operator's list says that nothing may be asked of a URL, or of the address it is at.
    fn opted_out(&self, url: &PageUrl, address: Option<SocketAddr>) -> Option<Refusal> {
        let list = &self.settings.opt_out;
        let by_address = || address.and_then(|address| list.refuses_address(address.ip()));
        list.refuses(url).or_else(by_address).map(|line| Refusal::OptOut(line.to_string()))
    }

    /// When a page that may not be asked for is judged anew. The list does not change while it is in use.
    fn judged_again(&mut self, server: usize, url: &PageUrl, refusal: &Refusal, now: Timestamp) -> Timestamp {
        match (refusal, self.servers[server].robots(url.scheme(), now)) {
            (Refusal::OptOut(_), _) if self.settings.opt_out.refuses(url).is_some() => Timestamp::MAX,
            (Refusal::RobotsUnreachable, Need::Unreachable(until)) => until,
            _ => now.plus(ROBOTS_LIFETIME),
        }
    }

    fn take_address(&mut self, server: usize, to: SocketAddr, now: Timestamp) -> Option<()> {
        match self.addresses.take(to.ip(), server, now) {
            Ok(()) => Some(()),
            Err(Some(free_at)) => {
                self.list_at(server, free_at);
                None
            }
            Err(None) => {
                // It waits for the address, which lists it again when it is given back.
                self.servers[server].waits = true;
                None
            }
        }
    }

    /// Takes a page out of its server's queues, wherever newer pages have put it meanwhile.
    fn take_out(&mut self, server: usize, page: PageId) {
        if self.servers[server].remove(page) {
            self.waiting -= 1;
        }
    }

    /// The end of a request: server and address rest, and whoever waited for the address is listed again.
    fn rest(&mut self, server: usize, to: SocketAddr, took: Interval, now: Timestamp) {
        let pause = self.settings.pause.max(took);
        self.servers[server].rest(pause, now);
        let free_at = now.plus(pause);
        for waiting in self.addresses.give_back(to.ip(), free_at) {
            self.servers[waiting].waits = false;
            self.list_at(waiting, free_at);
        }
    }

    fn looked_up(
        &mut self,
        server: usize,
        page: PageId,
        origin: &Origin,
        result: Result<Found, Failure>,
        now: Timestamp,
    ) {
        match result {
            Ok(found) => self.set_address(server, origin.scheme, &found, now),
            Err(failure) => {
                self.take_out(server, page);
                let outcome = fetch::outcome(&self.pages[page.0].url, &Err(failure));
                self.visited(server, page, &outcome, now);
            }
        }
    }

    /// The first address is the one that counts while the answer lives (D6).
    fn set_address(&mut self, server: usize, scheme: Scheme, found: &Found, now: Timestamp) {
        let first = found.addresses.first().expect("a look-up that succeeds finds an address");
        self.servers[server].set_address(scheme, *first, now.plus(found.lifetime));
    }

    fn visited(&mut self, server: usize, id: PageId, outcome: &Outcome, now: Timestamp) {
        let page = &mut self.pages[id.0];
        page.visited = Some(now);
        page.visits += 1;
        if !matches!(outcome, Outcome::Moved { .. }) {
            page.own_moves = 0;
        }
        let state = &mut self.servers[server];
        match outcome {
            Outcome::Fetched { content, .. } => page.content = *content,
            Outcome::Moved { target: Some(target), .. } if target.key() == page.url.key() => {
                // A redirect to the page's own key moves the page to that scheme (D6), but not for ever (H4).
                let moved = std::mem::replace(&mut page.url, target.clone()) != *target;
                page.own_moves = page.own_moves.saturating_add(1);
                if moved && page.own_moves <= REDIRECTS_MAX {
                    state.fresh.push_front(id);
                    self.waiting += 1;
                    return;
                }
            }
            // Nobody was asked: the page keeps its turn.
            outcome if let Some(wait) = held_back(outcome) => {
                state.leave_until(now.plus(wait));
                state.fresh.push_front(id);
                self.waiting += 1;
                return;
            }
            Outcome::Failed { retry_after, .. } => state.back_off(*retry_after, now),
            Outcome::Unreachable(_) | Outcome::Refused(_) => state.back_off(None, now),
            _ => {}
        }
        if !matches!(outcome, Outcome::Failed { .. } | Outcome::Unreachable(_) | Outcome::Refused(_)) {
            state.failures = 0;
        }
        state.seen.push_back(id);
        if let Outcome::Moved { target: Some(target), .. } = outcome {
            self.follow(id, target);
        }
    }

    /// Follows a redirect to another page, which is judged like any page; but not for ever (H4).
    fn follow(&mut self, from: PageId, target: &PageUrl) {
        let hops = self.pages[from.0].hops + 1;
        if hops <= REDIRECTS_MAX {
            self.offer_after(target.clone(), hops);
        } else {
            self.dropped += 1;
        }
    }
}

/// How long to wait before asking again for what nobody was asked for: a proxy held it back, could not be reached itself,
/// or this machine could not do its part.
fn held_back(outcome: &Outcome) -> Option<Interval> {
    match outcome {
        Outcome::Refused(Refusal::Proxy { retry_after, .. }) => *retry_after,
        Outcome::Unreachable(
            Failure { phase: Phase::Proxy, .. } | Failure { cause: Cause::Machine(_), .. },
        ) => Some(OWN_TROUBLE_PAUSE),
        _ => None,
    }
}

fn refusal(rules: &Rules, url: &PageUrl) -> Option<Refusal> {
    let verdict = rules.judge(url.target());
    (!verdict.allowed)
        .then(|| Refusal::Robots(verdict.line.map(|line| line.text.clone()).unwrap_or_default()))
}

fn look_up(page: PageId, url: PageUrl) -> Step {
    let origin = url.origin();
    Step::LookUp(Some(page), url, origin)
}

#[cfg(test)]
mod tests;
