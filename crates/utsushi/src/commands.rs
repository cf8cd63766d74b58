//! The commands, one file each.

mod add;
mod annotate;
mod completions;
mod config;
mod counts;
mod crawl;
mod demo;
mod destination;
mod document;
mod documents;
mod explain;
mod export;
mod fetch;
mod get;
mod guard;
mod history;
mod import;
mod kept;
pub(crate) mod licences;
mod links;
mod man;
mod pause;
mod present;
mod rebuild;
mod remove;
mod scan;
mod seeds;
mod servers;
mod sim;
mod snapshot;
mod status;
mod takedown;
mod told;
mod verify;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::logs;
use crate::output::Output;
use clap::Subcommand;
use node::{Config, Node};
use std::path::PathBuf;
use std::sync::Arc;

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl a simulated web on this machine, archive it, and show what was found
    Demo(demo::Args),
    /// Crawl the web from seed pages and revisit each page at its own rate; without seeds, continue
    Crawl(crawl::Args),
    /// Add pages to the crawl, running or not
    Add(add::Args),
    /// Remove pages from the crawl; archived versions stay
    Remove(remove::Args),
    /// Stop sending requests until resumed
    Pause(pause::Args),
    /// Send requests again after a pause
    Resume(pause::ResumeArgs),
    /// Show the history of a page, its next visit and why, or why it is never visited
    Explain(explain::Args),
    /// List servers by load, overloaded ones first
    Servers(servers::Args),
    /// Visit one page and show each phase, or why it is refused
    Fetch(fetch::Args),
    /// List the versions of a page, oldest first
    History(history::Args),
    /// Print one version of a page
    Get(get::Args),
    /// Show what a page says, sentence by sentence, with its links
    Document(document::Args),
    /// Write what pages said at a moment or during a period, with their links
    Documents(documents::Args),
    /// List the links of a page and the links to it, with their texts
    Links(links::Args),
    /// Write the versions of pages that were valid at a moment or during a period
    Snapshot(snapshot::Args),
    /// Run an analysis over a snapshot on all cores, isolated from faulty documents
    Scan(scan::Args),
    /// Annotate Japanese sentences from standard input, one per line: words, bunsetsu, dependencies, synonyms
    Annotate(annotate::Args),
    /// Import WARC, WACZ and ARC files from any source
    Import(import::Args),
    /// Export the whole archive, or part of it, as WARC or in another format
    Export(export::Args),
    /// Verify every byte of the archive, or whether WARC files conform to the standard
    Verify(verify::Args),
    /// Remove a page, a prefix or a server from the archive permanently, with a receipt
    Takedown(takedown::Args),
    /// Rebuild data derived from the archive
    Rebuild(rebuild::Args),
    /// Run a proxy that rate-limits requests and blocks private addresses
    Guard(guard::Args),
    /// Serve the simulated web
    Sim(sim::Args),
    /// Show what a data directory contains and the state of its crawl
    Status(status::Args),
    /// Show the configuration in effect, and where each value comes from
    Config(config::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the licences of the built-in dictionary, synonyms and models
    Licences(licences::Args),
    /// Print the manual
    Man(man::Args),
}

/// The input of a command.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// The data directory and the settings in effect.
    pub(crate) node: Node,
    /// The configuration file that was named, if any.
    pub(crate) config_file: Option<PathBuf>,
    /// The output.
    pub(crate) output: Output,
}

/// Runs the command. Commands that only describe the program need no configuration, so they work with a wrong one.
pub(crate) async fn run(cli: &Cli, output: &Output) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Completions(args) => Ok(completions::run(args, output)),
        Command::Man(args) => man::run(args, output),
        Command::Annotate(args) => annotate::run(args, output),
        Command::Licences(_) => Ok(licences::run(output)),
        Command::Config(args) if args.default => Ok(config::show_default(output)),
        command => run_with(command, &context(cli, output)?).await,
    }
}

async fn run_with(command: &Command, context: &Context) -> anyhow::Result<Exit> {
    match command {
        Command::Demo(args) => demo::run(args, context).await,
        Command::Crawl(args) => crawl::run(args, context).await,
        Command::Add(args) => add::run(args, context).await,
        Command::Remove(args) => remove::run(args, context).await,
        Command::Pause(args) => pause::run(args, context).await,
        Command::Resume(args) => pause::resume(args, context).await,
        Command::Explain(args) => explain::run(args, context).await,
        Command::Servers(args) => servers::run(args, context).await,
        Command::Fetch(args) => fetch::run(args, context).await,
        Command::History(args) => history::run(args, context),
        Command::Get(args) => get::run(args, context),
        Command::Document(args) => document::run(args, context),
        Command::Documents(args) => documents::run(args, context),
        Command::Links(args) => links::run(args, context),
        Command::Snapshot(args) => snapshot::run(args, context),
        Command::Scan(args) => scan::run(args, context),
        Command::Import(args) => import::run(args, context).await,
        Command::Export(args) => export::run(args, context),
        Command::Verify(args) => verify::run(args, context),
        Command::Takedown(args) => takedown::run(args, context).await,
        Command::Rebuild(args) => rebuild::run(args, context),
        Command::Guard(args) => guard::run(args, context).await,
        Command::Sim(args) => sim::run(args, context).await,
        Command::Status(args) => status::run(args, context).await,
        Command::Config(args) => config::run(args, context),
        Command::Completions(_) | Command::Man(_) | Command::Annotate(_) | Command::Licences(_) => {
            unreachable!("they run without a context")
        }
    }
}

fn context(cli: &Cli, output: &Output) -> anyhow::Result<Context> {
    let data = cli.global.data();
    let mut config = Config::load(cli.global.config.as_deref(), &data)?;
    if let Some((level, origin)) = cli.global.log_level()? {
        config.set_log_level(level, origin);
    }
    logs::start(output, &config.log.level, config.log.format);
    let config_file = cli.global.config.clone();
    let node = Node { data, config, monitor: Arc::new(output.clone()), stages: node::stages::ALL };
    Ok(Context { node, config_file, output: output.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    const REFERENCE: &str = include_str!("../../../docs/reference/command-line.md");

    /// Every command with its full name, groups included.
    fn all_commands() -> Vec<(String, clap::Command)> {
        let mut found = vec![("utsushi".to_owned(), Cli::command())];
        let mut next = 0;
        while let Some((name, command)) = found.get(next).cloned() {
            found.extend(
                command.get_subcommands().map(|sub| (format!("{name} {}", sub.get_name()), sub.clone())),
            );
            next += 1;
        }
        found
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_every_command_has_an_example() {
        for (name, mut command) in all_commands() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Example") && help.contains("  utsushi "), "{name}: {help}");
        }
    }

    #[test]
    fn the_reference_names_every_command_and_flag() {
        for (name, command) in all_commands() {
            assert!(REFERENCE.contains(&format!("`{name}")), "`{name}` is missing");
            for flag in command.get_arguments().filter_map(clap::Arg::get_long).filter(|flag| *flag != "help")
            {
                assert!(REFERENCE.contains(&format!("`--{flag}")), "{name}: `--{flag}` is missing");
            }
        }
    }

    #[test]
    fn every_argument_says_what_it_is() {
        for (name, command) in all_commands() {
            assert!(command.get_about().is_some(), "{name}");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name}: {}", argument.get_id());
            }
        }
    }
}
