//! `utsushi demo`: the product at work on a simulated web, for half a minute unless told otherwise.
//!
//! Everything is real but the web: HTTP and HTTPS over loopback, pauses and robots rules, WARC files that are synced
//! before anything is said of them. The simulated servers judge the crawler themselves, and at the end its findings
//! are read back from the archive and compared with what the web knows of itself.

mod findings;
mod middle;
mod summary;

use super::Context;
use crate::exit::{Advised, Exit};
use crate::node::directory::Web as Which;
use crate::node::door::{self, product_token};
use crate::output::Output;
use crate::progress::Progress;
use crate::signals;
use anyhow::Context as _;
use archive::{Archive, Entry, Reader};
use base::clock::{Clock, RealClock};
use base::disk::RealDisk;
use base::{Interval, PageUrl, Timestamp};
use crawl::{Before, Event, Kept, Parts, QueueSettings, Report, Start};
use fetch::{Limits, Policy, Range, Resolver, WebDoor};
use serde_json::json;
use sim::observe::Rules;
use sim::serve::{self, Serving};
use sim::{Plan, Web};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  utsushi demo
  utsushi --data /tmp/web demo --for 10s --hostile
  utsushi demo --pages 500 --json | head";

/// Pages of the demo's web and servers they are on: many servers, so that politeness does not make it dull.
const PAGES: u64 = 5_000;
const SERVERS: u32 = 150;
/// After this long on its own clock the demo looks at a page again.
const REVISIT_AFTER: Interval = Interval::from_minutes(8);
/// A demo never needs more of a body than this.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most pages that the demo keeps in its queue.
const QUEUE_PAGES_MAX: usize = 200_000;
/// The most bytes of bodies that wait for their sync.
const BYTES_MAX: u64 = 128 * 1024 * 1024;
/// The most captures between their visit and their sync.
const CAPTURES_MAX: usize = 1_024;

/// Crawl a simulated web on this machine, archive it, and show what was found
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How long to crawl, such as `20s` or `5m`
    #[arg(long = "for", value_name = "TIME", default_value = "30s")]
    time: Interval,
    /// Stop after so many archived pages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pages: Option<u64>,
    /// What the simulated web is made from; the same seed gives the same web
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How much faster than real time the simulated web lives, and how much shorter pauses are: 1 to 10000. At 1 the
    /// first request comes after a full pause of ten seconds
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    accelerate: u32,
    /// Add servers that misbehave: slow, endless, malformed, trapping
    #[arg(long)]
    hostile: bool,
}

/// Runs the demo.
pub(crate) async fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let stop = signals::listen(&context.output).context("cannot listen for signals")?;
    let real = RealClock::start();
    let writer = context.lock(Which::Simulated, "demo", real.now())?;
    let archive = context.archive(&writer, real.now())?;
    let web = Arc::new(Web::new(plan(args)?));
    let agent = product_token(&context.config.fetch.agent);
    let known = known(&writer.archive_path(), &web, agent).context("cannot read what is archived already")?;
    // The simulated time of an earlier run may lie ahead of ours: the clock never goes back (D16).
    let began = known.last.map_or(real.now(), |last| last.plus(Interval::from_micros(1)).max(real.now()));
    let clock = RealClock::starting_at(began, args.accelerate);
    let scene = Scene::set(web, context, Arc::clone(&clock)).await?;
    scene.introduce(args, &context.output);
    let left = Duration::from(args.time).saturating_sub(real.real_elapsed());
    let stop = async move {
        tokio::select! {
            () = stop.wait() => {}
            () = tokio::time::sleep(left) => {}
        }
    };
    let report = scene.crawl(args, context, archive, known.start, stop).await?;
    let files =
        archive::files(&RealDisk, &writer.archive_path()).context("cannot read back what was archived")?;
    let files = files.into_iter().filter(|file| !known.files.contains(file)).collect();
    let mut findings = findings::read(files, &scene.web, clock.now());
    let middle = middle::look(&writer.archive_path(), began, clock.now(), &mut findings)
        .context("cannot read back what was archived")?;
    let exit = if findings.damaged > 0 { Exit::Found } else { Exit::Done };
    let politeness = scene.serving.politeness();
    let told = summary::Told {
        report,
        politeness,
        findings,
        middle,
        pause: context.config.crawl.pause,
        directory: &writer,
    };
    context.output.result(&json!({ "summary": told.to_json() }), || told.to_text());
    scene.serving.stop().await;
    Ok(exit)
}

fn plan(args: &Args) -> anyhow::Result<Plan> {
    let hostile = if args.hostile { u32::try_from(sim::hostile::Kind::ALL.len())? } else { 0 };
    Ok(Plan { seed: args.seed, pages: PAGES, servers: SERVERS, hostile, ..Plan::default() })
}

/// What earlier runs left in the archive.
#[derive(Default)]
struct Known {
    /// Every page as it was last stored whole, and what is known of robots files.
    start: Start,
    /// The last visit of all.
    last: Option<Timestamp>,
    /// The files of earlier runs.
    files: Vec<PathBuf>,
}

/// Learns from the index what earlier runs saw of this web.
fn known(archive: &Path, web: &Web, agent: &str) -> Result<Known, archive::Error> {
    let mut known = Known { files: archive::files(&RealDisk, archive)?, ..Known::default() };
    let (mut last_key, mut robots) = (None, BTreeSet::new());
    let reader = Reader::open(Arc::new(RealDisk), archive)?;
    for entry in reader.all()? {
        let entry = entry?;
        robots.extend(robots_file(&entry, web).filter(|_| robots.len() < 2 * QUEUE_PAGES_MAX));
        known.last = known.last.max(Some(entry.at));
        // The newest version of a page comes first.
        if last_key.as_ref() == Some(&entry.key) || known.start.known.len() >= QUEUE_PAGES_MAX {
            continue;
        }
        if let Some(before) = version(&entry, web) {
            last_key = Some(entry.key);
            known.start.known.push(before);
        }
    }
    known.start.known.sort_by_key(|before| before.at);
    known.start.robots = crawl::recall_robots(&reader, agent, robots)?;
    Ok(known)
}

/// The page version that an entry is, if it is one of this web.
fn version(entry: &Entry, web: &Web) -> Option<Before> {
    let url = PageUrl::parse(&entry.url).ok().filter(|_| entry.outcome() == "fetched" && !entry.truncated)?;
    let is_page = url.path() != "/robots.txt" && web.address(url.host()).is_some();
    is_page.then_some(Before { url, at: entry.at })
}

/// The robots file that an entry is of, if it is one of this web.
fn robots_file(entry: &Entry, web: &Web) -> Option<PageUrl> {
    let url = PageUrl::parse(&entry.url).ok()?;
    (url.target() == "/robots.txt" && web.address(url.host()).is_some()).then_some(url)
}

/// The simulated web being served, and the clock it lives by.
struct Scene {
    web: Arc<Web>,
    clock: Arc<RealClock>,
    serving: Serving,
}

impl Scene {
    async fn set(web: Arc<Web>, context: &Context, clock: Arc<RealClock>) -> anyhow::Result<Self> {
        let pause = context.config.crawl.pause;
        let settings =
            serve::Settings { rules: Rules { pause, ..Rules::default() }, ..serve::Settings::default() };
        let serving = serve::start(Arc::clone(&web), Arc::clone(&clock) as Arc<dyn Clock>, settings).await;
        let serving = serving.map_err(|error| {
            let advice = "let the program open ports on 127.0.0.0/8 of this machine";
            Advised::new("cannot serve the simulated web", advice, error)
        })?;
        Ok(Self { web, clock, serving })
    }

    fn introduce(&self, args: &Args, output: &Output) {
        let Plan { pages, servers, hostile, .. } = self.web.plan();
        output.note(format!(
            "a simulated web of {pages} pages on {servers} servers{} is up on this machine; its time runs {} times \
             as fast\nits truth: http://127.0.0.1:{}/",
            if *hostile > 0 { format!(" and {hostile} hostile ones") } else { String::new() },
            args.accelerate,
            self.serving.http,
        ));
    }

    async fn crawl(
        &self,
        args: &Args,
        context: &Context,
        archive: Archive,
        known: Start,
        stop: impl Future<Output = ()>,
    ) -> anyhow::Result<Report> {
        let config = &context.config;
        let settings = crawl::Settings {
            queue: QueueSettings {
                pause: config.crawl.pause,
                revisit_after: REVISIT_AFTER,
                pages_max: QUEUE_PAGES_MAX,
                agent: product_token(&config.fetch.agent).to_owned(),
                start: self.clock.now().plus(config.crawl.pause),
                opt_out: door::opt_out(config, &context.data)?,
            },
            connections_max: config.crawl.connections_max,
            captures_max: CAPTURES_MAX.max(2 * config.crawl.connections_max),
            bytes_max: BYTES_MAX,
            pages_max: args.pages,
        };
        let door = Arc::new(self.door(context)?);
        let seed = PageUrl::parse(&format!("http://{}/", self.web.host(0)))?;
        let start = Start { seeds: vec![seed], ..known };
        let teller = Teller::new(&context.output, args);
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let parts = Parts { door, archive, clock };
        let walk = crawl::walk(parts, settings, start, stop, |event, report| {
            teller.tell(&event, report);
        });
        Ok(walk.await?)
    }

    /// The real door, through which only this machine can be reached, and only by the simulated web's names.
    fn door(&self, context: &Context) -> anyhow::Result<WebDoor> {
        let (web, http, https) = (Arc::clone(&self.web), self.serving.http, self.serving.https);
        let resolver = Resolver::new(move |origin| {
            let port = if origin.scheme == base::url::Scheme::Http { http } else { https? };
            let address = web.address(origin.server.host())?;
            origin.server.port().is_none().then(|| SocketAddr::new(address.into(), port))
        });
        let resolver = resolver.names_only();
        let settings = fetch::Settings {
            user_agent: context.config.fetch.agent.clone(),
            accept_language: context.config.fetch.accept_language.clone(),
            extra_roots_pem: self.serving.authority_pem.clone().into_bytes(),
            resolver,
            spool: Some(context.data.clone()),
            addresses: Policy::only(vec![Range::LOOPBACK]),
            limits: Limits { body_bytes_max: BODY_BYTES_MAX, ..Limits::default() },
            ..fetch::Settings::default()
        };
        Ok(WebDoor::new(settings)?)
    }
}

/// Tells what happens while it happens: every capture as JSON if that was asked for, else one of each batch.
struct Teller<'a> {
    output: &'a Output,
    progress: Progress,
}

impl<'a> Teller<'a> {
    fn new(output: &'a Output, args: &Args) -> Self {
        Self { output, progress: output.progress("archived pages", args.pages) }
    }

    fn tell(&self, event: &Event<'_>, report: &Report) {
        match event {
            Event::Kept(kept) if self.output.json() => {
                kept.iter().for_each(|kept| self.output.object(&line(kept)));
            }
            Event::Kept(kept) => {
                kept.iter().rfind(|kept| !kept.robots).into_iter().for_each(|kept| self.show(kept));
            }
            Event::Full(error) => self.output.complaint(format!("waiting for room: {error}")),
            Event::Room => self.output.complaint("there is room again; going on"),
        }
        let words = format!("{} servers, {} changes seen", report.servers, report.changed);
        self.progress.set(report.pages, &words);
    }

    fn show(&self, kept: &Kept) {
        let status = kept.outcome.status().map_or_else(|| "---".to_owned(), |status| status.to_string());
        let at = kept.at.to_rfc3339();
        self.output.note(format!("{}  {:<12} {status}  {}", &at[11..19], word(kept), kept.url));
    }
}

/// What a capture means for its page, in a word.
fn word(kept: &Kept) -> &'static str {
    match (kept.outcome.as_str(), kept.changed) {
        ("fetched", None) => "new",
        ("fetched", Some(true)) => "changed",
        ("fetched", Some(false)) | ("not-modified", _) => "unchanged",
        (other, _) => other,
    }
}

/// A durable capture as a program reads it.
fn line(kept: &Kept) -> serde_json::Value {
    json!({
        "url": kept.url.as_str(),
        "at": kept.at.to_rfc3339(),
        "outcome": kept.outcome.as_str(),
        "status": kept.outcome.status(),
        "changed": kept.changed,
        "robots": kept.robots,
        "file": &*kept.location.file,
        "offset": kept.location.offset,
        "length": kept.location.length,
    })
}
