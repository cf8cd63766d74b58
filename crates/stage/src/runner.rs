//! Runs stages over the archive.

use crate::Stage;
use crate::arrival::Arrival;
use crate::body::BodyParser;
use crate::delivery::{Delivery, Progress};
use crate::error::Error;
use archive::{Checkpoint, Entry, Reader, Target};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of captures that a stage can look ahead.
pub const LOOK_AHEAD_CAPTURES: usize = 4_096;
/// Number of captures between two commits of a run, unless [`Runner::commit_every`] says otherwise.
pub const COMMIT_CAPTURES: u64 = 2_048;
/// Maximum lag that is counted, in captures.
pub const LAG_CAPTURES_MAX: u64 = 100_000;

/// Runs stages over the captures of an archive.
#[derive(Debug)]
pub struct Runner {
    reader: Reader,
    parser: BodyParser,
    pause: PauseSwitch,
    commit_captures: u64,
}

impl Runner {
    /// A runner over the archive as `reader` sees it, which has bodies parsed by `parser`.
    #[must_use]
    pub fn new(reader: Reader, parser: BodyParser) -> Self {
        Self { reader, parser, pause: PauseSwitch::default(), commit_captures: COMMIT_CAPTURES }
    }
    /// Commits after this number of captures, and at the end of a run.
    #[must_use]
    pub fn commit_every(self, captures: u64) -> Self {
        Self { commit_captures: captures, ..self }
    }
    /// Has its runs paused by `switch`, so that they can be paused before the runner exists.
    #[must_use]
    pub fn paused_by(self, switch: PauseSwitch) -> Self {
        Self { pause: switch, ..self }
    }
    /// What pauses its runs. Copies may go to other threads.
    #[must_use]
    pub fn pause_switch(&self) -> PauseSwitch {
        self.pause.clone()
    }

    /// Gives every stage the captures after its checkpoint, to the end of the archive or until it is paused, and commits
    /// now and then. `tell` gets the progress after each of these commits.
    ///
    /// # Errors
    /// When the archive or a checkpoint cannot be read, or a stage fails.
    pub fn catch_up(
        &self,
        stages: &mut [&mut dyn Stage],
        mut tell: impl FnMut(&Progress),
    ) -> Result<Progress, Error> {
        let mut delivery = Delivery::start(stages)?;
        let mut arrivals = self.reader.since(delivery.from())?;
        let mut ahead: VecDeque<Entry> = VecDeque::new();
        loop {
            if self.pause.is_paused() {
                delivery.note_pause();
                break;
            }
            while ahead.len() < LOOK_AHEAD_CAPTURES
                && let Some(arrival) = arrivals.next()
            {
                ahead.push_back(arrival?.0);
            }
            let Some(entry) = ahead.pop_front() else { break };
            let arrival = Arrival::archived(entry, &self.reader, &self.parser).with_following(&ahead);
            delivery.take(stages, &arrival)?;
            if delivery.uncommitted() >= self.commit_captures {
                delivery.commit(stages)?;
                tell(delivery.progress());
            }
        }
        delivery.commit(stages)?;
        stages.iter_mut().try_for_each(|stage| stage.sync())?;
        Ok(delivery.progress().clone())
    }

    /// Clears the stages, and derives everything again.
    ///
    /// # Errors
    /// When the archive cannot be read, or a stage fails.
    pub fn rebuild(
        &self,
        stages: &mut [&mut dyn Stage],
        tell: impl FnMut(&Progress),
    ) -> Result<Progress, Error> {
        stages.iter_mut().try_for_each(|stage| stage.clear())?;
        self.catch_up(stages, tell)
    }

    /// Follows an archive that another process or thread writes: catches up, waits, and catches up again. `next` gets the
    /// progress of each round, waits as long as it likes, and returns the archive as it is then, or `None` to end.
    ///
    /// # Errors
    /// When the archive or a checkpoint cannot be read, or a stage fails.
    pub fn follow(
        &mut self,
        stages: &mut [&mut dyn Stage],
        mut next: impl FnMut(&Progress) -> Result<Option<Reader>, Error>,
    ) -> Result<(), Error> {
        loop {
            let progress = self.catch_up(stages, |_| {})?;
            let Some(reader) = next(&progress)? else { return Ok(()) };
            self.reader = reader;
        }
    }

    /// How far a stage is behind the archive. Only the checksum files are read for it.
    ///
    /// # Errors
    /// When the archive or the checkpoint cannot be read.
    pub fn lag(&self, stage: &dyn Stage) -> Result<Lag, Error> {
        lag_after(&self.reader, stage.checkpoint()?.as_ref())
    }
}

/// How far a stage is behind the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Captures that it has not processed, up to [`LAG_CAPTURES_MAX`].
    pub captures: u64,
    /// Whether there are more.
    pub is_more: bool,
}

/// How far a checkpoint is behind the archive; `None` is the beginning. Only the checksum files are read for it.
///
/// # Errors
/// When the archive cannot be read.
pub fn lag_after(reader: &Reader, checkpoint: Option<&Checkpoint>) -> Result<Lag, Error> {
    let mut lag = Lag::default();
    for arrival in reader.since(checkpoint)? {
        arrival?;
        if lag.captures == LAG_CAPTURES_MAX {
            lag.is_more = true;
            break;
        }
        lag.captures += 1;
    }
    Ok(lag)
}

/// Removes what stages derived from captures of `target`, and returns how many rows, pages or documents that were. The
/// takedown of the archive comes first.
///
/// # Errors
/// When a stage fails. The others were asked all the same; the first error is returned.
pub fn take_down(stages: &mut [&mut dyn Stage], target: &Target) -> Result<u64, Error> {
    let results: Vec<_> = stages.iter_mut().map(|stage| stage.take_down(target)).collect();
    results.into_iter().sum()
}

/// Pauses the runs of a [`Runner`]: they commit and return. Run them again after [`PauseSwitch::resume`].
#[derive(Clone, Debug, Default)]
pub struct PauseSwitch(Arc<AtomicBool>);

impl PauseSwitch {
    /// Lets runs end after the capture that they process.
    pub fn pause(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Lets runs go on when they are called again.
    pub fn resume(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
    /// Whether runs are paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
