//! Those that a policy is measured by: below it, every page in turn; above it, who knows what no crawler can.

use super::replay::{At, Planner};
use super::score::Seen;
use super::trace::{Event, Trace};
use base::Chance;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Every known page in turn, whatever it does.
#[derive(Debug, Default)]
pub(crate) struct InTurn {
    line: VecDeque<u32>,
    new: VecDeque<u32>,
    /// Whether new pages join the end of the line; otherwise they are fetched first.
    new_last: bool,
}

impl InTurn {
    pub(crate) fn new_last() -> Self {
        Self { new_last: true, ..Self::default() }
    }
}

impl Planner for InTurn {
    fn known(&mut self, page: u32, _at: f64) {
        if self.new_last { self.line.push_back(page) } else { self.new.push_back(page) }
    }
    fn pick(&mut self, _now: f64, _spacing: f64) -> Option<u32> {
        self.new.pop_front().or_else(|| self.line.pop_front())
    }
    fn saw(&mut self, page: u32, _now: f64, seen: Seen, _is_hinted_of: bool) {
        if !seen.is_gone {
            self.line.push_back(page);
        }
    }
}

/// Knows how often each page changes in the window on average, though not when: a page is visited as often as the root of its
/// rate says, and one that never changes is not visited again.
#[derive(Debug)]
pub(crate) struct Oracle {
    /// For each page the interval between its turns.
    intervals: Vec<f64>,
    new: VecDeque<u32>,
    turns: BinaryHeap<Reverse<(At, u32)>>,
    /// The turn of the page that was visited last.
    clock: f64,
    chance: Chance,
}

impl Oracle {
    pub(crate) fn new(trace: &Trace) -> Self {
        let intervals = rates(trace).into_iter().map(|rate| 1.0 / rate.sqrt()).collect();
        Self {
            intervals,
            new: VecDeque::new(),
            turns: BinaryHeap::new(),
            clock: 0.0,
            chance: Chance::new(20),
        }
    }
}

/// How often each page changes, or vanishes, a second of its life in the window.
fn rates(trace: &Trace) -> Vec<f64> {
    let begins = |begins: &bool| begins.then_some(trace.from);
    let mut since: Vec<Option<f64>> = trace.begins.iter().map(begins).collect();
    let mut until = vec![trace.to; since.len()];
    let mut changes = vec![0.0; since.len()];
    for (at, page, event) in &trace.events {
        let page = *page as usize;
        match since[page] {
            Some(_) => changes[page] += 1.0,
            None => since[page] = Some(*at),
        }
        until[page] = if *event == Event::Vanished { *at } else { trace.to };
    }
    let lives = since.iter().zip(&until).map(|(since, until)| until - since.unwrap_or(*until));
    lives.zip(changes).map(|(life, changes)| changes / life.max(1.0)).collect()
}

impl Planner for Oracle {
    fn known(&mut self, page: u32, _at: f64) {
        self.new.push_back(page);
    }
    fn pick(&mut self, _now: f64, _spacing: f64) -> Option<u32> {
        if let Some(page) = self.new.pop_front() {
            return Some(page);
        }
        let Reverse((turn, page)) = self.turns.pop()?;
        self.clock = turn.0;
        Some(page)
    }
    fn saw(&mut self, page: u32, _now: f64, seen: Seen, _is_hinted_of: bool) {
        let interval = self.intervals[page as usize];
        if seen.is_gone || interval.is_infinite() {
            return;
        }
        // Pages of one rate begin at different moments.
        let part = if seen.is_first { self.chance.unit() } else { 1.0 };
        self.turns.push(Reverse((At(self.clock + interval * part), page)));
    }
}

/// Knows every change when it happens, and visits the page whose change is the oldest.
#[derive(Debug, Default)]
pub(crate) struct Clairvoyant {
    stale: VecDeque<u32>,
    waits: Vec<bool>,
}

impl Clairvoyant {
    pub(crate) fn new(trace: &Trace) -> Self {
        Self { stale: VecDeque::new(), waits: vec![false; trace.paths.len()] }
    }
}

impl Planner for Clairvoyant {
    fn known(&mut self, page: u32, _at: f64) {
        self.happened(page);
    }
    fn happened(&mut self, page: u32) {
        if !std::mem::replace(&mut self.waits[page as usize], true) {
            self.stale.push_back(page);
        }
    }
    fn pick(&mut self, _now: f64, _spacing: f64) -> Option<u32> {
        let page = self.stale.pop_front()?;
        self.waits[page as usize] = false;
        Some(page)
    }
    fn saw(&mut self, _page: u32, _now: f64, _seen: Seen, _is_hinted_of: bool) {}
}
