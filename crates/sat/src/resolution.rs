//! Which bucket a record goes to: fine steps for the near future, coarse ones for the far future (S1).
//!
//! For a record due at t′ and written at t, b = ⌊t′/τ⌋·τ with τ = max(1, ⌊exp(⌊ln(t′−t)⌋)·s⌋). There are no floats
//! here: eᵏ is in a table with 64 binary places, so the same choice is made on every machine.
//!
//! **Invariant:** t < b ≤ t′. A bucket is never chosen after its minute has come.

use crate::Minute;

/// ⌊eᵏ·2⁶⁴⌋ for k = 0, 1, …; e²² is the last below 2³² minutes.
const POWERS_OF_E: [u128; 23] = [
    0x0000_0000_0000_0001_0000_0000_0000_0000,
    0x0000_0000_0000_0002_b7e1_5162_8aed_2a6a,
    0x0000_0000_0000_0007_6399_2e35_376b_730c,
    0x0000_0000_0000_0014_15e5_bf6f_b105_f2d4,
    0x0000_0000_0000_0036_9920_5c4e_74b0_cf1a,
    0x0000_0000_0000_0094_69c4_cb81_9c78_fb37,
    0x0000_0000_0000_0193_6dc5_690c_08f3_7a9a,
    0x0000_0000_0000_0448_a216_abb7_6a9b_c7e8,
    0x0000_0000_0000_0ba4_f53e_a386_36f8_5f00,
    0x0000_0000_0000_1fa7_157c_470f_81c3_655e,
    0x0000_0000_0000_560a_773e_5415_7e7c_1faa,
    0x0000_0000_0000_e9e2_2447_727b_f9f7_b893,
    0x0000_0000_0002_7bc2_ca9a_6f93_45d4_00b8,
    0x0000_0000_0006_c02d_645a_b255_4d53_1d36,
    0x0000_0000_0012_59ac_48bf_05d6_ef81_ba34,
    0x0000_0000_0031_e199_5f5a_550d_de2e_5fe3,
    0x0000_0000_0087_975e_8540_0102_4911_f8b8,
    0x0000_0000_0170_9348_c0ea_4f8c_e7e9_90ca,
    0x0000_0000_03e9_e441_2328_17a6_1584_6a57,
    0x0000_0000_0aa3_6c7c_f693_70b9_40b1_98f7,
    0x0000_0000_1ceb_088b_68e8_0402_1897_97f9,
    0x0000_0000_4e9b_87f6_7bb3_f559_76a7_206a,
    0x0000_0000_d5ad_6dce_21af_fc0d_d9a3_592a,
];

/// How time is divided into buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The τ of each range of intervals; the first begins at 1.
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    interval_minutes_min: u32,
    tau_minutes: u32,
}

impl Resolution {
    /// Variable resolution (SAT/L) with s = `numerator` ÷ `denominator`; the paper's s is 1/12.
    ///
    /// # Panics
    /// If s is 0 or above 1, where a bucket could lie in the past.
    #[must_use]
    pub fn variable(numerator: u32, denominator: u32) -> Self {
        assert!(numerator > 0 && numerator <= denominator, "s must lie in (0, 1]");
        let steps = POWERS_OF_E.iter().map(|power| Step {
            interval_minutes_min: to_minutes(power.div_ceil(1 << 64)),
            tau_minutes: to_minutes((power * u128::from(numerator) / u128::from(denominator)) >> 64).max(1),
        });
        Self { steps: steps.collect() }
    }
    /// One bucket a minute however far away (the paper's SAT, its linear ancestor).
    #[must_use]
    pub fn linear() -> Self {
        Self { steps: vec![Step { interval_minutes_min: 1, tau_minutes: 1 }] }
    }
    /// τ for a record whose due time lies `interval_minutes` ahead.
    #[must_use]
    pub fn tau_minutes(&self, interval_minutes: u32) -> u32 {
        let above = self.steps.partition_point(|step| step.interval_minutes_min <= interval_minutes);
        self.steps[above.saturating_sub(1)].tau_minutes
    }
    /// The bucket for a record due at `due` and written at `now`; a record that is overdue is due in the next minute
    /// (D5).
    #[must_use]
    pub fn bucket(&self, now: Minute, due: Minute) -> Minute {
        let due = due.0.max(now.0 + 1);
        let tau = self.tau_minutes(due - now.0);
        Minute(due / tau * tau)
    }
    /// The distance class of a bucket `interval_minutes` ahead: records of one class die at about the same time.
    #[must_use]
    pub(crate) fn class(&self, interval_minutes: u32) -> usize {
        let above = self.steps.partition_point(|step| step.interval_minutes_min <= interval_minutes);
        // Below e³ minutes nothing lives long enough to be worth a segment of its own.
        above.saturating_sub(1).max(3) - 3
    }
}

impl Default for Resolution {
    fn default() -> Self {
        Self::variable(1, 12)
    }
}

/// Number of classes of [`Resolution::class`].
pub(crate) const CLASSES: usize = POWERS_OF_E.len() - 3;

#[expect(clippy::cast_possible_truncation, reason = "e²² is below 2³²")]
fn to_minutes(minutes: u128) -> u32 {
    minutes as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The formula as written, in floats, for one s.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "τ is small and not negative"
    )]
    fn formula(now: u32, due: u32, s: f64) -> u32 {
        let interval = f64::from(due - now);
        let tau = (interval.ln().floor().exp() * s).floor().max(1.0) as u32;
        due / tau * tau
    }

    #[test]
    fn s1_the_choice_is_the_formula() {
        for (numerator, denominator) in [(1, 12), (1, 1), (1, 100), (3, 7)] {
            let resolution = Resolution::variable(numerator, denominator);
            let s = f64::from(numerator) / f64::from(denominator);
            for interval in (1..3_000).chain((3_000..576_000).step_by(97)).chain([576_000]) {
                for now in [0, 1, 59, 1_000_003] {
                    let (chosen, expected) = (
                        resolution.bucket(Minute(now), Minute(now + interval)).0,
                        formula(now, now + interval, s),
                    );
                    assert_eq!(chosen, expected, "now {now}, interval {interval}, s {s}");
                    assert!(now < chosen && chosen <= now + interval);
                }
            }
        }
    }

    /// Open buffers at time 0 for intervals up to `intervals`.
    fn open_buffers(intervals: u32) -> usize {
        let resolution = Resolution::default();
        let buckets: BTreeSet<_> =
            (1..=intervals).map(|interval| resolution.bucket(Minute(0), Minute(interval))).collect();
        buckets.len()
    }

    /// The paper counts 90, 173 and 275. With e and floors as in S1 the count at time 0 is 99, 165 and 250: within
    /// 10 %. At other moments the grids of neighbouring τ do not line up and a few more are open; the paper does not
    /// say at which moment it counted.
    #[test]
    fn s1_table_1_of_the_paper_within_a_tenth() {
        let counted = [400, 9_600, 576_000].map(open_buffers);
        assert_eq!(counted, [99, 165, 250]);
        for (ours, paper) in counted.into_iter().zip([90, 173, 275]) {
            assert!(10 * ours.abs_diff(paper) <= paper, "{ours} against {paper}");
        }
    }

    #[test]
    fn the_linear_ancestor_has_a_bucket_a_minute() {
        let resolution = Resolution::linear();
        for interval in [1, 2, 1_000, 576_000] {
            assert_eq!(resolution.bucket(Minute(7), Minute(7 + interval)), Minute(7 + interval));
        }
    }

    #[test]
    fn an_overdue_record_is_due_in_the_next_minute() {
        assert_eq!(Resolution::default().bucket(Minute(100), Minute(3)), Minute(101));
        assert_eq!(Resolution::default().bucket(Minute(100), Minute(100)), Minute(101));
    }
}
