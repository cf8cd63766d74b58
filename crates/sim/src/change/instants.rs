//! When things happen: processes whose instants are computed on demand and never stored.
//!
//! Time is cut into cells. What happens in a cell is drawn from the seed and the number of the cell alone, so the last
//! instant before a moment, the next one after it and all between two moments are found by looking at the few cells
//! around. A Poisson process is exact this way: the counts in disjoint cells are independent and the positions in a
//! cell are even.
//!
//! **Invariant:** every instant is a whole second, as `Last-Modified` can say it; two in one second are one.

use super::ChangeProcess;
use crate::draw::{below, draw, happens, unit};
use base::Interval;

/// Seconds since 1970.
pub(crate) type Second = i64;

const BURST_MIN: u64 = 3;
const BURST_MAX: u64 = 12;
const BURSTS_A_CELL_MAX: u64 = 4;
const BURST_GAP_MIN: u64 = 60;
const BURST_GAP_MAX: u64 = 15 * 60;
/// Mean number of changes of a burst.
pub(super) const BURST_MEAN: f64 = (BURST_MIN + BURST_MAX) as f64 / 2.0;
/// The longest burst. Bursts begin at least this long before the end of their cell, so none reaches the next.
const BURST_SECONDS: u64 = BURST_MAX * BURST_GAP_MAX;
const DAY: u64 = 86_400;
const _: () = assert!(BURST_SECONDS < DAY && BURSTS_A_CELL_MAX * BURST_MAX <= CELL_MAX as u64);
/// Maximum number of instants in a cell; a Poisson number of mean 1 exceeds 16 once in 10^15 cells.
const CELL_MAX: usize = 48;
const POISSON_MAX: u64 = 16;

/// All instants of one process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    kind: HostileKind,
    /// The length of a cell in seconds.
    length: Second,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
enum HostileKind {
    Poisson,
    Periodic(Second),
    Bursty,
    Never,
}

/// The instants of one cell, in order.
struct Cell {
    at: [Second; CELL_MAX],
    count: usize,
}

impl Cell {
    fn push(&mut self, at: Second) {
        self.at[self.count] = at;
        self.count += 1;
    }
    fn instants(&self) -> &[Second] {
        &self.at[..self.count]
    }
}

impl Instants {
    /// No instant at all.
    pub(crate) const NEVER: Self = Self { kind: HostileKind::Never, length: 1, seed: 0 };

    /// A Poisson process.
    pub(crate) fn poisson(seed: u64, mean: Interval) -> Self {
        Self { kind: HostileKind::Poisson, length: seconds(mean).max(1), seed }
    }
    /// Every so often, at `phase` after each whole multiple.
    pub(crate) fn periodic(every: Interval, phase: Second) -> Self {
        let length = seconds(every).max(1);
        Self { kind: HostileKind::Periodic(phase.rem_euclid(length)), length, seed: 0 }
    }
    /// Bursts with a mean time between them, a day at least.
    pub(crate) fn bursty(seed: u64, mean: Interval) -> Self {
        Self { kind: HostileKind::Bursty, length: seconds(mean.max(Interval::from_days(1))), seed }
    }
    /// The changes of the main text by `process` for the page with this seed.
    pub(crate) fn of_text(process: ChangeProcess, seed: u64) -> Self {
        match process {
            ChangeProcess::Poisson { mean } => Self::poisson(draw(seed, 3), mean),
            ChangeProcess::Periodic { every } => Self::periodic(every, phase(seed, every)),
            ChangeProcess::Bursty { mean } => Self::bursty(draw(seed, 3), mean),
            ChangeProcess::Never | ChangeProcess::AdvertOnly { .. } => Self::NEVER,
        }
    }
    /// The changes of the advert block by `process` for the page with this seed.
    pub(crate) fn of_advert(process: ChangeProcess, seed: u64) -> Self {
        match process {
            ChangeProcess::AdvertOnly { mean } => Self::poisson(draw(seed, 4), mean),
            _ => Self::NEVER,
        }
    }

    /// The last instant in `(after, until]`.
    pub(crate) fn last(&self, after: Second, until: Second) -> Option<Second> {
        let mut found = [0];
        (self.recent(after, until, &mut found) > 0).then_some(found[0])
    }

    /// Fills `found` with the last instants in `(after, until]`, the latest first; returns their number.
    pub(crate) fn recent(&self, after: Second, until: Second, found: &mut [Second]) -> usize {
        let mut count = 0;
        let mut cell = self.cell_of(until);
        while !self.is_never() && count < found.len() && cell >= self.cell_of(after) {
            let inside = self.cell(cell);
            let fitting = inside.instants().iter().rev().filter(|at| **at > after && **at <= until);
            for (to, at) in found[count..].iter_mut().zip(fitting) {
                *to = *at;
                count += 1;
            }
            cell -= 1;
        }
        count
    }

    /// The first instant in `(after, before)`.
    pub(crate) fn next(&self, after: Second, before: Second) -> Option<Second> {
        let mut cell = self.cell_of(after);
        while !self.is_never() && cell <= self.cell_of(before) {
            let inside = self.cell(cell);
            if let Some(at) = inside.instants().iter().find(|at| **at > after) {
                return Some(*at).filter(|at| *at < before);
            }
            cell += 1;
        }
        None
    }

    /// Appends all instants in `[from, to)`, in order.
    pub(crate) fn all(&self, from: Second, to: Second, found: &mut Vec<Second>) {
        if self.is_never() || from >= to {
            return;
        }
        for cell in self.cell_of(from)..=self.cell_of(to - 1) {
            found.extend(self.cell(cell).instants().iter().filter(|at| (from..to).contains(*at)));
        }
    }

    fn is_never(&self) -> bool {
        matches!(self.kind, HostileKind::Never)
    }
    fn cell_of(&self, at: Second) -> i64 {
        at.div_euclid(self.length)
    }

    fn cell(&self, number: i64) -> Cell {
        let mut cell = Cell { at: [0; CELL_MAX], count: 0 };
        let (start, seed) = (number * self.length, draw(self.seed, number.cast_unsigned()));
        match self.kind {
            HostileKind::Never => {}
            HostileKind::Periodic(phase) => cell.push(start + phase),
            HostileKind::Poisson => fill_poisson(&mut cell, seed, start, self.length),
            HostileKind::Bursty => fill_bursts(&mut cell, seed, start, self.length),
        }
        let inside = &mut cell.at[..cell.count];
        inside.sort_unstable();
        cell.count = without_repeats(inside);
        cell
    }
}

fn fill_poisson(cell: &mut Cell, seed: u64, start: Second, length: Second) {
    for n in 0..poisson_of_mean_one(draw(seed, 0)).min(POISSON_MAX) {
        cell.push(start + below_second(draw(seed, 1 + n), length));
    }
}

fn fill_bursts(cell: &mut Cell, seed: u64, start: Second, length: Second) {
    let room = length - BURST_SECONDS.cast_signed();
    for burst in 0..poisson_of_mean_one(draw(seed, 0)).min(BURSTS_A_CELL_MAX) {
        let seed = draw(seed, 1 + burst);
        let mut at = start + below_second(draw(seed, 0), room);
        for change in 0..BURST_MIN + below(draw(seed, 1), BURST_MAX - BURST_MIN + 1) {
            cell.push(at);
            at +=
                (BURST_GAP_MIN + below(draw(seed, 2 + change), BURST_GAP_MAX - BURST_GAP_MIN)).cast_signed();
        }
    }
}

fn poisson_of_mean_one(draw: u64) -> u64 {
    let (mut count, mut share) = (0_u64, 0.367_879_441_171_442_33);
    let mut rest = unit(draw) - share;
    while rest >= 0.0 && count < 20 {
        count += 1;
        share /= count as f64;
        rest -= share;
    }
    count
}

/// Moves the distinct ones of sorted instants to the front; returns their number.
fn without_repeats(sorted: &mut [Second]) -> usize {
    let mut kept = 0;
    for at in 0..sorted.len() {
        if kept == 0 || sorted[kept - 1] != sorted[at] {
            sorted[kept] = sorted[at];
            kept += 1;
        }
    }
    kept
}

fn phase(seed: u64, every: Interval) -> Second {
    below_second(draw(seed, 3), seconds(every).max(1))
}

pub(crate) fn below_second(draw: u64, bound: Second) -> Second {
    below(draw, bound.max(1).cast_unsigned()).cast_signed()
}

fn seconds(interval: Interval) -> Second {
    interval.as_seconds().cast_signed()
}

/// The time of an event that happens to this many thousandths of things, uniformly over a span; none if it does not happen.
pub(crate) fn moment(seed: u64, per_mille: u16, from: Second, span: Second) -> Option<Second> {
    happens(draw(seed, 0), per_mille).then(|| from + below_second(draw(seed, 1), span))
}

#[cfg(test)]
mod tests;
