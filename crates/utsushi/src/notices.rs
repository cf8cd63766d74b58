//! The words for what a node reports: notices as lines, long work as progress.

use crate::output::Output;
use crate::progress::Progress;
use crate::words::count_of;
use archive::Recovery;
use crawl::Learning;
use node::{Activity, Meter, Monitor, Notice};

impl Monitor for Output {
    fn notice(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Recovered(recovery) => recovered(self, recovery),
            Notice::Learned(learning) => learned(self, learning),
            Notice::LearnedUnkept(captures) => self.note(format!(
                "the schedule has not learned from {} yet, which took a while; the next `utsushi crawl` keeps the result",
                count_of(*captures, "capture")
            )),
            Notice::ClockBehind(by) => self.complaint(format!(
                "the clock of this machine is {by} before the last moment of the crawl; the crawl keeps its own time"
            )),
            Notice::ClockAhead(by) => self.complaint(format!(
                "the clock of this machine is {by} after the last moment of the crawl, which is implausible; the crawl keeps its own time"
            )),
            Notice::ClockJumped { clock, wall } => self.complaint(format!(
                "the clock of this machine says {wall}; the crawl keeps its own time, {clock}"
            )),
            Notice::MetricsServed(address) => self.note(format!("metrics: http://{address}/metrics")),
            Notice::DiskFull(error) => self.complaint(format!("waiting for space on disk: {error}")),
            Notice::DiskFreed => self.complaint("there is space again; continuing"),
            // A notice without words here is of no use to a person.
            _ => {}
        }
    }

    fn begin(&self, activity: Activity, total: Option<u64>) -> Box<dyn Meter> {
        let words = match activity {
            Activity::ReadingArchive => "reading the archive",
            Activity::Learning => "captures learned from",
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

/// Says what had to be repaired.
fn recovered(output: &Output, recovery: &Recovery) {
    for file in &recovery.files {
        output.note(format!(
            "`{}` was left unfinished: {} captures are kept, {} bytes at its end that were never acknowledged are cut",
            file.file, file.captures, file.lost_bytes
        ));
        for offset in &file.damaged_offsets {
            output.complaint(format!("the record at byte `{offset}` of `{}` is damaged", file.file));
        }
    }
    for (file, offset) in &recovery.damaged {
        output.complaint(format!(
            "the record at byte `{offset}` of `{file}` is damaged; it is left out of the index"
        ));
    }
    if let Some(why) = &recovery.index {
        output.note(format!("rebuilding the index: {why}"));
    }
    if recovery.takedowns > 0 {
        output.note(format!("{} that was cut off is finished", count_of(recovery.takedowns, "takedown")));
    }
}

/// Says from how many captures a schedule has learned, and how many were damaged.
fn learned(output: &Output, learning: &Learning) {
    if learning.captures > 0 {
        output.note(format!("the schedule learned from {}", count_of(learning.captures, "capture")));
    }
    if learning.damaged > 0 {
        output.complaint(format!(
            "{} skipped; `utsushi verify` lists the damage, and `utsushi rebuild index --deep` removes damaged records from \
             the index",
            count_of(learning.damaged, "damaged capture")
        ));
    }
}
