//! One name for one server (C10): names that were given, and names that are found out.
//!
//! Two names are one server when one is the other with `www.` in front and its home page leads to the other's, or when they
//! belong to one owner, answer at one address and show the same home page. From then on links to the one are links to the
//! other, and pages that were known under the wrong name go on under the right one.
//!
//! **Invariant:** an alias never leads to an alias.

use super::Frontier;
use crate::loaded_page::split_key;
use base::{PageUrl, ServerName, UrlKey};

impl Frontier {
    /// Names that were given.
    pub(super) fn name_aliases(&mut self) {
        for (from, to) in self.settings.aliases.clone() {
            let (Some(from), Some(to)) = (self.server_by_name(&from), self.server_by_name(&to)) else {
                continue;
            };
            self.name_alias(from, to);
        }
    }
    fn server_by_name(&mut self, name: &ServerName) -> Option<u32> {
        let home = PageUrl::parse(&format!("http://{name}/")).ok()?;
        Some(self.server_of(&home.server(), split_key(home.key().as_str()).0))
    }
    pub(super) fn name_alias(&mut self, from: u32, to: u32) {
        let to = self.servers[to as usize].alias_of.unwrap_or(to);
        if from == to || self.servers[from as usize].alias_of.is_some() {
            return;
        }
        self.servers[from as usize].alias_of = Some(to);
        let name = self.servers[to as usize].name.as_str().to_owned();
        tracing::info!(server = %self.servers[from as usize].name, is = %name, "another name of a server");
        self.servers[from as usize].kept.alias_of = name;
        self.touch(from);
        let others = self.servers.iter_mut().filter(|server| server.alias_of == Some(from));
        others.for_each(|server| server.alias_of = Some(to));
    }

    /// The URL under the proper name of its server; nothing when it has that already.
    pub(super) fn by_proper_name(&self, url: &PageUrl, key: &UrlKey) -> Option<PageUrl> {
        let server = *self.by_prefix.get(split_key(key.as_str()).0)?;
        let to = &self.servers[self.servers[server as usize].alias_of? as usize].name;
        let mut proper = url.as_url().clone();
        proper.set_host(Some(to.host())).ok()?;
        proper.set_port(to.port()).ok()?;
        PageUrl::from_url(proper).ok()
    }

    /// Looks whether a home page shows that its server is another.
    pub(super) fn compare_home(&mut self, server: u32, content: Option<[u8; 16]>, target: Option<&PageUrl>) {
        if !self.settings.detects_aliases {
            return;
        }
        if let Some(target) = target.filter(|target| target.target() == "/") {
            let to = self.known_server(target);
            let is_pair = is_www_pair(&self.servers[server as usize].name, &target.server());
            if let Some(to) = to.filter(|to| is_pair && *to != server) {
                // What was the other name once may be the proper one now.
                if self.servers[to as usize].alias_of == Some(server) {
                    self.servers[to as usize].alias_of = None;
                    self.servers[to as usize].kept.alias_of.clear();
                    self.touch(to);
                }
                self.name_alias(server, to);
            }
        }
        let Some(content) = content else { return };
        match self.homes.get(&content).copied() {
            Some(other) if other != server && self.is_one_owner(server, other) => {
                self.name_alias(server, other);
            }
            Some(_) => {}
            None => {
                if let Some(before) = self.servers[server as usize].home.replace(content) {
                    self.homes.remove(&before);
                }
                self.homes.insert(content, server);
            }
        }
    }
    fn is_one_owner(&self, one: u32, other: u32) -> bool {
        let (one, other) = (&self.servers[one as usize], &self.servers[other as usize]);
        let domain = one.name.registrable_domain();
        one.kept.address.is_some()
            && one.kept.address == other.kept.address
            && domain.is_some()
            && domain == other.name.registrable_domain()
            && one.name.port() == other.name.port()
    }
}

/// Whether one name is the other with `www.` in front.
fn is_www_pair(one: &ServerName, other: &ServerName) -> bool {
    let bare = |name: &ServerName| name.as_str().strip_prefix("www.").map(ToOwned::to_owned);
    bare(one).as_deref() == Some(other.as_str()) || bare(other).as_deref() == Some(one.as_str())
}
