//! A scan: one thread reads, two for each worker send and hear, and this one hands on what comes (P1–P3).
//!
//! ```text
//! feeder ──> Dispatch ──> sender ──pipe──> worker ──pipes──> program
//!               ^                            │
//!               └── hearer <──────pipe───────┘
//!                     └──> caller's sink
//! ```
//!
//! **Invariant:** all decisions are [`Dispatch`]'s; the threads move bytes. Whatever waits has a bound: what is read and
//! not settled, what is on its way to a worker, what is on its way to the sink.

mod crew;
mod feeder;
mod hear;
mod send;
mod watch;

use crate::aside;
use crate::dispatch::Dispatch;
use crate::error::Error;
use crate::feed::Feed;
use crate::journal::{Done, Row, Settled};
use crate::pointers::Pointers;
use crate::settings::{Settings, Work};
use crate::trace::{Lane, Sampler, Trace};
use crate::wire::Parcel;
use crate::{bound, check, scratch, tree};
use archive::Reader;
use base::clock::RealClock;
use crew::Crew;
pub(crate) use crew::spoken;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Where the results of a scan go.
pub trait Sink {
    /// A document is settled; each is, once.
    fn settled(&mut self, row: Row) -> Result<(), Error>;
    /// Some time has passed: how far it has come. Called several times a second.
    fn tick(&mut self, state: &State) -> Result<(), Error>;
}

/// How far a scan has come.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// How long it runs.
    pub elapsed: Duration,
    /// Documents that were answered by now, in this run.
    pub answered: u64,
    /// Documents that were set aside by now, in this run.
    pub set_aside: u64,
    /// What each worker does, in a word.
    pub workers: Vec<&'static str>,
}

/// What a scan came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Documents that were answered in this run.
    pub answered: u64,
    /// Documents that were set aside in this run.
    pub set_aside: u64,
    /// How often a program was started anew because it failed.
    pub failures: u64,
    /// How often a worker was.
    pub worker_deaths: u64,
    /// What each worker did.
    pub trace: Trace,
}

/// So much is read ahead of what is settled, beside what the workers have.
const HELD_BYTES: usize = 8 * 1024 * 1024;
/// And so much for each worker.
const HELD_BYTES_EACH: usize = 4 * 1024 * 1024;
/// So many documents, for each worker.
const HELD_DOCUMENTS_EACH: usize = 2_048;
/// When the feeder waits for room, it waits until so many hundredths of it are free.
const ENOUGH_ROOM: usize = 25;
/// So many batches of results are on their way to the sink.
const BATCHES_MAX: usize = 8;
/// How often the sink is told how far it has come.
const TICK: Duration = Duration::from_millis(100);
/// A look that comes so much later than the last one says nothing about workers.
const LATE: Duration = Duration::from_secs(1);

/// What all threads see.
pub(super) struct Shared<'a> {
    settings: &'a Settings,
    state: Mutex<Live>,
    /// One for each seat: something changed that its keeper or sender may wait for.
    bells: Vec<Condvar>,
    /// There is room for more documents.
    room: Condvar,
    clock: Arc<RealClock>,
    crew: Crew,
}

/// The part that changes.
pub(super) struct Live {
    dispatch: Dispatch,
    lanes: Vec<Lane>,
    /// When a worker was last heard of, or given something.
    heard: Vec<Duration>,
    /// For whom the bell must be rung.
    waiting: Vec<bool>,
    is_feeder_waiting: bool,
    /// Nothing is to be begun any more.
    is_over: bool,
    failure: Option<Error>,
    failures: u64,
    worker_deaths: u64,
}

/// Documents that were settled, on their way to the sink.
pub(super) enum Event {
    /// Rows, each with its document if it was set aside.
    Rows(Vec<(Row, Option<Arc<Parcel>>)>),
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
    /// Something changed for a seat that concerns nobody else, and there may be room.
    fn ring(&self, seat: usize, live: &Live) {
        if live.waiting.get(seat) == Some(&true) {
            self.bells.iter().skip(seat).take(1).for_each(Condvar::notify_all);
        }
        // Not for each document: there is much to read when there is some room.
        if live.is_feeder_waiting && live.has_room(ENOUGH_ROOM) {
            self.room.notify_all();
        }
    }
    /// Something changed for everyone.
    fn ring_all(&self, live: &Live) {
        for (bell, _) in self.bells.iter().zip(&live.waiting).filter(|(_, is_waiting)| **is_waiting) {
            bell.notify_all();
        }
        self.room.notify_all();
    }
    fn now(&self) -> Duration {
        self.clock.real_elapsed()
    }
    /// Ends everything, because of `failure`.
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

/// A little patience costs nothing and makes up for a word that was missed.
fn patiently<'g>(bell: &Condvar, live: MutexGuard<'g, Live>) -> MutexGuard<'g, Live> {
    let waited = bell.wait_timeout(live, Duration::from_millis(200));
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Runs the analysis over all documents of `pointers` that are not `done`, and hands what comes of each to `sink`. What is
/// set aside is kept in `aside`.
///
/// The calling process becomes the parent of whatever the workers leave behind, and ends it: it must have no other children
/// while this runs.
pub fn run(
    settings: &Settings,
    (reader, pointers, done): (&Reader, &Pointers, &Done),
    aside: &Path,
    sink: &mut dyn Sink,
    should_stop: &dyn Fn() -> bool,
) -> Result<Summary, Error> {
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
    // What is built in answers, and what has answered before it was stopped.
    if matches!(settings.work, Work::Builtin(_)) || done.answered > 0 {
        dispatch.trust();
    }
    let live = Live {
        dispatch,
        lanes: vec![Lane::default(); jobs],
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
    let has_fields = !matches!(settings.work, Work::Builtin(_));
    let caps = (has_fields, settings.limits.document_bytes as u64);
    let feed = Feed::new(reader, pointers, done, (settings.supply, jobs), caps)?;
    let (events, received) = sync_channel(BATCHES_MAX);
    let mut run = Run {
        shared: &shared,
        sink,
        aside: aside.to_owned(),
        reader,
        summary: Summary::default(),
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

/// A directory that is removed at the end: workers that were killed did not tidy up after their programs.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the calling thread holds.
struct Run<'a, 's> {
    shared: &'a Shared<'a>,
    sink: &'s mut dyn Sink,
    aside: PathBuf,
    reader: &'a Reader,
    summary: Summary,
    ticked: Duration,
    gone: usize,
    jobs: usize,
}

impl Run<'_, '_> {
    /// Hands on what comes until every keeper is gone.
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
        let documents = self.summary.answered + self.summary.set_aside;
        let (supply, workers) = (self.shared.settings.supply.as_str(), std::mem::take(&mut live.lanes));
        self.summary.trace = Trace { supply, seconds, documents, workers };
        (self.summary.failures, self.summary.worker_deaths) = (live.failures, live.worker_deaths);
        drop(live);
        ended
    }

    /// What was settled before the end is settled.
    fn drain(&mut self, events: &Receiver<Event>) -> Result<(), Error> {
        while let Ok(event) = events.try_recv() {
            if let Event::Rows(rows) = event {
                self.hand_on(rows)?;
            }
        }
        Ok(())
    }

    fn hand_on(&mut self, rows: Vec<(Row, Option<Arc<Parcel>>)>) -> Result<(), Error> {
        for (row, parcel) in rows {
            match row.settled {
                Settled::Answered(_) => self.summary.answered += 1,
                _ => {
                    self.summary.set_aside += 1;
                    let member = parcel.as_ref().and_then(|parcel| {
                        self.reader.member_at(&parcel.location).ok().map(|member| (parcel, member))
                    });
                    let kept = member.as_ref().map(|(parcel, member)| (&***parcel, &**member));
                    aside::keep(&self.aside, &row, kept)?;
                }
            }
            self.sink.settled(row)?;
        }
        Ok(())
    }

    fn tick(&mut self, now: Duration, sampler: &mut Sampler) -> Result<(), Error> {
        // Whoever was kept from looking, by a slow reader of the results or a stopped process, has not seen anyone hang.
        if now.saturating_sub(self.ticked) > LATE {
            self.shared.lock().heard.fill(now);
        }
        self.ticked = now;
        watch::hung_workers(self.shared, now);
        if sampler.is_due(now.as_secs_f64()) {
            let used = self.shared.crew.cpu_seconds();
            sampler.take(now.as_secs_f64(), &used, &mut self.shared.lock().lanes);
        }
        let state = State {
            elapsed: now,
            answered: self.summary.answered,
            set_aside: self.summary.set_aside,
            workers: watch::in_words(self.shared),
        };
        self.sink.tick(&state)
    }
}
