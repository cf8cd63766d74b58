//! Hands arrivals to stages and commits them.

use crate::Stage;
use crate::arrival::Arrival;
use crate::error::Error;
use archive::Checkpoint;

/// How far a run has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Captures that were processed.
    pub captures: u64,
    /// Those of them that are damaged. They were passed over.
    pub damaged: u64,
    /// The position after the last of them.
    pub checkpoint: Option<Checkpoint>,
    /// Whether the run ended because it was paused.
    pub is_paused: bool,
}

/// Hands captures to stages in order of arrival, and commits them together.
///
/// A [`Runner`](crate::Runner) uses it to catch up. A running crawl uses it to hand over each capture as it becomes durable.
#[derive(Debug)]
pub struct Delivery {
    positions: Vec<Position>,
    progress: Progress,
    uncommitted: u64,
}

/// Where a stage is.
#[derive(Debug)]
struct Position {
    /// Its checkpoint at the start: it gets nothing from before.
    from: Option<Checkpoint>,
    has_taken: bool,
}

impl Delivery {
    /// Begins after the checkpoints of `stages`. Later calls must pass the same stages in the same order.
    ///
    /// # Errors
    /// When a checkpoint cannot be read.
    pub fn start(stages: &[&mut dyn Stage]) -> Result<Self, Error> {
        let position = |stage: &&mut dyn Stage| Ok(Position { from: stage.checkpoint()?, has_taken: false });
        let positions = stages.iter().map(position).collect::<Result<_, Error>>()?;
        Ok(Self { positions, progress: Progress::default(), uncommitted: 0 })
    }

    /// The first checkpoint of all; `None` when a stage has none.
    pub(crate) fn from(&self) -> Option<&Checkpoint> {
        // `None` is less than any checkpoint.
        self.positions.iter().map(|position| position.from.as_ref()).min().flatten()
    }
    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
    /// Captures that were processed since the last commit.
    #[must_use]
    pub fn uncommitted(&self) -> u64 {
        self.uncommitted
    }
    pub(crate) fn note_pause(&mut self) {
        self.progress.is_paused = true;
    }

    /// Hands one capture to every stage that has not processed it.
    ///
    /// # Errors
    /// When a stage fails.
    ///
    /// # Panics
    /// When the capture arrived before the last one, or the stages are others than at the start.
    pub fn take(&mut self, stages: &mut [&mut dyn Stage], arrival: &Arrival<'_>) -> Result<(), Error> {
        assert_eq!(stages.len(), self.positions.len(), "the stages are those of the start");
        let checkpoint = arrival.checkpoint();
        let is_later = self.progress.checkpoint.as_ref().is_none_or(|last| *last < checkpoint);
        assert!(is_later, "captures come in order of arrival");
        for (stage, position) in stages.iter_mut().zip(&mut self.positions) {
            let is_known =
                position.from.as_ref().is_some_and(|from| from.is_after(&arrival.entry().location));
            if !is_known {
                stage.take(arrival)?;
                position.has_taken = true;
            }
        }
        self.progress.captures += 1;
        self.progress.damaged += u64::from(arrival.is_damaged());
        self.progress.checkpoint = Some(checkpoint);
        self.uncommitted += 1;
        Ok(())
    }

    /// Commits every stage that took something since the last commit.
    ///
    /// # Errors
    /// When a stage fails.
    pub fn commit(&mut self, stages: &mut [&mut dyn Stage]) -> Result<(), Error> {
        self.uncommitted = 0;
        let Some(checkpoint) = &self.progress.checkpoint else { return Ok(()) };
        for (stage, position) in stages.iter_mut().zip(&mut self.positions) {
            if position.has_taken {
                stage.commit(checkpoint)?;
                position.has_taken = false;
            }
        }
        Ok(())
    }
}
