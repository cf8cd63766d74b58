//! What must come out.

use super::contest::Contest;
use serde_json::{Value, json};
use std::fmt;

/// A ratio that must not be exceeded.
#[derive(Debug)]
pub(super) struct Verdict {
    what: String,
    ratio: f64,
    most: f64,
}

/// Processor time of the first over that of the second, at most. Those in the lower half compress as little as each other.
const RATIOS: [(&str, &str, f64); 7] = [
    ("utsushi", "bare loop", 1.5),
    ("utsushi", "wget --warc-file", 1.0),
    ("utsushi", "wget2", 1.0),
    ("utsushi", "spider", 1.0),
    ("utsushi, plain", "bare loop, plain", 1.5),
    ("utsushi, plain", "wget2, one thread", 1.0),
    ("utsushi, plain", "spider, no crawl", 1.0),
];

/// The verdicts on the clients that took turns.
pub(super) fn all(contests: &[Contest]) -> Vec<Verdict> {
    let find = |name: &str| contests.iter().find(|contest| contest.name == name && !contest.turns.is_empty());
    let judge = |(first, second, most): &(&str, &str, f64)| {
        let ratio = find(first)?.over(find(second)?);
        Some(Verdict { what: format!("{first}, CPU over {second}"), ratio, most: *most })
    };
    RATIOS.iter().filter_map(judge).collect()
}

impl Verdict {
    pub(super) fn is_met(&self) -> bool {
        self.ratio <= self.most
    }
    pub(super) fn to_json(&self) -> Value {
        json!({ "verdict": self.what, "ratio": self.ratio, "at_most": self.most, "is_met": self.is_met() })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_met() { "met" } else { "MISSED" };
        write!(f, "{:<45} {:>6.2} (at most {:.2}: {word})", self.what, self.ratio, self.most)
    }
}
