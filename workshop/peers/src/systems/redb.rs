//! redb: a B-tree in one file, copied on write, with a cache of its own.
//!
//! Commits have durability `Immediate`, its default. What its cache does not hold it reads through the page cache, so
//! it runs in a control group too.

use std::ops::Range;
use std::path::Path;

use ::redb::{Database, Durability, ReadableDatabase, TableDefinition};
use anyhow::{Context, Result};
use workload::{Offers, Workload};

use crate::store::{Change, Offer, Place, RECORD_BYTES, Record, Register, Store, steady_state_in_parts};

/// Records that are loaded in one transaction.
const LOADED_AT_ONCE: usize = 500_000;

const RECORDS: TableDefinition<'_, u64, &[u8; RECORD_BYTES]> = TableDefinition::new("records");
const KEYS: TableDefinition<'_, &[u8; Offers::KEY_BYTES], u32> = TableDefinition::new("keys");

pub(crate) struct Redb {
    database: Database,
}

impl Redb {
    pub(crate) fn open(directory: &Path, budget_bytes: u64) -> Result<Self> {
        let cache_bytes = usize::try_from(budget_bytes)?;
        let database = Database::builder().set_cache_size(cache_bytes).create(directory.join("redb"));
        Ok(Self {
            database: database.with_context(|| format!("cannot open redb in `{}`", directory.display()))?,
        })
    }
}

impl Store for Redb {
    fn load(&mut self, workload: &Workload) -> Result<()> {
        let mut records = steady_state_in_parts(workload).peekable();
        while records.peek().is_some() {
            let transaction = self.database.begin_write()?;
            let mut table = transaction.open_table(RECORDS)?;
            for (place, record) in records.by_ref().take(LOADED_AT_ONCE) {
                table.insert(place.0, &record)?;
            }
            drop(table);
            transaction.commit()?;
        }
        Ok(())
    }

    fn read(&mut self, range: Range<Place>, count_max: usize, into: &mut Vec<(Place, Record)>) -> Result<()> {
        let table = self.database.begin_read()?.open_table(RECORDS)?;
        for entry in table.range(range.start.0..range.end.0)?.take(count_max) {
            let (place, record) = entry?;
            into.push((Place(place.value()), *record.value()));
        }
        Ok(())
    }

    fn commit(&mut self, change: &Change<'_>) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        let mut table = transaction.open_table(RECORDS)?;
        table.retain_in(change.gone.start.0..change.gone.end.0, |_, _| false)?;
        for (place, record) in change.put {
            table.insert(place.0, record)?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Register for Redb {
    fn offer(&mut self, offers: &[Offer], new: &mut Vec<bool>) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        let mut table = transaction.open_table(KEYS)?;
        for (key, number) in offers {
            // Its entries cost a search to look and another to insert; this is one search, and keeps the first number.
            let known = table.insert(key, number)?.map(|number| number.value());
            new.push(known.is_none());
            if let Some(first) = known {
                table.insert(key, first)?;
            }
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
