//! The frontier: which page is visited next, and when.
//!
//! The life of a URL: it is found, judged by scope, offered to the store, and known from then on ([`offer`]).
//! Being due it is loaded: it joins the short-term queue of its server ([`refill`]), or is held back while it looks
//! like a trap ([`hold_back`]). When server and address have
//! rested it is handed out ([`select`]); what came of it frees server and address ([`complete`]), and once the archive has it, the page
//! learns from it and goes back to the store until its next time ([`learn`]). Robots files are asked for on the way
//! ([`robots_fetch`]).
//!
//! **Invariant:** between a task that is handed out and the one that takes it back, no other task of that server or of
//! that address is handed out, unless their owners agreed to more; after it, none for the pause.
//!
//! **Invariant:** a page is loaded once, or in nobody's hand. What is loaded stays in the store until it is written back (D5).

pub(crate) mod alias;
pub(crate) mod complete;
pub(crate) mod early;
pub(crate) mod explain;
pub(crate) mod hold_back;
pub(crate) mod learn;
pub(crate) mod offer;
pub(crate) mod operator;
pub(crate) mod outage;
pub(crate) mod persist;
pub(crate) mod plan;
pub(crate) mod query;
pub(crate) mod refill;
pub(crate) mod replan;
pub(crate) mod retry;
pub(crate) mod robots_fetch;
pub(crate) mod seed;
pub(crate) mod select;

use crate::address::Addresses;
use crate::error::Result;
use crate::loaded_page::{LoadedPage, Rank, split_key};
use crate::moment::{at_seconds, minute};
use crate::partition::{LinkBatch, Outbox, Owned};
use crate::recent_links::RecentLinks;
use crate::revisit::RevisitPolicy;
use crate::server::Server;
use crate::settings::{AgreedParty, Settings};
use base::door::Request;
use base::url::Origin;
use base::{Interval, PageUrl, Refusal, ServerName, Timestamp};
use robots_fetch::Askers;
use sat::{Minute, Number, Store};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::{IpAddr, SocketAddr};

/// What to do now.
#[derive(Debug)]
pub enum Next {
    /// This, at once.
    Do(Task),
    /// Nothing before this moment, unless a task comes back.
    Wait(Timestamp),
    /// Nothing before a task comes back, or something is added.
    Idle,
}

/// A step that belongs to one server; it comes back by [`Frontier::complete`].
#[derive(Debug)]
pub struct Task {
    pub(crate) server: u32,
    /// What is to be done.
    pub step: Step,
}

/// The steps.
#[derive(Clone, Debug)]
pub enum Step {
    /// Find the address of an origin, so that a page, or a robots file, can be asked for.
    LookUp(Option<Number>, PageUrl, Origin),
    /// Ask for a robots file.
    Robots(SocketAddr, Request),
    /// Visit a page.
    Visit(Number, SocketAddr, Request),
    /// Do not ask for a page, or for a robots file, for this reason; nothing is sent.
    Refuse(Option<Number>, PageUrl, Refusal),
}

impl Step {
    /// The page that the step is taken for; nothing when it is for a robots file.
    #[must_use]
    pub fn page(&self) -> Option<Number> {
        match self {
            Self::Visit(page, ..) => Some(*page),
            Self::LookUp(page, ..) | Self::Refuse(page, ..) => *page,
            Self::Robots(..) => None,
        }
    }
    /// The robots file that the step is taken for; nothing when it is for a page.
    pub(crate) fn robots_url(&self) -> Option<&PageUrl> {
        match self {
            Self::LookUp(None, url, _) | Self::Refuse(None, url, _) => Some(url),
            Self::Robots(_, request) => Some(&request.url),
            _ => None,
        }
    }
    /// Whom a request goes to; nothing when none is sent.
    pub(crate) fn to(&self) -> Option<IpAddr> {
        match self {
            Self::Robots(to, _) | Self::Visit(_, to, _) => Some(to.ip()),
            _ => None,
        }
    }
}

/// Where a page loaded is.
#[derive(Debug)]
pub(crate) enum PageLocation {
    /// In the queue of its server.
    Queued(Rank),
    /// It is held back.
    HeldBack,
    /// Its visit failed, and it waits to be visited again soon.
    Retrying(u32, LoadedPage),
    /// It is being visited, or its capture is being archived.
    Visiting(u32, LoadedPage),
}

/// Which page is visited next, and when.
pub struct Frontier {
    pub(crate) settings: Settings,
    pub(crate) policy: RevisitPolicy,
    pub(crate) store: Store,
    pub(crate) servers: Vec<Server>,
    pub(crate) by_prefix: HashMap<Box<str>, u32>,
    pub(crate) addresses: Addresses,
    /// Who waits for which robots file.
    pub(crate) askers: Askers,
    /// Servers by the moment at which they may have something to do.
    pub(crate) ready: BinaryHeap<Reverse<(Timestamp, u64, u32)>>,
    pub(crate) order: u64,
    /// Every page loaded, by number.
    pub(crate) held: HashMap<u32, PageLocation>,
    pub(crate) queue_bytes: usize,
    pub(crate) queued: u64,
    /// Pages that are held back, over all servers, and those of them that memory has.
    pub(crate) held_back: u64,
    pub(crate) waiting: usize,
    /// How far the store has been emptied, and whether there was no room for the rest.
    pub(crate) filled: Option<Minute>,
    pub(crate) is_full: bool,
    pub(crate) batch: sat::Batch,
    pub(crate) recent_links: RecentLinks,
    /// Offers that the store has not judged yet, in their order.
    pub(crate) offered: Vec<LoadedPage>,
    pub(crate) homes: HashMap<[u8; 16], u32>,
    pub(crate) owned: Owned,
    pub(crate) outbox: Outbox,
    pub(crate) excluded: Box<dyn Fn(&str) -> bool + Send>,
    pub(crate) crawl: persist::CrawlState,
    /// Prefixes and servers that were removed or taken up again, in the order of the orders.
    pub(crate) removals: Vec<operator::Removal>,
    /// The policy by which all pages of the store are planned.
    pub(crate) planned_by: String,
    pub(crate) outage: outage::Outage,
    pub(crate) retries: retry::Retries,
    pub(crate) dirty: Vec<u32>,
    /// Nothing is asked before this moment: a full pause after a restart (H13).
    pub(crate) start: Timestamp,
    pub(crate) dropped_links: u64,
    /// Pages never visited, over all servers.
    pub(crate) new: u64,
    /// Pages that share the budget, over all servers.
    pub(crate) planned: u64,
    /// Pages that take part among those that change together, a bit each by number, and how many.
    pub(crate) co_change_joined: Vec<u64>,
    pub(crate) co_change_count: u64,
}

impl std::fmt::Debug for Frontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frontier")
            .field("servers", &self.servers.len())
            .field("queued", &self.queued)
            .finish()
    }
}

impl Frontier {
    /// Takes over a store of page states, at `now`. Every server and address is left alone for one pause.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn open(store: Store, settings: Settings, policy: RevisitPolicy, now: Timestamp) -> Result<Self> {
        let mut frontier = Self {
            recent_links: RecentLinks::new(settings.links_remembered),
            settings,
            policy,
            store,
            servers: Vec::new(),
            by_prefix: HashMap::new(),
            addresses: Addresses::default(),
            askers: Askers::new(),
            ready: BinaryHeap::new(),
            order: 0,
            held: HashMap::new(),
            queue_bytes: 0,
            queued: 0,
            held_back: 0,
            waiting: 0,
            filled: None,
            is_full: false,
            batch: sat::Batch::new(),
            offered: Vec::new(),
            homes: HashMap::new(),
            owned: Owned::All,
            outbox: Outbox::default(),
            excluded: Box::new(|_| false),
            crawl: persist::CrawlState::default(),
            removals: Vec::new(),
            planned_by: String::new(),
            outage: outage::Outage::default(),
            retries: retry::Retries::default(),
            dirty: Vec::new(),
            start: now,
            dropped_links: 0,
            new: 0,
            planned: 0,
            co_change_joined: Vec::new(),
            co_change_count: 0,
        };
        frontier.recall();
        frontier.recall_removals();
        frontier.name_aliases();
        if frontier.store.pending() > 0 {
            // What was offered and not judged before a crash; it comes when it is due.
            frontier.settle_recalled()?;
        }
        let is_counted = frontier.has_counts() && frontier.crawl.counts_orders;
        if !is_counted || frontier.counted() != frontier.store.count() {
            frontier.recount()?;
        }
        frontier.reload()?;
        frontier.recall_co_change()?;
        Ok(frontier)
    }

    /// Leaves out the pages whose key is said to be so, from now on (D13).
    pub fn exclude(&mut self, is_excluded: Box<dyn Fn(&str) -> bool + Send>) {
        self.excluded = is_excluded;
    }
    /// Has only these partitions from now on (C15).
    pub fn own(&mut self, owned: Owned) {
        self.owned = owned;
    }
    /// Links to servers of others: the batches that are full, or all that waits.
    pub fn links_of_others(&mut self, all: bool) -> Vec<LinkBatch> {
        self.outbox.take(all)
    }
    /// Stops handing out, until told otherwise. It is durable with the next commit.
    pub fn pause(&mut self, is_paused: bool) {
        self.crawl.is_paused = is_paused;
        self.crawl.is_dirty = true;
    }
    /// Whether it is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.crawl.is_paused
    }
    /// The settings in effect.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The server of a URL, if it is known.
    pub(crate) fn known_server(&self, url: &PageUrl) -> Option<u32> {
        let key = url.key();
        self.by_prefix.get(split_key(key.as_str()).0).copied()
    }
    /// The server with this name, whose keys begin with `prefix`.
    pub(crate) fn server_of(&mut self, name: &ServerName, prefix: &str) -> u32 {
        if let Some(known) = self.by_prefix.get(prefix) {
            return *known;
        }
        let number = u32::try_from(self.servers.len()).expect("fewer than 2³² servers");
        let (pause, width, is_agreed) = self.manner_with(name);
        let mut server = Server::new(name.clone(), prefix, pause, width, self.start.plus(pause));
        server.is_agreed = is_agreed;
        server.gates_new = self.policy.has_budget() && self.policy.counts_new;
        server.recall_budget();
        self.servers.push(server);
        self.by_prefix.insert(prefix.into(), number);
        number
    }
    /// Pause, width and whether that was agreed (C18).
    fn manner_with(&self, name: &ServerName) -> (Interval, u32, bool) {
        let agreed = self.settings.agreed.iter().find(|agreed| match &agreed.party {
            AgreedParty::Server(server) => server == name,
            AgreedParty::Address(_) => false,
        });
        agreed.map_or((self.settings.pause, 1, false), |agreed| (agreed.pause, agreed.width, true))
    }
    /// The same for an address. A server that is an address by name stands for it.
    fn manner_at(&self, ip: IpAddr) -> (Interval, u32, Timestamp) {
        let agreed = self.settings.agreed.iter().find(|agreed| match &agreed.party {
            AgreedParty::Server(server) => server.address() == Some(ip),
            AgreedParty::Address(address) => *address == ip,
        });
        let (pause, width) = agreed.map_or((self.settings.pause, 1), |agreed| (agreed.pause, agreed.width));
        (pause, width, self.start.plus(pause))
    }
    pub(crate) fn address_of(&mut self, ip: IpAddr) -> &mut crate::address::Address {
        let manner = self.manner_at(ip);
        self.addresses.of(ip, || manner)
    }

    /// Notes that what is kept of a server changed.
    pub(crate) fn touch(&mut self, server: u32) {
        if !std::mem::replace(&mut self.servers[server as usize].is_dirty, true) {
            self.dirty.push(server);
        }
    }

    /// Lists a server for the moment at which it may have something to do.
    pub(crate) fn reschedule(&mut self, server: u32) {
        let state = &self.servers[server as usize];
        if !state.has_width() || state.waits {
            return;
        }
        let due = state.pages_due().into_iter().chain(state.robots_fetch_due()).min();
        let Some(at) = due else { return };
        if state.listed_at.is_none_or(|listed| at < listed) {
            self.list_at(server, at);
        }
    }
    pub(crate) fn list_at(&mut self, server: u32, at: Timestamp) {
        self.order += 1;
        self.servers[server as usize].listed_at = Some(at);
        self.ready.push(Reverse((at, self.order, server)));
    }

    /// The day that a moment lies in, for budgets.
    pub(crate) fn day(at: Timestamp) -> u32 {
        minute(at).0 / (24 * 60)
    }
    /// The beginning of the next day.
    pub(crate) fn tomorrow(at: Timestamp) -> Timestamp {
        at_seconds((u64::from(Self::day(at)) + 1) * 86_400)
    }
}

#[cfg(test)]
mod tests;
