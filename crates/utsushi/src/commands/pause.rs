//! `utsushi pause` and `utsushi resume`: the crawl asks nobody anything any more, or goes on; also over restarts.

use super::Context;
use crate::exit::Exit;
use crate::node::control::Request;
use crate::node::steering::Steering;

const PAUSE_EXAMPLES: &str = "\
Example:
  utsushi --data ~/web pause          until `utsushi --data ~/web resume`";
const RESUME_EXAMPLES: &str = "\
Example:
  utsushi --data ~/web resume";

/// Let the crawl ask nobody anything, until it is resumed
#[derive(Debug, clap::Args)]
#[command(after_help = PAUSE_EXAMPLES)]
pub(crate) struct Args {}

/// Let a paused crawl go on
#[derive(Debug, clap::Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub(crate) struct ResumeArgs {}

/// Pauses; it is durable afterwards.
pub(crate) async fn run(_: &Args, context: &Context) -> anyhow::Result<Exit> {
    order(context, "pause", Request::Pause {}, "the crawl is paused; `utsushi resume` lets it go on").await
}

/// Resumes; it is durable afterwards.
pub(crate) async fn resume(_: &ResumeArgs, context: &Context) -> anyhow::Result<Exit> {
    order(context, "resume", Request::Resume {}, "the crawl is not paused").await
}

async fn order(context: &Context, command: &str, request: Request, words: &str) -> anyhow::Result<Exit> {
    let steering = Steering::find(context, command, None).await?;
    let runs = matches!(steering, Steering::There { .. });
    for told in steering.ask(request).await? {
        let when = if runs { "" } else { " (it does not run now; this holds when it does)" };
        context.output.result(&told, || format!("{words}{when}"));
    }
    steering.close().await?;
    Ok(Exit::Done)
}
