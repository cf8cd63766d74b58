//! Facts about a capture that are known only after its content was read: language, type, title, digests of the text
//! (D11).
//!
//! ```
//! use archive::derived::{Facts, DerivedReader, DerivedWriter};
//! use archive::{Archive, Settings};
//! use base::disk::SimulatedDisk;
//! use base::{Capture, Outcome, PageUrl, Refusal, Timestamp};
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! let (disk, directory) = (Arc::new(SimulatedDisk::new(1)), Path::new("/data/archive"));
//! let at: Timestamp = "2026-03-31T09:00:00Z".parse()?;
//! let (mut archive, _) = Archive::open(disk.clone(), directory, Settings::default(), at)?;
//! let url = PageUrl::parse("https://example.org/")?;
//! let outcome = Outcome::Refused(Refusal::NoContact);
//! let appended = archive.append(&Capture { url, at, outcome, exchange: None })?;
//! archive.commit()?;
//!
//! let mut writer = DerivedWriter::open(disk.clone(), directory)?;
//! let facts = Facts { language: Some("ja".into()), ..Facts::default() };
//! writer.append([(&appended.entry, Some(facts.clone()))])?;
//! assert_eq!(writer.checkpoint(), Some(appended.checkpoint()));
//!
//! let reader = DerivedReader::open(disk, directory);
//! assert_eq!(reader.get(&appended.entry.location)?, Some(facts));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A journal beside each archive file, `NAME.derived`, has a row for each capture with known facts, by its offset;
//! `docs/formats/derived.md` shows the bytes. It is written in order of arrival, after the archive, and is rebuilt if
//! it is lost. A takedown removes its rows too (D13).
//!
//! **Invariant:** a journal is started only when the one before it is durable, so everything before the table's
//! checkpoint is in it, after any crash. A damaged frame ends its journal; its captures count as unread.

mod journal;
mod read;
mod remove;
mod write;

pub use read::{DerivedFacts, DerivedReader};
pub use remove::clear;
pub(crate) use remove::remove;
pub use write::DerivedWriter;

use base::bytes::{ByteReader, put_number, put_text};
use std::sync::Arc;

/// What is known about a capture after its content was read. Each fact may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The language that most of the text is in, as a tag such as `ja` or `en`.
    pub language: Option<Arc<str>>,
    /// The media type that the content was found to have.
    pub media_type: Option<Arc<str>>,
    /// The title, cut at [`TITLE_BYTES_MAX`].
    pub title: Option<String>,
    /// The digest of the text.
    pub text: Option<u64>,
    /// The digest of the main text, without what surrounds it on every page.
    pub main_text: Option<u64>,
    /// The character set of the content, and its source: a word such as `header`.
    pub charset: Option<(Arc<str>, Arc<str>)>,
}

/// The longest title that is kept, in bytes.
pub const TITLE_BYTES_MAX: usize = 1_024;
/// The longest language, type or character set.
const WORD_BYTES_MAX: usize = 100;

const LANGUAGE: u8 = 1;
const MEDIA_TYPE: u8 = 1 << 1;
const TITLE: u8 = 1 << 2;
const TEXT: u8 = 1 << 3;
const MAIN_TEXT: u8 = 1 << 4;
const CHARSET: u8 = 1 << 5;

impl Facts {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
    /// Whether the language is `tag` or a kind of it: `en-GB` is a kind of `en`.
    #[must_use]
    pub fn is_in(&self, tag: &str) -> bool {
        self.language.as_deref().is_some_and(|language| {
            let (start, rest) = language.split_at_checked(tag.len()).unwrap_or((language, ""));
            start.eq_ignore_ascii_case(tag) && (rest.is_empty() || rest.starts_with('-'))
        })
    }

    /// The facts as bytes, to be stored elsewhere.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        bytes
    }
    /// Reads what [`Facts::to_bytes`] wrote.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = ByteReader(bytes);
        Self::decode(&mut bytes).filter(|_| bytes.is_empty())
    }

    fn bits(&self) -> u8 {
        let known = [
            (self.language.is_some(), LANGUAGE),
            (self.media_type.is_some(), MEDIA_TYPE),
            (self.title.is_some(), TITLE),
            (self.text.is_some(), TEXT),
            (self.main_text.is_some(), MAIN_TEXT),
            (self.charset.is_some(), CHARSET),
        ];
        known.into_iter().filter(|(is_known, _)| *is_known).fold(0, |bits, (_, bit)| bits | bit)
    }

    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.bits());
        for word in [&self.language, &self.media_type].into_iter().flatten() {
            put_text(bytes, cut(word, WORD_BYTES_MAX));
        }
        self.title.iter().for_each(|title| put_text(bytes, cut(title, TITLE_BYTES_MAX)));
        for digest in [self.text, self.main_text].into_iter().flatten() {
            bytes.extend_from_slice(&digest.to_le_bytes());
        }
        if let Some((charset, by)) = &self.charset {
            put_text(bytes, cut(charset, WORD_BYTES_MAX));
            put_text(bytes, cut(by, WORD_BYTES_MAX));
        }
    }

    fn decode(bytes: &mut ByteReader<'_>) -> Option<Self> {
        let bits = bytes.byte()?;
        let has = |bit: u8| bits & bit != 0;
        let word = |bytes: &mut ByteReader<'_>| bytes.text().map(Arc::<str>::from);
        let mut facts = Self::default();
        if has(LANGUAGE) {
            facts.language = Some(word(bytes)?);
        }
        if has(MEDIA_TYPE) {
            facts.media_type = Some(word(bytes)?);
        }
        if has(TITLE) {
            facts.title = Some(bytes.text()?.to_owned());
        }
        if has(TEXT) {
            facts.text = Some(bytes.u64()?);
        }
        if has(MAIN_TEXT) {
            facts.main_text = Some(bytes.u64()?);
        }
        if has(CHARSET) {
            facts.charset = Some((word(bytes)?, word(bytes)?));
        }
        (bits < CHARSET << 1).then_some(facts)
    }
}

fn cut(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// Appends a row of a frame that begins at `from`.
fn put_row(bytes: &mut Vec<u8>, from: u64, offset: u64, facts: &Facts) {
    put_number(bytes, offset - from);
    facts.encode(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;

    fn facts(chance: &mut Chance) -> Facts {
        let mut some = || chance.below(2) == 0;
        Facts {
            language: some().then(|| "ja".into()),
            media_type: some().then(|| "text/html".into()),
            title: some().then(|| "写し\0 x".to_owned()),
            text: some().then_some(u64::MAX),
            main_text: some().then_some(0),
            charset: some().then(|| ("shift_jis".into(), "header".into())),
        }
    }

    #[test]
    fn encoded_facts_are_decoded_and_other_bytes_are_refused() {
        let mut chance = Chance::new(1);
        for _ in 0..500 {
            let facts = facts(&mut chance);
            let bytes = facts.to_bytes();
            assert_eq!(Facts::from_bytes(&bytes), Some(facts.clone()));
            assert_eq!(facts.is_empty(), bytes == [0]);
            for end in 0..bytes.len() {
                assert_eq!(Facts::from_bytes(&bytes[..end]), None);
            }
            let noise: Vec<u8> = (0..chance.below(40)).map(|_| chance.bits().to_le_bytes()[0]).collect();
            let _ = Facts::from_bytes(&noise);
        }
        assert_eq!(Facts::from_bytes(&[64]), None);
    }

    #[test]
    fn long_titles_are_cut_between_characters() {
        let facts = Facts { title: Some("写".repeat(1_000)), ..Facts::default() };
        let title = Facts::from_bytes(&facts.to_bytes()).unwrap().title.unwrap();
        assert_eq!(title, "写".repeat(341));
    }

    #[test]
    fn a_language_includes_its_variants() {
        let facts = Facts { language: Some("en-GB".into()), ..Facts::default() };
        for (tag, expected) in
            [("en", true), ("EN-gb", true), ("e", false), ("en-G", false), ("en-GB-x", false)]
        {
            assert_eq!(facts.is_in(tag), expected, "{tag}");
        }
        assert!(!Facts::default().is_in("en"));
    }
}
