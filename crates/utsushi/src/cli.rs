//! The command line: what goes before every command.

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
  utsushi demo                      the whole product on a simulated web
  utsushi --data ~/web crawl https://example.org/ --contact https://example.net/about
  utsushi --data ~/web status       what a data directory holds, and how its crawl stands
  utsushi --data ~/web explain https://example.org/
  utsushi --data ~/web import old-crawl.warc.gz
  utsushi --data ~/web history https://example.org/
  utsushi --data ~/web snapshot --at 2026-03-31 --format wacz -o web.wacz
  utsushi config --default          every setting with its range

Exit codes: 0 done, 1 done and found something to tell, 2 could not.";

/// A living copy of a part of the web: it visits pages politely and keeps every version in standard WARC files.
#[derive(Debug, Parser)]
#[command(name = "utsushi", version, max_term_width = 100, disable_help_subcommand = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The data directory; without it `UTSUSHI_DATA` of the environment, then `./utsushi-data`
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The configuration; without it, `utsushi.toml` in the data directory if there is one
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print results as JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show neither progress nor notes
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// What to log: off, error, warn, info, debug, trace, or by crate as in `warn,crawl=debug`; without it `UTSUSHI_LOG`
    #[arg(long, global = true, value_name = "LEVEL")]
    log_level: Option<LogFilter>,
}

impl Global {
    /// The data directory: the flag, else the environment, else one below the current directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(usual_data)
    }

    /// The log level of this run and where it comes from, if it was given.
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

/// The data directory where no flag names one.
pub(crate) fn usual_data() -> PathBuf {
    variable(DATA_VARIABLE).map_or_else(|| PathBuf::from(DATA_DEFAULT), PathBuf::from)
}

/// A variable of the environment; an empty one counts as none.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
