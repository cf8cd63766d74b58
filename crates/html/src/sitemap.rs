//! The entries of a sitemap: pages, news, other sitemaps; XML or plain text, compressed by gzip or not (C13).
//!
//! ```
//! let url = base::PageUrl::parse("http://a.example/sitemap.xml")?;
//! let xml = b"<urlset><url><loc>http://a.example/x</loc><lastmod>2026-03-31</lastmod></url></urlset>";
//! let sitemap = html::sitemap::read(&url, xml).unwrap();
//! assert_eq!(sitemap.pages[0].url.as_str(), "http://a.example/x");
//! # Ok::<(), base::url::UrlError>(())
//! ```
//!
//! **Invariant:** any bytes are read in linear time (H9), decompressed within the limits of every body (H5), and at most
//! [`ENTRIES_MAX`] pages and sitemaps are kept.
//!
//! Not here: whether a sitemap may list pages of other servers.

use crate::xml::{Element, Event, Field, Reader};
use crate::{ENTRIES_MAX, charset, date, gzip};
use base::{PageUrl, Timestamp};

/// The contents of a sitemap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// The listed pages, in order.
    pub pages: Vec<Listed>,
    /// The listed sitemaps.
    pub sitemaps: Vec<PageUrl>,
}

/// A page that a sitemap lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The page.
    pub url: PageUrl,
    /// When it last changed, as declared; for news, at least when it was published.
    pub modified: Option<Timestamp>,
    /// It is listed as news.
    pub is_news: bool,
}

/// Reads a sitemap found at `url`; `None` if the bytes are not a sitemap.
#[must_use]
pub fn read(url: &PageUrl, bytes: &[u8]) -> Option<Sitemap> {
    let bytes = gzip::unpacked(bytes)?;
    let text = charset::text(charset::find(None, &bytes), &bytes);
    if !text.trim_start().starts_with('<') {
        return plain(&text);
    }
    let mut reader = Reader::new(&text);
    let root = reader.root()?;
    is_sitemap(root).then(|| Walk::new(url, root.prefix).read(reader))
}

/// Whether the first element of a file is that of a sitemap.
pub(crate) fn is_sitemap(root: Element<'_>) -> bool {
    root.is("urlset") || root.is("sitemapindex")
}

/// One URL per line; if the first line is not a URL, the file is not a sitemap.
fn plain(text: &str) -> Option<Sitemap> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    PageUrl::parse(lines.peek()?).ok()?;
    let listed = |line| PageUrl::parse(line).ok().map(|url| Listed { url, modified: None, is_news: false });
    Some(Sitemap { pages: lines.filter_map(listed).take(ENTRIES_MAX).collect(), sitemaps: Vec::new() })
}

/// The state in the middle of a sitemap.
struct Walk<'a> {
    url: &'a PageUrl,
    /// The prefix of the elements of the sitemap itself: `image:loc` is not a page.
    prefix: &'a str,
    found: Sitemap,
    location: Option<PageUrl>,
    modified: Option<Timestamp>,
    is_news: bool,
    field: Field<Wanted>,
}

/// The elements whose text matters.
#[derive(Clone, Copy)]
enum Wanted {
    Location,
    Date,
}

impl<'a> Walk<'a> {
    fn new(url: &'a PageUrl, prefix: &'a str) -> Self {
        Self {
            url,
            prefix,
            found: Sitemap::default(),
            location: None,
            modified: None,
            is_news: false,
            field: Field::NONE,
        }
    }

    fn read(mut self, mut reader: Reader<'_>) -> Sitemap {
        while let Some(event) = reader.next() {
            match event {
                Event::Start(element) => self.start(element),
                Event::Text(text) => self.field.push(&text),
                Event::End(element) => self.end(element),
            }
            if self.found.pages.len() >= ENTRIES_MAX || self.found.sitemaps.len() >= ENTRIES_MAX {
                break;
            }
        }
        self.found
    }

    fn start(&mut self, element: Element<'_>) {
        let is_own = element.prefix == self.prefix;
        if is_own && (element.is("url") || element.is("sitemap")) {
            (self.location, self.modified, self.is_news) = (None, None, false);
        } else if is_own && element.is("loc") {
            self.field.begin(Wanted::Location);
        } else if is_own && element.is("lastmod") || element.is("publication_date") {
            self.field.begin(Wanted::Date);
        } else if element.is("news") {
            self.is_news = true;
        }
    }

    fn end(&mut self, element: Element<'_>) {
        match self.field.end() {
            Some((Wanted::Location, text)) if !text.is_empty() => self.location = self.url.join(text).ok(),
            Some((Wanted::Date, text)) => self.modified = self.modified.max(date::read(text)),
            _ => {}
        }
        if element.prefix == self.prefix {
            self.end_entry(element);
        }
    }

    fn end_entry(&mut self, element: Element<'_>) {
        if element.is("sitemap") {
            self.found.sitemaps.extend(self.location.take());
        } else if element.is("url")
            && let Some(url) = self.location.take()
        {
            self.found.pages.push(Listed { url, modified: self.modified, is_news: self.is_news });
        }
    }
}
