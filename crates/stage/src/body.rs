//! A body, parsed once for all stages.

use base::PageUrl;
use html::charset::DetectedCharset;
use html::feed::{self, Feed};
use html::kind::BodyKind;
use html::sitemap::{self, Sitemap};
use html::{Link, LinkKind, Page};
use lang::Language;
use std::sync::Arc;

/// As much of a page's text as its language is detected from: more changes the result on hardly any page.
const LANGUAGE_BYTES_MAX: usize = 2 * 1024;

/// How bodies are parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyParser {
    /// The product token by which pages address us in their robots elements.
    pub agent: Arc<str>,
    /// Whether style sheets and SVG pictures are parsed for the files that they need.
    pub requisites: bool,
}

/// A body, parsed.
#[derive(Clone, Debug)]
pub struct ParsedBody {
    /// What it is, by its bytes and its `Content-Type`.
    pub kind: BodyKind,
    /// Its length with every coding removed.
    pub bytes: u64,
    /// The language of a page, if there is enough text to tell.
    pub language: Option<Language>,
    /// What it says.
    pub markup: Markup,
}

/// What a body says, by its kind.
#[derive(Clone, Debug)]
pub enum Markup {
    /// A page.
    Page(Box<Page>),
    /// A feed.
    Feed(Feed),
    /// A sitemap.
    Sitemap(Sitemap),
    /// The files that a style sheet or a picture needs.
    Requisites(Vec<Link>),
    /// Nothing that is parsed here.
    Nothing,
}

impl BodyParser {
    /// Parses content that was found at `url` with this `Content-Type`. Its codings are removed.
    #[must_use]
    pub fn parse(&self, url: &PageUrl, content_type: Option<&str>, content: &[u8]) -> ParsedBody {
        let kind = html::kind::sniff(content_type, content);
        let (mut language, bytes) = (None, content.len() as u64);
        let markup = match &kind {
            BodyKind::Page => {
                let page = html::read(url, content_type, content, &self.agent);
                language = language_of(&page);
                Markup::Page(Box::new(page))
            }
            BodyKind::Feed => feed::read(url, content_type, content).map_or(Markup::Nothing, Markup::Feed),
            BodyKind::Sitemap => sitemap::read(url, content).map_or(Markup::Nothing, Markup::Sitemap),
            BodyKind::Text | BodyKind::Other(_) => self.parse_requisite(url, &kind, content_type, content),
        };
        ParsedBody { kind, bytes, language, markup }
    }

    fn parse_requisite(
        &self,
        url: &PageUrl,
        kind: &BodyKind,
        content_type: Option<&str>,
        content: &[u8],
    ) -> Markup {
        let mut links = match kind.media_type() {
            _ if !self.requisites => return Markup::Nothing,
            "text/css" => html::style_sheet_links(url, content_type, content),
            // Some servers do not know the type, and browsers of old pages do not mind.
            "text/plain" | "application/octet-stream" if url.path().ends_with(".css") => {
                html::style_sheet_links(url, content_type, content)
            }
            "image/svg+xml" => html::read(url, content_type, content, &self.agent).links,
            _ => return Markup::Nothing,
        };
        links.retain(|link| link.kind == LinkKind::Embed);
        Markup::Requisites(links)
    }
}

/// The language of a page, if there is enough text to tell.
#[must_use]
pub fn language_of(page: &Page) -> Option<Language> {
    let hint = page.lang.as_deref().or_else(|| japanese(page.charset));
    let sample = &page.text.sample;
    let start = sample.get(..sample.floor_char_boundary(LANGUAGE_BYTES_MAX)).unwrap_or(sample);
    lang::detect(start, hint)
}

/// What a Japanese encoding says of the language.
fn japanese(charset: DetectedCharset) -> Option<&'static str> {
    matches!(charset.encoding.name(), "Shift_JIS" | "EUC-JP" | "ISO-2022-JP").then_some("ja")
}
