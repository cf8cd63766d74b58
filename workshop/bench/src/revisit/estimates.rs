//! How near an estimator comes to a rate that is known: `bench revisit --estimates`.
//!
//! Pages change at random with the same rate for all of a class. Each is visited twenty times, at intervals drawn from 0.3 to 2
//! times the mean time between changes. What an interval shows is whether there was a change, so the visits τᵢ bound what
//! any unbiased estimator can tell (Cramér and Rao): its variance is at least 1/I with the Fisher information
//! I = Σ τᵢ²·e^(−λτᵢ)/(1 − e^(−λτᵢ)).

use super::replay::At;
use super::scheduled::count;
use base::{Chance, Interval};
use frontier::revisit::estimate::Belief;
use frontier::revisit::pace::Pace;
use frontier::{Estimator, History};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The mean times between changes, in hours.
pub(crate) const CLASSES: [(&str, f64); 6] =
    [("1 h", 1.0), ("6 h", 6.0), ("1 d", 24.0), ("7 d", 168.0), ("30 d", 720.0), ("180 d", 4_320.0)];
const PAGES: usize = 400;
const VISITS: u32 = 20;
/// Intervals in means between changes.
const INTERVAL_FROM: f64 = 0.3;
const INTERVAL_TO: f64 = 2.0;
/// Pages are found one after the other, within this many mean intervals between changes.
const FOUND_WITHIN: f64 = 20.0;
/// Half of all errors of a normal distribution are below this many standard deviations.
const MEDIAN_DEVIATION: f64 = 0.6745;

/// Which pages share a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Servers {
    /// Each page has its own.
    Alone,
    /// Each class has its own.
    Alike,
    /// All classes share one.
    Mixed,
}

impl Servers {
    pub(crate) const ALL: [Self; 3] = [Self::Alone, Self::Alike, Self::Mixed];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Alike => "alike",
            Self::Mixed => "mixed",
        }
    }
}

/// How near an estimator came to the rate of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearness {
    /// The median of estimate ÷ truth.
    pub(crate) median: f64,
    /// The median of |estimate ÷ truth − 1|.
    pub(crate) error: f64,
    /// The least standard deviation that an unbiased estimate could have, as a share of the truth: the root of the bound.
    pub(crate) bound: f64,
}

impl Nearness {
    /// The error as a share of the bound.
    pub(crate) fn of_bound(&self) -> f64 {
        self.error / self.bound
    }
    /// The error as a share of that of an estimate that reaches the bound and is normally distributed.
    pub(crate) fn of_normal(&self) -> f64 {
        self.of_bound() / MEDIAN_DEVIATION
    }
}

/// Prints all.
pub(crate) fn run(is_json: bool) {
    if !is_json {
        println!(
            "{PAGES} pages of each class, {VISITS} visits; estimates of the rate as a share of the truth"
        );
    }
    for servers in Servers::ALL {
        if !is_json {
            println!("\nservers: {}", servers.name());
            println!(
                "{:<10} {:>6} {:>8} {:>8} {:>8} {:>10} {:>10}",
                "estimator", "class", "median", "error", "bound", "of bound", "of normal"
            );
        }
        for estimator in Estimator::ALL {
            for ((class, hours), near) in CLASSES.iter().zip(nearness(estimator, servers)) {
                if is_json {
                    println!(
                        "{}",
                        json!({
                            "estimator": estimator.name(),
                            "servers": servers.name(),
                            "mean_interval_days": hours / 24.0,
                            "median_of_truth": near.median,
                            "median_absolute_error": near.error,
                            "cramer_rao_bound": near.bound,
                            "error_of_bound": near.of_bound(),
                            "error_of_normal": near.of_normal(),
                        })
                    );
                } else {
                    println!(
                        "{:<10} {class:>6} {:>8.3} {:>8.3} {:>8.3} {:>10.3} {:>10.3}",
                        estimator.name(),
                        near.median,
                        near.error,
                        near.bound,
                        near.of_bound(),
                        near.of_normal()
                    );
                }
            }
        }
    }
}

/// How near an estimator comes to each class.
pub(crate) fn nearness(estimator: Estimator, servers: Servers) -> Vec<Nearness> {
    let pages: Vec<Page> = (0..CLASSES.len() * PAGES).map(Page::new).collect();
    let seen = match servers {
        Servers::Alone => pages.into_iter().flat_map(|page| watch(estimator, vec![page])).collect(),
        Servers::Alike => {
            let mut pages = pages.into_iter();
            (0..CLASSES.len()).flat_map(|_| watch(estimator, pages.by_ref().take(PAGES).collect())).collect()
        }
        Servers::Mixed => watch(estimator, pages),
    };
    seen.chunks(PAGES).map(summary).collect()
}

/// A page, and what is known of it.
struct Page {
    /// Changes a second.
    rate: f64,
    chance: Chance,
    belief: Belief,
    history: History,
    last_visit: f64,
    /// Fisher's information of its visits.
    information: f64,
}

impl Page {
    fn new(number: usize) -> Self {
        Self {
            rate: 1.0 / (CLASSES[number / PAGES].1 * 3_600.0),
            chance: Chance::of(&[5, number as u64]),
            belief: Belief::default(),
            history: History::default(),
            last_visit: 0.0,
            information: 0.0,
        }
    }
    /// When the next visit is.
    fn next(&mut self) -> f64 {
        self.last_visit + (INTERVAL_FROM + (INTERVAL_TO - INTERVAL_FROM) * self.chance.unit()) / self.rate
    }
    fn visit(&mut self, estimator: Estimator, pace: &mut Pace, now: f64) {
        let gap = now - self.last_visit;
        let unchanged = (-self.rate * gap).exp();
        let is_changed = !self.chance.happens(unchanged);
        self.information += gap * gap * unchanged / (1.0 - unchanged);
        let gap = Interval::from_seconds(1).times(gap);
        count(&mut self.history, gap, is_changed);
        estimator.learn(&mut self.belief, pace, gap, is_changed);
        self.last_visit = now;
    }
}

/// Visits the pages of a server in order of time: for each, estimate ÷ truth, and the bound as a share of the truth.
fn watch(estimator: Estimator, mut pages: Vec<Page>) -> Vec<(f64, f64)> {
    let mut pace = Pace::default();
    let mut line: BinaryHeap<Reverse<(At, usize)>> = BinaryHeap::new();
    for (number, page) in pages.iter_mut().enumerate() {
        line.push(Reverse((At(FOUND_WITHIN * page.chance.unit() / page.rate), number)));
    }
    while let Some(Reverse((now, number))) = line.pop() {
        let page = &mut pages[number];
        pace.tick(START + super::replay::seconds(now.0));
        if page.history.visits == 0 {
            page.history.visits = 1;
            page.last_visit = now.0;
            estimator.begin(&mut page.belief, &pace);
        } else {
            page.visit(estimator, &mut pace, now.0);
        }
        if page.history.visits < VISITS {
            line.push(Reverse((At(page.next()), number)));
        }
    }
    let told = |page: &mut Page| {
        let own = estimator.own_interval(&page.belief, &page.history, None, &mut page.chance);
        (1.0 / own.as_seconds_f64().max(1.0) / page.rate, 1.0 / page.information.sqrt() / page.rate)
    };
    pages.iter_mut().map(told).collect()
}

/// When the watching begins; a clock at 0 counts as not set.
const START: u64 = 1_600_000_000;

fn summary(seen: &[(f64, f64)]) -> Nearness {
    Nearness {
        median: median(seen.iter().map(|(estimate, _)| *estimate)),
        error: median(seen.iter().map(|(estimate, _)| (estimate - 1.0).abs())),
        bound: median(seen.iter().map(|(_, bound)| *bound)),
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
