//! The experiment of paper 001, section 4, as pure functions: which records exist, and when each is due.
//!
//! ```
//! use workload::{Dataset, Workload};
//!
//! let workload = Workload::new(Dataset::Peaked, 9_600, 100_000, 1);
//! let (interval, due) = (workload.interval(7), workload.due(7));
//! assert!(due <= interval && interval <= 9_600);
//! assert_eq!(workload.value(7)[..4], interval.to_le_bytes());
//! ```
//!
//! Every compared store gets the same records in the same state and must deliver the same ones at the same minutes.
//! [`Workload::deliveries_until`] computes them, so a comparison can refuse a store that cheats. The limits of a
//! measured process ([`limits`]) and its use of the machine ([`usage`]) are here too, so that all sides share that
//! code.
//!
//! **Invariant:** everything about a record is a function of the seed and its number; there is no table of records.

mod chance;
pub mod limits;
mod offers;
pub mod usage;

pub use offers::Offers;

use chance::{Permutation, fill, mix, printable, unit};

/// Bytes of a record's key.
pub const KEY_BYTES: usize = 40;
/// Bytes of a record's value; with the key they are the 200 bytes of the paper.
pub const VALUE_BYTES: usize = 160;

/// The interval up to which Peaked grows, in units of time.
const PEAK: u32 = 100;

/// How many records have which interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dataset {
    /// Formulas (7) and (8): inversely proportional to the interval.
    Zipf,
    /// Formulas (9) and (10): proportional to the interval up to 100 units, inversely proportional beyond.
    Peaked,
}

impl Dataset {
    /// How often `interval` occurs, up to a common factor.
    fn weight(self, interval: u32) -> f64 {
        match self {
            Self::Peaked if interval <= PEAK => f64::from(interval) / f64::from(PEAK * PEAK),
            Self::Zipf | Self::Peaked => f64::from(interval).recip(),
        }
    }

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zipf => "zipf",
            Self::Peaked => "peaked",
        }
    }
}

impl std::str::FromStr for Dataset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        [Self::Zipf, Self::Peaked]
            .into_iter()
            .find(|dataset| dataset.name() == name)
            .ok_or_else(|| format!("no data set `{name}`: `zipf` or `peaked`"))
    }
}

/// Records that are each due again and again at an interval of their own, in steady state at time 0.
#[derive(Debug, Clone)]
pub struct Workload {
    dataset: Dataset,
    records: u32,
    seed: u64,
    /// The order in which records are given their intervals.
    ranks: Permutation,
    /// For each interval, how many records have at most that one.
    cumulated: Vec<u32>,
}

/// What was delivered: how much, and a sum over records and times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deliveries {
    /// Records delivered.
    pub count: u64,
    /// The same for the same deliveries in any order, and very likely for no others.
    pub digest: u64,
}

impl Deliveries {
    /// Counts the delivery of record `number` at `time`.
    pub fn add(&mut self, number: u32, time: u32) {
        self.count += 1;
        self.digest = self.digest.wrapping_add(mix(u64::from(number) << 32 | u64::from(time)));
    }
}

impl Workload {
    /// `records` records with intervals of 1 to `periods` units.
    ///
    /// # Panics
    ///
    /// If there is no record or no period.
    pub fn new(dataset: Dataset, periods: u32, records: u32, seed: u64) -> Self {
        assert!(periods > 0 && records > 0, "a workload has at least one record and one period");
        let cumulated = cumulated(dataset, periods, records);
        Self { dataset, records, seed, ranks: Permutation::new(records, mix(seed)), cumulated }
    }

    /// Which distribution the intervals have.
    pub fn dataset(&self) -> Dataset {
        self.dataset
    }

    /// The longest interval: T in the paper.
    pub fn periods(&self) -> u32 {
        u32::try_from(self.cumulated.len()).expect("made from a u32")
    }

    /// How many records there are: N in the paper. They are numbered from 0.
    pub fn records(&self) -> u32 {
        self.records
    }

    /// The constant time between two accesses of record `number`, from 1 to [`periods`](Self::periods).
    ///
    /// It is the quantile of the data set's distribution at (rank + ½) / N, and ranks are the numbers shuffled. So the
    /// counts follow the formulas as closely as whole records allow, and neighbours in number share nothing.
    pub fn interval(&self, number: u32) -> u32 {
        let rank = self.ranks.of(number);
        let shorter = self.cumulated.partition_point(|&records| records <= rank);
        u32::try_from(shorter).expect("at most the number of periods") + 1
    }

    /// When record `number` is due for the first time: uniform in 1 to its interval.
    pub fn due(&self, number: u32) -> u32 {
        1 + self.below(number, self.interval(number))
    }

    /// When record `number` was last written, at or before time 0.
    pub fn written(&self, number: u32) -> i64 {
        i64::from(self.due(number)) - i64::from(self.interval(number))
    }

    /// All records as (due, number), the next due first.
    pub fn in_due_order(&self) -> Vec<(u32, u32)> {
        let mut order: Vec<_> = (0..self.records).map(|number| (self.due(number), number)).collect();
        order.sort_unstable();
        order
    }

    /// The key of record `number`: printable, without order, and no other record's.
    pub fn key(&self, number: u32) -> [u8; KEY_BYTES] {
        printable(mix(self.seed ^ 1), number)
    }

    /// The value of record `number`: its interval in four bytes, little endian, and bytes that cannot be compressed.
    pub fn value(&self, number: u32) -> [u8; VALUE_BYTES] {
        let mut value = [0; VALUE_BYTES];
        let (interval, rest) = value.split_at_mut(4);
        interval.copy_from_slice(&self.interval(number).to_le_bytes());
        fill(mix(self.seed ^ 2), number, rest);
        value
    }

    /// Deliveries to expect in one unit of time.
    pub fn due_rate(&self) -> f64 {
        let counts = self.cumulated.iter().scan(0, |before, &records| {
            let count = records - std::mem::replace(before, records);
            Some(count)
        });
        (1_u32..).zip(counts).map(|(interval, count)| f64::from(count) / f64::from(interval)).sum()
    }

    /// What a store must deliver from time 1 to `time`, inclusive.
    pub fn deliveries_until(&self, time: u32) -> Deliveries {
        let mut deliveries = Deliveries::default();
        for number in 0..self.records {
            let interval = self.interval(number);
            let mut due = Some(1 + self.below(number, interval));
            while let Some(now) = due.filter(|&due| due <= time) {
                deliveries.add(number, now);
                due = now.checked_add(interval);
            }
        }
        deliveries
    }

    /// A number below `bound`, drawn by record `number`.
    fn below(&self, number: u32, bound: u32) -> u32 {
        unit(mix(mix(self.seed ^ 3) ^ u64::from(number)), bound)
    }
}

/// For each interval how many of `records` have at most that one, rounded once.
fn cumulated(dataset: Dataset, periods: u32, records: u32) -> Vec<u32> {
    let total: f64 = (1..=periods).map(|interval| dataset.weight(interval)).sum();
    let shares = (1..=periods).scan(0.0, |share, interval| {
        *share += dataset.weight(interval);
        Some(*share / total)
    });
    let mut cumulated: Vec<_> = shares.map(|share| rounded(share * f64::from(records), records)).collect();
    *cumulated.last_mut().expect("one period at least") = records;
    cumulated
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of at most `records`")]
fn rounded(count: f64, records: u32) -> u32 {
    (count.round() as u32).min(records)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Dataset, Deliveries, Workload};

    /// The records of each interval, from 1.
    fn counts(workload: &Workload) -> Vec<u32> {
        let mut counts = vec![0; workload.periods() as usize];
        for number in 0..workload.records() {
            counts[workload.interval(number) as usize - 1] += 1;
        }
        counts
    }

    /// Compares counts with `formula`, which is given the interval.
    #[track_caller]
    fn check(dataset: Dataset, periods: u32, records: u32, formula: impl Fn(f64) -> f64) {
        let workload = Workload::new(dataset, periods, records, 5);
        let total: f64 = (1..=periods).map(|interval| formula(f64::from(interval))).sum();
        let mut cumulated = (0.0, 0);
        for (interval, count) in (1..=periods).zip(counts(&workload)) {
            let expected = f64::from(records) / total * formula(f64::from(interval));
            cumulated = (cumulated.0 + expected, cumulated.1 + count);
            assert!((f64::from(count) - expected).abs() <= 1.001, "{interval}: {count} for {expected}");
            assert!(
                (f64::from(cumulated.1) - cumulated.0).abs() < 0.501,
                "{interval}: up to it {cumulated:?}"
            );
        }
        assert_eq!(cumulated.1, records);
    }

    #[test]
    fn counts_follow_the_formulas() {
        let peaked = |i: f64| if i <= 100.0 { i / 10_000.0 } else { i.recip() };
        check(Dataset::Zipf, 9_600, 300_000, f64::recip);
        check(Dataset::Peaked, 9_600, 300_000, peaked);
        check(Dataset::Zipf, 1, 10, f64::recip);
        check(Dataset::Peaked, 576_000, 50_000, peaked);
    }

    #[test]
    fn the_judged_workload_has_so_many_records_due_a_minute() {
        let workload = Workload::new(Dataset::Peaked, 576_000, 15_000_000, 1);
        let rate = workload.due_rate();
        assert!((rate - 32_671.0).abs() < 40.0, "{rate}");
    }

    #[test]
    fn deliveries_come_at_the_expected_rate() {
        let workload = Workload::new(Dataset::Peaked, 9_600, 200_000, 3);
        let expected = workload.due_rate() * 50.0;
        let count = workload.deliveries_until(50).count;
        let deviation = (f64::from(u32::try_from(count).expect("few")) - expected).abs();
        assert!(deviation < 4.0 * expected.sqrt(), "{count} for {expected}");
    }

    #[test]
    fn a_record_is_due_within_its_interval_and_was_written_before() {
        let workload = Workload::new(Dataset::Zipf, 576_000, 20_000, 9);
        for number in 0..workload.records() {
            let (due, interval) = (workload.due(number), workload.interval(number));
            assert!((1..=interval).contains(&due));
            assert!(workload.written(number) <= 0);
            assert_eq!(workload.written(number) + i64::from(interval), i64::from(due));
        }
    }

    #[test]
    fn model_deliveries_are_those_of_a_clock() {
        let workload = Workload::new(Dataset::Zipf, 60, 500, 4);
        let mut next: Vec<_> = (0..500).map(|number| workload.due(number)).collect();
        let mut expected = Deliveries::default();
        for now in 1..=100 {
            for number in (0..500).filter(|&number| next[number as usize] == now).collect::<Vec<_>>() {
                expected.add(number, now);
                next[number as usize] += workload.interval(number);
            }
            assert_eq!(workload.deliveries_until(now), expected);
        }
    }

    #[test]
    fn keys_are_unique_and_printable_and_values_start_with_the_interval() {
        let workload = Workload::new(Dataset::Peaked, 9_600, 100_000, 2);
        let keys: HashSet<_> = (0..workload.records()).map(|number| workload.key(number)).collect();
        assert_eq!(keys.len(), 100_000);
        assert!(keys.iter().flatten().all(u8::is_ascii_graphic));
        assert_eq!(workload.value(17)[..4], workload.interval(17).to_le_bytes());
        assert_ne!(workload.value(17)[4..], workload.value(18)[4..]);
    }

    #[test]
    fn intervals_do_not_follow_the_number() {
        let workload = Workload::new(Dataset::Peaked, 9_600, 100_000, 2);
        let mean = |numbers: std::ops::Range<u32>| {
            numbers.map(|number| f64::from(workload.interval(number))).sum::<f64>() / 50_000.0
        };
        let ratio = mean(0..50_000) / mean(50_000..100_000);
        assert!((0.97..1.03).contains(&ratio), "{ratio}");
    }
}
