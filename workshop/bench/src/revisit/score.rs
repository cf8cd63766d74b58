//! What is scored of a copy: how much of it is fresh, and how old the rest is (D20).

use super::trace::{Event, Trace};

/// Sums over pages and time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    /// Page-time, and the part of it that was stale, in seconds.
    time: f64,
    stale: f64,
    /// The age, over page-time.
    age: f64,
    requests: f64,
    seen: f64,
    fetched: f64,
    versions: f64,
    requests_per_day: f64,
}

impl Score {
    pub(crate) fn add(&mut self, other: &Self) {
        self.time += other.time;
        self.stale += other.stale;
        self.age += other.age;
        self.requests += other.requests;
        self.seen += other.seen;
        self.fetched += other.fetched;
        self.versions += other.versions;
        self.requests_per_day += other.requests_per_day;
    }
    pub(crate) fn freshness(&self) -> f64 {
        1.0 - self.staleness()
    }
    pub(crate) fn staleness(&self) -> f64 {
        self.stale / self.time.max(1.0)
    }
    pub(crate) fn age_days(&self) -> f64 {
        self.age / self.time.max(1.0) / 86_400.0
    }
    /// Of the versions that began in the scored part, those that were fetched.
    pub(crate) fn captured(&self) -> f64 {
        self.fetched / self.versions.max(1.0)
    }
    pub(crate) fn requests_per_day(&self) -> f64 {
        self.requests_per_day
    }
    /// Changes seen ÷ requests.
    pub(crate) fn yielded(&self) -> f64 {
        self.seen / self.requests.max(1.0)
    }
}

/// What the copy of a page is, beside the page itself.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    /// Known: it appeared, and was not seen to be gone.
    known_since: Option<f64>,
    /// The oldest change that no visit has seen.
    stale_since: Option<f64>,
    exists: bool,
    is_fetched: bool,
    /// When what it shows now began.
    version_since: f64,
}

/// What a visit finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) is_first: bool,
    pub(crate) is_changed: bool,
    pub(crate) is_gone: bool,
}

/// Plays what happens to the pages, and judges the copy.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    trace: &'a Trace,
    pages: Vec<Page>,
    next: usize,
    known: usize,
    scored_from: f64,
    score: Score,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let page = |exists: &bool| Page {
            known_since: exists.then_some(trace.from),
            stale_since: exists.then_some(trace.from),
            exists: *exists,
            is_fetched: false,
            version_since: trace.from,
        };
        let pages: Vec<Page> = trace.begins.iter().map(page).collect();
        let known = pages.iter().filter(|page| page.exists).count();
        let scored_from = trace.scored_from();
        Self { trace, pages, next: 0, known, scored_from, score: Score::default() }
    }
    /// How many pages are known.
    pub(crate) fn known(&self) -> usize {
        self.known
    }
    /// When something happens next.
    pub(crate) fn next_at(&self) -> f64 {
        self.trace.events.get(self.next).map_or(self.trace.to, |event| event.0)
    }
    /// What happens next, if it happens to a known page: the page, and whether it becomes known by it.
    pub(crate) fn happen(&mut self) -> Option<(u32, bool)> {
        let (at, number, event) = *self.trace.events.get(self.next)?;
        self.next += 1;
        let page = &mut self.pages[number as usize];
        page.exists = event != Event::Vanished;
        if page.exists {
            page.version_since = at;
            self.score.versions += f64::from(u8::from(at >= self.scored_from));
        }
        if page.known_since.is_some() {
            page.stale_since.get_or_insert(at);
            return Some((number, false));
        }
        if !page.exists {
            return None;
        }
        page.is_fetched = false;
        (page.known_since, page.stale_since) = (Some(at), Some(at));
        self.known += 1;
        Some((number, true))
    }
    /// A request that fetches no page.
    pub(crate) fn ask(&mut self, at: f64) {
        self.score.requests += f64::from(u8::from(at >= self.scored_from));
    }
    /// A visit.
    pub(crate) fn visit(&mut self, number: u32, at: f64) -> Seen {
        let page = &mut self.pages[number as usize];
        let stale_since = page.stale_since.take();
        let seen = Seen {
            is_first: !page.is_fetched,
            is_changed: stale_since.is_some() && page.is_fetched,
            is_gone: !page.exists,
        };
        page.is_fetched = true;
        let version_since = page.version_since;
        let known_since = if seen.is_gone { page.known_since.take() } else { None };
        if at >= self.scored_from {
            self.score.requests += 1.0;
            self.score.seen += f64::from(u8::from(seen.is_changed));
            let is_version = stale_since.is_some() && !seen.is_gone && version_since >= self.scored_from;
            self.score.fetched += f64::from(u8::from(is_version));
        }
        if let Some(since) = stale_since {
            self.was_stale(since, at);
        }
        if let Some(since) = known_since {
            self.known -= 1;
            self.was_known(since, at);
        }
        seen
    }
    /// The score at the end of the window.
    pub(crate) fn score(mut self) -> Score {
        for page in std::mem::take(&mut self.pages) {
            let Some(since) = page.known_since else { continue };
            self.was_known(since, self.trace.to);
            if let Some(since) = page.stale_since {
                self.was_stale(since, self.trace.to);
            }
        }
        let days = (self.trace.to - self.scored_from) / 86_400.0;
        self.score.requests_per_day = self.score.requests / days.max(1e-9);
        self.score
    }
    fn was_known(&mut self, since: f64, until: f64) {
        self.score.time += (until - since.max(self.scored_from)).max(0.0);
    }
    fn was_stale(&mut self, since: f64, until: f64) {
        let from = since.max(self.scored_from);
        if until > from {
            self.score.stale += until - from;
            self.score.age += ((until - since).powi(2) - (from - since).powi(2)) / 2.0;
        }
    }
}
