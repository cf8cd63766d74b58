//! The servers of the crawl, known by [`ServerId`].
//!
//! **Invariant:** a [`ServerId`] is the position of a server in the order in which servers became known. It stays the same
//! for the whole run.
//!
//! **Invariant:** a server whose stored part changed is listed as dirty exactly once, until it is written.
//!
//! **Invariant:** an alias never leads to an alias.

use crate::loaded_page::split_key;
use crate::revisit::co_change::MemberSet;
use crate::server::Server;
use base::{PageUrl, ServerName};
use sat::Number;
use std::collections::HashMap;
use std::ops::{Index, IndexMut};

/// A server within one run. Ids are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ServerId(u32);

/// The maximum number of pages that take part in co-change groups; each takes some 80 bytes.
const CO_CHANGE_PAGES_MAX: u64 = 2_000_000;

/// The servers that are known.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    all: Vec<Server>,
    by_prefix: HashMap<Box<str>, ServerId>,
    is_dirty: Vec<bool>,
    dirty: Vec<ServerId>,
    /// Servers by the digest of their home pages.
    homes: HashMap<[u8; 16], ServerId>,
    /// Pages that take part in the co-change groups of their servers.
    co_change_members: MemberSet,
}

impl ServerId {
    /// The id of the server at a position.
    ///
    /// # Panics
    /// With 2³² servers or more.
    pub(crate) fn at(position: usize) -> Self {
        Self(u32::try_from(position).expect("fewer than 2³² servers"))
    }
    /// The position among all servers.
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }
}

impl Servers {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
    /// The ids of the servers that are known by now. Servers may be added while they are visited.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ServerId> + use<> {
        (0..self.all.len()).map(ServerId::at)
    }
    /// All servers, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ServerId, &Server)> {
        self.all.iter().enumerate().map(|(position, server)| (ServerId::at(position), server))
    }
    /// The same, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Server> {
        self.all.iter_mut()
    }

    /// The server whose keys begin with this prefix.
    pub(crate) fn by_prefix(&self, prefix: &str) -> Option<ServerId> {
        self.by_prefix.get(prefix).copied()
    }
    /// The server that a key belongs to.
    pub(crate) fn of_key(&self, key: &str) -> Option<ServerId> {
        self.by_prefix(split_key(key).0)
    }
    /// The server of a URL.
    pub(crate) fn of_url(&self, url: &PageUrl) -> Option<ServerId> {
        self.of_key(url.key().as_str())
    }
    /// Adds a server.
    ///
    /// # Panics
    /// When a server with the same prefix is known.
    pub(crate) fn add(&mut self, server: Server) -> ServerId {
        let id = ServerId::at(self.all.len());
        let before = self.by_prefix.insert(server.prefix.clone(), id);
        assert!(before.is_none(), "the server of a prefix is added once");
        self.all.push(server);
        self.is_dirty.push(false);
        id
    }

    /// Notes that the stored part of a server changed.
    pub(crate) fn touch(&mut self, id: ServerId) {
        if !std::mem::replace(&mut self.is_dirty[id.position()], true) {
            self.dirty.push(id);
        }
    }
    /// The servers whose stored part changed. They are no longer dirty.
    pub(crate) fn take_dirty(&mut self) -> Vec<ServerId> {
        let dirty = std::mem::take(&mut self.dirty);
        dirty.iter().for_each(|id| self.is_dirty[id.position()] = false);
        dirty
    }
    /// How many are dirty.
    pub(crate) fn dirty_count(&self) -> usize {
        self.dirty.len()
    }

    /// Adds a page to the co-change groups of its server, once. Returns whether it is new there.
    pub(crate) fn join_co_change(
        &mut self,
        id: ServerId,
        page: Number,
        target: &str,
        last: u64,
        event: u32,
    ) -> bool {
        let is_new =
            self.co_change_members.count() < CO_CHANGE_PAGES_MAX && self.co_change_members.add(page.0);
        if is_new {
            self[id].co_change.join(page.0, target, last, event);
        }
        is_new
    }

    /// Makes one server an alias of another, unless it is an alias already.
    pub(crate) fn set_alias(&mut self, from: ServerId, to: ServerId) {
        let to = self[to].alias_of.unwrap_or(to);
        if from == to || self[from].alias_of.is_some() {
            return;
        }
        self[from].alias_of = Some(to);
        let name = self[to].name.as_str().to_owned();
        tracing::info!(server = %self[from].name, is = %name, "another name of a server");
        self[from].kept.alias_of = name;
        self.touch(from);
        let others = self.all.iter_mut().filter(|server| server.alias_of == Some(from));
        others.for_each(|server| server.alias_of = Some(to));
    }
    /// The home page of a server redirects to the home page of another. They are one server if their names differ by `www.`
    /// alone.
    pub(crate) fn home_moved(&mut self, id: ServerId, to: &ServerName, target: Option<ServerId>) {
        let Some(target) = target.filter(|target| *target != id && is_www_pair(&self[id].name, to)) else {
            return;
        };
        // The former alias may be the proper name now.
        if self[target].alias_of == Some(id) {
            self[target].alias_of = None;
            self[target].kept.alias_of.clear();
            self.touch(target);
        }
        self.set_alias(id, target);
    }
    /// The home page of a server has this content. Servers of one owner with the same home page are one server.
    pub(crate) fn home_seen(&mut self, id: ServerId, content: [u8; 16]) {
        match self.homes.get(&content).copied() {
            Some(other) if other != id && self.is_one_owner(id, other) => self.set_alias(id, other),
            Some(_) => {}
            None => {
                if let Some(before) = self[id].home.replace(content) {
                    self.homes.remove(&before);
                }
                self.homes.insert(content, id);
            }
        }
    }
    fn is_one_owner(&self, one: ServerId, other: ServerId) -> bool {
        let (one, other) = (&self[one], &self[other]);
        let domain = one.name.registrable_domain();
        one.kept.address.is_some()
            && one.kept.address == other.kept.address
            && domain.is_some()
            && domain == other.name.registrable_domain()
            && one.name.port() == other.name.port()
    }
}

impl Index<ServerId> for Servers {
    type Output = Server;

    fn index(&self, id: ServerId) -> &Server {
        &self.all[id.position()]
    }
}

impl IndexMut<ServerId> for Servers {
    fn index_mut(&mut self, id: ServerId) -> &mut Server {
        &mut self.all[id.position()]
    }
}

/// Whether one name is the other with `www.` in front.
fn is_www_pair(one: &ServerName, other: &ServerName) -> bool {
    let bare = |name: &ServerName| name.as_str().strip_prefix("www.").map(ToOwned::to_owned);
    bare(one).as_deref() == Some(other.as_str()) || bare(other).as_deref() == Some(one.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Interval, Timestamp};

    fn add(servers: &mut Servers, name: &str) -> ServerId {
        let url = PageUrl::parse(&format!("http://{name}/")).unwrap();
        let key = url.key();
        let prefix = split_key(key.as_str()).0;
        servers.add(Server::new(url.server(), prefix, Interval::from_seconds(10), 1, Timestamp::MIN))
    }

    #[test]
    fn servers_are_found_by_prefix_and_url() {
        let mut servers = Servers::default();
        let (one, other) = (add(&mut servers, "a.example"), add(&mut servers, "b.example"));
        let url = PageUrl::parse("http://b.example/x").unwrap();
        assert_eq!((servers.of_url(&url), servers.len()), (Some(other), 2));
        assert_eq!(servers.ids().collect::<Vec<_>>(), [one, other]);
        assert_eq!(servers.of_key("example,c)/"), None);
    }

    #[test]
    fn a_dirty_server_is_listed_once_until_it_is_written() {
        let mut servers = Servers::default();
        let (one, other) = (add(&mut servers, "a.example"), add(&mut servers, "b.example"));
        [other, one, other].into_iter().for_each(|id| servers.touch(id));
        assert_eq!(servers.dirty_count(), 2);
        assert_eq!(servers.take_dirty(), [other, one]);
        assert_eq!(servers.take_dirty(), []);
        servers.touch(one);
        assert_eq!(servers.take_dirty(), [one]);
    }

    #[test]
    fn an_alias_never_leads_to_an_alias() {
        let mut servers = Servers::default();
        let [a, b, c] = ["a.example", "b.example", "c.example"].map(|name| add(&mut servers, name));
        servers.set_alias(a, b);
        servers.set_alias(b, c);
        assert_eq!((servers[a].alias_of, servers[b].alias_of, servers[c].alias_of), (Some(c), Some(c), None));
        servers.set_alias(c, a);
        assert_eq!(servers[c].alias_of, None, "it is the proper name of all");
    }

    #[test]
    fn a_home_page_that_moves_to_the_other_form_of_its_name_makes_an_alias() {
        let mut servers = Servers::default();
        let (bare, www) = (add(&mut servers, "a.example"), add(&mut servers, "www.a.example"));
        let name = servers[www].name.clone();
        servers.home_moved(bare, &name, Some(www));
        assert_eq!(servers[bare].alias_of, Some(www));
        let name = servers[bare].name.clone();
        servers.home_moved(www, &name, Some(bare));
        assert_eq!((servers[www].alias_of, servers[bare].alias_of), (Some(bare), None), "it moved back");
    }
}
