//! `utsushi guard`: the egress guard, a separate process between a crawler and the web.

use super::Context;
use crate::exit::{Advised, Exit};
use crate::output::Output;
use crate::signals;
use crate::words::{bytes, count_of};
use anyhow::Context as _;
use base::Interval;
use base::clock::RealClock;
use base::limits::SERVER_PAUSE_MAX;
use guard::{AddressBlock, AddressRules, Guard, Settings, TrafficLimits};
use node::config::parse_bytes;
use node::directory;
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};

const EXAMPLES: &str = "\
Examples:
  utsushi guard                                     as the configuration says
  utsushi guard --pause 30s                         one request every half minute
  utsushi guard --allow-address 192.168.7.0/24      for a crawl of one's own network
  curl --proxy http://127.0.0.1:3129 http://example.org/";

/// How often the counts are redrawn.
const SHOW_PAUSE: Duration = Duration::from_secs(1);
const WAIT_MAX: Interval = Interval::from_minutes(10);

/// Run a proxy that rate-limits requests and blocks private addresses
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Address and port to listen on; port 0 for any free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Allow an address that other machines can reach; anyone who can connect can send requests
    #[arg(long)]
    public_listen: bool,
    /// Minimum delay between the end of a request and the next one, for each server and each address
    #[arg(long, value_name = "TIME", value_parser = |text: &str| interval(text, SERVER_PAUSE_MAX))]
    pause: Option<Interval>,
    /// Maximum time a request is delayed before it is refused
    #[arg(long, value_name = "TIME", value_parser = |text: &str| interval(text, WAIT_MAX))]
    wait_max: Option<Interval>,
    /// Allow special addresses, such as `192.168.7.0/24`; may be repeated
    #[arg(long, value_name = "BLOCK")]
    allow_address: Vec<AddressBlock>,
    /// Maximum number of requests to one server per day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    server_requests_per_day: Option<u64>,
    /// Maximum number of requests to one address per day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    address_requests_per_day: Option<u64>,
    /// Maximum number of bytes to and from one address per day, such as `8GiB`
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    address_bytes_per_day: Option<u64>,
    /// Maximum number of bytes to and from all addresses per day
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    bytes_per_day: Option<u64>,
}

fn interval(text: &str, most: Interval) -> Result<Interval, String> {
    let least = Interval::from_seconds(1);
    let fits = text.parse().ok().filter(|time| (least..=most).contains(time));
    fits.ok_or_else(|| format!("it is a length of time from {least} to {most}"))
}

fn byte_count(text: &str) -> Result<u64, String> {
    parse_bytes(text)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(|| "it is a number of bytes, such as 8GiB".to_owned())
}

/// Runs until a signal arrives.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let output = &context.output;
    let stop = signals::listen(output).context("cannot listen for signals")?;
    let settings = settings(args, context)?;
    let log = settings.directory.display().to_string();
    let guard = Guard::start(settings, RealClock::start()).await.map_err(advised)?;
    let decisions = guard.decisions();
    announce(output, &guard, &log);
    tokio::select! {
        () = stop.wait() => {}
        () = tell(output, decisions) => {}
        () = show(output, &guard) => {}
    }
    let status = guard.status();
    guard.stop().await;
    output.result(&closing(&status), || closing_text(&status));
    Ok(Exit::Done)
}

fn settings(args: &Args, context: &Context) -> anyhow::Result<Settings> {
    let config = &context.node.config.guard;
    let listen = args.listen.or(config.listen).context("no address to listen on")?;
    let opened = config.allow_addresses.iter().chain(&args.allow_address).copied().collect();
    Ok(Settings {
        listen,
        public_listen: args.public_listen,
        directory: context.node.data.join(directory::GUARD),
        addresses: AddressRules { opened },
        limits: limits(args, config.limits),
    })
}

/// The configured limits with those of this run.
fn limits(args: &Args, configured: TrafficLimits) -> TrafficLimits {
    TrafficLimits {
        pause: args.pause.map_or(configured.pause, Duration::from),
        wait_max: args.wait_max.map_or(configured.wait_max, Duration::from),
        server_requests_per_day: args.server_requests_per_day.unwrap_or(configured.server_requests_per_day),
        address_requests_per_day: args
            .address_requests_per_day
            .unwrap_or(configured.address_requests_per_day),
        address_bytes_per_day: args.address_bytes_per_day.unwrap_or(configured.address_bytes_per_day),
        bytes_per_day: args.bytes_per_day.unwrap_or(configured.bytes_per_day),
        ..configured
    }
}

fn advised(error: guard::Error) -> Advised {
    let advice = error.advice();
    Advised::new("cannot start the guard", advice, error)
}

/// Prints its address and how to use it.
fn announce(output: &Output, guard: &Guard, log: &str) {
    let proxy = format!("http://{}", guard.address());
    let limits = guard.status()["limits"].clone();
    let object = json!({
        "event": "guarding", "proxy": proxy, "status": format!("{proxy}/status"), "log": log, "limits": limits,
    });
    output.result(&object, || {
        format!(
            "The guard lets one request through every {} to each server and each address.\n\
             \n\
             use it     curl --proxy {proxy} http://example.org/\n\
             status     {proxy}/status\n\
             log        {log}\n\
             \n\
             Ctrl-C ends it.",
            Interval::from_millis(limits["pause_ms"].as_u64().unwrap_or_default()),
        )
    });
}

/// Prints every decision, if requested.
async fn tell(output: &Output, mut decisions: Receiver<Arc<str>>) {
    if !output.json() {
        return std::future::pending().await;
    }
    loop {
        match decisions.recv().await {
            // The stream stores errors.
            Ok(line) => _ = writeln!(output.printable_lines(), "{line}"),
            Err(RecvError::Lagged(lines)) => output.object(&json!({ "event": "lost", "lines": lines })),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Shows the counts, until it is cancelled.
async fn show(output: &Output, guard: &Guard) {
    let progress = output.progress("requests", None);
    loop {
        let status = guard.status();
        let passed = status["passed"].as_u64().unwrap_or_default();
        progress.set(passed, &format!("{} delayed, {} refused", status["delayed"], status["refused"]));
        tokio::time::sleep(SHOW_PAUSE).await;
    }
}

fn closing(status: &Value) -> Value {
    let of = |name: &str| status[name].clone();
    json!({
        "event": "summary", "passed": of("passed"), "delayed": of("delayed"), "refused": of("refused"),
        "bytes_today": of("bytes_today"),
    })
}

fn closing_text(status: &Value) -> String {
    let of = |name: &str| status[name].as_u64().unwrap_or_default();
    format!(
        "{} forwarded, {} of them delayed, {} refused; {} today",
        count_of(of("passed"), "request"),
        of("delayed"),
        of("refused"),
        bytes(of("bytes_today")),
    )
}
