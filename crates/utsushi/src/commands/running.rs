//! A crawl that runs: steered through the control socket, watched through its metrics, told of as it goes.

use super::kept::Teller;
use crate::exit::Advised;
use crate::node::control::Control;
use crate::node::life::Whole;
use crate::node::metrics::{self, Serving, exposition};
use crate::node::orders::{self, ORDERS_MAX};
use crate::output::Output;
use ::crawl::{CrawlReport, Event, Order, Parts, Remains, Settings};
use anyhow::Context as _;
use archive::{Archive, Reader};
use base::clock::{Clock, CrawlClock, RealClock, Strayed};
use base::door::Door;
use frontier::Frontier;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// How long a scrape waits for the schedule.
const SCHEDULE_TIME_MAX: Duration = Duration::from_secs(2);

/// What a crawl works with, orders aside.
pub(crate) struct Works<D> {
    pub(crate) door: D,
    pub(crate) archive: Archive,
    pub(crate) reader: Reader,
    pub(crate) derived: Option<::crawl::DerivedStage>,
    pub(crate) frontier: Frontier,
    pub(crate) clock: Arc<CrawlClock>,
    /// The data directory, where the control socket is.
    pub(crate) data: std::path::PathBuf,
    /// Where the metrics can be asked for.
    pub(crate) metrics: Option<SocketAddr>,
}

/// How a crawl ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// What it did.
    pub(crate) report: CrawlReport,
    /// What it left undone.
    pub(crate) remains: Remains,
}

/// Crawls until `stop` comes, or the settings end it.
pub(crate) async fn run<D: Door + 'static>(
    works: Works<D>,
    settings: Settings,
    stop: impl Future<Output = ()>,
    teller: &Teller<'_>,
    output: &Output,
) -> anyhow::Result<Finished> {
    let (orders, receiver) = mpsc::channel(ORDERS_MAX);
    let (counts, seen) = watch::channel(CrawlReport::default());
    let _control = control(&works.data, orders.clone())?;
    let _metrics = serve(works.metrics, seen, orders, output).await?;
    let parts = Parts {
        door: Arc::new(works.door),
        archive: works.archive,
        reader: works.reader,
        derived: works.derived,
        frontier: works.frontier,
        clock: Arc::clone(&works.clock) as Arc<dyn Clock>,
        orders: receiver,
    };
    let mut remains = Remains::default();
    let crawl = ::crawl::crawl(parts, settings, stop, |event, report| {
        counts.send_replace(*report);
        if let Event::Ended(left) = &event {
            remains = (*left).clone();
        }
        teller.tell(&event, report);
        if let Some(Strayed { clock, wall }) = works.clock.strayed() {
            output.complaint(format!(
                "the clock of this machine says {wall}; the crawl keeps its own time, {clock}"
            ));
        }
    });
    let report = crawl.await.context("cannot go on crawling")?;
    Ok(Finished { report, remains })
}

fn control(data: &Path, orders: mpsc::Sender<Order>) -> anyhow::Result<Control> {
    let control = Control::serve(data, move |request| orders::answer(orders.clone(), request));
    control.with_context(|| format!("cannot make the control socket in `{}`", data.display()))
}

async fn serve(
    listen: Option<SocketAddr>,
    seen: watch::Receiver<CrawlReport>,
    orders: mpsc::Sender<Order>,
    output: &Output,
) -> anyhow::Result<Option<Serving>> {
    let Some(listen) = listen else { return Ok(None) };
    let clock = RealClock::start();
    let tell = move || {
        let report = *seen.borrow();
        scrape(report, orders.clone(), clock.real_elapsed())
    };
    let serving = metrics::Serving::start(listen, tell).await.map_err(|error| {
        let advice = "choose another address with `--metrics`, or stop who listens there";
        Advised::new(format!("cannot listen on {listen} for metrics"), advice, error)
    })?;
    output.note(format!("metrics: http://{}/metrics", serving.address));
    Ok(Some(serving))
}

/// The counts as they are. When the crawl is too busy to tell of its schedule, that is left out.
async fn scrape(report: CrawlReport, orders: mpsc::Sender<Order>, up: Duration) -> String {
    let ask = async {
        let (sender, answer) = oneshot::channel();
        orders.send(Order::Overview(sender)).await.ok()?;
        answer.await.ok()
    };
    let whole = timeout(SCHEDULE_TIME_MAX, ask).await.ok().flatten().map(Whole::from);
    exposition(&report, whole.as_ref(), up.as_secs_f64())
}
