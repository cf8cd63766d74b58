//! The schedule of a data directory, read without writing to the directory and without its lock (D1).
//!
//! What was committed is replayed in memory, and what the archive holds beyond that is learned there too. So a reader
//! needs no permission to write, and an answer is the one that the next writer would give.

use super::control::Request;
use super::directory::Directory;
use super::orders;
use super::schedule::{self, noted_seeds, unopened};
use crate::commands::Context;
use crate::words::count_of;
use anyhow::Context as _;
use archive::Reader;
use base::clock::{Clock as _, CrawlClock, RealClock};
use base::disk::{Disk, RealDisk};
use frontier::Frontier;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};

/// How often a question is asked again because a writer reused the space of records that were to be read.
const ATTEMPTS_MAX: u32 = 4;

/// Learning from so many captures takes seconds, every time until a writer keeps what was learned.
const MANY_CAPTURES: u64 = 10_000;

/// A schedule as of the moment when it was opened.
#[derive(Debug)]
pub(crate) struct View {
    context: Context,
    schedule: Mutex<Schedule>,
}

#[derive(Debug)]
struct Schedule {
    frontier: Frontier,
    clock: Arc<CrawlClock>,
}

impl View {
    /// Reads the schedule of the data directory.
    pub(crate) fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self { context: context.clone(), schedule: Mutex::new(open(context)?) })
    }

    /// Answers a question. Whatever would change something is refused.
    pub(crate) async fn ask(&self, request: Request) -> anyhow::Result<Vec<Value>> {
        let mut schedule = self.schedule.lock().await;
        for _ in 1..ATTEMPTS_MAX {
            match answer(&mut schedule, request.clone()).await {
                Err(error) if error.is::<::crawl::Error>() => *schedule = open(&self.context)?,
                answer => return answer,
            }
        }
        answer(&mut schedule, request).await
    }
}

async fn answer(schedule: &mut Schedule, request: Request) -> anyhow::Result<Vec<Value>> {
    let (orders, mut receiver) = mpsc::channel::<::crawl::Order>(1);
    let answering = async {
        while let Some(order) = receiver.recv().await {
            order.answer(&mut schedule.frontier, schedule.clock.now())?;
        }
        Ok::<_, ::crawl::Error>(())
    };
    let (told, answered) = tokio::join!(orders::answer(orders, request), answering);
    answered?;
    told.map_err(|why| anyhow::anyhow!("cannot do it: {why}"))
}

fn open(context: &Context) -> anyhow::Result<Schedule> {
    let directory = Directory::open_reader(&context.data)?;
    let (disk, data): (Arc<dyn Disk>, _) = (Arc::new(RealDisk), directory.path());
    let options = context.store_options(RealClock::start().now());
    let store = sat::Store::open_to_read(&disk, &data.join(::crawl::FRONTIER), &options);
    let store = store.map_err(|error| unopened(error.into()))?;
    // After the store: so the archive holds everything that the store has learned from.
    let reader = Reader::open(disk, &directory.archive_path()).context("cannot read the archive")?;
    let taken_down = reader.taken_down().context("cannot read what was taken down")?;
    let mut settings = schedule::settings(&context.config, &directory)?;
    noted_seeds(&reader, &mut settings.scope).context("cannot read which pages were added")?;
    let policy = schedule::policy(&context.config, directory.format().web);
    let clock = context.clock(&directory, &reader, &store, 1)?;
    let reads = schedule::reads(&context.config, directory.format().web);
    let parts = (settings, policy);
    let (frontier, learning) =
        context.learn((store, None), (taken_down, &reader), parts, &reads, clock.now())?;
    let captures = learning.captures;
    if captures >= MANY_CAPTURES {
        context.output.note(format!(
            "the schedule has not learned from {} yet, which took a while; the next `utsushi crawl` keeps what they teach",
            count_of(captures, "capture")
        ));
    }
    Ok(Schedule { frontier, clock })
}
