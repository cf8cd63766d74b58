//! The schedule of a data directory, read without writing to the directory and without its lock (D1).
//!
//! Committed changes are replayed in memory, and newer captures of the archive are processed in memory too. So a reader
//! needs no permission to write, and gives the answer that the next writer would give.

use crate::control::ControlRequest;
use crate::directory::DataDirectory;
use crate::error::Error;
use crate::monitor::Notice;
use crate::node::Node;
use crate::orders;
use crate::schedule::{self, noted_seeds, unopened};
use crate::stages;
use archive::Reader;
use base::clock::{Clock as _, CrawlClock, RealClock};
use base::disk::{Disk, RealDisk};
use frontier::Frontier;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};

/// Maximum number of attempts at one question. A writer may reuse the space of records that are being read.
const ATTEMPTS_MAX: u32 = 4;

/// Processing this many captures takes seconds, each time until a writer stores the result.
const MANY_CAPTURES: u64 = 10_000;

/// A schedule as it was when it was opened.
#[derive(Debug)]
pub struct View {
    node: Node,
    schedule: Mutex<Schedule>,
}

#[derive(Debug)]
struct Schedule {
    frontier: Frontier,
    clock: Arc<CrawlClock>,
}

impl View {
    /// Reads the schedule of the data directory.
    pub fn open(node: &Node) -> Result<Self, Error> {
        Ok(Self { node: node.clone(), schedule: Mutex::new(open(node)?) })
    }

    /// Answers a question. Orders are refused.
    pub async fn ask(&self, request: ControlRequest) -> Result<Vec<Value>, Error> {
        if matches!(request, ControlRequest::Stages {}) {
            return objects(&stages::views(&self.node, None)?);
        }
        let mut schedule = self.schedule.lock().await;
        for _ in 1..ATTEMPTS_MAX {
            match answer(&mut schedule, request.clone()).await {
                Err(Error::Schedule { .. }) => *schedule = open(&self.node)?,
                answer => return answer,
            }
        }
        answer(&mut schedule, request).await
    }
}

fn objects(views: &[stages::StageView]) -> Result<Vec<Value>, Error> {
    views.iter().map(|view| serde_json::to_value(view).map_err(Error::Answer)).collect()
}

async fn answer(schedule: &mut Schedule, request: ControlRequest) -> Result<Vec<Value>, Error> {
    let (orders, mut receiver) = mpsc::channel::<::crawl::Order>(1);
    let answering = async {
        while let Some(order) = receiver.recv().await {
            order.answer(&mut schedule.frontier, schedule.clock.now())?;
        }
        Ok::<_, ::crawl::Error>(())
    };
    let (told, answered) = tokio::join!(orders::answer(orders, request), answering);
    answered.map_err(|source| Error::Schedule { action: "read the schedule", source })?;
    told.map_err(Error::Refused)
}

fn open(node: &Node) -> Result<Schedule, Error> {
    let directory = DataDirectory::open_reader(&node.data)?;
    let (disk, data): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), directory.path());
    let options = node.store_options(RealClock::start().now());
    let store = sat::Store::open_to_read(&disk, &data.join(::crawl::FRONTIER), &options);
    let store = store.map_err(|error| unopened(error.into()))?;
    // Opened after the store, so that the archive contains everything that the store has processed.
    let reader = Reader::open(disk, &directory.archive_path()).map_err(Error::archive("read the archive"))?;
    let taken_down = reader.taken_down().map_err(Error::archive("read the takedowns"))?;
    let mut settings = schedule::settings(&node.config, &directory)?;
    noted_seeds(&reader, &mut settings.scope).map_err(Error::archive("read which pages were added"))?;
    let policy = schedule::policy(&node.config, directory.format().web);
    let clock = node.clock(&directory, &reader, &store, 1)?;
    let reads = schedule::reads(&node.config, directory.format().web);
    let parts = (settings, policy);
    let (frontier, learning) =
        node.learn((store, None), (taken_down, &reader), parts, &reads, clock.now())?;
    let captures = learning.captures;
    if captures >= MANY_CAPTURES {
        node.monitor.notice(&Notice::LearnedUnkept(captures));
    }
    Ok(Schedule { frontier, clock })
}
