//! Which worker gets which document next, and what happens to unanswered ones (P2, P3, D14). Pure: it is given what
//! happened and when, and says what to do.
//!
//! Documents wait in the order in which they lie on disk. A worker with nothing unsent gets the next ones, as many as its
//! window allows: enough to keep it busy while an answer travels, few enough that no worker ends long after the others.
//!
//! When a program dies, everything that it had and had not answered is *suspect*, and each suspect is tried alone by a
//! worker that has nothing else. A document that fails alone gets a strike, and is quarantined after the last one.
//!
//! **Invariant:** a document is in exactly one place: it waits, is suspect, is with one worker, or is settled. It is
//! settled once.
//!
//! **Invariant:** until the first answer only one worker has work, and one document.
//!
//! **Invariant:** a program that has stopped working for good costs no more than [`BARREN_MAX`] documents.

mod window;

use crate::settings::SupplyMode;
use crate::wire::{AnalysisFailure, FailureCause, Parcel};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use window::Pace;

/// A document that is not settled.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) parcel: Arc<Parcel>,
    /// How often the program failed on it alone.
    strikes: u32,
    /// How often a worker ended with it alone.
    worker_deaths: u32,
}

/// Maximum number of workers that may end, for any reason, with a document alone before it counts as the cause.
const WORKER_DEATHS_MAX: u32 = 8;
/// When this many documents in a row were quarantined because of the program, without an answer between them, it is not the
/// documents. A site whose pages are all poison has fewer, mostly.
const BARREN_MAX: u32 = 1_000;
/// Maximum number of documents tried before the first answer if the program exits at once.
const FIRST_TRIES_MAX: usize = 3;

/// What a worker is to do.
#[derive(Debug)]
pub(crate) enum Next {
    /// Take these.
    Take(Vec<Arc<Parcel>>),
    /// Wait until something happens.
    Wait,
    /// There is nothing more, nor will there be.
    End,
}

/// What comes of a failure.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// These are quarantined.
    Quarantined(Vec<Arc<Parcel>>),
    /// The program has never answered anything: the job cannot go on.
    Hopeless,
    /// The program no longer answers: these are quarantined, and the job fails.
    Barren(Vec<Arc<Parcel>>),
}

/// One worker as the dispatcher sees it.
#[derive(Debug, Default)]
struct Seat {
    with: VecDeque<Task>,
    with_bytes: usize,
    is_alone: bool,
    /// It gets nothing until it has nothing, and then a suspect.
    is_drained: bool,
    pace: Pace,
    /// What is meant for it, where that is fixed beforehand.
    own: VecDeque<Task>,
}

impl Seat {
    fn take(&mut self, task: Task) {
        self.with_bytes += task.parcel.bytes();
        self.with.push_back(task);
    }
}

/// All workers and all documents in hand.
#[derive(Debug)]
pub(crate) struct Dispatch {
    supply: SupplyMode,
    strikes_max: u32,
    seats: Vec<Seat>,
    waiting: VecDeque<Task>,
    suspects: VecDeque<Task>,
    held_bytes: usize,
    held: usize,
    is_fed: bool,
    has_answered: bool,
    first_tries: usize,
    /// Documents quarantined since the last answer.
    barren: u32,
}

impl Dispatch {
    pub(crate) fn new(jobs: usize, supply: SupplyMode, strikes_max: u32) -> Self {
        Self {
            supply,
            strikes_max: strikes_max.max(1),
            seats: (0..jobs.max(1)).map(|_| Seat::default()).collect(),
            waiting: VecDeque::new(),
            suspects: VecDeque::new(),
            held_bytes: 0,
            held: 0,
            is_fed: false,
            has_answered: false,
            first_tries: 0,
            barren: 0,
        }
    }

    /// Takes a document that was read; `seat` is its worker, if that is fixed beforehand.
    pub(crate) fn offer(&mut self, parcel: Parcel, seat: Option<usize>) {
        self.held_bytes += parcel.bytes();
        self.held += 1;
        let task = Task { parcel: Arc::new(parcel), strikes: 0, worker_deaths: 0 };
        match seat.and_then(|seat| self.seats.get_mut(seat)) {
            Some(seat) => seat.own.push_back(task),
            None => self.waiting.push_back(task),
        }
    }
    /// There are no more documents.
    pub(crate) fn end_feed(&mut self) {
        self.is_fed = true;
    }
    /// Whether another document may be read. One is always held, however long it is.
    pub(crate) fn has_room(&self, bytes_max: usize, documents_max: usize) -> bool {
        self.held == 0 || (self.held_bytes < bytes_max && self.held < documents_max)
    }
    /// How many documents wait for this worker alone.
    pub(crate) fn waiting_for(&self, seat: usize) -> usize {
        self.seats.get(seat).map_or(0, |seat| seat.own.len())
    }
    /// Whether any answer has come.
    pub(crate) fn has_answered(&self) -> bool {
        self.has_answered
    }
    /// Before any answer came, nothing is asked of the program but one document.
    pub(crate) fn trust(&mut self) {
        self.has_answered = true;
    }
    /// Whether every document is settled and no more will come.
    pub(crate) fn is_done(&self) -> bool {
        self.is_fed && self.held == 0
    }
    /// How many documents a worker has.
    pub(crate) fn with(&self, seat: usize) -> usize {
        self.seats.get(seat).map_or(0, |seat| seat.with.len())
    }
    /// The URL of a document that a worker has.
    pub(crate) fn url_of(&self, seat: usize, number: u64) -> Option<String> {
        let mut with = self.seats.get(seat)?.with.iter();
        with.find(|task| task.parcel.number == number).map(|task| task.parcel.url.clone())
    }
    /// That of the first that it has.
    pub(crate) fn first_url(&self, seat: usize) -> Option<String> {
        self.seats.get(seat)?.with.front().map(|task| task.parcel.url.clone())
    }
    pub(crate) fn is_alone(&self, seat: usize) -> bool {
        self.seats.get(seat).is_some_and(|seat| seat.is_alone)
    }

    /// What a worker that has sent off everything is to do.
    pub(crate) fn next(&mut self, seat: usize) -> Next {
        if self.is_done() {
            return Next::End;
        }
        let is_first = self.has_answered || (seat == 0 && self.with(seat) == 0);
        let (has_suspects, is_idle) = (!self.suspects.is_empty(), self.with(seat) == 0);
        let Some(at) = self.seats.get_mut(seat).filter(|_| is_first) else { return Next::Wait };
        at.is_drained &= has_suspects;
        if has_suspects && is_idle && self.has_answered {
            return self.take_suspect(seat);
        }
        if at.is_alone || at.is_drained {
            return Next::Wait;
        }
        match self.take_waiting(seat) {
            // Nothing was ever answered and no other document is left: one more try decides whether the job fails.
            Next::Wait if !self.has_answered && has_suspects => self.take_suspect(seat),
            next => next,
        }
    }

    fn take_suspect(&mut self, seat: usize) -> Next {
        let (Some(task), Some(seat)) = (self.suspects.pop_front(), self.seats.get_mut(seat)) else {
            return Next::Wait;
        };
        let parcel = Arc::clone(&task.parcel);
        seat.is_alone = true;
        seat.take(task);
        Next::Take(vec![parcel])
    }

    fn take_waiting(&mut self, seat: usize) -> Next {
        let (supply, has_answered) = (self.supply, self.has_answered);
        if supply == SupplyMode::Static && !has_answered {
            // Until the first answer no other worker runs, so any document will do.
            let other = self.seats.iter_mut().find_map(|seat| seat.own.pop_front());
            if let (Some(task), Some(seat)) = (other, self.seats.get_mut(seat)) {
                let parcel = Arc::clone(&task.parcel);
                seat.take(task);
                return Next::Take(vec![parcel]);
            }
        }
        let Some(seat) = self.seats.get_mut(seat) else { return Next::Wait };
        let (mut taken, mut bytes) = (Vec::new(), 0);
        loop {
            let waiting = if supply == SupplyMode::Static { &mut seat.own } else { &mut self.waiting };
            let Some(task) = waiting.front() else { break };
            let is_free = match (has_answered, supply) {
                (false, _) | (_, SupplyMode::Synchronous) => seat.with.is_empty(),
                _ => seat.pace.allows(seat.with.len(), seat.with_bytes),
            };
            // The first that does not fit is left to the worker that is free first.
            if !is_free || (bytes > 0 && bytes + task.parcel.bytes() > BATCH_BYTES_MAX) {
                break;
            }
            let Some(task) = waiting.pop_front() else { break };
            bytes += task.parcel.bytes();
            taken.push(Arc::clone(&task.parcel));
            seat.take(task);
        }
        if taken.is_empty() { Next::Wait } else { Next::Take(taken) }
    }

    /// A worker has settled a document, by an answer or because it cannot be read; nothing when it does not have it.
    pub(crate) fn settle(&mut self, seat: usize, number: u64) -> Option<Arc<Parcel>> {
        let at = self.seats.get_mut(seat)?;
        let place = at.with.iter().position(|task| task.parcel.number == number)?;
        let task = at.with.remove(place)?;
        at.with_bytes -= task.parcel.bytes();
        at.is_alone = false;
        self.held -= 1;
        self.held_bytes -= task.parcel.bytes();
        Some(task.parcel)
    }
    /// A worker that had nothing was given something.
    pub(crate) fn begins(&mut self, seat: usize, now: Duration) {
        self.seats.iter_mut().skip(seat).take(1).for_each(|at| at.pace.begins(now));
    }
    /// This many answers of a worker have arrived together.
    pub(crate) fn pace(&mut self, seat: usize, answers: u32, now: Duration) {
        if answers > 0 {
            self.barren = 0;
        }
        if let Some(at) = self.seats.get_mut(seat) {
            at.pace.answered(now, answers, at.with.is_empty());
        }
    }

    /// The program of a worker failed on `suspects`; the worker keeps the rest of what it has.
    pub(crate) fn failed(&mut self, seat: usize, failure: &AnalysisFailure, suspects: &[u64]) -> Outcome {
        let Some(at) = self.seats.get_mut(seat) else { return Outcome::Quarantined(Vec::new()) };
        let was_alone = std::mem::take(&mut at.is_alone);
        let (dead, rest) = std::mem::take(&mut at.with)
            .into_iter()
            .partition::<VecDeque<_>, _>(|task| suspects.contains(&task.parcel.number));
        at.with_bytes = rest.iter().map(|task| task.parcel.bytes()).sum();
        at.with = rest;
        at.is_drained = true;
        at.pace.rest();
        if !self.has_answered {
            return self.failed_at_first(failure, dead);
        }
        self.suspect(dead, was_alone, false)
    }

    /// A worker ended, or had to be ended because of what it had (`is_guilty`). Another takes its seat.
    pub(crate) fn ended(&mut self, seat: usize, is_guilty: bool) -> Outcome {
        let Some(at) = self.seats.get_mut(seat) else { return Outcome::Quarantined(Vec::new()) };
        let was_alone = std::mem::take(&mut at.is_alone);
        at.is_drained = false;
        at.pace.rest();
        let dead = std::mem::take(&mut at.with);
        at.with_bytes = 0;
        if !self.has_answered && is_guilty {
            let failure =
                AnalysisFailure { cause: FailureCause::Worker, what: String::new(), words: String::new() };
            return self.failed_at_first(&failure, dead);
        }
        // Before the first answer a worker has at most one document.
        self.suspect(dead, was_alone || !self.has_answered, !is_guilty)
    }

    /// Nothing was ever answered. A program that ends is given another document or two; one that says nothing is not.
    fn failed_at_first(&mut self, failure: &AnalysisFailure, dead: VecDeque<Task>) -> Outcome {
        self.first_tries += dead.len().max(1);
        self.suspects.extend(dead);
        let is_silent = failure.cause == FailureCause::Hung;
        let has_another =
            !self.waiting.is_empty() || self.seats.iter().any(|seat| !seat.own.is_empty()) || !self.is_fed;
        if is_silent || self.first_tries >= FIRST_TRIES_MAX || !has_another {
            return Outcome::Hopeless;
        }
        self.seats.iter_mut().for_each(|seat| seat.is_drained = false);
        Outcome::Quarantined(Vec::new())
    }

    fn suspect(&mut self, dead: VecDeque<Task>, was_alone: bool, is_worker: bool) -> Outcome {
        let (mut quarantined, before) = (Vec::new(), self.barren);
        for mut task in dead {
            task.strikes += u32::from(was_alone && !is_worker);
            task.worker_deaths += u32::from(was_alone && is_worker);
            if task.strikes >= self.strikes_max || task.worker_deaths >= WORKER_DEATHS_MAX {
                self.barren += 1;
                self.held -= 1;
                self.held_bytes -= task.parcel.bytes();
                quarantined.push(task.parcel);
            } else {
                self.suspects.push_back(task);
            }
        }
        let is_barren = self.barren >= BARREN_MAX && before < BARREN_MAX;
        if is_barren { Outcome::Barren(quarantined) } else { Outcome::Quarantined(quarantined) }
    }
}

/// Maximum bytes sent to a worker at once.
const BATCH_BYTES_MAX: usize = 256 * 1024;

#[cfg(test)]
mod tests;
