//! The robots files: what is known about them, and which servers wait for which file.
//!
//! A robots file is fetched once, however many servers wait for it: its own server, and servers that were redirected to it.
//!
//! **Invariant:** a robots file has waiters exactly while its fetch is queued or under way.
//!
//! **Invariant:** a server awaits a robots file exactly while it is among the waiters of one file.
//!
//! Not here: the delay that the files of a server ask for. [`crate::server::Server`] keeps it with its other delays.

use crate::servers::ServerId;
use base::url::{Origin, Scheme};
use base::{Interval, PageUrl, ServerName, Timestamp};
use robots::{Need, RobotsAnswer, Standing};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A server that waits for a robots file, and the scheme that it is needed for.
pub(crate) type RobotsWaiter = (ServerId, Scheme);

/// What is known about robots files, and those that are being fetched.
#[derive(Debug, Default)]
pub(crate) struct RobotsCache {
    /// Robots rules belong to server and scheme together (D6).
    standings: HashMap<(ServerId, Scheme), Standing>,
    waiters: HashMap<PageUrl, Vec<RobotsWaiter>>,
}

impl RobotsCache {
    /// Adds a waiter. Returns whether it is the first, so that a fetch must be queued.
    pub(crate) fn wait(&mut self, url: &PageUrl, waiter: RobotsWaiter) -> bool {
        let waiters = self.waiters.entry(url.clone()).or_default();
        waiters.push(waiter);
        waiters.len() == 1
    }
    /// Ends the fetch of a robots file and returns its waiters.
    pub(crate) fn end(&mut self, url: &PageUrl) -> Vec<RobotsWaiter> {
        self.waiters.remove(url).unwrap_or_default()
    }

    /// What the robots file of a server requires before a page of the scheme is visited.
    pub(crate) fn needs(&mut self, id: ServerId, name: &ServerName, scheme: Scheme, now: Timestamp) -> Need {
        match self.standing(id, name, scheme) {
            Some(standing) => standing.needs(now),
            None => Need::Unreachable(Timestamp::MAX),
        }
    }
    /// The last answer of a server's own robots file, if it is still valid.
    pub(crate) fn said(
        &self,
        id: ServerId,
        scheme: Scheme,
        now: Timestamp,
    ) -> Option<(RobotsAnswer, Timestamp)> {
        self.known(id, scheme).and_then(|standing| standing.said(now))
    }
    /// What is known about the robots file of a server.
    pub(crate) fn known(&self, id: ServerId, scheme: Scheme) -> Option<&Standing> {
        self.standings.get(&(id, scheme))
    }
    /// Learns the result of a robots fetch. Returns the longest delay that the server's files ask for.
    pub(crate) fn learn(
        &mut self,
        (id, scheme): RobotsWaiter,
        name: &ServerName,
        answer: &RobotsAnswer,
        now: Timestamp,
    ) -> Interval {
        if let Some(standing) = self.standing(id, name, scheme) {
            standing.learn(answer, now);
        }
        self.crawl_delay(id)
    }
    /// Restores what an earlier run learned. Returns the longest delay that the server's files ask for.
    pub(crate) fn recall(&mut self, id: ServerId, scheme: Scheme, standing: Standing) -> Interval {
        self.standings.insert((id, scheme), standing);
        self.crawl_delay(id)
    }

    fn crawl_delay(&self, id: ServerId) -> Interval {
        let known = [Scheme::Http, Scheme::Https].into_iter().filter_map(|scheme| self.known(id, scheme));
        known.map(Standing::crawl_delay).max().unwrap_or(Interval::ZERO)
    }
    /// `None` if the server's name is too long for its robots file to have a URL.
    fn standing(&mut self, id: ServerId, name: &ServerName, scheme: Scheme) -> Option<&mut Standing> {
        match self.standings.entry((id, scheme)) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(unknown) => {
                let home = robots::home(&Origin { scheme, server: name.clone() })?;
                Some(unknown.insert(Standing::new(home)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_fetched_once_for_all_waiters() {
        let mut cache = RobotsCache::default();
        let url = PageUrl::parse("http://a.example/robots.txt").unwrap();
        let (one, other) = ((ServerId::at(0), Scheme::Http), (ServerId::at(1), Scheme::Https));
        assert!(cache.wait(&url, one) && !cache.wait(&url, other));
        assert_eq!(cache.end(&url), [one, other]);
        assert_eq!(cache.end(&url), []);
        assert!(cache.wait(&url, other), "the next day it is fetched again");
    }

    #[test]
    fn rules_belong_to_server_and_scheme() {
        let mut cache = RobotsCache::default();
        let (name, now) = (ServerName::parse("a.example").unwrap(), Timestamp::MIN);
        let id = ServerId::at(0);
        assert!(cache.known(id, Scheme::Http).is_none());
        assert!(matches!(cache.needs(id, &name, Scheme::Http, now), Need::Ask(_)));
        cache.learn((id, Scheme::Http), &name, &RobotsAnswer::Unreachable(None), now);
        assert!(!matches!(cache.needs(id, &name, Scheme::Http, now), Need::Ask(_)));
        assert!(matches!(cache.needs(id, &name, Scheme::Https, now), Need::Ask(_)), "the other scheme");
        assert!(matches!(cache.needs(ServerId::at(1), &name, Scheme::Http, now), Need::Ask(_)));
    }
}
