//! Links, as they are passed to a frontier.

use crate::Role;
use base::{PageUrl, Timestamp};

/// A URL that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundUrl {
    /// The URL.
    pub url: PageUrl,
    /// What it is visited for.
    pub role: Role,
    /// When it changed, according to a feed or a sitemap.
    pub announced: Option<Timestamp>,
}

impl FoundUrl {
    /// A plain link.
    #[must_use]
    pub fn page(url: PageUrl) -> Self {
        Self { url, role: Role::Page, announced: None }
    }
}
