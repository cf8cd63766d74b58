//! One walk over the tags of a page that gathers everything.

use crate::{LINKS_MAX, TITLE_BYTES_MAX, charset};
use base::PageUrl;
use base::exclusion::Directives;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use std::convert::Infallible;

/// What a page says.
#[derive(Clone, Debug)]
pub struct Page {
    /// The encoding and how it was found.
    pub charset: charset::Found,
    /// The title with its white space folded; empty when there is none.
    pub title: String,
    /// Where the page points to, in order, each target once a kind.
    pub links: Vec<Link>,
    /// What its `meta` elements ask of robots, of all and of us by name.
    pub asks: Directives,
}

/// A link that stands on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The page or file it points to.
    pub url: PageUrl,
    /// What it is for.
    pub kind: LinkKind,
    /// `rel=nofollow` stands on it.
    pub nofollow: bool,
}

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// A person can go there: `a`, `area`.
    Anchor,
    /// It is shown inside: `frame`, `iframe`.
    Frame,
    /// It is needed to show the page: `img`, `script`, a style sheet.
    Embed,
    /// A feed of the site.
    Feed,
    /// The same page under its proper name, or in another language.
    Alternate,
    /// The page sends its visitor on: `meta refresh`.
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
            Self::Alternate => "alternate",
            Self::Refresh => "refresh",
        }
    }
}

/// Reads a page that was found at `url` with this `Content-Type`, as the robot `agent` (a product token).
#[must_use]
pub fn read(url: &PageUrl, content_type: Option<&str>, bytes: &[u8], agent: &str) -> Page {
    let charset = charset::find(content_type, bytes);
    let text = charset::text(charset, bytes);
    let mut walk = Walk::new(url.clone(), agent);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        walk.step(&event);
        None
    });
    emitter.naively_switch_states(true);
    // The callback yields nothing, so the first step of the iterator walks the whole page.
    let nothing = Tokenizer::new_with_emitter(text.as_ref(), emitter).next();
    debug_assert!(nothing.is_none());
    walk.finish(charset)
}

/// What is known in the middle of a page.
struct Walk<'a> {
    agent: &'a str,
    base: PageUrl,
    base_is_set: bool,
    title: Option<String>,
    in_title: bool,
    links: Vec<Link>,
    seen: std::collections::HashSet<(PageUrl, LinkKind)>,
    asks: Directives,
    tag: Tag,
    wanted: Option<usize>,
}

/// The attributes of the open tag that matter, by their place in [`NAMES`].
#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    values: [String; NAMES.len()],
}

const NAMES: [&[u8]; 8] = [b"href", b"src", b"rel", b"type", b"content", b"name", b"http-equiv", b"data"];
const HREF: usize = 0;
const SRC: usize = 1;
const REL: usize = 2;
const TYPE: usize = 3;
const CONTENT: usize = 4;
const NAME: usize = 5;
const HTTP_EQUIV: usize = 6;
const DATA: usize = 7;

impl Tag {
    fn value(&self, place: usize) -> &str {
        self.values.get(place).map_or("", String::as_str)
    }
    fn has_word(&self, place: usize, word: &str) -> bool {
        let separators = [' ', '\t', '\n', '\r', ','];
        self.value(place).split(separators).any(|found| found.eq_ignore_ascii_case(word))
    }
}

impl<'a> Walk<'a> {
    fn new(base: PageUrl, agent: &'a str) -> Self {
        Self {
            agent,
            base,
            base_is_set: false,
            title: None,
            in_title: false,
            links: Vec::new(),
            seen: std::collections::HashSet::new(),
            asks: Directives::default(),
            tag: Tag::default(),
            wanted: None,
        }
    }

    fn step(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => self.open(name),
            CallbackEvent::AttributeName { name } => {
                self.wanted = NAMES.iter().position(|known| known == name);
            }
            CallbackEvent::AttributeValue { value } => self.value(value),
            CallbackEvent::CloseStartTag { .. } => self.close(),
            CallbackEvent::EndTag { name } => self.in_title &= *name != b"title",
            CallbackEvent::String { value } => self.text(value),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
    }

    fn finish(self, charset: charset::Found) -> Page {
        let title = self.title.unwrap_or_default();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        Page { charset, title, links: self.links, asks: self.asks }
    }

    fn open(&mut self, name: &[u8]) {
        self.tag.name.clear();
        self.tag.name.extend_from_slice(name);
        self.tag.values.iter_mut().for_each(String::clear);
        self.wanted = None;
    }

    fn value(&mut self, value: &[u8]) {
        let Some(slot) = self.wanted.take().and_then(|place| self.tag.values.get_mut(place)) else { return };
        // An attribute that stands twice counts the first time.
        if slot.is_empty() && value.len() <= 4 * base::limits::URL_BYTES_MAX {
            slot.push_str(&String::from_utf8_lossy(value));
        }
    }

    fn close(&mut self) {
        let tag = std::mem::take(&mut self.tag);
        match tag.name.as_slice() {
            b"a" | b"area" => self.link(tag.value(HREF), LinkKind::Anchor, tag.has_word(REL, "nofollow")),
            b"frame" | b"iframe" => self.link(tag.value(SRC), LinkKind::Frame, false),
            b"img" | b"script" | b"source" | b"embed" | b"input" | b"audio" | b"video" => {
                self.link(tag.value(SRC), LinkKind::Embed, false);
            }
            b"object" => self.link(tag.value(DATA), LinkKind::Embed, false),
            b"link" => self.link_element(&tag),
            b"base" => self.base_element(tag.value(HREF)),
            b"meta" => self.meta_element(&tag),
            b"title" => self.in_title = self.title.is_none(),
            _ => {}
        }
        self.tag = tag;
    }

    fn link_element(&mut self, tag: &Tag) {
        let feed = ["application/rss+xml", "application/atom+xml", "application/feed+json"];
        let kind = if tag.has_word(REL, "stylesheet") || tag.has_word(REL, "icon") {
            LinkKind::Embed
        } else if tag.has_word(REL, "alternate") && feed.contains(&tag.value(TYPE).trim()) {
            LinkKind::Feed
        } else if tag.has_word(REL, "alternate") || tag.has_word(REL, "canonical") {
            LinkKind::Alternate
        } else if tag.has_word(REL, "next") || tag.has_word(REL, "prev") {
            LinkKind::Anchor
        } else {
            return;
        };
        self.link(tag.value(HREF), kind, false);
    }

    /// The first base element counts, as the standard says.
    fn base_element(&mut self, href: &str) {
        if !self.base_is_set && !href.is_empty() {
            self.base_is_set = true;
            if let Ok(base) = self.base.join(href) {
                self.base = base;
            }
        }
    }

    fn meta_element(&mut self, tag: &Tag) {
        let name = tag.value(NAME).trim();
        let is_for_us = name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(self.agent);
        if is_for_us && !name.is_empty() {
            self.asks = self.asks.and(Directives::of_meta(tag.value(CONTENT)));
        } else if tag.value(HTTP_EQUIV).trim().eq_ignore_ascii_case("refresh")
            && let Some(target) = refresh_target(tag.value(CONTENT))
        {
            self.link(target, LinkKind::Refresh, false);
        }
    }

    fn link(&mut self, reference: &str, kind: LinkKind, nofollow: bool) {
        let reference = reference.trim();
        if reference.is_empty() || self.links.len() >= LINKS_MAX {
            return;
        }
        let Ok(url) = self.base.join(reference) else { return };
        if self.seen.insert((url.clone(), kind)) {
            self.links.push(Link { url, kind, nofollow });
        }
    }

    fn text(&mut self, value: &[u8]) {
        if self.in_title {
            let value = value.get(..TITLE_BYTES_MAX).unwrap_or(value);
            let title = self.title.get_or_insert_default();
            title.push_str(&String::from_utf8_lossy(value));
            title.truncate(title.floor_char_boundary(TITLE_BYTES_MAX));
        }
    }
}

/// The target of `5; url=next.html`.
fn refresh_target(content: &str) -> Option<&str> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim_start();
    let rest = rest.get(..3).filter(|word| word.eq_ignore_ascii_case("url")).and_then(|_| rest.get(3..))?;
    Some(rest.trim_start().strip_prefix('=')?.trim().trim_matches(['\'', '"']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &str) -> Page {
        read(&PageUrl::parse("http://a.example/dir/page").unwrap(), None, html.as_bytes(), "utsushi")
    }

    #[track_caller]
    fn check(html: &str, expected: &[(&str, &str)]) {
        let page = page(html);
        let found: Vec<_> = page.links.iter().map(|link| (link.kind.as_str(), link.url.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn links_are_found_by_their_kind() {
        check(
            "<a href=x>1</a><A HREF='../y#z'>2</A>",
            &[("anchor", "http://a.example/dir/x"), ("anchor", "http://a.example/y")],
        );
        check("<iframe src=//b.example/>", &[("frame", "http://b.example/")]);
        check(
            "<img src=i.png><link rel='shortcut icon' href=/f.ico>",
            &[("embed", "http://a.example/dir/i.png"), ("embed", "http://a.example/f.ico")],
        );
        check(
            "<link rel=alternate type=application/rss+xml href=/feed>",
            &[("feed", "http://a.example/feed")],
        );
        check(
            "<link rel=canonical href=/p><link rel=alternate hreflang=en href=/en>",
            &[("alternate", "http://a.example/p"), ("alternate", "http://a.example/en")],
        );
        check("<meta http-equiv=Refresh content=\"0; URL='/on'\">", &[("refresh", "http://a.example/on")]);
        check("<a href='?a=1&amp;b=2'>", &[("anchor", "http://a.example/dir/page?a=1&b=2")]);
    }

    #[test]
    fn the_first_base_counts() {
        check("<base href=/b/><base href=/c/><a href=x>", &[("anchor", "http://a.example/b/x")]);
    }

    #[test]
    fn what_is_no_link_is_left() {
        check("<!-- <a href=x> --><script>'<a href=y>'</script><textarea><a href=z></textarea>", &[]);
        check("<a href='mailto:x@y'><a href='javascript:1'><a href=''><a name=q><a href='http://['>", &[]);
        check("<a href=x><a href=x>", &[("anchor", "http://a.example/dir/x")]);
    }

    #[test]
    fn title_and_wishes_are_read() {
        let page = page(
            "<title> A\n <b>b</b> &amp; c </title><title>no</title><meta name=ROBOTS content='NoIndex, nofollow'>",
        );
        assert_eq!(page.title, "A <b>b</b> & c");
        assert!(page.asks.noindex && page.asks.nofollow);
    }

    #[test]
    fn wishes_to_all_and_to_us_add_up_and_those_to_others_do_not_count() {
        let asks = |html: &str| {
            let Directives { noindex, nofollow, noarchive, .. } = page(html).asks;
            (noindex, nofollow, noarchive)
        };
        let ours = "<meta name=Utsushi content=nofollow>";
        assert_eq!(asks(ours), (false, true, false));
        assert_eq!(asks(&format!("<meta name=robots content=noindex>{ours}")), (true, true, false));
        assert_eq!(asks("<meta name=otherbot content='noindex, nofollow'>"), (false, false, false));
        assert_eq!(
            asks("<meta content=noarchive name=robots><meta name=robots content=index>"),
            (false, false, true)
        );
        assert_eq!(asks("<meta name='' content=noindex><meta content=noindex>"), (false, false, false));
    }

    #[test]
    fn hostile_shapes_are_read_in_linear_time() {
        let deep = "<div>".repeat(200_000);
        let attributes = format!("<a {} href=x>", "b=c ".repeat(200_000));
        let unclosed = "<a href=x".repeat(100_000);
        for html in
            [deep, attributes, unclosed, "<".repeat(1 << 20), "<title>".to_owned() + &"x".repeat(1 << 20)]
        {
            let page = page(&html);
            assert!(page.links.len() <= LINKS_MAX && page.title.len() <= TITLE_BYTES_MAX);
        }
    }

    #[test]
    fn a_legacy_page_gives_its_links_and_title() {
        let (body, _, _) =
            encoding_rs::SHIFT_JIS.encode("<meta charset=shift_jis><title>図書館</title><a href='/本'>");
        let page = read(&PageUrl::parse("http://a.example/").unwrap(), None, &body, "utsushi");
        assert_eq!(page.title, "図書館");
        assert_eq!(page.links[0].url.as_str(), "http://a.example/%E6%9C%AC");
    }
}
