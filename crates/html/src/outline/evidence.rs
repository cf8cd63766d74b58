//! What the name and the attributes of an element say about its text.

use super::fold::short;
use super::tree::BLOCKQUOTE;
use crate::token::Tokenizer;
use crate::token::name::{Attribute, element, key, keys};
use base::chance::hash_bytes;

/// What is said about the text of an element. What its ancestors say counts for it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence(u16);

impl Evidence {
    /// It is not shown.
    pub(super) const HIDDEN: Self = Self(1);
    /// It helps to get elsewhere, or surrounds what is read: `nav`, `footer`, a menu, a notice, an advert.
    pub(super) const FRAME: Self = Self(1 << 1);
    /// The page marks it as its main content: `main`.
    pub(super) const MAIN: Self = Self(1 << 2);
    /// The page marks it as an article.
    pub(super) const ARTICLE: Self = Self(1 << 3);
    /// What readers wrote about the page.
    pub(super) const COMMENT: Self = Self(1 << 4);
    /// Something to fill in or to press.
    pub(super) const CONTROL: Self = Self(1 << 5);
    /// Its class or its id says that it is like [`Self::FRAME`].
    pub(super) const NAMED_FRAME: Self = Self(1 << 6);
    /// `header`: of the page, or of an article.
    pub(super) const HEADER: Self = Self(1 << 8);
    /// Its class or its id has a word that is also used for content: `search`, `overlay`.
    pub(super) const WEAK_FRAME: Self = Self(1 << 9);
    /// It asks the reader for something, in sentences: consent, an address.
    pub(super) const NOTICE: Self = Self(1 << 10);
    /// It is never shown as it stands.
    pub(super) const NEVER: Self = Self(1 << 11);

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What an element says about itself.
pub(super) fn of(key: u64, tag: &Tokenizer<'_>) -> Evidence {
    by_name(key).and(by_role(tag)).and(by_attributes(key, tag))
}

fn by_name(key: u64) -> Evidence {
    use element::*;
    match key {
        TEMPLATE | HEAD => Evidence::NEVER,
        MAIN => Evidence::MAIN,
        ARTICLE => Evidence::ARTICLE,
        ASIDE | DIALOG | FOOTER | MENU | NAV | NOSCRIPT => Evidence::FRAME,
        HEADER => Evidence::HEADER,
        BUTTON | FIELDSET | OPTION | SELECT => Evidence::CONTROL,
        _ => Evidence::default(),
    }
}

fn by_role(tag: &Tokenizer<'_>) -> Evidence {
    match tag.attribute(Attribute::Role) {
        Some("main") => Evidence::MAIN,
        Some("article") => Evidence::ARTICLE,
        Some(
            "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "alert" | "dialog"
            | "status" | "menu" | "menubar" | "toolbar" | "tooltip" | "alertdialog",
        ) => Evidence::FRAME,
        Some("button" | "listbox" | "combobox") => Evidence::CONTROL,
        _ => Evidence::default(),
    }
}

fn by_attributes(key: u64, tag: &Tokenizer<'_>) -> Evidence {
    let is_hidden =
        tag.attribute(Attribute::Hidden).is_some() || tag.attribute(Attribute::Style).is_some_and(hides);
    let hidden = if is_hidden { Evidence::HIDDEN } else { Evidence::default() };
    // The whole page and a quotation are named after all sorts of things.
    if matches!(key, element::HTML | element::BODY | BLOCKQUOTE) {
        return Evidence::default();
    }
    let names = [tag.attribute(Attribute::Class), tag.attribute(Attribute::Id)];
    names.into_iter().flatten().fold(hidden, |all, names| all.and(by_names(names)))
}

fn hides(style: &str) -> bool {
    style.find("display").is_some_and(|at| {
        let value = style.get(at + "display".len()..).unwrap_or_default().trim_start();
        value.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with("none"))
    })
}

/// The maximum number of bytes read of a class.
const NAMES_BYTES_MAX: usize = 256;

/// What a class or an id says by whole words: `left-ad`, `cookie_notice`, `siteFooter`.
fn by_names(names: &str) -> Evidence {
    let mut rest = names.as_bytes().get(..NAMES_BYTES_MAX).unwrap_or(names.as_bytes());
    let mut all = Evidence::default();
    while let Some(start) = rest.iter().position(u8::is_ascii_alphabetic) {
        rest = rest.get(start..).unwrap_or_default();
        let (word, behind) = rest.split_at(word_length(rest));
        all = all.and(by_word(word));
        rest = behind;
    }
    all
}

/// A word ends before what is no letter, and before a capital letter after a small one.
fn word_length(bytes: &[u8]) -> usize {
    let ends = |pair: &[u8]| match pair {
        [_, next] if !next.is_ascii_alphabetic() => true,
        [last, next] => last.is_ascii_lowercase() && next.is_ascii_uppercase(),
        _ => false,
    };
    bytes.windows(2).position(ends).map_or(bytes.len(), |last| last + 1)
}

keys! {
    AD b"ad" ADS b"ads" ADVERT b"advert" ADVERTS b"adverts" ADSENSE b"adsense" CRUMB b"crumb" CRUMBS b"crumbs" FOOTER b"footer" LOGIN b"login" MASTHEAD b"masthead" MEGAMENU b"megamenu" MINICART b"minicart" NAV b"nav" NAVBAR b"navbar" NEXTPREV b"nextprev" OUTBRAIN b"outbrain" PAGER b"pager" PAGING b"paging" RELATED b"related" SHARE b"share" SHARES b"shares" SHARING b"sharing" SIDEBAR b"sidebar" SIDENAV b"sidenav" SIGNIN b"signin" SIGNUP b"signup" SPONSOR b"sponsor" SUBNAV b"subnav" TABOOLA b"taboola" TOPBAR b"topbar" TRENDING b"trending" UPSELL b"upsell" UPSELLS b"upsells" WISHLIST b"wishlist" BYLINE b"byline" CART b"cart" DRAWER b"drawer" DROPDOWN b"dropdown" FACET b"facet" FACETS b"facets" FILTER b"filter" FILTERS b"filters" LIGHTBOX b"lightbox" MENU b"menu" MODAL b"modal" OVERLAY b"overlay" POPULAR b"popular" PROMO b"promo" PROMOS b"promos" SEARCH b"search" SOCIAL b"social" TAGS b"tags" TOAST b"toast" TOC b"toc" TOOLBAR b"toolbar" TOOLTIP b"tooltip" CONSENT b"consent" COOKIE b"cookie" COOKIES b"cookies" GDPR b"gdpr" ONETRUST b"onetrust" POPUP b"popup" COMMENT b"comment" COMMENTS b"comments" DISQUS b"disqus" RESPOND b"respond"
}

/// Words longer than a key.
const LONG: [(&[u8], Evidence); 23] = [
    (b"advertisement", Evidence::NAMED_FRAME),
    (b"adsbygoogle", Evidence::NAMED_FRAME),
    (b"breadcrumb", Evidence::NAMED_FRAME),
    (b"breadcrumbs", Evidence::NAMED_FRAME),
    (b"copyright", Evidence::NAMED_FRAME),
    (b"navigation", Evidence::NAMED_FRAME),
    (b"pagination", Evidence::NAMED_FRAME),
    (b"signature", Evidence::NAMED_FRAME),
    (b"sponsored", Evidence::NAMED_FRAME),
    (b"topicpath", Evidence::NAMED_FRAME),
    (b"recommended", Evidence::NAMED_FRAME),
    (b"recommendations", Evidence::NAMED_FRAME),
    (b"newsletter", Evidence::NAMED_FRAME),
    (b"notification", Evidence::NAMED_FRAME),
    (b"notifications", Evidence::NAMED_FRAME),
    (b"subscribe", Evidence::NAMED_FRAME),
    (b"subscription", Evidence::NAMED_FRAME),
    (b"offcanvas", Evidence::WEAK_FRAME),
    (b"recommend", Evidence::WEAK_FRAME),
    (b"recommendation", Evidence::WEAK_FRAME),
    (b"commentlist", Evidence::COMMENT),
    (b"commentarea", Evidence::COMMENT),
    (b"commentbox", Evidence::COMMENT),
];

fn by_word(word: &[u8]) -> Evidence {
    match key(word) {
        AD | ADS | ADVERT | ADVERTS | ADSENSE | CRUMB | CRUMBS | FOOTER | LOGIN | MASTHEAD | MEGAMENU
        | MINICART | NAV | NAVBAR | NEXTPREV | OUTBRAIN | PAGER | PAGING | RELATED | SHARE | SHARES
        | SHARING | SIDEBAR | SIDENAV | SIGNIN | SIGNUP | SPONSOR | SUBNAV | TABOOLA | TOPBAR | TRENDING
        | UPSELL | UPSELLS | WISHLIST => Evidence::NAMED_FRAME,
        BYLINE | CART | DRAWER | DROPDOWN | FACET | FACETS | FILTER | FILTERS | LIGHTBOX | MENU | MODAL
        | OVERLAY | POPULAR | PROMO | PROMOS | SEARCH | SOCIAL | TAGS | TOAST | TOC | TOOLBAR | TOOLTIP => {
            Evidence::WEAK_FRAME
        }
        CONSENT | COOKIE | COOKIES | GDPR | ONETRUST | POPUP => Evidence::NOTICE,
        COMMENT | COMMENTS | DISQUS | RESPOND => Evidence::COMMENT,
        0 => long_word(word),
        _ => Evidence::default(),
    }
}

fn long_word(word: &[u8]) -> Evidence {
    let found = LONG.iter().find(|(known, _)| word.eq_ignore_ascii_case(known));
    found.map_or(Evidence::default(), |(_, evidence)| *evidence)
}

/// A hash of name and class.
pub(super) fn look(key: u64, tag: &Tokenizer<'_>) -> u32 {
    let class = tag.attribute(Attribute::Class).unwrap_or_default();
    let hash = hash_bytes(key, class.as_bytes());
    short(usize::try_from(hash >> 33).unwrap_or_default())
}
