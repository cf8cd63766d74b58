//! What an import has to tell: what was taken over, and what could not be.

use super::input::Step;
use crate::commands::told;
use crate::exit::Exit;
use crate::output::Output;
use crate::words::{count_of, grouped};
use archive::Entry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use warc::Record;

/// So many places are named; of the others only their number is told.
const TOLD_MAX: u64 = 100;

/// Counts what happens, and tells it while it happens.
#[derive(Debug)]
pub(super) struct Tally {
    output: Output,
    /// The file that is being read, and where in all files it begins.
    file: String,
    file_from: u64,
    /// How far in all files together.
    pub(super) done_bytes: u64,
    files: u64,
    records: u64,
    /// Captures added, and records that are none (notes and the like).
    added: u64,
    others: u64,
    pub(super) known: u64,
    pub(super) taken_down: u64,
    unfit: BTreeMap<&'static str, u64>,
    damaged: u64,
    told: u64,
    /// Whether it was asked to end before the end.
    pub(super) is_stopped: bool,
}

impl Tally {
    pub(super) fn new(output: &Output) -> Self {
        Self {
            output: output.clone(),
            file: String::new(),
            file_from: 0,
            done_bytes: 0,
            files: 0,
            records: 0,
            added: 0,
            others: 0,
            known: 0,
            taken_down: 0,
            unfit: BTreeMap::new(),
            damaged: 0,
            told: 0,
            is_stopped: false,
        }
    }

    /// Hears of a step; gives the record, if it is one.
    pub(super) fn hear(&mut self, step: Step) -> Option<Record> {
        match step {
            Step::File { name, from } => {
                self.files += 1;
                self.hear(Step::Part { name, from })
            }
            Step::Part { name, from } => {
                (self.file, self.file_from, self.done_bytes) = (name, from, from);
                None
            }
            Step::Record(record) => {
                self.records += 1;
                self.done_bytes = self.file_from + record.offset;
                Some(record)
            }
            Step::Damaged { offset, what } => {
                self.damaged += 1;
                let object =
                    json!({ "event": "damaged", "input": self.file, "input_offset": offset, "what": what });
                self.tell(&object, || format!("`{}` at byte {offset}: {what}", self.file));
                self.told += 1;
                None
            }
        }
    }

    /// A capture, or another record, is in the archive for good.
    pub(super) fn added(&mut self, entry: &Entry) {
        *(if entry.is_visit() { &mut self.added } else { &mut self.others }) += 1;
        if self.output.json() {
            self.output.object(&told::capture(entry));
        }
    }

    /// A record cannot be taken over. It is named by itself: its file may have been left behind already.
    pub(super) fn unfit(&mut self, record: &Record, why: &'static str) {
        *self.unfit.entry(why).or_default() += 1;
        let id = record.fields.get(warc::header::name::RECORD_ID).unwrap_or_default();
        let (url, offset) = (record.target().unwrap_or_default(), record.offset);
        let object = json!({ "event": "unfit", "id": id, "url": url, "input_offset": offset, "what": why });
        self.tell(&object, || {
            format!("the record {id} of `{url}` at byte {offset} cannot be taken over: {why}")
        });
        self.told += 1;
    }

    fn tell(&self, object: &Value, text: impl FnOnce() -> String) {
        match self.told {
            ..TOLD_MAX if self.output.json() => self.output.object(object),
            ..TOLD_MAX => self.output.complaint(text()),
            TOLD_MAX => self.output.complaint("further places are counted and not named"),
            _ => {}
        }
    }

    fn unfit_count(&self) -> u64 {
        self.unfit.values().sum()
    }

    pub(super) fn exit(&self) -> Exit {
        let found = self.damaged > 0 || !self.unfit.is_empty() || self.is_stopped;
        if found { Exit::Found } else { Exit::Done }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "summary": {
            "files": self.files,
            "records": self.records,
            "added": self.added,
            "others": self.others,
            "known": self.known,
            "taken_down": self.taken_down,
            "unfit": self.unfit,
            "damaged": self.damaged,
            "stopped": self.is_stopped,
        }})
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        let mut row = |name: &str, count: u64, remark: &str| {
            let line = format!("{name:<12}{:>10}  {remark}", grouped(count));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", line.trim_end());
        };
        row("records", self.records, &format!("in {}", count_of(self.files, "file")));
        row("added", self.added, "captures; they are synced");
        if self.others > 0 {
            row("others", self.others, "records that are no captures, such as notes; they are synced");
        }
        row("known", self.known, "captures that were there already");
        if self.taken_down > 0 {
            row("taken down", self.taken_down, "captures that stay away");
        }
        if self.unfit_count() > 0 {
            row("unfit", self.unfit_count(), "captures that cannot be taken over:");
            self.unfit.iter().for_each(|(why, count)| row("", *count, why));
        }
        if self.damaged > 0 {
            row("damaged", self.damaged, "places in the files; the rest is imported");
        }
        if self.is_stopped {
            row("stopped", 0, "before the end; the same command goes on from there");
        }
        text
    }
}
