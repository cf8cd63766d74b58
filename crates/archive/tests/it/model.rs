//! What an archive must hold, in plain maps: which captures are stored whole, what each visit saw, and which bytes it
//! refers to.

use archive::{Document, Entry, Error, Flag, Key, Reader, Stored};
use base::disk::Disk;
use base::{Capture, Outcome, Timestamp, http};
use flate2::read::GzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Identifies a content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Bytes(Vec<u8>),
    Redirect(String),
}

/// A body that a later 304 may stand for, and the head it came with.
#[derive(Clone, Debug)]
struct Whole {
    head: Vec<u8>,
    payload: Vec<u8>,
    content: Content,
}

/// One capture and what must be found of it.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) kind: Stored,
    flag: Flag,
    moves_within: bool,
    truncated: bool,
    /// The head and the bytes without their transfer coding; nothing for a visit without an answer.
    bytes: Option<(Vec<u8>, Vec<u8>)>,
    /// The body as received, where it is stored with the capture.
    body: Option<Vec<u8>>,
    told: Option<Option<Content>>,
    whole: Option<Whole>,
}

/// What was appended so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    stored: BTreeSet<(Vec<u8>, Content)>,
    /// By page, moment and arrival.
    pages: BTreeMap<(Key, Timestamp, usize), Expected>,
    count: usize,
}

impl Model {
    pub(crate) fn of(captures: &[Capture]) -> Vec<Expected> {
        let mut model = Self::default();
        captures.iter().map(|capture| model.append(capture)).collect()
    }

    /// Adds a capture.
    pub(crate) fn append(&mut self, capture: &Capture) -> Expected {
        let key: Key = capture.url.key().into();
        let expected = self.expect(capture, &key);
        self.pages.insert((key, capture.at, self.count), expected.clone());
        self.count += 1;
        expected
    }

    /// Everything in the order of the index.
    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = (&Key, Timestamp, &Expected)> {
        self.pages.iter().map(|((key, at, _), expected)| (key, *at, expected))
    }

    fn before<'m>(&'m self, key: &Key, at: Timestamp) -> impl Iterator<Item = &'m Expected> + use<'m> {
        let range = (key.clone(), Timestamp::MIN, 0)..=(key.clone(), at, usize::MAX);
        self.pages.range(range).rev().map(|(_, expected)| expected)
    }

    fn expect(&mut self, capture: &Capture, key: &Key) -> Expected {
        let mut expected = Expected {
            kind: Stored::Metadata,
            flag: Flag::Error,
            moves_within: false,
            truncated: false,
            bytes: None,
            body: None,
            told: None,
            whole: None,
        };
        let Some(exchange) = &capture.exchange else { return expected };
        let payload = exchange.payload().unwrap().into_owned();
        let head = exchange.response_head.clone();
        let content = content_of(capture, &payload);
        let latest = self.before(key, capture.at).find_map(|visit| visit.told.clone()).flatten();
        if exchange.status == 304 {
            expected.flag = Flag::Unchanged;
            let whole = self.before(key, capture.at).find_map(|visit| visit.whole.clone());
            expected.kind = if whole.is_some() { Stored::Revisit } else { Stored::Response };
            let (head, payload) = whole.clone().map_or((head, payload), |whole| (whole.head, whole.payload));
            expected.told = whole.as_ref().map(|whole| Some(whole.content.clone()));
            (expected.bytes, expected.whole) = (Some((head, payload)), whole);
            return expected;
        }
        expected.truncated = exchange.truncated.is_some();
        let may_refer = !expected.truncated && !payload.is_empty();
        // What may be referred to is stored once; the first of its kind is a response.
        let is_new = !may_refer || self.stored.insert((payload.clone(), content.clone()));
        expected.kind = if is_new { Stored::Response } else { Stored::Revisit };
        expected.body = is_new.then(|| exchange.body.read().unwrap().into_owned());
        let target = http::field(&head, "location").and_then(|to| capture.url.join(to).ok());
        expected.moves_within = target.is_some_and(|target| target.key() == capture.url.key());
        match exchange.status {
            404 | 410 => expected.told = Some(None),
            200..=399 => {
                let same = expected.moves_within || latest.as_ref() == Some(&content);
                expected.flag = if same { Flag::Unchanged } else { Flag::Changed };
                expected.told = (!expected.moves_within).then(|| Some(content.clone()));
            }
            _ => {}
        }
        let is_page = matches!(capture.outcome, Outcome::Fetched { .. }) && !expected.truncated;
        let whole = Whole { head: head.clone(), payload: payload.clone(), content };
        expected.whole = is_page.then_some(whole);
        expected.bytes = Some((head, payload));
        expected
    }
}

fn content_of(capture: &Capture, payload: &[u8]) -> Content {
    let exchange = capture.exchange.as_ref().unwrap();
    if let Some(location) = exchange.field("location") {
        let target =
            capture.url.join(location).map_or_else(|_| location.to_owned(), |to| to.as_str().to_owned());
        return Content::Redirect(format!("{} {target}", exchange.status));
    }
    let mut decoded = Vec::new();
    let is_gzip = exchange.field("content-encoding") == Some("gzip");
    if is_gzip && GzDecoder::new(payload).read_to_end(&mut decoded).is_ok() {
        return Content::Bytes(decoded);
    }
    Content::Bytes(payload.to_vec())
}

impl Expected {
    /// Compares what the index knows of the capture.
    pub(crate) fn check_entry(&self, entry: &Entry) -> Result<(), String> {
        let found = (entry.kind, entry.flag, entry.moves_within, entry.truncated);
        let expected = (self.kind, self.flag, self.moves_within, self.truncated);
        if found != expected {
            return Err(format!("{expected:?} is expected of {entry:?}"));
        }
        let has_body = entry.body.is_some() == (entry.kind == Stored::Revisit);
        if has_body { Ok(()) } else { Err(format!("where are its bytes? {entry:?}")) }
    }

    /// Compares what the archive returns.
    pub(crate) fn check_document(&self, document: &Document) -> Result<(), String> {
        let Some((head, payload)) = &self.bytes else { return Ok(()) };
        let is_same = *head == document.head && *payload == *document.payload();
        let is_same = is_same && self.body.as_ref().is_none_or(|body| *body == document.body);
        if is_same { Ok(()) } else { Err(format!("another document: {}", document.head.escape_ascii())) }
    }
}

/// Every entry of the index, oldest first, after comparing the index with what the files themselves say, and looking
/// up every page.
pub(crate) fn agreed(disk: &Arc<dyn Disk>, directory: &Path) -> Result<(Reader, Vec<Entry>), String> {
    let text = |error: Error| format!("{error}: {error:?}");
    let reader = Reader::open(Arc::clone(disk), directory).map_err(text)?;
    let mut indexed: Vec<Entry> = reader.all().map_err(text)?.collect::<Result<_, _>>().map_err(text)?;
    indexed.reverse();
    let listed = archive::list(&**disk, directory).map_err(text)?;
    let mut listed: Vec<Entry> = listed.collect::<Result<_, _>>().map_err(text)?;
    // A listing knows neither checksums nor where the bytes of revisits are.
    let bare = |entry: &Entry| Entry { sum: 0, body: None, ..entry.clone() };
    // Within a file, and files by their names: the order of arrival, which sorting keeps.
    listed.sort_by(|one, other| (&one.key, one.at).cmp(&(&other.key, other.at)));
    if let Some((one, other)) = indexed.iter().zip(&listed).find(|(one, other)| bare(one) != **other) {
        return Err(format!("the index says {one:?}, the files {other:?}"));
    }
    if indexed.len() != listed.len() || reader.count() != indexed.len() as u64 {
        return Err(format!("{} in the index, {} in the files", indexed.len(), listed.len()));
    }
    for page in indexed.chunk_by(|one, other| one.key == other.key) {
        let found = reader.newest_first(&page[0].key).map_err(text)?;
        let found: Vec<Entry> = found.collect::<Result<_, _>>().map_err(text)?;
        if !found.iter().rev().eq(page) {
            return Err(format!("the page `{}` has other versions when it is looked up", page[0].key));
        }
    }
    Ok((reader, indexed))
}
