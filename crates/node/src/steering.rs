//! Reaches the schedule of a data directory: through the process that crawls, or directly when no process does.
//!
//! Questions need neither the lock nor permission to write: when no process answers, they are answered from disk.
//!
//! **Invariant:** both ways run the same code, so an answer does not depend on the process that gives it.

use crate::control::{self, ControlError, ControlRequest};
use crate::directory::{self, DataDirectory, DirectoryWriter, LockOwner, WebKind};
use crate::error::Error;
use crate::node::Node;
use crate::orders::{self, ORDERS_MAX};
use crate::view::View;
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

/// Commands that hold the lock only briefly; others wait for them.
const BRIEF: [&str; 4] = ["add", "remove", "pause", "resume"];
/// How often another process is tried again, and the time between two tries.
const TRIES: u32 = 50;
const TRY_PAUSE: Duration = Duration::from_millis(200);

/// A way to the schedule.
#[derive(Debug)]
pub enum Steering {
    /// Through the process that crawls.
    Remote {
        /// The data directory.
        data: PathBuf,
        /// That process.
        owner: LockOwner,
    },
    /// In this process, which holds the lock.
    Local(Box<LocalSchedule>),
    /// From disk, for questions only.
    Read(Box<View>),
}

/// A schedule that is opened for questions and orders; no page is visited.
#[derive(Debug)]
pub struct LocalSchedule {
    orders: mpsc::Sender<Order>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<CrawlReport, crawl::Error>>,
    _writer: DirectoryWriter,
}

impl Steering {
    /// Finds the way for orders. The data directory is created if there is none and `web` is given.
    pub async fn find(node: &Node, command: &str, web: Option<WebKind>) -> Result<Self, Error> {
        let mut tries = TRIES;
        while let Some(owner) = owner(node, web.is_some())? {
            let is_brief = owner.command.as_deref().is_some_and(|command| BRIEF.contains(&command));
            if !is_brief || tries == 0 {
                return Ok(Self::Remote { data: node.data.clone(), owner });
            }
            tries -= 1;
            tokio::time::sleep(TRY_PAUSE).await;
        }
        let now = RealClock::start().now();
        let writer = match web {
            Some(web) if DataDirectory::open_reader(&node.data).is_err() => node.lock(web, command, now)?,
            _ => node.lock_existing(command, now)?,
        };
        Self::local(node, writer)
    }

    /// Finds the way for questions: through the process that crawls if it can be reached, else from disk.
    pub async fn find_to_read(node: &Node) -> Result<Self, Error> {
        let crawling = owner(node, false)?.filter(LockOwner::is_crawling);
        if let Some(owner) = crawling
            && control::is_reachable(&node.data).await
        {
            return Ok(Self::Remote { data: node.data.clone(), owner });
        }
        Ok(Self::Read(Box::new(View::open(node)?)))
    }

    /// Opens the schedule of a directory that this process writes to.
    pub fn local(node: &Node, writer: DirectoryWriter) -> Result<Self, Error> {
        let opened = node.open_schedule(&writer, 1)?;
        let (orders, receiver) = mpsc::channel(ORDERS_MAX);
        let (stop, stopped) = oneshot::channel();
        let parts = Parts {
            door: Arc::new(ClosedDoor),
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
            // No page is visited.
            connections_max: 0,
            captures_max: 0,
            bytes_max: 0,
            pages_max: None,
            once: false,
        };
        let stopped = async move { drop(stopped.await) };
        let task = tokio::spawn(crawl::crawl(parts, settings, stopped, |_, _| {}));
        Ok(Self::Local(Box::new(LocalSchedule { orders, stop, task, _writer: writer })))
    }

    /// Asks a question or gives an order. An order is durable when this returns.
    pub async fn ask(&self, request: ControlRequest) -> Result<Vec<Value>, Error> {
        match self {
            Self::Remote { data, owner } => ask_there(data, owner, &request).await,
            Self::Local(here) => orders::answer(here.orders.clone(), request).await.map_err(Error::Refused),
            Self::Read(view) => view.ask(request).await,
        }
    }

    /// Asks a question whose answers have a known form.
    pub async fn ask_for<T: DeserializeOwned>(&self, request: ControlRequest) -> Result<Vec<T>, Error> {
        let objects = self.ask(request).await?;
        let read = |object| serde_json::from_value(object).map_err(Error::Answer);
        objects.into_iter().map(read).collect()
    }

    /// Requests a takedown or an import from the process that crawls. `on_object` receives each object as it arrives.
    pub async fn ask_running(
        node: &Node,
        owner: &LockOwner,
        request: &ControlRequest,
        on_object: &mut (dyn FnMut(Value) + Send),
    ) -> Result<(), Error> {
        let mut tries = TRIES;
        loop {
            match control::ask_long(&node.data, request, on_object).await {
                // It may not have opened its schedule yet.
                Err(ControlError::Deaf(_)) if tries > 0 => {
                    tries -= 1;
                    tokio::time::sleep(TRY_PAUSE).await;
                }
                Ok(()) => return Ok(()),
                Err(source) => return Err(Error::Control { owner: owner.clone(), source }),
            }
        }
    }

    /// The process that crawls the data directory now, if one does.
    pub fn crawling(node: &Node) -> Result<Option<LockOwner>, Error> {
        Ok(owner(node, true)?.filter(LockOwner::is_crawling))
    }

    /// Closes what was opened.
    pub async fn close(self) -> Result<(), Error> {
        let Self::Local(here) = self else { return Ok(()) };
        let LocalSchedule { orders, stop, task, _writer } = *here;
        drop(orders);
        // It may have ended by itself because of the disk.
        let _ = stop.send(());
        let ended = task.await.expect("a schedule neither panics nor is stopped");
        ended.map_err(|source| Error::Schedule { action: "close the schedule", source })?;
        Ok(())
    }
}

/// The process that writes to the data directory. A missing directory is fine for callers that may create it.
fn owner(node: &Node, may_be_absent: bool) -> Result<Option<LockOwner>, Error> {
    match DataDirectory::open_reader(&node.data) {
        Ok(directory) => {
            let ask = Error::io("find the process that writes to the data directory", &node.data);
            directory.owner().map_err(ask)
        }
        Err(directory::Error::Absent { .. } | directory::Error::Empty { .. }) if may_be_absent => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Asks the process that writes. One that is about to crawl gets time to open its schedule.
async fn ask_there(data: &Path, owner: &LockOwner, request: &ControlRequest) -> Result<Vec<Value>, Error> {
    // A process that has just taken the lock may not have written its command yet.
    let may_crawl = owner.is_crawling() || owner.command.is_none();
    let mut tries = if may_crawl { TRIES } else { 0 };
    loop {
        match control::ask(data, request).await {
            Err(ControlError::Deaf(_)) if tries > 0 => {
                tries -= 1;
                tokio::time::sleep(TRY_PAUSE).await;
            }
            answer => return answer.map_err(|source| Error::Control { owner: owner.clone(), source }),
        }
    }
}

/// A door that never answers.
#[derive(Debug)]
struct ClosedDoor;

impl Door for ClosedDoor {
    async fn look_up(&self, _: &Origin) -> Result<Found, Failure> {
        std::future::pending().await
    }
    async fn exchange(&self, _: SocketAddr, _: &DoorRequest) -> Result<Exchange, Failure> {
        std::future::pending().await
    }
}
