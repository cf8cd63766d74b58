//! How the requests that a server may be asked for are divided over its pages.
//!
//! A page that changes every T on average, visited every s = rT, is fresh for (1 − e^−r)/r of the time, and its copy is out of
//! date by T·(r/2 − 1 + (1 − e^−r)/r) on average. Each allocation is one rule with one number, the *level*, that is the same for all
//! pages of a server and set so that the budget is spent:
//!
//! | name | interval s | |
//! |---|---|---|
//! | `printed` | T | paper 003; no level, so it spends what it spends |
//! | `fixed` | the same for all, always | no level |
//! | `uniform` | level | |
//! | `scaled` | level · T | paper 003's intervals, all stretched alike by L/B |
//! | `root` | level · √(T + every) | what keeps most fresh as long as pages change more rarely than they are visited; pages that change always still get their share |
//! | `fresh` | 1 − e^−r·(1 + r) = level/T | keeps most fresh (Cho and Garcia-Molina, 2003); pages with T below the level are dropped |
//! | `age` | r²/2 − 1 + (1 + r)·e^−r = level/T² | the lowest age |
//! | `selection` | T · (level + ln(1 − α)) | the order of γ in paper 004 (C14), with the importance α |
//!
//! `fresh` and `age` follow from one thought: a visit is worth s·C(s) − ∫C, with C(s) the loss a second at time s after the last
//! visit (the chance of being stale, or the age), and the best division gives every visit the same worth.

use crate::load::Load;

/// What gains this share of the most that a request can gain is dropped: to keep up with it at all would take the requests
/// of many others.
const GAIN_MAX: f64 = 0.999;
/// No page is visited more often than this part of its own interval by the rules that look for a best interval. Small, so that
/// a budget of a visit a week is spent also where pages change once in years.
const STRETCH_MIN: f64 = 0.001;
/// Nor less often than this many of them.
const STRETCH_MAX: f64 = 1e4;

/// A rule for dividing requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Each page at its own estimate.
    Printed,
    /// Each page at the interval of the policy.
    Fixed,
    /// The same interval for all, by the budget.
    Uniform,
    /// Estimates, all stretched alike.
    Scaled,
    /// As the root of the estimate.
    Root,
    /// Most of the pages fresh.
    Fresh,
    /// The lowest age.
    Age,
    /// Paper 004's selection (C14).
    Selection,
}

/// The number that is the same for all pages of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocationLevel(pub(crate) f64);

/// What a division is expected to give.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// The share of pages that are fresh at any moment.
    pub freshness: f64,
    /// By how much copies are out of date on average, in seconds.
    pub age_seconds: f64,
    /// Requests a second.
    pub requests: f64,
}

impl Allocation {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Root,
        Self::Age,
        Self::Fresh,
        Self::Scaled,
        Self::Selection,
        Self::Uniform,
        Self::Printed,
        Self::Fixed,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Fixed => "fixed",
            Self::Uniform => "uniform",
            Self::Scaled => "scaled",
            Self::Root => "root",
            Self::Fresh => "fresh",
            Self::Age => "age",
            Self::Selection => "selection",
        }
    }

    /// The interval of a page as far as it counts where pages are visited every so often on average: what changes much more
    /// often than it can be visited gets no more for it.
    pub(crate) fn eased(self, own: f64, every: f64) -> f64 {
        if self == Self::Root { own + every } else { own }
    }
    /// The interval of a page with the eased interval `own`, in seconds; nothing when it is dropped.
    pub(crate) fn interval(self, own: f64, level: AllocationLevel, importance: f64) -> Option<f64> {
        let AllocationLevel(level) = level;
        let own = own.max(1.0);
        match self {
            Self::Printed => Some(own),
            Self::Fixed | Self::Uniform => Some(level),
            Self::Scaled => Some(level * own),
            Self::Root => Some(level * own.sqrt()),
            Self::Fresh => {
                let gain = level / own;
                (gain < GAIN_MAX).then(|| own * solve(gain, |r| 1.0 - (-r).exp() * (1.0 + r)))
            }
            Self::Age => {
                Some(own * solve(level / (own * own), |r| r * r / 2.0 - 1.0 + (1.0 + r) * (-r).exp()))
            }
            Self::Selection => Some(own * (level + (1.0 - importance).ln()).max(STRETCH_MIN)),
        }
    }

    /// The level at which so many requests a second are made of all pages.
    pub(crate) fn level(self, load: &Load, requests: f64) -> AllocationLevel {
        let sum = |of: fn(f64) -> f64| load.groups().map(|(own, count)| of(own) * count).sum::<f64>();
        let requests = requests.max(1e-12);
        let level = match self {
            Self::Printed | Self::Fixed => 1.0,
            Self::Uniform => sum(|_| 1.0) / requests,
            Self::Scaled | Self::Selection => sum(|own| 1.0 / own) / requests,
            Self::Root => {
                let every = sum(|_| 1.0) / requests;
                load.groups().map(|(own, count)| count / self.eased(own, every).sqrt()).sum::<f64>()
                    / requests
            }
            Self::Fresh | Self::Age => self.search(load, requests),
        };
        AllocationLevel(level.max(1e-12))
    }
    /// The higher the level, the fewer requests are made.
    fn search(self, load: &Load, requests: f64) -> f64 {
        let (mut low, mut high) = (1e-6_f64, 1e20_f64);
        for _ in 0..48 {
            let level = (low * high).sqrt();
            if self.requests(load, AllocationLevel(level)) > requests { low = level } else { high = level }
        }
        high
    }
    fn requests(self, load: &Load, level: AllocationLevel) -> f64 {
        let of = |own: f64| self.interval(own, level, 0.0).map_or(0.0, |interval| 1.0 / interval);
        load.groups().map(|(own, count)| of(own) * count).sum()
    }
}

impl Expected {
    /// What is to be expected of a server's pages that are visited at the intervals that `interval` gives those with an
    /// interval of their own, in seconds; those without one every `longest`.
    pub(crate) fn of(load: &Load, longest: f64, interval: impl Fn(f64) -> Option<f64>) -> Self {
        let (mut pages, mut fresh, mut age, mut requests) = (0.0, 0.0, 0.0, 0.0);
        for (own, count) in load.groups() {
            let every = interval(own).unwrap_or(longest).min(longest);
            let r = every / own;
            let freshness = -(-r).exp_m1() / r;
            pages += count;
            fresh += count * freshness;
            age += count * own * (r / 2.0 - 1.0 + freshness);
            requests += count / every;
        }
        let pages = f64::max(pages, 1.0);
        Self { freshness: fresh / pages, age_seconds: age / pages, requests }
    }
}

/// The r with `of(r)` = `value`; `of` grows from 0.
fn solve(value: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (STRETCH_MIN, STRETCH_MAX);
    for _ in 0..30 {
        let r = (low * high).sqrt();
        if of(r) < value { low = r } else { high = r }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    fn load() -> Load {
        let mut load = Load::default();
        for (days, pages) in [(1, 300), (10, 1_000), (100, 3_000), (1_000, 700)] {
            (0..pages).for_each(|_| load.add(days * 86_400, 0));
        }
        load
    }

    #[test]
    fn every_rule_spends_its_budget() {
        let load = load();
        for allocation in Allocation::ALL {
            if matches!(allocation, Allocation::Printed | Allocation::Fixed) {
                continue;
            }
            for days in [3.0, 30.0, 200.0] {
                let budget = 5_000.0 / (days * DAY);
                let level = allocation.level(&load, budget);
                let eased = |own| allocation.interval(allocation.eased(own, days * DAY), level, 0.0);
                let spent =
                    Expected::of(&load, f64::MAX, |own| Some(eased(own).unwrap_or(f64::MAX))).requests;
                assert!((spent / budget - 1.0).abs() < 0.01, "{allocation:?}: {spent} of {budget}");
            }
        }
    }

    #[test]
    fn each_best_rule_is_best_at_what_it_is_for() {
        let load = load();
        let expected = |allocation: Allocation| {
            let level = allocation.level(&load, 5_000.0 / (30.0 * DAY));
            Expected::of(&load, 400.0 * DAY, |own| {
                allocation.interval(allocation.eased(own, 30.0 * DAY), level, 0.0)
            })
        };
        let all =
            [Allocation::Uniform, Allocation::Scaled, Allocation::Root, Allocation::Fresh, Allocation::Age];
        for other in all {
            assert!(expected(Allocation::Fresh).freshness >= expected(other).freshness - 1e-3, "{other:?}");
            assert!(expected(Allocation::Age).age_seconds <= expected(other).age_seconds * 1.01, "{other:?}");
        }
    }

    #[test]
    fn what_is_more_important_is_selected_sooner() {
        let interval =
            |importance| Allocation::Selection.interval(DAY, AllocationLevel(2.0), importance).unwrap();
        assert!(interval(0.8) < interval(0.0));
    }
}
