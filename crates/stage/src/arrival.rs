//! One capture on its way to the stages, with what is known of it, each part made when it is first asked for.

use crate::body::{BodyParser, Markup, ParsedBody};
use crate::error::Error;
use archive::{Checkpoint, Entry, Learned, Reader, Stored};
use base::{Capture, PageUrl, http};
use coding::Decoded;
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;

/// A capture that arrived in the archive: all stages get the same one.
///
/// During a crawl it is handed over as the visit left it, in memory; later it is read back from the archive. What it says is
/// the same both times. A part that is damaged in the archive is `None`, and the capture counts as damaged.
#[derive(Debug)]
pub struct Arrival<'a> {
    entry: Entry,
    source: Source<'a>,
    parser: &'a BodyParser,
    following: Option<&'a VecDeque<Entry>>,
    url: OnceCell<Option<PageUrl>>,
    visit: OnceCell<Option<Learned>>,
    note: OnceCell<Option<(String, String)>>,
    head: OnceCell<Vec<u8>>,
    content: OnceCell<Option<Vec<u8>>>,
    body: OnceCell<Option<ParsedBody>>,
    is_damaged: Cell<bool>,
}

/// Where the parts of an arrival come from.
#[derive(Debug)]
enum Source<'a> {
    Archive(&'a Reader),
    Visit(&'a Capture),
    Note,
}

impl<'a> Arrival<'a> {
    /// A capture that is read from the archive.
    #[must_use]
    pub fn archived(entry: Entry, reader: &'a Reader, parser: &'a BodyParser) -> Self {
        Self::new(entry, Source::Archive(reader), parser)
    }
    /// A capture that was archived as `entry` just now.
    #[must_use]
    pub fn visited(entry: Entry, capture: &'a Capture, parser: &'a BodyParser) -> Self {
        let arrival = Self::new(entry, Source::Visit(capture), parser);
        let learned = Learned::of(capture, &arrival.entry);
        fill(&arrival.visit, Some(learned));
        fill(&arrival.url, Some(capture.url.clone()));
        arrival
    }
    /// A note that was archived as `entry` just now.
    #[must_use]
    pub fn noted(entry: Entry, kind: &str, text: &str, parser: &'a BodyParser) -> Self {
        let arrival = Self::new(entry, Source::Note, parser);
        fill(&arrival.note, Some((kind.to_owned(), text.to_owned())));
        arrival
    }
    fn new(entry: Entry, source: Source<'a>, parser: &'a BodyParser) -> Self {
        Self {
            entry,
            source,
            parser,
            following: None,
            url: OnceCell::new(),
            visit: OnceCell::new(),
            note: OnceCell::new(),
            head: OnceCell::new(),
            content: OnceCell::new(),
            body: OnceCell::new(),
            is_damaged: Cell::new(false),
        }
    }

    /// With a body that was parsed when it came; `None` if it brought none. It is not parsed again.
    #[must_use]
    pub fn with_body(mut self, body: Option<ParsedBody>) -> Self {
        self.body = OnceCell::from(body);
        self
    }
    pub(crate) fn with_following(self, following: &'a VecDeque<Entry>) -> Self {
        Self { following: Some(following), ..self }
    }
    /// The parsed body, if it was parsed, for [`Arrival::with_body`] of another delivery.
    #[must_use]
    pub fn into_body(self) -> Option<ParsedBody> {
        self.body.into_inner().flatten()
    }

    /// The capture as the index has it, when nobody looks at the rest any more.
    #[must_use]
    pub fn into_entry(self) -> Entry {
        self.entry
    }

    /// The capture as the index has it.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }
    /// The position in the archive after it.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint::after(&self.entry)
    }
    /// What was requested; `None` when it is no visit to a web page.
    pub fn url(&self) -> Option<&PageUrl> {
        let parse = || PageUrl::parse(&self.entry.url).ok().filter(|_| self.entry.is_visit());
        self.url.get_or_init(parse).as_ref()
    }
    /// Captures that arrive next, as far as the runner looks ahead.
    pub fn following(&self) -> impl Iterator<Item = &Entry> {
        self.following.into_iter().flatten()
    }
    /// Whether a part of it was found damaged.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.get()
    }

    /// How the visit ended; `None` for what is no visit.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn visit(&self) -> Result<Option<&Learned>, Error> {
        if self.visit.get().is_none() {
            let learned = match &self.source {
                Source::Archive(reader) => self.pass_damage(reader.learned(&self.entry))?.flatten(),
                Source::Visit(_) | Source::Note => None,
            };
            fill(&self.visit, learned);
        }
        Ok(self.visit.get().and_then(Option::as_ref))
    }

    /// The kind and the text of a note; `None` for what is no note.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn note(&self) -> Result<Option<(&str, &str)>, Error> {
        if self.note.get().is_none() {
            let note = match &self.source {
                Source::Archive(reader) => self.pass_damage(reader.note(&self.entry))?.flatten(),
                Source::Visit(_) | Source::Note => None,
            };
            fill(&self.note, note);
        }
        let note = self.note.get().and_then(Option::as_ref);
        Ok(note.map(|(kind, text)| (kind.as_str(), text.as_str())))
    }

    /// The head of the answer with its empty line; empty when there was no answer.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn head(&self) -> Result<&[u8], Error> {
        if self.head.get().is_none() {
            let is_answer = matches!(self.entry.kind, Stored::Response | Stored::Revisit);
            let head = match &self.source {
                Source::Archive(reader) if is_answer => {
                    let record = self.pass_damage(reader.record(&self.entry))?;
                    record.map(|record| archive::split_answer(&record.block).0.to_vec())
                }
                Source::Visit(capture) => {
                    capture.exchange.as_ref().map(|exchange| exchange.response_head.clone())
                }
                Source::Archive(_) | Source::Note => None,
            };
            fill(&self.head, head.unwrap_or_default());
        }
        Ok(self.head.get().map_or(&[], Vec::as_slice))
    }

    /// The whole content with every coding removed; `None` when the body is incomplete, in a coding that cannot be removed,
    /// or damaged, and for an answer that brought an error or nothing.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn content(&self) -> Result<Option<&[u8]>, Error> {
        if self.content.get().is_none() {
            let content = if self.has_content() { self.read_content() } else { None };
            fill(&self.content, content);
        }
        Ok(self.content.get().and_then(Option::as_deref))
    }
    fn has_content(&self) -> bool {
        let is_success = self.entry.status.is_none_or(|status| (200..300).contains(&status));
        let has_body = matches!(self.entry.kind, Stored::Response | Stored::Revisit | Stored::Resource);
        is_success && has_body && !self.entry.truncated
    }
    fn read_content(&self) -> Option<Vec<u8>> {
        let whole = |decoded: Decoded<'_>| match decoded {
            Decoded::Whole(content) => Some(content.into_owned()),
            _ => None,
        };
        match &self.source {
            Source::Visit(capture) => whole(coding::content(capture.exchange.as_ref()?)),
            Source::Note => None,
            // A revisit may stand for bytes in another file. Whatever keeps us from them concerns this capture only.
            Source::Archive(reader) => match reader.document(&self.entry) {
                Ok(document) => {
                    let content = whole(document.content());
                    fill(&self.head, document.head);
                    content
                }
                Err(error) => {
                    self.count_damage(&error);
                    None
                }
            },
        }
    }

    /// The parsed body; `None` when there is no whole content.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn body(&self) -> Result<Option<&ParsedBody>, Error> {
        if self.body.get().is_none() {
            let body = match (self.url(), self.content()?) {
                (Some(url), Some(content)) => {
                    let content_type = http::field(self.head()?, "content-type");
                    Some(self.parser.parse(url, content_type, content))
                }
                _ => None,
            };
            fill(&self.body, body);
        }
        Ok(self.body.get().and_then(Option::as_ref))
    }

    /// The page, if the body is one.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn page(&self) -> Result<Option<&html::Page>, Error> {
        Ok(self.body()?.and_then(|body| match &body.markup {
            Markup::Page(page) => Some(&**page),
            _ => None,
        }))
    }

    /// What was read of the capture; nothing when that is damaged, which is counted.
    fn pass_damage<T>(&self, read: Result<T, archive::Error>) -> Result<Option<T>, Error> {
        match read {
            Err(error @ archive::Error::Damaged { .. }) => {
                self.count_damage(&error);
                Ok(None)
            }
            read => Ok(Some(read?)),
        }
    }
    fn count_damage(&self, error: &archive::Error) {
        if !self.is_damaged.replace(true) {
            tracing::warn!(url = %self.entry.url, %error, "a damaged capture is passed over");
        }
    }
}

/// Sets a cell that may be set already.
fn fill<T>(cell: &OnceCell<T>, value: T) {
    let _ = cell.set(value);
}
