//! The last words of a crawl: what was visited, what is known, what to do next.

use crate::commands::counts;
use crate::node::directory::Writer;
use crate::words::bytes;
use ::crawl::Report;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// What there is to tell.
pub(super) struct Summary<'a> {
    pub(super) report: &'a Report,
    pub(super) writer: &'a Writer,
    pub(super) took: Duration,
}

impl Summary<'_> {
    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let mut object = counts::to_json(self.report);
        object.insert("seconds".to_owned(), json!(self.took.as_secs_f64()));
        object.into()
    }

    /// For people.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let r = self.report;
        counts::lines(r).iter().try_for_each(|line| writeln!(text, "{line}"))?;
        writeln!(
            text,
            "{:<16}{:>11}  received, {} written to {}",
            "bytes",
            bytes(r.bytes_received),
            bytes(r.bytes_written),
            self.writer.archive_path().display()
        )?;
        let data = self.writer.directory().path().display();
        writeln!(text, "\nutsushi --data {data} crawl           goes on")?;
        writeln!(text, "utsushi --data {data} status          what is there, and what comes next")?;
        writeln!(text, "utsushi --data {data} explain URL     one page: its life, its next visit and why")
    }
}
