//! One page: its place in its server's tree, its life, its title and its path.
//!
//! Page 0 is the home page. The children of page p are pages 12p+1 to 12p+12, so every page is reachable from home in
//! a few steps; pages 1 to 12 are the sections, and every other page lies in the
//! directory of the section it descends from.
//!
//! **Invariant:** a page with children exists before the origin and is never deleted, and a section is never deleted,
//! so every existing page can be reached.

use crate::ORIGIN;
use crate::change::{ChangeProcess, Instants, Second, below_second, moment};
use crate::draw::{draw, happens, index, push_number};
use crate::layout::Layout;
use crate::server::{FAN, PRIVATE, Server};
use crate::text::{self, TextLanguage};
use base::Interval;

/// One page of a server.
#[derive(Clone, Copy)]
pub(crate) struct Page<'w> {
    pub(crate) server: Server<'w>,
    pub(crate) number: u64,
    /// The seed of its draws.
    pub(crate) seed: u64,
}

/// The span over which pages are born late, deleted and moved.
pub(crate) const SPAN: Second = 3 * 365 * DAY;
const DAY: Second = 86_400;

// Salts of the draws from a page's seed.
const BIRTH: u64 = 10;
const DEATH: u64 = 11;
const AGE: u64 = 12;
const GONE: u64 = 13;
const TITLE: u64 = 14;
const STYLE: u64 = 15;
const YEAR: u64 = 16;
const WORD: u64 = 17;
const DATED: u64 = 18;
const UNLISTED: u64 = 19;
const UNLISTED_HOW: u64 = 20;
/// Salts of the draws from a server's seed and a section number.
const MOVED: u64 = 0x7061_6765_0001;
const NEW_NAME: u64 = 0x7061_6765_0002;

impl<'w> Page<'w> {
    /// Page `number` of `server`.
    pub(crate) fn new(server: Server<'w>, number: u64) -> Self {
        assert!(number < server.pages, "page {number} of {}", server.pages);
        Self { server, number, seed: draw(server.seed ^ 0x7061_6765, number) }
    }
    /// The home page of server `number`.
    pub(crate) fn home(layout: &'w Layout, number: u32) -> Self {
        Self::new(Server::new(layout, number), 0)
    }
    pub(crate) fn draw(&self, question: u64) -> u64 {
        draw(self.seed, question)
    }

    pub(crate) fn parent(&self) -> Option<Self> {
        self.number.checked_sub(1).map(|before| Self::new(self.server, before / FAN))
    }
    pub(crate) fn children(&self) -> impl Iterator<Item = Self> + use<'w> {
        let (server, first) = (self.server, self.number.saturating_mul(FAN).saturating_add(1));
        (first..first.saturating_add(FAN).min(server.pages)).map(move |number| Self::new(server, number))
    }
    pub(crate) fn is_leaf(&self) -> bool {
        self.number.saturating_mul(FAN) + 1 >= self.server.pages
    }
    pub(crate) fn is_section(&self) -> bool {
        (1..=FAN).contains(&self.number)
    }
    /// The section it descends from; 0 for the home page.
    pub(crate) fn slot(&self) -> u64 {
        let mut number = self.number;
        while number > FAN {
            number = (number - 1) / FAN;
        }
        number
    }

    /// When it is created.
    pub(crate) fn born(&self) -> Second {
        let late =
            if self.is_leaf() && self.number > 0 { self.server.layout.plan().mix.born_late } else { 0 };
        moment(self.draw(BIRTH), late, ORIGIN.as_seconds(), SPAN)
            .unwrap_or_else(|| ORIGIN.as_seconds() - DAY - below_second(self.draw(AGE), self.age_max()))
    }
    /// Maximum age of the pages that exist at the origin.
    fn age_max(&self) -> Second {
        Second::from(self.server.layout.plan().mix.age_days_max) * DAY
    }
    /// When it is deleted, if it is.
    pub(crate) fn deleted(&self) -> Option<Second> {
        if !self.is_leaf() || self.number <= FAN {
            return None;
        }
        let from = self.born().max(ORIGIN.as_seconds()) + DAY;
        moment(self.draw(DEATH), self.server.layout.plan().mix.deleted, from, SPAN)
    }
    /// The status it answers with once it is deleted.
    pub(crate) fn deleted_status(&self) -> u16 {
        if happens(self.draw(GONE), 500) { 410 } else { 404 }
    }
    /// When its directory gets another name, if it does.
    pub(crate) fn moved(&self) -> Option<Second> {
        let slot = self.slot();
        if slot == 0 || self.server.private == Some(slot) {
            return None;
        }
        let seed = draw(draw(self.server.seed, MOVED), slot);
        moment(seed, self.server.layout.plan().mix.moved, ORIGIN.as_seconds(), SPAN)
    }

    /// How its main text changes.
    pub(crate) fn process(&self) -> ChangeProcess {
        self.server.layout.plan().mix.process_on(self.server.number, self.seed)
    }
    /// When its day and counter change, if it shows them.
    pub(crate) fn day_changes(&self) -> Instants {
        if self.is_dated() {
            Instants::periodic(Interval::from_days(1), -self.local_seconds())
        } else {
            Instants::NEVER
        }
    }
    pub(crate) fn is_dated(&self) -> bool {
        happens(self.draw(DATED), self.server.layout.plan().mix.dated)
    }
    /// Offset of the local time from UTC.
    pub(crate) fn local_seconds(&self) -> Second {
        if self.server.language == TextLanguage::Japanese { 9 * 3_600 } else { 0 }
    }

    /// Its robots directive, and whether that is sent as a field instead of in the page. One leaf in a hundred has one.
    pub(crate) fn robots_wish(&self) -> Option<(&'static str, bool)> {
        const WISHES: [&str; 3] = ["noindex", "nofollow", "noindex, nofollow"];
        let asks = self.number > 0 && self.is_leaf() && happens(self.draw(UNLISTED), 10);
        let how = self.draw(UNLISTED_HOW);
        asks.then(|| (WISHES[index(how, WISHES.len())], how & 1 == 1))
    }

    /// Appends the title: the site's name, the section's label, or a title of its own.
    pub(crate) fn push_title(&self, out: &mut String) {
        match self.number {
            0 => self.server.push_site_name(out),
            1..=FAN => out.push_str(self.server.section(self.number).1),
            _ => text::title(out, self.server.language, self.topic()),
        }
    }
    /// Its topic: the seed of its title and, with other low bits, of its paragraphs.
    pub(crate) fn topic(&self) -> u64 {
        self.draw(TITLE) & !0xff
    }

    /// Appends the whole URL as it is at `now`.
    pub(crate) fn push_url(&self, out: &mut String, now: Second) {
        self.server.push_origin(out, self.server.scheme());
        self.push_target(out, self.has_moved(now));
    }
    pub(crate) fn has_moved(&self, now: Second) -> bool {
        self.moved().is_some_and(|at| at <= now)
    }

    /// Appends path and query, under the old or the new name of its directory.
    pub(crate) fn push_target(&self, out: &mut String, moved: bool) {
        out.push('/');
        if self.number == 0 {
            return;
        }
        self.push_directory(out, moved);
        out.push('/');
        if !self.is_section() {
            self.push_rest(out);
        }
    }

    fn push_directory(&self, out: &mut String, moved: bool) {
        let slot = self.slot();
        if self.server.private == Some(slot) {
            return out.push_str(PRIVATE);
        }
        out.push_str(self.server.section(slot).0);
        if moved {
            let name = draw(draw(self.server.seed, NEW_NAME), slot);
            out.push_str(NEW_NAMES[index(name, NEW_NAMES.len())]);
        }
    }

    fn push_rest(&self, out: &mut String) {
        let style = draw(self.seed, STYLE);
        match index(style, 5) {
            0 => push_dated(out, self.draw(YEAR), "/"),
            1 => return self.push_numbered(out, "", "/"),
            2 => return self.push_numbered(out, "page", ".html"),
            3 => return self.push_numbered(out, "item?id=", query_end(self.server.language)),
            _ => out.push_str(WORDS[index(self.draw(WORD), WORDS.len())]),
        }
        self.push_numbered(out, if index(style, 5) == 0 { "" } else { "-" }, ".html");
    }

    fn push_numbered(&self, out: &mut String, before: &str, after: &str) {
        out.push_str(before);
        push_number(out, self.number);
        out.push_str(after);
    }
}

const NEW_NAMES: [&str; 4] = ["-archive", "-new", "-plus", "-web"];
const WORDS: [&str; 12] = [
    "report", "notes", "guide", "story", "column", "diary", "review", "topic", "letter", "record", "memo",
    "essay",
];

/// Appends a year and a month, such as `2026/03/`.
fn push_dated(out: &mut String, draw: u64, end: &str) {
    push_number(out, 2019 + draw % 8);
    let month = 1 + (draw >> 32) % 12;
    out.push_str(if month < 10 { "/0" } else { "/" });
    push_number(out, month);
    out.push_str(end);
}

fn query_end(language: TextLanguage) -> &'static str {
    match language {
        TextLanguage::Japanese => "&lang=ja",
        TextLanguage::English => "&lang=en",
    }
}
