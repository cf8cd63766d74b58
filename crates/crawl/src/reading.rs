//! What a body teaches: where it points to, what its text is like, what it is.

use crate::adult::adult;
use crate::filter::{Filter, Seen};
use archive::derived::Facts;
use base::PageUrl;
use base::door::Exchange;
use fetch::Decoded;
use frontier::{FoundUrl, Role};
use html::kind::Kind;
use html::{LinkKind, charset, feed, sitemap};
use std::sync::Arc;

/// As much of a page's text as its language is told by: more changes the verdict on hardly any page.
const LANGUAGE_BYTES: usize = 2 * 1024;

/// How bodies are read.
#[derive(Clone, Debug)]
pub struct Reads {
    /// What robots files and pages know us by.
    pub agent: Arc<str>,
    /// Whether what is needed to show a page is visited too.
    pub requisites: bool,
    /// What is not followed.
    pub filter: Arc<Filter>,
}

/// What a body teaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Where it points to, as far as its author lets us follow (C8).
    pub links: Vec<FoundUrl>,
    /// Hashes of links that are too long to be taken up (H10).
    pub too_long: Vec<u32>,
    /// The digest of its main text (C3); nothing when it has no text.
    pub main: Option<u64>,
    /// Hashes of its words and blocks of text, for telling whether there is anything new on it (H10).
    pub features: Vec<u32>,
    /// Why the filter does not want it; empty when it does (C13).
    pub filtered: String,
    /// What is worth remembering of it (D11); nothing when it was not read.
    pub facts: Option<Facts>,
}

impl Reads {
    /// Reads the body of an answer to a request for `url`.
    #[must_use]
    pub fn read(&self, url: &PageUrl, exchange: &Exchange, content: &Decoded<'_>) -> Reading {
        match content {
            Decoded::Whole(content) if (200..300).contains(&exchange.status) => {
                let asks = robots::exclusion(&exchange.response_head, &self.agent);
                self.read_content(url, exchange.field("content-type"), content, asks.nofollow)
            }
            _ => Reading::default(),
        }
    }
    /// Reads content whose codings are removed.
    #[must_use]
    pub fn read_content(
        &self,
        url: &PageUrl,
        content_type: Option<&str>,
        content: &[u8],
        nofollow: bool,
    ) -> Reading {
        let kind = html::kind::sniff(content_type, content);
        let mut reading = match kind {
            Kind::Page => self.read_page(url, content_type, content, nofollow),
            Kind::Feed => announced(url, content_type, content),
            Kind::Sitemap => listed(url, content),
            Kind::Text | Kind::Other(_) => self.read_requisite(url, &kind, content_type, content),
        };
        let facts = reading.facts.get_or_insert_default();
        facts.media_type = Some(kind.media_type().into());
        let language = facts.language.as_deref().and_then(lang::Language::parse);
        let seen = Seen { language, media_type: kind.media_type(), bytes: content.len() as u64 };
        if reading.filtered.is_empty() {
            reading.filtered = self.filter.judge(&seen);
        }
        if nofollow || !reading.filtered.is_empty() {
            reading.links.clear();
        }
        reading
    }
    fn read_page(
        &self,
        url: &PageUrl,
        content_type: Option<&str>,
        content: &[u8],
        nofollow: bool,
    ) -> Reading {
        let page = html::read(url, content_type, content, &self.agent);
        let hint = page.lang.as_deref().or_else(|| japanese(page.charset));
        let sample = &page.text.sample;
        let start = &sample[..sample.floor_char_boundary(LANGUAGE_BYTES)];
        let language = lang::detect(start, hint);
        let is_judged = self.filter.no_adult;
        let filtered = is_judged.then(|| adult(&page.title, &page.text.sample)).flatten().unwrap_or_default();
        let facts = Facts {
            language: language.map(|language| language.as_str().into()),
            media_type: None,
            title: (!page.title.is_empty()).then_some(page.title),
            text: (page.text.digest != 0).then_some(page.text.digest),
            main_text: (page.text.main != 0).then_some(page.text.main),
            charset: Some((page.charset.encoding.name().into(), page.charset.how.as_str().into())),
        };
        let mut features = page.text.blocks;
        features.extend(page.text.words);
        // The titles of a shop combine what its filters are set to, and these stand in queries.
        if page.text.title != 0 && url.as_url().query().is_none() {
            features.push(page.text.title);
        }
        let is_followed = !nofollow && !page.asks.nofollow;
        Reading {
            links: if is_followed { self.links(page.links) } else { Vec::new() },
            too_long: if is_followed { page.too_long } else { Vec::new() },
            main: facts.main_text,
            features,
            filtered,
            facts: Some(facts),
        }
    }
    /// Reads what a page shows, for what it needs itself: style sheets, and pictures in SVG.
    fn read_requisite(
        &self,
        url: &PageUrl,
        kind: &Kind,
        content_type: Option<&str>,
        content: &[u8],
    ) -> Reading {
        let links = match kind.media_type() {
            _ if !self.requisites => Vec::new(),
            "text/css" => html::style_sheet_links(url, content_type, content),
            // Some servers do not know the type, and browsers of old pages do not mind.
            "text/plain" | "application/octet-stream" if url.path().ends_with(".css") => {
                html::style_sheet_links(url, content_type, content)
            }
            "image/svg+xml" => html::read(url, content_type, content, &self.agent).links,
            _ => Vec::new(),
        };
        let requisites = links.into_iter().filter(|link| link.kind == LinkKind::Embed).collect();
        Reading { links: self.links(requisites), ..Reading::default() }
    }
    fn links(&self, links: Vec<html::Link>) -> Vec<FoundUrl> {
        let role = |link: &html::Link| match link.kind {
            LinkKind::Embed => self.requisites.then_some(Role::Requisite),
            LinkKind::Feed => Some(Role::Feed),
            _ => (!link.nofollow).then_some(Role::Page),
        };
        let found =
            |link: html::Link| role(&link).map(|role| FoundUrl { url: link.url, role, announced: None });
        links.into_iter().filter_map(found).collect()
    }
}

/// What an encoding of Japanese says of the language.
fn japanese(charset: charset::Found) -> Option<&'static str> {
    matches!(charset.encoding.name(), "Shift_JIS" | "EUC-JP" | "ISO-2022-JP").then_some("ja")
}

/// The pages that a feed announces.
fn announced(url: &PageUrl, content_type: Option<&str>, content: &[u8]) -> Reading {
    let Some(feed) = feed::read(url, content_type, content) else { return Reading::default() };
    let found =
        |entry: feed::Announced| FoundUrl { url: entry.url, role: Role::Page, announced: entry.published };
    let older = feed.next.map(|url| FoundUrl { url, role: Role::Page, announced: None });
    let links = feed.entries.into_iter().map(found).chain(older).collect();
    Reading { links, ..Reading::default() }
}
/// The pages and sitemaps that a sitemap lists.
fn listed(url: &PageUrl, content: &[u8]) -> Reading {
    let Some(sitemap) = sitemap::read(url, content) else { return Reading::default() };
    let page = |page: sitemap::Listed| FoundUrl { url: page.url, role: Role::Page, announced: page.modified };
    let more = |url: PageUrl| FoundUrl { url, role: Role::Sitemap, announced: None };
    let pages = sitemap.pages.into_iter().map(page);
    Reading { links: pages.chain(sitemap.sitemaps.into_iter().map(more)).collect(), ..Reading::default() }
}
