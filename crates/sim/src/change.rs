//! How pages change: the processes, and how many pages follow each.
//!
//! | what | share | when |
//! |---|---|---|
//! | Poisson | 470 ‰ of pages | mean interval log-uniform between 1 hour and 400 days |
//! | periodic | 20, 60, 20 ‰ of pages | hourly, daily, weekly, each with a phase of its own |
//! | bursty | 80 ‰ of pages | bursts of 3 to 12 changes, 1 to 15 minutes apart; 20 to 120 days between bursts |
//! | never | 250 ‰ of pages | |
//! | advert only | 100 ‰ of pages | the advert block, mean log-uniform between 5 minutes and 6 hours |
//! | date line | 30 ‰ of pages, besides | the footer shows the day and a counter, which change at local midnight |
//! | born late | 160 ‰ of leaf pages | evenly over the three years after [`crate::ORIGIN`] |
//! | deleted | 50 ‰ of leaf pages | evenly over the three years after birth or origin |
//! | moved | 80 ‰ of directories | evenly over the three years after the origin |
//! | rebuilt | 300 ‰ of servers | Poisson with a mean of 180 days; changes the template of every page |
//!
//! **Invariant:** the process of a page is a pure function of the mix and the page.

use crate::draw::{below, draw, log_uniform};
use base::{Interval, Timestamp};

mod instants;

pub(crate) use instants::{Instants, Second, below_second, moment};

/// A second of the simulated web as a timestamp.
pub(crate) fn timestamp(second: Second) -> Timestamp {
    Timestamp::from_seconds(second).expect("the simulated web lives in this age")
}

/// How often the main text of a page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeProcess {
    /// At random, with this mean interval.
    Poisson {
        /// The mean time between changes.
        mean: Interval,
    },
    /// At fixed times.
    Periodic {
        /// The time between changes.
        every: Interval,
    },
    /// Several changes in a row, then a long silence.
    Bursty {
        /// The mean time between the bursts.
        mean: Interval,
    },
    /// Never.
    Never,
    /// Never; only the advert block changes, at random.
    AdvertOnly {
        /// The mean time between changes of the advert block.
        mean: Interval,
    },
}

impl ChangeProcess {
    /// The process in a word or two.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Poisson { .. } => "poisson",
            Self::Periodic { .. } => "periodic",
            Self::Bursty { .. } => "bursty",
            Self::Never => "never",
            Self::AdvertOnly { .. } => "advert only",
        }
    }
    /// The mean time between two changes of this process; none when there are none.
    #[must_use]
    pub fn mean_interval(self) -> Option<Interval> {
        match self {
            Self::Poisson { mean } | Self::AdvertOnly { mean } => Some(mean),
            Self::Periodic { every } => Some(every),
            Self::Bursty { mean } => Some(mean.times(1.0 / instants::BURST_MEAN)),
            Self::Never => None,
        }
    }
}

/// The shares of the processes, in thousandths. The default is the table of this module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeMix {
    /// Pages that change at random.
    pub poisson: u16,
    /// Pages that change every hour.
    pub hourly: u16,
    /// Pages that change every day.
    pub daily: u16,
    /// Pages that change every week.
    pub weekly: u16,
    /// Pages that change in bursts.
    pub bursty: u16,
    /// Pages of which only the advert block changes. The pages that remain never change.
    pub advert_only: u16,
    /// Pages with a date line, besides.
    pub dated: u16,
    /// Leaf pages that are born after the origin.
    pub born_late: u16,
    /// Leaf pages that are deleted.
    pub deleted: u16,
    /// Directories that get another name.
    pub moved: u16,
    /// Servers that are rebuilt from time to time.
    pub rebuilt: u16,
    /// Maximum age in days, at the origin, of the pages that exist then; at most five years.
    pub age_days_max: u16,
    /// The process of every page; overrides the shares.
    pub only: Option<ChangeProcess>,
    /// Numbers of the servers whose pages follow the default shares, whatever the shares above are.
    pub busy: Vec<u32>,
}

impl Default for ChangeMix {
    fn default() -> Self {
        Self {
            poisson: 470,
            hourly: 20,
            daily: 60,
            weekly: 20,
            bursty: 80,
            advert_only: 100,
            dated: 30,
            born_late: 160,
            deleted: 50,
            moved: 80,
            rebuilt: 300,
            age_days_max: 5 * 365,
            only: None,
            busy: Vec::new(),
        }
    }
}

impl ChangeMix {
    /// Every page changes by `process` and by nothing else: none is born late, deleted, moved, rebuilt or dated.
    #[must_use]
    pub fn uniform(process: ChangeProcess) -> Self {
        let none = Self { dated: 0, born_late: 0, deleted: 0, moved: 0, rebuilt: 0, ..Self::default() };
        Self { only: Some(process), ..none }
    }

    /// The process of the page with this seed on this server.
    pub(crate) fn process_on(&self, server: u32, seed: u64) -> ChangeProcess {
        if self.busy.contains(&server) { Self::default().process(seed) } else { self.process(seed) }
    }
    fn process(&self, seed: u64) -> ChangeProcess {
        if let Some(process) = self.only {
            return process;
        }
        let (kind, size) = (draw(seed, 1), draw(seed, 2));
        let seconds = |from, octaves| Interval::from_seconds(log_uniform(size, from, octaves));
        let shares = [self.poisson, self.hourly, self.daily, self.weekly, self.bursty, self.advert_only];
        match place(kind, &shares) {
            0 => ChangeProcess::Poisson { mean: seconds(3_600, OCTAVES_HOUR_TO_400_DAYS) },
            1 => ChangeProcess::Periodic { every: Interval::from_hours(1) },
            2 => ChangeProcess::Periodic { every: Interval::from_days(1) },
            3 => ChangeProcess::Periodic { every: Interval::from_days(7) },
            4 => ChangeProcess::Bursty { mean: seconds(20 * 86_400, OCTAVES_20_TO_120_DAYS) },
            5 => ChangeProcess::AdvertOnly { mean: seconds(300, OCTAVES_5_MINUTES_TO_6_HOURS) },
            _ => ChangeProcess::Never,
        }
    }
}

/// log₂(400 days ÷ 1 hour), and so on.
const OCTAVES_HOUR_TO_400_DAYS: f64 = 13.228_818_690_495_88;
const OCTAVES_20_TO_120_DAYS: f64 = 2.584_962_500_721_156;
const OCTAVES_5_MINUTES_TO_6_HOURS: f64 = 6.169_925_001_442_312;

/// The index of the consecutive share that a draw falls into; the number of shares if it falls into none.
fn place(draw: u64, shares: &[u16]) -> usize {
    let mut rest = below(draw, 1_000);
    for (place, share) in shares.iter().enumerate() {
        match rest.checked_sub(u64::from(*share)) {
            None => return place,
            Some(left) => rest = left,
        }
    }
    shares.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::chance::mix;

    #[test]
    fn the_shares_are_those_of_the_table() {
        let mix_of_pages = ChangeMix::default();
        let count =
            |word: &str| (0..20_000).filter(|n| mix_of_pages.process(mix(*n)).as_str() == word).count();
        for (word, per_mille) in
            [("poisson", 470), ("periodic", 100), ("bursty", 80), ("never", 250), ("advert only", 100)]
        {
            let found = count(word) / 20;
            assert!(found.abs_diff(per_mille) < 12, "{word}: {found}");
        }
    }
}
