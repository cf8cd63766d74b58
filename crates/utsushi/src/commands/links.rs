//! `utsushi links`: the links of a page, in both directions, as of any moment (F2).

use super::Context;
use crate::exit::Exit;
use crate::when::{self, Said};
use crate::words::count_of;
use anyhow::Context as _;
use archive::{Key, Reader};
use base::{Timestamp, printable};
use document::Moment;
use document::links::{InLink, LinkGraph, OutLink};
use node::documents::captures_since;
use serde_json::json;

const EXAMPLES: &str = "\
Examples:
  utsushi links https://example.org/
  utsushi links https://example.org/ --in --at '30d ago'
  utsushi --json links https://example.org/ --in | jq -r .text | sort | uniq -c

Exit codes: 0 there are links, 1 there are none.";

/// List the links of a page and the links to it, with their texts
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL of the page
    #[arg(value_name = "URL")]
    url: String,
    /// List only the links to the page
    #[arg(long = "in", conflicts_with = "is_out")]
    is_in: bool,
    /// List only the links of the page
    #[arg(long = "out")]
    is_out: bool,
    /// Select the links that existed at this moment; default: the latest
    #[arg(long, value_name = "T", value_parser = Said::moment)]
    at: Option<Said<Timestamp>>,
    /// List at most this number of links in each direction
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
}

/// Prints the links.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    // The graph first, so that the archive contains everything that the graph knows.
    let graph = context.node.link_graph()?;
    let (_, reader) = context.node.reader()?;
    let key = node::key_of(&args.url);
    let at = args.at.as_ref().map(|at| at.read(context)).transpose()?.unwrap_or_else(when::latest);
    let moment = Moment::new(at).context("cannot use `--at`")?;
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let mut count = 0;
    if !args.is_in {
        count += list_out(&graph, &reader, (&key, &moment), limit, context)?;
    }
    if !args.is_out {
        for link in graph.in_links(&key, &moment, &reader)?.take(limit) {
            let link = link?;
            context.output.result(&in_json(&link), || line("in ", &link.url, link.kind.as_str(), &link.text));
            count += 1;
        }
    }
    tell_lag(&graph, &reader, context)?;
    if count == 0 {
        context.output.note(format!("there are no links for `{}` at that moment", printable(&args.url)));
    }
    Ok(if count == 0 { Exit::Found } else { Exit::Done })
}

fn list_out(
    graph: &LinkGraph,
    reader: &Reader,
    (page, moment): (&Key, &Moment),
    limit: usize,
    context: &Context,
) -> anyhow::Result<u64> {
    let Some(valid) = moment.document(reader, page)? else { return Ok(0) };
    let Some(links) = graph.out_links(page, valid.id)? else { return Ok(0) };
    let mut count = 0;
    for link in links.take(limit) {
        let link = link?;
        context.output.result(&out_json(&link), || line("out", &link.url, link.kind.as_str(), &link.text));
        count += 1;
    }
    Ok(count)
}

/// Reports captures whose links are not known yet.
fn tell_lag(graph: &LinkGraph, reader: &Reader, context: &Context) -> anyhow::Result<()> {
    let lag = captures_since(reader, graph.checkpoint())?;
    if lag > 0 {
        let captures = count_of(lag, "capture");
        context.output.note(format!(
            "the links of {captures} are not known yet; a crawl reads them, or `utsushi rebuild links`"
        ));
    }
    Ok(())
}

fn line(direction: &str, url: &str, kind: &str, text: &str) -> String {
    format!("{direction}  {kind:<9}  {}  {}", printable(url), printable(text)).trim_end().to_owned()
}

fn out_json(link: &OutLink) -> serde_json::Value {
    json!({
        "direction": "out", "url": link.url, "kind": link.kind.as_str(), "nofollow": link.nofollow,
        "text": link.text,
    })
}

fn in_json(link: &InLink) -> serde_json::Value {
    let to = Some(link.validity.to()).filter(|to| *to < Timestamp::MAX);
    json!({
        "direction": "in", "url": link.url, "kind": link.kind.as_str(), "nofollow": link.nofollow,
        "text": link.text, "document": link.document.to_string(),
        "from": link.validity.from().to_rfc3339(), "to": to.map(Timestamp::to_rfc3339),
    })
}
