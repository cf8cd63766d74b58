//! Drives the queue: looks up, asks, visits, reads links, archives, until told to stop.

use crate::queue::{Before, Done, Next, PageId, Queue, QueueSettings, Step, Task};
use crate::report::{Kept, Report};
use crate::visit::{Ended, conditions, take};
use crate::write::{Word, Work, Writer};
use archive::{Archive, Flag};
use base::clock::Clock;
use base::door::{Door, Exchange};
use base::url::Origin;
use base::{Capture, Interval, Outcome, PageUrl, Timestamp};
use fetch::robots::Standing;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long visits under way may still take when the walk is told to stop.
const STOP_GRACE: Duration = Duration::from_millis(1_500);

/// What a walk works with.
#[derive(Debug)]
pub struct Parts<D> {
    /// What leads to the web, or to a web.
    pub door: Arc<D>,
    /// Where captures are kept.
    pub archive: Archive,
    /// What tells the time.
    pub clock: Arc<dyn Clock>,
}

/// Where a walk begins.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Pages to begin with.
    pub seeds: Vec<PageUrl>,
    /// Pages that the archive already holds, each as what it was last stored as.
    pub known: Vec<Before>,
    /// Robots files as far as the archive tells of them.
    pub robots: Vec<(Origin, Standing)>,
}

/// How a walk goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How the queue behaves.
    pub queue: QueueSettings,
    /// The most visits at once.
    pub connections_max: usize,
    /// The most captures between the visit and the sync.
    pub captures_max: usize,
    /// The most bytes of bodies between the visit and the sync; visits under way come on top (D15).
    pub bytes_max: u64,
    /// After how many archived pages the walk ends by itself.
    pub pages_max: Option<u64>,
}

/// What happens during a walk.
#[derive(Debug)]
pub enum Event<'a> {
    /// These captures are durable.
    Kept(&'a [Kept]),
    /// The disk is full; the walk waits for room.
    Full(&'a archive::Error),
    /// There is room again.
    Room,
}

/// Why a walk cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be written.
    #[error("cannot keep what was visited")]
    Archive(#[from] archive::Error),
}

/// Crawls from `start` through the door into the archive until `stop` comes, or the settings end it.
///
/// Returns when everything that was acknowledged is durable and the archive is closed.
pub async fn walk<D: Door + 'static>(
    parts: Parts<D>,
    settings: Settings,
    start: Start,
    stop: impl Future<Output = ()>,
    mut on_event: impl FnMut(Event<'_>, &Report),
) -> Result<Report, Error> {
    let Parts { door, archive, clock } = parts;
    let mut queue = Queue::new(settings.queue.clone());
    queue.exclude(archive.taken_down().cloned());
    let writer = Writer::start(archive, settings.captures_max);
    start.robots.into_iter().for_each(|(origin, standing)| queue.recall_robots(&origin, standing));
    start.known.into_iter().for_each(|before| queue.recall(before));
    queue.offer_all(start.seeds);
    let mut walk = Walk {
        door,
        clock,
        agent: settings.queue.agent.as_str().into(),
        settings,
        queue,
        writer,
        running: JoinSet::new(),
        unsynced: 0,
        unsynced_bytes: 0,
        full_since: None,
        report: Report::default(),
    };
    tracing::info!(known = walk.queue.counts().1, "the walk begins");
    walk.run(stop, &mut on_event).await?;
    let report = walk.end(&mut on_event).await?;
    tracing::info!(pages = report.pages, requests = report.requests, "the walk has ended");
    Ok(report)
}

struct Walk<D> {
    door: Arc<D>,
    clock: Arc<dyn Clock>,
    /// What robots files and pages know us by.
    agent: Arc<str>,
    settings: Settings,
    queue: Queue,
    writer: Writer<Ticket>,
    running: JoinSet<(Task, Ended)>,
    /// Captures handed to the archive and not yet durable, and the bytes they hold.
    unsynced: usize,
    unsynced_bytes: u64,
    full_since: Option<Timestamp>,
    report: Report,
}

/// What comes back with a durable capture.
struct Ticket {
    page: Option<PageId>,
    changed: Option<bool>,
    /// Whether the archive held the page before.
    was_there: bool,
}

impl<D: Door + 'static> Walk<D> {
    async fn run(
        &mut self,
        stop: impl Future<Output = ()>,
        on_event: &mut impl FnMut(Event<'_>, &Report),
    ) -> Result<(), Error> {
        let mut stop = pin!(stop);
        while !self.finished() {
            let wait = self.start_steps();
            tokio::select! {
                biased;
                () = &mut stop => break,
                word = self.writer.words.recv() => match word {
                    Some(word) => self.hear(word, on_event),
                    None => return self.writer.join().map(drop).map_err(Error::from),
                },
                Some(ended) = self.running.join_next() => self.take_back(ended),
                () = tokio::time::sleep(wait) => {}
            }
        }
        Ok(())
    }

    /// Stops: visits under way get a little time, what is in hand is synced, the archive is closed.
    async fn end(mut self, on_event: &mut impl FnMut(Event<'_>, &Report)) -> Result<Report, Error> {
        let grace = tokio::time::sleep(STOP_GRACE);
        let mut grace = pin!(grace);
        loop {
            tokio::select! {
                () = &mut grace => break,
                ended = self.running.join_next() => match ended {
                    Some(ended) => self.take_back(ended),
                    None => break,
                },
            }
        }
        self.running.shutdown().await;
        self.writer.finish();
        if self.full_since.is_some() {
            self.writer.give_up();
        }
        while let Some(word) = self.writer.words.recv().await {
            if matches!(word, Word::Full(_)) {
                self.writer.give_up();
            }
            self.hear(word, on_event);
        }
        self.report.lost = self.writer.join()?;
        self.count();
        Ok(self.report)
    }

    fn finished(&self) -> bool {
        self.settings.pages_max.is_some_and(|most| self.report.pages >= most)
    }

    /// Starts what may be started; how long it makes sense to wait after that.
    fn start_steps(&mut self) -> Duration {
        let idle = Duration::from_secs(1);
        while self.running.len() < self.settings.connections_max && self.has_room() {
            let now = self.clock.now();
            match self.queue.next(now) {
                Next::Do(task) => self.start(task, now),
                Next::Wait(until) => return self.clock.real_wait(until.since(now)).min(idle),
                Next::Idle => return idle,
            }
        }
        idle
    }

    /// Whether one more visit's capture could be handed over, and would still be wanted.
    fn has_room(&self) -> bool {
        let coming = self.running.len() + self.unsynced;
        let wanted = self.settings.pages_max.is_none_or(|most| self.report.pages + (coming as u64) < most);
        coming < self.settings.captures_max && self.unsynced_bytes < self.settings.bytes_max && wanted
    }

    fn start(&mut self, task: Task, now: Timestamp) {
        if let Step::Refuse(page, url, refusal) = &task.step {
            let outcome = Outcome::Refused(refusal.clone());
            let capture = Capture { url: url.clone(), at: now, outcome, exchange: None };
            self.keep(capture, *page);
            self.queue.done(&task, Done::Refused, Interval::ZERO, now);
            return;
        }
        self.report.requests += u64::from(!matches!(task.step, Step::LookUp(..)));
        let (door, clock) = (Arc::clone(&self.door), Arc::clone(&self.clock));
        let agent = Arc::clone(&self.agent);
        self.running.spawn(async move {
            let ended = take(&*door, &*clock, &agent, &task.step).await;
            (task, ended)
        });
    }

    fn take_back(&mut self, ended: Result<(Task, Ended), tokio::task::JoinError>) {
        let (task, Ended { done, capture, took }) = ended.expect("a visit neither panics nor is stopped");
        let page = match &task.step {
            Step::Visit(page, ..) => Some(*page),
            Step::LookUp(page, ..) | Step::Refuse(page, ..) => *page,
            Step::Robots(..) => None,
        };
        if let Some(capture) = capture {
            tracing::debug!(url = %capture.url, outcome = capture.outcome.as_str(), %took, "visited");
            self.keep(capture, page);
        }
        self.queue.done(&task, done, took, self.clock.now());
    }

    fn keep(&mut self, capture: Capture, page: Option<PageId>) {
        if self.queue.is_excluded(&capture.url) {
            return;
        }
        let known = page.map(|page| self.queue.page(page));
        let was_there = known.is_some_and(|page| page.before.is_some());
        let changed = match (&capture.outcome, known.map(|page| page.content)) {
            (Outcome::NotModified, _) => Some(false),
            // What was cut off by chance says nothing.
            (Outcome::Fetched { content: Some(content), .. }, Some(Some(last))) => Some(*content != last),
            _ => None,
        };
        let bytes = received_bytes(&capture);
        self.report.bytes_received += bytes;
        if self.writer.hand_over(Work { capture, ticket: Ticket { page, changed, was_there } }) {
            self.unsynced += 1;
            self.unsynced_bytes += bytes;
        }
    }

    fn hear(&mut self, word: Word<Ticket>, on_event: &mut impl FnMut(Event<'_>, &Report)) {
        let now = self.clock.now();
        match word {
            Word::Kept(batch) => {
                self.unsynced -= batch.len();
                self.unsynced_bytes -=
                    batch.iter().map(|(work, _)| received_bytes(&work.capture)).sum::<u64>();
                let kept: Vec<Kept> =
                    batch.into_iter().map(|(work, stored)| self.kept(work, stored)).collect();
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
    }

    fn kept(&mut self, work: Work<Ticket>, stored: archive::Appended) -> Kept {
        let Work { capture, ticket } = work;
        let archive::Appended { entry, bytes_written } = stored;
        // A page that is known from an earlier run is compared by what the archive made of it.
        let fetched_again = ticket.was_there && matches!(capture.outcome, Outcome::Fetched { .. });
        let changed = ticket.changed.or_else(|| fetched_again.then_some(entry.flag == Flag::Changed));
        let is_version = matches!(capture.outcome, Outcome::Fetched { truncated: None, .. });
        if let Some(page) = ticket.page.filter(|_| is_version) {
            let before = Before { url: capture.url.clone(), at: capture.at };
            self.queue.stored(page, before, conditions(&capture));
        }
        let kept = Kept {
            url: capture.url,
            at: capture.at,
            outcome: capture.outcome,
            robots: ticket.page.is_none(),
            changed,
            stored: entry.kind,
            location: entry.location,
        };
        self.report.count(&kept, bytes_written);
        kept
    }

    fn count(&mut self) {
        let (servers, known, waiting, dropped) = self.queue.counts();
        self.report = Report { servers, known, waiting, dropped, ..self.report };
    }
}

fn received_bytes(capture: &Capture) -> u64 {
    let bytes = |exchange: &Exchange| exchange.response_head.len() + exchange.body.len();
    capture.exchange.as_ref().map_or(0, bytes) as u64
}
