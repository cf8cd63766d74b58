//! Opens a store read-only, even beside a writer.
//!
//! The log is replayed over an [`OverlayDisk`], so this store has everything that was committed when it was opened.
//!
//! **Invariant:** what is opened is the state of one commit. The writer reuses log and space only after its superblock
//! names a newer checkpoint; when that changed while the files were read, they are read again.

use super::Store;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::options::Options;
use crate::superblock::Superblock;
use base::disk::{Disk, OverlayDisk};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often a store is opened again because its writer finished a checkpoint meanwhile.
const ATTEMPTS_MAX: u32 = 64;
/// How often the same error must occur before it is reported. A commit that is being written looks like damage, so the
/// reader waits for the writer to finish it: this long, then twice as long, and so on.
const SAME_ERRORS_MAX: u32 = 8;
const ERROR_WAIT: Duration = Duration::from_millis(1);

impl Store {
    /// Opens the store in `directory` as it is now, without writing to it, even while a writer is at work. What is
    /// changed in it is seen by this store alone. A directory that does not exist is a store with nothing in it.
    ///
    /// The writer may later reuse the space of records that this store refers to. Reading such a record fails with
    /// [`crate::Error::Damaged`]: open the store again.
    pub fn open_to_read(disk: &Arc<dyn Disk>, directory: &Path, options: &Options) -> Result<Self> {
        let files = Files { disk: Arc::clone(disk), directory: directory.to_owned() };
        let (mut last_error, mut same_errors) = (String::new(), 0);
        for _ in 0..ATTEMPTS_MAX {
            let before = Superblock::current(&files);
            let overlay = Arc::new(OverlayDisk::new(Arc::clone(disk)));
            let opened = Self::open(overlay, directory, options.clone());
            let is_steady = before == Superblock::current(&files);
            match &opened {
                Ok(_) if is_steady => return opened,
                Err(error) if is_steady => {
                    let error = error.to_string();
                    same_errors = if error == last_error { same_errors + 1 } else { 1 };
                    last_error = error;
                    if same_errors >= SAME_ERRORS_MAX {
                        return opened;
                    }
                    std::thread::sleep(ERROR_WAIT * (1 << same_errors));
                }
                _ => same_errors = 0,
            }
        }
        let what = "its writer changes it faster than it can be read: try again";
        Err(Error::Damaged { path: directory.to_owned(), offset: 0, what })
    }
}
