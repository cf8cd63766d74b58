//! The analyses that are built in: links, text, words, language, titles, sizes, digests (P4).
//!
//! Each answers one document with one JSON value on one line, as a program that is the analysis would.
//!
//! **Invariant:** an answer is given for every document, whatever its bytes; it takes time linear in the document and
//! holds no line feed.

mod json;
mod links;
mod measures;
mod page;
mod subject;
mod words;

use crate::ScanDocument;
use std::fmt;
use std::str::FromStr;
use subject::Subject;

/// An analysis that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Analysis {
    /// Where a page points to, in order: `[{"url":"…","kind":"anchor","nofollow":true},…]`.
    ///
    /// A page's links have the kinds of [`html::LinkKind`]; what a feed announces is an `entry`, and its older part
    /// `next`; what a sitemap lists is a `page` or a `sitemap`. Empty for everything else.
    Links,
    /// The visible text of a page, one line a block, or all of a plain text; null for what is neither. At most
    /// [`html::TEXT_BYTES_MAX`] bytes.
    Text,
    /// The words of that text, in lower case: `{"count":9,"distinct":7,"top":[["the",3],…]}`, the most frequent first;
    /// null where there is no text.
    Words,
    /// The language of a page, as the index has it: `"ja"`; null if it cannot be detected.
    Language,
    /// The title of a page; null when it has none.
    Titles,
    /// How many bytes there are: `{"stored":412,"payload":700,"content":2048}`, as the record in the archive, as the
    /// body that came, and with its codings removed.
    Sizes,
    /// The digests of the body, in hexadecimal: `{"sha1":"…","sha256":"…","blake3":"…"}`.
    Digests,
}

impl Analysis {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Links, Self::Text, Self::Words, Self::Language, Self::Titles, Self::Sizes, Self::Digests];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Text => "text",
            Self::Words => "words",
            Self::Language => "language",
            Self::Titles => "titles",
            Self::Sizes => "sizes",
            Self::Digests => "digests",
        }
    }

    /// The analysis of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|analysis| analysis.as_str() == name)
    }

    /// Appends what it says of a document: one JSON value without a line feed.
    pub fn answer(self, document: &ScanDocument<'_>, out: &mut Vec<u8>) {
        let subject = Subject::of(document);
        match self {
            Self::Links => links::write(&subject, out),
            Self::Text => json::text_or_null(out, subject.text().as_deref()),
            Self::Words => match subject.text() {
                Some(text) => words::write(&text, out),
                None => json::null(out),
            },
            Self::Language => page::language(&subject, out),
            Self::Titles => page::title(&subject, out),
            Self::Sizes => measures::sizes(document, out),
            Self::Digests => measures::digests(document, out),
        }
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not the name of an analysis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no built-in analysis is called `{0}`; choose one of: {names}", names = Analysis::ALL.map(Analysis::as_str).join(", "))]
pub struct NoAnalysis(String);

impl FromStr for Analysis {
    type Err = NoAnalysis;

    fn from_str(name: &str) -> Result<Self, NoAnalysis> {
        Self::named(name).ok_or_else(|| NoAnalysis(base::printable(name).into_owned()))
    }
}

#[cfg(test)]
mod tests;
