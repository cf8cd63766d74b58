//! What the index knows about a capture.
//!
//! **Invariant:** entries are ordered by key, then by the moment they are valid from, then by their location in the
//! archive, which is the order of arrival: file names sort by start (D7).

use base::{ContentDigest, PageUrl, Sha1Digest, Timestamp, UrlKey};
use std::fmt;
use std::sync::Arc;

/// Identifies a page: the key of its URL, or `!` and the URI of something that is not a web page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The key of something requested as `target`.
    #[must_use]
    pub fn of(target: &str) -> Self {
        match PageUrl::parse(target) {
            Ok(url) => url.key().into(),
            Err(_) => Self(format!("!{target}").into()),
        }
    }
    /// The key from its stored text.
    #[must_use]
    pub fn from_stored(key: &str) -> Self {
        Self(key.into())
    }
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<UrlKey> for Key {
    fn from(key: UrlKey) -> Self {
        Self(key.as_str().into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a record is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The name of the file once it is finished; `.open` may still be appended.
    pub file: Arc<str>,
    /// Where the record's member begins.
    pub offset: u64,
    /// How long the member is.
    pub length: u64,
}

/// How a capture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// The whole answer.
    Response,
    /// The head of the answer and where its body is.
    Revisit,
    /// Why there was no answer.
    Metadata,
    /// Something without an exchange of its own.
    Resource,
    /// Other imported records, and the archive's own notes.
    Other,
}

impl Stored {
    /// Every kind, in the order of their codes on disk.
    pub(crate) const ALL: [Self; 5] =
        [Self::Response, Self::Revisit, Self::Metadata, Self::Resource, Self::Other];

    /// The name of the record's kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Revisit => "revisit",
            Self::Metadata => "metadata",
            Self::Resource => "resource",
            Self::Other => "other",
        }
    }
}

/// What a visit saw (A2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flag {
    /// New content.
    Changed,
    /// The same content as before.
    Unchanged,
    /// An error, or no answer at all.
    Error,
}

impl Flag {
    /// Every flag, in the order of their codes on disk.
    pub const ALL: [Self; 3] = [Self::Changed, Self::Unchanged, Self::Error];

    /// The flag in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Error => "error",
        }
    }
    /// The flag of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.as_str() == word)
    }
}

/// Identifies a content: the first 128 bits of the BLAKE3 digest of the content with every coding removed. A redirect's
/// content is its status and where it leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentKey(pub [u8; 16]);

impl ContentKey {
    /// The key of some content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        ContentDigest::of(content).into()
    }
    /// Reads what [`fmt::Display`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text
            .strip_prefix("blake3-128:")
            .filter(|digits| digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u128::from_str_radix(digits, 16).ok().map(|bits| Self(bits.to_be_bytes()))
    }
}

/// The first half of it.
impl From<ContentDigest> for ContentKey {
    fn from(digest: ContentDigest) -> Self {
        Self(*digest.as_bytes().first_chunk().expect("it is 32 bytes long"))
    }
}

impl fmt::Display for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blake3-128:{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One capture as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Identifies the page.
    pub key: Key,
    /// The URL as it was requested.
    pub url: String,
    /// When; the version is valid from then.
    pub at: Timestamp,
    /// How it is stored.
    pub kind: Stored,
    /// What the visit saw.
    pub flag: Flag,
    /// The status, if there was an answer.
    pub status: Option<u16>,
    /// The media type that the answer gives, lower case and without parameters; empty when it gives none.
    pub media_type: Arc<str>,
    /// The digest of the body without its transfer coding; for a revisit that of the stored body.
    pub payload: Option<Sha1Digest>,
    /// Identifies its content.
    pub content: Option<ContentKey>,
    /// Whether the body is incomplete.
    pub truncated: bool,
    /// Whether it is a redirect to the page's own key, which is not a version (D6).
    pub moves_within: bool,
    /// Where its first record is.
    pub location: Location,
    /// Bytes of all records of the capture, which are consecutive.
    pub group_bytes: u64,
    /// The record that holds the body of a revisit, if it is known.
    pub body: Option<Location>,
    /// The CRC-32C of the compressed bytes of the first record.
    pub sum: u32,
}

impl Entry {
    /// The order of the index.
    pub(crate) fn order(&self) -> (&Key, Timestamp, &str, u64) {
        (&self.key, self.at, &self.location.file, self.location.offset)
    }
    /// How the visit ended, as [`base::Outcome::as_str`] names it; for other records their kind.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        match (self.kind, self.status) {
            (Stored::Metadata, _) => "unanswered",
            (Stored::Resource | Stored::Other, _) => self.kind.as_str(),
            (_, Some(304)) => "not-modified",
            (_, Some(200..=299)) => "fetched",
            (_, Some(300..=399)) => "moved",
            (_, Some(404 | 410)) => "gone",
            _ => "failed",
        }
    }
    /// Whether it is a visit to a page, answered or not.
    #[must_use]
    pub fn is_visit(&self) -> bool {
        !matches!(self.kind, Stored::Other)
    }
}

/// The URL of a key from which nothing was left out.
pub(crate) fn url_of_key(key: &str, is_https: bool) -> Option<String> {
    // Every URL of a snapshot is made here, so each byte is read once.
    let end = memchr::memchr(b')', key.as_bytes())?;
    let (server, rest) = (&key[..end], &key[end + 1..]);
    let is_plain = memchr::memchr3(b'.', b':', b'[', server.as_bytes()).is_none();
    let with_port = if is_plain { None } else { server.rsplit_once(':') };
    let (host, port) = match with_port.filter(|(_, port)| !port.ends_with(']')) {
        Some((host, port)) => (host, Some(port)),
        None => (server, None),
    };
    let mut url = String::with_capacity(key.len() + 10);
    url.push_str(if is_https { "https://" } else { "http://" });
    if !is_plain && (host.contains('.') || host.starts_with('[')) {
        url.push_str(host);
    } else {
        let mut end = host.len();
        for comma in (0..host.len()).rev().filter(|place| host.as_bytes()[*place] == b',') {
            url.push_str(&host[comma + 1..end]);
            url.push('.');
            end = comma;
        }
        url.push_str(&host[..end]);
    }
    if let Some(port) = port {
        url.push(':');
        url.push_str(port);
    }
    url.push_str(rest);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_url_is_restored_from_its_key() {
        for url in [
            "https://example.org/",
            "http://www.example.co.jp/a/b?c=d",
            "http://127.0.0.1:8080/x",
            "http://[::1]/",
            "http://[::1]:81/",
            "http://localhost/%E3%81%82",
        ] {
            let key = Key::of(url);
            assert_eq!(url_of_key(key.as_str(), url.starts_with("https")).as_deref(), Some(url), "{key}");
        }
        assert_eq!(Key::of("dns:example.org").as_str(), "!dns:example.org");
        assert_eq!(url_of_key("!dns:example.org", false), None);
    }

    #[test]
    fn content_keys_are_read_as_they_are_written() {
        let key = ContentKey::of(b"x");
        assert_eq!(ContentKey::parse(&key.to_string()), Some(key));
        assert_eq!(ContentKey::parse("blake3-128:0"), None);
    }
}
