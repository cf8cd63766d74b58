//! One honest server: everything about it that never changes.
//!
//! | what | share of servers |
//! |---|---|
//! | Japanese, the others English | 60 % of domains |
//! | https, their http form answers 301 | 20 % |
//! | news server | 5 %, and those called `news.` |
//! | no validators · `ETag` only · both | 10 % · 5 % · 85 % |
//! | `Cache-Control` on pages | 30 % |
//! | gzip when accepted | 30 % |
//! | chunked | 15 % |
//! | `Shift_JIS` · `EUC-JP` | 12 % · 8 % of the Japanese; half say so in the field, half in the page |
//! | RSS · Atom · JSON Feed | 60 % · 25 % · 15 % |
//! | a directory that moves leaves 301 · 404 | 60 % · 40 % |
//! | compressed sitemaps | 20 % |
//!
//! **Invariant:** a pure function of (seed, number): two requests see the same server.

use crate::change::Instants;
use crate::draw::{below, draw, happens, index};
use crate::layout::Layout;
use crate::text::{self, TextLanguage};
use base::Interval;
use base::url::Scheme;

mod robots;

pub(crate) use robots::{PRIVATE, Robots};

/// Maximum number of children of a page, and so of sections of a server.
pub(crate) const FAN: u64 = 12;
const _: () = assert!(FAN <= text::SECTIONS as u64, "every section has a name of its own");
/// Number of style sheets of a server.
pub(crate) const STYLES: u64 = 8;
/// Number of images of a server.
pub(crate) const IMAGES: u64 = 200;

/// One server of a web.
#[derive(Clone, Copy)]
pub(crate) struct Server<'w> {
    pub(crate) layout: &'w Layout,
    pub(crate) number: u32,
    /// Number of its pages, home and those not yet born included.
    pub(crate) pages: u64,
    /// The seed of its draws.
    pub(crate) seed: u64,
    pub(crate) language: TextLanguage,
    /// The section whose directory the robots file disallows, if there is one.
    pub(crate) private: Option<u64>,
}

/// Which validators a server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validators {
    None,
    Tag,
    Both,
}

/// The charset of a server's pages, and where it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charset {
    pub(crate) name: &'static str,
    /// Whether the field `Content-Type` names it; otherwise only the page does.
    pub(crate) in_field: bool,
}

/// The kinds of feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    Rss,
    Atom,
    Json,
}

impl Feed {
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Rss => "/feed.xml",
            Self::Atom => "/atom.xml",
            Self::Json => "/feed.json",
        }
    }
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Rss => "application/rss+xml",
            Self::Atom => "application/atom+xml",
            Self::Json => "application/feed+json",
        }
    }
}

/// Mean time between two rebuilds of a server that is rebuilt.
const REBUILD_MEAN: Interval = Interval::from_days(180);

/// Salt of the draw of a server's seed.
const SERVER: u64 = 0x7765_6200_0001;

// Salts of the draws from a server's seed.
const SECURE: u64 = 1;
const NEWS: u64 = 2;
const VALIDATORS: u64 = 3;
const CACHE: u64 = 4;
const GZIP: u64 = 5;
const CHUNKED: u64 = 6;
const CHARSET: u64 = 7;
const CHARSET_IN_FIELD: u64 = 8;
const FEED: u64 = 9;
const LEAVES_REDIRECTS: u64 = 10;
const SITEMAPS_GZIP: u64 = 11;
const REBUILT: u64 = 12;
const REBUILDS: u64 = 13;
const SECTIONS: u64 = 14;
const SOFTWARE: u64 = 15;
const CHUNK: u64 = 16;
/// Salt of the draw of the site's name.
const NAME: u64 = 17;

impl<'w> Server<'w> {
    /// Server `number`.
    pub(crate) fn new(layout: &'w Layout, number: u32) -> Self {
        let seed = draw(draw(layout.plan().seed, SERVER), u64::from(number));
        let language = layout.names().language(number);
        let pages = layout.server_pages(number);
        Self { layout, number, pages, seed, language, private: robots::private_section(seed, pages) }
    }
    fn draw(&self, question: u64) -> u64 {
        draw(self.seed, question)
    }
    pub(crate) fn scheme(&self) -> Scheme {
        if happens(self.draw(SECURE), 200) { Scheme::Https } else { Scheme::Http }
    }
    pub(crate) fn is_news(&self) -> bool {
        happens(self.draw(NEWS), 50) || self.layout.names().label(self.number) == "news."
    }
    /// Which robots file it has.
    pub(crate) fn robots(&self) -> Robots {
        Robots::of(self.seed)
    }
    pub(crate) fn validators(&self) -> Validators {
        match below(self.draw(VALIDATORS), 100) {
            0..10 => Validators::None,
            10..15 => Validators::Tag,
            _ => Validators::Both,
        }
    }
    pub(crate) fn caches(&self) -> bool {
        happens(self.draw(CACHE), 300)
    }
    pub(crate) fn compresses(&self) -> bool {
        happens(self.draw(GZIP), 300)
    }
    /// The size of its chunks, if it sends chunks.
    pub(crate) fn chunk_bytes(&self) -> Option<usize> {
        happens(self.draw(CHUNKED), 150).then(|| 1_024 + index(self.draw(CHUNK), 7_168))
    }
    pub(crate) fn charset(&self) -> Charset {
        let in_field = happens(self.draw(CHARSET_IN_FIELD), 500);
        match (self.language, below(self.draw(CHARSET), 100)) {
            (TextLanguage::Japanese, 0..12) => Charset { name: "Shift_JIS", in_field },
            (TextLanguage::Japanese, 12..20) => Charset { name: "EUC-JP", in_field },
            _ => Charset { name: "utf-8", in_field: true },
        }
    }
    pub(crate) fn feed(&self) -> Feed {
        match below(self.draw(FEED), 100) {
            0..60 => Feed::Rss,
            60..85 => Feed::Atom,
            _ => Feed::Json,
        }
    }
    pub(crate) fn leaves_redirects(&self) -> bool {
        happens(self.draw(LEAVES_REDIRECTS), 600)
    }
    pub(crate) fn compresses_sitemaps(&self) -> bool {
        happens(self.draw(SITEMAPS_GZIP), 200)
    }
    /// When the whole server gets another template.
    pub(crate) fn rebuilds(&self) -> Instants {
        if happens(self.draw(REBUILT), self.layout.plan().mix.rebuilt) {
            Instants::poisson(self.draw(REBUILDS), REBUILD_MEAN)
        } else {
            Instants::NEVER
        }
    }
    /// Slug and label of the section in slot `slot` (from 1).
    pub(crate) fn section(&self, slot: u64) -> (&'static str, &'static str) {
        let first = index(self.draw(SECTIONS), text::SECTIONS);
        let slot = usize::try_from(slot).unwrap_or_default();
        text::section(self.language, (first + slot) % text::SECTIONS)
    }
    /// The value of its `Server` field.
    pub(crate) fn software(&self) -> &'static str {
        const ALL: [&str; 4] = ["Apache/2.4.62 (Unix)", "nginx/1.26.2", "Apache", "Kumiki"];
        ALL[index(self.draw(SOFTWARE), ALL.len())]
    }
    pub(crate) fn push_site_name(&self, out: &mut String) {
        text::site_name(out, self.language, self.draw(NAME));
    }
    pub(crate) fn push_host(&self, out: &mut String) {
        self.layout.names().push_host(out, self.number);
    }
    /// Appends `https://host`.
    pub(crate) fn push_origin(&self, out: &mut String, scheme: Scheme) {
        out.push_str(scheme.as_str());
        out.push_str("://");
        self.push_host(out);
    }
}
