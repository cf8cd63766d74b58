//! One pass over the tags of a page that collects everything.

use crate::anchor::AnchorText;
use crate::links::{Link, LinkKind, Links};
use crate::outline::{Builder, Outline};
use crate::reference::in_attribute;
use crate::source::SourceMap;
use crate::text::{Gather, PageText};
use crate::token::name::{Attribute, element};
use crate::token::{Name, Token, Tokenizer};
use crate::{charset, css, srcset, title};
use base::PageUrl;
use base::exclusion::Directives;
use std::borrow::Cow;

/// The contents of a page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The encoding and how it was found.
    pub charset: charset::DetectedCharset,
    /// The title, white space folded; empty if there is none.
    pub title: String,
    /// The language that the page declares, as written: `ja`, `en-GB`.
    pub lang: Option<String>,
    /// The links of the page in order, each target once per kind.
    pub links: Vec<Link>,
    /// Hashes of references to the page's own host that are too long to be valid URLs; at most a thousand.
    pub too_long: Vec<u32>,
    /// The directives of its `meta` elements for all robots and for our agent by name.
    pub asks: Directives,
    /// Its visible text.
    pub text: PageText,
}

/// Reads a page found at `url` with this `Content-Type`, as the robot `agent` (a product token).
#[must_use]
pub fn read(url: &PageUrl, content_type: Option<&str>, bytes: &[u8], agent: &str) -> Page {
    let domain = url.host().rsplit('.').next();
    let charset = charset::find_from(domain, content_type, bytes);
    let text = charset::text(charset, bytes);
    walk(url, charset, &text, agent).0
}

/// Reads a page as [`read`] does, and in the same pass its blocks with their positions.
#[must_use]
pub fn read_with_outline(
    url: &PageUrl,
    content_type: Option<&str>,
    bytes: &[u8],
    agent: &str,
) -> (Page, Outline) {
    let domain = url.host().rsplit('.').next();
    let charset = charset::find_from(domain, content_type, bytes);
    let text = charset::text(charset, bytes);
    let (mut walk, mut blocks) = (Walk::new(url, &text, agent), Builder::default());
    while let Some(token) = walk.tag.next() {
        blocks.step(token, &walk.tag);
        walk.step(token);
    }
    (walk.finish(charset), blocks.finish(SourceMap::new(charset, bytes, &text)))
}

/// Reads a decoded page; also returns how many bytes were read.
fn walk(url: &PageUrl, charset: charset::DetectedCharset, text: &str, agent: &str) -> (Page, usize) {
    let mut walk = Walk::new(url, text, agent);
    while let Some(token) = walk.tag.next() {
        walk.step(token);
    }
    let work = walk.tag.work;
    (walk.finish(charset), work)
}

/// The state in the middle of a page.
struct Walk<'a> {
    tag: Tokenizer<'a>,
    agent: &'a str,
    links: Links,
    text: Gather,
    anchor: AnchorText,
    title: Option<String>,
    lang: Option<String>,
    asks: Directives,
    /// The element whose raw text comes next.
    raw: u64,
}

impl<'a> Walk<'a> {
    fn new(url: &PageUrl, text: &'a str, agent: &'a str) -> Self {
        Self {
            tag: Tokenizer::html(text),
            agent,
            links: Links::of(url),
            text: Gather::default(),
            anchor: AnchorText::default(),
            title: None,
            lang: None,
            asks: Directives::default(),
            raw: 0,
        }
    }

    fn step(&mut self, token: Token<'a>) {
        match token {
            Token::Text(text) => {
                self.text.text(text);
                self.anchor.push(text);
            }
            Token::Raw(text) => self.raw_text(text),
            Token::Start(name) => self.start(name),
            Token::End(name) => {
                self.text.end(name);
                if name.key == element::A {
                    self.close_anchor();
                }
            }
        }
    }

    /// The text of the open link is complete.
    fn close_anchor(&mut self) {
        if let Some((link, text)) = self.anchor.close() {
            self.links.set_text(link, text);
        }
    }

    fn finish(mut self, charset: charset::DetectedCharset) -> Page {
        self.close_anchor();
        let (title, text) = (self.title.unwrap_or_default(), self.text.finish());
        let too_long = std::mem::take(&mut self.links.too_long);
        Page { charset, title, lang: self.lang, links: self.links.finish(), too_long, asks: self.asks, text }
    }

    fn start(&mut self, name: Name<'a>) {
        use element::*;
        self.raw = name.key;
        self.links.offset = self.tag.tag_at();
        self.text.start(name, &self.tag);
        self.decoration();
        match name.key {
            A => self.anchor(),
            AREA => drop(self.anchor_link()),
            FRAME | IFRAME => self.frame(),
            AUDIO | EMBED | IMG | INPUT | SCRIPT | SOURCE | TRACK | VIDEO => self.embedded(),
            FEIMAGE | IMAGE | USE => self.svg_image(),
            OBJECT => self.link(Attribute::Data, LinkKind::Embed),
            LINK => self.link_element(),
            BASE => self.base_element(),
            META => self.meta_element(),
            HTML => self.lang = self.lang.take().or_else(|| language(&self.value(Attribute::Lang))),
            _ => {}
        }
    }

    /// The value of an attribute of the open tag; empty if it is missing or implausibly long.
    fn value(&self, attribute: Attribute) -> Cow<'a, str> {
        let value = self.tag.attribute(attribute).filter(|value| value.len() <= VALUE_BYTES_MAX);
        in_attribute(value.unwrap_or_default())
    }

    fn link(&mut self, attribute: Attribute, kind: LinkKind) {
        self.links.add(&self.value(attribute), kind, false);
    }

    /// Links do not nest: one that opens ends the previous one.
    fn anchor(&mut self) {
        self.close_anchor();
        let link = self.anchor_link();
        self.anchor.open(link);
    }
    fn anchor_link(&mut self) -> Option<usize> {
        let nofollow =
            self.tag.attribute(Attribute::Rel).is_some() && has_word(&self.value(Attribute::Rel), "nofollow");
        self.links.add_anchor(&self.value(Attribute::Href), nofollow)
    }

    /// Attributes that any element may have: `style` and the old `background`.
    fn decoration(&mut self) {
        if self.tag.attribute(Attribute::Style).is_some() {
            css::add_references(&self.value(Attribute::Style), &mut self.links);
        }
        if self.tag.attribute(Attribute::Background).is_some() {
            self.link(Attribute::Background, LinkKind::Embed);
        }
    }

    /// A page inside the page; `data-src` is filled in by a script when it becomes visible.
    fn frame(&mut self) {
        self.link(Attribute::Src, LinkKind::Frame);
        self.link(Attribute::DataSrc, LinkKind::Frame);
    }

    /// Images, sounds and scripts; an image may have several sizes, and a script may fill it in later (`data-src`).
    fn embedded(&mut self) {
        for attribute in [Attribute::Src, Attribute::Poster, Attribute::DataSrc] {
            self.link(attribute, LinkKind::Embed);
        }
        self.sizes(Attribute::SrcSet);
        self.sizes(Attribute::DataSrcSet);
    }

    /// The files of a `srcset`.
    fn sizes(&mut self, attribute: Attribute) {
        let sizes = self.value(attribute);
        srcset::urls(&sizes).for_each(|url| self.links.add(url, LinkKind::Embed, false));
    }

    /// An image or a part of another file in SVG; HTML treats `image` as `img`.
    fn svg_image(&mut self) {
        for attribute in [Attribute::Href, Attribute::XlinkHref, Attribute::Src] {
            self.link(attribute, LinkKind::Embed);
        }
    }

    fn link_element(&mut self) {
        let rel = self.value(Attribute::Rel);
        let kind = if SHOWN_RELATIONS.iter().any(|word| has_word(&rel, word)) {
            self.sizes(Attribute::ImageSrcSet);
            LinkKind::Embed
        } else if has_word(&rel, "canonical") {
            LinkKind::Canonical
        } else if has_word(&rel, "alternate") {
            self.alternate()
        } else if PAGE_RELATIONS.iter().any(|word| has_word(&rel, word)) {
            LinkKind::Anchor
        } else {
            return;
        };
        self.link(Attribute::Href, kind);
    }

    /// The same page in another form, or the feed of its site.
    fn alternate(&self) -> LinkKind {
        const FEEDS: [&str; 4] =
            ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/json"];
        let value = self.value(Attribute::Type);
        let media_type = value.split(';').next().unwrap_or_default().trim_ascii();
        if FEEDS.iter().any(|feed| media_type.eq_ignore_ascii_case(feed)) {
            LinkKind::Feed
        } else if self.tag.attribute(Attribute::HrefLang).is_some() {
            LinkKind::Language
        } else {
            LinkKind::Alternate
        }
    }

    fn base_element(&mut self) {
        let href = self.value(Attribute::Href);
        if self.tag.attribute(Attribute::Href).is_some() {
            self.links.set_base(&href);
        }
    }

    fn meta_element(&mut self) {
        let (name, about) = (self.value(Attribute::Name), self.value(Attribute::HttpEquiv));
        let (name, about) = (name.trim_ascii(), about.trim_ascii());
        let is_for_us = name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(self.agent);
        if is_for_us && !name.is_empty() {
            self.asks = self.asks.and(Directives::of_meta(&self.value(Attribute::Content)));
        } else if about.eq_ignore_ascii_case("refresh") {
            let content = self.value(Attribute::Content);
            self.links.add(refresh_target(&content).unwrap_or_default(), LinkKind::Refresh, false);
        } else if about.eq_ignore_ascii_case("content-language") {
            self.lang = self.lang.take().or_else(|| language(&self.value(Attribute::Content)));
        }
    }

    /// The text of an element without markup: the first title counts.
    fn raw_text(&mut self, text: &str) {
        match self.raw {
            element::TITLE if self.title.is_none() => {
                let title = title::shown(text);
                self.text.title(&title);
                self.title = Some(title);
            }
            element::STYLE => css::add_references(text, &mut self.links),
            element => self.text.raw(element, text),
        }
    }
}

/// Relations of a `link` element to something that is needed to show the page.
const SHOWN_RELATIONS: [&str; 7] = [
    "stylesheet",
    "icon",
    "apple-touch-icon",
    "apple-touch-icon-precomposed",
    "mask-icon",
    "preload",
    "modulepreload",
];
/// Relations of a `link` element to another page of a series or of a manual.
const PAGE_RELATIONS: [&str; 21] = [
    "next",
    "prev",
    "previous",
    "up",
    "first",
    "last",
    "start",
    "begin",
    "end",
    "home",
    "top",
    "contents",
    "toc",
    "index",
    "chapter",
    "section",
    "subsection",
    "appendix",
    "glossary",
    "help",
    "copyright",
];

/// The maximum length of an attribute value: an image in twenty sizes.
const VALUE_BYTES_MAX: usize = 20 * base::limits::URL_BYTES_MAX;

fn has_word(value: &str, word: &str) -> bool {
    let separators = [' ', '\t', '\n', '\r', '\x0c', ','];
    value.split(separators).any(|found| found.eq_ignore_ascii_case(word))
}

/// A language tag, if it looks like one.
fn language(text: &str) -> Option<String> {
    let tag = text.split(',').next()?.trim_ascii();
    let fits =
        (2..=35).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    fits.then(|| tag.to_owned())
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
    use crate::{LINKS_MAX, TITLE_BYTES_MAX};

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
            &[("canonical", "http://a.example/p"), ("language", "http://a.example/en")],
        );
        check("<meta http-equiv=Refresh content=\"0; URL='/on'\">", &[("refresh", "http://a.example/on")]);
        check("<a href='?a=1&amp;b=2'>", &[("anchor", "http://a.example/dir/page?a=1&b=2")]);
    }

    #[test]
    fn a_link_has_the_text_of_its_first_anchor_and_its_position() {
        let long = "長い".repeat(200);
        let html = format!(
            "<p>é <a href=a> One\n <b>more</b>&amp;more </a>text<a href=b><img src=i></a><a href=a>again</a>\
             <a href=b>second</a><a href=c>no end <a href=d>{long}</a><area href=e><a href=f>open"
        );
        let page = page(&html);
        let texts: Vec<_> = page.links.iter().map(|link| (link.url.path(), &*link.anchor_text)).collect();
        let cut = "長い".repeat(200)[..255].to_owned();
        assert_eq!(
            texts,
            [
                ("/dir/a", "One more&more"),
                ("/dir/b", "second"),
                ("/dir/i", ""),
                ("/dir/c", "no end"),
                ("/dir/d", cut.as_str()),
                ("/dir/e", ""),
                ("/dir/f", "open"),
            ]
        );
        let tags: Vec<_> = page.links.iter().map(|link| &html[link.offset..link.offset + 4]).collect();
        assert_eq!(tags, ["<a h", "<a h", "<img", "<a h", "<a h", "<are", "<a h"]);
        assert!(page.links.is_sorted_by_key(|link| link.offset));
    }

    /// The requisites of a page, seen from its directory.
    #[track_caller]
    fn check_requisites(html: &str, expected: &[&str]) {
        let page = page(html);
        let requisites = page.links.iter().filter(|link| link.kind == LinkKind::Embed);
        let found: Vec<_> =
            requisites.filter_map(|link| link.url.as_str().strip_prefix("http://a.example/dir/")).collect();
        assert_eq!(found, expected, "{html}");
    }

    #[test]
    fn everything_that_is_needed_to_show_a_page_is_found() {
        check_requisites(
            "<img src=a srcset='b 1x, c 2x' data-src=d data-srcset='e 2x'>",
            &["a", "d", "b", "c", "e"],
        );
        check_requisites(
            "<picture><source srcset='a.webp, b.webp 2x'><img src=c></picture>",
            &["a.webp", "b.webp", "c"],
        );
        check_requisites("<link rel=preload as=image href=a imagesrcset='b 1x, c 2x'>", &["b", "c", "a"]);
        check_requisites(
            "<link rel=modulepreload href=a.js><link rel='alternate stylesheet' href=b.css><link rel=apple-touch-icon href=c>",
            &["a.js", "b.css", "c"],
        );
        check_requisites("<style>@import 'a.css'; b { background: url(c.png) }</style>", &["a.css", "c.png"]);
        check_requisites(
            "<p style='background: url(&quot;a.png&quot;)'><td style=\"x:url(b)\">",
            &["a.png", "b"],
        );
        check_requisites("<body background=a.gif><table background=b.gif>", &["a.gif", "b.gif"]);
        check_requisites(
            "<svg><image href=a.png /><image xlink:href=b.png /><use href='c.svg#x'/><use xlink:href='#y'/></svg>",
            &["a.png", "b.png", "c.svg"],
        );
        check_requisites(
            "<video src=a poster=b><source src=c><track src=d></video><audio src=e></audio>",
            &["a", "b", "c", "d", "e"],
        );
        check_requisites(
            "<object data=a></object><embed src=b><script src=c></script><input type=image src=d>",
            &["a", "b", "c", "d"],
        );
        check_requisites("<img src='data:image/png;base64,AAAA'><img src='#'>", &[]);
        check("<iframe data-src=/later>", &[("frame", "http://a.example/later")]);
    }

    #[test]
    fn the_pages_of_a_manual_are_linked_from_its_head() {
        check(
            "<link rel=up href=/m/><link rel=contents href=/toc>",
            &[("anchor", "http://a.example/m/"), ("anchor", "http://a.example/toc")],
        );
        check(
            "<link rel=search href=/s.xml><link rel=prefetch href=/p><link rel=dns-prefetch href=//b.example/>",
            &[],
        );
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
    fn links_that_are_too_long_are_told() {
        let text = format!(
            "<a href=/{0}>x</a><a href=/{0}>x</a><a href=/{0}y>x</a><a href=/ok><a href=//b.example/{0}>",
            "x".repeat(2_100)
        );
        let page = read(&PageUrl::parse("http://a.example/").unwrap(), None, text.as_bytes(), "utsushi");
        assert_eq!((page.links.len(), page.too_long.len()), (1, 2));
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
    fn survives_h8_hostile_shapes_in_linear_time() {
        let url = PageUrl::parse("http://a.example/dir/page").unwrap();
        for (name, html) in crate::hostile::shapes() {
            let (page, work) = walk(&url, charset::find(None, b""), &html, "utsushi");
            assert!(work <= 4 * html.len(), "{name}: {work} for {} bytes", html.len());
            assert!(page.links.len() <= LINKS_MAX && page.title.len() <= TITLE_BYTES_MAX, "{name}");
            assert!(page.text.sample.len() <= 8 * 1024, "{name}");
        }
    }

    #[test]
    fn what_stands_in_noscript_is_markup_and_in_noframes_is_not() {
        check("<noscript><img src=i></noscript>", &[("embed", "http://a.example/dir/i")]);
        check("<noframes><a href=x></noframes><a href=y>", &[("anchor", "http://a.example/dir/y")]);
    }

    #[test]
    fn a_link_is_followed_when_one_of_its_places_lets_us() {
        let page =
            page("<a href=x rel='ugc nofollow'><a href=./x><a rel=nofollow href=y><a rel=NOFOLLOW href=y>");
        assert_eq!(page.links.iter().map(|link| link.nofollow).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn the_language_is_what_the_page_claims() {
        let lang = |html: &str| page(html).lang;
        assert_eq!(lang("<html lang=ja>").as_deref(), Some("ja"));
        assert_eq!(
            lang("<meta http-equiv=content-language content='en-GB, fr'><p>").as_deref(),
            Some("en-GB")
        );
        assert_eq!(lang("<html lang=''><p lang=de>"), None);
        assert_eq!(lang("<html lang='no language'>"), None);
    }

    #[test]
    fn a_document_type_comments_and_odd_tags_say_nothing() {
        check(
            "<!DOCTYPE html '>'><!--><a href=1><!---><a href=2><!-- -- > --!><a href=3>",
            &[
                ("anchor", "http://a.example/dir/1"),
                ("anchor", "http://a.example/dir/2"),
                ("anchor", "http://a.example/dir/3"),
            ],
        );
        check(
            "<?php echo '<a href=1>'; ?><![CDATA[<a href=2>]]></a href=3></><//x><a/href=4/>",
            &[("anchor", "http://a.example/dir/4/")],
        );
        check(
            "<script><!-- <script> </script> <a href=1> --></script><a href=2>",
            &[("anchor", "http://a.example/dir/2")],
        );
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
