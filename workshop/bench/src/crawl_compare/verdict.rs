//! The demands on the results.

use super::contest::{Contest, Turn};
use crate::fetch_compare::contest::median;
use serde_json::{Value, json};
use std::fmt;

/// One demand on ours beside another crawler.
#[derive(Debug)]
pub(super) struct Verdict {
    what: &'static str,
    ratio: f64,
    /// What the ratio may be at most, or must be at least.
    bound: Bound,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Most(f64),
    Least(f64),
    /// It is reported but not judged, because the two do different work.
    None,
}

type Figure = fn(&Turn) -> f64;

const CPU: Figure = Turn::cpu_seconds;
const SPEED: Figure = Turn::pages_per_second;

/// The demands: the first crawler's figure over the second's.
const DEMANDS: [(&str, Figure, &str, &str, Bound); 7] = [
    ("CPU a page over spider's", CPU, "utsushi", "spider", Bound::Most(1.0)),
    ("CPU a page over the bare loop's", CPU, "utsushi", "bare loop", Bound::Most(2.0)),
    ("Scrapy's CPU a page over ours", CPU, "Scrapy + warcio", "utsushi", Bound::Least(20.0)),
    ("pages a second over spider's", SPEED, "utsushi", "spider", Bound::Least(1.0)),
    ("CPU a page by zstd over spider's, which packs nothing", CPU, "utsushi, zstd", "spider", Bound::None),
    ("CPU a page over that of wget --warc-file", CPU, "utsushi", "wget --warc-file", Bound::None),
    ("CPU a page over wget2's, which archives nothing", CPU, "utsushi", "wget2, files", Bound::None),
];

/// The verdicts on the crawlers that took turns.
pub(super) fn all(contests: &[Contest]) -> Vec<Verdict> {
    let find = |name: &str| contests.iter().find(|contest| contest.name == name && !contest.turns.is_empty());
    let judge = |(what, figure, first, second, bound): &(&'static str, Figure, &str, &str, Bound)| {
        let pairs = find(first)?.turns.iter().zip(&find(second)?.turns);
        let ratio = median(pairs.map(|(first, second)| figure(first) / figure(second)));
        Some(Verdict { what, ratio, bound: *bound })
    };
    DEMANDS.iter().filter_map(judge).collect()
}

impl Verdict {
    pub(super) fn is_met(&self) -> bool {
        match self.bound {
            Bound::Most(most) => self.ratio <= most,
            Bound::Least(least) => self.ratio >= least,
            Bound::None => true,
        }
    }
    pub(super) fn to_json(&self) -> Value {
        let (most, least) = match self.bound {
            Bound::Most(most) => (Some(most), None),
            Bound::Least(least) => (None, Some(least)),
            Bound::None => (None, None),
        };
        json!({
            "verdict": self.what, "ratio": self.ratio, "at_most": most, "at_least": least, "is_met": self.is_met(),
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<54} {:>7.2}", self.what, self.ratio)?;
        let met = if self.is_met() { "met" } else { "MISSED" };
        match self.bound {
            Bound::Most(most) => write!(f, " (at most {most:.2}: {met})"),
            Bound::Least(least) => write!(f, " (at least {least:.2}: {met})"),
            Bound::None => Ok(()),
        }
    }
}
