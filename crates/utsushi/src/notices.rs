//! The texts for what a node reports: notices as lines, long work as progress.

use crate::output::Output;
use crate::progress::Progress;
use crate::words::count_of;
use archive::Recovery;
use base::clock::{Clock as _, RealClock};
use base::{Interval, Timestamp};
use crawl::Learning;
use node::{Activity, Meter, Monitor, Notice};

impl Monitor for Output {
    fn notice(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Recovered(recovery) => recovered(self, recovery),
            Notice::Learned(learning) => learned(self, learning),
            Notice::LearnedUnkept(captures) => self.note(format!(
                "the schedule did not include {} yet and processed them for this command only; the next `utsushi crawl` stores the result",
                count_of(*captures, "capture")
            )),
            Notice::ClockBehind(by) => self.complaint(format!(
                "the clock of this machine is {by} behind the last time of the crawl; the crawl uses its own time"
            )),
            Notice::ClockAhead(by) => self.complaint(format!(
                "the clock of this machine is implausibly far ahead of the last time of the crawl, by {by}; the crawl uses its own time"
            )),
            Notice::ClockJumped { clock, wall } => self.complaint(format!(
                "the clock of this machine jumped to {wall}; the crawl uses its own time, {clock}"
            )),
            Notice::OwnTime { now, accelerate } => own_time(self, *now, *accelerate),
            Notice::MetricsServed(address) => self.note(format!("metrics: http://{address}/metrics")),
            Notice::DiskFull(error) => self.complaint(format!("waiting for space on disk: {error}")),
            Notice::DiskFreed => self.complaint("disk space is available again; continuing"),
            Notice::SettingsStored(path) => {
                self.note(format!("the settings of this crawl are stored in `{}`", path.display()));
            }
            Notice::SettingOverridden { key, origin } => self.complaint(format!(
                "`{key}` of {origin} is overridden by an earlier run; `utsushi config --forget {key}` removes the stored value"
            )),
            Notice::JudgedAgain(pages) => {
                self.note(format!("judged again: {} refused before", count_of(*pages, "page")));
            }
            Notice::CrawlReady { overview, seeds, pause } => ready(self, overview, *seeds, *pause),
            Notice::ScheduleUnreadable(error) => {
                self.note(format!("the schedule cannot be read now: {}", error.with_causes()));
            }
            Notice::StageFailed { stage, error } => self.complaint(format!(
                "{}; the crawl continues, and `{stage}` is tried again",
                error.with_causes()
            )),
            // A notice without a text here is of no use to a person.
            _ => {}
        }
    }

    fn begin(&self, activity: Activity, total: Option<u64>) -> Box<dyn Meter> {
        let words = match activity {
            Activity::ReadingArchive => "reading the archive",
            Activity::Learning => "captures processed",
            Activity::Deriving => "captures read",
            Activity::SearchingLinks => "captures searched for links",
            Activity::Indexing => "archive files read",
            Activity::RewritingFiles => "archive files rewritten",
            Activity::Importing => "bytes imported",
            Activity::ChoosingDocuments => "documents chosen",
            _ => "working",
        };
        Box::new(self.progress(words, total))
    }
}

impl Meter for Progress {
    fn set(&self, done: u64, total: Option<u64>) {
        let of = total.map(|total| format!("of {total}")).unwrap_or_default();
        Self::set(self, done, &of);
    }
}

/// Reports the time of an accelerated crawl, and how fast it runs.
fn own_time(output: &Output, now: Timestamp, accelerate: Option<u32>) {
    let ahead = now.since(RealClock::start().now());
    let pace = match accelerate {
        None => "at the speed of real time, because `--accelerate` is not given".to_owned(),
        Some(times) => format!("{times} times as fast as real time"),
    };
    output.note(format!(
        "this data directory has its own time, {ahead} ahead of this machine's; it runs {pace}\nit is now {now}"
    ));
}

/// Reports the beginning of a crawl.
fn ready(output: &Output, overview: &frontier::Overview, seeds: usize, pause: Interval) {
    let known = count_of(overview.pages, "page");
    let seeds = count_of(seeds as u64, "seed");
    output.note(format!(
        "crawling: {known} known, {seeds} given; the first request follows after a delay of {pause}"
    ));
    if overview.paused {
        output.complaint("the crawl is paused; `utsushi resume` continues it");
    }
}

/// Reports repairs.
fn recovered(output: &Output, recovery: &Recovery) {
    for file in &recovery.files {
        output.note(format!(
            "`{}` was left unfinished: kept {} captures and removed {} unacknowledged bytes at its end",
            file.file, file.captures, file.lost_bytes
        ));
        for offset in &file.damaged_offsets {
            output.complaint(format!("the record at byte `{offset}` of `{}` is damaged", file.file));
        }
    }
    for (file, offset) in &recovery.damaged {
        output.complaint(format!(
            "the record at byte `{offset}` of `{file}` is damaged and is not in the index"
        ));
    }
    if let Some(why) = &recovery.index {
        output.note(format!("rebuilding the index: {why}"));
    }
    if recovery.takedowns > 0 {
        output.note(format!("finished {}", count_of(recovery.takedowns, "takedown")));
    }
}

/// Reports how many captures a schedule has processed, and how many were damaged.
fn learned(output: &Output, learning: &Learning) {
    if learning.captures > 0 {
        output.note(format!("the schedule processed {}", count_of(learning.captures, "capture")));
    }
    if learning.damaged > 0 {
        output.complaint(format!(
            "{} skipped; `utsushi verify` lists the damage, and `utsushi rebuild index --deep` removes damaged records from \
             the index",
            count_of(learning.damaged, "damaged capture")
        ));
    }
}
