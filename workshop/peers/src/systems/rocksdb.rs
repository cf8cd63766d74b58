//! `RocksDB`: a log-structured merge tree, levelled or universal.
//!
//! It reads, flushes and compacts past the page cache, so its memory is what it is given: memtables and block cache,
//! with indexes and filters inside the cache. Its log is synced at every commit, and its log files are used again, so
//! that a sync has no file length to write.

use std::ops::Range;
use std::path::Path;

use ::rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompactionStyle, DBCompressionType, DEFAULT_COLUMN_FAMILY_NAME,
    IngestExternalFileOptions, Options, ReadOptions, SstFileWriter, WaitForCompactOptions, WriteBatch,
    WriteOptions,
};
use anyhow::{Context, Result};
use workload::Workload;

use crate::store::{Change, Offer, Place, Record, Register, Store, steady_state, stored};

/// What a reading in order reads at once.
const READ_BYTES: usize = 2 << 20;

/// What a compaction reads at once of each of its files. Much more takes three times the budget, and no less time.
const COMPACTION_READ_BYTES: usize = 256 << 10;

/// Memtables: one that is written to while another is flushed.
const MEMTABLES: u64 = 2;

/// Log files that are kept to be used again.
const LOGS_REUSED: usize = 4;

/// Records in one file that is loaded.
const LOADED_FILE_RECORDS: usize = 300_000;

/// How the tree is kept in shape.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    Levelled,
    Universal,
}

/// What is kept, and how the budget serves that best.
struct Purpose {
    block_bytes: usize,
    /// Eighths of the budget that all memtables together take; the block cache takes the rest.
    memtable_eighths: u64,
    filter_bits_per_key: Option<f64>,
}

/// Records are read in order and once: large blocks, no filters, and as large memtables as can be, since larger ones
/// mean less compaction.
const RECORDS: Purpose = Purpose { block_bytes: 32 << 10, memtable_eighths: 6, filter_bits_per_key: None };

/// Keys are looked for everywhere, and most are not there: filters and indexes need the room.
const KEYS: Purpose = Purpose { block_bytes: 4 << 10, memtable_eighths: 3, filter_bits_per_key: Some(10.0) };

pub(crate) struct RocksDb {
    database: DB,
    options: Options,
    synced: WriteOptions,
}

impl RocksDb {
    pub(crate) fn open_store(directory: &Path, budget_bytes: u64, style: Style) -> Result<Self> {
        Self::open(directory, budget_bytes, style, &RECORDS)
    }

    pub(crate) fn open_register(directory: &Path, budget_bytes: u64, style: Style) -> Result<Self> {
        Self::open(directory, budget_bytes, style, &KEYS)
    }

    fn open(directory: &Path, budget_bytes: u64, style: Style, purpose: &Purpose) -> Result<Self> {
        let options = options(budget_bytes, style, purpose)?;
        let database =
            DB::open_cf_with_opts(&options, directory, [(DEFAULT_COLUMN_FAMILY_NAME, options.clone())]);
        let database =
            database.with_context(|| format!("cannot open RocksDB in `{}`", directory.display()))?;
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        Ok(Self { database, options, synced })
    }

    /// Flushes what is in memory and waits until nothing is compacted any more.
    fn settle(&self) -> Result<()> {
        let mut options = WaitForCompactOptions::default();
        options.set_flush(true);
        Ok(self.database.wait_for_compact(&options)?)
    }
}

fn options(budget_bytes: u64, style: Style, purpose: &Purpose) -> Result<Options> {
    let memtables_bytes = budget_bytes * purpose.memtable_eighths / 8;
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_use_direct_reads(true);
    options.set_use_direct_io_for_flush_and_compaction(true);
    options.set_compaction_readahead_size(COMPACTION_READ_BYTES);
    options.set_recycle_log_file_num(LOGS_REUSED);
    options.set_write_buffer_size(usize::try_from(memtables_bytes / MEMTABLES)?);
    options.set_max_write_buffer_number(i32::try_from(MEMTABLES)?);
    options.set_compression_type(DBCompressionType::None);
    let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    options.set_max_background_jobs(i32::try_from(processors.max(2))?);
    options.set_max_subcompactions(u32::try_from(processors)?);
    options.set_compaction_style(match style {
        Style::Levelled => DBCompactionStyle::Level,
        Style::Universal => DBCompactionStyle::Universal,
    });
    let cache_bytes = usize::try_from(budget_bytes - memtables_bytes)?;
    options.set_block_based_table_factory(&tables(purpose, cache_bytes));
    Ok(options)
}

fn tables(purpose: &Purpose, cache_bytes: usize) -> BlockBasedOptions {
    let mut tables = BlockBasedOptions::default();
    tables.set_block_cache(&Cache::new_lru_cache(cache_bytes));
    tables.set_block_size(purpose.block_bytes);
    tables.set_cache_index_and_filter_blocks(true);
    tables.set_pin_l0_filter_and_index_blocks_in_cache(true);
    tables.set_format_version(6);
    if let Some(bits) = purpose.filter_bits_per_key {
        tables.set_bloom_filter(bits, false);
        tables.set_optimize_filters_for_memory(true);
    }
    tables
}

impl Store for RocksDb {
    /// Makes sorted files and hands them over, which puts them at the bottom of the tree: the best shape it can have.
    fn load(&mut self, workload: &Workload) -> Result<()> {
        let mut records = steady_state(workload).peekable();
        let directory = self.database.path().join("loaded");
        std::fs::create_dir_all(&directory).context("cannot make a directory for loading")?;
        let mut files = Vec::new();
        while records.peek().is_some() {
            let file = directory.join(files.len().to_string());
            let mut writer = SstFileWriter::create(&self.options);
            writer.open(&file)?;
            for (place, record) in records.by_ref().take(LOADED_FILE_RECORDS) {
                writer.put(place.bytes(), record)?;
            }
            writer.finish()?;
            files.push(file);
        }
        let mut move_files = IngestExternalFileOptions::default();
        move_files.set_move_files(true);
        self.database.ingest_external_file_opts(&move_files, files)?;
        std::fs::remove_dir_all(&directory).context("cannot remove the directory for loading")?;
        self.settle()
    }

    fn read(&mut self, range: Range<Place>, count_max: usize, into: &mut Vec<(Place, Record)>) -> Result<()> {
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(range.end.bytes());
        options.set_readahead_size(READ_BYTES);
        // Read once and gone: not worth a place in the cache.
        options.fill_cache(false);
        let mut entries = self.database.raw_iterator_opt(options);
        entries.seek(range.start.bytes());
        for _ in 0..count_max {
            let Some((place, record)) = entries.item() else { break };
            into.push((Place::from_bytes(place)?, stored(record)?));
            entries.next();
        }
        Ok(entries.status()?)
    }

    fn commit(&mut self, change: &Change<'_>) -> Result<()> {
        let mut batch = WriteBatch::default();
        batch.delete_range(change.gone.start.bytes(), change.gone.end.bytes());
        for (place, record) in change.put {
            batch.put(place.bytes(), record);
        }
        Ok(self.database.write_opt(batch, &self.synced)?)
    }

    fn finish(&mut self) -> Result<()> {
        self.settle()
    }
}

impl Register for RocksDb {
    fn offer(&mut self, offers: &[Offer], new: &mut Vec<bool>) -> Result<()> {
        let keys = offers.iter().map(|(key, _)| key);
        let family = self
            .database
            .cf_handle(DEFAULT_COLUMN_FAMILY_NAME)
            .context("RocksDB has no default column family")?;
        let found = self.database.batched_multi_get_cf(family, keys, true);
        let mut batch = WriteBatch::default();
        for ((key, number), found) in offers.iter().zip(found) {
            let known = found?.is_some();
            new.push(!known);
            if !known {
                batch.put(key, number.to_le_bytes());
            }
        }
        Ok(self.database.write_opt(batch, &self.synced)?)
    }

    fn finish(&mut self) -> Result<()> {
        self.settle()
    }
}
