//! Speaking to the schedule of a data directory: to the process that crawls, or, when nobody does, to the directory itself.
//!
//! Questions need neither the lock nor permission to write: when no process answers, what is on disk is read.
//!
//! **Invariant:** either way the same orders are obeyed by the same code, so an answer does not depend on who gives it.

use super::control::{self, Request, Unreached};
use super::directory::{self, Directory, Owner, Web, Writer};
use super::orders::{self, ORDERS_MAX};
use super::view::View;
use crate::commands::Context;
use crate::exit::Advised;
use anyhow::Context as _;
use base::clock::{Clock as _, RealClock};
use base::door::{Door, Exchange, Failure, Found, Request as DoorRequest};
use base::url::Origin;
use crawl::{CrawlReport, Order, Parts};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Commands that hold the lock for a moment; they are waited for.
const BRIEF: [&str; 4] = ["add", "remove", "pause", "resume"];
/// How often, and with what pause, somebody is waited for.
const TRIES: u32 = 50;
const TRY_PAUSE: Duration = Duration::from_millis(200);

/// A way to the schedule.
#[derive(Debug)]
pub(crate) enum Steering {
    /// To the process that crawls.
    There { data: PathBuf, owner: Owner },
    /// In this process, which holds the lock.
    Here(Box<Here>),
    /// From what is on disk, for questions only.
    Read(Box<View>),
}

/// A schedule that is opened for questions and orders; nobody is visited.
#[derive(Debug)]
pub(crate) struct Here {
    orders: mpsc::Sender<Order>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<CrawlReport, crawl::Error>>,
    _writer: Writer,
}

impl Steering {
    /// Finds the way. The data directory is made if there is none and `web` is given.
    pub(crate) async fn find(context: &Context, command: &str, web: Option<Web>) -> anyhow::Result<Self> {
        let mut tries = TRIES;
        while let Some(owner) = owner(context, web.is_some())? {
            let is_brief = owner.command.as_deref().is_some_and(|command| BRIEF.contains(&command));
            if !is_brief || tries == 0 {
                return Ok(Self::There { data: context.data.clone(), owner });
            }
            tries -= 1;
            tokio::time::sleep(TRY_PAUSE).await;
        }
        let now = RealClock::start().now();
        let writer = match web {
            Some(web) if Directory::open_reader(&context.data).is_err() => context.lock(web, command, now)?,
            _ => context.lock_existing(command, now)?,
        };
        Self::here(context, writer)
    }

    /// Finds the way for questions: to the process that crawls if it can be reached, else to what is on disk.
    pub(crate) async fn find_to_read(context: &Context) -> anyhow::Result<Self> {
        let crawling = owner(context, false)?.filter(Owner::is_crawling);
        if let Some(owner) = crawling
            && control::is_reachable(&context.data).await
        {
            return Ok(Self::There { data: context.data.clone(), owner });
        }
        Ok(Self::Read(Box::new(View::open(context)?)))
    }

    /// Opens the schedule of a directory that this process writes to.
    pub(crate) fn here(context: &Context, writer: Writer) -> anyhow::Result<Self> {
        let opened = context.open_schedule(&writer, 1)?;
        let (orders, receiver) = mpsc::channel(ORDERS_MAX);
        let (stop, stopped) = oneshot::channel();
        let parts = Parts {
            door: Arc::new(Shut),
            archive: opened.archive,
            reader: opened.reader,
            derived: opened.derived,
            frontier: opened.frontier,
            clock: opened.clock,
            orders: receiver,
        };
        let settings = crawl::Settings {
            reads: opened.reads,
            seeds: Vec::new(),
            // Nobody is visited.
            connections_max: 0,
            captures_max: 0,
            bytes_max: 0,
            pages_max: None,
            once: false,
        };
        let stopped = async move { drop(stopped.await) };
        let task = tokio::spawn(crawl::crawl(parts, settings, stopped, |_, _| {}));
        Ok(Self::Here(Box::new(Here { orders, stop, task, _writer: writer })))
    }

    /// Puts a question, or gives an order; it is durable when the answer is there.
    pub(crate) async fn ask(&self, request: Request) -> anyhow::Result<Vec<Value>> {
        match self {
            Self::There { data, owner } => ask_there(data, owner, &request).await,
            Self::Here(here) => orders::answer(here.orders.clone(), request)
                .await
                .map_err(|why| anyhow::anyhow!("cannot do it: {why}")),
            Self::Read(view) => view.ask(request).await,
        }
    }

    /// Puts a question whose answer has a form.
    pub(crate) async fn ask_for<T: DeserializeOwned>(&self, request: Request) -> anyhow::Result<Vec<T>> {
        let objects = self.ask(request).await?;
        let read = |object| serde_json::from_value(object).context("cannot understand the answer");
        objects.into_iter().map(read).collect()
    }

    /// Closes what was opened; an error if it could not be closed in order.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        let Self::Here(here) = self else { return Ok(()) };
        let Here { orders, stop, task, _writer } = *here;
        drop(orders);
        // It may have ended by itself, for want of a disk.
        let _ = stop.send(());
        task.await.context("cannot close the schedule")?.context("cannot close the schedule")?;
        Ok(())
    }
}

/// Who writes to the data directory. That there is none is no obstacle for who may make it.
fn owner(context: &Context, may_be_absent: bool) -> anyhow::Result<Option<Owner>> {
    match Directory::open_reader(&context.data) {
        Ok(directory) => directory.owner().context("cannot ask who writes to the data directory"),
        Err(directory::Error::Absent { .. } | directory::Error::Empty { .. }) if may_be_absent => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Asks the process that writes. One that is about to crawl is given time to open its schedule.
async fn ask_there(data: &Path, owner: &Owner, request: &Request) -> anyhow::Result<Vec<Value>> {
    // Who has just taken the lock may not have said yet what for.
    let may_crawl = owner.is_crawling() || owner.command.is_none();
    let mut tries = if may_crawl { TRIES } else { 0 };
    loop {
        match control::ask(data, request).await {
            Err(Unreached::Deaf(_)) if tries > 0 => {
                tries -= 1;
                tokio::time::sleep(TRY_PAUSE).await;
            }
            answer => return answer.map_err(|error| unreached(error, owner).into()),
        }
    }
}

fn unreached(error: Unreached, owner: &Owner) -> Advised {
    let advice = match error {
        Unreached::Deaf(_) => owner.advice(),
        Unreached::Lost(_) => "ask again in a moment; if that does not help, look at its log".to_owned(),
        Unreached::CouldNot(_) => "mend that, and try again".to_owned(),
    };
    Advised::new(format!("cannot ask {owner}"), advice, error)
}

/// A door that leads nowhere.
#[derive(Debug)]
struct Shut;

impl Door for Shut {
    async fn look_up(&self, _: &Origin) -> Result<Found, Failure> {
        std::future::pending().await
    }
    async fn exchange(&self, _: SocketAddr, _: &DoorRequest) -> Result<Exchange, Failure> {
        std::future::pending().await
    }
}
