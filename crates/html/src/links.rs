//! The links of a page, each target once per kind.

use crate::LINKS_MAX;
use base::PageUrl;
use base::chance::hash_bytes;
use base::url::UrlError;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A link on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The page or file it points to.
    pub url: PageUrl,
    /// Its purpose.
    pub kind: LinkKind,
    /// It has `rel=nofollow`, wherever on the page it is.
    pub nofollow: bool,
    /// The text of the first `a` element with text that points there, white space folded; at most
    /// [`base::limits::ANCHOR_TEXT_BYTES_MAX`].
    pub anchor_text: Box<str>,
    /// The position of the tag of the first element that points there, in bytes of the page decoded to UTF-8. For a page in
    /// UTF-8 without a byte order mark this is the position in its content. 0 for a link of a style sheet.
    pub offset: usize,
}

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// A person can follow it: `a`, `area`; or it is the neighbour in a series: `next`, `prev`.
    Anchor,
    /// It is displayed inside: `frame`, `iframe`.
    Frame,
    /// It is needed to display the page (a requisite): `img`, `script`, a style sheet, references of a style sheet.
    Embed,
    /// A feed of the site.
    Feed,
    /// The canonical URL of the same page.
    Canonical,
    /// The same page in another language: `hreflang`.
    Language,
    /// The same page for another device or in another form.
    Alternate,
    /// The page redirects: `meta refresh`.
    Refresh,
}

impl LinkKind {
    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Frame => "frame",
            Self::Embed => "embed",
            Self::Feed => "feed",
            Self::Canonical => "canonical",
            Self::Language => "language",
            Self::Alternate => "alternate",
            Self::Refresh => "refresh",
        }
    }
}

/// The maximum number of overlong links recorded per page.
const TOO_LONG_MAX: usize = 1_000;

/// Collects links while a page is read.
///
/// **Invariant:** at most [`LINKS_MAX`] links are kept, and at most four times as many references are read.
pub(crate) struct Links {
    base: PageUrl,
    base_is_set: bool,
    /// The position of the current tag.
    pub(crate) offset: usize,
    found: Vec<Link>,
    /// Hashes of references to the page's own host whose targets are too long.
    pub(crate) too_long: Vec<u32>,
    /// The index of each link by its target and kind.
    by_target: Places<usize>,
    /// The same by the reference as written, which avoids parsing most URLs of a repetitive page.
    by_reference: Places<Option<usize>>,
}

/// A map keyed by hashes.
type Places<T> = HashMap<u64, T, BuildHasherDefault<AsItIs>>;

/// Uses the hash as it is.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash_bytes(self.0, bytes);
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl Links {
    pub(crate) fn of(page: &PageUrl) -> Self {
        Self {
            base: page.clone(),
            base_is_set: false,
            offset: 0,
            found: Vec::new(),
            too_long: Vec::new(),
            by_target: Places::default(),
            by_reference: Places::default(),
        }
    }

    /// Resolves references against `href` from now on. The first base element counts, as the standard says.
    pub(crate) fn set_base(&mut self, href: &str) {
        if !self.base_is_set {
            self.base_is_set = true;
            self.by_reference.clear();
            if let Ok(base) = self.base.join(href) {
                self.base = base;
            }
        }
    }

    /// Adds the target of `reference`. A target is followed if one of its links may be followed.
    pub(crate) fn add(&mut self, reference: &str, kind: LinkKind, nofollow: bool) {
        self.add_one(reference, kind, nofollow);
    }
    /// Adds the target of an `a` element; returns the number of the link, if its text is wanted.
    pub(crate) fn add_anchor(&mut self, reference: &str, nofollow: bool) -> Option<usize> {
        let place = self.add_one(reference, LinkKind::Anchor, nofollow)?;
        self.found.get(place).filter(|link| link.anchor_text.is_empty()).map(|_| place)
    }
    /// The text of a link that has none.
    pub(crate) fn set_text(&mut self, place: usize, text: &str) {
        if let Some(link) = self.found.get_mut(place) {
            link.anchor_text = text.into();
        }
    }
    fn add_one(&mut self, reference: &str, kind: LinkKind, nofollow: bool) -> Option<usize> {
        let reference = reference.trim_ascii();
        if reference.is_empty() || is_inside(reference, kind) || self.by_reference.len() >= 4 * LINKS_MAX {
            return None;
        }
        let key = hash_bytes(kind as u64, reference.as_bytes());
        let place = match self.by_reference.get(&key) {
            Some(place) => *place,
            None => {
                let place = self.place(reference, kind, nofollow);
                self.by_reference.insert(key, place);
                place
            }
        };
        if let Some(link) = place.and_then(|place| self.found.get_mut(place)) {
            link.nofollow &= nofollow;
        }
        place
    }

    /// The index of the target of a reference that was not seen before.
    fn place(&mut self, reference: &str, kind: LinkKind, nofollow: bool) -> Option<usize> {
        let url = match self.base.join(reference) {
            Ok(url) => url,
            Err(error) => {
                let is_kept = self.too_long.len() < TOO_LONG_MAX && self.is_here(reference);
                if matches!(error, UrlError::TooLong(_)) && is_kept {
                    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
                    self.too_long.push(hash_bytes(0, reference.as_bytes()) as u32);
                }
                return None;
            }
        };
        let key = hash_bytes(kind as u64, url.as_str().as_bytes());
        if let Some(place) = self.by_target.get(&key) {
            return Some(*place);
        }
        if self.found.len() >= LINKS_MAX {
            return None;
        }
        self.by_target.insert(key, self.found.len());
        let anchor_text = Box::default();
        self.found.push(Link { url, kind, nofollow, anchor_text, offset: self.offset });
        Some(self.found.len() - 1)
    }

    /// Whether a reference points to the host of the page.
    fn is_here(&self, reference: &str) -> bool {
        let base = self.base.as_url();
        base.join(reference).is_ok_and(|target| target.host_str() == base.host_str())
    }

    pub(crate) fn finish(self) -> Vec<Link> {
        self.found
    }
}

/// Whether a requisite is part of the page itself: `#gradient`, `data:image/png,…`.
fn is_inside(reference: &str, kind: LinkKind) -> bool {
    let is_data = || reference.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
    kind == LinkKind::Embed && (reference.starts_with('#') || is_data())
}
