//! `utsushi fetch`: one visit, shown in full, or why it is refused.
//!
//! Nothing is archived. The visit is what the crawler would do: the robots file is fetched first and obeyed, requests to
//! one server or address keep the delay, and a redirect is shown, not followed: its target is a page like any other.

mod told;
mod trip;

use super::Context;
use crate::exit::{Advised, Exit};
use anyhow::Context as _;
use base::{Interval, Outcome, PageUrl, Refusal};
use fetch::{AddressRange, Proxy, WebDoor};
use node::door;
use std::io::Write as _;
use trip::{Leg, Trip};

const EXAMPLES: &str = "\
Examples:
  utsushi fetch https://example.org/ --contact https://example.net/about-our-crawler
  utsushi fetch http://127.0.0.1:8080/ --allow-address 127.0.0.0/8 --raw > answer
  utsushi fetch https://example.org/private/ --robots
  utsushi fetch https://example.org/ --head --json

Exit codes: 0 the server answered, 1 refused or no answer, 2 failed.";

/// Visit one page and show each phase, or why it is refused; nothing is archived
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL of the page
    #[arg(value_name = "URL")]
    url: String,
    /// Request the head only
    #[arg(long)]
    head: bool,
    /// Print the response as received, head and body, without decoding; phases go to standard error
    #[arg(long, conflicts_with = "robots")]
    raw: bool,
    /// Show the robots file and its decision about the page; do not visit the page
    #[arg(long, conflicts_with = "head")]
    robots: bool,
    /// Contact for the owner of the server: the URL of a page or an email address; default: the setting `fetch.contact`
    #[arg(long, value_name = "PAGE", value_parser = door::contact)]
    contact: Option<String>,
    /// Allow a range of addresses that are not public; may be repeated
    #[arg(long, value_name = "CIDR")]
    allow_address: Vec<AddressRange>,
    /// Forward proxy; default: the setting `fetch.proxy`
    #[arg(long, value_name = "URL")]
    proxy: Option<Proxy>,
    /// Delay between two requests to one server; default: the setting `crawl.pause`
    #[arg(long, value_name = "TIME", value_parser = door::pause)]
    pause: Option<Interval>,
}

/// Makes the visit and shows it.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let url = PageUrl::parse(&args.url).map_err(|error| {
        Advised::new("cannot visit the page", "give the full URL, including `https://`", error)
    })?;
    let config = context.config_for(args);
    let door = WebDoor::new(door::settings(&config, None)?).map_err(node::Error::Door)?;
    let agent = node::config::product_token(&config.fetch.agent).to_owned();
    let opt_out = door::opt_out(&config, &context.node.data)?;
    let mut trip = Trip::new(door, opt_out, agent, config.crawl.pause, &context.output);
    let verdict = trip.ask_robots(&url).await;
    if verdict.is_allowed() && !args.robots {
        trip.visit(&url, args.head).await;
    }
    let seen = told::Seen { url: &url, verdict: &verdict, legs: trip.legs(), robots_only: args.robots };
    show(args, &seen, context)?;
    if is_without_contact(trip.legs()) {
        context.output.complaint(format!("what to do: {}", door::no_contact_advice()));
    }
    Ok(if seen.is_answered() { Exit::Done } else { Exit::Found })
}

impl Context {
    /// The configuration with the flags of this run.
    fn config_for(&self, args: &Args) -> node::Config {
        let mut config = self.node.config.clone();
        config.fetch.allow_addresses.extend(&args.allow_address);
        config.fetch.contact = args.contact.clone().or(config.fetch.contact);
        config.fetch.proxy = args.proxy.clone().or(config.fetch.proxy);
        config.crawl.pause = args.pause.unwrap_or(config.crawl.pause);
        config
    }
}

fn show(args: &Args, seen: &told::Seen<'_>, context: &Context) -> anyhow::Result<()> {
    let output = &context.output;
    if !args.raw {
        output.result(&seen.to_json(), || seen.to_text());
        return Ok(());
    }
    seen.to_text().lines().for_each(|line| output.note(line));
    let Some(exchange) = seen.page().and_then(|leg| leg.exchange.as_ref()) else { return Ok(()) };
    let body = exchange.body.read().context("cannot read the body back")?;
    match output.bytes() {
        Some(mut bytes) => {
            bytes.write_all(&exchange.response_head)?;
            bytes.write_all(&body)?;
        }
        None => {
            let whole = [exchange.response_head.as_slice(), &body].concat();
            String::from_utf8_lossy(&whole).lines().for_each(|line| output.line(line));
            output.note("control characters are shown as escapes; use a pipe for the exact bytes");
        }
    }
    Ok(())
}

fn is_without_contact(legs: &[Leg]) -> bool {
    legs.iter().any(|leg| leg.outcome == Outcome::Refused(Refusal::NoContact))
}
