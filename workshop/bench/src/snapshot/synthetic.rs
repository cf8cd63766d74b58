//! The histories of many pages as a crawl of several years leaves them, without the archive.
//!
//! Servers are of very different sizes, and so are histories: most pages are seen once or twice, few very often. A
//! visit finds the page changed, unchanged by its server's word or by its bytes, moved, gone, failing, or gets no answer.
//! Everything follows from the seed, so the same histories are made again wherever they are compared.

use anyhow::{Context, Result};
use archive::{ContentKey, Entry, Flag, Key, Location, Reader, Stored};
use base::{Chance, Sha1Digest, Timestamp};
use std::sync::Arc;

/// The archive files that the captures are spread over, one after the other in time.
const FILES: u64 = 40;
/// How long such a file is.
const FILE_BYTES: u64 = 2 << 30;
/// When the crawl begins.
pub(crate) const START: Timestamp = Timestamp::from_seconds(1_577_836_800).expect("1 January 2020");
/// When it ends.
pub(crate) const END: Timestamp = Timestamp::from_seconds(1_793_491_200).expect("1 November 2026");
const WORDS: [&str; 24] = [
    "news", "blog", "article", "2024", "2025", "images", "about", "products", "shop", "archive", "category",
    "tag", "topics", "docs", "forum", "thread", "user", "en", "ja", "static", "press", "library", "events",
    "item",
];
const DOMAINS: [&str; 12] =
    ["com", "com", "com", "jp,co", "jp", "jp,ac", "org", "net", "de", "jp,ne", "fr", "uk,co"];
const TYPES: [&str; 8] = [
    "text/html",
    "text/html",
    "text/html",
    "text/html",
    "image/jpeg",
    "application/pdf",
    "image/png",
    "text/css",
];

/// How many versions of how many pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) pages: u64,
    pub(crate) versions: u64,
}

impl Size {
    /// What an index was made of, in a line. It changes when what is made here changes.
    pub(crate) fn describe(self) -> String {
        format!("histories 2, {} versions of {} pages in {FILES} files\n", self.versions, self.pages)
    }
}

/// Makes the entries of all pages in the order of the index.
#[derive(Debug)]
pub(crate) struct Histories {
    size: Size,
    servers: std::vec::IntoIter<Server>,
    /// The pages of the present server, the first last.
    pages: Vec<(String, u64)>,
    /// The visits of the present page, the first last.
    visits: Vec<Entry>,
    files: Vec<Arc<str>>,
    types: Vec<Arc<str>>,
    weights: Weights,
}

#[derive(Debug)]
struct Server {
    key: String,
    seed: u64,
    pages: u64,
}

impl Histories {
    pub(crate) fn new(size: Size) -> Self {
        let file = |number: u64| {
            let at = START.as_seconds() + (END.as_seconds() - START.as_seconds()) / 40 * number.cast_signed();
            let stamp = Timestamp::from_seconds(at).map(Timestamp::to_stamp).unwrap_or_default();
            Arc::from(format!("utsushi-{stamp}000000-{number:06}.warc.gz"))
        };
        Self {
            size,
            servers: servers(size.pages).into_iter(),
            pages: Vec::new(),
            visits: Vec::new(),
            files: (0..FILES).map(file).collect(),
            types: TYPES.iter().map(|name| Arc::from(*name)).collect(),
            weights: Weights::of(size),
        }
    }

    /// The keys of all pages, in order.
    pub(crate) fn keys(size: Size) -> impl Iterator<Item = String> {
        servers(size.pages)
            .into_iter()
            .flat_map(|server| server.paths().into_iter().rev().map(|(key, _)| key))
    }

    fn next_page(&mut self) -> Option<()> {
        while self.pages.is_empty() {
            self.pages = self.servers.next()?.paths();
        }
        let (key, seed) = self.pages.pop()?;
        let visits = self.weights.next_share();
        self.visits = self.history(&key, seed, visits);
        self.visits.reverse();
        Some(())
    }

    /// The visits of one page, oldest first.
    fn history(&self, key: &str, seed: u64, count: u64) -> Vec<Entry> {
        let mut chance = Chance::of(&[seed, 2]);
        let (start, end) = (START.as_micros().cast_unsigned(), END.as_micros().cast_unsigned());
        let first = start + chance.below((end - start) / 10 * 9);
        let step = (end - first) / count;
        let page = Page {
            key: Key::from_stored(key),
            url: url(key, &mut chance),
            media_type: Arc::clone(&self.types[chance.index(TYPES.len())]),
        };
        let mut stored: Option<Entry> = None;
        let mut entries: Vec<Entry> = Vec::new();
        for number in 0..count {
            let at = (first + step * number + chance.below(step.max(1))).cast_signed();
            let at = Timestamp::from_micros(at).unwrap_or(END);
            let entry = page.visit(at, stored.as_ref(), self.location(at, &mut chance), &mut chance);
            if entry.kind == Stored::Response && entry.flag != Flag::Error {
                stored = Some(entry.clone());
            }
            entries.push(entry);
        }
        entries
    }

    /// A place in the file that grew at that time.
    fn location(&self, at: Timestamp, chance: &mut Chance) -> Location {
        let share =
            (at.as_micros() - START.as_micros()) as f64 / (END.as_micros() - START.as_micros()) as f64;
        let offset = share * (FILES * FILE_BYTES) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a size")]
        let offset = (offset as u64).min(FILES * FILE_BYTES - 1);
        let file = usize::try_from(offset / FILE_BYTES).unwrap_or(0);
        Location {
            file: Arc::clone(&self.files[file]),
            offset: offset % FILE_BYTES,
            length: 3_000 + chance.below(24_000),
        }
    }
}

impl Iterator for Histories {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while self.visits.is_empty() {
            self.next_page()?;
        }
        self.visits.pop()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, usize::try_from(self.size.versions).ok())
    }
}

/// What the visits of a page have in common.
struct Page {
    key: Key,
    url: String,
    media_type: Arc<str>,
}

impl Page {
    /// One visit, when `stored` is the last that brought a body.
    fn visit(&self, at: Timestamp, stored: Option<&Entry>, location: Location, chance: &mut Chance) -> Entry {
        let length = location.length;
        let mut entry = Entry {
            key: self.key.clone(),
            url: self.url.clone(),
            at,
            kind: Stored::Response,
            flag: Flag::Changed,
            status: Some(200),
            media_type: Arc::clone(&self.media_type),
            payload: Some(digest(chance)),
            content: Some(ContentKey(sixteen(chance))),
            truncated: chance.happens(0.002),
            moves_within: false,
            location,
            group_bytes: length + 450 + chance.below(300),
            body: None,
            sum: u32::try_from(chance.bits() >> 32).unwrap_or_default(),
        };
        let drawn = chance.below(100);
        match (drawn, stored) {
            (0..34, Some(stored)) => revisit(&mut entry, stored, 200, chance),
            (34..58, Some(stored)) => revisit(&mut entry, stored, 304, chance),
            (90..94, _) => fail(&mut entry, 404, chance),
            (94..96, _) => fail(&mut entry, 503, chance),
            (96..98, _) => {
                (entry.kind, entry.flag, entry.status) = (Stored::Metadata, Flag::Error, None);
                (entry.payload, entry.content, entry.media_type) = (None, None, Arc::from(""));
                shorten(&mut entry, 400, chance);
                entry.group_bytes = entry.location.length;
            }
            (98..100, _) => {
                entry.status = Some(*chance.pick(&[301, 302]));
                shorten(&mut entry, 700, chance);
            }
            _ => {}
        }
        entry
    }
}

fn revisit(entry: &mut Entry, stored: &Entry, status: u16, chance: &mut Chance) {
    (entry.kind, entry.flag, entry.status) = (Stored::Revisit, Flag::Unchanged, Some(status));
    (entry.payload, entry.content) = (stored.payload, stored.content);
    entry.body = Some(stored.location.clone());
    entry.truncated = false;
    shorten(entry, 600, chance);
}

fn fail(entry: &mut Entry, status: u16, chance: &mut Chance) {
    (entry.flag, entry.status) = (Flag::Error, Some(status));
    shorten(entry, 900, chance);
}

fn shorten(entry: &mut Entry, bytes: u64, chance: &mut Chance) {
    entry.location.length = bytes + chance.below(200);
    entry.group_bytes = entry.location.length + 450 + chance.below(300);
}

fn digest(chance: &mut Chance) -> Sha1Digest {
    let mut bytes = [0; 20];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&chance.bits().to_le_bytes()[..chunk.len()]));
    Sha1Digest::from_bytes(bytes)
}

fn sixteen(chance: &mut Chance) -> [u8; 16] {
    (u128::from(chance.bits()) << 64 | u128::from(chance.bits())).to_be_bytes()
}

/// The URL of a key; one in twenty was asked for in another spelling.
fn url(key: &str, chance: &mut Chance) -> String {
    let (server, path) = key.split_once(')').unwrap_or((key, "/"));
    let host = server.rsplit(',').collect::<Vec<_>>().join(".");
    let scheme = if chance.happens(0.8) { "https" } else { "http" };
    let session =
        if chance.happens(0.05) { format!(";jsessionid={:016X}", chance.bits()) } else { String::new() };
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    format!("{scheme}://{host}{path}{session}{query}")
}

/// Servers in the order of their keys; their sizes are Pareto distributed.
fn servers(pages: u64) -> Vec<Server> {
    let mut chance = Chance::new(11);
    let mut servers: Vec<Server> = Vec::new();
    let mut left = pages;
    while left > 0 {
        let number = servers.len();
        let domain = format!("{},{}{number}", chance.pick(&DOMAINS), chance.pick(&WORDS));
        let key = if chance.happens(0.5) { format!("{domain},www)") } else { format!("{domain})") };
        let pages = heavy(&mut chance, 1.0, 10_000.0).saturating_mul(5).min(left);
        servers.push(Server { key, seed: chance.bits(), pages });
        left -= pages;
    }
    servers.sort_by(|one, other| one.key.cmp(&other.key));
    servers
}

impl Server {
    /// The keys of its pages, the last first, each with a seed.
    fn paths(&self) -> Vec<(String, u64)> {
        let mut chance = Chance::new(self.seed);
        let mut paths: Vec<(String, u64)> =
            (0..self.pages).map(|number| (self.path(number, &mut chance), chance.bits())).collect();
        paths.sort_by(|one, other| other.0.cmp(&one.0));
        paths
    }
    fn path(&self, number: u64, chance: &mut Chance) -> String {
        if number == 0 {
            return format!("{}/", self.key);
        }
        let mut key = self.key.clone();
        for _ in 0..=chance.below(3) {
            key.push('/');
            key.push_str(chance.pick::<&str>(&WORDS));
        }
        let name = match chance.below(5) {
            0 => format!("/?id={number}"),
            1 => format!("/list.php?page={number}&sort=date"),
            2 => format!("/{number}"),
            _ => format!("/{}-{}-{number}.html", chance.pick(&WORDS), chance.pick(&WORDS)),
        };
        key + &name
    }
}

/// A number from 1 on, of which few are large.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies in 1..=most")]
fn heavy(chance: &mut Chance, exponent: f64, most: f64) -> u64 {
    (1.0 - chance.unit()).powf(-exponent.recip()).min(most) as u64
}

/// Deals out the versions to the pages: one to each, and the rest by weights of which few are large.
#[derive(Debug)]
struct Weights {
    chance: Chance,
    total: u64,
    sum: u64,
    given: u64,
    rest: u64,
}

impl Weights {
    fn of(size: Size) -> Self {
        let mut chance = Chance::new(5);
        let total = (0..size.pages).map(|_| weight(&mut chance)).sum::<u64>().max(1);
        Self { chance: Chance::new(5), total, sum: 0, given: 0, rest: size.versions - size.pages }
    }
    fn next_share(&mut self) -> u64 {
        self.sum += weight(&mut self.chance);
        let until =
            u64::try_from(u128::from(self.rest) * u128::from(self.sum) / u128::from(self.total)).unwrap_or(0);
        1 + until - std::mem::replace(&mut self.given, until)
    }
}

fn weight(chance: &mut Chance) -> u64 {
    heavy(chance, 1.1, 500.0) - 1
}

/// Makes the index below `directory`, unless it is there already.
pub(crate) fn ensure_index(directory: &std::path::Path, size: Size) -> Result<()> {
    let note = directory.join("made-of.txt");
    let disk = Arc::new(base::disk::RealDisk);
    let is_made_of_it = std::fs::read_to_string(&note).is_ok_and(|text| text == size.describe());
    // One in another format is rebuilt.
    if is_made_of_it
        && Reader::open(disk.clone(), directory).is_ok_and(|reader| reader.count() == size.versions)
    {
        return Ok(());
    }
    if directory.exists() {
        std::fs::remove_dir_all(directory)
            .with_context(|| format!("cannot remove `{}`", directory.display()))?;
    }
    eprintln!("making an index of {} versions in `{}`", size.versions, directory.display());
    archive::rig::write_index(disk, directory, size.pages, Histories::new(size))?;
    std::fs::write(&note, size.describe()).with_context(|| format!("cannot write `{}`", note.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_are_in_order_and_as_many_as_asked() {
        let size = Size { pages: 3_000, versions: 10_000 };
        let entries: Vec<Entry> = Histories::new(size).collect();
        assert_eq!(entries.len(), 10_000);
        assert!(entries.is_sorted_by(|one, other| (&one.key, one.at) <= (&other.key, other.at)));
        let mut keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        keys.dedup();
        assert!(keys.iter().copied().eq(Histories::keys(size)));
        assert_eq!(keys.len(), 3_000);
        for flag in Flag::ALL {
            assert!(entries.iter().filter(|entry| entry.flag == flag).count() > 500, "{flag:?}");
        }
    }

    #[test]
    fn the_key_of_a_url_is_that_of_its_page() {
        let entries = Histories::new(Size { pages: 500, versions: 500 });
        for entry in entries {
            assert_eq!(Key::of(&entry.url), entry.key, "{}", entry.url);
        }
    }
}
