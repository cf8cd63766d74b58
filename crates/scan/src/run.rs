//! A scan: one thread reads, two per worker send and receive, and the calling thread delivers the results (P1–P3).
//!
//! ```text
//! feeder ──> Dispatch ──> sender ──pipe──> worker ──pipes──> program
//!               ^                            │
//!               └── hearer <──────pipe───────┘
//!                     └──> caller's sink
//! ```
//!
//! **Invariant:** [`Dispatch`] makes all decisions; the threads move bytes. Every queue has a bound: what is read and
//! not settled, what is being sent to a worker, what is being sent to the sink.

mod crew;
mod feeder;
mod hear;
mod send;
mod watch;

use crate::dispatch::Dispatch;
use crate::error::Error;
use crate::feed::Feed;
use crate::journal::{DocumentResult, ScanRow, SettledSet};
use crate::pointers::Pointers;
use crate::quarantine;
use crate::settings::{AnalysisCommand, Settings};
use crate::trace::{Sampler, Trace, WorkerTrace};
use crate::wire::Parcel;
use crate::{bound, check, scratch, tree};
use archive::Reader;
use base::clock::RealClock;
use crew::Crew;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Where the results of a scan go.
pub trait ResultSink {
    /// Takes the result of a document. Called exactly once per document.
    fn settled(&mut self, row: ScanRow) -> Result<(), Error>;
    /// Takes the progress. Called several times a second.
    fn tick(&mut self, state: &ScanProgress) -> Result<(), Error>;
}

/// The progress of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanProgress {
    /// How long it runs.
    pub elapsed: Duration,
    /// Documents answered so far, in this run.
    pub answered: u64,
    /// Documents quarantined so far, in this run.
    pub quarantined: u64,
    /// The state of each worker, in a word.
    pub workers: Vec<&'static str>,
}

/// The result of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanSummary {
    /// Documents that were answered in this run.
    pub answered: u64,
    /// Documents quarantined in this run.
    pub quarantined: u64,
    /// Number of restarts of a program after a failure.
    pub failures: u64,
    /// Number of restarts of a worker.
    pub worker_deaths: u64,
    /// What each worker did.
    pub trace: Trace,
}

/// Maximum bytes read ahead of the results, besides the part per worker,
const HELD_BYTES: usize = 8 * 1024 * 1024;
/// and the part per worker.
const HELD_BYTES_EACH: usize = 4 * 1024 * 1024;
/// Maximum number of documents read ahead, per worker.
const HELD_DOCUMENTS_EACH: usize = 2_048;
/// When the feeder waits for room, it waits until this percentage of it is free.
const ENOUGH_ROOM: usize = 25;
/// Maximum number of batches of results on their way to the sink.
const BATCHES_MAX: usize = 8;
/// Interval between two progress reports to the sink.
const TICK: Duration = Duration::from_millis(100);
/// After a longer gap between two checks, the time since a worker's last report is not meaningful.
const LATE: Duration = Duration::from_secs(1);

/// State shared by all threads.
pub(super) struct Shared<'a> {
    settings: &'a Settings,
    state: Mutex<Live>,
    /// One per seat: notified when something changes that its keeper or sender may wait for.
    bells: Vec<Condvar>,
    /// There is room for more documents.
    room: Condvar,
    clock: Arc<RealClock>,
    crew: Crew,
}

/// The part that changes.
pub(super) struct Live {
    dispatch: Dispatch,
    lanes: Vec<WorkerTrace>,
    /// When a worker last reported, or was given something.
    heard: Vec<Duration>,
    /// Which seats must be notified.
    waiting: Vec<bool>,
    is_feeder_waiting: bool,
    /// No new work is to be started.
    is_over: bool,
    failure: Option<Error>,
    failures: u64,
    worker_deaths: u64,
}

/// Documents that were settled, on their way to the sink.
pub(super) enum Event {
    /// Rows, each with its document if it was quarantined.
    Rows(Vec<(ScanRow, Option<Arc<Parcel>>)>),
    /// A worker's keeper has nothing more to do.
    Gone,
}

impl Shared<'_> {
    fn lock(&self) -> MutexGuard<'_, Live> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Waits until something changed for a seat.
    fn wait<'g>(&self, seat: usize, mut live: MutexGuard<'g, Live>) -> MutexGuard<'g, Live> {
        let Some(bell) = self.bells.get(seat) else { return live };
        live.set_waiting(seat, true);
        let mut live = patiently(bell, live);
        live.set_waiting(seat, false);
        live
    }
    /// Waits until there may be room for more documents.
    fn wait_for_room<'g>(&self, mut live: MutexGuard<'g, Live>) -> MutexGuard<'g, Live> {
        live.is_feeder_waiting = true;
        let mut live = patiently(&self.room, live);
        live.is_feeder_waiting = false;
        live
    }
    /// Something changed for one seat only, and there may be room.
    fn ring(&self, seat: usize, live: &Live) {
        if live.waiting.get(seat) == Some(&true) {
            self.bells.iter().skip(seat).take(1).for_each(Condvar::notify_all);
        }
        // Not for every document: reading is cheaper in larger steps.
        if live.is_feeder_waiting && live.has_room(ENOUGH_ROOM) {
            self.room.notify_all();
        }
    }
    /// Something changed for all seats.
    fn ring_all(&self, live: &Live) {
        for (bell, _) in self.bells.iter().zip(&live.waiting).filter(|(_, is_waiting)| **is_waiting) {
            bell.notify_all();
        }
        self.room.notify_all();
    }
    fn now(&self) -> Duration {
        self.clock.real_elapsed()
    }
    /// Ends the scan because of `failure`.
    fn fail(&self, failure: Error) {
        let mut live = self.lock();
        live.failure.get_or_insert(failure);
        live.is_over = true;
        self.ring_all(&live);
    }
}

impl Live {
    fn set_waiting(&mut self, seat: usize, is_waiting: bool) {
        self.waiting.iter_mut().skip(seat).take(1).for_each(|waiting| *waiting = is_waiting);
    }
    /// Whether this share of the room for documents is free, or nothing is held.
    fn has_room(&self, share: usize) -> bool {
        let (jobs, taken) = (self.waiting.len(), 100 - share);
        let (bytes, documents) = (HELD_BYTES + jobs * HELD_BYTES_EACH, jobs * HELD_DOCUMENTS_EACH);
        self.dispatch.has_room(bytes / 100 * taken, documents * taken / 100)
    }
}

/// The time-out makes up for a missed notification.
fn patiently<'g>(bell: &Condvar, live: MutexGuard<'g, Live>) -> MutexGuard<'g, Live> {
    let waited = bell.wait_timeout(live, Duration::from_millis(200));
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Runs the analysis over all documents of `pointers` that are not `done`, and passes each result to `sink`. Quarantined
/// documents are stored in `quarantine`.
///
/// The calling process becomes the parent of orphaned processes of the workers, and kills them: it must have no other children
/// while this runs.
pub fn run(
    settings: &Settings,
    (reader, pointers, done): (&Reader, &Pointers, &SettledSet),
    quarantine: &Path,
    sink: &mut dyn ResultSink,
    should_stop: &dyn Fn() -> bool,
) -> Result<ScanSummary, Error> {
    let mut settings = settings.clone();
    let wanted = std::mem::take(&mut settings.scratch);
    settings.scratch = scratch::make(&wanted).map_err(|source| Error::io("make", &wanted, source))?;
    let _scratch = Removed(settings.scratch.clone());
    check::program(&mut settings)?;
    let settings = &settings;
    tree::adopt()
        .map_err(|source| Error::io("look after processes below", Path::new("/proc/self"), source))?;
    bound::sweep();
    let jobs = settings.jobs.max(1);
    let mut dispatch = Dispatch::new(jobs, settings.supply, settings.strikes_max);
    // A built-in analysis is known to answer, and so is a program that answered before the scan was stopped.
    if matches!(settings.work, AnalysisCommand::Builtin(_)) || done.answered > 0 {
        dispatch.trust();
    }
    let live = Live {
        dispatch,
        lanes: vec![WorkerTrace::default(); jobs],
        heard: vec![Duration::ZERO; jobs],
        waiting: vec![false; jobs],
        is_feeder_waiting: false,
        is_over: false,
        failure: None,
        failures: 0,
        worker_deaths: 0,
    };
    let (state, room) = (Mutex::new(live), Condvar::new());
    let bells = (0..jobs).map(|_| Condvar::new()).collect();
    let shared = Shared { settings, state, bells, room, clock: RealClock::start(), crew: Crew::new(jobs) };
    let has_fields = !matches!(settings.work, AnalysisCommand::Builtin(_));
    let caps = (has_fields, settings.limits.document_bytes as u64);
    let feed = Feed::new(reader, pointers, done, (settings.supply, jobs), caps)?;
    let (events, received) = sync_channel(BATCHES_MAX);
    let mut run = Run {
        shared: &shared,
        sink,
        quarantine: quarantine.to_owned(),
        reader,
        summary: ScanSummary::default(),
        ticked: Duration::ZERO,
        gone: 0,
        jobs,
    };
    thread::scope(|scope| {
        let (watched, to_feed) = (&shared, events.clone());
        scope.spawn(move || feeder::feed_all(watched, feed, &to_feed));
        for seat in 0..jobs {
            let (shared, events) = (&shared, events.clone());
            scope.spawn(move || crew::keep(shared, seat, &events));
        }
        drop(events);
        let ended = run.receive(&received, should_stop);
        if let Err(error) = ended {
            shared.fail(error);
        }
        shared.crew.end();
        // Whoever still wants to hand something on must not wait for ever.
        while received.recv().is_ok() {}
    });
    // Nor did a scan that was killed when this one began.
    bound::sweep();
    let summary = std::mem::take(&mut run.summary);
    let mut live = shared.lock();
    match live.failure.take() {
        Some(failure) => Err(failure),
        None => Ok(summary),
    }
}

/// A directory that is removed at the end: killed workers do not remove the scratch directories of their programs.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The state of the calling thread.
struct Run<'a, 's> {
    shared: &'a Shared<'a>,
    sink: &'s mut dyn ResultSink,
    quarantine: PathBuf,
    reader: &'a Reader,
    summary: ScanSummary,
    ticked: Duration,
    gone: usize,
    jobs: usize,
}

impl Run<'_, '_> {
    /// Delivers results until every keeper has ended.
    fn receive(&mut self, events: &Receiver<Event>, should_stop: &dyn Fn() -> bool) -> Result<(), Error> {
        let mut sampler = Sampler::new(self.jobs);
        let mut next_tick = TICK;
        let ended = loop {
            let now = self.shared.now();
            match events.recv_timeout(next_tick.saturating_sub(now).min(TICK)) {
                Ok(Event::Rows(rows)) => self.hand_on(rows)?,
                Ok(Event::Gone) => self.gone += 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
            }
            if self.gone == self.jobs {
                break Ok(());
            }
            let now = self.shared.now();
            if now >= next_tick {
                next_tick = now + TICK;
                if should_stop() {
                    break Err(Error::Stopped);
                }
                self.tick(now, &mut sampler)?;
            }
        };
        self.drain(events)?;
        let seconds = self.shared.now().as_secs_f64();
        let mut live = self.shared.lock();
        let documents = self.summary.answered + self.summary.quarantined;
        let (supply, workers) = (self.shared.settings.supply.as_str(), std::mem::take(&mut live.lanes));
        self.summary.trace = Trace { supply, seconds, documents, workers };
        (self.summary.failures, self.summary.worker_deaths) = (live.failures, live.worker_deaths);
        drop(live);
        ended
    }

    /// Delivers the results that arrived before the end.
    fn drain(&mut self, events: &Receiver<Event>) -> Result<(), Error> {
        while let Ok(event) = events.try_recv() {
            if let Event::Rows(rows) = event {
                self.hand_on(rows)?;
            }
        }
        Ok(())
    }

    fn hand_on(&mut self, rows: Vec<(ScanRow, Option<Arc<Parcel>>)>) -> Result<(), Error> {
        for (row, parcel) in rows {
            match row.result {
                DocumentResult::Answered(_) => self.summary.answered += 1,
                _ => {
                    self.summary.quarantined += 1;
                    let member = parcel.as_ref().and_then(|parcel| {
                        self.reader.member_at(&parcel.location).ok().map(|member| (parcel, member))
                    });
                    let kept = member.as_ref().map(|(parcel, member)| (&***parcel, &**member));
                    quarantine::keep(&self.quarantine, &row, kept)?;
                }
            }
            self.sink.settled(row)?;
        }
        Ok(())
    }

    fn tick(&mut self, now: Duration, sampler: &mut Sampler) -> Result<(), Error> {
        // After a pause, because of a slow reader of the results or a stopped process, no worker is known to hang.
        if now.saturating_sub(self.ticked) > LATE {
            self.shared.lock().heard.fill(now);
        }
        self.ticked = now;
        watch::hung_workers(self.shared, now);
        if sampler.is_due(now.as_secs_f64()) {
            let used = self.shared.crew.cpu_seconds();
            sampler.take(now.as_secs_f64(), &used, &mut self.shared.lock().lanes);
        }
        let state = ScanProgress {
            elapsed: now,
            answered: self.summary.answered,
            quarantined: self.summary.quarantined,
            workers: watch::in_words(self.shared),
        };
        self.sink.tick(&state)
    }
}
