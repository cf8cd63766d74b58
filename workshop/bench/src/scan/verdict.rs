//! Figures that must be reached.

use serde_json::{Value, json};

/// A figure, and what it must be.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) what: String,
    pub(super) figure: f64,
    pub(super) bound: Bound,
}

/// What a figure must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    /// It is reported but not judged.
    None,
}

impl Verdict {
    pub(super) fn new(what: impl Into<String>, figure: f64, bound: Bound) -> Self {
        Self { what: what.into(), figure, bound }
    }

    pub(super) fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtLeast(least) => self.figure >= least,
            Bound::AtMost(most) => self.figure <= most,
            Bound::None => true,
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let (at_least, at_most) = match self.bound {
            Bound::AtLeast(least) => (Some(least), None),
            Bound::AtMost(most) => (None, Some(most)),
            Bound::None => (None, None),
        };
        json!({
            "verdict": self.what, "figure": self.figure, "at_least": at_least, "at_most": at_most,
            "is_met": self.is_met(),
        })
    }
}
