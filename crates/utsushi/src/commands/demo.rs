//! `utsushi demo`: the product at work on a simulated web, for half a minute by default.
//!
//! Everything is real except the web: HTTP and HTTPS over loopback, delays and robots rules, WARC files that are synced
//! before their captures are reported. The simulated servers check the crawler themselves, and at the end the archive is
//! read back and compared with the ground truth of the web.

mod findings;
mod middle;
mod scanned;
mod summary;

use super::kept::{Shown, Teller};
use super::{Context, status};
use crate::exit::{Advised, Exit};
use crate::output::Output;
use crate::signals;
use crate::words::grouped;
use ::crawl::{CrawlReport, Event};
use anyhow::Context as _;
use base::clock::{Clock, CrawlClock, RealClock};
use base::disk::RealDisk;
use base::{Interval, PageUrl};
use fetch::{AddressPolicy, AddressRange, ExchangeLimits, Resolver, WebDoor};
use node::control::ControlRequest;
use node::crawling::{CrawlPlan, CrawlStart};
use node::schedule::OpenSchedule;
use node::views::ScheduleView;
use node::{DirectoryWriter, Steering, WebKind, crawling};
use serde_json::json;
use sim::observe::PolitenessRules;
use sim::serve::{self, RunningWeb};
use sim::{Plan, Web};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  utsushi demo
  utsushi --data /tmp/web demo --for 10s --hostile
  utsushi demo --pages 500 --json | head";

/// Pages and servers of the demo's web: many servers, so that politeness delays do not slow it down.
const PAGES: u64 = 5_000;
const SERVERS: u32 = 150;
/// Without a terminal, the time between two lines of progress.
const LINE_PAUSE: Duration = Duration::from_secs(1);
/// Its few pages need no more log and no larger files.
const STORE_BYTES: u32 = 4 * 1024 * 1024;
/// The maximum number of bytes of a body in a demo.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Crawl a simulated web on this machine, archive it, and show what was found
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Crawl for this time, such as `20s` or `5m`
    #[arg(long = "for", value_name = "TIME", default_value = "30s")]
    time: Interval,
    /// Stop after this number of archived pages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pages: Option<u64>,
    /// Seed of the simulated web; the same seed gives the same web
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Speed of the simulated web relative to real time, from 1 to 10000; delays between requests are shorter by the same
    /// factor. At 1 the first request is sent after a full delay of ten seconds
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    accelerate: u32,
    /// Print a line for each archived page to standard error
    #[arg(long)]
    verbose: bool,
    /// Add servers that misbehave: slow, endless, malformed, trapping
    #[arg(long)]
    hostile: bool,
}

/// Runs the demo.
pub(crate) async fn run(args: &Args, given: &Context) -> anyhow::Result<Exit> {
    let stop = signals::listen(&given.output).context("cannot listen for signals")?;
    let real = RealClock::start();
    let mut context = given.clone();
    let store = &mut context.node.config.store;
    store.log_bytes = store.log_bytes.min(STORE_BYTES.into());
    store.segment_bytes = store.segment_bytes.min(STORE_BYTES);
    let writer = Arc::new(context.node.lock(WebKind::Simulated, "demo", real.now())?);
    let opened = context.node.open_schedule(&writer, args.accelerate)?;
    let clock = Arc::clone(&opened.clock);
    let known =
        archive::files(&RealDisk, &writer.archive_path()).context("cannot read the existing archive")?;
    let began = clock.now();
    let scene = Scene::set(Arc::new(Web::new(plan(args)?)), &context, Arc::clone(&clock)).await?;
    scene.introduce(args, &context.output);
    let left = Duration::from(args.time).saturating_sub(real.real_elapsed());
    let stop = async move {
        tokio::select! {
            () = stop.wait() => {}
            () = tokio::time::sleep(left) => {}
        }
    };
    let report = scene.crawl(args, &context, (Arc::clone(&writer), opened), stop).await?;
    let files =
        archive::files(&RealDisk, &writer.archive_path()).context("cannot read back what was archived")?;
    let files = files.into_iter().filter(|file| !known.contains(file)).collect();
    let mut findings = findings::read(files, &scene.web, clock.now());
    let middle = middle::look(&writer.archive_path(), began, clock.now(), &mut findings)
        .context("cannot read back what was archived")?;
    let scanned =
        scanned::look(&writer.archive_path(), clock.now()).context("cannot analyse what was archived")?;
    let exit = if findings.damaged > 0 { Exit::Found } else { Exit::Done };
    let politeness = scene.serving.politeness();
    let pause = context.node.config.crawl.pause;
    let (took, simulated) = (real.real_elapsed(), clock.now().since(began));
    let results = summary::DemoResults {
        report,
        politeness,
        findings,
        middle,
        scanned,
        pause,
        took,
        simulated,
        writer: &writer,
    };
    if context.output.json() {
        context.output.object(&json!({ "summary": results.to_json() }));
    } else {
        results.to_text().lines().for_each(|line| context.output.line(line));
        let hints = results.hints(&context.node.data);
        let writer = Arc::into_inner(writer).expect("the crawl has ended");
        show_schedule(&context, writer).await?;
        hints.iter().for_each(|line| context.output.line(line));
    }
    scene.serving.stop().await;
    Ok(exit)
}

/// Shows the next visits of the schedule.
async fn show_schedule(context: &Context, writer: DirectoryWriter) -> anyhow::Result<()> {
    let steering = Steering::local(&context.node, writer)?;
    let whole = steering.ask_for::<ScheduleView>(ControlRequest::Status {}).await?.pop();
    steering.close().await?;
    context.output.line("Next visits, in simulated time");
    for line in whole.iter().flat_map(status::outlook_lines) {
        context.output.line(format!("  {line}"));
    }
    Ok(())
}

fn plan(args: &Args) -> anyhow::Result<Plan> {
    let hostile = if args.hostile { u32::try_from(sim::hostile::HostileKind::ALL.len())? } else { 0 };
    Ok(Plan { seed: args.seed, pages: PAGES, servers: SERVERS, hostile, ..Plan::default() })
}

/// The running simulated web.
struct Scene {
    web: Arc<Web>,
    serving: RunningWeb,
}

impl Scene {
    async fn set(web: Arc<Web>, context: &Context, clock: Arc<CrawlClock>) -> anyhow::Result<Self> {
        let pause = context.node.config.crawl.pause;
        let settings = serve::Settings {
            rules: PolitenessRules { pause, ..PolitenessRules::default() },
            ..serve::Settings::default()
        };
        let serving = serve::start(Arc::clone(&web), clock as Arc<dyn Clock>, settings).await;
        let serving = serving.map_err(|error| {
            let advice = "allow the program to open ports on 127.0.0.0/8 of this machine";
            Advised::new("cannot serve the simulated web", advice, error)
        })?;
        Ok(Self { web, serving })
    }

    fn introduce(&self, args: &Args, output: &Output) {
        let Plan { pages, servers, hostile, .. } = self.web.plan();
        let hostile = if *hostile > 0 { format!(" and {hostile} hostile ones") } else { String::new() };
        let (pages, accelerate, port) = (grouped(*pages), args.accelerate, self.serving.http);
        output.note(format!(
            "a simulated web of {pages} pages on {servers} servers{hostile} runs on this machine\nits time runs \
             {accelerate} times as fast as ours; its truth: http://127.0.0.1:{port}/"
        ));
    }

    async fn crawl(
        &self,
        args: &Args,
        context: &Context,
        (writer, opened): (Arc<DirectoryWriter>, OpenSchedule),
        stop: impl Future<Output = ()>,
    ) -> anyhow::Result<CrawlReport> {
        let seed = PageUrl::parse(&format!("http://{}/", self.web.host(0)))?;
        let plan = CrawlPlan { seeds: vec![seed], pages_max: args.pages, ..CrawlPlan::default() };
        let settings = plan.settings(&context.node, opened.reads.clone());
        let (pages, time, is_verbose) = (args.pages, Some(args.time), args.verbose);
        let teller = Teller::new(&context.output, Shown { pages, time, line_pause: LINE_PAUSE, is_verbose });
        let on_event = |event: &Event<'_>, report: &CrawlReport| teller.tell(event, report);
        let start = CrawlStart { writer, door: self.door(context)?, opened, pace: args.accelerate };
        let finished = crawling::run(&context.node, start, settings, stop, on_event).await?;
        Ok(finished.report)
    }

    /// The real door, restricted to this machine and to the names of the simulated web.
    fn door(&self, context: &Context) -> anyhow::Result<WebDoor> {
        let (web, http, https) = (Arc::clone(&self.web), self.serving.http, self.serving.https);
        let resolver = Resolver::new(move |origin| {
            let port = if origin.scheme == base::url::Scheme::Http { http } else { https? };
            let address = web.address(origin.server.host())?;
            origin.server.port().is_none().then(|| SocketAddr::new(address.into(), port))
        });
        let resolver = resolver.names_only();
        let settings = fetch::Settings {
            user_agent: context.node.config.fetch.agent.clone(),
            accept_language: context.node.config.fetch.accept_language.clone(),
            extra_roots_pem: self.serving.authority_pem.clone().into_bytes(),
            resolver,
            spool: Some(context.node.data.clone()),
            addresses: AddressPolicy::only(vec![AddressRange::LOOPBACK]),
            limits: ExchangeLimits { body_bytes_max: BODY_BYTES_MAX, ..ExchangeLimits::default() },
            ..fetch::Settings::default()
        };
        Ok(WebDoor::new(settings)?)
    }
}
