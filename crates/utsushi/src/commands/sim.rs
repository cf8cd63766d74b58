//! `utsushi sim`: the simulated web.

mod serve;

use super::Context;
use crate::exit::Exit;
use clap::Subcommand;

const EXAMPLES: &str = "\
Example:
  utsushi sim serve --pages 1000 --servers 20";

/// Serve the simulated web
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Sim,
}

#[derive(Debug, Subcommand)]
enum Sim {
    /// Serve the simulated web on this machine, with its ground truth and its log
    Serve(serve::Args),
}

/// Runs the command.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    match &args.command {
        Sim::Serve(args) => serve::run(args, context).await,
    }
}
