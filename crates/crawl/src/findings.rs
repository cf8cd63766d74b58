//! What the frontier and the derived table take from a parsed body.

use crate::adult::adult;
use crate::filter::{Filter, Seen};
use archive::derived::Facts;
use base::PageUrl;
use base::door::Exchange;
use fetch::Decoded;
use frontier::{FoundUrl, Role};
use html::LinkKind;
use html::feed::{Announced, Feed};
use html::sitemap::{Listed, Sitemap};
use stage::{BodyParser, Markup, ParsedBody};
use std::sync::Arc;

/// How bodies are read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The product token by which robots files and pages address us.
    pub agent: Arc<str>,
    /// Whether files that are needed to show a page are visited too.
    pub requisites: bool,
    /// Which pages are wanted; links of others are not followed.
    pub filter: Arc<Filter>,
}

/// What the frontier learns from a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Links that its author lets us follow (C8).
    pub links: Vec<FoundUrl>,
    /// Hashes of links that are too long to be followed (H10).
    pub too_long: Vec<u32>,
    /// The digest of its main text (C3); `None` when it has no text.
    pub main: Option<u64>,
    /// Hashes of its words and blocks of text, which show whether it has anything new (H10).
    pub features: Vec<u32>,
    /// Why the filter rejects it; empty if it does not (C13).
    pub filtered: String,
}

impl ReadOptions {
    /// What parses bodies.
    #[must_use]
    pub fn parser(&self) -> BodyParser {
        BodyParser { agent: Arc::clone(&self.agent), requisites: self.requisites }
    }
    /// Parses the body of an answer to a request for `url`; `None` for an error and for incomplete content.
    #[must_use]
    pub fn parse(&self, url: &PageUrl, exchange: &Exchange, content: &Decoded<'_>) -> Option<ParsedBody> {
        match content {
            Decoded::Whole(content) if (200..300).contains(&exchange.status) => {
                Some(self.parser().parse(url, exchange.field("content-type"), content))
            }
            _ => None,
        }
    }

    /// What the frontier learns from the body of an answer with this head.
    #[must_use]
    pub fn findings(&self, url: &PageUrl, head: &[u8], body: Option<&ParsedBody>) -> Findings {
        let Some(body) = body else { return Findings::default() };
        let nofollow = robots::exclusion(head, &self.agent).nofollow;
        let mut findings = match &body.markup {
            Markup::Page(page) => self.of_page(url, page, nofollow),
            Markup::Feed(feed) => Findings { links: announced(feed), ..Findings::default() },
            Markup::Sitemap(sitemap) => Findings { links: listed(sitemap), ..Findings::default() },
            Markup::Requisites(links) => Findings { links: self.links(links), ..Findings::default() },
            Markup::Nothing => Findings::default(),
        };
        if findings.filtered.is_empty() {
            let (language, media_type) = (body.language, body.kind.media_type());
            findings.filtered = self.filter.judge(&Seen { language, media_type, bytes: body.bytes });
        }
        if nofollow || !findings.filtered.is_empty() {
            findings.links.clear();
        }
        findings
    }

    fn of_page(&self, url: &PageUrl, page: &html::Page, nofollow: bool) -> Findings {
        let text = &page.text;
        let is_judged = self.filter.no_adult;
        let filtered = is_judged.then(|| adult(&page.title, &text.sample)).flatten().unwrap_or_default();
        let mut features = Vec::with_capacity(text.blocks.len() + text.words.len() + 1);
        features.extend_from_slice(&text.blocks);
        features.extend_from_slice(&text.words);
        // Titles of a shop's pages combine the values of its filters, which are in queries.
        if text.title != 0 && url.as_url().query().is_none() {
            features.push(text.title);
        }
        let is_followed = !nofollow && !page.asks.nofollow;
        Findings {
            links: if is_followed { self.links(&page.links) } else { Vec::new() },
            too_long: if is_followed { page.too_long.clone() } else { Vec::new() },
            main: (text.main != 0).then_some(text.main),
            features,
            filtered,
        }
    }

    fn links(&self, links: &[html::Link]) -> Vec<FoundUrl> {
        let role = |link: &html::Link| match link.kind {
            LinkKind::Embed => self.requisites.then_some(Role::Requisite),
            LinkKind::Feed => Some(Role::Feed),
            _ => (!link.nofollow).then_some(Role::Page),
        };
        let found = |link: &html::Link| {
            role(link).map(|role| FoundUrl { url: link.url.clone(), role, announced: None })
        };
        links.iter().filter_map(found).collect()
    }
}

/// The facts about a body for the derived table (D11).
#[must_use]
pub fn facts(body: &ParsedBody) -> Facts {
    let media_type = Some(body.kind.media_type().into());
    let Markup::Page(page) = &body.markup else { return Facts { media_type, ..Facts::default() } };
    let digest = |digest: u64| (digest != 0).then_some(digest);
    Facts {
        language: body.language.map(|language| language.as_str().into()),
        media_type,
        title: (!page.title.is_empty()).then(|| page.title.clone()),
        text: digest(page.text.digest),
        main_text: digest(page.text.main),
        charset: Some((page.charset.encoding.name().into(), page.charset.how.as_str().into())),
    }
}

/// The pages that a feed announces.
fn announced(feed: &Feed) -> Vec<FoundUrl> {
    let found =
        |entry: &Announced| FoundUrl { url: entry.url.clone(), role: Role::Page, announced: entry.published };
    let older = feed.next.iter().map(|url| FoundUrl { url: url.clone(), role: Role::Page, announced: None });
    feed.entries.iter().map(found).chain(older).collect()
}
/// The pages and sitemaps that a sitemap lists.
fn listed(sitemap: &Sitemap) -> Vec<FoundUrl> {
    let page = |page: &Listed| FoundUrl { url: page.url.clone(), role: Role::Page, announced: page.modified };
    let more = |url: &PageUrl| FoundUrl { url: url.clone(), role: Role::Sitemap, announced: None };
    sitemap.pages.iter().map(page).chain(sitemap.sitemaps.iter().map(more)).collect()
}
