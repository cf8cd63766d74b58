//! A frontier over a data directory: its store opened, what it has not learned yet learned from the archive.

use crate::learn::{Learning, SETTINGS, learn_all, noted_policy};
use crate::reading::Reads;
use archive::{Reader, Target};
use base::Timestamp;
use base::disk::Disk;
use frontier::{Frontier, RevisitPolicy, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of the frontier's store in a data directory.
pub const FRONTIER: &str = "frontier";

/// Opens the store of a frontier in a data directory, which is made if it does not exist.
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

/// Makes a frontier of a store, and lets it learn what arrived in the archive since.
///
/// # Errors
/// When the archive cannot be read, or the store cannot be read or written.
pub fn open_frontier(
    store: sat::Store,
    (settings, policy): (Settings, RevisitPolicy),
    (reader, taken_down): (&Reader, Vec<Target>),
    reads: &Reads,
    now: Timestamp,
    tell: impl FnMut(&Learning),
) -> Result<(Frontier, Learning), crate::Error> {
    let before = match Frontier::policy_of(&store) {
        None => first_policy(reader)?,
        stored => stored,
    };
    let mut frontier = Frontier::open(store, settings, before.unwrap_or(policy), now)?;
    if !taken_down.is_empty() {
        frontier.exclude(Box::new(move |key| {
            let key = archive::Key::from_stored(key);
            taken_down.iter().any(|target| target.holds(&key))
        }));
    }
    let learning = learn_all(&mut frontier, reader, reads, now, tell)?;
    // Not before: what was archived earlier was planned by the policy of its time.
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
