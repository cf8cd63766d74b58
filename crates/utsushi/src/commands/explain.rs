//! `utsushi explain`: a page's life so far, its next visit and why, or why never (O2, D17).

mod words;

use super::{Context, seeds};
use crate::exit::Exit;
use crate::node::control::Request;
use crate::node::door::product_token;
use crate::node::life::Life;
use crate::node::steering::Steering;
use base::PageUrl;
use robots::Need;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web explain https://example.org/
  utsushi --data ~/web --json explain https://example.org/ | jq -r .next_due

Exit codes: 0 the page is known, 1 it is not; then it is told what would happen if it were added. A page that was taken
down is told so, with the moment.";

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
    let pages = seeds::read(std::slice::from_ref(&args.url), None)?.pages;
    context.tell_simulated()?;
    let steering = Steering::find_to_read(context).await?;
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
    let life = ask(steering, url, context).await?;
    context.output.result(&life.page, || words::of(&life));
    Ok(life)
}

/// Asks for a page's life.
pub(crate) async fn ask(steering: &Steering, url: &str, context: &Context) -> anyhow::Result<Life> {
    let mut lives = steering.ask_for::<Life>(Request::Explain { url: url.to_owned() }).await?;
    let mut life = lives.pop().unwrap_or_default();
    if let Some(taken_down) = takedown_of(&life.page.key, context) {
        "taken down".clone_into(&mut life.page.state);
        life.page.reason = taken_down;
        (life.page.next_due, life.page.limited_by, life.queued_for) = (None, None, None);
        return Ok(life);
    }
    if life.page.state == "unknown"
        && !life.page.reason.contains("would not be visited")
        && let Some(line) = forbidden_by(&life.page.url, context)
    {
        let why = "it is not known, and would not be visited: the robots file of its server says";
        life.page.reason = format!("{why} `{line}`");
    }
    Ok(life)
}

/// When and why a page was taken down, if it was.
fn takedown_of(key: &str, context: &Context) -> Option<String> {
    let (key, (_, reader)) = (archive::Key::from_stored(key), context.reader().ok()?);
    let found = reader.takedowns().ok()?.into_iter().rev().find(|takedown| takedown.target.holds(&key))?;
    let because = if found.reason.is_empty() { String::new() } else { format!(", because {}", found.reason) };
    Some(format!(
        "it was taken down at {} with {}{because}; it is neither visited nor imported again",
        found.at, found.target
    ))
}

/// The line of the robots file, as it was last archived, that forbids a page. A schedule knows only what it asked for
/// lately.
fn forbidden_by(url: &str, context: &Context) -> Option<String> {
    let (url, (_, reader)) = (PageUrl::parse(url).ok()?, context.reader().ok()?);
    let home = robots::home(&url.origin())?;
    let agent = product_token(&context.config.fetch.agent);
    let known = ::crawl::recall_robots(&reader, agent, [home]).ok()?;
    let (_, standing) = known.into_iter().next()?;
    let Need::Known(rules) = standing.needs(context.present().ok()?) else { return None };
    let verdict = rules.judge(url.target());
    if verdict.allowed {
        return None;
    }
    Some(verdict.line.map(|line| line.text.clone()).unwrap_or_default())
}
