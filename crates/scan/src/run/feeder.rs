//! The thread that reads documents and offers them to the dispatcher, as long as there is room.

use super::{Event, HELD_BYTES_EACH, Live, Shared};
use crate::dispatch::Dispatch;
use crate::feed::{Fed, Feed};
use crate::settings::SupplyMode;
use base::disk::DiskFile;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Weak};

/// Maximum number of documents offered at once.
const OFFERED_AT_ONCE: usize = 128;

/// Reads documents and offers them, as long as there is room.
pub(super) fn feed_all(shared: &Shared<'_>, mut feed: Feed<'_>, events: &SyncSender<Event>) {
    let is_static = shared.settings.supply == SupplyMode::Static;
    let jobs = shared.settings.jobs.max(1);
    let (mut files, lanes) = (OpenFiles::default(), if is_static { 2 * jobs } else { 2 });
    loop {
        let lane = {
            let mut live = shared.lock();
            let mut has_room = |live: &Live| live.has_room(0) && files.has_room(lanes);
            while !live.is_over && !has_room(&live) {
                live = shared.wait_for_room(live);
            }
            if live.is_over {
                return;
            }
            if is_static { hungriest(&live.dispatch, &feed, jobs) } else { Some(0) }
        };
        let (mut parcels, mut unfit, mut bytes) = (Vec::new(), Vec::new(), 0);
        let at_once = if is_static { 1 } else { OFFERED_AT_ONCE };
        while let Some(lane) =
            lane.filter(|_| parcels.len() + unfit.len() < at_once && bytes < HELD_BYTES_EACH)
        {
            match feed.next(lane) {
                Ok(Some(Fed::Parcel(parcel))) => {
                    bytes += parcel.bytes();
                    files.add(&parcel.file);
                    parcels.push(parcel);
                }
                Ok(Some(Fed::Unfit(row))) => unfit.push((row, None)),
                Ok(None) => break,
                Err(error) => return shared.fail(error),
            }
        }
        let is_over = (0..jobs).all(|lane| feed.is_over(lane));
        let seat = lane.filter(|_| is_static);
        let mut live = shared.lock();
        parcels.into_iter().for_each(|parcel| live.dispatch.offer(parcel, seat));
        if !unfit.is_empty() {
            drop(live);
            if events.send(Event::Rows(unfit)).is_err() {
                return;
            }
            live = shared.lock();
        }
        if is_over {
            live.dispatch.end_feed();
        }
        shared.ring_all(&live);
        drop(live);
        if is_over {
            return;
        }
    }
}

/// Files of documents that are not settled, and those that are being read from.
#[derive(Default)]
struct OpenFiles(Vec<Weak<dyn DiskFile>>);

/// Maximum number of open files, besides two for each stretch of the list that is read; a process may have a thousand, and
/// more only if it is lucky.
const FILES_MAX: usize = 256;

impl OpenFiles {
    fn add(&mut self, file: &Arc<dyn DiskFile>) {
        if !self.0.last().is_some_and(|last| last.ptr_eq(&Arc::downgrade(file))) {
            self.0.push(Arc::downgrade(file));
        }
    }
    /// Whether another may be opened while `lanes` of them are being read from. When nothing is held, it may.
    fn has_room(&mut self, lanes: usize) -> bool {
        let most = FILES_MAX + lanes;
        if self.0.len() >= most {
            self.0.retain(|file| file.strong_count() > 0);
            // A file may come again after others.
            self.0.sort_unstable_by_key(|file| file.as_ptr().cast::<u8>());
            self.0.dedup_by(|one, other| one.ptr_eq(other));
        }
        self.0.len() < most
    }
}

/// The worker that has the least of its own part at hand, and has a part left.
fn hungriest(dispatch: &Dispatch, feed: &Feed<'_>, jobs: usize) -> Option<usize> {
    (0..jobs).filter(|seat| !feed.is_over(*seat)).min_by_key(|seat| dispatch.waiting_for(*seat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::disk::{Disk as _, Open, SimulatedDisk};
    use std::path::Path;

    #[test]
    fn files_that_take_turns_count_once_and_those_that_nobody_holds_do_not() {
        let disk = SimulatedDisk::new(1);
        let open = |name: usize| disk.open(Path::new(&format!("/{name}")), Open::CreateNew).unwrap();
        let (mut files, lanes): (OpenFiles, Vec<_>) = (OpenFiles::default(), (0..2).map(open).collect());
        for turn in 0..10 * FILES_MAX {
            assert!(files.has_room(lanes.len()), "{turn}");
            files.add(&lanes[turn % 2]);
        }
        let mut held: Vec<_> = (2..2 + FILES_MAX).map(open).collect();
        held.iter().for_each(|file| files.add(file));
        assert!(!files.has_room(lanes.len()));
        held.pop();
        assert!(files.has_room(lanes.len()));
    }
}
