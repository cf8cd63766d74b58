//! `[log]`: what is logged and in which format.

use std::fmt;
use std::str::FromStr;

/// The levels, from nothing to everything.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What is logged: a level, and levels for single crates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter(String);

impl LogFilter {
    /// The filter as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for LogFilter {
    fn default() -> Self {
        Self("off".to_owned())
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text is not a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a log level; write `off`, `error`, `warn`, `info`, `debug` or `trace`, \
     or levels by crate such as `warn,crawl=debug`"
)]
pub struct LogFilterError(String);

impl FromStr for LogFilter {
    type Err = LogFilterError;

    fn from_str(text: &str) -> Result<Self, LogFilterError> {
        if text.split(',').all(is_directive) {
            Ok(Self(text.to_owned()))
        } else {
            Err(LogFilterError(text.to_owned()))
        }
    }
}

/// `LEVEL` or `CRATE=LEVEL`. A bare word that is not a level would name a crate, and a misspelling would go unnoticed.
fn is_directive(text: &str) -> bool {
    let (crate_name, level) = text.split_once('=').unwrap_or(("all", text));
    let named =
        !crate_name.is_empty() && crate_name.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c));
    named && LEVELS.contains(&level)
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object per line.
    Json,
}

impl LogFormat {
    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Text, Self::Json].into_iter().find(|form| form.to_string() == name)
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_or_levels_by_crate() {
        for text in ["off", "warn", "trace", "warn,crawl=debug", "archive=info", "error,fetch::robots=trace"]
        {
            assert_eq!(text.parse::<LogFilter>().unwrap().to_string(), text);
        }
        for text in ["", "loud", "wran", "WARN", "warn,", "crawl=", "=warn", "crawl=loud", "3", "warn crawl"]
        {
            assert!(text.parse::<LogFilter>().is_err(), "{text}");
        }
    }
}
