//! Pages that an operator selects together: one page, all below a prefix, or all of a server.

use crate::loaded_page::split_key;
use base::{PageUrl, ServerName};
use std::fmt;

/// One page, all pages below a prefix, or all pages of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    kind: SelectionKind,
    text: String,
    /// The key of the page, the beginning of the keys, or the part of them that names the server.
    key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SelectionKind {
    Page,
    Prefix,
    Server,
}

impl SelectionKind {
    const ALL: [Self; 3] = [Self::Page, Self::Prefix, Self::Server];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "url",
            Self::Prefix => "prefix",
            Self::Server => "server",
        }
    }
}

impl Selection {
    /// One page.
    #[must_use]
    pub fn page(url: &PageUrl) -> Self {
        let key = url.key().as_str().to_owned();
        Self { kind: SelectionKind::Page, text: url.as_str().to_owned(), key }
    }
    /// All pages whose URL begins with `url`, by http and https alike.
    #[must_use]
    pub fn prefix(url: &PageUrl) -> Self {
        Self { kind: SelectionKind::Prefix, ..Self::page(url) }
    }
    /// All pages of a server; `None` if its name is too long to have a page.
    #[must_use]
    pub fn server(name: &ServerName) -> Option<Self> {
        let home = PageUrl::parse(&format!("http://{name}/")).ok()?;
        let key = split_key(home.key().as_str()).0.to_owned();
        Some(Self { kind: SelectionKind::Server, text: name.as_str().to_owned(), key })
    }
    /// Reads what `Display` writes.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (kind, text) = text.split_once(' ')?;
        match SelectionKind::ALL.into_iter().find(|known| known.as_str() == kind)? {
            SelectionKind::Page => Some(Self::page(&PageUrl::parse(text).ok()?)),
            SelectionKind::Prefix => Some(Self::prefix(&PageUrl::parse(text).ok()?)),
            SelectionKind::Server => Self::server(&ServerName::parse(text).ok()?),
        }
    }

    /// The URL, if it is one page.
    pub(crate) fn url(&self) -> Option<PageUrl> {
        (self.kind == SelectionKind::Page).then(|| PageUrl::parse(&self.text).ok())?
    }
    /// Whether the page with this key belongs to it.
    #[must_use]
    pub fn holds(&self, key: &str) -> bool {
        match self.kind {
            SelectionKind::Page => key == self.key,
            SelectionKind::Prefix => key.starts_with(&self.key),
            SelectionKind::Server => split_key(key).0 == self.key,
        }
    }
    /// Whether everything that belongs to `other` belongs to it.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self.kind, other.kind) {
            (SelectionKind::Server, SelectionKind::Server) => self.key == other.key,
            (_, SelectionKind::Server) => false,
            _ => self.holds(&other.key),
        }
    }
    /// The arguments of a command that select it.
    #[must_use]
    pub fn arguments(&self) -> String {
        match self.kind {
            SelectionKind::Page => self.text.clone(),
            kind => format!("--{} {}", kind.as_str(), self.text),
        }
    }
}

/// `url`, `prefix` or `server` and what it is.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }
    #[track_caller]
    fn check(selection: &Selection, page: &str, expected: bool) {
        assert_eq!(selection.holds(url(page).key().as_str()), expected, "{selection}: {page}");
    }

    #[test]
    fn a_selection_holds_what_it_names() {
        let page = Selection::page(&url("http://a.example/x?q=1"));
        check(&page, "https://a.example/x?q=1", true);
        check(&page, "http://a.example/x?q=12", false);
        let prefix = Selection::prefix(&url("http://a.example/docs/"));
        check(&prefix, "https://a.example/docs/1", true);
        check(&prefix, "http://a.example/doc", false);
        check(&prefix, "http://a.example:81/docs/1", false);
        let server = Selection::server(&ServerName::parse("a.example").unwrap()).unwrap();
        check(&server, "https://a.example/", true);
        check(&server, "http://b.a.example/", false);
        assert!(server.covers(&prefix) && prefix.covers(&prefix) && !prefix.covers(&server));
        for selection in [page, prefix, server] {
            assert_eq!(Selection::read(&selection.to_string()), Some(selection));
        }
        assert_eq!(Selection::read("url"), None);
        assert_eq!(Selection::read("page http://a.example/"), None);
    }
}
