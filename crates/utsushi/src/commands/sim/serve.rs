//! `utsushi sim serve`: the simulated web alone, for any crawler, with its ground truth and its log.

use super::Context;
use crate::exit::{Advised, Exit};
use crate::output::Output;
use crate::signals::{self, Stop};
use anyhow::Context as _;
use base::clock::RealClock;
use base::{Clock, Interval, Timestamp};
use node::config;
use serde_json::{Value, json};
use sim::serve::{RunningWeb, Settings};
use sim::{Plan, Web, hostile};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  utsushi sim serve                                     as the configuration says, on free ports
  utsushi sim serve --pages 1000000 --servers 5000      a larger web; it needs no more memory
  utsushi sim serve --hostile --port 8080               with every kind of misbehaviour
  utsushi sim serve --accelerate 3600                   an hour passes every second";

/// The number of kinds of hostile servers.
const ONE_OF_EACH: &str = "18";
const _: () = assert!(hostile::HostileKind::ALL.len() == 18);
/// Maximum number of servers tried to find one that serves http.
const HOMES_TRIED_MAX: usize = 100;
/// How often the number of requests is redrawn.
const SHOW_PAUSE: Duration = Duration::from_secs(1);

/// Serve the simulated web on this machine, with its ground truth and its log
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Number of pages on all honest servers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pages: Option<u64>,
    /// Number of honest servers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    servers: Option<u32>,
    /// Seed of the simulated web; the same seed gives the same web
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number of hostile servers to add; without a number, one of each kind
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_value = "0")]
    #[arg(default_missing_value = ONE_OF_EACH, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    hostile: u32,
    /// Port for http and for use as a proxy; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Port for https; 0 for any free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    https_port: u16,
    /// Log every request to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Speed of the simulated web relative to real time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    accelerate: u32,
    /// Stop after this time, such as `30s` or `1h`; default: run until Ctrl-C
    #[arg(long = "for", value_name = "TIME")]
    duration: Option<Interval>,
}

/// Serves until the time is over or a signal arrives.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let output = &context.output;
    let stop = signals::listen(output).context("cannot listen for signals")?;
    let web = Arc::new(Web::new(plan(args, &context.node.config.sim)));
    let clock = clock(args.accelerate);
    let home = home(&web, clock.now());
    let serving = start(args, &web, clock).await?;
    announce(output, &serving, &web, &home);
    tokio::select! {
        () = stop_or_end(&stop, args.duration) => {}
        () = show(output, &serving) => {}
    }
    let report = closing(&serving);
    serving.stop().await;
    output.result(&report, || closing_text(&report));
    Ok(Exit::Done)
}

fn plan(args: &Args, settings: &config::SimConfig) -> Plan {
    Plan {
        seed: args.seed.unwrap_or(settings.seed),
        pages: args.pages.unwrap_or(settings.pages),
        servers: args.servers.unwrap_or(settings.servers),
        hostile: args.hostile,
        ..Plan::default()
    }
}

/// The clock of the web: the real one, but never before the start of the web.
fn clock(pace: u32) -> Arc<dyn Clock> {
    let now: Timestamp = RealClock::start().now();
    RealClock::starting_at(now.max(sim::ORIGIN), pace)
}

async fn start(args: &Args, web: &Arc<Web>, clock: Arc<dyn Clock>) -> anyhow::Result<RunningWeb> {
    let settings = Settings {
        http_port: args.port,
        https_port: Some(args.https_port),
        log_file: args.log.clone(),
        ..Settings::default()
    };
    sim::serve::start(Arc::clone(web), clock, settings).await.map_err(|error| advised(error).into())
}

fn advised(error: io::Error) -> Advised {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "choose other ports with `--port` and `--https-port`; 0 for any free port"
        }
        io::ErrorKind::PermissionDenied => "choose ports above 1023 and a writable log file",
        _ => "check `--port`, `--https-port` and `--log`",
    };
    Advised::new("cannot serve the simulated web", advice, error)
}

/// A home page to start with: one without https, if possible.
fn home(web: &Web, now: Timestamp) -> String {
    let homes = (0..web.plan().servers).map(|server| web.page_url(server, 0, now));
    let plain = homes.take(HOMES_TRIED_MAX).find(|url| url.starts_with("http://"));
    plain.unwrap_or_else(|| web.page_url(0, 0, now))
}

/// Prints the addresses of the web and how to reach it.
fn announce(output: &Output, serving: &RunningWeb, web: &Web, home: &str) {
    let (proxy, plan) = (format!("http://localhost:{}", serving.http), web.plan());
    let object = json!({
        "event": "serving",
        "http_port": serving.http,
        "https_port": serving.https,
        "proxy": proxy,
        "home": home,
        "truth": format!("{proxy}/"),
        "log": format!("{proxy}/log"),
        "politeness": format!("{proxy}/politeness"),
        "ca": format!("{proxy}/ca.pem"),
        "pages": web.pages(),
        "servers": plan.servers,
        "hostile": plan.hostile,
        "seed": plan.seed,
    });
    output.result(&object, || announcement(&proxy, home, web, serving.https));
}

fn announcement(proxy: &str, home: &str, web: &Web, https: Option<u16>) -> String {
    let Plan { seed, servers, hostile, .. } = web.plan();
    let https = https.map(|port| format!(", https on port {port}")).unwrap_or_default();
    let pages = web.pages();
    format!(
        "A web of {pages} pages on {servers} servers, {hostile} hostile ones beside them, from seed {seed}.\n\
         It is served on this machine alone: http and a proxy on {proxy}{https}.\n\
         \n\
         a page        curl --proxy {proxy} {home}\n\
         some more     http_proxy={proxy} wget --recursive --level 2 --wait 1 {home}\n\
         certificate   {proxy}/ca.pem\n\
         the truth     {proxy}/\n\
         the log       {proxy}/log\n\
         politeness    {proxy}/politeness\n\
         \n\
         Ctrl-C ends it."
    )
}

async fn stop_or_end(stop: &Stop, duration: Option<Interval>) {
    match duration {
        Some(duration) => tokio::select! {
            () = stop.wait() => {}
            () = tokio::time::sleep(duration.into()) => {}
        },
        None => stop.wait().await,
    }
}

/// Shows the number of requests, until it is cancelled.
async fn show(output: &Output, serving: &RunningWeb) {
    let progress = output.progress("requests", None);
    loop {
        let stats = serving.stats();
        progress.set(
            stats.requests,
            &format!("{} connections, {} bytes sent", stats.connections_open, stats.bytes),
        );
        tokio::time::sleep(SHOW_PAUSE).await;
    }
}

fn closing(serving: &RunningWeb) -> Value {
    let (stats, politeness) = (serving.stats(), serving.politeness());
    json!({
        "event": "stopped",
        "requests": stats.requests,
        "connections": stats.connections,
        "bytes": stats.bytes,
        "politeness": politeness.to_json(),
    })
}

fn closing_text(report: &Value) -> String {
    format!(
        "{} requests over {} connections, {} bytes sent; {} servers visited, politeness violated {} times",
        report["requests"],
        report["connections"],
        report["bytes"],
        report["politeness"]["servers"],
        report["politeness"]["violations"],
    )
}
