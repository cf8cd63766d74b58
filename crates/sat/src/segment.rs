//! Space: data segments of one size, filled from front to end, freed when nothing in them is needed.
//!
//! Records due at about the same distance die together, so each class of [`crate::Resolution`] fills its own segment.
//!
//! **Invariant:** a byte that the last durable checkpoint refers to is not written again. Dead extents are *retired*
//! first; only a checkpoint that no longer names them frees them.

use crate::error::{Result, Trying};
use crate::extent::Extent;
use crate::files::Files;
use crate::resolution::CLASSES;
use base::disk::{BLOCK_BYTES, DiskFile, Open};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum number of empty segments kept for reuse; more are deleted.
const SPARE_SEGMENTS_MAX: usize = 4;

#[derive(Debug)]
struct Segment {
    file: Arc<dyn DiskFile>,
    /// Bytes of extents that are needed, retired ones included.
    used: u64,
    /// Bytes of extents that are needed.
    live: u64,
    /// Where the next run goes.
    tail: u32,
    is_filling: bool,
    /// Runs that were given room and are not written yet.
    writing: u32,
}

/// All data segments.
#[derive(Debug)]
pub(crate) struct Segments {
    files: Files,
    segment_bytes: u32,
    segments: BTreeMap<u32, Segment>,
    filling: [Option<u32>; CLASSES],
    spare: Vec<u32>,
    next: u32,
    /// Written since the last checkpoint, to be synced by the next.
    unsynced: BTreeSet<u32>,
    /// Retired since the last checkpoint was started.
    retired: Vec<(u32, u32)>,
    /// Files of segments that are gone, not removed yet.
    unneeded: Vec<PathBuf>,
}

/// Room for a run: segment, offset, and the file.
pub(crate) type Room = (u32, u32, Arc<dyn DiskFile>);

impl Segments {
    pub(crate) fn new(files: Files, segment_bytes: u32) -> Self {
        Self {
            files,
            segment_bytes,
            segments: BTreeMap::new(),
            filling: [None; CLASSES],
            spare: Vec::new(),
            next: 0,
            unsynced: BTreeSet::new(),
            retired: Vec::new(),
            unneeded: Vec::new(),
        }
    }
    /// Room for a run of at most `bytes`, in a segment of `class`.
    pub(crate) fn allocate(&mut self, class: usize, bytes: usize) -> Result<Room> {
        let bytes =
            u32::try_from(bytes.next_multiple_of(BLOCK_BYTES)).expect("a run is smaller than a segment");
        assert!(bytes <= self.segment_bytes, "a run is smaller than a segment");
        if let Some(id) = self.filling[class] {
            if self.segment_bytes - self.segments[&id].tail >= bytes {
                return Ok(self.room(id, bytes));
            }
            self.stop_filling(class);
        }
        let id = self.empty_segment()?;
        self.filling[class] = Some(id);
        Ok(self.room(id, bytes))
    }
    fn room(&mut self, id: u32, bytes: u32) -> Room {
        self.unsynced.insert(id);
        let segment = self.segments.get_mut(&id).expect("a segment that is filled exists");
        let offset = segment.tail;
        segment.tail += bytes;
        segment.writing += 1;
        (id, offset, Arc::clone(&segment.file))
    }
    fn stop_filling(&mut self, class: usize) {
        if let Some(id) = self.filling[class].take() {
            self.segments.get_mut(&id).expect("a segment that is filled exists").is_filling = false;
        }
    }
    fn empty_segment(&mut self) -> Result<u32> {
        if let Some(id) = self.spare.pop() {
            let segment = self.segments.get_mut(&id).expect("a spare segment exists");
            (segment.tail, segment.is_filling) = (0, true);
            return Ok(id);
        }
        let id = self.next;
        let path = self.files.segment(id);
        let file = self.files.open(&path, Open::CreateNew)?;
        self.next += 1;
        file.allocate(self.segment_bytes.into()).trying("reserve room for", &path)?;
        self.segments.insert(id, Segment { file, used: 0, live: 0, tail: 0, is_filling: true, writing: 0 });
        Ok(id)
    }
    /// Notes a run that was written to `id`, with its extents.
    pub(crate) fn note_written<'a>(&mut self, id: u32, extents: impl Iterator<Item = &'a Extent>) {
        let segment = self.segments.get_mut(&id).expect("it was given room there");
        segment.writing -= 1;
        let bytes = extents.map(|extent| extent.bytes() as u64).sum::<u64>();
        segment.used += bytes;
        segment.live += bytes;
    }
    /// Notes that an extent is no longer needed, effective with the next checkpoint.
    pub(crate) fn retire(&mut self, extent: &Extent) {
        let segment = self.segments.get_mut(&extent.segment).expect("it was written there");
        segment.live -= extent.bytes() as u64;
        self.retired.push((extent.segment, u32::try_from(extent.bytes()).expect("smaller than a segment")));
    }
    /// What was retired up to now, for the checkpoint that is started now.
    pub(crate) fn take_retired(&mut self) -> Vec<(u32, u32)> {
        std::mem::take(&mut self.retired)
    }
    /// What was written up to now, for the checkpoint that is started now.
    pub(crate) fn take_unsynced(&mut self) -> Vec<Arc<dyn DiskFile>> {
        let ids = std::mem::take(&mut self.unsynced);
        ids.iter().filter_map(|id| Some(Arc::clone(&self.segments.get(id)?.file))).collect()
    }
    /// Frees the space of `retired`, which no durable checkpoint names. Empty segments become spare or are deleted.
    pub(crate) fn release(&mut self, retired: &[(u32, u32)]) {
        for (id, bytes) in retired {
            let segment = self.segments.get_mut(id).expect("it was written there");
            segment.used -= u64::from(*bytes);
        }
        let is_empty = |segment: &Segment| segment.used == 0 && segment.writing == 0 && !segment.is_filling;
        let empty: Vec<u32> = self
            .segments
            .iter()
            .filter(|(id, segment)| is_empty(segment) && !self.spare.contains(id))
            .map(|(id, _)| *id)
            .collect();
        empty.into_iter().for_each(|id| self.give_back(id));
    }
    fn give_back(&mut self, id: u32) {
        if self.spare.len() < SPARE_SEGMENTS_MAX {
            self.spare.push(id);
            return;
        }
        self.segments.remove(&id);
        self.unsynced.remove(&id);
        self.unneeded.push(self.files.segment(id));
    }
    /// Files of segments that are gone, to be removed.
    pub(crate) fn take_unneeded(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.unneeded)
    }
    pub(crate) fn file(&self, id: u32) -> &Arc<dyn DiskFile> {
        &self.segments[&id].file
    }
    /// The segment with the fewest needed bytes, if less than half of it is and more than half of all space is wasted:
    /// the next to clean. A segment that waits to be released needs no cleaning.
    pub(crate) fn emptiest(&self) -> Option<u32> {
        let is_kept =
            |id: &u32, segment: &Segment| !segment.is_filling && segment.live > 0 && !self.spare.contains(id);
        let kept = || self.segments.iter().filter(|(id, segment)| is_kept(id, segment));
        let live: u64 = kept().map(|(_, segment)| segment.live).sum();
        let total = kept().count() as u64 * u64::from(self.segment_bytes);
        let wasted = total > 2 * live + 4 * u64::from(self.segment_bytes);
        let (id, segment) = kept().min_by_key(|(_, segment)| segment.live)?;
        (wasted && segment.live * 2 < u64::from(self.segment_bytes)).then_some(*id)
    }
    /// Bytes of files, and bytes in them that are needed.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let used = self.segments.values().map(|segment| segment.live).sum();
        (self.segments.len() as u64 * u64::from(self.segment_bytes), used)
    }
    /// Restores the files of a store: those that `extents` need are closed to further writes, the others are emptied.
    pub(crate) fn restore(&mut self, extents: &[Extent]) -> Result<()> {
        for path in self.files.list()? {
            let Some(id) = Files::number_of(&path, "data-").and_then(|id| u32::try_from(id).ok()) else {
                continue;
            };
            let file = self.files.open(&path, Open::Write)?;
            self.next = self.next.max(id + 1);
            self.segments.insert(
                id,
                Segment { file, used: 0, live: 0, tail: self.segment_bytes, is_filling: false, writing: 0 },
            );
        }
        for extent in extents {
            let path = self.files.segment(extent.segment);
            let Some(segment) = self.segments.get_mut(&extent.segment) else {
                return Err(crate::Error::NotAStore {
                    path,
                    what: "a data file that the checkpoint needs is missing",
                });
            };
            segment.used += extent.bytes() as u64;
            segment.live += extent.bytes() as u64;
        }
        let empty: Vec<u32> =
            self.segments.iter().filter(|(_, segment)| segment.used == 0).map(|(id, _)| *id).collect();
        for id in empty {
            let path = self.files.segment(id);
            // A crash may leave a file without its allocated room; it is removed.
            let length = self.segments[&id].file.length().trying("measure", &path)?;
            if length == u64::from(self.segment_bytes) && self.spare.len() < SPARE_SEGMENTS_MAX {
                self.spare.push(id);
            } else {
                self.segments.remove(&id);
                self.files.remove(&path)?;
            }
        }
        Ok(())
    }
}
