//! `utsushi add`: adds pages to the crawl, running or not.

use super::remove::{Groups, direct};
use super::{Context, seeds};
use crate::exit::{Advised, Exit};
use crate::words::count_of;
use ::crawl::Directive;
use base::PageUrl;
use frontier::{Role, Selection};
use node::Steering;
use node::control::{ControlRequest, PAGES_MAX, PageToAdd};
use node::directory::WebKind;
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web add https://example.org/ https://example.net/news/
  utsushi --data ~/web add --feed https://example.org/feed.xml
  utsushi --data ~/web add --seeds more.txt --priority 5
  utsushi --data ~/web add --now https://example.org/news/
  utsushi --data ~/web add --now --prefix https://example.org/news/

With `--now` the pages are visited before all others of their servers, as soon as the delay between requests allows, even
if they are known and not due. `--prefix` and `--server` select known pages; without `--now` they restore pages that
`utsushi remove` removed.

Exit codes: 0 all pages were added durably; 1 some will not be visited; 2 failed.";

/// Maximum number of pages that are reported one by one.
const TOLD_MAX: usize = 100;

/// Add pages to the crawl, running or not
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("role").multiple(false))]
pub(crate) struct Args {
    /// URLs of the pages
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// File with more pages, one per line; `-` for standard input
    #[arg(long = "seeds", value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    groups: Groups,
    /// Visit the pages before all others, even if they are known and not due
    #[arg(long)]
    now: bool,
    /// Treat the pages as feeds: poll them at least once a day for the pages they announce
    #[arg(long, group = "role")]
    feed: bool,
    /// Treat the pages as front pages of news sites: visit them at least once a day for their links
    #[arg(long, group = "role")]
    news: bool,
    /// Treat the pages as sitemaps: read them for the pages they list
    #[arg(long, group = "role")]
    sitemap: bool,
    /// Priority over other pages, from -100 to 100; higher is sooner
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(i8).range(-100..=100))]
    priority: i8,
}

impl Args {
    fn role(&self) -> Role {
        match (self.feed, self.news, self.sitemap) {
            (true, _, _) => Role::Feed,
            (_, true, _) => Role::News,
            (_, _, true) => Role::Sitemap,
            _ => Role::Page,
        }
    }
}

/// Adds the pages and reports the result.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let seeds = seeds::read(&args.urls, args.file.as_deref())?;
    seeds.tell_bad(&context.output);
    let pages = &seeds.pages;
    let groups = args.groups.selections()?;
    if pages.is_empty() && groups.is_empty() {
        let why = anyhow::anyhow!("no page given");
        return Err(
            Advised::new("cannot add anything", "give URLs, or a file with `--seeds FILE`", why).into()
        );
    }
    let steering = Steering::find(&context.node, "add", Some(WebKind::Public)).await?;
    let mut exit = Exit::Done;
    if !groups.is_empty() {
        exit = add_groups(args, &steering, &groups, context).await?;
    }
    if !pages.is_empty() && add_pages(args, &steering, pages, context).await? == Exit::Found {
        exit = Exit::Found;
    }
    steering.close().await?;
    Ok(seeds.exit(exit))
}

/// Restores the removed pages of some groups, and with `--now` schedules all their known pages for a visit.
async fn add_groups(
    args: &Args,
    steering: &Steering,
    groups: &[Selection],
    context: &Context,
) -> anyhow::Result<Exit> {
    let restored = direct(steering, Directive::Restore, groups).await?;
    let asked = if args.now { direct(steering, Directive::VisitNow, groups).await? } else { 0 };
    context.output.result(&json!({ "restored": restored, "asked": asked }), || {
        let now =
            if args.now { format!(", {} to be visited now", count_of(asked, "page")) } else { String::new() };
        format!("{} restored{now}", count_of(restored, "removed page"))
    });
    Ok(if restored + asked > 0 { Exit::Done } else { Exit::Found })
}

async fn add_pages(
    args: &Args,
    steering: &Steering,
    pages: &[PageUrl],
    context: &Context,
) -> anyhow::Result<Exit> {
    let is_told = pages.len() <= TOLD_MAX;
    let mut unknown = HashSet::new();
    for url in pages.iter().filter(|_| is_told) {
        let life = context.node.explain(steering, url.as_str()).await?;
        unknown.extend((life.page.state == "unknown").then_some(life.page.key));
    }
    let mut offered = 0;
    for some in pages.chunks(PAGES_MAX) {
        let addition = |url: &PageUrl| PageToAdd {
            url: url.as_str().to_owned(),
            role: args.role().as_str().to_owned(),
            priority: args.priority,
        };
        let told = steering.ask(ControlRequest::Add { pages: some.iter().map(addition).collect() }).await?;
        offered += told.first().and_then(|told| told["new"].as_u64()).unwrap_or_default();
    }
    if args.now {
        let named: Vec<Selection> = pages.iter().map(Selection::page).collect();
        direct(steering, Directive::VisitNow, &named).await?;
    }
    let left = if is_told { tell_each(steering, pages, context).await? } else { 0 };
    let added = pages.len() as u64 - left;
    let new = if is_told { (unknown.len() as u64).saturating_sub(left) } else { offered };
    let told = json!({ "added": added, "new": new, "left": left });
    context.output.result(&told, || format!("{} in the crawl, {new} of them new", count_of(added, "page")));
    Ok(if left > 0 { Exit::Found } else { Exit::Done })
}

/// Reports each page, and returns how many will not be visited.
async fn tell_each(steering: &Steering, pages: &[PageUrl], context: &Context) -> anyhow::Result<u64> {
    let mut left = 0;
    for url in pages {
        let page = context.node.explain(steering, url.as_str()).await?.page;
        left += u64::from(["unknown", "taken down"].contains(&page.state.as_str()));
        let told = json!({ "url": page.url, "state": page.state, "reason": page.reason });
        context.output.result(&told, || format!("{:<8}  {}: {}", page.state, page.url, page.reason));
    }
    Ok(left)
}
