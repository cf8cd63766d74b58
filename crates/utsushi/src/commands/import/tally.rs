//! What an import has to tell: what was taken over, and what could not be.

use super::input::{LeftOut, Step};
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
    files_left_out: u64,
    /// Captures added, and records that are none (notes and the like).
    added: u64,
    others: u64,
    /// Captures that were known, taken down, and that cannot be imported.
    known: u64,
    taken_down: u64,
    unfit: BTreeMap<&'static str, u64>,
    damaged: u64,
    /// What became of the records.
    accounts: Accounts,
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
            files_left_out: 0,
            accounts: Accounts::default(),
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
                self.accounts.read += 1;
                self.done_bytes = self.file_from + record.offset;
                Some(record)
            }
            Step::Unfit { offset, why } => {
                self.accounts.read += 1;
                *self.unfit.entry(why).or_default() += 1;
                *self.accounts.left_out.entry(why).or_default() += 1;
                let object =
                    json!({ "event": "unfit", "input": self.file, "input_offset": offset, "what": why });
                self.tell(&object, || {
                    format!("the record at byte {offset} of `{}` cannot be imported: {why}", self.file)
                });
                self.told += 1;
                None
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

    /// A file cannot be imported; the others are.
    pub(super) fn left_out_file(&mut self, file: &LeftOut) {
        self.files_left_out += 1;
        let (path, why) = (file.path.display().to_string(), format!("{:#}", file.why));
        let object = json!({ "event": "file_left_out", "input": path, "what": why });
        self.tell(&object, || format!("cannot import `{path}`: {why}; the other files are imported"));
        self.told += 1;
    }

    /// A capture, or another record, is in the archive for good.
    pub(super) fn added(&mut self, entry: &Entry, records: u64) {
        *(if entry.is_visit() { &mut self.added } else { &mut self.others }) += 1;
        self.accounts.imported += records;
        if self.output.json() {
            self.output.object(&told::capture(entry));
        }
    }

    /// A capture was in the archive already.
    pub(super) fn known(&mut self, records: u64) {
        self.known += 1;
        self.accounts.known += records;
    }

    /// A capture was taken down and stays away.
    pub(super) fn taken_down(&mut self, records: u64) {
        self.taken_down += 1;
        self.accounts.taken_down += records;
    }

    /// A record was put together from so many.
    pub(super) fn joined(&mut self, parts: u32) {
        self.accounts.joined += u64::from(parts).saturating_sub(1);
    }

    /// A capture cannot be imported, nor can the records that belong to it.
    pub(super) fn unfit(&mut self, record: &Record, records: u64, why: &'static str) {
        *self.unfit.entry(why).or_default() += 1;
        *self.accounts.left_out.entry(why).or_default() += records - 1;
        self.left_out(record, why);
    }

    /// A record cannot be imported. It is named by itself: its file may have been left behind already.
    pub(super) fn left_out(&mut self, record: &Record, why: &'static str) {
        *self.accounts.left_out.entry(why).or_default() += 1;
        let id = record.fields.get(warc::header::name::RECORD_ID).unwrap_or_default();
        let (url, offset) = (record.target().unwrap_or_default(), record.offset);
        let object = json!({ "event": "unfit", "id": id, "url": url, "input_offset": offset, "what": why });
        self.tell(&object, || {
            format!("the record {id} of `{url}` at byte {offset} cannot be imported: {why}")
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

    pub(super) fn exit(&self) -> Exit {
        let is_whole = self.damaged == 0 && self.files_left_out == 0 && self.accounts.left_out.is_empty();
        let found = !is_whole || self.is_stopped;
        if found { Exit::Found } else { Exit::Done }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "summary": {
            "files": self.files,
            "files_left_out": self.files_left_out,
            "records": self.accounts.read,
            "added": self.added,
            "others": self.others,
            "known": self.known,
            "taken_down": self.taken_down,
            "unfit": self.unfit,
            "damaged": self.damaged,
            "accounted": self.accounts.to_json(),
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
        row("records", self.accounts.read, &format!("in {}", count_of(self.files, "file")));
        row("added", self.added, "captures; they are synced");
        if self.others > 0 {
            row("others", self.others, "records that are no captures, such as notes; they are synced");
        }
        row("known", self.known, "captures that were there already");
        if self.taken_down > 0 {
            row("taken down", self.taken_down, "captures that stay away");
        }
        if self.accounts.left_out_count() > 0 {
            row("left out", self.accounts.left_out_count(), "records that cannot be imported:");
            self.accounts.left_out.iter().for_each(|(why, count)| row("", *count, why));
        }
        if self.files_left_out > 0 {
            row("files", self.files_left_out, "that cannot be imported; the others are");
        }
        if self.damaged > 0 {
            row("damaged", self.damaged, "places in the files; the rest is imported");
        }
        if self.is_stopped {
            row("stopped", 0, "before the end; the same command goes on from there");
        }
        text + &self.accounts.to_text()
    }
}

/// What became of every record that was read.
#[derive(Debug, Default)]
struct Accounts {
    read: u64,
    imported: u64,
    known: u64,
    taken_down: u64,
    /// Parts of split records that were joined to their first part.
    joined: u64,
    left_out: BTreeMap<&'static str, u64>,
}

impl Accounts {
    fn left_out_count(&self) -> u64 {
        self.left_out.values().sum()
    }
    /// What was read and not dealt with, because the import was stopped.
    fn not_reached(&self) -> u64 {
        let done = self.imported + self.known + self.taken_down + self.joined + self.left_out_count();
        self.read.saturating_sub(done)
    }
    fn to_json(&self) -> Value {
        json!({
            "read": self.read,
            "imported": self.imported,
            "known": self.known,
            "taken_down": self.taken_down,
            "joined": self.joined,
            "left_out": self.left_out,
            "not_reached": self.not_reached(),
        })
    }
    /// One line in which the numbers add up.
    fn to_text(&self) -> String {
        let further = [
            (self.taken_down, "taken down"),
            (self.joined, "joined to others"),
            (self.left_out_count(), "left out"),
            (self.not_reached(), "not reached"),
        ];
        let mut line = format!(
            "{:<12}{:>10}  records read = {} imported + {} known",
            "accounted",
            grouped(self.read),
            grouped(self.imported),
            grouped(self.known)
        );
        for (count, what) in further.into_iter().filter(|(count, _)| *count > 0) {
            // Writing to a string cannot fail.
            let _ = write!(line, " + {} {what}", grouped(count));
        }
        line + "\n"
    }
}
