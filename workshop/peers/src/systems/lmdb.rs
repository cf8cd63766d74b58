//! LMDB: a B-tree in a mapped file, copied on write.
//!
//! Its cache is the page cache, so its budget is the control group it runs in. Reading ahead is off, as its manual
//! advises for a file larger than memory.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use heed::byteorder::BE;
use heed::types::{Bytes, U64};
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, MdbError, PutFlags};
use workload::Workload;

use crate::store::{Change, Offer, Place, Record, Register, Store, steady_state_in_parts, stored};

/// Records that are loaded in one transaction.
const LOADED_AT_ONCE: usize = 500_000;

/// Space a record may take on disk with all its copies, and space that a small file may take.
const RECORD_MAP_BYTES: usize = 2_000;
const MAP_BYTES_MIN: usize = 8 << 30;
/// A multiple of every machine's page.
const MAP_BYTES_STEP: usize = 1 << 20;

type Table = Database<'static, U64<BE>, Bytes>;

pub(crate) struct Lmdb {
    env: &'static Env,
    table: Table,
}

impl Lmdb {
    pub(crate) fn open(directory: &Path, records: u32) -> Result<Self> {
        let map_bytes =
            (records as usize * RECORD_MAP_BYTES).max(MAP_BYTES_MIN).next_multiple_of(MAP_BYTES_STEP);
        #[expect(unsafe_code, reason = "the file is this process's own, and no flag gives up safety")]
        let env = unsafe {
            let mut options = EnvOpenOptions::new();
            options.map_size(map_bytes).flags(EnvFlags::NO_READ_AHEAD);
            options
                .open(directory)
                .with_context(|| format!("cannot open LMDB in `{}`", directory.display()))?
        };
        // Open until the process ends, which it does after one measurement.
        let env: &'static Env = Box::leak(Box::new(env));
        let transaction = env.write_txn()?;
        let made = env.create_databases_and_commit(transaction, |opener, transaction| {
            opener.create_database(transaction, None).map(CommitOrAbort::<Table, ()>::Commit)
        })?;
        Ok(Self { env, table: made.unwrap_commit() })
    }
}

impl Store for Lmdb {
    fn load(&mut self, workload: &Workload) -> Result<()> {
        let mut records = steady_state_in_parts(workload).peekable();
        while records.peek().is_some() {
            let mut transaction = self.env.write_txn()?;
            for (place, record) in records.by_ref().take(LOADED_AT_ONCE) {
                self.table.put(&mut transaction, &place.0, &record)?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    fn read(&mut self, range: Range<Place>, count_max: usize, into: &mut Vec<(Place, Record)>) -> Result<()> {
        let transaction = self.env.read_txn()?;
        for entry in self.table.range(&transaction, &(range.start.0..range.end.0))?.take(count_max) {
            let (place, record) = entry?;
            into.push((Place(place), stored(record)?));
        }
        Ok(())
    }

    fn commit(&mut self, change: &Change<'_>) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        self.table.delete_range(&mut transaction, &(change.gone.start.0..change.gone.end.0))?;
        for (place, record) in change.put {
            self.table.put(&mut transaction, &place.0, record)?;
        }
        Ok(transaction.commit()?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Register for Lmdb {
    fn offer(&mut self, offers: &[Offer], new: &mut Vec<bool>) -> Result<()> {
        let table = self.table.remap_key_type::<Bytes>();
        let mut transaction = self.env.write_txn()?;
        for (key, number) in offers {
            match table.put_with_flags(&mut transaction, PutFlags::NO_OVERWRITE, key, &number.to_le_bytes()) {
                Ok(()) => new.push(true),
                Err(heed::Error::Mdb(MdbError::KeyExist)) => new.push(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(transaction.commit()?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
