//! The kind of a body, by its bytes first and by its `Content-Type` where they do not decide (D11).
//!
//! ```
//! use html::kind::{BodyKind, sniff};
//!
//! assert_eq!(sniff(Some("text/plain"), b"<rss version='2.0'>"), BodyKind::Feed);
//! assert_eq!(sniff(Some("text/html"), b"%PDF-1.7"), BodyKind::Other("application/pdf".into()));
//! ```

use crate::xml::{Element, Event, Reader};
use crate::{charset, feed, gzip, sitemap};

/// The kind of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// A page of HTML or XHTML.
    Page,
    /// A feed: RSS, Atom or JSON Feed.
    Feed,
    /// A sitemap, compressed or not; a plain list of URLs is text.
    Sitemap,
    /// Plain text.
    Text,
    /// Something else, by its media type.
    Other(String),
}

impl BodyKind {
    /// The media type of the kind.
    #[must_use]
    pub fn media_type(&self) -> &str {
        match self {
            Self::Page => "text/html",
            Self::Feed => "application/feed+xml",
            Self::Sitemap => "application/sitemap+xml",
            Self::Text => "text/plain",
            Self::Other(name) => name,
        }
    }
}

/// The maximum number of bytes read of a body.
const SNIFFED_BYTES: usize = 4 * 1024;

/// The kind of a body received with this `Content-Type`.
#[must_use]
pub fn sniff(content_type: Option<&str>, bytes: &[u8]) -> BodyKind {
    let start = bytes.get(..SNIFFED_BYTES).unwrap_or(bytes);
    let claimed = media_type(content_type);
    if gzip::is_packed(start) {
        let inside = gzip::start(bytes, SNIFFED_BYTES);
        return of_markup(content_type, &inside)
            .filter(|kind| *kind == BodyKind::Sitemap)
            .unwrap_or_else(|| BodyKind::Other("application/gzip".into()));
    }
    if let Some(name) = by_magic(start) {
        return BodyKind::Other(name.into());
    }
    of_markup(content_type, start).unwrap_or_else(|| of_claim(&claimed, start))
}

/// The kind of markup or JSON by its content.
fn of_markup(content_type: Option<&str>, start: &[u8]) -> Option<BodyKind> {
    let text = charset::text(charset::find(content_type, start), start);
    let text = text.trim_start();
    if text.starts_with('{') && text.contains("jsonfeed.org/version/") {
        return Some(BodyKind::Feed);
    }
    if !text.starts_with('<') {
        return None;
    }
    if text.get(..9).is_some_and(|word| word.eq_ignore_ascii_case("<!doctype")) {
        let name = text.get(9..)?.trim_ascii_start();
        if name.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("html")) {
            return Some(BodyKind::Page);
        }
    }
    let mut reader = Reader::new(text);
    while let Some(event) = reader.next() {
        match event {
            Event::Start(root) => return by_root(root),
            Event::Text(text) if text.trim().is_empty() => {}
            Event::Text(_) | Event::End(_) => return None,
        }
    }
    None
}

fn by_root(root: Element<'_>) -> Option<BodyKind> {
    const PAGE: &str =
        "html head body title meta link script style base div table p a h1 h2 center font br frameset img";
    if feed::is_feed(root) {
        Some(BodyKind::Feed)
    } else if sitemap::is_sitemap(root) {
        Some(BodyKind::Sitemap)
    } else if PAGE.split(' ').any(|name| root.is(name)) {
        Some(BodyKind::Page)
    } else {
        root.is("svg").then(|| BodyKind::Other("image/svg+xml".into()))
    }
}

/// The type of a file by its first bytes.
fn by_magic(start: &[u8]) -> Option<&'static str> {
    const MAGIC: [(usize, &[u8], &str); 24] = [
        (0, b"%PDF-", "application/pdf"),
        (0, b"\x89PNG\r\n\x1a\n", "image/png"),
        (0, b"\xff\xd8\xff", "image/jpeg"),
        (0, b"GIF87a", "image/gif"),
        (0, b"GIF89a", "image/gif"),
        (8, b"WEBPVP", "image/webp"),
        (0, b"BM", "image/bmp"),
        (0, b"\0\0\x01\0", "image/x-icon"),
        (4, b"ftypavif", "image/avif"),
        (4, b"ftyp", "video/mp4"),
        (0, b"\x1aE\xdf\xa3", "video/webm"),
        (8, b"AVI ", "video/x-msvideo"),
        (8, b"WAVE", "audio/wav"),
        (0, b"OggS", "application/ogg"),
        (0, b"ID3", "audio/mpeg"),
        (0, b"fLaC", "audio/flac"),
        (0, b"PK\x03\x04", "application/zip"),
        (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
        (0, b"Rar!\x1a\x07", "application/vnd.rar"),
        (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
        (0, b"wOFF", "font/woff"),
        (0, b"wOF2", "font/woff2"),
        (0, b"%!PS", "application/postscript"),
        (0, b"\x7fELF", "application/x-executable"),
    ];
    let matches =
        |(at, magic, _): &&(usize, &[u8], &str)| start.get(*at..).is_some_and(|rest| rest.starts_with(magic));
    let is_bitmap = |name: &str| name != "image/bmp" || start.get(6..10) == Some(&[0; 4]);
    MAGIC.iter().find(matches).map(|(_, _, name)| *name).filter(|name| is_bitmap(name))
}

/// The remaining cases: the claim, as far as the bytes support it.
fn of_claim(claimed: &str, start: &[u8]) -> BodyKind {
    let is_binary = is_binary(start);
    match claimed {
        "text/html" | "application/xhtml+xml" if !is_binary => BodyKind::Page,
        "" if !is_binary => BodyKind::Text,
        "text/html" | "application/xhtml+xml" | "" | "text/plain" if is_binary => {
            BodyKind::Other("application/octet-stream".into())
        }
        "text/plain" => BodyKind::Text,
        name => BodyKind::Other(name.into()),
    }
}

/// Whether there are control characters that no text has. UTF-16 begins with a mark and is text; ISO-2022-JP has escapes.
fn is_binary(start: &[u8]) -> bool {
    let has_mark = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    !has_mark && start.iter().any(|byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

/// The media type of a field, in lower case, without parameters; empty if it is invalid.
fn media_type(content_type: Option<&str>) -> String {
    let name = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim_ascii();
    let fits = name.len() <= 127 && name.contains('/') && name.bytes().all(|byte| byte.is_ascii_graphic());
    if fits { name.to_ascii_lowercase() } else { String::new() }
}
