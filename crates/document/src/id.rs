//! What a document is known by.

use archive::{ContentKey, Entry, Key, Stored};
use std::fmt;
use std::str::FromStr;

/// What a document is known by: a digest of its page's key and of its content. A rebuild gives the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId([u8; Self::BYTES]);

impl DocumentId {
    /// How long an id is.
    pub const BYTES: usize = 16;

    /// The id of this content of a page.
    #[must_use]
    pub fn of(key: &Key, content: ContentKey) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(key.as_str().as_bytes());
        // No key contains it, so two pairs never give the same bytes.
        hasher.update(&[0]);
        hasher.update(&content.0);
        Self(*hasher.finalize().as_bytes().first_chunk().expect("a digest is 32 bytes long"))
    }
    /// The id of what a capture brought, or stands for; `None` when that is no whole content, or an error.
    #[must_use]
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        let is_content = matches!(entry.kind, Stored::Response | Stored::Revisit | Stored::Resource);
        let is_success = entry.status.is_none_or(|status| (200..300).contains(&status) || status == 304);
        let content = entry.content.filter(|_| is_content && is_success && !entry.truncated)?;
        Some(Self::of(&entry.key, content))
    }
    /// Takes over an id that was made earlier and stored.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }
    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is no id of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a document, which has 32 hexadecimal digits")]
pub struct DocumentIdError(String);

impl FromStr for DocumentId {
    type Err = DocumentIdError;

    fn from_str(text: &str) -> Result<Self, DocumentIdError> {
        let is_plain = text.len() == 2 * Self::BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = u128::from_str_radix(text, 16).ok().filter(|_| is_plain);
        bits.map(|bits| Self(bits.to_be_bytes())).ok_or_else(|| DocumentIdError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written_and_differs_by_page_and_content() {
        let (one, other) = (ContentKey::of(b"one"), ContentKey::of(b"other"));
        let id = DocumentId::of(&Key::of("http://a.example/"), one);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(id, DocumentId::of(&Key::of("http://a.example/"), other));
        assert_ne!(id, DocumentId::of(&Key::of("http://a.example/b"), one));
        for wrong in ["", "0", &"g".repeat(32), &"+".repeat(32), &"0".repeat(33)] {
            assert!(wrong.parse::<DocumentId>().is_err(), "{wrong}");
        }
    }
}
