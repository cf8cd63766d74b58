//! A frontier over a data directory: opens its store, and lets it catch up with the archive.

use crate::derived_stage::DerivedStage;
use crate::findings::ReadOptions;
use crate::frontier_stage::exclude;
use crate::learn::{Learning, learn_all};
use crate::note::{SETTINGS, noted_policy};
use archive::{Reader, Target};
use base::Timestamp;
use base::disk::Disk;
use frontier::{Frontier, RevisitPolicy, Settings};
use stage::Progress;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of the frontier's store in a data directory.
pub const FRONTIER: &str = "frontier";

/// Opens the store of a frontier in a data directory, and creates it if it does not exist.
///
/// # Errors
/// When it cannot be read or written.
pub fn open_store(
    disk: Arc<dyn Disk>,
    data: &Path,
    pool_bytes: usize,
    now: Timestamp,
) -> Result<sat::Store, crate::Error> {
    let mut options = frontier::store_options(now);
    options.pool_bytes = pool_bytes;
    Ok(sat::Store::open(disk, &path(data), options)?)
}

/// Where the store of a frontier is.
#[must_use]
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join(FRONTIER)
}

/// What a frontier catches up with, and how.
#[derive(Debug)]
pub struct CatchUp<'a> {
    /// The archive.
    pub reader: &'a Reader,
    /// The derived table, if it is to catch up in the same run.
    pub derived: Option<&'a mut DerivedStage>,
    /// How bodies are read.
    pub options: &'a ReadOptions,
    /// The moment of the commits.
    pub now: Timestamp,
}

/// Opens a frontier over a store, and lets it, and the derived table if there is one, process what arrived in the archive
/// since.
///
/// # Errors
/// When the archive cannot be read, or the store cannot be read or written.
pub fn open_frontier(
    store: sat::Store,
    (settings, policy): (Settings, RevisitPolicy),
    taken_down: Vec<Target>,
    CatchUp { reader, derived, options, now }: CatchUp<'_>,
    tell: impl FnMut(&Progress),
) -> Result<(Frontier, Learning), crate::Error> {
    let before = match Frontier::policy_of(&store) {
        None => first_policy(reader)?,
        stored => stored,
    };
    let mut frontier = Frontier::open(store, settings, before.unwrap_or(policy), now)?;
    exclude(&mut frontier, taken_down);
    let learning = learn_all(&mut frontier, derived, reader, options, now, tell)?;
    // Only now: earlier captures were planned by the policy of their time.
    frontier.set_policy(policy)?;
    Ok((frontier, learning))
}

/// The policy with which a crawl began, by the first note of its settings.
fn first_policy(reader: &Reader) -> Result<Option<RevisitPolicy>, crate::Error> {
    let mut first = None;
    for entry in reader.newest_first(&archive::Key::of(&format!("urn:utsushi:note:{SETTINGS}")))? {
        let note = match reader.note(&entry?) {
            // A damaged note says nothing.
            Err(archive::Error::Damaged { .. }) => continue,
            note => note?,
        };
        if let Some((_, text)) = note {
            first = noted_policy(&text);
        }
    }
    Ok(first)
}
