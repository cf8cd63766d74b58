//! Opening a store that somebody else may be writing to, without writing to it.
//!
//! The log is replayed over an [`OverlayDisk`], so this store has everything that was committed when it was opened.
//!
//! **Invariant:** what is opened is the state of one commit. The writer reuses log and space only after its superblock
//! names a newer checkpoint; when that changed while the files were read, they are read again.

use super::Store;
use crate::error::Result;
use crate::files::Files;
use crate::options::Options;
use crate::superblock::Superblock;
use base::disk::{Disk, OverlayDisk};
use std::path::Path;
use std::sync::Arc;

/// How often a store is opened again because its writer finished a checkpoint meanwhile.
const ATTEMPTS_MAX: u32 = 16;
/// How often it is opened again after an error. A commit that was being written may have looked like damage.
const ATTEMPTS_AFTER_ERROR_MAX: u32 = 4;

impl Store {
    /// Opens the store in `directory` as it is now, without writing to it, whoever writes to it meanwhile. What is
    /// changed in it is seen by this store alone. A directory that does not exist is a store with nothing in it.
    ///
    /// The writer may later reuse the space of records that this store refers to. Reading such a record fails with
    /// [`crate::Error::Damaged`]: open the store again.
    pub fn open_to_read(disk: &Arc<dyn Disk>, directory: &Path, options: &Options) -> Result<Self> {
        let files = Files { disk: Arc::clone(disk), directory: directory.to_owned() };
        let mut attempt = 1;
        loop {
            let before = Superblock::current(&files);
            let overlay = Arc::new(OverlayDisk::new(Arc::clone(disk)));
            let opened = Self::open(overlay, directory, options.clone());
            let is_steady = before == Superblock::current(&files);
            let attempts_max = match (is_steady, &opened) {
                (true, Ok(_)) => 0,
                (true, Err(_)) => ATTEMPTS_AFTER_ERROR_MAX,
                (false, _) => ATTEMPTS_MAX,
            };
            if attempt >= attempts_max {
                return opened;
            }
            attempt += 1;
        }
    }
}
