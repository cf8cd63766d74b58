//! Which part of a page is open: hidden, frame (navigation, adverts …) or core (`main`, `article`).
//!
//! There is no tree. A zone stores the name of the element that opened it and counts the elements of this name, so
//! wrongly nested tags of other names do not matter.

use crate::token::name::{Attribute, element, key, keys};
use crate::token::{Name, Tokenizer};

/// The purpose of a part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Hidden,
    /// By the name of its element, or only by its class or id.
    Frame {
        by_name: bool,
    },
    Core,
}

/// An open element.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// The key of its name; 0 if none is open.
    key: u64,
    depth: u32,
}

impl Open {
    fn is_open(self) -> bool {
        self.key != 0
    }
    fn start(&mut self, key: u64) {
        *self = Self { key, depth: 1 };
    }
    /// Elements without a required end tag are closed by the next of their name.
    fn saw_start(&mut self, key: u64) {
        if self.is_open() && key == self.key {
            if ends_at_the_next(key) { *self = Self::default() } else { self.depth += 1 }
        }
    }
    fn saw_end(&mut self, key: u64) {
        if self.is_open() && key == self.key {
            self.depth -= 1;
            if self.depth == 0 {
                *self = Self::default();
            }
        }
    }
}

/// The open parts of a page.
#[derive(Debug, Default)]
pub(super) struct Zones {
    hidden: Open,
    frame: Open,
    /// Whether the open frame is one by the name of its element.
    is_named: bool,
    core: Open,
    main: Open,
    /// There was a core already.
    had_core: bool,
}

impl Zones {
    /// Nothing here is shown.
    pub(super) fn is_hidden(&self) -> bool {
        self.hidden.is_open()
    }
    /// The part is for navigation, advertising or consent, not for reading.
    pub(super) fn is_frame(&self) -> bool {
        self.frame.is_open()
    }
    /// The page itself marks this as its main content.
    pub(super) fn is_core(&self) -> bool {
        self.core.is_open()
    }

    /// The page marks it by `main`, of which there is one.
    pub(super) fn is_main(&self) -> bool {
        self.main.is_open()
    }

    pub(super) fn start(&mut self, name: Name<'_>, tag: &Tokenizer<'_>) {
        for open in [&mut self.hidden, &mut self.frame, &mut self.core, &mut self.main] {
            open.saw_start(name.key);
        }
        match kind(name.key, tag) {
            Some(Kind::Hidden) if !self.hidden.is_open() => self.hidden.start(name.key),
            // The header of an article is its headline.
            Some(Kind::Frame { .. }) if name.key == element::HEADER && self.core.is_open() => {}
            Some(Kind::Frame { by_name }) if !self.frame.is_open() => {
                self.frame.start(name.key);
                self.is_named = by_name;
            }
            Some(Kind::Core) => self.start_core(name.key),
            _ => {}
        }
    }

    fn start_core(&mut self, key: u64) {
        let is_main = key != element::ARTICLE;
        // An element that contains the core is not a frame, whatever its name. An article may be a card of a list, and a later
        // one inside a frame is.
        let holds_core = is_main || (!self.is_named && !self.had_core);
        if !self.core.is_open() {
            if holds_core {
                self.frame = Open::default();
            }
            self.core.start(key);
            self.had_core = true;
        }
        if is_main && !self.main.is_open() {
            self.main.start(key);
        }
    }

    pub(super) fn end(&mut self, key: u64) {
        for open in [&mut self.hidden, &mut self.frame, &mut self.core, &mut self.main] {
            open.saw_end(key);
        }
    }
}

/// What an element opens.
fn kind(key: u64, tag: &Tokenizer<'_>) -> Option<Kind> {
    use element::{
        ARTICLE, ASIDE, BUTTON, DIALOG, DIV, DL, FOOTER, FORM, HEADER, LABEL, LI, MAIN, MENU, NAV, NOSCRIPT,
        OL, P, SECTION, SELECT, TABLE, TD, TEMPLATE, TR, UL,
    };
    match key {
        TEMPLATE => Some(Kind::Hidden),
        MAIN | ARTICLE => Some(Kind::Core),
        ASIDE | BUTTON | DIALOG | FOOTER | HEADER | LABEL | MENU | NAV | NOSCRIPT | SELECT => {
            Some(Kind::Frame { by_name: true })
        }
        DIV | SECTION | UL | OL | DL | TABLE | FORM | P | LI | TD | TR => by_attributes(tag),
        _ => None,
    }
}

fn by_attributes(tag: &Tokenizer<'_>) -> Option<Kind> {
    if tag.attribute(Attribute::Hidden).is_some() {
        return Some(Kind::Hidden);
    }
    match tag.attribute(Attribute::Role) {
        Some("main") => return Some(Kind::Core),
        Some(
            "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "alert" | "dialog"
            | "status",
        ) => {
            return Some(Kind::Frame { by_name: false });
        }
        _ => {}
    }
    let names = [tag.attribute(Attribute::Class), tag.attribute(Attribute::Id)];
    names.into_iter().flatten().any(names_a_frame).then_some(Kind::Frame { by_name: false })
}

/// Whether a class or an id names an advert, a notice or the like: `left-ad`, `cookie_notice`, `AdBanner`.
fn names_a_frame(names: &str) -> bool {
    let names = names.as_bytes().get(..NAMES_BYTES_MAX).unwrap_or(names.as_bytes());
    names.split(|byte| !byte.is_ascii_alphanumeric()).any(|word| match key(word) {
        AD | ADS | ADVERT | ADVERTS | ADSENSE | ADBANNER | ADBOX | BANNER | CONSENT | COOKIE | COOKIES
        | COUNTER | FOOTER | GDPR | MENU | NAV | NAVBAR | NOTICE | PAGER | POPULAR | POPUP | PROMO
        | RELATED | SHARE | SIDEBAR | SPONSOR | TICKER | TRENDING => true,
        0 => LONG.iter().any(|known| word.eq_ignore_ascii_case(known)),
        _ => false,
    })
}

/// The maximum number of bytes read of a class.
const NAMES_BYTES_MAX: usize = 256;

keys! {
    AD b"ad" ADS b"ads" ADVERT b"advert" ADVERTS b"adverts" ADSENSE b"adsense" ADBANNER b"adbanner" ADBOX b"adbox"
    BANNER b"banner" CONSENT b"consent" COOKIE b"cookie" COOKIES b"cookies" COUNTER b"counter" FOOTER b"footer"
    GDPR b"gdpr" MENU b"menu" NAV b"nav" NAVBAR b"navbar" NOTICE b"notice" PAGER b"pager" POPULAR b"popular"
    POPUP b"popup" PROMO b"promo" RELATED b"related" SHARE b"share" SIDEBAR b"sidebar" SPONSOR b"sponsor"
    TICKER b"ticker" TRENDING b"trending"
}
const LONG: [&[u8]; 11] = [
    b"advertisement",
    b"adsbygoogle",
    b"breadcrumb",
    b"breadcrumbs",
    b"navigation",
    b"pagination",
    b"recommend",
    b"recommendations",
    b"recommended",
    b"sponsored",
    b"topicpath",
];

fn ends_at_the_next(key: u64) -> bool {
    matches!(key, element::P | element::LI | element::TD | element::TR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_known_by_whole_words_of_their_names() {
        for name in ["ad", "left-ad", "cookie_notice top", "x AdBanner"] {
            assert!(names_a_frame(name), "{name}");
        }
        for name in ["", "header", "add", "readable", "shadow", "content-area", "navigational"] {
            assert!(!names_a_frame(name), "{name}");
        }
    }
}
