//! Drives the frontier: looks up, asks, visits, reads, archives, learns, until told to stop.

use crate::derived_stage::DerivedStage;
use crate::findings::ReadOptions;
use crate::frontier_stage::{FrontierStage, Hint};
use crate::note::{ADD, PAUSE, RESUME, is_robots, sitemaps};
use crate::order::{Added, Directive, Order, Orders};
use crate::recall::recall_robots;
use crate::remains::Remains;
use crate::report::{ArchivedCapture, CrawlReport};
use crate::visit::{FinishedStep, StepContent, take};
use crate::write::{Item, Word, Work, Writer};
use archive::{Archive, Flag, Reader};
use base::clock::Clock;
use base::door::Door;
use base::{Capture, Interval, Outcome, PageUrl, Timestamp};
use frontier::{FoundUrl, Frontier, Next, ResultUse, Selection, Step, StepResult, Task};
use robots::{Need, RobotsAnswer};
use stage::{Arrival, BodyParser, Delivery, ParsedBody};
use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

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

/// Why a crawl cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be read or written.
    #[error("cannot keep what was visited")]
    Archive(#[from] archive::Error),
    /// The schedule cannot be read or written.
    #[error(transparent)]
    Frontier(#[from] frontier::Error),
    /// The store of the schedule cannot be opened.
    #[error("cannot open the schedule")]
    Store(#[from] sat::Error),
    /// A stage cannot go on.
    #[error(transparent)]
    Stage(stage::Error),
}

impl From<stage::Error> for Error {
    fn from(error: stage::Error) -> Self {
        match error {
            stage::Error::Archive(error) => Self::Archive(error),
            stage::Error::Stage { stage, source } => match source.downcast::<Self>() {
                Ok(error) => *error,
                Err(source) => Self::Stage(stage::Error::Stage { stage, source }),
            },
            error => Self::Stage(error),
        }
    }
}

/// The error of the frontier's stage.
impl From<Error> for stage::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Archive(error) => Self::Archive(error),
            Error::Stage(error) => error,
            error => Self::of(crate::frontier_stage::NAME, error),
        }
    }
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
    let parser = settings.reads.parser();
    let derived = derived.map(DerivedStage::optional);
    let writer = Writer::start(archive, derived, parser.clone(), settings.captures_max + NOTES_MAX)?;
    let mut frontier = frontier;
    let delivery = Delivery::start(&[&mut FrontierStage::new(&mut frontier, &settings.reads, clock.now())])?;
    let mut crawl = Crawl {
        door,
        clock,
        reader,
        taken_down,
        frontier,
        delivery,
        parser,
        writer,
        orders: Some(orders),
        running: JoinSet::new(),
        requests_running: 0,
        recalled: HashSet::new(),
        unsynced: 0,
        unsynced_bytes: 0,
        notes: 0,
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

/// So many notes may be on their way beside the captures.
const NOTES_MAX: usize = 64;

struct Crawl<D> {
    door: Arc<D>,
    clock: Arc<dyn Clock>,
    reader: Reader,
    taken_down: Vec<archive::Target>,
    frontier: Frontier,
    /// Hands what is durable to the frontier's stage.
    delivery: Delivery,
    parser: BodyParser,
    writer: Writer<Ticket>,
    orders: Option<Orders>,
    running: JoinSet<(Task, FinishedStep)>,
    /// Those of them that are requests, not look-ups.
    requests_running: u64,
    /// Robots files that were looked for in the archive.
    recalled: HashSet<PageUrl>,
    /// What was handed to the archive and is not yet durable, and the bytes of it.
    unsynced: usize,
    unsynced_bytes: u64,
    notes: usize,
    /// When offers may be judged again.
    settle_at: Timestamp,
    full_since: Option<Timestamp>,
    report: CrawlReport,
    /// The seeds of this run.
    seeds: Vec<PageUrl>,
    settings: Settings,
}

/// What comes back with something durable.
enum Ticket {
    Page(Option<frontier::Number>),
    Robots {
        sitemaps: Vec<FoundUrl>,
    },
    /// No request was sent; the page keeps its turn.
    HeldBack,
    Add(Option<oneshot::Sender<usize>>),
    Pause(Option<oneshot::Sender<()>>),
    Direct(Option<oneshot::Sender<u64>>),
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
            let can_order = self.notes < NOTES_MAX / 2;
            tokio::select! {
                biased;
                () = &mut stop => return Ok(()),
                word = self.writer.words.recv() => match word {
                    Some(word) => self.hear(word, on_event)?,
                    None => return self.writer.join().map(drop),
                },
                Some(ended) = self.running.join_next() => self.take_back(ended)?,
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
                ended = self.running.join_next() => match ended {
                    Some(ended) => self.take_back(ended)?,
                    None => break,
                },
            }
        }
        self.report.requests += self.requests_running;
        self.report.cut_off = self.requests_running;
        self.running.shutdown().await;
        self.writer.finish();
        if self.full_since.is_some() {
            self.writer.give_up();
        }
        while let Some(word) = self.writer.words.recv().await {
            if matches!(word, Word::Full(_)) {
                self.writer.give_up();
            }
            self.hear(word, on_event)?;
        }
        self.report.lost = self.writer.join()?;
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
        if !self.running.is_empty() || self.unsynced > 0 {
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
        while self.running.len() < self.settings.connections_max && self.has_room() {
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
        let coming = self.running.len() + self.unsynced;
        let wanted = self.settings.pages_max.is_none_or(|most| self.report.pages + (coming as u64) < most);
        coming < self.settings.captures_max && self.unsynced_bytes < self.settings.bytes_max && wanted
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
            Step::Robots(_, request) if self.recalls(&request.url.clone(), &task, now)? => return Ok(()),
            _ => {}
        }
        self.requests_running += u64::from(!matches!(task.step, Step::LookUp(..)));
        let (door, clock) = (Arc::clone(&self.door), Arc::clone(&self.clock));
        let reads = self.settings.reads.clone();
        self.running.spawn(async move {
            let ended = take(&*door, &*clock, &reads, &task.step).await;
            (task, ended)
        });
        Ok(())
    }
    /// Whether the archive knows what a robots file says, so that it need not be asked for (D3).
    fn recalls(&mut self, url: &PageUrl, task: &Task, now: Timestamp) -> Result<bool, Error> {
        if !is_robots(url) || !self.recalled.insert(url.clone()) {
            return Ok(false);
        }
        let known = recall_robots(&self.reader, &self.settings.reads.agent, [url.clone()])?;
        match known.into_iter().next() {
            // A redirect that is known is not asked for again, only what it leads to.
            // One that could not be had is asked for again: that may no longer be so.
            Some((_, standing)) if matches!(standing.needs(now), Need::Unreachable(_)) => Ok(false),
            Some((_, standing)) if !matches!(standing.needs(now), Need::Ask(place) if place == *url) => {
                self.frontier.complete_from_archive(task, &standing, now);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn take_back(
        &mut self,
        ended: Result<(Task, FinishedStep), tokio::task::JoinError>,
    ) -> Result<(), Error> {
        let (task, ended) = ended.expect("a visit neither panics nor is stopped");
        let worth = self.frontier.complete(&task, &ended.done(), ended.took, self.clock.now())?;
        let FinishedStep { capture, took, what } = ended;
        let Some(capture) = capture else { return Ok(()) };
        if !matches!(what, StepContent::LookedUp(_)) {
            self.requests_running -= 1;
            self.report.count_request(&capture);
        }
        tracing::debug!(url = %capture.url, outcome = capture.outcome.as_str(), %took, "visited");
        if worth == ResultUse::Discard {
            return Ok(());
        }
        let mut body = None;
        let ticket = match what {
            _ if worth == ResultUse::ArchiveOnly => Ticket::HeldBack,
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
            let work = Work { item: Item::Capture(Box::new(capture)), body, ticket };
            self.report.bytes_received += work.item.bytes();
            self.hand_over(work);
        }
    }
    fn hand_over(&mut self, work: Work<Ticket>) {
        let bytes = work.item.bytes();
        if self.writer.hand_over(work) {
            self.unsynced += 1;
            self.unsynced_bytes += bytes;
        }
    }

    /// Adds the seeds. Those that are known already are due now: they were named again.
    fn note_seeds(&mut self) -> Result<(), Error> {
        let seeds = std::mem::take(&mut self.settings.seeds);
        let mut known = Vec::new();
        for seed in &seeds {
            if self.frontier.knows(&seed.url)? {
                known.push(Selection::page(&seed.url));
            }
        }
        if !seeds.is_empty() {
            self.note_add(&seeds, None);
        }
        if !known.is_empty() {
            self.note_directive(Directive::VisitNow, &known, None);
        }
        Ok(())
    }
    fn note_directive(
        &mut self,
        directive: Directive,
        selections: &[Selection],
        answer: Option<oneshot::Sender<u64>>,
    ) {
        let text = selections.iter().map(|selection| format!("{selection}\n")).collect();
        self.note(directive.name(), text, Ticket::Direct(answer));
    }
    fn note_add(&mut self, pages: &[Added], answer: Option<oneshot::Sender<usize>>) {
        let text = pages.iter().map(Added::line).collect();
        self.note(ADD, text, Ticket::Add(answer));
    }
    fn note(&mut self, kind: &'static str, text: String, ticket: Ticket) {
        self.notes += 1;
        self.hand_over(Work { item: Item::Note(kind, self.clock.now(), text), body: None, ticket });
    }

    /// Does what it is told. Causes are noted in the archive first (D3).
    fn obey(&mut self, order: Option<Order>) -> Result<(), Error> {
        let Some(order) = order else {
            self.orders = None;
            return Ok(());
        };
        match order.answer(&mut self.frontier, self.clock.now())? {
            Some(Order::Add(pages, answer)) => self.note_add(&pages, Some(answer)),
            Some(Order::Pause(is_paused, answer)) => {
                let kind = if is_paused { PAUSE } else { RESUME };
                self.note(kind, String::new(), Ticket::Pause(Some(answer)));
            }
            Some(Order::Direct(directive, selections, answer)) => {
                self.note_directive(directive, &selections, Some(answer));
            }
            // Questions are answered already.
            Some(_) | None => {}
        }
        Ok(())
    }

    fn hear(
        &mut self,
        word: Word<Ticket>,
        on_event: &mut impl FnMut(Event<'_>, &CrawlReport),
    ) -> Result<(), Error> {
        let now = self.clock.now();
        match word {
            Word::Kept(batch) => {
                self.unsynced -= batch.len();
                self.unsynced_bytes -= batch.iter().map(|(work, _)| work.item.bytes()).sum::<u64>();
                let mut kept = Vec::with_capacity(batch.len());
                for (work, stored) in batch {
                    kept.extend(self.kept(work, stored)?);
                }
                self.commit(now)?;
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

    /// Lets the frontier learn from something that the archive holds now.
    fn kept(
        &mut self,
        work: Work<Ticket>,
        stored: archive::Appended,
    ) -> Result<Option<ArchivedCapture>, Error> {
        let Work { item, body, ticket } = work;
        let archive::Appended { entry, bytes_written } = stored;
        let parser = self.parser.clone();
        let capture = match item {
            Item::Capture(capture) => capture,
            Item::Note(kind, _, text) => {
                let arrival = Arrival::noted(entry, kind, &text, &parser);
                let pages = self.deliver(&arrival, None)?;
                self.answer(ticket, pages)?;
                return Ok(None);
            }
        };
        let is_robots = matches!(ticket, Ticket::Robots { .. } | Ticket::Page(None));
        let (mut had_content, mut is_requisite) = (false, false);
        let hint = match ticket {
            Ticket::Page(Some(page)) => {
                had_content = self.frontier.has_content(page);
                is_requisite = self.frontier.is_requisite(page);
                Hint::Page(page)
            }
            Ticket::Robots { sitemaps } => Hint::Robots(sitemaps),
            _ => Hint::Nothing,
        };
        let arrival = Arrival::visited(entry, &capture, &parser).with_body(body);
        self.deliver(&arrival, Some(hint))?;
        let entry = arrival.into_entry();
        let changed = match capture.outcome {
            Outcome::NotModified => Some(false),
            Outcome::Fetched { .. } => {
                (had_content || entry.flag != Flag::Changed).then_some(entry.flag == Flag::Changed)
            }
            _ => None,
        };
        let kept = ArchivedCapture {
            url: capture.url,
            at: capture.at,
            outcome: capture.outcome,
            robots: is_robots,
            requisite: is_requisite,
            changed,
            stored: entry.kind,
            location: entry.location,
        };
        self.report.count(&kept, bytes_written);
        Ok(Some(kept))
    }
    /// Hands an arrival to the frontier's stage; how many pages it concerned, if it is a note.
    fn deliver(&mut self, arrival: &Arrival<'_>, hint: Option<Hint>) -> Result<u64, Error> {
        let learner = FrontierStage::new(&mut self.frontier, &self.settings.reads, self.clock.now());
        let mut learner = learner.expecting(hint);
        self.delivery.take(&mut [&mut learner], arrival)?;
        Ok(learner.counts().noted)
    }
    fn commit(&mut self, now: Timestamp) -> Result<(), Error> {
        let mut learner = FrontierStage::new(&mut self.frontier, &self.settings.reads, now);
        Ok(self.delivery.commit(&mut [&mut learner])?)
    }
    /// Answers an order whose note is in the archive and was carried out.
    fn answer(&mut self, ticket: Ticket, pages: u64) -> Result<(), Error> {
        self.notes -= 1;
        let now = self.clock.now();
        if matches!(ticket, Ticket::Add(_)) {
            self.frontier.settle(now)?;
        }
        self.frontier.commit_durably(now)?;
        // Whoever asked may have gone meanwhile.
        match ticket {
            Ticket::Add(Some(answer)) => drop(answer.send(usize::try_from(pages).unwrap_or(usize::MAX))),
            Ticket::Pause(Some(answer)) => drop(answer.send(())),
            Ticket::Direct(Some(answer)) => drop(answer.send(pages)),
            _ => {}
        }
        Ok(())
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

/// The next order; for ever nothing once nobody can give one.
async fn next_order(orders: &mut Option<Orders>) -> Option<Order> {
    match orders {
        Some(orders) => orders.recv().await,
        None => std::future::pending().await,
    }
}
