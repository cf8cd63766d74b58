//! Checks a WARC file against the standard (ISO 28500, editions 1.0 and 1.1), clause by clause.
//!
//! ```
//! use std::io::Cursor;
//! use warc::check::{Check, Severity};
//!
//! let file = b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: 2026-02-30T09:00:00Z\r\n\
//!     WARC-Record-ID: <urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39>\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
//! let mut check = Check::new(Cursor::new(file));
//! let findings: Vec<_> = check.by_ref().collect::<Result<_, _>>()?;
//! assert_eq!((findings[0].severity, findings[0].clause_number()), (Severity::Error, "5.4"));
//! assert_eq!((check.summary().records, check.summary().errors), (1, 1));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A reader is lenient so that nothing is lost; this is strict so that nothing is hidden, so it reads the bytes itself
//! instead of using [`crate::WarcReader`]. A broken *shall* of the standard is an error; a broken *should*, or a
//! *shall* that widely used writers break, is advice.
//!
//! **Invariant:** the file is read once, front to back, except that after damage a bounded part is read again. Memory
//! holds one head, one window and the hashes of record ids; blocks are streamed. It never stops at a finding: after
//! damage it continues at the next record.

mod block;
mod clause;
mod date;
mod digest;
mod fields;
mod finding;
mod gzip;
mod head;
mod http;
mod input;
mod known;
pub(crate) mod member;
mod report;
mod uri;
mod zstd;

pub use clause::{Clause, Edition, Field};
pub use finding::{CheckSummary, Finding};
pub use report::Severity;

use crate::Kind;
use crate::header::HEAD_BYTES_MAX;
use block::Block;
pub(crate) use fields::number as digits;
use head::Head;
use known::Known;
use member::{Fault, Form, Source};
use memchr::memchr;
use report::{Report, shown};
use std::collections::VecDeque;
use std::io::{self, Read, Seek};

/// Reads a file and returns what is wrong with it. It ends at an error, when the file cannot be read.
#[derive(Debug)]
pub struct Check<R> {
    source: Source<R>,
    known: Known,
    report: Report,
    findings: VecDeque<Finding>,
    summary: CheckSummary,
    current: Current,
    head: Vec<u8>,
    reported: ReportedOnce,
    ended: bool,
}

/// The record that is being checked.
#[derive(Debug, Default)]
struct Current {
    offset: u64,
    id: Option<String>,
    edition: Edition,
    members: u64,
    is_record: bool,
    /// The beginning of a record that was found after damage, with `WARC/` consumed.
    resumed: Option<Start>,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    offset: u64,
    read_of_member: u64,
}

/// What is reported once per file.
#[derive(Debug, Default)]
struct ReportedOnce {
    shared: bool,
    spanning: bool,
    draft: bool,
}

const MAGIC: &[u8] = b"WARC/";
const END: &[u8] = b"\r\n\r\n";

impl<R: Read + Seek> Check<R> {
    /// Checks a file from its beginning.
    pub fn new(read: R) -> Self {
        Self {
            source: Source::new(read),
            known: Known::default(),
            report: Report::default(),
            findings: VecDeque::new(),
            summary: CheckSummary::default(),
            current: Current::default(),
            head: Vec::new(),
            reported: ReportedOnce::default(),
            ended: false,
        }
    }

    /// What was seen so far; of the whole file once there are no more findings.
    #[must_use]
    pub fn summary(&self) -> &CheckSummary {
        &self.summary
    }

    /// Checks one more record, or what is in its place.
    fn step(&mut self) -> io::Result<()> {
        let result = self.read_record();
        let result = match result {
            Err(Fault::Damaged(clause, what)) => self.pass_damage(clause, what),
            other => other,
        };
        match result {
            Ok(true) => {}
            Ok(false) => self.finish(),
            Err(Fault::Damaged(clause, what)) => {
                self.report.error(clause, what);
                self.finish();
            }
            Err(Fault::Io(error)) => {
                self.ended = true;
                return Err(error);
            }
        }
        self.publish();
        Ok(())
    }

    fn pass_damage(&mut self, clause: Clause, what: String) -> Result<bool, Fault> {
        if self.source.member() != self.current.offset {
            self.publish();
            self.current = Current { offset: self.source.member(), ..Current::default() };
        }
        self.report.error(clause, what);
        self.current.resumed = None;
        self.source.recover(begins_record)
    }

    fn finish(&mut self) {
        if self.summary.records == 0 {
            self.report.error(Clause::Model, "the file has no record; it must have at least one");
        }
        self.current.offset = self.current.offset.max(self.source.member());
        (self.summary.bytes, self.summary.members) = (self.source.file_bytes(), self.source.members());
        self.ended = true;
    }

    /// Publishes the findings of the current record.
    fn publish(&mut self) {
        let notes = self.source.take_notes(self.current.offset);
        notes.into_iter().for_each(|(severity, clause, what)| self.report.add(severity, clause, what));
        for (severity, clause, what) in self.report.0.drain(..) {
            match severity {
                Severity::Advice => self.summary.advice += 1,
                Severity::Error => self.summary.errors += 1,
            }
            self.findings.push_back(Finding {
                offset: self.current.offset,
                record: self.summary.records + u64::from(!self.current.is_record),
                id: self.current.id.clone(),
                severity,
                edition: self.current.edition,
                clause,
                what,
            });
        }
    }

    fn read_record(&mut self) -> Result<bool, Fault> {
        if !self.begin()? {
            return Ok(false);
        }
        match self.read_head()? {
            HeadEnd::Foreign => self.pass_foreign().map(|()| true),
            HeadEnd::Missing(what) => {
                self.count(&Kind::Other(String::new()));
                self.report.error(Clause::Model, what);
                let has_line_end = self.head.ends_with(b"\n");
                self.look_at_head();
                self.skip_to_record(has_line_end).map(|_| true)
            }
            HeadEnd::Found => {
                let (head, kind) = self.look_at_head();
                self.count(&kind);
                self.read_block(&head, &kind).map(|()| true)
            }
        }
    }

    /// Begins the next record; false at the end of the file.
    fn begin(&mut self) -> Result<bool, Fault> {
        self.head.clear();
        let resumed = self.current.resumed.take();
        let is_over = self.source.fill()?.is_empty() && resumed.is_none();
        if is_over {
            return Ok(false);
        }
        let start = match resumed {
            Some(start) => {
                self.head.extend_from_slice(MAGIC);
                start
            }
            None => Start { offset: self.source.offset(), read_of_member: self.source.read_of_member() },
        };
        let members = self.source.members();
        self.current = Current { offset: start.offset, members, ..Current::default() };
        if start.read_of_member > 0
            && !self.source.is_plain()
            && !std::mem::replace(&mut self.reported.shared, true)
        {
            let what = "the record shares its compressed member with the one before it; from here on members hold several records, which cannot be read alone";
            self.report.advice(self.member_clause(), what);
        }
        Ok(true)
    }

    fn member_clause(&self) -> Clause {
        if self.source.form() == Some(Form::Zstd) { Clause::ZstdFile } else { Clause::RecordAtATime }
    }

    fn count(&mut self, kind: &Kind) {
        self.summary.records += 1;
        self.current.is_record = true;
        let word = if let Kind::Other(_) = kind { "other" } else { kind.as_str() };
        *self.summary.types.entry(word.to_owned()).or_default() += 1;
    }

    fn read_head(&mut self) -> Result<HeadEnd, Fault> {
        loop {
            if self.head.ends_with(b"\n\r\n") || self.head.ends_with(b"\n\n") {
                return Ok(HeadEnd::Found);
            }
            if self.head.len() >= HEAD_BYTES_MAX {
                return Ok(HeadEnd::Missing("the head exceeds the length limit; an empty line must end it"));
            }
            let is_whole = self.read_line()?;
            if !looks_like_record(&self.head) {
                return Ok(HeadEnd::Foreign);
            }
            if !is_whole {
                return Ok(HeadEnd::Missing(
                    "the head does not end before its member or file; an empty line must end it",
                ));
            }
        }
    }

    /// Adds a line to the head, or as much of it as there is room for; false when the file or the member is over.
    fn read_line(&mut self) -> Result<bool, Fault> {
        loop {
            let meets_record = !self.head.is_empty() && self.meets_record()?;
            let bytes = self.source.fill()?;
            if bytes.is_empty() || meets_record {
                return Ok(false);
            }
            let line_end = memchr(b'\n', bytes).map(|place| place + 1);
            let taken = line_end.unwrap_or(bytes.len()).min(HEAD_BYTES_MAX - self.head.len());
            self.head.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.source.consume(taken);
            if line_end.is_some() || self.head.len() >= HEAD_BYTES_MAX {
                return Ok(true);
            }
        }
    }

    /// Whether the record's member is over and the next one begins with another record.
    fn meets_record(&mut self) -> Result<bool, Fault> {
        if self.source.is_plain() {
            return Ok(false);
        }
        let begins = begins_record(self.source.fill()?);
        if self.source.members() == self.current.members || self.source.read_of_member() > 0 {
            return Ok(false);
        }
        // A record may take several zstandard frames.
        let is_gzip = self.source.form() == Some(Form::Gzip);
        if is_gzip && !begins && !std::mem::replace(&mut self.reported.spanning, true) {
            let what = "the record continues in another compressed member; each record should be one member";
            self.report.advice(Clause::RecordAtATime, what);
        }
        Ok(begins)
    }

    fn look_at_head(&mut self) -> (Head, Kind) {
        let raw = std::mem::take(&mut self.head);
        let head = Head::read(&raw, &mut self.report);
        self.head = raw;
        if head.is_draft && !std::mem::replace(&mut self.reported.draft, true) {
            let what =
                "the record follows a draft from before the standard; it is checked by the rules of 1.0";
            self.report.advice(Clause::Model, what);
        }
        let kind = Kind::from(head.get(Field::Type).unwrap_or_default());
        self.current.edition = head.edition;
        self.current.id = head.get(Field::RecordId).map(shown);
        fields::check(&head, &kind, &mut self.report);
        self.known.learn(&head, &kind, &mut self.report);
        (head, kind)
    }

    fn read_block(&mut self, head: &Head, kind: &Kind) -> Result<(), Fault> {
        // Without a length the block ends only at another record.
        let Some(length) = head.get(Field::ContentLength).and_then(fields::number) else {
            return self.skip_to_record(true).map(drop);
        };
        let start = self.source.offset();
        let mut block = Block::new(head, kind);
        while block.length() < length {
            let meets_record = self.meets_record()?;
            let bytes = self.source.fill()?;
            if meets_record || bytes.is_empty() {
                let what = format!("says `{length}`, but the block ends after `{}` bytes", block.length());
                self.report.wrong(Field::ContentLength, what);
                return self.resume_after(start, &block, true);
            }
            let left = usize::try_from(length - block.length()).unwrap_or(usize::MAX);
            let taken = bytes.len().min(left);
            block.update(bytes.get(..taken).unwrap_or_default());
            self.source.consume(taken);
            self.summary.block_bytes += taken as u64;
        }
        self.read_end(start, block)
    }

    /// Reads the two line ends after a block, and checks that the block ended there.
    fn read_end(&mut self, start: u64, block: Block) -> Result<(), Fault> {
        let mut end = Vec::new();
        let next = loop {
            match self.source.fill()?.first() {
                Some(byte @ (b'\r' | b'\n')) if end.len() < HEAD_BYTES_MAX => end.push(*byte),
                other => break other.copied(),
            }
            self.source.consume(1);
        };
        if end == END {
            block.finish(&mut self.report);
            return Ok(());
        }
        let fits = matches!(next, None | Some(b'W' | b'w'));
        if fits {
            let found = end.get(..16).unwrap_or(&end).escape_ascii();
            let what = format!(
                "the block is followed by `{}` bytes of line ends (`{found}`); expected CR LF CR LF",
                end.len()
            );
            self.report.error(Clause::Model, what);
            block.finish(&mut self.report);
            return Ok(());
        }
        let what = format!("says `{}`, but the block does not end there", block.length());
        self.report.wrong(Field::ContentLength, what);
        self.resume_after(start, &block, !end.is_empty())
    }

    /// Continues after a block of the wrong length: at the record it swallowed, if there is one and the file is not
    /// compressed, or at the next one.
    fn resume_after(&mut self, start: u64, block: &Block, at_line_start: bool) -> Result<(), Fault> {
        if let Some(inside) = block.record_inside()
            && self.source.go_back(start + inside)?
        {
            return Ok(());
        }
        // The beginning of the next record may cross the end of the block.
        let before_end = start + block.length().saturating_sub(END.len() as u64 + MAGIC.len() as u64);
        let went_back = self.source.go_back(before_end)?;
        self.skip_to_record(at_line_start && !went_back).map(drop)
    }

    /// Passes bytes that belong to no record.
    fn pass_foreign(&mut self) -> Result<(), Fault> {
        let begins = shown(&String::from_utf8_lossy(self.head.get(..32).unwrap_or(&self.head)));
        let is_arc = self.head.starts_with(b"filedesc:");
        let before = self.head.len() as u64;
        let passed = before + self.skip_to_record(self.head.ends_with(b"\n"))?;
        let mut what = format!(
            "`{passed}` bytes belong to no record; they begin with `{begins}`, a record with `WARC/`"
        );
        if is_arc {
            what.push_str("; this seems to be an ARC file, which is not a WARC file");
        }
        self.report.error(Clause::Model, what);
        Ok(())
    }

    /// Passes everything up to a line that begins with `WARC/`; how much that was.
    fn skip_to_record(&mut self, at_line_start: bool) -> Result<u64, Fault> {
        let (mut matched, mut line_start, mut passed) = (0, at_line_start, 0);
        loop {
            let bytes = self.source.fill()?;
            let Some(byte) = bytes.first().copied() else { return Ok(passed) };
            if self.source.read_of_member() == 0 && !self.source.is_plain() {
                (matched, line_start) = (0, true);
            }
            let start = Start { offset: self.source.offset(), read_of_member: self.source.read_of_member() };
            self.source.consume(1);
            passed += 1;
            let is_next = MAGIC.get(matched).is_some_and(|expected| byte.eq_ignore_ascii_case(expected));
            matched = if is_next && (matched > 0 || line_start) { matched + 1 } else { 0 };
            line_start = byte == b'\n';
            if matched == MAGIC.len() {
                let back = MAGIC.len() as u64 - 1;
                let offset = if self.source.is_plain() { start.offset - back } else { start.offset };
                let read_of_member = start.read_of_member - back.min(start.read_of_member);
                self.current.resumed = Some(Start { offset, read_of_member });
                return Ok(passed - MAGIC.len() as u64);
            }
        }
    }
}

impl<R: Read + Seek> Iterator for Check<R> {
    type Item = io::Result<Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.findings.is_empty() && !self.ended {
            if let Err(error) = self.step() {
                return Some(Err(error));
            }
        }
        self.findings.pop_front().map(Ok)
    }
}

/// How the reading of a head ended.
enum HeadEnd {
    Found,
    /// What is there is not a head.
    Foreign,
    /// A head begins but does not end.
    Missing(&'static str),
}

/// Whether `content` begins with the first word of a record, in letters of any case.
fn begins_record(content: &[u8]) -> bool {
    content.get(..MAGIC.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(MAGIC))
}

fn looks_like_record(head: &[u8]) -> bool {
    let beginning = head.get(..4).unwrap_or(head);
    let word = MAGIC.get(..beginning.len()).unwrap_or_default();
    beginning.eq_ignore_ascii_case(word)
}
