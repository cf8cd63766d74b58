//! The load of a server, and how its requests are divided when they do not suffice (C5, D6).
//!
//! L = Σ 1/T over the pages of a server is what its schedule asks for, in requests a second (paper 003, section 2.2).
//! It is a sum of integers, so it stays exact after any number of additions and subtractions.
//!
//! When L exceeds the allowed requests, these are divided so that as much of the server as possible is fresh. A page
//! that changes every T on average and is visited every rT is fresh for (1 − e^−r)/r of the time. The best division
//! gives every page the same gain from one more request (Cho and Garcia-Molina, 2003): g(r)·T = μ with g(r) = 1 −
//! e^−r·(1 + r). So one number, μ, gives every page its interval: fast pages wait much longer than they would, slow
//! ones, which a single visit keeps fresh for long, do not. Pages with T < μ are not worth a request; they are dropped
//! and reported.
//!
//! **Invariant:** the divided load is at most the allowed one, up to the width of a bin.

use crate::codec::{Fields, put};

/// Bins of intervals, half an octave each: from a minute to some thirty years.
pub(crate) const BINS: usize = 48;
/// A page that needs more than this share of the maximum gain is dropped: it would take the requests of many others.
const GAIN_MAX: f64 = 0.999;
/// The shortest interval of a page, as a fraction of its own.
const STRETCH_MIN: f64 = 0.05;
/// 1/s in the units that loads are counted in.
const UNIT: u64 = 1 << 40;

/// The load of the pages of a server, or of all servers of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Σ 1/T, in 2⁻⁴⁰ a second.
    sum: u64,
    /// Number of pages by the bin of their interval.
    bins: [u32; BINS],
}

impl Default for Load {
    fn default() -> Self {
        Self { sum: 0, bins: [0; BINS] }
    }
}

impl Load {
    /// The load of one page, in the units that loads are counted in.
    #[must_use]
    pub fn share(interval: u64) -> u64 {
        UNIT / interval.max(1)
    }
    /// Adds a page whose own interval is `interval` seconds and whose part by the policy is `share`.
    pub fn add(&mut self, interval: u64, share: u64) {
        self.sum += share;
        self.bins[bin(interval)] += 1;
    }
    /// Subtracts what was added.
    ///
    /// # Panics
    /// When it was not added.
    pub fn remove(&mut self, interval: u64, share: u64) {
        self.sum = self.sum.checked_sub(share).expect("a load is at least the part of each of its pages");
        let bin = &mut self.bins[bin(interval)];
        *bin = bin.checked_sub(1).expect("a page leaves the bin of the load that it was added to");
    }
    /// Number of pages.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.bins.iter().map(|count| u64::from(*count)).sum()
    }
    /// Intervals in seconds, and how many pages have about that interval.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (f64, f64)> {
        let used = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(|(at, count)| (middle(at), f64::from(*count)))
    }
    /// In its own units.
    pub(crate) fn units(&self) -> u64 {
        self.sum
    }
    /// Requests a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        in_requests(self.sum)
    }
    /// How `requests` a second are divided; `None` if they suffice.
    pub(crate) fn divide(&self, requests: f64) -> Option<Division> {
        if self.per_second() <= requests {
            return None;
        }
        let asked = |worth: f64| {
            let division = Division { worth };
            let bins = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
            bins.map(|(at, count)| division.frequency(middle(at)) * f64::from(*count)).sum::<f64>()
        };
        // The higher the worth, the fewer requests are made.
        let (mut low, mut high) = (0.0, middle(BINS - 1) * 2.0);
        for _ in 0..48 {
            let worth = f64::midpoint(low, high);
            if asked(worth) > requests { low = worth } else { high = worth }
        }
        Some(Division { worth: high })
    }
    /// The load after the division: requests a second, and the number of dropped pages.
    pub(crate) fn divided(&self, division: Option<Division>) -> (f64, u64) {
        let Some(division) = division else { return (self.per_second(), 0) };
        let bins = self.bins.iter().enumerate();
        bins.fold((0.0, 0), |(asked, dropped), (at, count)| {
            let frequency = division.frequency(middle(at));
            let lost = if frequency == 0.0 { u64::from(*count) } else { 0 };
            (asked + frequency * f64::from(*count), dropped + lost)
        })
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.sum);
        let used = self.bins.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        put(bytes, used as u64);
        self.bins[..used].iter().for_each(|count| put(bytes, u64::from(*count)));
    }
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let mut load = Self { sum: fields.number(), ..Self::default() };
        let used = usize::try_from(fields.number()).unwrap_or(BINS).min(BINS);
        load.bins[..used].iter_mut().for_each(|count| *count = fields.small(u32::MAX));
        load
    }
}

/// Requests a second of what is counted in a load's units.
#[expect(clippy::cast_precision_loss, reason = "a rate for comparing; 53 bits are more than enough")]
pub(crate) fn in_requests(units: u64) -> f64 {
    units as f64 / UNIT as f64
}

/// How a server's requests are divided: the minimum worth of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Division {
    /// μ, in seconds.
    worth: f64,
}

impl Division {
    /// The interval of a page whose own interval is `interval` seconds; `None` if it is dropped.
    pub(crate) fn interval(self, interval: u64) -> Option<u64> {
        #[expect(clippy::cast_precision_loss, reason = "400 days in seconds fit a double exactly")]
        let own = interval.max(1) as f64;
        let frequency = self.frequency(own);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float to integer cast saturates, which is what is wanted"
        )]
        (frequency > 0.0).then(|| (1.0 / frequency).ceil() as u64)
    }
    /// The same in seconds, of the middle of a bin.
    pub(crate) fn every(self, own: f64) -> Option<f64> {
        Some(self.frequency(own)).filter(|frequency| *frequency > 0.0).map(|frequency| 1.0 / frequency)
    }
    /// Requests a second for a page that changes every `own` seconds.
    fn frequency(self, own: f64) -> f64 {
        let gain = self.worth / own;
        if gain >= GAIN_MAX { 0.0 } else { 1.0 / (own * stretch(gain).max(STRETCH_MIN)) }
    }
}

/// The r with g(r) = `gain`, for 0 ≤ gain < 1: g grows from 0 to 1, and g(r) ≤ r²/2. By Newton's method, which is kept
/// within the bounds known so far.
fn stretch(gain: f64) -> f64 {
    const CLOSE: f64 = 1e-9;
    let (mut low, mut high) = ((2.0 * gain).sqrt(), 16.0_f64);
    let mut r = low;
    for _ in 0..30 {
        let rest = (-r).exp();
        let over = 1.0 - rest * (1.0 + r) - gain;
        if over < 0.0 {
            low = low.max(r);
        } else {
            high = high.min(r);
        }
        let next = r - over / (r * rest).max(f64::MIN_POSITIVE);
        let next = if next > low && next < high { next } else { f64::midpoint(low, high) };
        if (next - r).abs() < CLOSE {
            return next;
        }
        r = next;
    }
    high
}

/// The bin of an interval in seconds.
pub(crate) fn bin(interval: u64) -> usize {
    let minutes = (interval.max(60) / 60).min(1 << 24);
    let octave = minutes.ilog2() as usize;
    let half = usize::from(minutes * minutes >= 1 << (2 * octave + 1));
    (2 * octave + half).min(BINS - 1)
}
/// Where a bin begins, in seconds.
pub(crate) fn begin(bin: usize) -> f64 {
    60.0 * 2_f64.powf(f64::from(u32::try_from(bin).unwrap_or(u32::MAX)) / 2.0)
}
fn middle(bin: usize) -> f64 {
    begin(bin) * 2_f64.powf(0.25)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;

    const DAY: u64 = 86_400;

    fn of(intervals: &[(u64, u32)]) -> Load {
        let mut load = Load::default();
        for (interval, count) in intervals {
            (0..*count).for_each(|_| load.add(*interval, Load::share(*interval)));
        }
        load
    }

    #[test]
    fn adding_and_removing_leaves_nothing() {
        let mut chance = Chance::new(1);
        let intervals: Vec<u64> = (0..100_000).map(|_| 60 + chance.below(400 * DAY)).collect();
        let mut load = Load::default();
        intervals.iter().for_each(|interval| load.add(*interval, Load::share(*interval)));
        assert!(load.per_second() > 0.0);
        let mut bytes = Vec::new();
        load.write(&mut bytes);
        assert_eq!(Load::read(&mut Fields(&bytes)), load);
        intervals.iter().rev().for_each(|interval| load.remove(*interval, Load::share(*interval)));
        assert_eq!(load, Load::default());
    }

    #[test]
    fn bins_contain_their_intervals() {
        for at in 0..BINS - 1 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
            let (first, last) = (begin(at).ceil() as u64 / 60 * 60 + 60, begin(at + 1) as u64 - 60);
            if first <= last {
                assert_eq!((bin(first), bin(last)), (at, at));
            }
        }
        assert_eq!((bin(0), bin(400 * DAY), bin(u64::MAX / 100_000)), (0, 38, BINS - 1));
    }

    #[test]
    fn a_server_with_enough_requests_is_not_divided() {
        assert_eq!(of(&[(DAY, 8_640)]).divide(0.1), None);
        assert!(of(&[(DAY, 8_700)]).divide(0.1).is_some());
    }

    #[test]
    fn a_divided_load_fits_and_slow_pages_do_not_pay_for_fast_ones() {
        let load = of(&[(600, 2_000), (DAY, 5_000), (30 * DAY, 20_000)]);
        let division = load.divide(0.1).unwrap();
        let (asked, dropped) = load.divided(Some(division));
        assert!(asked <= 0.1 && asked > 0.098, "{asked}");
        assert_eq!(dropped, 2_000, "pages that change every ten minutes are dropped");
        assert_eq!(division.interval(600), None);
        let day = division.interval(DAY).unwrap();
        let month = division.interval(30 * DAY).unwrap();
        assert!(day > DAY / 2 && day < 2 * DAY, "{day}");
        assert!(month > 2 * DAY && month < 30 * DAY, "{month}");
    }

    #[test]
    fn a_stretch_gains_what_it_was_asked_for() {
        for gain in (1..1_000).map(|thousandths| f64::from(thousandths) / 1_000.0).chain([1e-6, 1e-9, 0.0]) {
            let r = stretch(gain);
            assert!((1.0 - (-r).exp() * (1.0 + r) - gain).abs() < 1e-7, "{gain}: {r}");
        }
    }

    /// The share of time for which a page that changes every `own` seconds and is visited every `every` seconds is
    /// fresh.
    fn freshness(own: f64, every: f64) -> f64 {
        let r = every / own;
        (1.0 - (-r).exp()) / r
    }

    #[test]
    fn the_division_keeps_more_fresh_than_equal_shares_and_than_stretching_all_alike() {
        let groups = [(600, 500), (3_600, 1_000), (DAY, 5_000), (10 * DAY, 10_000), (100 * DAY, 10_000)];
        let load = of(&groups);
        let division = load.divide(0.05).unwrap();
        let total: f64 = groups.iter().map(|(_, count)| f64::from(*count)).sum();
        let mean = |every: &dyn Fn(u64) -> Option<f64>| {
            let fresh = groups.iter().map(|(own, count)| {
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let own_seconds = *own as f64;
                every(*own).map_or(0.0, |every| freshness(own_seconds, every) * f64::from(*count))
            });
            fresh.sum::<f64>() / total
        };
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let (best, alike, equal) = (
            mean(&|own| division.interval(own).map(|every| every as f64)),
            mean(&|own| Some(own as f64 * load.per_second() / 0.05)),
            mean(&|_| Some(total / 0.05)),
        );
        assert!(best > alike && best > equal, "{best} {alike} {equal}");
    }
}
