//! Records: version, kind, id, and what a reader returns.

use crate::head::Head;
use crate::header::{Fields, name};
use base::{ContentDigest, Sha1Digest, Timestamp};
use std::fmt;

/// The version of the standard that a record follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarcVersion {
    /// WARC/1.0: dates to the second.
    One0,
    /// WARC/1.1: what we write.
    One1,
    /// Another one; the head has its bytes.
    Other,
}

impl WarcVersion {
    /// The version that the first line of a head names.
    pub(crate) fn of_line(head: &[u8]) -> Self {
        let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
        match line.trim_ascii_end().to_ascii_uppercase().as_slice() {
            b"WARC/1.0" => Self::One0,
            b"WARC/1.1" => Self::One1,
            _ => Self::Other,
        }
    }
}

/// The kinds of records.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Describes its file.
    Warcinfo,
    /// An answer, byte for byte.
    Response,
    /// The request that led to an answer.
    Request,
    /// An answer whose content is stored elsewhere already.
    Revisit,
    /// Information beside an answer, or instead of one.
    Metadata,
    /// Something without an exchange of its own.
    Resource,
    /// Another form of a thing that is stored elsewhere.
    Conversion,
    /// The next part of a record that was split.
    Continuation,
    /// Another kind, or none.
    Other(String),
}

impl Kind {
    /// The kind as the file writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Warcinfo => "warcinfo",
            Self::Response => "response",
            Self::Request => "request",
            Self::Revisit => "revisit",
            Self::Metadata => "metadata",
            Self::Resource => "resource",
            Self::Conversion => "conversion",
            Self::Continuation => "continuation",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for Kind {
    fn from(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "warcinfo" => Self::Warcinfo,
            "response" => Self::Response,
            "request" => Self::Request,
            "revisit" => Self::Revisit,
            "metadata" => Self::Metadata,
            "resource" => Self::Resource,
            "conversion" => Self::Conversion,
            "continuation" => Self::Continuation,
            _ => Self::Other(word.to_owned()),
        }
    }
}

/// The id of a record, `<urn:uuid:…>`.
///
/// The id is a hash of the record's location. So it needs no randomness, and a record found in the middle of a file
/// proves that it belongs there: content that only looks like a record has another id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(String);

impl RecordId {
    /// The id of the record of this kind and date that begins at `offset` of the file called `file`.
    #[must_use]
    pub fn at(file: &str, offset: u64, date: Timestamp, kind: &Kind) -> Self {
        let place = format!("{file}\n{offset}\n{}\n{}", date.as_micros(), kind.as_str());
        let mut bytes = [0; 16];
        bytes
            .iter_mut()
            .zip(ContentDigest::of(place.as_bytes()).as_bytes())
            .for_each(|(to, from)| *to = *from);
        // Version 8 (made by the program's own rule) and variant of RFC 9562.
        let bits = u128::from_be_bytes(bytes) & !(0xf << 76 | 0b11 << 62) | (8 << 76 | 0b10 << 62);
        let hex = format!("{bits:032x}");
        let part = |from, to| hex.get(from..to).unwrap_or_default();
        let groups = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)];
        Self(format!("<urn:uuid:{}>", groups.join("-")))
    }
    /// The id that a record of someone else states, if it is one: a URI in angle brackets.
    #[must_use]
    pub fn stated(text: &str) -> Option<Self> {
        let uri = text.strip_prefix('<')?.strip_suffix('>')?;
        let (scheme, rest) = uri.split_once(':')?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        let is_uri = !rest.is_empty() && uri.bytes().all(|b| b.is_ascii_graphic() && !b"<>\"".contains(&b));
        (is_scheme && is_uri).then(|| Self(text.to_owned()))
    }
    /// The id as the file writes it, angle brackets included.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a revisit holds no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// The content came again and is the same.
    IdenticalPayloadDigest,
    /// The server said that nothing changed (304).
    ServerNotModified,
}

impl Profile {
    /// The profile as the file writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::IdenticalPayloadDigest => {
                "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
            }
            Self::ServerNotModified => "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        }
    }
}

impl Profile {
    /// The profile that a file names, in the words of WARC 1.1 or 1.0.
    #[must_use]
    pub fn named(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix("http://netpreserve.org/warc/")?;
        match rest.strip_prefix("1.1").or_else(|| rest.strip_prefix("1.0"))? {
            "/revisit/identical-payload-digest" | "/revisit/uri-agnostic-identical-payload-digest" => {
                Some(Self::IdenticalPayloadDigest)
            }
            "/revisit/server-not-modified" => Some(Self::ServerNotModified),
            _ => None,
        }
    }
}

/// Why a block is incomplete, as its record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truncated {
    /// It exceeded a length.
    Length,
    /// It exceeded a time.
    Time,
    /// The connection broke.
    Disconnect,
    /// The writer gives no reason of the standard.
    Unspecified,
}

impl Truncated {
    fn named(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "length" => Self::Length,
            "time" => Self::Time,
            "disconnect" => Self::Disconnect,
            _ => Self::Unspecified,
        }
    }
}

/// A record as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where the record, or the member that holds it, begins in the file.
    pub offset: u64,
    /// How many bytes of the file it takes; 0 when it is not alone in its member.
    pub length: u64,
    /// Whether it can be read from its place alone: no other record shares its member.
    pub is_alone: bool,
    /// The version of the standard that it follows.
    pub version: WarcVersion,
    /// Its head.
    pub fields: Fields,
    /// Its block, cut to the given maximum.
    pub block: Vec<u8>,
    /// The full length of the block.
    pub block_bytes: u64,
}

/// A record in the memory of its reader.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'a> {
    /// Where the record, or the member that holds it, begins in the file.
    pub offset: u64,
    /// How many bytes of the file it takes; 0 when it is not alone in its member.
    pub length: u64,
    /// Whether it can be read from its place alone: no other record shares its member.
    pub is_alone: bool,
    /// Its head, byte for byte.
    pub head: Head<'a>,
    /// Its block, cut to the given maximum.
    pub block: &'a [u8],
    /// The full length of the block.
    pub block_bytes: u64,
}

impl RecordRef<'_> {
    /// The record to keep.
    #[must_use]
    pub fn to_record(&self) -> Record {
        self.with_block(self.block.to_vec())
    }
    pub(crate) fn with_block(&self, block: Vec<u8>) -> Record {
        Record {
            offset: self.offset,
            length: self.length,
            is_alone: self.is_alone,
            version: self.head.version(),
            fields: self.head.fields(),
            block,
            block_bytes: self.block_bytes,
        }
    }
    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        Kind::from(self.head.text(name::TYPE).unwrap_or_default())
    }
    /// When its content was captured, if it says so.
    #[must_use]
    pub fn date(&self) -> Option<Timestamp> {
        moment(self.head.text(name::DATE)?)
    }
    /// The target, without the angle brackets that some writers put around it.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.head.text(name::TARGET_URI).map(without_brackets)
    }
    /// Whether [`RecordRef::block`] is all of it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.block.len() as u64 == self.block_bytes
    }
    /// Whether the block is the one its digest was made of; `None` when there is no SHA-1 digest or not the whole
    /// block.
    #[must_use]
    pub fn digest_holds(&self) -> Option<bool> {
        let digest: Sha1Digest = self.head.text(name::BLOCK_DIGEST)?.parse().ok()?;
        self.is_whole().then(|| Sha1Digest::of(&[self.block]) == digest)
    }
}

/// The moment that a date of the standard names. One that is less precise than a second (`2014`, `2014-01`, `2014-01-05`,
/// `2014-01-05T10:30Z`), as WARC 1.1 allows, names the moment at which it begins.
#[must_use]
pub fn moment(date: &str) -> Option<Timestamp> {
    completed(date).as_deref().unwrap_or(date).parse().ok()
}

/// A date of low precision, completed to a second.
fn completed(date: &str) -> Option<String> {
    const FIRST: &str = "0000-01-01T00:00:00Z";
    match date.len() {
        4 | 7 | 10 => Some(format!("{date}{}", FIRST.get(date.len()..)?)),
        17 => date.strip_suffix(['Z', 'z']).map(|minute| format!("{minute}:00Z")),
        _ => None,
    }
}

fn without_brackets(uri: &str) -> &str {
    uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri)
}

impl Record {
    /// A record that was not read from a WARC file.
    #[must_use]
    pub fn new(fields: Fields, block: Vec<u8>) -> Self {
        let (version, block_bytes) = (WarcVersion::One1, block.len() as u64);
        Self { offset: 0, length: 0, is_alone: true, version, fields, block, block_bytes }
    }
    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        Kind::from(self.fields.get(name::TYPE).unwrap_or_default())
    }
    /// When its content was captured, if it says so.
    #[must_use]
    pub fn date(&self) -> Option<Timestamp> {
        moment(self.fields.get(name::DATE)?)
    }
    /// The date as it is written, if that is less precise than a second.
    #[must_use]
    pub fn reduced_date(&self) -> Option<&str> {
        let text = self.fields.get(name::DATE)?;
        completed(text).and(self.date()).map(|_| text)
    }
    /// The target, without the angle brackets that some writers put around it.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.fields.get(name::TARGET_URI).map(without_brackets)
    }
    /// The digest of the body, if it says so.
    #[must_use]
    pub fn payload_digest(&self) -> Option<Sha1Digest> {
        self.fields.get(name::PAYLOAD_DIGEST)?.parse().ok()
    }
    /// Why a revisit holds no content, if the standard knows the reason.
    #[must_use]
    pub fn profile(&self) -> Option<Profile> {
        Profile::named(self.fields.get(name::PROFILE)?)
    }
    /// Why the block is incomplete, if it is.
    #[must_use]
    pub fn truncated(&self) -> Option<Truncated> {
        self.fields.get(name::TRUNCATED).map(Truncated::named)
    }
    /// Whether [`Record::block`] is all of it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.block.len() as u64 == self.block_bytes
    }
    /// Whether the block is the one its digest was made of; `None` when there is no SHA-1 digest or not the whole
    /// block.
    #[must_use]
    pub fn digest_holds(&self) -> Option<bool> {
        let digest: Sha1Digest = self.fields.get(name::BLOCK_DIGEST)?.parse().ok()?;
        self.is_whole().then(|| Sha1Digest::of(&[&self.block]) == digest)
    }
    /// Whether its id is that of a record at this offset of `file`, see [`RecordId`].
    #[must_use]
    pub fn belongs_to(&self, file: &str) -> bool {
        let expected = self.date().map(|date| RecordId::at(file, self.offset, date, &self.kind()));
        expected.is_some_and(|id| self.fields.get(name::RECORD_ID) == Some(id.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_of_low_precision_is_the_moment_at_which_it_begins() {
        for (date, expected) in [
            ("2014", Some("2014-01-01T00:00:00Z")),
            ("2014-02", Some("2014-02-01T00:00:00Z")),
            ("2014-02-05", Some("2014-02-05T00:00:00Z")),
            ("2014-02-05T10:30Z", Some("2014-02-05T10:30:00Z")),
            ("2014-02-05T10:30:59Z", Some("2014-02-05T10:30:59Z")),
            ("2014-02-05T10:30:59.5Z", Some("2014-02-05T10:30:59.500000Z")),
            ("2014-13", None),
            ("2014-02-30", None),
            ("20x4", None),
            ("日", None),
            ("日本語x", None),
            ("", None),
        ] {
            assert_eq!(moment(date).map(Timestamp::to_rfc3339).as_deref(), expected, "{date}");
            let record = Record::new(Fields::new().text(name::DATE, date), Vec::new());
            let is_reduced = expected.is_some() && date.len() < 20;
            assert_eq!(record.reduced_date(), is_reduced.then_some(date));
        }
    }

    #[test]
    fn ids_are_uuids_that_depend_on_the_location() {
        let id = RecordId::at("a.warc.gz", 7, Timestamp::MIN, &Kind::Response);
        let text = id.as_str();
        assert_eq!(text.len(), "<urn:uuid:>".len() + 36);
        assert_eq!(text.as_bytes()[24], b'8', "version: {text}");
        assert!(matches!(text.as_bytes()[29], b'8' | b'9' | b'a' | b'b'), "variant: {text}");
        for other in [
            RecordId::at("b.warc.gz", 7, Timestamp::MIN, &Kind::Response),
            RecordId::at("a.warc.gz", 8, Timestamp::MIN, &Kind::Response),
            RecordId::at("a.warc.gz", 7, Timestamp::MAX, &Kind::Response),
            RecordId::at("a.warc.gz", 7, Timestamp::MIN, &Kind::Request),
        ] {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn kinds_are_read_whatever_their_case() {
        for kind in [
            "warcinfo",
            "response",
            "request",
            "revisit",
            "metadata",
            "resource",
            "conversion",
            "continuation",
        ] {
            assert_eq!(Kind::from(kind.to_uppercase().as_str()).as_str(), kind);
            assert!(!matches!(Kind::from(kind), Kind::Other(_)), "{kind}");
        }
        assert_eq!(Kind::from("x-own"), Kind::Other("x-own".to_owned()));
    }
}
