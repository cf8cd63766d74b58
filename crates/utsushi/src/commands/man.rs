//! `utsushi man`: the manual, one page for the program and one for each command, in one stream.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::Output;
use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::Man;

const EXAMPLES: &str = "\
Examples:
  utsushi man | man -l -
  utsushi man > ~/.local/share/man/man1/utsushi.1";

/// Print the manual
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

/// Prints the manual.
pub(crate) fn run(_: &Args, output: &Output) -> anyhow::Result<Exit> {
    let mut program = Cli::command();
    program.build();
    let mut pages = Vec::new();
    let mut waiting = vec![program];
    while let Some(command) = waiting.pop() {
        waiting.extend(command.get_subcommands().cloned().collect::<Vec<_>>().into_iter().rev());
        Man::new(command).render(&mut pages).context("cannot write the manual")?;
    }
    output.own_text(&String::from_utf8_lossy(&pages));
    Ok(Exit::Done)
}
