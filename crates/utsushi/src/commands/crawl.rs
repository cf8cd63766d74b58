//! `utsushi crawl`: crawls the web politely from seed pages, every page at its own rate, or continues a crawl.

mod summary;

use super::kept::{Shown, Teller};
use super::{Context, seeds};
use crate::exit::Exit;
use crate::signals::{self, Stop};
use ::crawl::{CrawlReport, Event};
use anyhow::Context as _;
use base::Interval;
use base::clock::{Clock as _, RealClock};
use fetch::{AddressRange, Proxy};
use frontier::{Mode, RevisitPolicy};
use node::config::LanguageCode;
use node::crawling::{self, CrawlPlan, FinishedCrawl, PreparedCrawl};
use node::{Config, door};
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use summary::Summary;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web crawl https://example.org/ --contact https://example.net/about-our-crawler
  utsushi --data ~/web crawl --seeds seeds.txt --scope domain --for 8h
  utsushi --data ~/web crawl                              continue where it stopped
  utsushi --data ~/web crawl http://127.0.0.1:8080/ --allow-address 127.0.0.0/8 --once
  utsushi --data ~/test crawl http://127.0.0.1:8080/ --allow-address 127.0.0.0/8 --accelerate 1000
  utsushi --data ~/web --json crawl --pages 100 | jq -r 'select(.status == 200) | .url'

What defines the crawl (seeds, --scope, --pause, --allow-address, --policy, --every, --contact, --proxy, --requisites,
--language) is stored in the data directory and applies to later runs. Give a flag again to change it. `utsushi config`
shows what is stored, and `utsushi config --forget SETTING` removes it. A known seed is visited again.

While it runs, `utsushi add`, `remove`, `pause`, `resume`, `status`, `servers` and `explain` reach it. Ctrl-C ends it;
acknowledged data is never lost, however it ends.";

/// Without a terminal, the time between two lines of progress.
const LINE_PAUSE: Duration = Duration::from_secs(5);

/// Crawl the web from seed pages and revisit each page at its own rate; without seeds, continue
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Seed pages; without any, the crawl continues with the pages it knows
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,
    /// File with more seeds, one per line; `-` for standard input
    #[arg(long = "seeds", value_name = "FILE")]
    file: Option<PathBuf>,
    /// How far to go from the seeds: `server`, `domain`, `prefix` or `any`; default: the setting `crawl.scope`
    #[arg(long, value_name = "SCOPE")]
    scope: Option<Mode>,
    /// Stop after this time, such as `30s` or `8h`
    #[arg(long = "for", value_name = "TIME")]
    time: Option<Interval>,
    /// Stop after this number of archived pages; robots files and requisites do not count
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pages: Option<u64>,
    /// Print a line for each archived page to standard error
    #[arg(long)]
    verbose: bool,
    /// Stop when all pages were visited and failures were retried; exit code 1 if pages are held back or failed
    #[arg(long)]
    once: bool,
    /// Policy that chooses the time until the next visit; default: the setting `crawl.policy`
    #[arg(long, value_name = "POLICY")]
    policy: Option<RevisitPolicy>,
    /// Average time between two visits of a page, such as `7d`; default: the setting `crawl.every`
    #[arg(long, value_name = "TIME", value_parser = parse_every)]
    every: Option<Interval>,
    /// Contact for the owners of servers: the URL of a page or an email address
    #[arg(long, value_name = "PAGE", value_parser = door::contact)]
    contact: Option<String>,
    /// Allow a range of addresses that are not public; replaces the setting `fetch.allow_addresses`; may be repeated
    #[arg(long, value_name = "CIDR")]
    allow_address: Vec<AddressRange>,
    /// Delay between two requests to one server; default: the setting `crawl.pause`
    #[arg(long, value_name = "TIME", value_parser = door::pause)]
    pause: Option<Interval>,
    /// Let the schedule and the delays run this many times as fast as real time, up to 1000000; network time-outs do not. Only
    /// for servers of this machine, in a data directory of its own; give it again to continue as fast
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    accelerate: Option<u32>,
    /// Forward proxy; default: the setting `fetch.proxy`
    #[arg(long, value_name = "URL")]
    proxy: Option<Proxy>,
    /// Serve metrics for Prometheus on this address and port; default: the setting `metrics.listen`
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Allow metrics on an address that other machines can reach
    #[arg(long)]
    metrics_public: bool,
    /// Also fetch what pages need for display: images, style sheets, fonts, scripts. This is the default
    #[arg(long, overrides_with = "no_requisites")]
    requisites: bool,
    /// Fetch pages alone, without images, style sheets, fonts and scripts
    #[arg(long, overrides_with = "requisites")]
    no_requisites: bool,
    /// Language whose pages are followed; replaces the setting `filter.languages`; may be repeated
    #[arg(long, value_name = "LANGUAGE")]
    language: Vec<LanguageCode>,
}

fn parse_every(text: &str) -> Result<Interval, String> {
    let every: Interval = text.parse::<Interval>().map_err(|error| error.to_string())?;
    let (least, most) = (Interval::from_minutes(1), base::limits::REVISIT_INTERVAL_MAX);
    if (least..=most).contains(&every) {
        Ok(every)
    } else {
        Err(format!("it must be between {least} and {most}"))
    }
}

impl Args {
    /// The configuration with the flags of this run.
    fn config(&self, mut config: Config) -> Config {
        let mut say = |is_given: bool, key, flag| {
            if is_given {
                config.say(key, flag);
            }
        };
        say(self.scope.is_some(), "crawl.scope", "--scope");
        say(self.pause.is_some(), "crawl.pause", "--pause");
        say(self.requisites, "crawl.requisites", "--requisites");
        say(self.no_requisites, "crawl.requisites", "--no-requisites");
        say(self.policy.is_some(), "crawl.policy", "--policy");
        say(self.every.is_some(), "crawl.every", "--every");
        say(!self.allow_address.is_empty(), "fetch.allow_addresses", "--allow-address");
        say(self.contact.is_some(), "fetch.contact", "--contact");
        say(self.proxy.is_some(), "fetch.proxy", "--proxy");
        say(!self.language.is_empty(), "filter.languages", "--language");
        self.put_values(&mut config);
        config
    }
    fn put_values(&self, config: &mut Config) {
        config.crawl.scope = self.scope.unwrap_or(config.crawl.scope);
        config.crawl.pause = self.pause.unwrap_or(config.crawl.pause);
        config.crawl.requisites = (config.crawl.requisites || self.requisites) && !self.no_requisites;
        config.crawl.policy = self.policy.unwrap_or(config.crawl.policy);
        config.crawl.every = self.every.unwrap_or(config.crawl.every);
        if !self.allow_address.is_empty() {
            config.fetch.allow_addresses.clone_from(&self.allow_address);
        }
        config.fetch.contact = self.contact.clone().or(config.fetch.contact.take());
        config.fetch.proxy = self.proxy.clone().or(config.fetch.proxy.take());
        if !self.language.is_empty() {
            config.filter.languages.clone_from(&self.language);
        }
        config.metrics.listen = self.metrics.or(config.metrics.listen);
        config.metrics.is_public |= self.metrics_public;
    }
}

/// Crawls.
pub(crate) async fn run(args: &Args, given: &Context) -> anyhow::Result<Exit> {
    let seeds = seeds::read(&args.seeds, args.file.as_deref())?;
    seeds.tell_bad(&given.output);
    let mut context = given.clone();
    context.node.config = args.config(given.node.config.clone());
    context.node.check_crawl()?;
    let stop = signals::listen(&context.output).context("cannot listen for signals")?;
    let real = RealClock::start();
    let web = context.node.crawled_web(args.accelerate)?;
    let writer = Arc::new(context.node.lock(web, "crawl", real.now())?);
    let (pages, time, is_verbose) = (args.pages, args.time, args.verbose);
    let plan = CrawlPlan {
        seeds: seeds.pages.clone(),
        pages_max: pages,
        once: args.once,
        accelerate: args.accelerate,
        config_file: context.config_file.clone(),
    };
    let PreparedCrawl { start, settings, damaged } = context.node.prepare_crawl(&writer, &plan)?;
    let shown = Shown { pages, time, line_pause: LINE_PAUSE, is_verbose };
    let teller = Teller::new(&context.output, shown);
    let left = args.time.map(|time| Duration::from(time).saturating_sub(real.real_elapsed()));
    let on_event = |event: &Event<'_>, report: &CrawlReport| teller.tell(event, report);
    let finished = crawling::run(&context.node, start, settings, ended(stop, left), on_event).await?;
    drop(teller);
    let FinishedCrawl { report, remains } = &finished;
    let summary = Summary { report, remains, writer: &writer, took: real.real_elapsed() };
    context.output.result(&json!({ "summary": summary.to_json() }), || summary.to_text());
    let exit = if damaged > 0 { Exit::Found } else { exit_of(&finished, args.once) };
    Ok(seeds.exit(exit))
}

/// Waits until a stop is requested or the time is over.
async fn ended(stop: Stop, left: Option<Duration>) {
    let over = async {
        match left {
            Some(left) => tokio::time::sleep(left).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = stop.wait() => {}
        () = over => {}
    }
}

/// The exit code of a crawl: 1 if it left something undone that a person should know.
fn exit_of(FinishedCrawl { report, remains }: &FinishedCrawl, is_once: bool) -> Exit {
    let CrawlReport { pages, moved, gone, failed, refused, unreachable, .. } = *report;
    let is_in_vain = pages + refused + unreachable > 0 && pages == gone + failed;
    let is_incomplete = is_once && report.failing + report.held_back.total() > 0;
    // A failed seed is listed as a page, unless it redirects or there is nothing else.
    let has_content = pages > moved + gone + failed;
    let has_lost_seed =
        remains.seeds.iter().any(|seed| seed.is_lost && (!has_content || seed.target.is_some()));
    if is_in_vain || is_incomplete || has_lost_seed { Exit::Found } else { Exit::Done }
}
