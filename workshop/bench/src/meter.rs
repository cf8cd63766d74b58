//! Time and use of the machine since a moment.

use anyhow::Result;
use std::time::Instant;
use workload::usage::Usage;

/// A moment from which something is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    begin: Instant,
    usage: Usage,
}

/// The seconds of a short action, without the overhead of measuring the machine's use.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
pub(crate) fn seconds_of<T>(what: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let done = what();
    (done, begin.elapsed().as_secs_f64())
}

impl Meter {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures the machine's own time")]
    pub(crate) fn start() -> Result<Self> {
        Ok(Self { begin: Instant::now(), usage: Usage::now()? })
    }
    pub(crate) fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
    pub(crate) fn used(&self) -> Result<Usage> {
        Ok(Usage::now()?.since(self.usage))
    }
}
