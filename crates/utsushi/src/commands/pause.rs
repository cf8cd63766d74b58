//! `utsushi pause` and `utsushi resume`: stop sending requests, or send them again; this holds across restarts.

use super::Context;
use crate::exit::Exit;
use node::Steering;
use node::control::ControlRequest;
use node::views::ScheduleView;
use serde_json::json;

const PAUSE_EXAMPLES: &str = "\
Example:
  utsushi --data ~/web pause          until `utsushi --data ~/web resume`";
const RESUME_EXAMPLES: &str = "\
Example:
  utsushi --data ~/web resume";

/// Stop sending requests until resumed
#[derive(Debug, clap::Args)]
#[command(after_help = PAUSE_EXAMPLES)]
pub(crate) struct Args {}

/// Send requests again after a pause
#[derive(Debug, clap::Args)]
#[command(after_help = RESUME_EXAMPLES)]
pub(crate) struct ResumeArgs {}

/// Pauses; it is durable afterwards.
pub(crate) async fn run(_: &Args, context: &Context) -> anyhow::Result<Exit> {
    order(context, "pause", true).await
}

/// Resumes; it is durable afterwards.
pub(crate) async fn resume(_: &ResumeArgs, context: &Context) -> anyhow::Result<Exit> {
    order(context, "resume", false).await
}

async fn order(context: &Context, command: &str, pauses: bool) -> anyhow::Result<Exit> {
    let steering = Steering::find(&context.node, command, None).await?;
    let runs = matches!(steering, Steering::Remote { .. });
    let was_paused = steering
        .ask_for::<ScheduleView>(ControlRequest::Status {})
        .await?
        .pop()
        .is_some_and(|whole| whole.paused);
    if was_paused != pauses {
        steering.ask(if pauses { ControlRequest::Pause {} } else { ControlRequest::Resume {} }).await?;
    }
    let told = json!({ "paused": pauses, "was_paused": was_paused });
    context.output.result(&told, || words(pauses, was_paused, runs));
    steering.close().await?;
    Ok(Exit::Done)
}

fn words(pauses: bool, was_paused: bool, runs: bool) -> String {
    let when = if runs { "" } else { " (it is not running now; this applies when it is started)" };
    match (pauses, was_paused) {
        (true, false) => format!("the crawl is paused; `utsushi resume` continues it{when}"),
        (true, true) => "the crawl was paused already; `utsushi resume` continues it".to_owned(),
        (false, true) => format!("the crawl is resumed{when}"),
        (false, false) => "the crawl was not paused; nothing to resume".to_owned(),
    }
}
