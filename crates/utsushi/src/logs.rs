//! Logs on standard error, as text or as JSON.
//!
//! **Invariant:** a log line is written through the same [`Stream`] as notes and the progress bar, so they never run
//! into each other and a closed standard error is no failure.

use crate::output::{Output, Stream};
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::Arc;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The levels, from nothing to everything.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What is logged: a level, and levels for single crates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter(String);

impl Default for Filter {
    fn default() -> Self {
        Self("off".to_owned())
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no log level; write `off`, `error`, `warn`, `info`, `debug` or `trace`, \
     or levels by crate such as `warn,crawl=debug`"
)]
pub(crate) struct FilterError(String);

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let fits = text.split(',').all(is_directive) && EnvFilter::try_new(text).is_ok();
        if fits { Ok(Self(text.to_owned())) } else { Err(FilterError(text.to_owned())) }
    }
}

/// `LEVEL` or `CRATE=LEVEL`. A bare word that is no level would mean a crate to the filter, hiding a misspelling.
fn is_directive(text: &str) -> bool {
    let (crate_name, level) = text.split_once('=').unwrap_or(("all", text));
    let named =
        !crate_name.is_empty() && crate_name.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c));
    named && LEVELS.contains(&level)
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

impl Form {
    /// The form of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Text, Self::Json].into_iter().find(|form| form.to_string() == name)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}

/// Begins to log. A second call changes nothing: there is one log in a process.
pub(crate) fn start(output: &Output, filter: &Filter, form: Form) {
    let lines = Lines(Arc::clone(output.notes()));
    let ansi = output.notes().is_terminal();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&filter.0))
        .with_writer(lines)
        .with_ansi(ansi);
    let _ = match form {
        Form::Text => builder.try_init(),
        Form::Json => builder.json().try_init(),
    };
}

/// Hands every event to the stream as one piece.
#[derive(Clone)]
struct Lines(Arc<Stream>);

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_or_levels_by_crate() {
        for text in ["off", "warn", "trace", "warn,crawl=debug", "archive=info", "error,fetch::robots=trace"]
        {
            assert_eq!(text.parse::<Filter>().unwrap().to_string(), text);
        }
        for text in ["", "loud", "wran", "WARN", "warn,", "crawl=", "=warn", "crawl=loud", "3", "warn crawl"]
        {
            assert!(text.parse::<Filter>().is_err(), "{text}");
        }
    }
}
