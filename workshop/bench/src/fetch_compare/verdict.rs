//! The demands on the results, and further ratios.

use super::contest::Contest;
use serde_json::{Value, json};
use std::fmt;

/// The processor time of one client over that of another.
#[derive(Debug)]
pub(super) struct Verdict {
    what: String,
    ratio: f64,
    /// Its maximum; `None` if the two do different work.
    most: Option<f64>,
}

const RATIOS: [(&str, &str, Option<f64>); 8] = [
    ("utsushi", "bare loop", Some(1.5)),
    ("utsushi", "wget --warc-file", Some(1.0)),
    ("utsushi", "wget2, files", Some(1.0)),
    ("utsushi", "spider", Some(1.0)),
    ("utsushi, zstd", "wget2, files", None),
    ("utsushi, plain", "wget2, files", None),
    ("utsushi, plain", "spider, no crawl", None),
    ("utsushi, plain", "bare loop, plain", None),
];

/// The verdicts on the clients that took turns.
pub(super) fn all(contests: &[Contest]) -> Vec<Verdict> {
    let find = |name: &str| contests.iter().find(|contest| contest.name == name && !contest.turns.is_empty());
    let judge = |(first, second, most): &(&str, &str, Option<f64>)| {
        let ratio = find(first)?.over(find(second)?);
        Some(Verdict { what: format!("CPU of {first} over {second}"), ratio, most: *most })
    };
    RATIOS.iter().filter_map(judge).collect()
}

impl Verdict {
    pub(super) fn is_met(&self) -> bool {
        self.most.is_none_or(|most| self.ratio <= most)
    }
    pub(super) fn to_json(&self) -> Value {
        json!({ "verdict": self.what, "ratio": self.ratio, "at_most": self.most, "is_met": self.is_met() })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<45} {:>6.2}", self.what, self.ratio)?;
        match self.most {
            Some(most) => write!(f, " (at most {most:.2}: {})", if self.is_met() { "met" } else { "MISSED" }),
            None => Ok(()),
        }
    }
}
