//! One name for one server (C10): aliases from the settings, and aliases that are detected.
//!
//! Two names are one server when one is the other with `www.` in front and its home page leads to the other's, or when
//! they belong to one owner, answer at one address and show the same home page. After that, links to one are links to
//! the other, and pages known under the alias move to the proper name.

use super::Frontier;
use crate::loaded_page::split_key;
use crate::servers::ServerId;
use base::{PageUrl, ServerName, UrlKey};

impl Frontier {
    /// Applies the aliases from the settings.
    pub(super) fn name_aliases(&mut self) {
        for (from, to) in self.settings.aliases.clone() {
            let (Some(from), Some(to)) = (self.server_by_name(&from), self.server_by_name(&to)) else {
                continue;
            };
            self.servers.set_alias(from, to);
        }
    }
    fn server_by_name(&mut self, name: &ServerName) -> Option<ServerId> {
        let home = PageUrl::parse(&format!("http://{name}/")).ok()?;
        Some(self.server_of(&home.server(), split_key(home.key().as_str()).0))
    }

    /// The URL under the proper name of its server; `None` if it has that already.
    pub(super) fn by_proper_name(&self, url: &PageUrl, key: &UrlKey) -> Option<PageUrl> {
        let server = self.servers.of_key(key.as_str())?;
        let to = &self.servers[self.servers[server].alias_of?].name;
        let mut proper = url.as_url().clone();
        proper.set_host(Some(to.host())).ok()?;
        proper.set_port(to.port()).ok()?;
        PageUrl::from_url(proper).ok()
    }

    /// Checks whether a home page shows that its server is an alias.
    pub(super) fn compare_home(
        &mut self,
        server: ServerId,
        content: Option<[u8; 16]>,
        target: Option<&PageUrl>,
    ) {
        if !self.settings.detects_aliases {
            return;
        }
        if let Some(target) = target.filter(|target| target.target() == "/") {
            self.servers.home_moved(server, &target.server(), self.servers.of_url(target));
        }
        if let Some(content) = content {
            self.servers.home_seen(server, content);
        }
    }
}
