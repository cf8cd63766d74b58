//! What is found while one record is looked at.

use super::clause::{Clause, Field};
use std::fmt::Write as _;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file departs from what the standard recommends, or in a way that readers are used to.
    Advice,
    /// The file breaks what the standard demands.
    Error,
}

/// The findings of one record, before it is known where it stands and what it is called.
#[derive(Debug, Default)]
pub(super) struct Report(pub(super) Vec<(Severity, Clause, String)>);

/// A record that is wrong in every line is not described line by line.
const FINDINGS_MAX: usize = 64;

impl Report {
    pub(super) fn add(&mut self, severity: Severity, clause: Clause, what: String) {
        if self.0.len() < FINDINGS_MAX {
            self.0.push((severity, clause, what));
        }
    }
    pub(super) fn error(&mut self, clause: Clause, what: impl Into<String>) {
        self.add(Severity::Error, clause, what.into());
    }
    pub(super) fn advice(&mut self, clause: Clause, what: impl Into<String>) {
        self.add(Severity::Advice, clause, what.into());
    }
    pub(super) fn wrong(&mut self, field: Field, what: impl Into<String>) {
        self.error(Clause::Field(field), what);
    }
}

const SHOWN_CHARS_MAX: usize = 120;

/// Foreign text as it can be printed: on one line, without control characters, not too long (H24).
pub(super) fn shown(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars().take(SHOWN_CHARS_MAX) {
        let invisible = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if invisible {
            // Writing to a string cannot fail.
            _ = write!(safe, "{}", c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        safe.push('…');
    }
    safe
}
