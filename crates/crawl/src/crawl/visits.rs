//! The visits under way, each a task of the runtime.

use crate::findings::ReadOptions;
use crate::visit::{FinishedStep, StepContent, take};
use base::clock::Clock;
use base::door::Door;
use frontier::{Step, Task};
use std::sync::Arc;
use tokio::task::JoinSet;

pub(super) struct Visits<D> {
    door: Arc<D>,
    clock: Arc<dyn Clock>,
    reads: ReadOptions,
    running: JoinSet<(Task, FinishedStep)>,
    /// Those of them that are requests, not look-ups.
    requests: u64,
}

impl<D: Door + 'static> Visits<D> {
    pub(super) fn new(door: Arc<D>, clock: Arc<dyn Clock>, reads: ReadOptions) -> Self {
        Self { door, clock, reads, running: JoinSet::new(), requests: 0 }
    }
    /// Number of visits under way.
    pub(super) fn len(&self) -> usize {
        self.running.len()
    }
    /// Number of requests among them.
    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// Begins a visit.
    pub(super) fn start(&mut self, task: Task) {
        self.requests += u64::from(!matches!(task.step, Step::LookUp(..)));
        let (door, clock) = (Arc::clone(&self.door), Arc::clone(&self.clock));
        let reads = self.reads.clone();
        self.running.spawn(async move {
            let finished = take(&*door, &*clock, &reads, &task.step).await;
            (task, finished)
        });
    }

    /// The next visit that ends; `None` if none is under way.
    pub(super) async fn next(&mut self) -> Option<(Task, FinishedStep)> {
        let (task, finished) =
            self.running.join_next().await?.expect("a visit neither panics nor is stopped");
        if finished.capture.is_some() && !matches!(finished.what, StepContent::LookedUp(_)) {
            self.requests -= 1;
        }
        Some((task, finished))
    }

    /// Ends all visits at once.
    pub(super) async fn shutdown(&mut self) {
        self.running.shutdown().await;
    }
}
