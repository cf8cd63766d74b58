//! The results of a check.

use super::clause::{Clause, Edition};
use super::report::Severity;
use std::collections::BTreeMap;
use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where the record begins in the file, or the compressed member that holds it.
    pub offset: u64,
    /// The number of the record, from 1; one more than the last when no record can be named.
    pub record: u64,
    /// The id of the record, if it states one.
    pub id: Option<String>,
    /// Its severity.
    pub severity: Severity,
    /// The edition that the record follows.
    pub edition: Edition,
    /// The clause that it refers to.
    pub clause: Clause,
    /// What is wrong and what is expected.
    pub what: String,
}

impl Finding {
    /// The number of the clause in the edition that the record follows, or the name of another document.
    #[must_use]
    pub fn clause_number(&self) -> &'static str {
        self.clause.number(self.edition)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Advice => "advice",
            Severity::Error => "error",
        };
        write!(f, "{severity}: record {} at byte {}", self.record, self.offset)?;
        if let Some(id) = &self.id {
            write!(f, " {id}")?;
        }
        let number = self.clause_number();
        match number.starts_with(|c: char| c.is_ascii_digit() || c == 'D') {
            true => write!(f, ": {} clause {number}", self.edition)?,
            false => write!(f, ": {number}")?,
        }
        write!(f, " ({}): {}", self.clause.subject(), self.what)
    }
}

/// What a file holds and how much is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// How many records begin in it.
    pub records: u64,
    /// How many of each type; those that the standard does not define as `other`.
    pub types: BTreeMap<String, u64>,
    /// How many compressed members it has.
    pub members: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How many bytes of blocks.
    pub block_bytes: u64,
    /// How many findings are errors.
    pub errors: u64,
    /// How many are advice.
    pub advice: u64,
}

impl CheckSummary {
    /// Whether the file breaks no requirement of the standard.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.errors == 0
    }
}
