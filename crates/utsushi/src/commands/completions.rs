//! `utsushi completions`: a completion script for a shell.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::Output;
use clap::CommandFactory as _;
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  utsushi completions bash > ~/.local/share/bash-completion/completions/utsushi
  utsushi completions fish > ~/.config/fish/completions/utsushi.fish";

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of the shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args, output: &Output) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "utsushi", &mut script);
    output.own_text(&String::from_utf8_lossy(&script));
    Exit::Done
}
