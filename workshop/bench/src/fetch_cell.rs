//! Our door and our archive in this process: `bench fetch-cell`.
//!
//! One task per server requests its pages in sequence over the door's kept connection, like a crawler, and passes every
//! capture to the archive; all in one thread. There is no pause between requests.

use crate::fetch_pages;
use crate::warc_pages::cannot;
use anyhow::{Context, Result};
use archive::{Archive, Settings};
use base::clock::{Clock as _, RealClock};
use base::disk::RealDisk;
use base::door::{Door as _, Request};
use base::{Capture, PageUrl};
use fetch::{AddressRange, WebDoor};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use tokio::task::LocalSet;
use warc::{Compression, Level, ZstdLevel};

/// The arguments of our side and of the bare loop.
#[derive(Debug, clap::Args)]
pub(crate) struct CellArgs {
    /// The list of pages
    #[arg(long)]
    pub(crate) list: PathBuf,
    /// Where the archive is made
    #[arg(long)]
    pub(crate) directory: PathBuf,
    /// Pages between two syncs
    #[arg(long)]
    pub(crate) batch: u64,
    /// How records are compressed
    #[arg(long)]
    pub(crate) compression: Packing,
    /// Trusted certificates, in PEM
    #[arg(long)]
    pub(crate) roots: Option<PathBuf>,
}

impl CellArgs {
    /// Trusted certificates, in PEM; empty if none are given.
    pub(crate) fn roots_pem(&self) -> Result<Vec<u8>> {
        let read = |path: &PathBuf| std::fs::read(path).with_context(|| cannot("read", path));
        self.roots.as_ref().map_or_else(|| Ok(Vec::new()), read)
    }
}

/// A compression at its usual level, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Plain,
}

impl From<Packing> for Compression {
    fn from(packing: Packing) -> Self {
        match packing {
            Packing::Gzip => Self::Gzip(Level::DEFAULT),
            Packing::Zstd => Self::Zstd(ZstdLevel::DEFAULT),
            Packing::Plain => Self::Plain,
        }
    }
}

/// The archive, and its size.
struct Sink {
    archive: Archive,
    pages: u64,
    batch: u64,
}

impl Sink {
    fn take(&mut self, capture: &Capture) -> Result<()> {
        self.archive.append(capture)?;
        self.pages += 1;
        if self.pages.is_multiple_of(self.batch) {
            self.archive.commit()?;
        }
        Ok(())
    }
}

pub(crate) fn run(args: &CellArgs) -> Result<()> {
    let servers = fetch_pages::read(&args.list)?;
    let clock = RealClock::start();
    let settings = Settings { compression: args.compression.into(), ..Settings::default() };
    let (archive, _) = Archive::open(Arc::new(RealDisk), &args.directory, settings, clock.now())?;
    let sink = Rc::new(RefCell::new(Sink { archive, pages: 0, batch: args.batch }));
    let settings = fetch::Settings {
        addresses: fetch::AddressPolicy::only(vec![AddressRange::LOOPBACK]),
        extra_roots_pem: args.roots_pem()?,
        ..fetch::Settings::default()
    };
    let door = Rc::new(WebDoor::new(settings)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = LocalSet::new();
    let visits: Vec<_> = servers
        .into_iter()
        .map(|pages| {
            tasks.spawn_local(visit_all(pages, Rc::clone(&door), Arc::clone(&clock), Rc::clone(&sink)))
        })
        .collect();
    tasks.block_on(&runtime, async {
        for visit in visits {
            visit.await.context("a visitor stopped")??;
        }
        anyhow::Ok(())
    })?;
    drop(tasks);
    let sink = Rc::into_inner(sink).context("every visitor is done")?.into_inner();
    sink.archive.close()?;
    Ok(())
}

/// Visits the pages of one server, one after the other.
async fn visit_all(
    pages: Vec<PageUrl>,
    door: Rc<WebDoor>,
    clock: Arc<RealClock>,
    sink: Rc<RefCell<Sink>>,
) -> Result<()> {
    let Some(first) = pages.first() else { return Ok(()) };
    let found = door.look_up(&first.origin()).await?;
    let to = *found.addresses.first().context("an answer names an address")?;
    for url in pages {
        let (at, request) = (clock.now(), Request::get(url));
        let result = door.exchange(to, &request).await;
        let outcome = fetch::outcome(&request.url, &result);
        let capture = Capture { url: request.url, at, outcome, exchange: result.ok() };
        sink.borrow_mut().take(&capture)?;
    }
    Ok(())
}
