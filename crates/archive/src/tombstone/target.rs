//! What is taken down: a page, a prefix, or a server.

use crate::capture::entry::Key;
use crate::index::KeyBounds;
use crate::scope::{Scope, ScopeError};
use base::PageUrl;
use std::fmt;

/// What is taken down.
#[derive(Clone, Debug)]
pub struct Target {
    kind: TargetKind,
    text: String,
    scope: Scope,
    key: Option<Key>,
}

/// How much is taken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetKind {
    Url,
    Prefix,
    Server,
}

impl TargetKind {
    const ALL: [Self; 3] = [Self::Url, Self::Prefix, Self::Server];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Prefix => "prefix",
            Self::Server => "server",
        }
    }
}

impl Target {
    /// One page, under every spelling of its URL.
    pub fn url(text: &str) -> Result<Self, ScopeError> {
        let page = PageUrl::parse(text.trim()).map_err(ScopeError::Url)?;
        let (text, key) = (page.as_str().to_owned(), Some(page.key().into()));
        Ok(Self { kind: TargetKind::Url, scope: Scope::Whole, text, key })
    }
    /// All pages whose URL begins with the text.
    pub fn prefix(text: &str) -> Result<Self, ScopeError> {
        let (text, scope) = (text.trim().to_owned(), Scope::prefix(text)?);
        Ok(Self { kind: TargetKind::Prefix, text, scope, key: None })
    }
    /// All pages of a server.
    pub fn server(text: &str) -> Result<Self, ScopeError> {
        let (text, scope) = (text.trim().to_owned(), Scope::server(text)?);
        Ok(Self { kind: TargetKind::Server, text, scope, key: None })
    }
    pub(crate) fn named(kind: &str, text: &str) -> Option<Self> {
        match TargetKind::ALL.into_iter().find(|known| known.as_str() == kind)? {
            TargetKind::Url => Self::url(text).ok(),
            TargetKind::Prefix => Self::prefix(text).ok(),
            TargetKind::Server => Self::server(text).ok(),
        }
    }

    /// `url`, `prefix` or `server`.
    pub(crate) const fn what(&self) -> &'static str {
        self.kind.as_str()
    }
    /// The text that was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it includes the page with this key.
    #[must_use]
    pub fn holds(&self, key: &Key) -> bool {
        match &self.key {
            Some(own) => own == key,
            None => self.scope.holds(key.as_str()),
        }
    }
    pub(crate) fn ranges(&self) -> Vec<KeyBounds> {
        match &self.key {
            Some(key) => vec![KeyBounds::one(key.as_str().as_bytes())],
            None => {
                let ranges = self.scope.key_ranges().into_iter();
                ranges
                    .map(|range| KeyBounds { from: range.from.into(), to: range.to.map(String::into_bytes) })
                    .collect()
            }
        }
    }
}

/// `url`, `prefix` or `server` and what it is.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.text)
    }
}
