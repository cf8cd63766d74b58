//! `utsushi explain`: a page's life so far, its next visit and why, or why never (O2, D17).

mod words;

use super::{Context, seeds};
use crate::exit::Exit;
use crate::node::control::Request;
use crate::node::life::Life;
use crate::node::steering::Steering;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web explain https://example.org/
  utsushi --data ~/web --json explain https://example.org/ | jq -r .next_due

Exit codes: 0 the page is known, 1 it is not; then it is told what would happen if it were added.";

/// A page's life so far, its next visit and why, or why never
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The page
    #[arg(value_name = "URL")]
    url: String,
}

/// Explains the page.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let pages = seeds::read(std::slice::from_ref(&args.url), None)?;
    let steering = Steering::find(context, "explain", None).await?;
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

/// Asks for a page's life and prints it.
pub(crate) async fn show(steering: &Steering, url: &str, context: &Context) -> anyhow::Result<Life> {
    let mut lives = steering.ask_for::<Life>(Request::Explain { url: url.to_owned() }).await?;
    let life = lives.pop().unwrap_or_default();
    context.output.result(&life.page, || words::of(&life));
    Ok(life)
}
