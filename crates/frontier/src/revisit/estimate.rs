//! How often a page changes, from what visits showed.
//!
//! A visit shows no more than whether the page changed since the one before, once or a hundred times. For changes that come at
//! random with rate λ, an interval τ shows none with probability e^−λτ. That is all that the estimators know:
//!
//! - [`Estimator::Paper`]: the formula of paper 003 ([`super::paper`]).
//! - [`Estimator::Cho`]: the most likely λ for intervals of any length (Cho and Garcia-Molina, 2003), with half an unchanged
//!   interval added, which removes most of its bias and its singularity.
//! - [`Estimator::Gamma`]: a belief about λ, a gamma distribution of two numbers. It begins as what the server's pages are like
//!   on average, and each interval updates it by Bayes' rule, which leads out of the family and back by equal mean and variance of
//!   ln λ. Old evidence fades, because pages change their ways.
//! - [`Estimator::Activity`]: the same, but time is counted by a clock of the server that runs fast while its pages change more than
//!   expected: a page's own factor × the server's activity.
//! - [`Estimator::CoChange`]: as `Gamma`; and a change that was seen raises the chance of the pages beside it ([`super::co_change`]).

use super::pace::Pace;
use super::{History, paper};
use base::{Chance, Interval};

/// Evidence as old as this counts for 1/e. Long enough for dozens of visits at usual budgets, shorter than a site lives.
const FADES_DAYS: f64 = 600.0;
/// Or after so many visits, where those take longer.
const FADES_VISITS: f64 = 12.0;
/// What a server's average is worth beside a page's own evidence: less than one change.
pub(crate) const PRIOR_CHANGES: f64 = 0.7;
/// A belief is summed up over so many standard deviations to either side, in so many steps.
const DEVIATIONS: f64 = 6.0;
const STEPS: i32 = 24;
/// So many different lengths of intervals that showed a change are told apart; the nearest two are merged.
const GAPS_MAX: usize = 24;
const DAY: f64 = 86_400.0;

/// How often a page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The formula of paper 003 (C4).
    Paper,
    /// The most likely rate.
    Cho,
    /// A belief that begins as the server's average and learns by Bayes' rule.
    Gamma,
    /// The same, by a clock that runs as fast as the server changes.
    Activity,
    /// The same as `Gamma`; and what changed together before is looked at together.
    CoChange,
}

/// What a page remembers for the estimators beside its [`History`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Belief {
    /// The gamma distribution of the rate: its shape, and its rate in days.
    pub shape: f32,
    /// In days.
    pub days: f32,
    /// The server's clock at the last visit, in days.
    pub clock: f64,
    /// Lengths in seconds of intervals that showed a change, and how many had that length.
    pub gaps: Vec<(u32, u32)>,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::CoChange, Self::Activity, Self::Gamma, Self::Cho, Self::Paper];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Cho => "cho",
            Self::Gamma => "gamma",
            Self::Activity => "activity",
            Self::CoChange => "co-change",
        }
    }

    /// The estimator of this name. `kin` is what `co-change` was once called.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == "kin" {
            return Some(Self::CoChange);
        }
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Learns the first answer of a page.
    pub fn begin(self, belief: &mut Belief, pace: &Pace) {
        *belief = Belief { clock: pace.clock_days, ..pace.prior() };
    }
    /// Learns what an interval showed.
    pub fn learn(self, belief: &mut Belief, pace: &mut Pace, gap: Interval, is_changed: bool) {
        let gap_days = gap.as_seconds_f64() / DAY;
        let exposed =
            if self == Self::Activity { (pace.clock_days - belief.clock).max(0.0) } else { gap_days };
        pace.expect(belief, gap_days, is_changed);
        belief.fade(&pace.prior(), gap_days);
        belief.update(exposed, is_changed);
        belief.clock = pace.clock_days;
        pace.learn(belief, gap_days, is_changed);
        if self == Self::Cho && is_changed {
            belief.remember(gap);
        }
    }

    /// How often the page changes, if that can be told.
    #[must_use]
    pub fn estimate(self, belief: &Belief, history: &History) -> Option<Interval> {
        match self {
            Self::Paper => paper::estimate(history),
            Self::Cho => {
                (history.visits > 1).then(|| Interval::from_seconds(1).times(1.0 / cho(belief, history)))
            }
            _ => (belief.shape > 0.0).then(|| Interval::from_seconds(1).times(1.0 / belief.rate())),
        }
    }
    /// The interval that the page asks for by itself: about the time in which it changes once. `before` is what it
    /// asked for before its last visit.
    #[must_use]
    pub fn own_interval(
        self,
        belief: &Belief,
        history: &History,
        before: Option<Interval>,
        chance: &mut Chance,
    ) -> Interval {
        match (self, self.estimate(belief, history)) {
            (Self::Paper, _) => {
                let history = History { last: before.unwrap_or(history.last), ..*history };
                paper::Paper::default().next(&history, chance)
            }
            (_, Some(estimate)) => estimate,
            (_, None) => paper::Paper::default().next(history, chance),
        }
    }
}

impl Belief {
    /// Changes a second, on average.
    #[must_use]
    pub fn rate(&self) -> f64 {
        f64::from(self.shape) / f64::from(self.days).max(1e-6) / DAY
    }
    /// How likely the page has changed after so long.
    #[must_use]
    pub fn stale_after(&self, gap: Interval) -> f64 {
        let days = f64::from(self.days).max(1e-6);
        1.0 - (days / (days + gap.as_seconds_f64() / DAY)).powf(f64::from(self.shape))
    }

    /// Hears at the first visit, by `Last-Modified`, how long ago the page changed: one change then and none since, as far as that is
    /// believed. A page that says "just now" says nothing.
    pub fn hear(&mut self, age: Interval, trust: f64) {
        if age >= Interval::from_days(1) {
            let days = age.as_seconds_f64() / DAY;
            self.set(f64::from(self.shape) + trust, f64::from(self.days) + trust * days);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "kept in few bytes; seven digits are more than evidence gives"
    )]
    fn set(&mut self, shape: f64, days: f64) {
        (self.shape, self.days) = (shape as f32, days as f32);
    }
    /// What was learned fades towards what the server is like.
    fn fade(&mut self, prior: &Self, gap_days: f64) {
        let kept = (-(gap_days / FADES_DAYS).min(1.0 / FADES_VISITS)).exp();
        let mix = |own: f32, prior: f32| f64::from(prior) + (f64::from(own) - f64::from(prior)) * kept;
        self.set(mix(self.shape, prior.shape), mix(self.days, prior.days));
    }
    /// Bayes' rule for an interval. The logarithm of the rate is taken for normally distributed, with the mean and the variance
    /// that it has by the gamma distribution, and leads back to the one with its new mean and variance. A page that changes
    /// a thousand times as often as was believed is so found within a few changes: the upper tail of a gamma distribution itself
    /// would hold against hundreds.
    fn update(&mut self, gap_days: f64, is_changed: bool) {
        let (shape, days, gap_days) =
            (f64::from(self.shape), f64::from(self.days).max(1e-9), gap_days.max(1e-6));
        let (mean, variance) = (digamma(shape) - days.ln(), trigamma(shape));
        // How the logarithm of the likelihood grows with ln λ, and how that falls.
        let slope = |expected: f64| match is_changed {
            true => expected / expected.exp_m1(),
            false => -expected,
        };
        let bend = |expected: f64| match is_changed {
            true => slope(expected) * (expected / -(-expected).exp_m1() - 1.0),
            false => expected,
        };
        let expected = |x: f64| (x.exp() * gap_days).clamp(1e-12, 700.0);
        let (mut low, mut high) = (mean.min(mean + variance * slope(expected(mean))), mean + variance);
        for _ in 0..50 {
            let x = f64::midpoint(low, high);
            if slope(expected(x)) > (x - mean) / variance { low = x } else { high = x }
        }
        let top = f64::midpoint(low, high);
        let deviation = (1.0 / variance + bend(expected(top)).max(0.0)).recip().sqrt();
        let height = |x: f64| {
            let expected = expected(x);
            let likelihood = if is_changed { (-(-expected).exp_m1()).ln() } else { -expected };
            likelihood - (x - mean) * (x - mean) / (2.0 * variance)
        };
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for step in -STEPS..=STEPS {
            let z = f64::from(step) / f64::from(STEPS) * DEVIATIONS;
            let weight = (height(top + deviation * z) - height(top)).exp();
            sum += weight;
            first += weight * z;
            second += weight * z * z;
        }
        let centre = first / sum;
        let shape = shape_with((second / sum - centre * centre) * deviation * deviation);
        self.set(shape, (digamma(shape) - top - deviation * centre).exp());
    }
    /// Remembers the length of an interval that showed a change.
    fn remember(&mut self, gap: Interval) {
        let gap = u32::try_from(gap.as_seconds()).unwrap_or(u32::MAX).max(1);
        match self.gaps.binary_search_by_key(&gap, |(length, _)| *length) {
            Ok(at) => self.gaps[at].1 += 1,
            Err(at) => self.gaps.insert(at, (gap, 1)),
        }
        if self.gaps.len() > GAPS_MAX {
            let ratio = |at: &usize| f64::from(self.gaps[at + 1].0) / f64::from(self.gaps[*at].0);
            let nearest = (0..self.gaps.len() - 1).min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
            let (merged, (length, count)) =
                (nearest.unwrap_or(0), self.gaps.remove(nearest.unwrap_or(0) + 1));
            let (kept, many) = self.gaps[merged];
            let mean = (f64::from(kept) * f64::from(many) + f64::from(length) * f64::from(count))
                / f64::from(many + count);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between the two")]
            let mean = mean as u32;
            self.gaps[merged] = (mean, many + count);
        }
    }
}

/// The mean of ln x of a gamma distribution with rate 1.
fn digamma(shape: f64) -> f64 {
    let (mut x, mut sum) = (shape, 0.0);
    while x < 6.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + x.ln() - 0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y / 252.0))
}
/// The variance of ln x of a gamma distribution.
fn trigamma(shape: f64) -> f64 {
    let (mut x, mut sum) = (shape, 0.0);
    while x < 6.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + 1.0 / x + y / 2.0 + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y / 42.0))
}
/// The shape of the gamma distribution whose ln x has this variance.
fn shape_with(variance: f64) -> f64 {
    let (mut low, mut high) = (0.05_f64, 1e4_f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > variance { low = middle } else { high = middle }
    }
    high
}

/// The most likely rate in changes a second: the λ with Σ τ/(e^λτ − 1) over the changed intervals = Σ τ over the unchanged.
fn cho(belief: &Belief, history: &History) -> f64 {
    let intervals = f64::from(history.visits - 1);
    let half = history.elapsed.as_seconds_f64() / intervals / 2.0;
    let unchanged = history.unchanged.as_seconds_f64() + half;
    if belief.gaps.is_empty() {
        // Nothing seen: as if half a change had come in all that time.
        return 0.5 / history.elapsed.as_seconds_f64().max(1.0);
    }
    let missing = |rate: f64| {
        let terms = belief.gaps.iter().map(|(gap, count)| {
            let gap = f64::from(*gap);
            f64::from(*count) * gap / (rate * gap).exp_m1()
        });
        terms.sum::<f64>() - unchanged
    };
    let (mut low, mut high) = (1e-10_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if missing(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(days: u64) -> Interval {
        Interval::from_days(days)
    }

    /// A belief that begins as one change in 100 days, after intervals of so many days that showed a change or did not.
    fn after(estimator: Estimator, intervals: &[(u64, bool)]) -> (Belief, History) {
        let (mut pace, mut belief) = (Pace::default(), Belief::default());
        let mut history = History { visits: 1, ..History::default() };
        estimator.begin(&mut belief, &pace);
        for (gap, is_changed) in intervals {
            estimator.learn(&mut belief, &mut pace, days(*gap), *is_changed);
            history.visits += 1;
            history.elapsed = history.elapsed.plus(days(*gap));
            if *is_changed {
                history.changes += 1;
            } else {
                history.unchanged = history.unchanged.plus(days(*gap));
            }
        }
        (belief, history)
    }

    #[test]
    fn chos_estimate_is_the_closed_form_when_intervals_are_alike() {
        // λ = −ln((X + 0.5)/(n + 0.5))/I for X of n intervals without a change.
        for (changed, unchanged) in [(5, 15), (10, 10), (19, 1), (20, 0)] {
            let intervals: Vec<_> = (0..changed + unchanged).map(|at| (3, at < changed)).collect();
            let (belief, history) = after(Estimator::Cho, &intervals);
            let estimate = Estimator::Cho.estimate(&belief, &history).unwrap();
            let n = f64::from(changed + unchanged);
            let expected = 3.0 / -((f64::from(unchanged) + 0.5) / (n + 0.5)).ln();
            let found = estimate.as_seconds_f64() / DAY;
            assert!((found / expected - 1.0).abs() < 1e-3, "{changed}: {found} {expected}");
        }
    }

    #[test]
    fn a_belief_follows_the_evidence_and_forgets_it_slowly() {
        let rate = |intervals: &[(u64, bool)]| after(Estimator::Gamma, intervals).0.rate() * DAY;
        let first = rate(&[]);
        assert!((first - 0.01).abs() < 1e-6, "{first}");
        assert!(rate(&[(10, true)]) > 1.5 * first);
        assert!(rate(&[(10, true), (10, true)]) > rate(&[(10, true)]));
        assert!(rate(&[(100, false)]) < first);
        // What was seen before a long silence counts less than the silence.
        let busy = vec![(1, true); 30];
        let mut quiet = busy.clone();
        quiet.extend(vec![(100, false); 20]);
        assert!(rate(&busy) > 0.5 && rate(&quiet) < 0.03, "{} {}", rate(&busy), rate(&quiet));
    }

    #[test]
    fn the_servers_word_counts_as_far_as_it_is_believed() {
        let pace = Pace::default();
        let heard = |days, trust| {
            let mut belief = pace.prior();
            belief.hear(Interval::from_days(days), trust);
            belief.rate() / pace.prior().rate()
        };
        assert!(heard(1_000, 0.9) < 0.3 && heard(1_000, 0.05) > 0.6 && heard(3, 0.9) > 1.5);
        assert!((heard(0, 0.9) - 1.0).abs() < 1e-6, "a page that is made anew for everyone");
    }

    #[test]
    fn many_lengths_are_merged_and_none_is_lost() {
        let intervals: Vec<_> = (1..200).map(|gap| (gap, true)).collect();
        let (belief, _) = after(Estimator::Cho, &intervals);
        assert_eq!(belief.gaps.len(), GAPS_MAX);
        assert_eq!(belief.gaps.iter().map(|(_, count)| count).sum::<u32>(), 199);
        assert!(belief.gaps.is_sorted());
    }
}
