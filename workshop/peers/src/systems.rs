//! The systems, each in its best form.

#[cfg(berkeley_db)]
mod berkeley;
mod fjall;
mod lmdb;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

use crate::store::{Register, Store};

/// A system that keeps records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum System {
    Lmdb,
    Redb,
    Fjall,
    RocksdbLevelled,
    RocksdbUniversal,
    Bdb,
}

impl System {
    /// The name by which results call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lmdb => "lmdb",
            Self::Redb => "redb",
            Self::Fjall => "fjall",
            Self::RocksdbLevelled => "rocksdb-levelled",
            Self::RocksdbUniversal => "rocksdb-universal",
            Self::Bdb => "bdb",
        }
    }

    /// Whether this program was built with it.
    fn is_built(self) -> bool {
        match self {
            Self::Lmdb | Self::Redb | Self::Fjall => true,
            Self::RocksdbLevelled | Self::RocksdbUniversal => cfg!(feature = "rocksdb"),
            Self::Bdb => cfg!(berkeley_db),
        }
    }

    /// Opens or makes a store for `records` in `directory`, with `budget_bytes` for its caches and write buffers.
    pub(crate) fn open_store(
        self,
        directory: &Path,
        budget_bytes: u64,
        records: u32,
    ) -> Result<Box<dyn Store>> {
        Ok(match self {
            Self::Lmdb => Box::new(lmdb::Lmdb::open(directory, records)?),
            Self::Redb => Box::new(redb::Redb::open(directory, budget_bytes)?),
            Self::Fjall => Box::new(fjall::Fjall::open(directory, budget_bytes)?),
            #[cfg(feature = "rocksdb")]
            Self::RocksdbLevelled => {
                Box::new(rocksdb::RocksDb::open_store(directory, budget_bytes, rocksdb::Style::Levelled)?)
            }
            #[cfg(feature = "rocksdb")]
            Self::RocksdbUniversal => {
                Box::new(rocksdb::RocksDb::open_store(directory, budget_bytes, rocksdb::Style::Universal)?)
            }
            #[cfg(berkeley_db)]
            Self::Bdb => Box::new(berkeley::BerkeleyDb::open(directory, budget_bytes)?),
            #[cfg(not(all(feature = "rocksdb", berkeley_db)))]
            _ => return self.not_built(),
        })
    }

    /// Opens a register for `keys` in `directory`, with `budget_bytes` for its caches and write buffers.
    pub(crate) fn open_register(
        self,
        directory: &Path,
        budget_bytes: u64,
        keys: u32,
    ) -> Result<Box<dyn Register>> {
        Ok(match self {
            Self::Lmdb => Box::new(lmdb::Lmdb::open(directory, keys)?),
            Self::Redb => Box::new(redb::Redb::open(directory, budget_bytes)?),
            Self::Fjall => Box::new(fjall::Fjall::open_register(directory, budget_bytes)?),
            #[cfg(feature = "rocksdb")]
            Self::RocksdbLevelled => {
                Box::new(rocksdb::RocksDb::open_register(directory, budget_bytes, rocksdb::Style::Levelled)?)
            }
            #[cfg(feature = "rocksdb")]
            Self::RocksdbUniversal => {
                Box::new(rocksdb::RocksDb::open_register(directory, budget_bytes, rocksdb::Style::Universal)?)
            }
            #[cfg(berkeley_db)]
            Self::Bdb => Box::new(berkeley::BerkeleyDb::open(directory, budget_bytes)?),
            #[cfg(not(all(feature = "rocksdb", berkeley_db)))]
            _ => return self.not_built(),
        })
    }

    #[cfg(not(all(feature = "rocksdb", berkeley_db)))]
    fn not_built<T>(self) -> Result<T> {
        anyhow::bail!("this program was built without `{}`: `cargo xtask bench` says why", self.name())
    }
}

/// Prints the names of the systems that were built in, one a line.
pub(crate) fn list() -> Result<()> {
    for system in System::value_variants().iter().filter(|system| system.is_built()) {
        println!("{}", system.name());
    }
    Ok(())
}
