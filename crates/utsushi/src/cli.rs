//! The command line: the options of every command.

use crate::commands::Command;
use anyhow::Context as _;
use clap::{Args, Parser};
use node::config::LogFilter;
use node::config::SettingOrigin;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const DATA_VARIABLE: &str = "UTSUSHI_DATA";
const DATA_DEFAULT: &str = "./utsushi-data";
const LOG_VARIABLE: &str = "UTSUSHI_LOG";
const EXAMPLES: &str = "\
Examples:
  utsushi demo                      try everything on a simulated web
  utsushi --data ~/web crawl https://example.org/ --contact https://example.net/about
  utsushi --data ~/web status       show what a data directory contains and the state of its crawl
  utsushi --data ~/web explain https://example.org/
  utsushi --data ~/web import old-crawl.warc.gz
  utsushi --data ~/web history https://example.org/
  utsushi --data ~/web snapshot --at 2026-03-31 --format wacz -o web.wacz
  utsushi config --default          show every setting with its range

Exit codes: 0 done, 1 done with findings, 2 failed.";

/// A living copy of a part of the web: visits pages politely and archives every version in standard WARC files.
#[derive(Debug, Parser)]
#[command(name = "utsushi", version, long_version = crate::commands::licences::version(), max_term_width = 100, disable_help_subcommand = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Data directory; default: the environment variable `UTSUSHI_DATA`, then `./utsushi-data`
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Configuration file; default: `utsushi.toml` in the data directory, if it exists
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print results as JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Hide progress and notes
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// What to log: off, error, warn, info, debug, trace, or per crate as in `warn,crawl=debug`; default: `UTSUSHI_LOG`
    #[arg(long, global = true, value_name = "LEVEL")]
    log_level: Option<LogFilter>,
}

impl Global {
    /// The data directory: the flag, else the environment variable, else one below the current directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(usual_data)
    }

    /// The log level of this run and its origin, if it was given.
    pub(crate) fn log_level(&self) -> anyhow::Result<Option<(LogFilter, SettingOrigin)>> {
        if let Some(level) = &self.log_level {
            return Ok(Some((level.clone(), SettingOrigin::Flag("--log-level"))));
        }
        let Some(text) = variable(LOG_VARIABLE) else { return Ok(None) };
        let level = text.to_string_lossy().parse();
        let level = level.with_context(|| format!("cannot use the environment variable `{LOG_VARIABLE}`"))?;
        Ok(Some((level, SettingOrigin::Environment(LOG_VARIABLE))))
    }
}

/// The data directory without a flag.
pub(crate) fn usual_data() -> PathBuf {
    variable(DATA_VARIABLE).map_or_else(|| PathBuf::from(DATA_DEFAULT), PathBuf::from)
}

/// An environment variable; an empty one counts as not set.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
