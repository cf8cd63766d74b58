//! What an import reports: events while it runs, and a summary that accounts for every record.

use super::input::Step;
use crate::views::capture;
use archive::Entry;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use warc::Record;

/// Maximum number of damaged or unfit records that are reported one by one; the rest is only counted.
const REPORTED_MAX: u64 = 100;

/// What happens during an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ImportEvent {
    /// A capture is durable.
    Added {
        /// Its fields, as [`crate::views::capture`] gives them.
        capture: Map<String, Value>,
    },
    /// A record cannot be imported.
    Unfit {
        /// The record, if it has an id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The page of the record, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// The file, where the record alone does not say enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<String>,
        /// Where in its file.
        input_offset: u64,
        /// Why.
        what: String,
    },
    /// Part of a file cannot be read.
    Damaged {
        /// The file.
        input: String,
        /// Where.
        input_offset: u64,
        /// What is wrong.
        what: String,
    },
    /// A file cannot be imported; the others are.
    FileLeftOut {
        /// The file.
        input: String,
        /// Why.
        what: String,
    },
    /// Further damaged and unfit records are counted and not reported.
    MoreUnreported,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportSummary {
    /// Files that were read.
    pub files: u64,
    /// Files that could not be imported.
    pub files_left_out: u64,
    /// Records that were read.
    pub records: u64,
    /// Captures that were added.
    pub added: u64,
    /// Other records that were added, such as notes.
    pub others: u64,
    /// Captures that were in the archive already.
    pub known: u64,
    /// Captures under a takedown, not imported.
    pub taken_down: u64,
    /// Captures that cannot be imported, by reason.
    pub unfit: BTreeMap<String, u64>,
    /// Places in the files that cannot be read.
    pub damaged: u64,
    /// What became of every record.
    pub accounted: RecordAccounts,
    /// Whether the import was stopped before its end.
    pub stopped: bool,
}

impl ImportSummary {
    /// Whether every record of every file could be imported.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damaged == 0 && self.files_left_out == 0 && self.accounted.left_out.is_empty() && !self.stopped
    }
}

/// What became of every record that was read: `read` is the sum of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordAccounts {
    /// Records that were read.
    pub read: u64,
    /// Records that are in the archive now.
    pub imported: u64,
    /// Records that were in the archive already.
    pub known: u64,
    /// Records of captures that were taken down.
    pub taken_down: u64,
    /// Parts of split records that were joined to their first part.
    pub joined: u64,
    /// Records that cannot be imported, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// Records that were read when the import was stopped, and not processed.
    pub not_reached: u64,
}

impl RecordAccounts {
    /// Number of records that cannot be imported.
    #[must_use]
    pub fn left_out_count(&self) -> u64 {
        self.left_out.values().sum()
    }
}

/// Counts what happens, and reports it.
pub(super) struct Tally<'a> {
    on_event: &'a mut dyn FnMut(&ImportEvent),
    summary: ImportSummary,
    /// The file that is being read, and where it begins in all files together.
    file: String,
    file_from: u64,
    /// How much of all files together was read.
    pub(super) done_bytes: u64,
    reported: u64,
}

impl<'a> Tally<'a> {
    pub(super) fn new(on_event: &'a mut dyn FnMut(&ImportEvent)) -> Self {
        let summary = ImportSummary::default();
        Self { on_event, summary, file: String::new(), file_from: 0, done_bytes: 0, reported: 0 }
    }

    /// Counts a step; returns the record, if it is one.
    pub(super) fn count(&mut self, step: Step) -> Option<Record> {
        match step {
            Step::File { name, from } => {
                self.summary.files += 1;
                self.count(Step::Part { name, from })
            }
            Step::Part { name, from } => {
                (self.file, self.file_from, self.done_bytes) = (name, from, from);
                None
            }
            Step::Record(record) => {
                self.accounts().read += 1;
                self.done_bytes = self.file_from + record.offset;
                Some(record)
            }
            Step::Unfit { offset, why } => {
                self.accounts().read += 1;
                *self.summary.unfit.entry(why.to_owned()).or_default() += 1;
                *self.accounts().left_out.entry(why.to_owned()).or_default() += 1;
                let input = Some(self.file.clone());
                self.report(&ImportEvent::Unfit {
                    id: None,
                    url: None,
                    input,
                    input_offset: offset,
                    what: why.to_owned(),
                });
                None
            }
            Step::Damaged { offset, what } => {
                self.summary.damaged += 1;
                self.report(&ImportEvent::Damaged { input: self.file.clone(), input_offset: offset, what });
                None
            }
        }
    }

    /// A file cannot be imported; the others are.
    pub(super) fn left_out_file(&mut self, path: &Path, why: &str) {
        self.summary.files_left_out += 1;
        self.report(&ImportEvent::FileLeftOut { input: path.display().to_string(), what: why.to_owned() });
    }

    /// A capture, or another record, is durable.
    pub(super) fn added(&mut self, entry: &Entry, records: u64) {
        let is_visit = entry.is_visit();
        *(if is_visit { &mut self.summary.added } else { &mut self.summary.others }) += 1;
        self.accounts().imported += records;
        (self.on_event)(&ImportEvent::Added { capture: capture(entry) });
    }

    /// A capture was in the archive already.
    pub(super) fn known(&mut self, records: u64) {
        self.summary.known += 1;
        self.accounts().known += records;
    }

    /// A capture is under a takedown and is not imported.
    pub(super) fn taken_down(&mut self, records: u64) {
        self.summary.taken_down += 1;
        self.accounts().taken_down += records;
    }

    /// A record was joined from this many parts.
    pub(super) fn joined(&mut self, parts: u32) {
        self.accounts().joined += u64::from(parts).saturating_sub(1);
    }

    /// A capture cannot be imported, nor can the records that belong to it.
    pub(super) fn unfit(&mut self, record: &Record, records: u64, why: &'static str) {
        *self.summary.unfit.entry(why.to_owned()).or_default() += 1;
        *self.accounts().left_out.entry(why.to_owned()).or_default() += records - 1;
        self.left_out(record, why);
    }

    /// A record cannot be imported. It is named by its own fields, because its file may have been closed already.
    pub(super) fn left_out(&mut self, record: &Record, why: &'static str) {
        *self.accounts().left_out.entry(why.to_owned()).or_default() += 1;
        let id = record.fields.get(warc::header::name::RECORD_ID).unwrap_or_default();
        let url = record.target().unwrap_or_default();
        self.report(&ImportEvent::Unfit {
            id: Some(id.to_owned()),
            url: Some(url.to_owned()),
            input: None,
            input_offset: record.offset,
            what: why.to_owned(),
        });
    }

    /// The summary of the whole import.
    pub(super) fn finish(mut self, is_stopped: bool) -> ImportSummary {
        self.summary.stopped = is_stopped;
        self.summary.records = self.summary.accounted.read;
        let accounts = self.accounts();
        let done = accounts.imported
            + accounts.known
            + accounts.taken_down
            + accounts.joined
            + accounts.left_out_count();
        accounts.not_reached = accounts.read.saturating_sub(done);
        self.summary
    }

    fn accounts(&mut self) -> &mut RecordAccounts {
        &mut self.summary.accounted
    }
    fn report(&mut self, event: &ImportEvent) {
        match self.reported {
            ..REPORTED_MAX => (self.on_event)(event),
            REPORTED_MAX => (self.on_event)(&ImportEvent::MoreUnreported),
            _ => {}
        }
        self.reported += 1;
    }
}
