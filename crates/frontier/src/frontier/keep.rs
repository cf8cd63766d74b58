//! What is kept beside the pages: servers, the place in the archive, the crawl's own counts. All of it commits together
//! with the states that it was learned with.

use super::Frontier;
use super::learn::share;
use crate::codec::{Fields, put};
use crate::error::Result;
use crate::hand::split_key;
use crate::load::Load;
use crate::moment::at_seconds;
use crate::neighbour::Neighbourhoods;
use crate::server::Kept;
use crate::state::State;
use crate::trap::Shapes;
use base::{Interval, PageUrl, Timestamp};
use sat::{Minute, Number, Store};
use std::collections::HashMap;

const PLACE: &[u8] = b"place";
const CRAWL: &[u8] = b"crawl";
const POLICY: &[u8] = b"policy";
const SERVER: &[u8] = b"s/";
const MAP: &[u8] = b"m/";
/// What the longest lesson takes of a commit, and what the entries of a server take at most.
const COMMIT_ROOM_MIN: usize = 64 << 10;
const KEPT_BYTES: usize = 6 << 10;

/// What is kept of the crawl as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Crawl {
    pub is_paused: bool,
    pub day: u32,
    pub day_requests: u64,
    pub day_bytes: u64,
    /// The latest moment that was told, in seconds: the crawl clock goes on from there (D16).
    pub latest: u64,
    pub place: String,
    pub is_dirty: bool,
}

impl Crawl {
    pub(super) fn count(&mut self, day: u32, bytes: u64) {
        if self.day != day {
            (self.day, self.day_requests, self.day_bytes) = (day, 0, 0);
        }
        self.day_requests += 1;
        self.day_bytes += bytes;
        self.is_dirty = true;
    }
    fn write(&self) -> Vec<u8> {
        let mut bytes = vec![1, u8::from(self.is_paused)];
        for number in [self.day.into(), self.day_requests, self.day_bytes, self.latest] {
            put(&mut bytes, number);
        }
        bytes
    }
    fn read(bytes: &[u8]) -> Self {
        let [_, paused] = *bytes.first_chunk().unwrap_or(&[0; 2]);
        let mut fields = Fields(bytes.get(2..).unwrap_or_default());
        Self {
            is_paused: paused != 0,
            day: fields.small(u32::MAX),
            day_requests: fields.number(),
            day_bytes: fields.number(),
            latest: fields.number(),
            ..Self::default()
        }
    }
}

impl Frontier {
    /// The place in the archive behind everything that was learned; empty at the beginning.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.crawl.place
    }
    /// The latest moment that an earlier run told by a commit.
    #[must_use]
    pub fn latest(store: &Store) -> Option<Timestamp> {
        let latest = store.table().get(CRAWL).map(|bytes| Crawl::read(bytes).latest)?;
        (latest > 0).then(|| at_seconds(latest))
    }
    /// Sends everything since the last commit on its way to the disk, together. It is not waited for.
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
        self.commit(now)?;
        self.store.close()?;
        Ok(())
    }

    /// Writes down what changed of servers and crawl.
    pub(super) fn write_kept(&mut self) -> Result<()> {
        let dirty = std::mem::take(&mut self.dirty);
        let mut bytes = Vec::new();
        for server in dirty {
            let state = &mut self.servers[server as usize];
            state.is_dirty = false;
            bytes.clear();
            state.kept.write(&mut bytes);
            let name = [SERVER, state.name.as_str().as_bytes()].concat();
            let map = std::mem::take(&mut state.is_map_dirty).then(|| {
                let mut map = Vec::new();
                state.shapes.write(&mut map);
                state.places.write(&mut map);
                ([MAP, state.name.as_str().as_bytes()].concat(), map)
            });
            self.set(&name, &bytes)?;
            if let Some((name, map)) = map {
                self.set(&name, &map)?;
            }
        }
        let place = self.crawl.place.clone();
        self.set(PLACE, place.as_bytes())?;
        let policy = self.policy_told();
        self.set(POLICY, policy.as_bytes())?;
        let crawl = self.crawl.write();
        self.set(CRAWL, &crawl)
    }
    fn set(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        // Nothing else may be written in between: a commit here would tear apart what belongs together.
        match self.store.set(name, value) {
            Err(sat::Error::CommitFull { .. }) => {
                self.store.begin_commit()?;
                Ok(self.store.set(name, value)?)
            }
            result => Ok(result?),
        }
    }

    /// Writes to the store; when its commit is full, what is there is committed first, with everything that belongs to it.
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
    /// Makes room in the commit under way for the next lesson and for everything that is kept beside it, so that both
    /// are in one commit.
    pub(super) fn reserve(&mut self) -> Result<()> {
        if self.store.commit_room() < COMMIT_ROOM_MIN + self.dirty.len() * KEPT_BYTES {
            self.write_kept()?;
            self.store.begin_commit()?;
        }
        Ok(())
    }
    pub(super) fn update(&mut self, number: Number, key: &[u8], due: Minute, value: &[u8]) -> Result<()> {
        self.write(|store| store.update(number, key, due, value))
    }

    /// Takes over what an earlier run kept.
    pub(super) fn recall(&mut self) {
        let table = self.store.table();
        self.crawl = table.get(CRAWL).map(|bytes| Crawl::read(bytes)).unwrap_or_default();
        if let Some(place) = table.get(PLACE) {
            self.crawl.place = String::from_utf8_lossy(place).into_owned();
        }
        let named = |prefix: &'static [u8]| {
            let names = table.range(prefix.to_vec()..).take_while(move |(name, _)| name.starts_with(prefix));
            names.filter_map(move |(name, value)| {
                let name = std::str::from_utf8(name.get(prefix.len()..)?).ok()?;
                Some((name.to_owned(), value.clone()))
            })
        };
        let (servers, maps): (Vec<_>, Vec<_>) = (named(SERVER).collect(), named(MAP).collect());
        let mut aliases = Vec::new();
        for (name, value) in servers {
            let (Some(kept), Some(server)) = (Kept::read(&value), self.server_called(&name)) else {
                continue;
            };
            aliases.extend((!kept.alias_of.is_empty()).then(|| (server, kept.alias_of.clone())));
            self.recall_server(server, kept);
        }
        for (name, value) in maps {
            let Some(server) = self.server_called(&name) else { continue };
            let mut fields = Fields(&value);
            let state = &mut self.servers[server as usize];
            state.shapes = Shapes::read(&mut fields);
            state.places = Neighbourhoods::read(&mut fields);
        }
        for (server, name) in aliases {
            let to = self.server_called(&name);
            self.servers[server as usize].alias_of = to;
        }
    }
    /// Pages by the counts of their servers.
    pub(super) fn counted(&self) -> u64 {
        self.servers.iter().map(|server| server.kept.pages).sum()
    }
    /// Counts pages anew. The store keeps what it judged to be new by itself, and a crash may come before the counts
    /// that follow from it are kept.
    pub(super) fn recount(&mut self) -> Result<()> {
        let mut counts: HashMap<String, (u64, u64, String)> = HashMap::new();
        self.store.for_each(|record| -> Result<()> {
            let (key, state) =
                (String::from_utf8_lossy(record.key), State::read(record.value).unwrap_or_default());
            let prefix = split_key(&key).0;
            if let Some((pages, new, _)) = counts.get_mut(prefix) {
                (*pages, *new) = (*pages + 1, *new + u64::from(state.is_new()));
            } else {
                counts.insert(prefix.to_owned(), (1, u64::from(state.is_new()), state.url));
            }
            Ok(())
        })?;
        self.new = 0;
        for server in &mut self.servers {
            (server.kept.pages, server.kept.new) = (0, 0);
        }
        for (prefix, (pages, new, url)) in counts {
            let Ok(url) = PageUrl::parse(&url) else { continue };
            let server = self.server_of(&url.server(), &prefix);
            let kept = &mut self.servers[server as usize].kept;
            (kept.pages, kept.new) = (pages, new);
            self.new += new;
            self.touch(server);
        }
        Ok(())
    }
    /// The policy, as far as sums over pages depend on it.
    fn policy_told(&self) -> String {
        format!("{} every {}", self.policy, self.policy.every.as_seconds())
    }
    /// Counts the loads anew when they were counted by another policy.
    pub(super) fn reload(&mut self) -> Result<()> {
        let told =
            self.store.table().get(POLICY).map(|told| told.as_slice() == self.policy_told().as_bytes());
        if told == Some(true) || self.store.count() == 0 {
            return Ok(());
        }
        let (policy, mut loads): (_, HashMap<String, Load>) = (self.policy, HashMap::new());
        self.store.for_each(|record| -> Result<()> {
            let (key, state) =
                (String::from_utf8_lossy(record.key), State::read(record.value).unwrap_or_default());
            if let Some(interval) = state.load_interval(&policy) {
                let load = loads.entry(split_key(&key).0.to_owned()).or_default();
                load.add(interval, share(&policy, interval));
            }
            Ok(())
        })?;
        self.planned = loads.values().map(Load::pages).sum();
        for server in 0..u32::try_from(self.servers.len()).unwrap_or(u32::MAX) {
            let state = &mut self.servers[server as usize];
            let load = loads.remove(&*state.prefix).unwrap_or_default();
            state.kept.pace.forget_level();
            let before = std::mem::replace(&mut state.kept.load, load).units();
            let (after, address) = (state.kept.load.units(), state.kept.address);
            if let Some(address) = address.and_then(|address| self.addresses.get_mut(address)) {
                address.load = (address.load + after).saturating_sub(before);
            }
            self.touch(server);
        }
        Ok(())
    }
    fn recall_server(&mut self, server: u32, kept: Kept) {
        if let Some(address) = kept.address {
            self.address_of(address).load += kept.load.units();
        }
        let start = self.start;
        let state = &mut self.servers[server as usize];
        // Whenever it was asked last, a full pause of the length that its robots file asks for comes first.
        state.leave_until(start.plus(Interval::from_seconds(kept.delay)));
        if kept.not_before > 0 {
            state.leave_until(at_seconds(kept.not_before));
        }
        self.new += kept.new;
        self.planned += kept.load.pages();
        state.kept = kept;
        if state.recall_budget() {
            self.touch(server);
        }
    }
    fn server_called(&mut self, name: &str) -> Option<u32> {
        let home = PageUrl::parse(&format!("http://{name}/")).ok()?;
        Some(self.server_of(&home.server(), split_key(home.key().as_str()).0))
    }
}
