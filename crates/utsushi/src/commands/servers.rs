//! `utsushi servers`: the load of each server, and which ones are overloaded (C5).

mod table;

use super::Context;
use crate::exit::{Advised, Exit};
use base::ServerName;
use node::Steering;
use node::control::ControlRequest;
use node::views::ServerView;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web servers
  utsushi --data ~/web servers --overloaded --limit 100
  utsushi --data ~/web servers --held-back
  utsushi --data ~/web --json servers www.example.org";

/// List servers by load, overloaded ones first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of one server to show
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// List only servers whose schedule needs more requests than the delay allows
    #[arg(long)]
    overloaded: bool,
    /// List only servers with pages that are held back because they look like a trap
    #[arg(long)]
    held_back: bool,
    /// Maximum number of servers
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Prints the servers.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let name = args.name.as_deref().map(read_name).transpose()?;
    context.tell_simulated()?;
    let steering = Steering::find_to_read(&context.node).await?;
    let Args { overloaded, held_back, limit, .. } = *args;
    let request = ControlRequest::Servers { overloaded, held_back, name, limit: limit as usize };
    let shown = show(&steering, request, context).await?;
    steering.close().await?;
    if shown == 0 {
        context.output.complaint(match (&args.name, overloaded, held_back) {
            (Some(name), ..) => format!("no server `{name}` is known"),
            (None, _, true) => "no page is held back".to_owned(),
            (None, true, false) => "no server is overloaded".to_owned(),
            (None, false, false) => "no server is known".to_owned(),
        });
    }
    // No overloaded server, or nothing held back, is a good result.
    Ok(if shown == 0 && !overloaded && !held_back { Exit::Found } else { Exit::Done })
}

fn read_name(text: &str) -> anyhow::Result<String> {
    let name = ServerName::parse(text).map_err(|error| {
        let advice = "write it as `www.example.org`, or `www.example.org:8080`";
        Advised::new(format!("cannot look for `{}`", base::printable(text)), advice, error)
    })?;
    Ok(name.as_str().to_owned())
}

/// Requests servers and prints them; returns their number.
pub(crate) async fn show(
    steering: &Steering,
    request: ControlRequest,
    context: &Context,
) -> anyhow::Result<usize> {
    let servers = steering.ask_for::<ServerView>(request).await?;
    if context.output.json() {
        servers.iter().for_each(|server| context.output.object(server));
    } else if !servers.is_empty() {
        let lines = table::lines(&servers, context.output.columns());
        lines.iter().for_each(|line| context.output.line(line));
    }
    Ok(servers.len())
}
