//! Why a configuration is refused.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the configuration `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file can be read, but its contents are wrong.
    #[error("cannot use the configuration `{}`: {}", path.display(), listed(problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// All problems, in the order of the file.
        problems: Vec<Problem>,
    },
}

impl Error {
    /// What a person can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Read { .. } => "name a readable file with `--config`, or omit the flag".to_owned(),
            Self::Invalid { .. } => {
                "correct the file; `utsushi config --default` shows every setting with its range".to_owned()
            }
        }
    }
}

/// One problem of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong and what is allowed.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

fn listed(problems: &[Problem]) -> String {
    match problems {
        [only] => only.to_string(),
        several => several.iter().map(|problem| format!("\n  {problem}")).collect(),
    }
}
