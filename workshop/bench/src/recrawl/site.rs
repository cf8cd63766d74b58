//! A site that lives as a recorded history says: what each URL answers at a moment of that history.
//!
//! The text of a page follows from its number and its version. Adverts on some pages, and the footer of all, change by
//! themselves, so that the content of a page changes more often than its text. Listings, linked from the home page, lead to every
//! live page; a sitemap and a feed may give hints besides.
//!
//! **Invariant:** an answer is a function of the trace, the kind of hints and the moment.

use super::listing;
use super::prose::words;
use crate::revisit::trace::{Event, Trace};
use base::{Interval, PageUrl, Timestamp, chance};
use std::collections::HashMap;
use std::fmt::Write as _;

const DAY: f64 = 86_400.0;
/// The whole site gets another footer so often.
const FOOTER_DAYS: f64 = 90.0;
/// One page in so many has an advert, which is exchanged after between one and sixty days.
const ADVERT_PAGES: u64 = 5;
const ADVERT_DAYS: (f64, f64) = (1.0, 60.0);
/// One vanished page in so many answers 410, the others 404.
const GONE_PAGES: u64 = 3;
/// So many pages are on one listing.
pub(super) const LISTED: usize = 500;

/// Of which pages sitemap and feed say when they changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HintShare {
    /// There is neither a sitemap nor a feed.
    None,
    /// Of half of the pages; the other half is in neither.
    Half,
    /// Of all pages.
    All,
}

/// Something that is exchanged at fixed intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotation {
    period: f64,
    phase: f64,
}

impl Rotation {
    fn number(self, now: f64) -> f64 {
        ((now - self.phase) / self.period).floor()
    }
    fn since(self, now: f64) -> f64 {
        self.phase + self.number(now) * self.period
    }
    /// The moments between two others at which it is exchanged.
    fn moments(self, from: f64, to: f64) -> impl Iterator<Item = f64> {
        let first = self.since(from) + self.period;
        (0_u32..).map(move |times| first + f64::from(times) * self.period).take_while(move |at| *at < to)
    }
    fn seed(self, now: f64) -> u64 {
        self.number(now).to_bits()
    }
}

#[derive(Debug)]
struct Page {
    target: String,
    begins: bool,
    /// When it appeared, changed and vanished.
    events: Vec<(f64, Event)>,
    advert: Option<Rotation>,
}

/// What a page is at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) exists: bool,
    /// How many events made it.
    number: u64,
    pub(super) since: f64,
}

/// The site.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) trace: Trace,
    pub(super) hints: HintShare,
    pages: Vec<Page>,
    by_target: HashMap<String, u32>,
    footer: Rotation,
    /// When a page appeared or vanished, by listing.
    listings: Vec<Vec<f64>>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A page of the trace.
    Page(u32),
    /// The home page or a listing.
    Listing,
    /// Robots file, sitemap or feed.
    Aid,
    /// Nothing that is or was here.
    Unknown,
}

/// A request, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request<'a> {
    pub(super) target: &'a str,
    pub(super) none_match: Option<&'a str>,
    pub(super) modified_since: Option<Timestamp>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) subject: Subject,
    pub(super) status: u16,
    pub(super) media_type: &'static str,
    pub(super) validators: Option<(String, Timestamp)>,
    pub(super) body: String,
}

/// The dates that the crawler sees: its own clock began at another moment than the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dates {
    /// What the crawler's clock shows at the beginning of the trace, and that beginning.
    pub(super) origin: Timestamp,
    pub(super) from: f64,
}

impl Dates {
    /// A moment of the trace, in whole seconds of the crawler's clock.
    pub(super) fn of(self, at: f64) -> Timestamp {
        let (early, late) = ((self.from - at).max(0.0), (at - self.from).max(0.0));
        let seconds = |length: f64| Interval::from_seconds(1).times(length);
        let moment = self.origin.minus(seconds(early)).plus(seconds(late));
        Timestamp::from_seconds(moment.as_seconds()).unwrap_or(moment)
    }
}

impl Site {
    pub(super) fn new(trace: Trace, hints: HintShare) -> Self {
        let mut pages: Vec<Page> = Vec::with_capacity(trace.paths.len());
        let mut by_target = HashMap::new();
        for (number, path) in (0_u32..).zip(&trace.paths) {
            let target = target_of(path, number, &by_target);
            by_target.insert(target.clone(), number);
            let begins = trace.begins[number as usize];
            pages.push(Page { target, begins, events: Vec::new(), advert: advert(number, &trace) });
        }
        let mut listings = vec![Vec::new(); trace.paths.len().div_ceil(LISTED)];
        let mut exists = trace.begins.clone();
        for (at, number, event) in &trace.events {
            let page = *number as usize;
            pages[page].events.push((*at, *event));
            let is_there = *event != Event::Vanished;
            if std::mem::replace(&mut exists[page], is_there) != is_there {
                listings[page / LISTED].push(*at);
            }
        }
        let footer = Rotation { period: FOOTER_DAYS * DAY, phase: trace.from - 40.0 * DAY };
        Self { trace, hints, pages, by_target, footer, listings }
    }

    /// How many listings there are.
    pub(super) fn listings(&self) -> usize {
        self.listings.len()
    }
    /// The pages of one listing, or of all, that exist.
    pub(super) fn live(
        &self,
        listing: Option<usize>,
        now: f64,
    ) -> impl Iterator<Item = (u32, &str, Version)> {
        let chosen = move |page: &usize| listing.is_none_or(|listing| page / LISTED == listing);
        let pages = (0_u32..).zip(&self.pages).filter(move |(number, _)| chosen(&(*number as usize)));
        let each = pages.map(move |(number, page)| (number, &*page.target, self.version(number, now)));
        each.filter(|(_, _, version)| version.exists)
    }
    /// Whether hints are given of a page.
    pub(super) fn covers(&self, page: u32) -> bool {
        match self.hints {
            HintShare::None => false,
            HintShare::Half => chance::hash(&[7, page.into()]).is_multiple_of(2),
            HintShare::All => true,
        }
    }
    pub(super) fn version(&self, page: u32, now: f64) -> Version {
        let page = &self.pages[page as usize];
        let passed = page.events.partition_point(|event| event.0 <= now);
        let last = passed.checked_sub(1).and_then(|last| page.events.get(last));
        let exists = last.map_or(page.begins, |event| event.1 != Event::Vanished);
        let since = last.map_or(self.trace.from - 30.0 * DAY, |event| event.0);
        Version { exists, number: passed as u64, since }
    }
    /// The trace of contents: what changes when adverts and the footer change too.
    pub(super) fn contents(&self) -> Trace {
        let (from, to) = (self.trace.from, self.trace.to);
        let mut events = self.trace.events.clone();
        for (number, page) in (0_u32..).zip(&self.pages) {
            let rotations = [Some(self.footer), page.advert].into_iter().flatten();
            let moments = rotations.flat_map(|rotation| rotation.moments(from, to));
            let live = moments.filter(|at| self.version(number, *at).exists);
            events.extend(live.map(|at| (at, number, Event::Changed)));
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        Trace { events, ..self.trace.clone() }
    }

    /// The answer to a request.
    pub(super) fn answer(&self, request: &Request<'_>, now: f64, dates: Dates, host: &str) -> Answer {
        let answer = self.whole(request.target, now, dates, host);
        let Some((tag, modified)) = &answer.validators else { return answer };
        let is_same = match (request.none_match, request.modified_since) {
            (Some(tags), _) => tags == tag,
            (None, Some(since)) => *modified <= since,
            (None, None) => false,
        };
        if is_same { Answer { status: 304, body: String::new(), ..answer } } else { answer }
    }
    fn whole(&self, target: &str, now: f64, dates: Dates, host: &str) -> Answer {
        if let Some(page) = self.by_target.get(target) {
            return self.page(*page, now, dates);
        }
        let found = |subject, media_type, body, validators| Answer {
            subject,
            status: 200,
            media_type,
            validators,
            body,
        };
        let has_hints = self.hints != HintShare::None;
        match target {
            "/" => found(Subject::Listing, HTML, listing::home(self), self.validators(0, (0.0, now), dates)),
            "/robots.txt" => found(Subject::Aid, "text/plain", listing::robots(self, host), None),
            "/sitemap.xml" if has_hints => {
                found(Subject::Aid, "application/xml", listing::sitemap(self, now, dates, host), None)
            }
            "/feed.xml" if has_hints => {
                found(Subject::Aid, "application/atom+xml", listing::feed(self, now, dates, host), None)
            }
            _ => match listing::number(target).filter(|number| *number < self.listings()) {
                Some(number) => {
                    let changes = &self.listings[number];
                    let passed = changes.partition_point(|at| *at <= now);
                    let since = passed.checked_sub(1).map_or(self.trace.from, |last| changes[last]);
                    let seed = chance::hash(&[1, number as u64, passed as u64]);
                    let body = listing::listing(self, number, now);
                    found(Subject::Listing, HTML, body, self.validators(seed, (since, now), dates))
                }
                None => missing(Subject::Unknown, 404),
            },
        }
    }
    fn page(&self, number: u32, now: f64, dates: Dates) -> Answer {
        let (page, version) = (&self.pages[number as usize], self.version(number, now));
        let subject = Subject::Page(number);
        if !version.exists {
            let is_gone = version.number > 0 && u64::from(number).is_multiple_of(GONE_PAGES);
            return missing(subject, if is_gone { 410 } else { 404 });
        }
        let advert = page.advert.map_or(0, |advert| advert.seed(now));
        let seed = chance::hash(&[2, number.into(), version.number, advert]);
        let since = page.advert.map_or(version.since, |advert| advert.since(now).max(version.since));
        let mut body = String::with_capacity(2_048);
        let constant = |part: u64, count| words(chance::hash(&[3, number.into(), part]), count);
        let _ = write!(
            body,
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head><body>\
             <nav><a href=\"/\">home</a> <a href=\"{listing}\">all pages</a></nav><main><h1>{title}</h1>\
             <p>{first}.</p><p>{changing}.</p><p>{last}.</p></main>",
            title = constant(0, 4),
            listing = listing::target(number as usize / LISTED),
            first = constant(1, 50),
            changing = words(chance::hash(&[4, number.into(), version.number]), 40),
            last = constant(2, 50),
        );
        if page.advert.is_some() {
            let _ = write!(body, "<aside class=\"advert\"><p>{}</p></aside>", words(advert, 12));
        }
        self.end(&mut body, now);
        let validators = self.validators(seed, (since, now), dates);
        Answer { subject, status: 200, media_type: HTML, validators, body }
    }
    /// Ends the body of a page.
    pub(super) fn end(&self, body: &mut String, now: f64) {
        let _ = writeln!(body, "<footer><p>{}</p></footer></body></html>", words(self.footer.seed(now), 8));
    }
    /// The validators of something that is so since a moment, with the footer of now.
    fn validators(&self, seed: u64, (since, now): (f64, f64), dates: Dates) -> Option<(String, Timestamp)> {
        let tag = chance::hash(&[5, seed, self.footer.seed(now)]);
        Some((format!("\"{tag:016x}\""), dates.of(since.max(self.footer.since(now)))))
    }
}

const HTML: &str = "text/html; charset=utf-8";

fn missing(subject: Subject, status: u16) -> Answer {
    let body = "<!DOCTYPE html><title>Not here</title><p>There is no such page.</p>\n".to_owned();
    Answer { subject, status, media_type: HTML, validators: None, body }
}

fn advert(number: u32, trace: &Trace) -> Option<Rotation> {
    let draw = chance::hash(&[6, number.into()]);
    #[expect(clippy::cast_precision_loss, reason = "a draw of a thousand")]
    let part = (draw / ADVERT_PAGES % 1_000) as f64 / 1_000.0;
    let (least, most) = ADVERT_DAYS;
    let period = DAY * least * (most / least).powf(part);
    draw.is_multiple_of(ADVERT_PAGES).then_some(Rotation { period, phase: trace.from - period * part })
}

/// The target of a page, as a crawler would write it; two paths that are one to a crawler stay two.
fn target_of(path: &str, number: u32, taken: &HashMap<String, u32>) -> String {
    let path = path.trim_start_matches('/').replace('%', "%25").replace('#', "%23").replace('?', "%3F");
    let proper = |path: &str| PageUrl::parse(&format!("http://127.0.0.1/{path}")).ok();
    let target = proper(&path).map_or_else(|| format!("/page-{number}"), |url| url.target().to_owned());
    let is_taken = taken.contains_key(&target) || is_ours(&target);
    if is_taken { format!("{target}.{number}") } else { target }
}

/// Whether a target is one of those that are here beside the pages.
fn is_ours(target: &str) -> bool {
    matches!(target, "/" | "/robots.txt" | "/sitemap.xml" | "/feed.xml") || listing::number(target).is_some()
}
