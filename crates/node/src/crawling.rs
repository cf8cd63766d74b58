//! A running crawl, with its control socket and its metrics.
//!
//! A takedown or an import needs the archive to itself. When one arrives through the socket, the crawl closes archive and
//! schedule, the same code runs as without a crawl, and the crawl continues with the schedule opened again. Meanwhile
//! questions are answered from disk, and orders are refused.
//!
//! **Invariant:** the writer lock is held throughout, and a crash at any moment leaves what a crash of `utsushi takedown`
//! or `utsushi import` leaves.

mod jobs;
mod prepare;

pub use prepare::{CrawlPlan, PreparedCrawl};

use crate::control::{ControlAnswer, ControlLines, ControlRequest, ControlServer};
use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::metrics::{MetricsServer, exposition};
use crate::monitor::{Monitor, Notice, Silent};
use crate::node::Node;
use crate::orders::{self, ORDERS_MAX};
use crate::schedule::OpenSchedule;
use crate::stages::{self, Followers, StageStates};
use crate::view::View;
use crate::views::ScheduleView;
use ::crawl::{CrawlReport, Event, Order, Parts, Remains, Settings};
use base::clock::{Clock, CrawlClock, RealClock, Strayed};
use base::door::Door;
use jobs::{JOBS_MAX, Job};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// How long a scrape waits for the schedule.
const SCHEDULE_TIME_MAX: Duration = Duration::from_secs(2);

/// What a crawl begins with.
#[derive(Debug)]
pub struct CrawlStart<D> {
    /// The right to write to the data directory.
    pub writer: Arc<DirectoryWriter>,
    /// The access to the web.
    pub door: D,
    /// The schedule.
    pub opened: OpenSchedule,
    /// How much faster than real time its time runs.
    pub pace: u32,
}

/// How a crawl ended.
#[derive(Debug)]
pub struct FinishedCrawl {
    /// What it did.
    pub report: CrawlReport,
    /// What is left to do.
    pub remains: Remains,
}

/// Accepts orders while the crawl runs; `None` during a takedown or an import.
type Running = watch::Receiver<Option<mpsc::Sender<Order>>>;

/// Crawls until `stop`, or until the settings end it. `on_event` receives events.
pub async fn run<D: Door + 'static>(
    node: &Node,
    start: CrawlStart<D>,
    mut settings: Settings,
    stop: impl Future<Output = ()>,
    mut on_event: impl FnMut(&Event<'_>, &CrawlReport),
) -> Result<FinishedCrawl, Error> {
    let CrawlStart { writer, door, mut opened, pace } = start;
    let (counts, seen) = watch::channel(CrawlReport::default());
    let (current, running) = watch::channel(None);
    let (give, mut jobs) = mpsc::channel(JOBS_MAX);
    let states = StageStates::default();
    let _control = control(node, running.clone(), (give, states.clone()))?;
    let _metrics = serve(listen(node)?, seen, running, &*node.monitor).await?;
    let (door, clock) = (Arc::new(door), Arc::clone(&opened.clock));
    let mut stop = pin!(stop);
    let mut finished = FinishedCrawl { report: CrawlReport::default(), remains: Remains::default() };
    loop {
        let (orders, receiver) = mpsc::channel(ORDERS_MAX);
        current.send_replace(Some(orders));
        let (mut job, before, pages_max) = (None, finished.report, settings.pages_max);
        let (followers, mut is_stopped) = (Followers::start(node, &writer, states.clone()), false);
        let interrupted = async {
            tokio::select! {
                () = &mut stop => is_stopped = true,
                next = jobs.recv() => job = next,
            }
        };
        let heard = |event: Event<'_>, report: &CrawlReport| {
            finished.report = sum(&before, report);
            counts.send_replace(finished.report);
            if let Event::Ended(left) = &event {
                let seeds = std::mem::take(&mut finished.remains.seeds);
                finished.remains = (*left).clone();
                if finished.remains.seeds.is_empty() {
                    finished.remains.seeds = seeds;
                }
            }
            steer(&states, &event);
            on_event(&event, &finished.report);
            tell_jump(node, &clock);
        };
        let parts = parts(&door, opened, &clock, receiver);
        let report = ::crawl::crawl(parts, settings.clone(), interrupted, heard).await;
        let report = report.map_err(|source| Error::Schedule { action: "continue crawling", source })?;
        finished.report = sum(&before, &report);
        current.send_replace(None);
        // A job needs every stage closed, as it needs the archive to itself.
        if is_stopped || job.is_some() {
            states.stop();
        }
        let closing = tokio::task::spawn_blocking(move || followers.finish());
        let mut closing = pin!(async move { closing.await.expect("closing stages does not panic") });
        let Some(job) = job else {
            if !is_stopped {
                tokio::select! {
                    () = &mut closing => return Ok(finished),
                    () = &mut stop => states.stop(),
                }
            }
            closing.await;
            return Ok(finished);
        };
        closing.await;
        let stopping = Arc::new(AtomicBool::new(false));
        let mut working = pin!(job.run(node.clone(), Arc::clone(&writer), Arc::clone(&stopping)));
        tokio::select! {
            () = &mut working => {}
            () = &mut stop => {
                stopping.store(true, Ordering::Relaxed);
                working.await;
                return Ok(finished);
            }
        }
        opened = node.open_schedule(&writer, pace)?;
        settings.seeds.clear();
        settings.pages_max = pages_max.map(|most| most.saturating_sub(report.pages));
    }
}

fn parts<D>(
    door: &Arc<D>,
    opened: OpenSchedule,
    clock: &Arc<CrawlClock>,
    orders: mpsc::Receiver<Order>,
) -> Parts<D> {
    Parts {
        door: Arc::clone(door),
        archive: opened.archive,
        reader: opened.reader,
        derived: opened.derived,
        frontier: opened.frontier,
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        orders,
    }
}

/// Captures that are durable wake the stages, and they leave a full disk alone.
fn steer(states: &StageStates, event: &Event<'_>) {
    match event {
        Event::Kept(_) => states.wake(),
        Event::Full(_) => states.pause(),
        Event::Room => states.resume(),
        Event::Ended(_) => {}
    }
}

fn tell_jump(node: &Node, clock: &CrawlClock) {
    if let Some(Strayed { clock, wall }) = clock.strayed() {
        node.monitor.notice(&Notice::ClockJumped { clock, wall });
    }
}

/// The report of a crawl that was interrupted and continued. Current values are those of the later part.
fn sum(before: &CrawlReport, after: &CrawlReport) -> CrawlReport {
    CrawlReport {
        requests: before.requests + after.requests,
        unanswered: before.unanswered + after.unanswered,
        cut_off: before.cut_off + after.cut_off,
        robots: before.robots + after.robots,
        pages: before.pages + after.pages,
        new: before.new + after.new,
        duplicates: before.duplicates + after.duplicates,
        changed: before.changed + after.changed,
        unchanged: before.unchanged + after.unchanged,
        moved: before.moved + after.moved,
        gone: before.gone + after.gone,
        failed: before.failed + after.failed,
        requisites: before.requisites + after.requisites,
        requisites_missing: before.requisites_missing + after.requisites_missing,
        refused: before.refused + after.refused,
        unreachable: before.unreachable + after.unreachable,
        bytes_received: before.bytes_received + after.bytes_received,
        bytes_written: before.bytes_written + after.bytes_written,
        lost: before.lost + after.lost,
        full: before.full.max(after.full),
        ..*after
    }
}

/// Where metrics are served, if anywhere. An address that other machines can reach must be allowed.
pub fn listen(node: &Node) -> Result<Option<SocketAddr>, Error> {
    let metrics = &node.config.metrics;
    match metrics.listen {
        Some(listen) if !listen.ip().is_loopback() && !metrics.is_public => {
            Err(Error::MetricsExposed { listen })
        }
        listen => Ok(listen),
    }
}

fn control(
    node: &Node,
    running: Running,
    (jobs, states): (mpsc::Sender<Job>, StageStates),
) -> Result<ControlServer, Error> {
    let reader = Node { monitor: Arc::new(Silent), ..node.clone() };
    let handler = move |request: ControlRequest, lines: ControlLines| {
        answer(reader.clone(), running.clone(), (jobs.clone(), states.clone()), request, lines)
    };
    let control = ControlServer::serve(&node.data, handler);
    control.map_err(Error::io("create the control socket in", &node.data))
}

async fn answer(
    node: Node,
    running: Running,
    (jobs, states): (mpsc::Sender<Job>, StageStates),
    request: ControlRequest,
    lines: ControlLines,
) -> ControlAnswer {
    let orders = running.borrow().clone();
    match (request, orders) {
        (request, _) if request.is_long() => jobs::give(&jobs, request, lines).await,
        (ControlRequest::Stages {}, _) => {
            let look = tokio::task::spawn_blocking(move || stages::views(&node, Some(&states)));
            let views = look.await.expect("looking at stages does not panic");
            orders::objects(views.map_err(|error| error.with_causes())?)
        }
        (request, Some(orders)) => orders::answer(orders, request).await,
        (request, None) if request.is_question() => {
            let view = View::open(&node).map_err(|error| error.to_string())?;
            view.ask(request).await.map_err(|error| error.to_string())
        }
        (_, None) => Err("an import or a takedown is running; try again when it has ended".to_owned()),
    }
}

async fn serve(
    listen: Option<SocketAddr>,
    seen: watch::Receiver<CrawlReport>,
    running: Running,
    monitor: &dyn Monitor,
) -> Result<Option<MetricsServer>, Error> {
    let Some(listen) = listen else { return Ok(None) };
    let clock = RealClock::start();
    let tell = move || {
        let report = *seen.borrow();
        scrape(report, running.borrow().clone(), clock.real_elapsed())
    };
    let serving = MetricsServer::start(listen, tell).await;
    let serving = serving.map_err(|source| Error::MetricsListen { listen, source })?;
    monitor.notice(&Notice::MetricsServed(serving.address));
    Ok(Some(serving))
}

/// The current counts. Those of the schedule are left out if the crawl is too busy to answer.
async fn scrape(report: CrawlReport, orders: Option<mpsc::Sender<Order>>, up: Duration) -> String {
    let ask = async {
        let (sender, answer) = oneshot::channel();
        orders?.send(Order::Overview(sender)).await.ok()?;
        answer.await.ok()
    };
    let whole = timeout(SCHEDULE_TIME_MAX, ask).await.ok().flatten().map(ScheduleView::from);
    exposition(&report, whole.as_ref(), up.as_secs_f64())
}
