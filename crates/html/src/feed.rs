//! The pages that a feed announces: RSS of every version, Atom, JSON Feed (C13).
//!
//! ```
//! let url = base::PageUrl::parse("http://a.example/feed")?;
//! let rss = b"<rss><channel><item><link>/news</link><pubDate>Tue, 31 Mar 2026 09:00:00 GMT</pubDate></item></channel></rss>";
//! let feed = html::feed::read(&url, None, rss).unwrap();
//! assert_eq!(feed.entries[0].url.as_str(), "http://a.example/news");
//! assert_eq!(feed.entries[0].published.unwrap().to_rfc3339(), "2026-03-31T09:00:00Z");
//! # Ok::<(), base::url::UrlError>(())
//! ```
//!
//! **Invariant:** any bytes are read in linear time (H9); at most [`ENTRIES_MAX`] entries are kept.

use crate::token::name::Attribute;
use crate::xml::{Element, Event, Field, Reader};
use crate::{ENTRIES_MAX, charset, date};
use base::{PageUrl, Timestamp};

mod json;

/// The contents of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// The announced pages, in order.
    pub entries: Vec<Announced>,
    /// The hub that pushes changes of this feed (`WebSub`).
    pub hub: Option<PageUrl>,
    /// Where older entries are.
    pub next: Option<PageUrl>,
}

/// A page that a feed announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The page.
    pub url: PageUrl,
    /// When it was published or last updated, whichever is later.
    pub published: Option<Timestamp>,
}

/// Reads a feed found at `url`; `None` if the bytes are not a feed.
#[must_use]
pub fn read(url: &PageUrl, content_type: Option<&str>, bytes: &[u8]) -> Option<Feed> {
    let text = charset::text(charset::find(content_type, bytes), bytes);
    if text.trim_start().starts_with('{') {
        return json::read(url, &text);
    }
    let mut reader = Reader::new(&text);
    let root = reader.root()?;
    is_feed(root).then(|| Walk::new(url).read(reader))
}

/// Whether the first element of a file is that of a feed.
pub(crate) fn is_feed(root: Element<'_>) -> bool {
    root.is("rss") || root.is("feed") || root.is("rdf")
}

/// The state in the middle of a feed.
struct Walk<'a> {
    url: &'a PageUrl,
    feed: Feed,
    entry: Option<Entry>,
    field: Field<Wanted>,
}

/// The entry that is open.
#[derive(Default)]
struct Entry {
    link: Option<PageUrl>,
    /// An identifier that may be a URL; used if there is no link.
    id: Option<PageUrl>,
    published: Option<Timestamp>,
}

/// The elements of an entry whose text matters.
#[derive(Clone, Copy)]
enum Wanted {
    Link,
    Id,
    Date,
}

impl<'a> Walk<'a> {
    fn new(url: &'a PageUrl) -> Self {
        Self { url, feed: Feed::default(), entry: None, field: Field::NONE }
    }

    fn read(mut self, mut reader: Reader<'_>) -> Feed {
        while let Some(event) = reader.next() {
            match event {
                Event::Start(element) if is_entry(element) => self.begin_entry(),
                Event::Start(element) => self.start(element, &reader),
                Event::Text(text) => self.field.push(&text),
                Event::End(element) if is_entry(element) => self.end_entry(),
                Event::End(_) => self.end_field(),
            }
            if self.feed.entries.len() >= ENTRIES_MAX {
                break;
            }
        }
        self.end_entry();
        self.feed
    }

    fn begin_entry(&mut self) {
        self.end_entry();
        self.entry = Some(Entry::default());
    }

    fn end_entry(&mut self) {
        self.end_field();
        let Some(Entry { link, id, published }) = self.entry.take() else { return };
        if let Some(url) = link.or(id) {
            self.feed.entries.push(Announced { url, published });
        }
    }

    fn start(&mut self, element: Element<'_>, reader: &Reader<'_>) {
        if element.is("link") {
            self.link(element, reader);
        } else if self.entry.is_some()
            && (element.is("guid") || element.is("id"))
            && element.prefix.is_empty()
        {
            self.field.begin(Wanted::Id);
        } else if self.entry.is_some()
            && ["pubDate", "date", "published", "updated", "modified", "issued"]
                .iter()
                .any(|name| element.is(name))
        {
            self.field.begin(Wanted::Date);
        }
    }

    /// An Atom link has its target in an attribute, an RSS link in its text.
    fn link(&mut self, element: Element<'_>, reader: &Reader<'_>) {
        let (href, rel) = (reader.attribute(Attribute::Href), reader.attribute(Attribute::Rel));
        if href.is_empty() {
            if element.prefix.is_empty() && self.entry.is_some() {
                self.field.begin(Wanted::Link);
            }
            return;
        }
        let target = self.url.join(href.trim()).ok();
        match (&mut self.entry, rel.trim()) {
            (Some(entry), "" | "alternate") => entry.link = entry.link.take().or(target),
            (None, "hub") => self.feed.hub = target,
            (None, "next") => self.feed.next = target,
            _ => {}
        }
    }

    fn end_field(&mut self) {
        let (Some((wanted, text)), Some(entry)) = (self.field.end(), &mut self.entry) else { return };
        match wanted {
            Wanted::Link if entry.link.is_none() && !text.is_empty() => entry.link = self.url.join(text).ok(),
            Wanted::Link => {}
            Wanted::Id => entry.id = PageUrl::parse(text).ok(),
            Wanted::Date => entry.published = entry.published.max(date::read(text)),
        }
    }
}

fn is_entry(element: Element<'_>) -> bool {
    element.prefix.is_empty() && (element.is("item") || element.is("entry"))
}
