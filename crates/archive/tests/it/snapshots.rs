//! Snapshots of real archives beside the [`oracle`]: stored, indexed, merged, walked, chosen.
//!
//! The pages of an archive are visited in the order of arrival, which is not always that of time, as with imports. The
//! oracle reads what the writer returned for each capture; the result it is compared with has gone through files, runs
//! and merges. Which pages a scope holds is decided here by their URLs, not by their keys.

use crate::captures::{self, DIRECTORY, START};
use crate::oracle::{Seen, oracle, random_history, random_questions};
use archive::{
    Archive, Asked, ContentKey, Entry, Key, Reader, Recipe, Relation, Scope, Settings, Stored, Version, What,
};
use base::disk::SimulatedDisk;
use base::{Capture, Chance, Outcome, PageUrl, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The pages of an archive: servers that share parts of their names, paths that begin each other.
const PAGES: [&str; 24] = [
    "http://example.org/",
    "http://example.org/a",
    "http://example.org/a/",
    "http://example.org/a/b",
    "http://example.org/ab",
    "http://example.org/a?b=c",
    "http://example.org:8080/",
    "http://example.org:8080/a/b",
    "http://www.example.org/",
    "http://www.example.org/a/b/c",
    "http://www.example.org:8080/a",
    "http://deep.www.example.org/a",
    "http://example.org.uk/a",
    "http://example.orgs.net/a",
    "http://other-example.org/a",
    "http://example.net/",
    "http://example.net/%E5%86%99%E3%81%97",
    "http://example.net/%E5%86%99",
    "http://a.example.co.jp/x",
    "http://b.example.co.jp/x",
    "http://127.0.0.1/a",
    "http://127.0.0.1:81/a",
    "http://[::1]/a",
    "http://zz.example/~user/",
];

/// A scope as it is asked for, and which URLs it means.
struct Wanted {
    asked: fn(Asked) -> Asked,
    holds: fn(&PageUrl) -> bool,
}

fn site(asked: Asked, text: &str) -> Asked {
    Asked { site: Some(Scope::site(text).unwrap()), ..asked }
}

fn prefix(asked: Asked, text: &str) -> Asked {
    Asked { prefix: Some(Scope::prefix(text).unwrap()), ..asked }
}

fn rest(url: &PageUrl) -> &str {
    url.as_str().split_once("://").unwrap().1
}

const WHOLE: Wanted = Wanted { asked: |asked| asked, holds: |_| true };
const SCOPES: [Wanted; 8] = [
    Wanted {
        asked: |asked| site(asked, "example.org"),
        holds: |url| url.host() == "example.org" || url.host().ends_with(".example.org"),
    },
    Wanted {
        asked: |asked| site(asked, "www.example.org"),
        holds: |url| rest(url).starts_with("www.example.org/"),
    },
    Wanted {
        asked: |asked| site(asked, "example.org:8080"),
        holds: |url| rest(url).starts_with("example.org:8080/"),
    },
    Wanted {
        asked: |asked| site(asked, "example.co.jp"),
        holds: |url| url.host().ends_with(".example.co.jp"),
    },
    Wanted { asked: |asked| site(asked, "127.0.0.1"), holds: |url| rest(url).starts_with("127.0.0.1/") },
    Wanted {
        asked: |asked| prefix(asked, "https://example.org/a"),
        holds: |url| rest(url).starts_with("example.org/a"),
    },
    Wanted {
        asked: |asked| prefix(asked, "example.org/a/"),
        holds: |url| rest(url).starts_with("example.org/a/"),
    },
    Wanted {
        asked: |asked| prefix(asked, "http://example.net/%E5%86%99"),
        holds: |url| rest(url).starts_with("example.net/%E5%86%99"),
    },
];

/// A version to compare: its key, when it is valid, and the record that begins it.
type Described = (String, Timestamp, Timestamp, Arc<str>, u64);

/// What one archive was asked and answered.
#[derive(Default)]
struct Tally {
    histories: u64,
    chosen: BTreeMap<String, u64>,
    scoped: u64,
    merged: bool,
}

/// The captures of a page, in the order of the index.
struct Page {
    url: PageUrl,
    entries: Vec<Entry>,
    seen: Vec<Seen>,
}

/// The capture for a visit of a random history, or a similar one if HTTP cannot express it.
fn capture(url: &PageUrl, seen: &Seen, chance: &mut Chance) -> Capture {
    // The end of time is no moment of a visit.
    let at = if seen.at == Timestamp::MAX { Timestamp::from_micros(7).unwrap() } else { seen.at };
    let body = match seen.content {
        Some(letter) => vec![b'a' + letter; 40],
        None => chance.bits().to_le_bytes().to_vec(),
    };
    let fields = match seen.media_type {
        "" => String::new(),
        media_type => format!("Content-Type: {media_type}; charset=utf-8\r\n"),
    };
    let mut capture = match (seen.what, seen.status) {
        (What::Unanswered, _) if chance.happens(0.5) => captures::refused("", at, "Disallow: /"),
        (What::Unanswered, _) => captures::unreachable("", at),
        (What::Unchanged, Some(304)) => captures::not_modified("", at),
        (What::MovedWithin, _) => {
            captures::moved("", at, &url.as_str().replacen("http:", "https:", 1), b"moved")
        }
        (What::Changed, Some(302)) => {
            captures::moved("", at, &format!("http://elsewhere.example/{}", body.escape_ascii()), b"moved")
        }
        (What::Gone, _) => captures::gone("", at, b"gone"),
        (What::Error, _) => captures::failed("", at, b"failed"),
        _ => captures::answer("", at, &fields, &body),
    };
    if let (Some(status @ (302 | 403 | 410)), Some(exchange)) = (seen.status, &mut capture.exchange) {
        (exchange.status, exchange.response_head) = (status, with_status(&exchange.response_head, status));
        match &mut capture.outcome {
            Outcome::Gone { status: said }
            | Outcome::Failed { status: said, .. }
            | Outcome::Moved { status: said, .. } => *said = status,
            _ => {}
        }
    }
    capture.url = url.clone();
    capture
}

fn with_status(head: &[u8], status: u16) -> Vec<u8> {
    [b"HTTP/1.1 ".as_slice(), status.to_string().as_bytes(), &head[12..]].concat()
}

/// What an entry says about its page, by D4, D6 and D7.
fn seen(entry: &Entry, contents: &mut Vec<ContentKey>) -> Seen {
    let status = entry.status.unwrap_or(0);
    let what = match (entry.kind, status) {
        (Stored::Metadata, _) => What::Unanswered,
        (_, 404 | 410) => What::Gone,
        (_, 400..) => What::Error,
        _ if entry.moves_within => What::MovedWithin,
        _ if entry.flag == archive::Flag::Unchanged => What::Unchanged,
        _ => What::Changed,
    };
    let is_content = matches!(what, What::Changed | What::Unchanged);
    // A 304 that refers to nothing means unknown content.
    let is_unknown = status == 304 && entry.kind == Stored::Response;
    let content = entry.content.filter(|_| is_content && !is_unknown).map(|content| {
        let known = contents.iter().position(|one| *one == content);
        let place = known.unwrap_or_else(|| {
            contents.push(content);
            contents.len() - 1
        });
        u8::try_from(place).unwrap()
    });
    let media_type = match &*entry.media_type {
        "text/html" => "text/html",
        "text/plain" => "text/plain",
        "image/png" => "image/png",
        other => {
            assert_eq!(other, "");
            ""
        }
    };
    Seen { at: entry.at, what, content, status: entry.status, media_type }
}

/// Stores the histories of as many pages as there are, each of a seed of its own.
fn store(disk: &SimulatedDisk, seed: u64) -> Vec<Page> {
    let chance = &mut Chance::of(&[seed, 3]);
    let settings = Settings { file_captures_max: 1 + chance.below(9), ..captures::settings() };
    let (mut archive, _) =
        Archive::open(Arc::new(disk.clone()), Path::new(DIRECTORY), settings, START).unwrap();
    let mut queue: Vec<(Timestamp, usize, Capture)> = Vec::new();
    let mut urls: Vec<PageUrl> = Vec::new();
    for (number, url) in PAGES.iter().enumerate() {
        let url = PageUrl::parse(url).unwrap();
        for visit in random_history(seed * PAGES.len() as u64 + number as u64) {
            let capture = capture(&url, &visit, chance);
            queue.push((capture.at, number, capture));
        }
        urls.push(url);
    }
    // Of what is stored in the order of time, a part comes late, as an import does.
    queue.sort_by_key(|(at, number, _)| (*at, *number));
    for _ in 0..if chance.happens(0.5) { 0 } else { queue.len() / 4 } {
        let late = queue.remove(chance.index(queue.len()));
        queue.push(late);
    }
    let mut entries: Vec<Vec<Entry>> = PAGES.iter().map(|_| Vec::new()).collect();
    for (_, number, capture) in &queue {
        entries[*number].push(archive.append(capture).unwrap().entry);
        if chance.happens(0.1) {
            archive.commit().unwrap();
        }
    }
    // Some archives are read while their last file still grows.
    if chance.happens(0.5) {
        archive.close().unwrap();
    } else {
        archive.commit().unwrap();
    }
    let pages = urls.into_iter().zip(entries).map(|(url, mut entries)| {
        // Stable: of visits at one moment the one that arrived later stays later.
        entries.sort_by_key(|entry| entry.at);
        let mut contents = Vec::new();
        let seen = entries.iter().map(|entry| seen(entry, &mut contents)).collect();
        Page { url, entries, seen }
    });
    pages.collect()
}

fn expected(pages: &[Page], asked: &Asked, holds: fn(&PageUrl) -> bool) -> Vec<Described> {
    let mut expected = Vec::new();
    for page in pages.iter().filter(|page| holds(&page.url)) {
        for (from, to, visit) in oracle(&page.seen, asked) {
            expected.push(told(&page.entries[visit], from, to));
        }
    }
    expected.sort();
    expected
}

fn told(entry: &Entry, from: Timestamp, to: Timestamp) -> Described {
    (entry.key.to_string(), from, to, Arc::clone(&entry.location.file), entry.location.offset)
}

fn agree(seed: u64, tally: &mut Tally) {
    let disk = SimulatedDisk::new(seed);
    let pages = store(&disk, seed);
    let reader = captures::reader(&disk);
    let runs = base::disk::Disk::list(&disk, &Path::new(DIRECTORY).join("index")).unwrap();
    tally.merged |= runs.iter().any(|path| path.to_string_lossy().contains("000000007.run"));
    tally.histories += pages.len() as u64;
    let mut chance = Chance::of(&[seed, 4]);
    for asked in random_questions(seed) {
        for scope in [&WHOLE, chance.pick(&SCOPES)] {
            compare(&reader, &pages, (&asked, scope), tally);
        }
    }
}

fn compare(reader: &Reader, pages: &[Page], (asked, scope): (&Asked, &Wanted), tally: &mut Tally) {
    let choice = (scope.asked)(asked.clone()).check().unwrap();
    let found = reader.snapshot(&choice).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    assert!(
        found.is_sorted_by(|one, other| one.payload.key >= other.payload.key),
        "keys descend: {asked:#?}"
    );
    for version in &found {
        assert_eq!(version.payload.at, version.validity.from());
        let is_stored = pages.iter().any(|page| page.entries.contains(&version.payload));
        assert!(is_stored, "another entry than the one that was stored: {:#?}", version.payload);
    }
    let facts = |version: &Version| told(&version.payload, version.validity.from(), version.validity.to());
    let mut found: Vec<Described> = found.iter().map(facts).collect();
    found.sort();
    let expected = expected(pages, asked, scope.holds);
    if found != expected {
        let keys: BTreeSet<&String> = found.iter().chain(&expected).map(|told| &told.0).collect();
        let of = |key: &str, told: &[Described]| -> Vec<Described> {
            told.iter().filter(|one| one.0 == key).cloned().collect()
        };
        let key = keys.into_iter().find(|key| of(key, &found) != of(key, &expected)).unwrap();
        let page =
            pages.iter().find(|page| Key::of(page.url.as_str()).as_str() == key).map(|page| &page.seen);
        let (found, expected) = (of(key, &found), of(key, &expected));
        panic!("{asked:#?} in {:?}: {found:#?} and not {expected:#?} of {page:#?}", choice.scope());
    }
    let way = asked.recipe.map(|one| one.to_string());
    let way = way.or(asked.relations.map(|set| set.to_string())).unwrap_or_default();
    *tally.chosen.entry(way).or_default() += expected.len() as u64;
    tally.scoped += if *choice.scope() == Scope::Whole { 0 } else { expected.len() as u64 };
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// `UTSUSHI_TORTURE_COUNT` histories, as many in an archive as there are pages.
#[test]
fn snapshots_of_an_archive_agree_with_the_oracle() {
    let (histories, seed) = (number("UTSUSHI_TORTURE_COUNT", 600), number("UTSUSHI_TORTURE_SEED", 0));
    let mut tally = Tally::default();
    for round in 0..histories.div_ceil(PAGES.len() as u64) {
        println!("seed {}", seed + round);
        agree(seed + round, &mut tally);
    }
    assert!(tally.histories >= histories && tally.merged && tally.scoped > 100);
    let asked: BTreeSet<String> = Relation::ALL.map(|one| one.to_string()).into_iter().collect();
    for way in asked.into_iter().chain(Recipe::ALL.map(|one| one.to_string())) {
        assert!(
            tally.chosen.get(&way).is_some_and(|chosen| *chosen > 10),
            "`{way}` chose nothing: {:?}",
            tally.chosen
        );
    }
}
