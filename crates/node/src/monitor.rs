//! How a node reports what it does: notices for a person, and progress of long work.

use crate::config::SettingOrigin;
use archive::Recovery;
use base::{Interval, Timestamp};
use crawl::Learning;
use frontier::Overview;
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;

/// Receives notices and progress.
pub trait Monitor: fmt::Debug + Send + Sync {
    /// Something happened that a person may want to know.
    fn notice(&self, notice: &Notice<'_>);
    /// Long work begins. It ends when the meter is dropped.
    fn begin(&self, activity: Activity, total: Option<u64>) -> Box<dyn Meter>;
}

/// The progress of one piece of long work.
pub trait Meter {
    /// This much is done, out of `total` if that is known by now.
    fn set(&self, done: u64, total: Option<u64>);
}

/// Something that a person may want to know.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// The archive was repaired after its last writer ended without closing it.
    Recovered(&'a Recovery),
    /// The schedule caught up with the archive.
    Learned(&'a Learning),
    /// A reader had to process this many captures, and will again until a writer stores the result.
    LearnedUnkept(u64),
    /// The clock of this machine is this far behind the last time of the crawl.
    ClockBehind(Interval),
    /// The clock of this machine is implausibly far ahead of the last time of the crawl.
    ClockAhead(Interval),
    /// The clock of this machine jumped while the crawl runs.
    ClockJumped {
        /// The time that the crawl uses.
        clock: Timestamp,
        /// The time of the machine.
        wall: Timestamp,
    },
    /// The crawl has its own time, ahead of this machine's.
    OwnTime {
        /// The time of the crawl.
        now: Timestamp,
        /// How many times as fast as real time it runs, if that was asked for.
        accelerate: Option<u32>,
    },
    /// Metrics are served on this address.
    MetricsServed(SocketAddr),
    /// The disk is full; writing waits for space.
    DiskFull(&'a archive::Error),
    /// There is space again.
    DiskFreed,
    /// The settings of a crawl are stored in this file.
    SettingsStored(&'a Path),
    /// A setting of the configuration is overridden by a stored one.
    SettingOverridden {
        /// Its name.
        key: &'static str,
        /// Where it was set.
        origin: &'a SettingOrigin,
    },
    /// This many pages that were refused are judged again.
    JudgedAgain(u64),
    /// A crawl is set up and begins.
    CrawlReady {
        /// Its schedule.
        overview: &'a Overview,
        /// Number of seeds that were given.
        seeds: usize,
        /// The delay before the first request.
        pause: Interval,
    },
    /// The schedule cannot be read now.
    ScheduleUnreadable(&'a crate::Error),
    /// A stage cannot be kept up to date. It is tried again.
    StageFailed {
        /// The stage.
        stage: &'static str,
        /// Why.
        error: &'a crate::Error,
    },
}

/// A kind of long work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Reading the archive; counts nothing.
    ReadingArchive,
    /// Updating the schedule; counts captures.
    Learning,
    /// Rebuilding a stage such as languages, titles and types; counts captures.
    Deriving,
    /// Searching archived pages for links that a wider scope includes; counts captures.
    SearchingLinks,
    /// Rebuilding the index; counts archive files.
    Indexing,
    /// Removing records from archive files; counts files.
    RewritingFiles,
    /// Importing; counts bytes.
    Importing,
    /// Choosing the documents of a scan; counts documents.
    ChoosingDocuments,
}

/// A monitor that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Monitor for Silent {
    fn notice(&self, _: &Notice<'_>) {}
    fn begin(&self, _: Activity, _: Option<u64>) -> Box<dyn Meter> {
        Box::new(Self)
    }
}

impl Meter for Silent {
    fn set(&self, _: u64, _: Option<u64>) {}
}
