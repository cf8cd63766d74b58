//! `utsushi config`: the configuration in effect, with the origin of each value.

use super::Context;
use crate::exit::{Advised, Exit};
use crate::output::Output;
use anyhow::Context as _;
use node::config::{Config, DEFAULT, SETTINGS, SettingOrigin};
use serde::Serialize;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  utsushi config                                show the settings in effect and their origin
  utsushi config --default > utsushi.toml       create a file to edit
  utsushi --config mine.toml config --json      the same as JSON
  utsushi --data ~/web config --forget crawl.scope    use the file or the default again";

/// Show the configuration in effect, and where each value comes from
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the compiled-in defaults with their descriptions instead
    #[arg(long)]
    pub(crate) default: bool,
    /// Remove a setting stored by an earlier crawl, such as `crawl.scope`; may be repeated
    #[arg(long, value_name = "SETTING", conflicts_with = "default")]
    forget: Vec<String>,
}

/// Prints the commented defaults.
pub(crate) fn show_default(output: &Output) -> Exit {
    output.own_text(DEFAULT);
    Exit::Done
}

/// Prints every setting, after removing stored ones if requested.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    if args.forget.is_empty() {
        return Ok(show(context));
    }
    for key in &args.forget {
        let is_kept = matches!(context.node.config.origin(key), SettingOrigin::Kept { .. });
        if !is_kept {
            let what = format!("cannot forget `{}`", base::printable(key));
            let why = anyhow::anyhow!("no earlier crawl stored it");
            let advice = "`utsushi config` shows which settings are stored";
            return Err(Advised::new(what, advice, why).into());
        }
    }
    let written = context.node.config.forget(&context.node.data, &args.forget);
    written.with_context(|| format!("cannot write to `{}`", context.node.data.display()))?;
    let mut context = context.clone();
    context.node.config = Config::load(context.config_file.as_deref(), &context.node.data)?;
    Ok(show(&context))
}

fn show(context: &Context) -> Exit {
    for setting in SETTINGS {
        let (key, shown) = (setting.key, (setting.show)(&context.node.config));
        let origin = context.node.config.origin(key);
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
    fn new(key: &'a str, shown: &str, origin: &'a SettingOrigin) -> Self {
        let (origin, file, line, name) = match origin {
            SettingOrigin::Default => ("default", None, None, None),
            SettingOrigin::File { path, line } => ("file", Some(path.as_path()), Some(*line), None),
            SettingOrigin::Kept { path, line } => ("kept", Some(path.as_path()), Some(*line), None),
            SettingOrigin::Flag(name) => ("flag", None, None, Some(*name)),
            SettingOrigin::Environment(name) => ("environment", None, None, Some(*name)),
        };
        Self { key, value: value_of(shown), origin, file, line, name }
    }
}

/// The value of a TOML text that this program wrote.
fn value_of(shown: &str) -> Option<toml::Value> {
    let mut table: toml::Table = format!("x = {shown}").parse().ok()?;
    table.remove("x")
}
