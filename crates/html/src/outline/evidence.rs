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
    /// Its names say that it holds the content.
    pub(super) const CONTENT: Self = Self(1 << 6);

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// What an element inside one with the evidence `outer` says.
pub(super) fn of(key: u64, tag: &Tokenizer<'_>, outer: Evidence) -> Evidence {
    let own = by_name(key).and(by_role(tag)).and(by_attributes(key, tag));
    // An element that holds the main content is not a frame, whatever it is called.
    let outer = if own.has(Evidence::MAIN) { outer.without(Evidence::FRAME) } else { outer };
    outer.and(own)
}

fn by_name(key: u64) -> Evidence {
    use element::*;
    match key {
        TEMPLATE | HEAD => Evidence::HIDDEN,
        MAIN => Evidence::MAIN,
        ARTICLE => Evidence::ARTICLE,
        ASIDE | DIALOG | FOOTER | HEADER | MENU | NAV | NOSCRIPT => Evidence::FRAME,
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

/// What a class or an id says by whole words: `left-ad`, `cookie_notice`.
fn by_names(names: &str) -> Evidence {
    let names = names.as_bytes().get(..NAMES_BYTES_MAX).unwrap_or(names.as_bytes());
    let words = names.split(|byte| !byte.is_ascii_alphanumeric());
    words.fold(Evidence::default(), |all, word| all.and(by_word(word)))
}

keys! {
    AD b"ad" ADS b"ads" ADVERT b"advert" BANNER b"banner" CONSENT b"consent" COOKIE b"cookie" COOKIES b"cookies"
    FOOTER b"footer" GDPR b"gdpr" MENU b"menu" NAV b"nav" NAVBAR b"navbar" NOTICE b"notice" PAGER b"pager"
    POPULAR b"popular" POPUP b"popup" MODAL b"modal" PROMO b"promo" RELATED b"related" SHARE b"share" SIDEBAR b"sidebar" SPONSOR b"sponsor"
    TRENDING b"trending" COMMENT b"comment" COMMENTS b"comments"
}

fn by_word(word: &[u8]) -> Evidence {
    const LONG: [&[u8]; 9] = [
        b"advertisement",
        b"breadcrumb",
        b"breadcrumbs",
        b"navigation",
        b"pagination",
        b"recommendations",
        b"recommended",
        b"sponsored",
        b"newsletter",
    ];
    match key(word) {
        AD | ADS | ADVERT | BANNER | CONSENT | COOKIE | COOKIES | FOOTER | GDPR | MENU | NAV | NAVBAR
        | NOTICE | PAGER | POPULAR | POPUP | MODAL | PROMO | RELATED | SHARE | SIDEBAR | SPONSOR
        | TRENDING => Evidence::FRAME,
        COMMENT | COMMENTS => Evidence::COMMENT,
        0 if LONG.iter().any(|known| word.eq_ignore_ascii_case(known)) => Evidence::FRAME,
        _ => Evidence::default(),
    }
}

/// A hash of name and class.
pub(super) fn look(key: u64, tag: &Tokenizer<'_>) -> u32 {
    let class = tag.attribute(Attribute::Class).unwrap_or_default();
    let hash = hash_bytes(key, class.as_bytes());
    short(usize::try_from(hash >> 33).unwrap_or_default())
}
