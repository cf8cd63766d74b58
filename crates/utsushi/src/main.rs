//! utsushi: a living copy of a part of the web: polite visits, an archive of all responses, and commands to look at
//! both.
//!
//! This crate is the program: it reads the command line and the configuration, opens the data directory, and passes both
//! to a command. The other crates do the work.
//!
//! **Invariant:** results go to standard output and everything else to standard error, both through [`output`].
//!
//! **Invariant:** the exit codes are defined in [`exit`] and nowhere else.

mod cli;
mod commands;
mod exit;
mod logs;
mod notices;
mod output;
mod progress;
mod signals;
mod when;
mod words;

use anyhow::Context as _;
use clap::Parser as _;
use cli::Cli;
use exit::Exit;
use output::Output;
use std::process::ExitCode;
use std::time::Duration;

/// How long to wait for running tasks once a command has ended.
const RUNTIME_END_TIME_MAX: Duration = Duration::from_secs(5);

/// Raises the limit of open files to its maximum: every connection is one. If that fails, the old limit stays.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

fn main() -> ExitCode {
    // The process of a scan worker is set up before anything else, on a single thread.
    if let Some(ended) = scan::role::play(std::env::args_os()) {
        return ended;
    }
    raise_file_limit();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return said_by_parser(&said),
    };
    let output = Output::of_process(cli.global.json, cli.global.quiet);
    let outcome = run(&cli, &output).and_then(|exit| {
        output.finish().context("cannot write the results to standard output")?;
        Ok(exit)
    });
    let exit = outcome.unwrap_or_else(|error| {
        exit::report(&output, &error);
        exit::of(&error)
    });
    exit.code().into()
}

/// Help and version are results; everything else is a usage error. A closed stream does not
/// change the exit code.
fn said_by_parser(said: &clap::Error) -> ExitCode {
    let _ = said.print();
    let exit = if said.use_stderr() { Exit::CouldNot } else { Exit::Done };
    exit.code().into()
}

fn run(cli: &Cli, output: &Output) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let outcome = runtime.block_on(commands::run(cli, output));
    runtime.shutdown_timeout(RUNTIME_END_TIME_MAX);
    outcome
}
