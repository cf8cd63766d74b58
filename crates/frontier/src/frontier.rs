//! The frontier: which page is visited next, and when.
//!
//! The life of a URL: it is found, judged by scope and offered to the store ([`offer`]). When it is due it is loaded: it joins
//! the queue of its server ([`refill`]), or is held back while it looks like part of a trap ([`hold_back`]). After the delay of
//! its server and address it is selected ([`select`]). The result frees server and address ([`complete`]). Once the archive has
//! the capture, the page learns from it and goes back to the store until its next visit ([`learn`]). Robots files are fetched
//! on the way ([`robots_fetch`]).
//!
//! **Invariant:** between a task and its completion no other task of that server or address is handed out, unless their owners
//! agreed to more; after it, none for the delay.
//!
//! **Invariant:** a loaded page stays in the store until it is written again (D5).

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
use crate::budget::Budget;
use crate::census::Census;
use crate::error::Result;
use crate::intake::Intake;
use crate::moment::{at_seconds, minute};
use crate::partition::{LinkBatch, Owned};
use crate::revisit::RevisitPolicy;
use crate::robots_cache::RobotsCache;
use crate::server::Server;
use crate::servers::{ServerId, Servers};
use crate::settings::{AgreedParty, Settings};
use crate::workbench::Workbench;
use base::door::Request;
use base::url::Origin;
use base::{Interval, PageUrl, Refusal, ServerName, Timestamp};
use sat::{Number, Store};
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
    pub(crate) server: ServerId,
    /// What is to be done.
    pub step: Step,
}

/// The steps.
#[derive(Clone, Debug)]
pub enum Step {
    /// Find the address of an origin, so that a page or a robots file can be requested.
    LookUp(Option<Number>, PageUrl, Origin),
    /// Fetch a robots file.
    Robots(SocketAddr, Request),
    /// Visit a page.
    Visit(Number, SocketAddr, Request),
    /// Do not request a page or a robots file, for this reason; nothing is sent.
    Refuse(Option<Number>, PageUrl, Refusal),
}

impl Step {
    /// The page of the step; `None` if it is for a robots file.
    #[must_use]
    pub fn page(&self) -> Option<Number> {
        match self {
            Self::Visit(page, ..) => Some(*page),
            Self::LookUp(page, ..) | Self::Refuse(page, ..) => *page,
            Self::Robots(..) => None,
        }
    }
    /// The robots file of the step; `None` if it is for a page.
    pub(crate) fn robots_url(&self) -> Option<&PageUrl> {
        match self {
            Self::LookUp(None, url, _) | Self::Refuse(None, url, _) => Some(url),
            Self::Robots(_, request) => Some(&request.url),
            _ => None,
        }
    }
    /// The address that a request goes to; `None` if none is sent.
    pub(crate) fn to(&self) -> Option<IpAddr> {
        match self {
            Self::Robots(to, _) | Self::Visit(_, to, _) => Some(to.ip()),
            _ => None,
        }
    }
}

/// Which page is visited next, and when.
pub struct Frontier {
    pub(crate) settings: Settings,
    /// The states of all pages, on disk.
    pub(crate) store: Store,
    pub(crate) servers: Servers,
    pub(crate) addresses: Addresses,
    pub(crate) workbench: Workbench,
    pub(crate) census: Census,
    pub(crate) robots: RobotsCache,
    pub(crate) budget: Budget,
    pub(crate) intake: Intake,
    pub(crate) crawl: persist::CrawlState,
    pub(crate) outage: outage::Outage,
}

impl std::fmt::Debug for Frontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frontier")
            .field("servers", &self.servers.len())
            .field("queued", &self.workbench.queued())
            .finish()
    }
}

impl Frontier {
    /// Opens a frontier on a store of page states, at `now`. Every server and address first gets one delay.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn open(store: Store, settings: Settings, policy: RevisitPolicy, now: Timestamp) -> Result<Self> {
        let mut frontier = Self {
            intake: Intake::new(settings.links_remembered),
            settings,
            store,
            servers: Servers::default(),
            addresses: Addresses::default(),
            workbench: Workbench::default(),
            census: Census::default(),
            robots: RobotsCache::default(),
            budget: Budget::new(policy),
            crawl: persist::CrawlState::new(now),
            outage: outage::Outage::default(),
        };
        frontier.recall();
        frontier.recall_removals();
        frontier.name_aliases();
        if frontier.store.pending() > 0 {
            // Judges what was offered before a crash; new pages come when they are due.
            frontier.settle_recalled()?;
        }
        if !frontier.has_counts() || frontier.counted() != frontier.store.count() {
            frontier.recount()?;
        }
        frontier.reload()?;
        frontier.recall_co_change()?;
        Ok(frontier)
    }

    /// Excludes the pages whose keys `is_excluded` accepts, from now on (D13).
    pub fn exclude(&mut self, is_excluded: Box<dyn Fn(&str) -> bool + Send>) {
        self.intake.set_excluded(is_excluded);
    }
    /// Restricts the frontier to these partitions (C15).
    pub fn own(&mut self, owned: Owned) {
        self.intake.set_owned(owned);
    }
    /// Links to servers of other partitions: the full batches, or all that wait.
    pub fn links_of_others(&mut self, all: bool) -> Vec<LinkBatch> {
        self.intake.take_passed_on(all)
    }
    /// Stops or resumes giving out tasks. It is durable with the next commit.
    pub fn pause(&mut self, is_paused: bool) {
        self.crawl.is_paused = is_paused;
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

    /// The server with this name, whose keys begin with `prefix`.
    pub(crate) fn server_of(&mut self, name: &ServerName, prefix: &str) -> ServerId {
        if let Some(known) = self.servers.by_prefix(prefix) {
            return known;
        }
        let (pause, width, is_agreed) = self.manner_with(name);
        let mut server = Server::new(name.clone(), prefix, pause, width, self.crawl.start.plus(pause));
        server.is_agreed = is_agreed;
        server.gates_new = self.budget.pays_first_visits();
        server.recall_budget();
        self.servers.add(server)
    }
    /// Delay, width and whether that was agreed (C18).
    fn manner_with(&self, name: &ServerName) -> (Interval, u32, bool) {
        let agreed = self.settings.agreed.iter().find(|agreed| match &agreed.party {
            AgreedParty::Server(server) => server == name,
            AgreedParty::Address(_) => false,
        });
        agreed.map_or((self.settings.pause, 1, false), |agreed| (agreed.pause, agreed.width, true))
    }
    /// The same for an address. A server whose name is an address determines its values.
    fn manner_at(&self, ip: IpAddr) -> (Interval, u32, Timestamp) {
        let agreed = self.settings.agreed.iter().find(|agreed| match &agreed.party {
            AgreedParty::Server(server) => server.address() == Some(ip),
            AgreedParty::Address(address) => *address == ip,
        });
        let (pause, width) = agreed.map_or((self.settings.pause, 1), |agreed| (agreed.pause, agreed.width));
        (pause, width, self.crawl.start.plus(pause))
    }
    pub(crate) fn address_of(&mut self, ip: IpAddr) -> &mut crate::address::Address {
        let manner = self.manner_at(ip);
        self.addresses.of(ip, || manner)
    }

    /// Schedules a server for the moment at which it may have something to do.
    pub(crate) fn reschedule(&mut self, server: ServerId) {
        let (state, queue) = (&self.servers[server], self.workbench.queue(server));
        if !state.has_width() || state.waits {
            return;
        }
        let due = state.pages_due(queue).into_iter().chain(state.robots_fetch_due()).min();
        let Some(at) = due else { return };
        if queue.listed_at().is_none_or(|listed| at < listed) {
            self.workbench.list_at(server, at);
        }
    }

    /// The day of a moment, for budgets.
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
