//! Key → number: keyed fingerprints in sorted runs on disk.
//!
//! A run is a file of 4 KiB blocks:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | checksum of the rest of the block, with its place |
//! | 2 | entries |
//! | 10 | nothing |
//! | 16 each | number 4, fingerprint 12, little endian, ascending as one number |
//!
//! The first fingerprint of every block (its upper 64 bits) is in memory and in the checkpoint, so a look-up reads one
//! block. A key is identified by 96 bits of `SipHash` under the store's secret: among 10⁹ keys a new one is mistaken
//! for a known one once in about 8·10¹⁹ offers.
//!
//! **Invariant:** a key is in one run only: new keys are looked up in all runs before they are added.

use crate::checksum::{Kind, Place};
use crate::error::{Error, Result, Trying};
use crate::files::Files;
use base::disk::{AlignedBytes, BLOCK_BYTES, DiskFile, Open};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;
use std::path::PathBuf;
use std::sync::Arc;

const HEAD_BYTES: usize = 16;
const ENTRY_BYTES: usize = 16;
const BLOCK_ENTRIES: usize = (BLOCK_BYTES - HEAD_BYTES) / ENTRY_BYTES;
const WINDOW_BLOCKS: usize = 256;
/// A run is merged into the next one unless that has more than this many times its entries.
const SIZE_RATIO: u64 = 4;
/// With fewer than one key for this many blocks of a run, blocks are looked up one by one and not read through.
const LOOKUP_RATIO: usize = 16;

/// A fingerprint (upper 96 bits) with a number below it.
pub(crate) type Entry = u128;

/// An entry's fingerprint.
pub(crate) fn fingerprint_of(entry: Entry) -> u128 {
    entry >> 32
}

/// An entry's number.
#[expect(clippy::cast_possible_truncation, reason = "the lower 32 bits are the number")]
pub(crate) fn number_of(entry: Entry) -> u32 {
    entry as u32
}

/// The fingerprint of a key.
pub(crate) fn fingerprint(secret: &[u8; 16], key: &[u8]) -> u128 {
    let mut hasher = SipHasher24::new_with_key(secret);
    hasher.write(key);
    hasher.finish128().as_u128() >> 32
}

/// The sorted runs.
#[derive(Debug)]
pub(crate) struct Index {
    files: Files,
    store: u64,
    /// The oldest and largest first.
    runs: Vec<Run>,
    next_generation: u64,
}

/// One sorted run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) generation: u64,
    pub(crate) entries: u64,
    /// Upper 64 bits of the first fingerprint of each block.
    pub(crate) fences: Vec<u64>,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
}

impl Index {
    pub(crate) fn new(files: Files, store: u64) -> Self {
        Self { files, store, runs: Vec::new(), next_generation: 1 }
    }
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }
    pub(crate) fn entries(&self) -> u64 {
        self.runs.iter().map(|run| run.entries).sum()
    }
    /// Restores a run that a checkpoint names.
    pub(crate) fn restore(&mut self, generation: u64, entries: u64, fences: Vec<u64>) -> Result<()> {
        let path = self.files.index(generation);
        let file = self.files.open(&path, Open::Read)?;
        self.next_generation = self.next_generation.max(generation + 1);
        self.runs.push(Run { generation, entries, fences, file, path });
        Ok(())
    }
    /// Removes index files that belong to no run, left by a crash.
    pub(crate) fn remove_strays(&mut self) -> Result<()> {
        for path in self.files.list()? {
            let Some(generation) = Files::number_of(&path, "index-") else { continue };
            if self.runs.iter().all(|run| run.generation != generation) {
                self.files.remove(&path)?;
            }
        }
        Ok(())
    }
    /// The number of a key's fingerprint.
    pub(crate) fn find(&self, fingerprint: u128) -> Result<Option<u32>> {
        for run in self.runs.iter().rev() {
            if let Some(number) = run.find(self.store, fingerprint)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
    /// Calls `known` with index and number of each of the `wanted` fingerprints (ascending) that is there.
    pub(crate) fn find_all(&self, wanted: &[u128], mut known: impl FnMut(usize, u32)) -> Result<()> {
        for run in &self.runs {
            if wanted.len() * LOOKUP_RATIO < run.fences.len() {
                for (place, fingerprint) in wanted.iter().enumerate() {
                    if let Some(number) = run.find(self.store, *fingerprint)? {
                        known(place, number);
                    }
                }
                continue;
            }
            let mut scan = Scan::new(run, self.store);
            let mut place = 0;
            while let Some(entries) = scan.next_block()? {
                for entry in entries {
                    while place < wanted.len() && wanted[place] < fingerprint_of(*entry) {
                        place += 1;
                    }
                    if place < wanted.len() && wanted[place] == fingerprint_of(*entry) {
                        known(place, number_of(*entry));
                    }
                }
            }
        }
        Ok(())
    }
    /// What is damaged in it.
    pub(crate) fn verify(&self) -> Vec<Error> {
        let through = |run| {
            let mut scan = Scan::new(run, self.store);
            while scan.next_block()?.is_some() {}
            Ok(())
        };
        self.runs.iter().filter_map(|run| through(run).err()).collect()
    }
    /// Adds entries (ascending, none known) as a new run, merged with the runs that are not much larger. Returns the
    /// files that are not needed once a checkpoint names the new run; they and the new one are still there.
    pub(crate) fn add(&mut self, fresh: &[Entry]) -> Result<Vec<PathBuf>> {
        if fresh.is_empty() {
            return Ok(Vec::new());
        }
        let mut total = fresh.len() as u64;
        let mut keep = self.runs.len();
        while keep > 0 && self.runs[keep - 1].entries <= SIZE_RATIO * total {
            keep -= 1;
            total += self.runs[keep].entries;
        }
        let generation = self.next_generation;
        self.next_generation += 1;
        let run = self.merge(keep, fresh, generation)?;
        let merged = self.runs.split_off(keep);
        self.runs.push(run);
        Ok(merged.into_iter().map(|run| run.path).collect())
    }
    fn merge(&self, keep: usize, fresh: &[Entry], generation: u64) -> Result<Run> {
        let mut writer = RunWriter::new(&self.files, self.store, generation)?;
        let mut inputs: Vec<Input<'_>> = vec![Input::memory(fresh)];
        for run in &self.runs[keep..] {
            inputs.push(Input::run(Scan::new(run, self.store))?);
        }
        // At most a handful of inputs: the smallest is found by looking at each.
        loop {
            let next =
                inputs.iter().enumerate().filter_map(|(place, input)| Some((input.peek()?, place))).min();
            let Some((entry, place)) = next else { break };
            writer.push(entry)?;
            inputs[place].advance()?;
        }
        writer.finish()
    }
}

/// A source of ascending entries.
struct Input<'a> {
    scan: Option<Scan<'a>>,
    entries: std::borrow::Cow<'a, [Entry]>,
    place: usize,
}

impl<'a> Input<'a> {
    fn memory(entries: &'a [Entry]) -> Self {
        Self { scan: None, entries: entries.into(), place: 0 }
    }
    fn run(mut scan: Scan<'a>) -> Result<Self> {
        let entries = scan.next_block()?.unwrap_or_default().to_vec();
        Ok(Self { scan: Some(scan), entries: entries.into(), place: 0 })
    }
    fn peek(&self) -> Option<Entry> {
        self.entries.get(self.place).copied()
    }
    fn advance(&mut self) -> Result<()> {
        self.place += 1;
        if self.place == self.entries.len()
            && let Some(scan) = &mut self.scan
        {
            self.entries = scan.next_block()?.unwrap_or_default().to_vec().into();
            self.place = 0;
        }
        Ok(())
    }
}

impl Run {
    fn blocks(&self) -> usize {
        self.fences.len()
    }
    fn find(&self, store: u64, fingerprint: u128) -> Result<Option<u32>> {
        let fence = fence_of(fingerprint);
        // The block before the first with a greater fence; with equal fences also those before it.
        let mut block = self.fences.partition_point(|first| *first <= fence);
        while block > 0 {
            block -= 1;
            let mut bytes = AlignedBytes::zeroed(BLOCK_BYTES);
            let offset = (block * BLOCK_BYTES) as u64;
            self.file.read_at(offset, &mut bytes).trying("read", &self.path)?;
            let entries = self.check(store, offset, &bytes)?;
            let found = entries.binary_search_by_key(&fingerprint, |entry| fingerprint_of(*entry));
            if let Ok(place) = found {
                return Ok(Some(number_of(entries[place])));
            }
            if self.fences[block] < fence {
                break;
            }
        }
        Ok(None)
    }
    /// The entries of a block.
    fn check(&self, store: u64, offset: u64, block: &[u8]) -> Result<Vec<Entry>> {
        let place = Place { store, kind: Kind::Index, file: self.generation, offset };
        let count = usize::from(u16::from_le_bytes([block[4], block[5]]));
        if place.checksum(&[&block[4..]]).to_le_bytes() != block[0..4] || count > BLOCK_ENTRIES {
            let what = "a block of the key index fails its checksum";
            return Err(Error::Damaged { path: self.path.clone(), offset, what });
        }
        let (entries, _) = block[HEAD_BYTES..HEAD_BYTES + count * ENTRY_BYTES].as_chunks::<ENTRY_BYTES>();
        Ok(entries.iter().map(|entry| Entry::from_le_bytes(*entry)).collect())
    }
}

/// Reads a run through.
struct Scan<'a> {
    run: &'a Run,
    store: u64,
    block: usize,
    window: AlignedBytes,
    window_from: usize,
    entries: Vec<Entry>,
}

impl<'a> Scan<'a> {
    fn new(run: &'a Run, store: u64) -> Self {
        Self { run, store, block: 0, window: AlignedBytes::new(), window_from: 0, entries: Vec::new() }
    }
    fn next_block(&mut self) -> Result<Option<&[Entry]>> {
        if self.block == self.run.blocks() {
            return Ok(None);
        }
        if self.block == 0 || self.block == self.window_from + self.window.len() / BLOCK_BYTES {
            let blocks = WINDOW_BLOCKS.min(self.run.blocks() - self.block);
            self.window.resize(blocks * BLOCK_BYTES);
            let offset = (self.block * BLOCK_BYTES) as u64;
            self.run.file.read_at(offset, &mut self.window).trying("read", &self.run.path)?;
            self.window_from = self.block;
        }
        let at = (self.block - self.window_from) * BLOCK_BYTES;
        let offset = (self.block * BLOCK_BYTES) as u64;
        self.entries = self.run.check(self.store, offset, &self.window[at..at + BLOCK_BYTES])?;
        self.block += 1;
        Ok(Some(&self.entries))
    }
}

struct RunWriter {
    store: u64,
    generation: u64,
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    entries: u64,
    fences: Vec<u64>,
    block: Vec<Entry>,
    window: AlignedBytes,
    written: u64,
}

impl RunWriter {
    fn new(files: &Files, store: u64, generation: u64) -> Result<Self> {
        let path = files.index(generation);
        let file = files.open(&path, Open::CreateNew)?;
        let (block, window) = (Vec::with_capacity(BLOCK_ENTRIES), AlignedBytes::new());
        Ok(Self { store, generation, file, path, entries: 0, fences: Vec::new(), block, window, written: 0 })
    }
    fn push(&mut self, entry: Entry) -> Result<()> {
        self.block.push(entry);
        if self.block.len() == BLOCK_ENTRIES { self.end_block() } else { Ok(()) }
    }
    fn end_block(&mut self) -> Result<()> {
        let Some(first) = self.block.first() else { return Ok(()) };
        self.fences.push(fence_of(fingerprint_of(*first)));
        self.entries += self.block.len() as u64;
        let start = self.window.len();
        self.window.extend_from_slice(&[0; HEAD_BYTES]);
        for entry in &self.block {
            self.window.extend_from_slice(&entry.to_le_bytes());
        }
        self.window.resize(start + BLOCK_BYTES);
        let count = u16::try_from(self.block.len()).expect("a block has few entries");
        self.window[start + 4..start + 6].copy_from_slice(&count.to_le_bytes());
        let offset = self.written + start as u64;
        let place = Place { store: self.store, kind: Kind::Index, file: self.generation, offset };
        let sum = place.checksum(&[&self.window[start + 4..]]);
        self.window[start..start + 4].copy_from_slice(&sum.to_le_bytes());
        self.block.clear();
        if self.window.len() == WINDOW_BLOCKS * BLOCK_BYTES { self.flush() } else { Ok(()) }
    }
    fn flush(&mut self) -> Result<()> {
        self.file.write_at(self.written, &self.window).trying("write to", &self.path)?;
        self.written += self.window.len() as u64;
        self.window.clear();
        Ok(())
    }
    /// The run, durable except for its name.
    fn finish(mut self) -> Result<Run> {
        self.end_block()?;
        self.flush()?;
        self.file.sync().trying("sync", &self.path)?;
        let Self { generation, entries, fences, file, path, .. } = self;
        Ok(Run { generation, entries, fences, file, path })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the upper 64 of 96 bits")]
fn fence_of(fingerprint: u128) -> u64 {
    (fingerprint >> 32) as u64
}
