//! fjall: a log-structured merge tree, levelled.
//!
//! It cannot delete a range, so places are removed one by one, by the weak tombstones that it has for keys that are
//! written once. Commits have durability `SyncData`.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use ::fjall::config::{BlockSizePolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry};
use ::fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use anyhow::{Context, Result};
use workload::Workload;

use crate::store::{Change, Offer, Place, Record, Register, Store, steady_state, stored};

/// Records are read in order, many at once: larger blocks than for single ones.
const RECORD_BLOCK_BYTES: u32 = 32 << 10;
const KEY_BLOCK_BYTES: u32 = 4 << 10;

/// The parts of the budget that the cache and a memtable take.
///
/// Five memtables may be waiting, and each takes about twice what it counts. With larger ones it outgrows budget and
/// allowance together and is killed.
const CACHE_PART: u64 = 4;
const MEMTABLE_PART: u64 = 24;

/// Threads that flush and compact. With fewer, memtables wait for compactions to end.
const WORKERS: usize = 4;

/// How long no compaction must have been seen before there is none left to do.
const QUIET: Duration = Duration::from_millis(50);

pub(crate) struct Fjall {
    database: Database,
    keyspace: Keyspace,
}

impl Fjall {
    /// For records that are only ever read in order: no filters.
    pub(crate) fn open(directory: &Path, budget_bytes: u64) -> Result<Self> {
        let options = KeyspaceCreateOptions::default()
            .data_block_size_policy(BlockSizePolicy::all(RECORD_BLOCK_BYTES))
            .filter_policy(FilterPolicy::all(FilterPolicyEntry::None));
        Self::open_with(directory, budget_bytes, options)
    }

    /// For keys that are looked for one by one.
    pub(crate) fn open_register(directory: &Path, budget_bytes: u64) -> Result<Self> {
        let options =
            KeyspaceCreateOptions::default().data_block_size_policy(BlockSizePolicy::all(KEY_BLOCK_BYTES));
        Self::open_with(directory, budget_bytes, options)
    }

    fn open_with(directory: &Path, budget_bytes: u64, options: KeyspaceCreateOptions) -> Result<Self> {
        let database =
            Database::builder(directory).cache_size(budget_bytes / CACHE_PART).worker_threads(WORKERS).open();
        let database = database.with_context(|| format!("cannot open fjall in `{}`", directory.display()))?;
        let options = options
            .max_memtable_size(budget_bytes / MEMTABLE_PART)
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::None));
        let keyspace = database.keyspace("records", || options)?;
        Ok(Self { database, keyspace })
    }

    /// Flushes what is in memory and waits until nothing is compacted any more.
    fn settle(&self) -> Result<()> {
        self.keyspace.rotate_memtable_and_wait()?;
        loop {
            let before = self.database.compactions_completed();
            std::thread::sleep(QUIET);
            let busy = self.database.active_compactions() > 0 || self.database.outstanding_flushes() > 0;
            if !busy && self.database.compactions_completed() == before {
                return Ok(self.database.persist(PersistMode::SyncAll)?);
            }
        }
    }
}

impl Store for Fjall {
    fn load(&mut self, workload: &Workload) -> Result<()> {
        let mut ingestion = self.keyspace.start_ingestion()?;
        for (place, record) in steady_state(workload) {
            ingestion.write(place.bytes(), record)?;
        }
        ingestion.finish()?;
        self.settle()
    }

    fn read(&mut self, range: Range<Place>, count_max: usize, into: &mut Vec<(Place, Record)>) -> Result<()> {
        for entry in self.keyspace.range(range.start.bytes()..range.end.bytes()).take(count_max) {
            let (place, record) = entry.into_inner()?;
            into.push((Place::from_bytes(&place)?, stored(&record)?));
        }
        Ok(())
    }

    fn commit(&mut self, change: &Change<'_>) -> Result<()> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for place in change.gone_one_by_one {
            batch.remove_weak(&self.keyspace, place.bytes());
        }
        for (place, record) in change.put {
            batch.insert(&self.keyspace, place.bytes(), *record);
        }
        Ok(batch.commit()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.settle()
    }
}

impl Register for Fjall {
    fn offer(&mut self, offers: &[Offer], new: &mut Vec<bool>) -> Result<()> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for (key, number) in offers {
            let known = self.keyspace.contains_key(key)?;
            new.push(!known);
            if !known {
                batch.insert(&self.keyspace, *key, number.to_le_bytes());
            }
        }
        Ok(batch.commit()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.settle()
    }
}
