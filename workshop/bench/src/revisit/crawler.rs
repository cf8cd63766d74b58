//! The frontier itself over a trace, in simulated time: what it does must score like the replay.
//!
//! It gets the same events as the planner of the replay: a page when it appears, and what each visit finds. It asks for addresses and
//! robots files on its way, and keeps its pause; the trace answers at once. Its settings are those of
//! production but for the pause and aliases.

use super::score::{Judge, Score};
use super::trace::Trace;
use anyhow::{Context, Result, bail};
use base::disk::SimulatedDisk;
use base::door::Found as Address;
use base::{Chance, Interval, Outcome, PageUrl, Timestamp, chance};
use frontier::{
    CrawlScope, FoundUrl, Frontier, Lesson, Mode, Next, RevisitPolicy, Settings, Step, StepResult, Task,
    TextFeatures, VisitResult,
};
use robots::RobotsAnswer;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The pause between requests: short beside the spacing of any budget here.
const PAUSE: Interval = Interval::from_seconds(1);

/// How long an address is believed.
const BELIEVED: Interval = Interval::from_days(1);
const GONE: Outcome = Outcome::Gone { status: 404 };

/// Crawls a trace by a policy.
pub(crate) fn crawl(trace: &Trace, policy: &RevisitPolicy) -> Result<Score> {
    Crawler::new(trace, policy)?.run()
}

struct Crawler<'a> {
    trace: &'a Trace,
    judge: Judge<'a>,
    frontier: Frontier,
    now: Timestamp,
    /// The URL of each page, which page a URL is, and how many versions of it were seen.
    urls: Vec<PageUrl>,
    pages: HashMap<String, u32>,
    versions: Vec<u64>,
    known: Vec<bool>,
}

impl<'a> Crawler<'a> {
    fn new(trace: &'a Trace, policy: &RevisitPolicy) -> Result<Self> {
        let now = at(trace.from);
        let mut options = frontier::store_options(now);
        options.read_threads = 0;
        options.secret = Some([7; 16]);
        let store = sat::Store::open(Arc::new(SimulatedDisk::new(1)), Path::new("/frontier"), options)?;
        let scope = CrawlScope::new(Mode::Any, Vec::new());
        let settings =
            Settings { pause: PAUSE, scope, seed: 1, detects_aliases: false, ..Settings::default() };
        let frontier = Frontier::open(store, settings, RevisitPolicy { counts_new: true, ..*policy }, now)?;
        let (mut urls, mut pages) = (Vec::new(), HashMap::new());
        for (number, path) in (0..).zip(&trace.paths) {
            // What lies there is no page to a crawler.
            let path = if path == "robots.txt" { "robots.txt.page" } else { path };
            let path = path.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
            let mut url = PageUrl::parse(&format!("http://{}.example/{path}", trace.name))?;
            if pages.contains_key(url.key().as_str()) {
                // Two paths that are one page to a crawler stay two here.
                url = PageUrl::parse(&format!("http://{}.example/{path}.{number}", trace.name))?;
            }
            pages.insert(url.key().as_str().to_owned(), number);
            urls.push(url);
        }
        let count = urls.len();
        let judge = Judge::new(trace);
        Ok(Self {
            trace,
            judge,
            frontier,
            now,
            urls,
            pages,
            versions: vec![0; count],
            known: vec![false; count],
        })
    }

    fn run(mut self) -> Result<Score> {
        let begins: Vec<u32> =
            (0..).zip(&self.trace.begins).filter(|(_, is)| **is).map(|(page, _)| page).collect();
        for page in begins {
            self.known(page)?;
        }
        let end = at(self.trace.to);
        loop {
            while at(self.judge.next_at()) <= self.now && self.judge.next_at() < self.trace.to {
                if let Some((page, true)) = self.judge.happen() {
                    self.known(page)?;
                }
            }
            if self.now >= end {
                return Ok(self.judge.score());
            }
            match self.frontier.next(self.now)? {
                Next::Do(task) => self.perform(&task)?,
                Next::Wait(until) => self.wait(until),
                Next::Idle => self.wait(end),
            }
        }
    }
    /// Goes on to the next moment at which something happens.
    fn wait(&mut self, until: Timestamp) {
        let next = until.min(at(self.judge.next_at())).min(at(self.trace.to));
        self.now = next.max(self.now.plus(Interval::from_millis(1)));
    }
    fn known(&mut self, page: u32) -> Result<()> {
        let url = self.urls[page as usize].clone();
        let again = std::mem::replace(&mut self.known[page as usize], true);
        // A page that is back is announced like one that changed: it is known already.
        let found = FoundUrl { announced: again.then_some(self.now), ..FoundUrl::page(url) };
        self.frontier.add(&[found], 0, self.now)?;
        self.frontier.settle(self.now)?;
        Ok(())
    }

    fn perform(&mut self, task: &Task) -> Result<()> {
        let (took, now) = (Interval::ZERO, self.now);
        match &task.step {
            Step::LookUp(..) => {
                let address = SocketAddr::from(([127, 0, 0, 1], 80));
                let found = Address { addresses: vec![address], lifetime: BELIEVED };
                self.frontier.complete(task, &StepResult::LookedUp(Ok(found)), took, now)?;
            }
            Step::Robots(..) => {
                self.frontier.complete(task, &StepResult::Robots(&GONE, &RobotsAnswer::Absent), took, now)?;
            }
            Step::Visit(number, _, request) => {
                let page = *self.pages.get(request.url.key().as_str()).context("a page of the trace")?;
                let seen = self.judge.visit(page, seconds(now));
                let is_new = seen.is_first || seen.is_changed;
                self.versions[page as usize] += u64::from(is_new);
                let version = chance::hash(&[page.into(), self.versions[page as usize]]);
                let fetched = Outcome::Fetched { status: 200, content: None, truncated: None };
                let outcome = if seen.is_gone { &GONE } else { &fetched };
                self.frontier.complete(task, &StepResult::Visited(outcome, 1_000), took, now)?;
                let mut draws = Chance::new(version);
                let blocks: Vec<u32> =
                    (0..4).map(|_| u32::try_from(draws.below(1 << 32)).unwrap_or(0)).collect();
                let digest = u128::from(version).to_le_bytes();
                let lesson = Lesson {
                    page: Some(*number),
                    url: &request.url,
                    at: now,
                    result: if seen.is_gone { VisitResult::Gone(404) } else { VisitResult::Content(digest) },
                    address: None,
                    etag: None,
                    last_modified: None,
                    text: (!seen.is_gone).then_some(TextFeatures { main: version, features: &blocks }),
                    filtered: "",
                    links: &[],
                    too_long: &[],
                    place: "",
                };
                self.frontier.learn(&lesson)?;
                self.frontier.commit(now)?;
            }
            Step::Refuse(_, url, refusal) => bail!("{url:?} is refused: {refusal:?}"),
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "microseconds since 1970")]
fn at(seconds: f64) -> Timestamp {
    Timestamp::from_micros((seconds * 1e6) as i64).unwrap_or(Timestamp::MAX)
}
#[expect(clippy::cast_precision_loss, reason = "seconds since 1970")]
fn seconds(at: Timestamp) -> f64 {
    at.as_micros() as f64 / 1e6
}
