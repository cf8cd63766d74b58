//! `cargo xtask bench recrawl`: the real crawler over real HTTP, on recorded histories of real pages.
//!
//! Each site lives as a trace says, in a time that runs faster than real time; `utsushi crawl --accelerate` crawls it in the same
//! time, by the default policy and beside it by `uniform`, at equal budgets. The log of the site is scored as the replay
//! is (D20), by the text of the pages and by their whole content, and compared with the replay of the same trace and window.

mod child;
mod listing;
mod print;
mod prose;
mod serve;
mod site;
#[cfg(test)]
mod tests;
mod verdict;

use crate::compare::work_directory;
use crate::revisit::contender::Contender;
use crate::revisit::score::Score;
use crate::revisit::trace::Trace;
use anyhow::{Context, Result, bail, ensure};
use base::clock::{Clock as _, RealClock};
use base::{Interval, Timestamp};
use child::{Crawl, Plan};
use frontier::RevisitPolicy;
use serve::Server;
use site::{HintShare, Site};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use verdict::Outcome;

/// The real crawler over real HTTP, on recorded histories of pages, beside `uniform` and the replay
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench recrawl --traces ../shared/data/traces --trace openbsd-www
  cargo xtask bench recrawl --traces ../shared/data/traces --trace php-doc-ja --every 30 --accelerate 40000 --json
  cargo xtask bench recrawl --traces ../shared/data/traces --trace curl-www --hints half

Exit code 1: a crawl did not keep up with its time; choose a smaller --accelerate.")]
pub(crate) struct Args {
    /// The directory with NAME.events.tsv.gz and NAME.pages.tsv.gz
    #[arg(long, value_name = "DIR")]
    traces: PathBuf,
    /// Only these traces, one after the other; all without it
    #[arg(long = "trace", value_name = "NAME", value_delimiter = ',')]
    names: Vec<String>,
    /// Mean days between visits to a page
    #[arg(long, value_name = "DAYS", default_value_t = 7.0)]
    every: f64,
    /// Begin here
    #[arg(long, value_name = "DATE", default_value = "2024-01-01", value_parser = moment)]
    from: Timestamp,
    /// How long the simulated time is
    #[arg(long, value_name = "DAYS", default_value_t = 400, value_parser = clap::value_parser!(u64).range(8..=4_000))]
    days: u64,
    /// How many times as fast as real time
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    accelerate: u32,
    /// Of which pages a sitemap and a feed tell the changes
    #[arg(long, value_name = "WHICH", default_value = "none")]
    hints: HintShare,
    /// The policies, side by side; the others are compared with the first
    #[arg(long = "policy", value_name = "POLICY", value_delimiter = ',', default_values_t = ["uniform".parse::<RevisitPolicy>().expect("it is one"), RevisitPolicy::default()])]
    policies: Vec<RevisitPolicy>,
    /// Directory for the data of the crawls; default: one below the target directory
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Print one object a line
    #[arg(long)]
    json: bool,
}

fn moment(text: &str) -> Result<Timestamp, base::time::TimeError> {
    Timestamp::parse(text, RealClock::start().now())
}

/// One trace, crawled by all policies.
#[derive(Debug)]
struct Race {
    site: Arc<Site>,
    runs: Vec<Run>,
}

/// One policy on one trace.
#[derive(Debug)]
struct Run {
    policy: RevisitPolicy,
    outcome: Outcome,
    /// What the replay says of the text.
    replayed: Score,
}

/// Runs the comparison; whether every crawl kept up.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let program =
        std::env::var_os("UTSUSHI_PROGRAM").context("run this through `cargo xtask bench recrawl`")?;
    let directory = work_directory(args.directory.as_deref(), "bench-recrawl")?;
    let plan = Plan {
        program: program.into(),
        policy: RevisitPolicy::default(),
        every: every(args.every)?,
        pace: args.accelerate,
        ends_after: real_time(args) + Duration::from_secs(120),
    };
    let mut all_valid = true;
    for trace in chosen(args)? {
        let site = Arc::new(Site::new(trace, args.hints));
        let race = race(site, &plan, &args.policies, &directory)?;
        all_valid &= print::print(&race, args);
    }
    Ok(all_valid)
}

fn real_time(args: &Args) -> Duration {
    Duration::from_secs(args.days * 86_400) / args.accelerate
}
/// The interval in whole seconds, so that crawl and replay have the same.
fn every(days: f64) -> Result<Interval> {
    let every = Interval::from_days(1).times(days);
    let range = base::limits::REVISIT_INTERVAL_MIN..=base::limits::REVISIT_INTERVAL_MAX;
    ensure!(
        days.is_finite() && range.contains(&every),
        "`--every` is between {} and {}",
        range.start(),
        range.end()
    );
    Ok(Interval::from_seconds(every.as_seconds()))
}

fn chosen(args: &Args) -> Result<Vec<Trace>> {
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970")]
    let from = args.from.as_seconds() as f64;
    let length = Interval::from_days(args.days).as_seconds_f64();
    let mut traces = Trace::read_all(&args.traces, (Some(from), Some(from + length)))?;
    if let Some(name) = args.names.iter().find(|name| !traces.iter().any(|trace| trace.name == **name)) {
        let known: Vec<&str> = traces.iter().map(|trace| &*trace.name).collect();
        bail!("no trace `{name}` has a page in this window; there are {}", known.join(", "));
    }
    traces.retain(|trace| args.names.is_empty() || args.names.contains(&trace.name));
    Ok(traces)
}

/// Lets all policies crawl a site of their own at the same time, until its trace ends.
fn race(site: Arc<Site>, plan: &Plan, policies: &[RevisitPolicy], directory: &Path) -> Result<Race> {
    let mut crawls = Vec::new();
    for (number, policy) in (1_u8..).zip(policies) {
        // Every site has an address of its own, like the servers of the simulated web (D19).
        let server =
            Arc::new(Server::start(Arc::clone(&site), IpAddr::V4(Ipv4Addr::new(127, 20, number, 1)))?);
        let plan = Plan { policy: *policy, ..plan.clone() };
        let place = directory.join(format!("{}-{number}", site.trace.name));
        crawls.push((Crawl::start(&plan, &place, &server)?, server));
    }
    let until = |server: &Server| server.now().is_some_and(|now| now >= site.trace.to);
    wait(&mut crawls, until)?;
    let contents = site.contents();
    let mut runs = Vec::new();
    for ((crawl, server), policy) in crawls.into_iter().zip(policies) {
        let cpu_seconds = crawl.cpu_seconds();
        let told = crawl.end()?;
        let outcome = Outcome::new((&site.trace, &contents), &server.log(), &told, cpu_seconds);
        runs.push(Run { policy: *policy, outcome, replayed: replay(&site.trace, policy, plan.every) });
    }
    Ok(Race { site, runs })
}

/// The replay of a policy without hints.
fn replay(trace: &Trace, policy: &RevisitPolicy, every: Interval) -> Score {
    let is_uniform = policy.to_string() == "uniform";
    let contender = if is_uniform { Contender::Uniform } else { Contender::RevisitPolicy(*policy) };
    contender.play(trace, every)
}

/// Waits until all sites are through. Whoever interrupts it ends the crawls too.
fn wait(crawls: &mut [(Crawl, Arc<Server>)], is_over: impl Fn(&Server) -> bool) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut terminated = signal(SignalKind::terminate())?;
        while !crawls.iter().all(|(_, server)| is_over(server)) {
            for (crawl, server) in crawls.iter_mut().filter(|(_, server)| !is_over(server)) {
                crawl.check().with_context(|| format!("at http://{}/", server.address))?;
            }
            tokio::select! {
                _ = interrupted.recv() => bail!("interrupted"),
                _ = terminated.recv() => bail!("terminated"),
                () = tokio::time::sleep(Duration::from_millis(100)) => {}
            }
        }
        Ok(())
    })
}
