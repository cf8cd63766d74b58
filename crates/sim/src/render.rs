//! A page as HTML.
//!
//! The main text has 8 to 14 paragraphs. A text change rewrites one of them, chosen by its instant; the last
//! [`SHOWN`] changes show, and a paragraph changed only by older ones has its first wording. So two consecutive
//! versions differ in one or two paragraphs, and a version is built without the versions before it.
//!
//! **Invariant:** every change in [`History`] shows in the bytes: text changes in the line with the time
//! of the last one, adverts in their campaign, templates in their build number, dates and links directly.

use crate::change::{Second, timestamp};
use crate::draw::{below, draw, happens, index, push_all, push_hex, push_number};
use crate::history::{History, SHOWN};
use crate::hostile;
use crate::links::{Link, Spot};
use crate::page::Page;
use crate::server::{Feed, IMAGES, STYLES, Server};
use crate::text::{self, TextLanguage};
use base::url::Scheme;

mod phrases;

use phrases::Phrases;

// Salts of the draws from a page's seed.
const PARAGRAPHS: u64 = 40;
const PICTURES: u64 = 41;
const COUNTER: u64 = 42;
const ADVERT: u64 = 43;
const ALTERNATE: u64 = 44;
const OLD_LINK: u64 = 45;

/// Number of wordings of a paragraph; the low eight bits of a topic hold paragraph and wording.
const WORDINGS: u64 = 17;
const PARAGRAPHS_MIN: usize = 8;
const PARAGRAPHS_MAX: usize = 14;
const DESCRIPTION: u64 = 250;
const _: () = assert!(PARAGRAPHS_MAX as u64 * WORDINGS < DESCRIPTION);

/// The state of rendering one page.
struct Sheet<'a> {
    page: &'a Page<'a>,
    history: &'a History<'a>,
    now: Second,
    language: TextLanguage,
    phrases: &'static Phrases,
    /// The draw of the server's present template.
    template: u64,
    out: String,
}

/// The page as it is at `now`.
pub(crate) fn page(page: &Page<'_>, history: &History<'_>, now: Second) -> String {
    let language = page.server.language;
    let template = draw(page.server.seed, history.template_since(now).cast_unsigned());
    let out = String::with_capacity(20 * 1_024);
    let mut sheet = Sheet { page, history, now, language, phrases: phrases::of(language), template, out };
    sheet.head();
    sheet.banner();
    sheet.main();
    sheet.aside();
    sheet.footer();
    sheet.out
}

impl Sheet<'_> {
    fn put(&mut self, parts: &[&str]) {
        push_all(&mut self.out, parts);
    }

    fn head(&mut self) {
        self.put(&["<!DOCTYPE html>\n<html lang=\"", self.language.code(), "\">\n<head>\n"]);
        let charset = self.page.server.charset();
        if charset.name == "utf-8" || !charset.in_field {
            self.put(&["<meta charset=\"", charset.name, "\">\n"]);
        }
        self.put(&["<title>"]);
        self.page.push_title(&mut self.out);
        if self.page.number > 0 {
            self.put(&[" - "]);
            self.page.server.push_site_name(&mut self.out);
        }
        self.put(&["</title>\n<meta name=\"description\" content=\""]);
        text::sentence(&mut self.out, self.language, self.page.topic() | DESCRIPTION);
        self.put(&["\">\n<meta name=\"generator\" content=\"Kumiki build "]);
        push_hex(&mut self.out, self.template);
        self.put(&["\">\n"]);
        self.head_links();
        self.put(&["</head>\n<body class=\"t", digit(self.template), "\">\n"]);
    }

    fn head_links(&mut self) {
        if let Some((wish, false)) = self.page.robots_wish() {
            self.put(&["<meta name=\"robots\" content=\"", wish, "\">\n"]);
        }
        self.put(&["<link rel=\"canonical\" href=\""]);
        self.own_url();
        self.put(&["\">\n<link rel=\"stylesheet\" href=\"/style-", digit(self.template), ".css\">\n"]);
        let feed = self.page.server.feed();
        self.put(&["<link rel=\"alternate\" type=\"", feed.media_type(), "\" href=\"", feed.path(), "\">\n"]);
        if happens(self.page.draw(ALTERNATE), 200) {
            self.put(&["<link rel=\"alternate\" hreflang=\"", self.language.code(), "\" href=\""]);
            self.own_url();
            self.put(&["\">\n"]);
        }
    }

    fn own_url(&mut self) {
        let start = self.out.len();
        self.page.push_url(&mut self.out, self.now);
        escape_from(&mut self.out, start);
    }

    fn banner(&mut self) {
        self.put(&["<header class=\"h", if self.template & 8 == 0 { "0" } else { "1" }, "\">\n"]);
        self.put(&["<p class=\"site\"><a href=\"/\">"]);
        self.page.server.push_site_name(&mut self.out);
        self.put(&["</a></p>\n<nav>\n<ul>\n"]);
        self.items(Spot::Navigation);
        self.put(&["</ul>\n</nav>\n"]);
        if self.page.number > 0 {
            self.put(&["<ul class=\"trail\">\n<li><a href=\"/\">", self.phrases.home, "</a></li>\n"]);
            self.items(Spot::Trail);
            self.put(&["</ul>\n"]);
        }
        self.put(&["</header>\n"]);
        if self.is_advert_above() {
            self.advert();
        }
    }

    fn is_advert_above(&self) -> bool {
        self.template & 16 == 0
    }

    fn advert(&mut self) {
        let seed = draw(self.page.draw(ADVERT), self.history.advert_changed(self.now).cast_unsigned());
        self.put(&["<div class=\"ad\" data-campaign=\""]);
        push_hex(&mut self.out, seed);
        self.put(&["\"><p>", self.phrases.advert, ": "]);
        text::advert(&mut self.out, self.language, seed);
        self.put(&["</p></div>\n"]);
    }

    fn main(&mut self) {
        self.put(&["<main>\n<article>\n<h1>"]);
        self.page.push_title(&mut self.out);
        let changed = timestamp(self.history.text_changed(self.now)).to_rfc3339();
        self.put(&["</h1>\n<p class=\"updated\">", self.phrases.updated, ": "]);
        self.put(&[&changed[..10], " ", &changed[11..19], "</p>\n"]);
        self.paragraphs();
        self.listing();
        self.put(&["</article>\n</main>\n"]);
    }

    fn paragraphs(&mut self) {
        let seed = self.page.draw(PARAGRAPHS);
        let count = PARAGRAPHS_MIN + index(seed, PARAGRAPHS_MAX - PARAGRAPHS_MIN + 1);
        let wordings = self.wordings(count);
        let pictures = 1 + index(self.page.draw(PICTURES), 3);
        for (place, wording) in (0_u64..).zip(&wordings[..count]) {
            let sentences = 4 + index(draw(seed, place), 4);
            self.put(&["<p>"]);
            let seed = self.page.topic() | (1 + place * WORDINGS + wording);
            text::paragraph(&mut self.out, self.language, seed, sentences);
            self.put(&["</p>\n"]);
            if place < pictures as u64 {
                self.picture(place);
            }
        }
    }

    /// The wording of each of the first `count` paragraphs.
    fn wordings(&self, count: usize) -> [u64; PARAGRAPHS_MAX] {
        let mut recent = [0; SHOWN];
        let shown = self.history.recent(self.now, &mut recent);
        let mut wordings = [0; PARAGRAPHS_MAX];
        for change in recent[..shown].iter().rev() {
            let change = draw(self.page.seed, change.cast_unsigned());
            let place = index(change, count);
            let wording = below(draw(change, 1), WORDINGS);
            let same = wording == wordings[place];
            wordings[place] = if same { (wording + 1) % WORDINGS } else { wording };
        }
        wordings
    }

    fn picture(&mut self, place: u64) {
        let image = draw(self.page.draw(PICTURES), place);
        self.put(&["<figure><img src=\"/images/"]);
        push_number(&mut self.out, below(image, IMAGES));
        self.put(&[".png\" width=\"64\" height=\"48\" alt=\""]);
        text::title(&mut self.out, self.language, self.page.topic() | place);
        self.put(&["\"></figure>\n"]);
    }

    fn listing(&mut self) {
        if !self.page.is_leaf() {
            self.put(&["<h2>", self.phrases.listing, "</h2>\n<ul class=\"listing\">\n"]);
            self.items(Spot::Listing);
            self.put(&["</ul>\n"]);
        }
    }

    fn aside(&mut self) {
        if !self.is_advert_above() {
            self.advert();
        }
        self.put(&["<aside>\n<h2>", self.phrases.related, "</h2>\n<ul>\n"]);
        self.items(Spot::Related);
        self.put(&["</ul>\n<h2>", self.phrases.elsewhere, "</h2>\n<ul>\n"]);
        self.items(Spot::Elsewhere);
        self.items(Spot::Partners);
        self.hostile_items();
        self.put(&["</ul>\n</aside>\n"]);
    }

    /// The links of one spot that are there, one a line.
    fn items(&mut self, spot: Spot) {
        let (history, now) = (self.history, self.now);
        for link in history.links.iter().filter(|link| link.spot == spot && link.is_there(now)) {
            self.put(&["<li><a href=\""]);
            self.href(link);
            self.put(&["\">"]);
            link.target.push_title(&mut self.out);
            self.put(&["</a></li>\n"]);
        }
    }

    fn href(&mut self, link: &Link<'_>) {
        let server = &link.target.server;
        if server.number != self.page.server.number {
            let scheme = self.written_scheme(&link.target);
            server.push_origin(&mut self.out, scheme);
        }
        let start = self.out.len();
        link.push_target(&mut self.out, self.now);
        escape_from(&mut self.out, start);
    }

    /// One in ten links to an https server still uses http.
    fn written_scheme(&self, target: &Page<'_>) -> Scheme {
        let old = happens(draw(self.page.draw(OLD_LINK), target.seed), 100);
        if old { Scheme::Http } else { target.server.scheme() }
    }

    /// On the home page: hostile servers, each linked from one server.
    fn hostile_items(&mut self) {
        let plan = self.page.server.layout.plan();
        if self.page.number > 0 {
            return;
        }
        for number in (self.page.server.number..plan.hostile).step_by(plan.servers as usize) {
            let host = hostile::host(number);
            self.put(&["<li><a href=\"http://", &host, "/\">", &host, "</a></li>\n"]);
        }
    }

    fn footer(&mut self) {
        self.put(&["<footer>\n"]);
        if self.page.is_dated() {
            self.day();
        }
        self.put(&["<p><a href=\"/sitemap.xml\">", self.phrases.sitemap, "</a> <a href=\""]);
        let feed = self.page.server.feed();
        self.put(&[feed.path(), "\">", feed_label(feed), "</a></p>\n<p>&copy; "]);
        self.page.server.push_site_name(&mut self.out);
        self.put(&["</p>\n</footer>\n</body>\n</html>\n"]);
    }

    /// The day, and a counter that counts the visitors of the days so far.
    fn day(&mut self) {
        let local = self.history.day_since(self.now) + self.page.local_seconds();
        let date = timestamp(local).to_rfc3339();
        let counted = self.page.draw(COUNTER);
        let day = local.div_euclid(86_400).unsigned_abs();
        self.put(&[
            "<p class=\"today\">",
            self.phrases.today,
            ": ",
            &date[..10],
            " ",
            self.phrases.visitors,
            ": ",
        ]);
        push_number(&mut self.out, counted % 9_000 + day * (7 + counted % 90));
        self.put(&["</p>\n"]);
    }
}

fn feed_label(feed: Feed) -> &'static str {
    match feed {
        Feed::Rss => "RSS",
        Feed::Atom => "Atom",
        Feed::Json => "JSON Feed",
    }
}

/// One of the style sheets, as a digit.
fn digit(draw: u64) -> &'static str {
    const DIGITS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];
    const _: () = assert!(DIGITS.len() as u64 == STYLES);
    DIGITS[index(draw, DIGITS.len())]
}

/// Escapes the ampersands of what was appended since `start`.
fn escape_from(out: &mut String, start: usize) {
    if out[start..].contains('&') {
        let escaped = out[start..].replace('&', "&amp;");
        out.truncate(start);
        out.push_str(&escaped);
    }
}

/// The body of the response for a missing page.
pub(crate) fn missing(out: &mut String, server: &Server<'_>, status: u16) {
    let language = server.language;
    let phrases = phrases::of(language);
    push_all(
        out,
        &["<!DOCTYPE html>\n<html lang=\"", language.code(), "\">\n<meta charset=\"utf-8\">\n<title>"],
    );
    push_number(out, u64::from(status));
    push_all(out, &[" ", phrases.missing, "</title>\n<h1>", phrases.missing, "</h1>\n<p><a href=\"/\">"]);
    server.push_site_name(out);
    out.push_str("</a></p>\n</html>\n");
}
