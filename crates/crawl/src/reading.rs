//! What a body teaches: where it points to, what its text is like, what it is.

use crate::filter::{Filter, Seen};
use base::PageUrl;
use base::door::Exchange;
use fetch::Decoded;
use frontier::{Found, Role};
use html::LinkKind;
use std::sync::Arc;

/// How bodies are read.
#[derive(Clone, Debug)]
pub struct Reads {
    /// What robots files and pages know us by.
    pub agent: Arc<str>,
    /// Whether what pages show is visited too.
    pub requisites: bool,
    /// What is not followed.
    pub filter: Arc<Filter>,
}

/// What a body teaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Where it points to, as far as its author lets us follow (C8).
    pub links: Vec<Found>,
    /// The digest of its main text (C3); nothing when it has no text.
    pub main: Option<u64>,
    /// Hashes of its blocks of text, for telling whether there is anything new on it (H10).
    pub blocks: Vec<u32>,
    /// Why the filter does not want it; empty when it does (C13).
    pub filtered: String,
}

impl Reads {
    /// Reads the body of an answer to a request for `url`.
    #[must_use]
    pub fn read(&self, url: &PageUrl, exchange: &Exchange, content: &Decoded<'_>) -> Reading {
        match content {
            Decoded::Whole(content) if (200..300).contains(&exchange.status) => {
                let asks = fetch::exclusion(&exchange.response_head, &self.agent);
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
        let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        let media_type = media_type.trim().to_ascii_lowercase();
        let bytes = content.len() as u64;
        if !matches!(media_type.as_str(), "text/html" | "application/xhtml+xml" | "") {
            let filtered = self.filter.judge(&Seen { language: None, media_type: &media_type, bytes });
            return Reading { filtered, ..Reading::default() };
        }
        let page = html::read(url, content_type, content, &self.agent);
        let language = lang::detect(&page.text.sample, page.lang.as_deref());
        let filtered = self.filter.judge(&Seen { language, media_type: &media_type, bytes });
        let is_followed = filtered.is_empty() && !nofollow && !page.asks.nofollow;
        let links = if is_followed { self.links(page.links) } else { Vec::new() };
        let main = (page.text.main != 0).then_some(page.text.main);
        Reading { links, main, blocks: page.text.blocks, filtered }
    }
    fn links(&self, links: Vec<html::Link>) -> Vec<Found> {
        let role = |link: &html::Link| match link.kind {
            LinkKind::Embed => self.requisites.then_some(Role::Requisite),
            LinkKind::Feed => Some(Role::Feed),
            _ => (!link.nofollow).then_some(Role::Page),
        };
        let found = |link: html::Link| role(&link).map(|role| Found { url: link.url, role, announced: None });
        links.into_iter().filter_map(found).collect()
    }
}
