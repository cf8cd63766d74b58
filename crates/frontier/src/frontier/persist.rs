//! What is stored beside the pages: servers, the checkpoint in the archive, the crawl's counts. It commits together
//! with the page states of the same lessons.

use super::Frontier;
use crate::budget::Budget;
use crate::census::{Census, OrderCounts, PageCounts};
use crate::codec::{Fields, put};
use crate::error::Result;
use crate::load::Load;
use crate::loaded_page::split_key;
use crate::moment::at_seconds;
use crate::neighbour::Neighbourhoods;
use crate::novelty::Novelty;
use crate::revisit::co_change::CoChange;
use crate::server::{Server, StoredServer};
use crate::servers::ServerId;
use crate::state::State;
use crate::trap::{SHAPES_MAX, Shapes};
use base::{Interval, PageUrl, Timestamp};
use sat::{Minute, Number, Store};
use std::collections::HashMap;

const PLACE: &[u8] = b"place";
const CRAWL: &[u8] = b"crawl";
pub(super) const POLICY: &[u8] = b"policy";
const SERVER: &[u8] = b"s/";
const MAP: &[u8] = b"m/";
const SHAPES: &[u8] = b"t/";
const NOVELTY: &[u8] = b"n/";
const CO_CHANGE: &[u8] = b"b/";
/// What seeds lead to.
pub(super) const SEED: &[u8] = b"q/";
/// Which counts the servers keep. Before 3, pages that were gone or dropped might be counted wrongly.
const COUNTS: &[u8] = b"counts";
const COUNTS_FORM: &[u8] = b"3";
/// The room in a commit for the longest lesson, and the maximum for the entries of a server.
const COMMIT_ROOM_MIN: usize = 64 << 10;
const KEPT_BYTES: usize = 12 << 10;

/// The stored state of the crawl as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CrawlState {
    pub is_paused: bool,
    pub day: u32,
    pub day_requests: u64,
    pub day_bytes: u64,
    /// The latest moment of a commit, in seconds: the crawl clock continues from there (D16).
    pub latest: u64,
    pub place: String,
    /// When this run began. Nothing is requested for one full delay after it (H13).
    pub start: Timestamp,
}

impl CrawlState {
    /// A crawl without stored state.
    pub(super) fn new(start: Timestamp) -> Self {
        Self {
            is_paused: false,
            day: 0,
            day_requests: 0,
            day_bytes: 0,
            latest: 0,
            place: String::new(),
            start,
        }
    }
    pub(super) fn count(&mut self, day: u32, bytes: u64) {
        if self.day != day {
            (self.day, self.day_requests, self.day_bytes) = (day, 0, 0);
        }
        self.day_requests += 1;
        self.day_bytes += bytes;
    }
    fn write(&self, orders: OrderCounts) -> Vec<u8> {
        let mut bytes = vec![1, u8::from(self.is_paused)];
        for number in [
            self.day.into(),
            self.day_requests,
            self.day_bytes,
            self.latest,
            1,
            orders.asked,
            orders.removed,
            orders.refused,
            orders.without_robots,
        ] {
            put(&mut bytes, number);
        }
        bytes
    }
    fn read(bytes: &[u8]) -> (Self, OrderCounts) {
        let [_, paused] = *bytes.first_chunk().unwrap_or(&[0; 2]);
        let mut fields = Fields(bytes.get(2..).unwrap_or_default());
        let crawl = Self {
            is_paused: paused != 0,
            day: fields.small(u32::MAX),
            day_requests: fields.number(),
            day_bytes: fields.number(),
            latest: fields.number(),
            ..Self::new(Timestamp::MIN)
        };
        let _has_orders = fields.number();
        let orders = OrderCounts {
            asked: fields.number(),
            removed: fields.number(),
            refused: fields.number(),
            without_robots: fields.number(),
        };
        (crawl, orders)
    }
}

impl Frontier {
    /// The checkpoint in the archive after everything that was learned; empty at the beginning.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.crawl.place
    }
    /// The latest moment of an earlier run's commits.
    #[must_use]
    pub fn latest(store: &Store) -> Option<Timestamp> {
        let latest = store.table().get(CRAWL).map(|bytes| CrawlState::read(bytes).0.latest)?;
        (latest > 0).then(|| at_seconds(latest))
    }
    /// Commits everything since the last commit, without waiting until it is durable.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn commit(&mut self, now: Timestamp) -> Result<()> {
        self.crawl.latest = self.crawl.latest.max(crate::moment::seconds(now));
        self.write_kept()?;
        self.store.begin_commit()?;
        Ok(())
    }
    /// The same, and waits until it is durable.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn commit_durably(&mut self, now: Timestamp) -> Result<()> {
        self.commit(now)?;
        self.store.commit()?;
        Ok(())
    }
    /// Makes everything durable and ends.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn close(mut self, now: Timestamp) -> Result<()> {
        for server in self.servers.ids() {
            if self.servers[server].novelty_unwritten > 0 {
                self.write_novelty(server)?;
            }
        }
        self.commit(now)?;
        self.store.close()?;
        Ok(())
    }

    /// Writes what changed in servers and crawl.
    pub(super) fn write_kept(&mut self) -> Result<()> {
        let dirty = self.servers.take_dirty();
        let mut bytes = Vec::new();
        for server in dirty {
            let state = &mut self.servers[server];
            bytes.clear();
            state.kept.write(&mut bytes);
            let name = [SERVER, state.name.as_str().as_bytes()].concat();
            let maps = maps(state);
            self.set(&name, &bytes)?;
            for (name, map) in maps {
                self.set(&name, &map)?;
            }
        }
        let place = self.crawl.place.clone();
        self.set(PLACE, place.as_bytes())?;
        let policy = self.budget.planned_by.clone();
        self.set(POLICY, policy.as_bytes())?;
        self.set(COUNTS, COUNTS_FORM)?;
        let crawl = self.crawl.write(self.census.orders());
        self.set(CRAWL, &crawl)
    }
    /// Writes the novelty of a server's pages. Nothing else depends on it.
    pub(super) fn write_novelty(&mut self, server: ServerId) -> Result<()> {
        let state = &mut self.servers[server];
        state.novelty_unwritten = 0;
        let name = [NOVELTY, state.name.as_str().as_bytes()].concat();
        let mut bytes = Vec::new();
        state.shapes.novelty.write(&mut bytes);
        self.write(|store| store.set(&name, &bytes))
    }
    pub(super) fn set(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        // Nothing else may be written here: a commit would separate what belongs together.
        match self.store.set(name, value) {
            Err(sat::Error::CommitFull { .. }) => {
                self.store.begin_commit()?;
                Ok(self.store.set(name, value)?)
            }
            result => Ok(result?),
        }
    }

    /// Writes to the store; if its commit is full, everything pending is committed first.
    pub(super) fn write(&mut self, act: impl Fn(&mut Store) -> sat::Result<()>) -> Result<()> {
        match act(&mut self.store) {
            Err(sat::Error::CommitFull { .. }) => {
                self.write_kept()?;
                self.store.begin_commit()?;
                Ok(act(&mut self.store)?)
            }
            result => Ok(result?),
        }
    }
    /// Makes room in the current commit for the next lesson and what is stored beside it, so that both are in one
    /// commit.
    pub(super) fn reserve(&mut self) -> Result<()> {
        if self.store.commit_room() < COMMIT_ROOM_MIN + self.servers.dirty_count() * KEPT_BYTES {
            self.write_kept()?;
            self.store.begin_commit()?;
        }
        Ok(())
    }
    pub(super) fn update(&mut self, number: Number, key: &[u8], due: Minute, value: &[u8]) -> Result<()> {
        self.write(|store| store.update(number, key, due, value))?;
        self.workbench.refresh(number, key, value);
        Ok(())
    }

    /// Restores what an earlier run stored.
    pub(super) fn recall(&mut self) {
        let table = self.store.table();
        if let Some((crawl, orders)) = table.get(CRAWL).map(|bytes| CrawlState::read(bytes)) {
            self.crawl = CrawlState { start: self.crawl.start, ..crawl };
            self.census.recall_orders(orders);
        }
        if let Some(place) = table.get(PLACE) {
            self.crawl.place = String::from_utf8_lossy(place).into_owned();
        }
        if let Some(policy) = table.get(POLICY) {
            self.budget.planned_by = String::from_utf8_lossy(policy).into_owned();
        }
        let named = |prefix: &'static [u8]| {
            let names = table.range(prefix.to_vec()..).take_while(move |(name, _)| name.starts_with(prefix));
            names.filter_map(move |(name, value)| {
                let name = std::str::from_utf8(name.get(prefix.len()..)?).ok()?;
                Some((name.to_owned(), value.clone()))
            })
        };
        let [servers, maps, shapes, novelties, co_changes] =
            [SERVER, MAP, SHAPES, NOVELTY, CO_CHANGE].map(|prefix| named(prefix).collect::<Vec<_>>());
        let seeds: Vec<_> = named(SEED).filter_map(|(url, _)| PageUrl::parse(&url).ok()).collect();
        seeds.iter().for_each(|seed| self.settings.scope.add_seed(seed));
        let mut aliases = Vec::new();
        for (name, value) in servers {
            let (Some(kept), Some(server)) = (StoredServer::read(&value), self.server_called(&name)) else {
                continue;
            };
            aliases.extend((!kept.alias_of.is_empty()).then(|| (server, kept.alias_of.clone())));
            self.recall_server(server, kept);
        }
        for (name, value) in maps {
            let Some(server) = self.server_called(&name) else { continue };
            self.servers[server].places = places(&value);
        }
        for (name, value) in shapes {
            let Some(server) = self.server_called(&name) else { continue };
            self.servers[server].shapes = Shapes::read(&value);
        }
        for (name, value) in novelties {
            let Some(server) = self.server_called(&name) else { continue };
            self.servers[server].shapes.novelty = Novelty::read(&mut Fields(&value));
        }
        for (name, value) in co_changes {
            let Some(server) = self.server_called(&name) else { continue };
            self.servers[server].co_change = CoChange::read(&mut Fields(&value));
        }
        for (server, name) in aliases {
            let to = self.server_called(&name);
            self.servers[server].alias_of = to;
        }
    }
    /// Whether the stored counts of servers are of the current kind.
    pub(super) fn has_counts(&self) -> bool {
        self.store.count() == 0 || self.store.table().get(COUNTS).is_some_and(|form| form == COUNTS_FORM)
    }
    /// Pages by the counts of their servers.
    pub(super) fn counted(&self) -> u64 {
        self.census.all().pages
    }
    /// Counts all pages again. The store adds new pages by itself, and a crash may come before the counts are stored.
    pub(super) fn recount(&mut self) -> Result<()> {
        let mut census = Census::default();
        let mut by_prefix: HashMap<String, (PageUrl, PageCounts)> = HashMap::new();
        self.store.for_each(|record| -> Result<()> {
            let (key, state) =
                (String::from_utf8_lossy(record.key), State::read(record.value).unwrap_or_default());
            let prefix = split_key(&key).0;
            if !by_prefix.contains_key(prefix)
                && let Ok(url) = PageUrl::parse(&state.url)
            {
                by_prefix.insert(prefix.to_owned(), (url, PageCounts::default()));
            }
            if let Some((_, counts)) = by_prefix.get_mut(prefix) {
                census.enter(counts, &state);
            }
            Ok(())
        })?;
        self.census = census;
        self.servers.iter_mut().for_each(|server| server.kept.counts = PageCounts::default());
        for (prefix, (url, counts)) in by_prefix {
            let server = self.server_of(&url.server(), &prefix);
            self.servers[server].kept.counts = counts;
            self.servers.touch(server);
        }
        self.count_loads()
    }
    /// Counts the loads and plans all pages again if that was done by another policy.
    pub(super) fn reload(&mut self) -> Result<()> {
        let told = super::replan::told(self.budget.policy());
        let is_planned = Self::policy_of(&self.store).is_some_and(|by| super::replan::told(&by) == told);
        if !is_planned && self.store.count() > 0 {
            self.count_loads()?;
            self.servers.iter_mut().for_each(|server| server.kept.pace.forget_level());
            self.replan()?;
        }
        // Only now: an interrupted change is repeated.
        self.budget.planned_by = told;
        Ok(())
    }
    fn count_loads(&mut self) -> Result<()> {
        let mut budget = Budget::new(*self.budget.policy());
        let mut loads: HashMap<String, Load> = HashMap::new();
        self.store.for_each(|record| -> Result<()> {
            let (key, state) =
                (String::from_utf8_lossy(record.key), State::read(record.value).unwrap_or_default());
            let prefix = split_key(&key).0;
            if self.servers.by_prefix(prefix).is_some() {
                budget.enter(loads.entry(prefix.to_owned()).or_default(), &state);
            }
            Ok(())
        })?;
        budget.planned_by = std::mem::take(&mut self.budget.planned_by);
        self.budget = budget;
        for server in self.servers.ids() {
            let state = &mut self.servers[server];
            let load = loads.remove(&*state.prefix).unwrap_or_default();
            let before = std::mem::replace(&mut state.kept.load, load).units();
            let (after, address) = (state.kept.load.units(), state.kept.address);
            if let Some(address) = address.and_then(|address| self.addresses.get_mut(address)) {
                address.remove_load(before);
                address.add_load(after);
            }
            self.servers.touch(server);
        }
        Ok(())
    }
    fn recall_server(&mut self, server: ServerId, kept: StoredServer) {
        if let Some(address) = kept.address {
            self.address_of(address).add_load(kept.load.units());
        }
        let start = self.crawl.start;
        let state = &mut self.servers[server];
        // Whenever its last request was, a full delay as its robots file asks for comes first.
        state.leave_until(start.plus(Interval::from_seconds(kept.delay)));
        if kept.not_before > 0 {
            state.leave_until(at_seconds(kept.not_before));
        }
        self.census.recall(&kept.counts);
        self.budget.recall(&kept.load);
        if kept.failures == 0 && kept.requests > 0 && kept.counts.pages > kept.counts.new {
            self.outage.recall(server);
        }
        state.kept = kept;
        if state.recall_budget() {
            self.servers.touch(server);
        }
    }
    fn server_called(&mut self, name: &str) -> Option<ServerId> {
        let home = PageUrl::parse(&format!("http://{name}/")).ok()?;
        Some(self.server_of(&home.server(), split_key(home.key().as_str()).0))
    }
}

/// The changed maps of a server, by name.
fn maps(state: &mut Server) -> Vec<(Vec<u8>, Vec<u8>)> {
    let named = |prefix: &[u8]| [prefix, state.name.as_str().as_bytes()].concat();
    let (map, shapes) = (named(MAP), named(SHAPES));
    let mut changed = Vec::new();
    if state.co_change.take_changed() {
        let mut bytes = Vec::new();
        state.co_change.write(&mut bytes);
        changed.push((named(CO_CHANGE), bytes));
    }
    if !std::mem::take(&mut state.is_map_dirty) {
        return changed;
    }
    let mut of_places = OLD_SHAPES.to_vec();
    state.places.write(&mut of_places);
    let mut of_shapes = Vec::new();
    state.shapes.write(&mut of_shapes);
    changed.extend([(map, of_places), (shapes, of_shapes)]);
    changed
}

/// Shapes in an old encoding, before the directories: no page, 64 registers, no shape.
const OLD_SHAPES: [u8; 66] = [0; 66];

/// The directories of a map; what is before them is skipped.
fn places(map: &[u8]) -> Neighbourhoods {
    let mut fields = Fields(map);
    let (_, _): (u64, [u8; 64]) = (fields.number(), fields.array());
    for _ in 0..fields.number().min(SHAPES_MAX as u64) {
        let _: ([u8; 4], u64, [u8; 64]) = (fields.array(), fields.number(), fields.array());
    }
    Neighbourhoods::read(&mut fields)
}
