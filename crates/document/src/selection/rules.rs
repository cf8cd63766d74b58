//! Rules about one document.

use crate::stored::StoredDocument;
use base::PageUrl;

/// The limits of the rules. Paper 004 gives no numbers; these leave out what is rarely a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// A text with fewer characters is kept only if a page of another server links to it.
    pub characters_min: usize,
    /// A text with more characters is a table or a trap.
    pub characters_max: usize,
    /// Maximum length of a query, in bytes.
    pub query_bytes_max: usize,
    /// Maximum number of directories in a path.
    pub depth_max: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { characters_min: 200, characters_max: 500_000, query_bytes_max: 120, depth_max: 10 }
    }
}

/// Why a document is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// It has no text.
    Empty,
    /// Its text is long.
    Long,
    /// Its URL has a long query.
    Query,
    /// Its path is deep.
    Depth,
    /// Its text is short, and no page of another server links to it.
    SmallUnlinked,
    /// Its text is that of another document.
    Copy,
    /// Its text is nearly that of another document.
    NearCopy,
}

impl DropReason {
    /// The reason in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Long => "long",
            Self::Query => "query",
            Self::Depth => "depth",
            Self::SmallUnlinked => "small-unlinked",
            Self::Copy => "copy",
            Self::NearCopy => "near-copy",
        }
    }
}

/// What the rules say of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It is kept, unless it is a copy.
    Kept,
    /// It is left out.
    Dropped(DropReason),
    /// It is left out unless a page of another server links to it.
    KeptIfLinked,
}

impl Thresholds {
    /// Judges a document by its URL and text.
    #[must_use]
    pub fn judge(&self, url: &PageUrl, document: &StoredDocument) -> Judged {
        let characters = document.text.chars().filter(|c| !c.is_whitespace()).count();
        let query = url.as_url().query().map_or(0, str::len);
        let depth = url.path().split('/').filter(|part| !part.is_empty()).count();
        // The last part is the page, unless the path ends in a slash.
        let depth = depth - usize::from(depth > 0 && !url.path().ends_with('/'));
        match characters {
            0 => Judged::Dropped(DropReason::Empty),
            _ if characters > self.characters_max => Judged::Dropped(DropReason::Long),
            _ if query > self.query_bytes_max => Judged::Dropped(DropReason::Query),
            _ if depth > self.depth_max => Judged::Dropped(DropReason::Depth),
            _ if characters < self.characters_min => Judged::KeptIfLinked,
            _ => Judged::Kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, characters: usize, expected: Judged) {
        let limits = Thresholds { characters_min: 10, characters_max: 20, query_bytes_max: 5, depth_max: 2 };
        let document = StoredDocument { text: "字 ".repeat(characters), ..StoredDocument::default() };
        assert_eq!(limits.judge(&PageUrl::parse(url).unwrap(), &document), expected, "{url}, {characters}");
    }

    #[test]
    fn each_rule_has_its_limit() {
        use DropReason::{Depth, Empty, Long, Query};
        check("http://a.example/", 0, Judged::Dropped(Empty));
        check("http://a.example/", 9, Judged::KeptIfLinked);
        check("http://a.example/", 10, Judged::Kept);
        check("http://a.example/", 20, Judged::Kept);
        check("http://a.example/", 21, Judged::Dropped(Long));
        check("http://a.example/?12345", 10, Judged::Kept);
        check("http://a.example/?123456", 10, Judged::Dropped(Query));
        check("http://a.example/1/2/page", 10, Judged::Kept);
        check("http://a.example/1/2/3/", 10, Judged::Dropped(Depth));
    }
}
