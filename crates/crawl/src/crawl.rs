//! Drives the frontier: looks up, requests, visits, reads, archives, learns, until told to stop.

mod error;
mod learner;
mod orders;
mod outbox;
mod robots_archive;
mod visits;

pub use error::Error;

use crate::derived_stage::DerivedStage;
use crate::findings::ReadOptions;
use crate::note::sitemaps;
use crate::order::{Added, Orders};
use crate::remains::Remains;
use crate::report::{ArchivedCapture, CrawlReport};
use crate::visit::{FinishedStep, StepContent};
use crate::write::{Batch, Item, Word, Work};
use archive::{Appended, Archive, Reader};
use base::clock::Clock;
use base::door::Door;
use base::{Capture, Interval, Outcome, PageUrl, Timestamp};
use frontier::{Frontier, Next, ResultUse, Step, StepResult, Task};
use learner::Learner;
use orders::next_order;
use outbox::{Outbox, Ticket};
use robots::RobotsAnswer;
use robots_archive::RobotsArchive;
use stage::ParsedBody;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use visits::Visits;

/// How long visits under way may still take when the crawl is told to stop.
const STOP_GRACE: Duration = Duration::from_millis(1_500);
/// How long there is nothing to do at most before one looks again.
const IDLE: Duration = Duration::from_secs(1);
/// Judging offers takes no more than one part in so many of the time.
const SETTLE_SHARE: f64 = 10.0;
const SETTLE_WAIT_MIN: Interval = Interval::from_millis(50);
/// A crawl that ends when nothing new is left does not wait longer than this for somebody who is left alone.
const ONCE_PATIENCE: Interval = Interval::from_minutes(10);

/// What a crawl works with.
#[derive(Debug)]
pub struct Parts<D> {
    /// What leads to the web, or to a web.
    pub door: Arc<D>,
    /// Where captures are kept.
    pub archive: Archive,
    /// The archive as it was before, for what is known of robots files.
    pub reader: Reader,
    /// Where languages, titles and the like are stored (D11).
    pub derived: Option<DerivedStage>,
    /// Which page comes next.
    pub frontier: Frontier,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
    /// What tells it what to do meanwhile.
    pub orders: Orders,
}

/// How a crawl goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How bodies are read.
    pub reads: ReadOptions,
    /// Pages to begin with.
    pub seeds: Vec<Added>,
    /// The most visits at once.
    pub connections_max: usize,
    /// The most captures between the visit and the sync.
    pub captures_max: usize,
    /// The most bytes of bodies between the visit and the sync; visits under way come on top (D15).
    pub bytes_max: u64,
    /// After how many archived pages the crawl ends by itself.
    pub pages_max: Option<u64>,
    /// Whether it ends when nothing new is left.
    pub once: bool,
}

/// What happens during a crawl.
#[derive(Debug)]
pub enum Event<'a> {
    /// These captures are durable.
    Kept(&'a [ArchivedCapture]),
    /// The disk is full; the crawl waits for room.
    Full(&'a archive::Error),
    /// There is room again.
    Room,
    /// The crawl ends, and leaves this undone.
    Ended(&'a Remains),
}

/// Crawls through the door into the archive until `stop` comes, or the settings end it.
///
/// Returns when everything that was acknowledged is durable, and archive and frontier are closed.
///
/// # Errors
/// When the archive or the schedule can no longer be written.
pub async fn crawl<D: Door + 'static>(
    parts: Parts<D>,
    settings: Settings,
    stop: impl Future<Output = ()>,
    mut on_event: impl FnMut(Event<'_>, &CrawlReport),
) -> Result<CrawlReport, Error> {
    let Parts { door, archive, reader, derived, frontier, clock, orders } = parts;
    let taken_down: Vec<archive::Target> = archive.taken_down().cloned().collect();
    let (mut frontier, reads) = (frontier, settings.reads.clone());
    let derived = derived.map(DerivedStage::optional);
    let mut crawl = Crawl {
        outbox: Outbox::start(archive, derived, reads.parser(), settings.captures_max)?,
        learner: Learner::start(&mut frontier, reads.clone(), clock.now())?,
        robots: RobotsArchive::new(reader, Arc::clone(&reads.agent)),
        visits: Visits::new(door, Arc::clone(&clock), reads),
        clock,
        taken_down,
        frontier,
        orders: Some(orders),
        settle_at: Timestamp::MIN,
        full_since: None,
        report: CrawlReport::default(),
        seeds: settings.seeds.iter().map(|seed| seed.url.clone()).collect(),
        settings,
    };
    crawl.count();
    tracing::info!(known = crawl.report.known, "the crawl begins");
    crawl.note_seeds()?;
    crawl.run(stop, &mut on_event).await?;
    let report = crawl.end(&mut on_event).await?;
    tracing::info!(pages = report.pages, requests = report.requests, "the crawl has ended");
    Ok(report)
}

struct Crawl<D> {
    clock: Arc<dyn Clock>,
    frontier: Frontier,
    visits: Visits<D>,
    outbox: Outbox,
    learner: Learner,
    robots: RobotsArchive,
    taken_down: Vec<archive::Target>,
    orders: Option<Orders>,
    /// When offers may be judged again.
    settle_at: Timestamp,
    full_since: Option<Timestamp>,
    report: CrawlReport,
    /// The seeds of this run.
    seeds: Vec<PageUrl>,
    settings: Settings,
}

impl<D: Door + 'static> Crawl<D> {
    async fn run(
        &mut self,
        stop: impl Future<Output = ()>,
        on_event: &mut impl FnMut(Event<'_>, &CrawlReport),
    ) -> Result<(), Error> {
        let mut stop = pin!(stop);
        loop {
            let wait = self.start_steps()?;
            if self.finished()? {
                return Ok(());
            }
            let can_order = self.outbox.has_room_for_notes();
            tokio::select! {
                biased;
                () = &mut stop => return Ok(()),
                word = self.outbox.next() => match word {
                    Some(word) => self.hear(word, on_event)?,
                    None => return self.outbox.join().map(drop),
                },
                Some((task, finished)) = self.visits.next() => self.take_back(&task, finished)?,
                order = next_order(&mut self.orders), if can_order => self.obey(order)?,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Stops: visits under way get a little time, what is in hand is synced and learned, archive and frontier are closed.
    async fn end(mut self, on_event: &mut impl FnMut(Event<'_>, &CrawlReport)) -> Result<CrawlReport, Error> {
        let grace = tokio::time::sleep(STOP_GRACE);
        let mut grace = pin!(grace);
        loop {
            tokio::select! {
                () = &mut grace => break,
                ended = self.visits.next() => match ended {
                    Some((task, finished)) => self.take_back(&task, finished)?,
                    None => break,
                },
            }
        }
        self.report.requests += self.visits.requests();
        self.report.cut_off = self.visits.requests();
        self.visits.shutdown().await;
        self.outbox.finish();
        if self.full_since.is_some() {
            self.outbox.give_up();
        }
        while let Some(word) = self.outbox.next().await {
            if matches!(word, Word::Full(_)) {
                self.outbox.give_up();
            }
            self.hear(word, on_event)?;
        }
        self.report.lost = self.outbox.join()?;
        let now = self.clock.now();
        // Links found last are judged now, so that whoever opens the schedule next counts the same pages.
        self.frontier.settle(now)?;
        self.count();
        let remains = Remains::find(&mut self.frontier, &self.seeds, self.settings.once)?;
        on_event(Event::Ended(&remains), &self.report);
        self.frontier.close(now)?;
        Ok(self.report)
    }

    fn finished(&mut self) -> Result<bool, Error> {
        let is_enough = self.settings.pages_max.is_some_and(|most| self.report.pages >= most);
        if is_enough || !self.settings.once || !self.has_nothing_new() {
            return Ok(is_enough);
        }
        // What is held back may be an honest site after all: a few pages of it are visited first.
        Ok(!self.frontier.release_held(self.clock.now())?)
    }
    /// Whether nothing new is left, or only what is left alone for long.
    fn has_nothing_new(&self) -> bool {
        if self.visits.len() + self.outbox.len() > 0 {
            return false;
        }
        let now = self.clock.now();
        let is_down = self.frontier.down_since().is_some_and(|since| now.since(since) > ONCE_PATIENCE);
        let patience = now.plus(ONCE_PATIENCE);
        is_down
            || self.frontier.has_nothing_new()
            || self.frontier.next_turn().is_some_and(|next| next > patience)
    }

    /// Starts what may be started; how long it makes sense to wait after that.
    fn start_steps(&mut self) -> Result<Duration, Error> {
        while self.visits.len() < self.settings.connections_max && self.has_room() {
            let now = self.clock.now();
            let until = match self.frontier.next(now)? {
                Next::Do(task) => {
                    self.start(task, now)?;
                    continue;
                }
                Next::Wait(until) => Some(until),
                Next::Idle => None,
            };
            if self.frontier.offered() > 0 && (now >= self.settle_at || self.frontier.should_settle()) {
                self.settle()?;
                continue;
            }
            let until = until
                .map(|until| if self.frontier.offered() > 0 { until.min(self.settle_at) } else { until });
            return Ok(until.map_or(IDLE, |until| self.clock.real_wait(until.since(now)).min(IDLE)));
        }
        Ok(IDLE)
    }
    fn settle(&mut self) -> Result<(), Error> {
        let began = self.clock.now();
        self.frontier.settle(began)?;
        let ended = self.clock.now();
        self.settle_at = ended.plus(ended.since(began).times(SETTLE_SHARE).max(SETTLE_WAIT_MIN));
        Ok(())
    }

    /// Whether one more visit's capture could be handed over, and would still be wanted.
    fn has_room(&self) -> bool {
        let coming = self.visits.len() + self.outbox.len();
        let wanted = self.settings.pages_max.is_none_or(|most| self.report.pages + (coming as u64) < most);
        coming < self.settings.captures_max && self.outbox.bytes() < self.settings.bytes_max && wanted
    }

    fn start(&mut self, task: Task, now: Timestamp) -> Result<(), Error> {
        match &task.step {
            Step::Refuse(page, url, refusal) => {
                let outcome = Outcome::Refused(refusal.clone());
                let capture = Capture { url: url.clone(), at: now, outcome, exchange: None };
                self.keep(capture, None, Ticket::Page(*page));
                self.frontier.complete(&task, &StepResult::Refused, Interval::ZERO, now)?;
                return Ok(());
            }
            Step::Robots(_, request) => {
                if let Some(standing) = self.robots.find(&request.url, now)? {
                    self.frontier.complete_from_archive(&task, &standing, now);
                    return Ok(());
                }
            }
            _ => {}
        }
        self.visits.start(task);
        Ok(())
    }

    /// Releases the server of a visit that has ended, and archives what it brought.
    fn take_back(&mut self, task: &Task, finished: FinishedStep) -> Result<(), Error> {
        let result_use = self.frontier.complete(task, &finished.done(), finished.took, self.clock.now())?;
        let FinishedStep { capture, took, what } = finished;
        let Some(capture) = capture else { return Ok(()) };
        if !matches!(what, StepContent::LookedUp(_)) {
            self.report.count_request(&capture);
        }
        tracing::debug!(url = %capture.url, outcome = capture.outcome.as_str(), %took, "visited");
        if result_use == ResultUse::Discard {
            return Ok(());
        }
        let mut body = None;
        let ticket = match what {
            _ if result_use == ResultUse::ArchiveOnly => Ticket::HeldBack,
            StepContent::Page(parsed) => {
                body = parsed;
                Ticket::Page(task.step.page())
            }
            StepContent::LookedUp(_) if task.step.page().is_some() => Ticket::Page(task.step.page()),
            StepContent::Robots(RobotsAnswer::Rules(rules)) => {
                Ticket::Robots { sitemaps: sitemaps(&rules, &capture.url) }
            }
            StepContent::LookedUp(_) | StepContent::Robots(_) => Ticket::Robots { sitemaps: Vec::new() },
        };
        self.keep(capture, body, ticket);
        Ok(())
    }

    fn keep(&mut self, capture: Capture, body: Option<ParsedBody>, ticket: Ticket) {
        let is_excluded = !self.taken_down.is_empty() && {
            let key = capture.url.key().into();
            self.taken_down.iter().any(|target| target.holds(&key))
        };
        if !is_excluded {
            self.report.bytes_received += self.outbox.keep(capture, body, ticket);
        }
    }

    /// Acts on what the archive's thread says.
    fn hear(
        &mut self,
        word: Word<Ticket>,
        on_event: &mut impl FnMut(Event<'_>, &CrawlReport),
    ) -> Result<(), Error> {
        let now = self.clock.now();
        match word {
            Word::Kept(batch) => {
                let kept = self.learn(batch)?;
                self.learner.commit(&mut self.frontier, now)?;
                self.count();
                on_event(Event::Kept(&kept), &self.report);
            }
            Word::Full(error) => {
                tracing::warn!(%error, "the disk is full");
                self.full_since = Some(now);
                on_event(Event::Full(&error), &self.report);
            }
            Word::Room => {
                tracing::info!("there is room again");
                let waited = self.full_since.take().map_or(Interval::ZERO, |since| now.since(since));
                self.report.full = self.report.full.max(waited);
                on_event(Event::Room, &self.report);
            }
        }
        Ok(())
    }

    /// Lets the frontier learn from what is durable now, and answers orders.
    fn learn(&mut self, batch: Batch<Ticket>) -> Result<Vec<ArchivedCapture>, Error> {
        self.outbox.take_out(&batch);
        let mut kept = Vec::with_capacity(batch.len());
        for (Work { item, body, ticket }, Appended { entry, bytes_written }) in batch {
            let now = self.clock.now();
            match item {
                Item::Note(kind, _, text) => {
                    let pages = self.learner.note(&mut self.frontier, entry, (kind, &text), now)?;
                    self.answer(ticket, pages)?;
                }
                Item::Capture(capture) => {
                    let visit = (*capture, body, ticket);
                    let capture = self.learner.capture(&mut self.frontier, entry, visit, now)?;
                    self.report.count(&capture, bytes_written);
                    kept.push(capture);
                }
            }
        }
        Ok(kept)
    }

    fn count(&mut self) {
        self.report = CrawlReport {
            servers: self.frontier.server_count(),
            known: self.frontier.pages(),
            waiting: self.frontier.new_pages(),
            dropped: self.frontier.dropped_links(),
            held_back: self.frontier.held_back(),
            failing: self.frontier.failing_pages(),
            ..self.report
        };
    }
}
