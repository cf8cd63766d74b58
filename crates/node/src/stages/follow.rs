//! Keeps stages up to date while a crawl runs, each on a thread of its own.
//!
//! A round reads the archive as it is, and processes what arrived. After it a thread waits until captures have become
//! durable, and at least [`FollowTimes::round`], since every round opens the archive again. A stage that fails is opened
//! again from its last commit, and tried again.
//!
//! **Invariant:** a thread holds no part of the archive back: nothing waits for it, except the end of a crawl that has
//! nothing left to do.

use super::following::{FollowingStage, StageSite};
use super::stage_error;
use super::view::StageView;
use crate::directory::DirectoryWriter;
use crate::monitor::Notice;
use crate::node::Node;
use archive::Reader;
use stage::{PauseSwitch, Progress, Runner};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The times of the threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowTimes {
    /// The least time between the ends of two rounds.
    pub(crate) round: Duration,
    /// How long a stage that failed waits for the next attempt.
    pub(crate) retry: Duration,
}

impl Default for FollowTimes {
    fn default() -> Self {
        Self { round: Duration::from_secs(1), retry: Duration::from_secs(60) }
    }
}

/// The threads that keep stages up to date. They end when this is dropped.
#[derive(Debug)]
pub struct Followers {
    states: StageStates,
    threads: Vec<JoinHandle<()>>,
}

/// The states of the stages that are kept up to date. Copies show the same.
#[derive(Clone, Debug, Default)]
pub struct StageStates(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
    switch: PauseSwitch,
}

#[derive(Debug, Default)]
struct Inner {
    stages: BTreeMap<&'static str, State>,
    /// Counts the times when captures became durable.
    arrivals: u64,
    is_paused: bool,
    ending: Option<Ending>,
}

#[derive(Debug, Default)]
struct State {
    captures: u64,
    damaged: u64,
    /// Rounds that processed all that was there.
    rounds: u64,
    failure: Option<String>,
}

/// How the threads end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// When the stages have processed everything.
    Complete,
    /// At once, after a commit.
    Now,
}

impl StageStates {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn change(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.lock());
        self.0.changed.notify_all();
    }
    /// Waits until `is_over`, at most for `time`.
    fn wait(&self, time: Option<Duration>, is_over: impl Fn(&Inner) -> bool) {
        let (inner, is_not_over) = (self.lock(), |inner: &mut Inner| !is_over(inner));
        match time {
            Some(time) => drop(self.0.changed.wait_timeout_while(inner, time, is_not_over)),
            None => drop(self.0.changed.wait_while(inner, is_not_over)),
        }
    }

    /// Captures have become durable.
    pub fn wake(&self) {
        self.change(|inner| inner.arrivals += 1);
    }
    /// Lets all stages commit and wait.
    pub fn pause(&self) {
        self.0.switch.pause();
        self.change(|inner| inner.is_paused = true);
    }
    /// Lets all stages go on.
    pub fn resume(&self) {
        self.0.switch.resume();
        self.change(|inner| inner.is_paused = false);
    }
    fn end(&self, ending: Ending) {
        if ending == Ending::Now {
            self.0.switch.pause();
        }
        // The harder ending stays.
        self.change(|inner| {
            if inner.ending != Some(Ending::Now) {
                inner.ending = Some(ending);
            }
        });
    }

    /// What is shown of a stage.
    pub(super) fn view(&self, stage: &'static str) -> StageView {
        let inner = self.lock();
        let Some(state) = inner.stages.get(stage) else { return StageView::default() };
        StageView {
            is_running: inner.ending.is_none(),
            is_paused: inner.is_paused,
            captures: state.captures,
            damaged: state.damaged,
            failure: state.failure.clone(),
            ..StageView::default()
        }
    }
    /// Waits until a stage has processed everything that was there when this was called, or has failed.
    #[cfg(test)]
    pub(super) fn settled(&self, stage: &'static str) {
        let rounds = |inner: &Inner| inner.stages.get(stage).map_or(0, |state| state.rounds);
        // The round that runs may have begun before.
        let until = rounds(&self.lock()) + 2;
        while rounds(&self.lock()) < until {
            let seen = rounds(&self.lock());
            self.wake();
            let failed = |inner: &Inner| inner.stages.get(stage).is_some_and(|state| state.failure.is_some());
            self.wait(None, |inner| rounds(inner) > seen || failed(inner));
            if failed(&self.lock()) {
                return;
            }
        }
    }
}

impl Followers {
    /// Starts a thread for each stage of the node that follows the archive. `writer` is held as long as they run.
    pub fn start(node: &Node, writer: &Arc<DirectoryWriter>, states: StageStates) -> Self {
        Self::start_with(node, writer, states, FollowTimes::default())
    }

    pub(crate) fn start_with(
        node: &Node,
        writer: &Arc<DirectoryWriter>,
        states: StageStates,
        times: FollowTimes,
    ) -> Self {
        states.resume();
        states.change(|inner| inner.ending = None);
        let mut threads = Vec::new();
        for following in node.stages.iter().filter_map(|stage| stage.following()) {
            states.change(|inner| {
                inner.stages.entry(following.name).or_default();
            });
            let thread = FollowerThread {
                node: node.clone(),
                writer: Arc::clone(writer),
                following,
                states: states.clone(),
                times,
            };
            let spawned =
                std::thread::Builder::new().name(following.name.to_owned()).spawn(move || thread.run());
            threads.push(spawned.expect("a thread can be started"));
        }
        Self { states, threads }
    }

    /// Waits until every stage has processed the whole archive, unless it fails or another copy of the states ends it. The
    /// archive must not grow any more.
    pub fn finish(self) {
        self.states.end(if self.states.lock().is_paused { Ending::Now } else { Ending::Complete });
        // Dropping it waits.
    }
    /// What ends a [`Followers::finish`] that takes too long.
    #[must_use]
    pub fn states(&self) -> StageStates {
        self.states.clone()
    }
}

impl StageStates {
    /// Ends the threads, each after a commit.
    pub fn stop(&self) {
        self.end(Ending::Now);
    }
}

impl Drop for Followers {
    fn drop(&mut self) {
        if self.states.lock().ending.is_none() {
            self.states.stop();
        }
        for thread in self.threads.drain(..) {
            // A stage that panics has ended; the archive is whole, and so is its last commit.
            let _ = thread.join();
        }
    }
}

struct FollowerThread {
    node: Node,
    writer: Arc<DirectoryWriter>,
    following: &'static FollowingStage,
    states: StageStates,
    times: FollowTimes,
}

impl FollowerThread {
    fn run(self) {
        while let Err(error) = self.follow() {
            let (name, states) = (self.following.name, &self.states);
            let error = stage_error("keep up to date", name)(error);
            tracing::warn!(stage = name, error = %error.with_causes(), "a stage failed");
            self.node.monitor.notice(&Notice::StageFailed { stage: name, error: &error });
            self.change(|state| state.failure = Some(error.with_causes()));
            states.wait(Some(self.times.retry), |inner| inner.ending.is_some());
            if states.lock().ending.is_some() {
                return;
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        self.states.change(|inner| change(inner.stages.entry(self.following.name).or_default()));
    }

    /// Opens the stage, and keeps it up to date until the end.
    fn follow(&self) -> Result<(), stage::Error> {
        let site = self.following.site(&self.node, self.writer.directory());
        let mut stage = self.following.open_at(&site)?;
        let mut round = Round { seen: 0, is_last: false };
        let reader = self.open(&site, &mut round)?;
        let runner = Runner::new(reader, site.parser()).paused_by(self.states.0.switch.clone());
        let mut runner = runner;
        runner.follow(&mut [&mut *stage], |progress| self.next(&site, &mut round, progress))
    }

    /// The archive as it is now.
    fn open(&self, site: &StageSite<'_>, round: &mut Round) -> Result<Reader, stage::Error> {
        {
            let inner = self.states.lock();
            *round = Round { seen: inner.arrivals, is_last: inner.ending.is_some() };
        }
        site.reader()
    }

    /// Waits for the next round.
    fn next(
        &self,
        site: &StageSite<'_>,
        round: &mut Round,
        progress: &Progress,
    ) -> Result<Option<Reader>, stage::Error> {
        self.change(|state| {
            state.captures += progress.captures;
            state.damaged += progress.damaged;
            state.rounds += u64::from(!progress.is_paused);
            state.failure = None;
        });
        let is_complete = round.is_last && !progress.is_paused;
        self.states.wait(Some(self.times.round), |inner| inner.ending.is_some());
        let has_work =
            |inner: &Inner| !inner.is_paused && (progress.is_paused || inner.arrivals != round.seen);
        self.states.wait(None, |inner| inner.ending.is_some() || has_work(inner));
        match self.states.lock().ending {
            Some(Ending::Now) => return Ok(None),
            Some(Ending::Complete) if is_complete => return Ok(None),
            _ => {}
        }
        self.open(site, round).map(Some)
    }
}

/// The archive of a round.
struct Round {
    /// The arrivals when it was opened.
    seen: u64,
    /// Whether it does not grow any more.
    is_last: bool,
}
