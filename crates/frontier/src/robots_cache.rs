//! Who waits for which robots file.
//!
//! A robots file is fetched once, however many servers wait for it: its own server, and servers that were redirected to it.
//!
//! **Invariant:** a robots file has waiters exactly while its fetch is queued or under way.
//!
//! **Invariant:** a server awaits a robots file exactly while it is among the waiters of one file.

use crate::servers::ServerId;
use base::PageUrl;
use base::url::Scheme;
use std::collections::HashMap;

/// A server that waits for a robots file, and the scheme that it is needed for.
pub(crate) type RobotsWaiter = (ServerId, Scheme);

/// The robots files that are being fetched.
#[derive(Debug, Default)]
pub(crate) struct RobotsCache {
    waiters: HashMap<PageUrl, Vec<RobotsWaiter>>,
}

impl RobotsCache {
    /// Adds a waiter. Returns whether it is the first, so that a fetch must be queued.
    pub(crate) fn wait(&mut self, url: &PageUrl, waiter: RobotsWaiter) -> bool {
        let waiters = self.waiters.entry(url.clone()).or_default();
        waiters.push(waiter);
        waiters.len() == 1
    }
    /// The fetch of a robots file is over: everyone who waited for it.
    pub(crate) fn end(&mut self, url: &PageUrl) -> Vec<RobotsWaiter> {
        self.waiters.remove(url).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_fetched_once_for_all_who_wait() {
        let mut cache = RobotsCache::default();
        let url = PageUrl::parse("http://a.example/robots.txt").unwrap();
        let (one, other) = ((ServerId::at(0), Scheme::Http), (ServerId::at(1), Scheme::Https));
        assert!(cache.wait(&url, one) && !cache.wait(&url, other));
        assert_eq!(cache.end(&url), [one, other]);
        assert_eq!(cache.end(&url), []);
        assert!(cache.wait(&url, other), "the next day it is fetched again");
    }
}
