//! When to look again at a page (C3–C5, C14).
//!
//! A policy is an *estimator* and an *allocation*. The [`Estimator`] turns what visits showed into how often a page changes
//! ([`estimate`]). The [`Allocation`] divides the requests that a server may be asked for over its pages
//! ([`allocate`]). Pages that changed together before are looked at together ([`co_change`]), and what feeds and sitemaps say counts as far
//! as it has proved right ([`trust`]). What a server as a whole has shown is its [pace].
//!
//! Everything here is a pure function of what was seen; the replay of recorded histories (`cargo xtask bench revisit`) and the
//! crawler call the same ones.
//!
//! **Invariant:** every interval that leaves this module lies within [`base::limits`].

pub mod allocate;
pub mod co_change;
pub mod estimate;
pub mod pace;
pub mod paper;
pub mod trust;

use allocate::Allocation;
use base::Interval;
use estimate::Estimator;
use std::fmt;
use std::str::FromStr;

/// What a page is visited every so often on average, unless a setting says otherwise.
pub const EVERY_DEFAULT: Interval = Interval::from_days(30);

/// When to look again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RevisitPolicy {
    /// How often a page changes.
    pub estimator: Estimator,
    /// How requests are divided over pages that change so often.
    pub allocation: Allocation,
    /// The budget: on average a page is visited every so often.
    pub every: Interval,
    /// Whether first visits are taken out of the same budget. Otherwise they come as fast as the pause allows.
    pub counts_new: bool,
}

impl Default for RevisitPolicy {
    fn default() -> Self {
        Self::new(Estimator::CoChange, Allocation::Root)
    }
}

impl RevisitPolicy {
    /// An estimator and an allocation, with the usual budget.
    #[must_use]
    pub const fn new(estimator: Estimator, allocation: Allocation) -> Self {
        Self { estimator, allocation, every: EVERY_DEFAULT, counts_new: false }
    }
    /// The estimate of paper 003, as printed.
    #[must_use]
    pub const fn paper() -> Self {
        Self::new(Estimator::Paper, Allocation::Printed)
    }
    /// Every page at the same interval, whatever it does.
    #[must_use]
    pub const fn fixed(every: Interval) -> Self {
        Self { every, ..Self::new(Estimator::Paper, Allocation::Fixed) }
    }
    /// Whether visits are spread by a budget. As printed, and at fixed intervals, they come when they are due.
    #[must_use]
    pub const fn has_budget(&self) -> bool {
        !matches!(self.allocation, Allocation::Printed | Allocation::Fixed)
    }
}

impl fmt::Display for RevisitPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.allocation {
            Allocation::Fixed => f.write_str("fixed"),
            Allocation::Uniform => f.write_str("uniform"),
            allocation => write!(f, "{}/{}", self.estimator.name(), allocation.name()),
        }
    }
}

/// Why a text names no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no policy; write an estimator (co-change, activity, gamma, cho, paper) and an allocation (root, age, fresh, scaled, \
     selection, printed) such as `co-change/root`, or `uniform`, `fixed`, or `paper` for `paper/printed`"
)]
pub struct RevisitPolicyError(String);

impl FromStr for RevisitPolicy {
    type Err = RevisitPolicyError;

    fn from_str(text: &str) -> Result<Self, RevisitPolicyError> {
        let unknown = || RevisitPolicyError(text.to_owned());
        match text {
            "default" => return Ok(Self::default()),
            "paper" => return Ok(Self::paper()),
            "fixed" => return Ok(Self::fixed(EVERY_DEFAULT)),
            "uniform" => return Ok(Self::new(Estimator::Gamma, Allocation::Uniform)),
            _ => {}
        }
        let (estimator, allocation) = text.split_once('/').ok_or_else(unknown)?;
        let estimator = Estimator::named(estimator);
        let allocation = Allocation::ALL.into_iter().find(|known| known.name() == allocation);
        Ok(Self::new(estimator.ok_or_else(unknown)?, allocation.ok_or_else(unknown)?))
    }
}

/// What is known of a page's changes, as the papers count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Answered visits.
    pub visits: u32,
    /// Changes seen, m.
    pub changes: u32,
    /// Since the first visit, T.
    pub elapsed: Interval,
    /// The intervals that showed no change together, U.
    pub unchanged: Interval,
    /// The shortest interval that showed a change.
    pub change_min: Interval,
    /// The interval before the last visit.
    pub last: Interval,
    /// At the last visit, how long ago the page had changed by its own word.
    pub age: Option<Interval>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_as_they_are_named() {
        for estimator in Estimator::ALL {
            for allocation in Allocation::ALL {
                let policy = RevisitPolicy::new(estimator, allocation);
                let read: RevisitPolicy = policy.to_string().parse().unwrap();
                assert_eq!(read.allocation, allocation);
                assert!(
                    read.estimator == estimator
                        || matches!(allocation, Allocation::Fixed | Allocation::Uniform)
                );
            }
        }
        assert_eq!("paper".parse(), Ok(RevisitPolicy::paper()));
        assert_eq!("default".parse(), Ok(RevisitPolicy::default()));
        assert_eq!("kin/root".parse(), Ok(RevisitPolicy::default()), "its former name");
        let error = "co-change".parse::<RevisitPolicy>().unwrap_err().to_string();
        assert!(error.starts_with("`co-change` is no policy; write an"), "{error}");
        assert!("co-change/root/x".parse::<RevisitPolicy>().is_err());
    }
}
