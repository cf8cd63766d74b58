//! `utsushi remove`: removes pages from the crawl, running or not; archived versions stay.

use super::{Context, seeds};
use crate::exit::{Advised, Exit};
use crate::words::count_of;
use ::crawl::Directive;
use base::ServerName;
use frontier::Selection;
use node::Steering;
use node::control::{ControlRequest, PAGES_MAX};
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web remove https://example.org/old.html
  utsushi --data ~/web remove --prefix https://example.org/calendar/
  utsushi --data ~/web remove --server ads.example.net

Removed pages are not visited again, and links do not bring them back. `utsushi add` restores them. Archived
versions stay; `utsushi takedown` removes those.

Exit codes: 0 known pages were removed durably; 1 no known page matches; 2 failed.";

/// Remove pages from the crawl; archived versions stay
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URLs of the pages
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    #[command(flatten)]
    groups: Groups,
}

/// Groups of pages.
#[derive(Debug, clap::Args)]
pub(super) struct Groups {
    /// Select all known pages whose URLs start with this; may be repeated
    #[arg(long, value_name = "URL")]
    prefix: Vec<String>,
    /// Select all known pages of this server; may be repeated
    #[arg(long, value_name = "SERVER")]
    server: Vec<String>,
}

impl Groups {
    /// The selections.
    pub(super) fn selections(&self) -> anyhow::Result<Vec<Selection>> {
        let mut selections = Vec::new();
        for prefix in &self.prefix {
            let named = seeds::read(std::slice::from_ref(prefix), None)?;
            selections.extend(named.pages.iter().map(Selection::prefix));
        }
        for server in &self.server {
            let selection = ServerName::parse(server).ok().and_then(|name| Selection::server(&name));
            selections.push(selection.ok_or_else(|| {
                let what = format!("cannot look for `{}`", base::printable(server));
                let why = anyhow::anyhow!("it is not the name of a server");
                Advised::new(what, "write `www.example.org`, or `www.example.org:8080` with a port", why)
            })?);
        }
        Ok(selections)
    }
}

/// Removes the pages.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let mut selections: Vec<Selection> =
        seeds::read(&args.urls, None)?.pages.iter().map(Selection::page).collect();
    selections.extend(args.groups.selections()?);
    if selections.is_empty() {
        let why = anyhow::anyhow!("no page given");
        let advice = "give URLs, `--prefix URL` or `--server SERVER`";
        return Err(Advised::new("cannot remove anything", advice, why).into());
    }
    let steering = Steering::find(&context.node, "remove", None).await?;
    let removed = direct(&steering, Directive::Remove, &selections).await?;
    context.output.result(&json!({ "removed": removed }), || {
        format!("{} removed from the crawl; `utsushi add` restores them", count_of(removed, "known page"))
    });
    steering.close().await?;
    Ok(if removed > 0 { Exit::Done } else { Exit::Found })
}

/// Gives an order about pages; returns the number of known pages that match.
pub(super) async fn direct(
    steering: &Steering,
    directive: Directive,
    selections: &[Selection],
) -> anyhow::Result<u64> {
    let mut count = 0;
    for some in selections.chunks(PAGES_MAX) {
        let pages = some.iter().map(ToString::to_string).collect();
        let told = steering.ask(ControlRequest::Direct { what: directive.name().to_owned(), pages }).await?;
        count += told.first().and_then(|told| told["pages"].as_u64()).unwrap_or_default();
    }
    Ok(count)
}
