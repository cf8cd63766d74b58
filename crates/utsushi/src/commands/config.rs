//! `utsushi config`: the configuration in effect, with the origin of each value.

use super::Context;
use crate::config::{DEFAULT, Origin, SETTINGS};
use crate::exit::Exit;
use crate::output::Output;
use serde::Serialize;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  utsushi config                                what is in effect, and why
  utsushi config --default > utsushi.toml       a file to begin with
  utsushi --config mine.toml config --json      the same for a program";

/// The configuration in effect, and where each value comes from
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the compiled-in defaults with their explanations instead
    #[arg(long)]
    pub(crate) default: bool,
}

/// Prints the commented defaults.
pub(crate) fn show_default(output: &Output) -> Exit {
    output.own_text(DEFAULT);
    Exit::Done
}

/// Prints every setting.
pub(crate) fn run(context: &Context) -> Exit {
    for setting in SETTINGS {
        let (key, shown) = (setting.key, (setting.show)(&context.config));
        let origin = context.config.origin(key);
        let line = || format!("{:<48} # {origin}", format!("{key} = {shown}"));
        context.output.result(&Described::new(key, &shown, origin), line);
    }
    Exit::Done
}

/// A setting for a program.
#[derive(Serialize)]
struct Described<'a> {
    key: &'a str,
    value: Option<toml::Value>,
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

impl<'a> Described<'a> {
    fn new(key: &'a str, shown: &str, origin: &'a Origin) -> Self {
        let (origin, file, line, name) = match origin {
            Origin::Default => ("default", None, None, None),
            Origin::File { path, line } => ("file", Some(path.as_path()), Some(*line), None),
            Origin::Flag(name) => ("flag", None, None, Some(*name)),
            Origin::Environment(name) => ("environment", None, None, Some(*name)),
        };
        Self { key, value: value_of(shown), origin, file, line, name }
    }
}

/// The value of a text that is TOML of our own making.
fn value_of(shown: &str) -> Option<toml::Value> {
    let mut table: toml::Table = format!("x = {shown}").parse().ok()?;
    table.remove("x")
}
