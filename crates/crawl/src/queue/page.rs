//! What the queue knows of a page.

use super::Conditions;
use base::door::Request;
use base::{ContentDigest, PageUrl, Timestamp};

/// A page's place in the queue's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(pub(crate) usize);

/// The version of a page that the archive last stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// What was requested.
    pub url: PageUrl,
    /// When.
    pub at: Timestamp,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Where it is asked for.
    pub url: PageUrl,
    /// When it was last visited.
    pub visited: Option<Timestamp>,
    /// How often it was visited.
    pub visits: u32,
    /// The content it had last.
    pub content: Option<ContentDigest>,
    /// As what the archive holds it.
    pub before: Option<Before>,
    /// How often in a row it was sent to another form of itself.
    pub(super) own_moves: usize,
    /// How many redirects led to it.
    pub(super) hops: usize,
    conditions: Conditions,
}

impl Page {
    pub(super) fn new(url: PageUrl) -> Self {
        Self {
            url,
            visited: None,
            visits: 0,
            content: None,
            before: None,
            own_moves: 0,
            hops: 0,
            conditions: Conditions::default(),
        }
    }

    pub(super) fn store(&mut self, before: Before, conditions: Conditions) {
        self.before = Some(before);
        self.conditions = conditions;
    }

    /// The next request: conditional when the archive already holds what a 304 would stand for (H13).
    pub(super) fn request(&self) -> Request {
        let mut request = Request::get(self.url.clone());
        if self.before.is_some() {
            let Conditions { etag, last_modified } = &self.conditions;
            let fields = [("If-None-Match", etag), ("If-Modified-Since", last_modified)];
            for (name, value) in fields {
                request.fields.extend(value.clone().map(|value| (name, value)));
            }
        }
        request
    }
}
