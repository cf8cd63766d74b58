//! Small stores, so that everything that happens in a large one happens often.

use base::disk::{Disk, SimulatedDisk};
use sat::{Error, Options, Store};
use std::path::Path;
use std::sync::Arc;

/// Where the store is.
pub(crate) const DIRECTORY: &str = "/store";

/// Everything small, all work on the caller's thread.
pub(crate) fn options() -> Options {
    let mut options = Options::default();
    options.pool_bytes = 512 << 10;
    options.read_bytes = 256 << 10;
    options.log_bytes = 1 << 20;
    options.segment_bytes = 512 << 10;
    options.pending_max = 400;
    options.read_threads = 0;
    options.secret = Some([7; 16]);
    options
}

/// Opens the store on a simulated disk.
pub(crate) fn open(disk: &SimulatedDisk, options: Options) -> Result<Store, Error> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Store::open(disk, Path::new(DIRECTORY), options)
}

/// How many rounds to play, and with which seed.
pub(crate) fn torture(rounds: u64, seed: u64) -> (u64, u64) {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
    };
    (number("UTSUSHI_TORTURE_COUNT", rounds), number("UTSUSHI_TORTURE_SEED", seed))
}
