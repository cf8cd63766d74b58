//! `utsushi explain`: the history of a page, its next visit and why, or why it is never visited (O2, D17).

mod words;

use super::{Context, seeds};
use crate::exit::Exit;
use node::Steering;
use node::views::ExplainView;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web explain https://example.org/
  utsushi --data ~/web --json explain https://example.org/ | jq -r .next_due

Exit codes: 0 the page is known, 1 it is not. For an unknown page the output says what would happen if it were added, and
for a page that was taken down, when that happened.";

/// Show the history of a page, its next visit and why, or why it is never visited
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL of the page
    #[arg(value_name = "URL")]
    url: String,
}

/// Explains the page.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let pages = seeds::read(std::slice::from_ref(&args.url), None)?.pages;
    context.tell_simulated()?;
    let steering = Steering::find_to_read(&context.node).await?;
    let mut exit = Exit::Done;
    for url in &pages {
        let life = show(&steering, url.as_str(), context).await?;
        if life.page.state == "unknown" {
            exit = Exit::Found;
        }
    }
    steering.close().await?;
    Ok(exit)
}

/// Requests the history of a page and prints it.
pub(crate) async fn show(steering: &Steering, url: &str, context: &Context) -> anyhow::Result<ExplainView> {
    let life = context.node.explain(steering, url).await?;
    context.output.result(&life.page, || words::of(&life));
    Ok(life)
}
