//! The findings while one record is checked.

use super::clause::{Clause, Field};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file departs from what the standard recommends, or in a way that readers are used to.
    Advice,
    /// The file breaks a requirement of the standard.
    Error,
}

/// The findings of one record, before its position and id are known.
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

/// Foreign text as it can be printed: without control characters, not too long (H24).
pub(super) fn shown(text: &str) -> String {
    let cut = text.char_indices().nth(SHOWN_CHARS_MAX).map(|(place, _)| place);
    let begins = cut.and_then(|place| text.get(..place)).unwrap_or(text);
    format!("{}{}", base::printable(begins), if cut.is_some() { "…" } else { "" })
}
