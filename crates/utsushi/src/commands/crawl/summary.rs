//! The last words of a crawl: what was visited, what is known, what to do next.

use crate::node::directory::Writer;
use crate::words::{bytes, grouped};
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
        let r = self.report;
        json!({
            "pages": r.pages, "robots": r.robots, "new": r.new, "changed": r.changed, "unchanged": r.unchanged,
            "moved": r.moved, "gone": r.gone, "failed": r.failed, "refused": r.refused,
            "unreachable": r.unreachable,
            "requests": r.requests, "bytes_received": r.bytes_received, "bytes_written": r.bytes_written,
            "servers": r.servers, "known": r.known, "waiting": r.waiting, "dropped": r.dropped, "lost": r.lost,
            "seconds": self.took.as_secs_f64(),
        })
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
        let mut row = |name: &str, count: u64, remark: &str| {
            let line = format!("{name:<16}{:>12}  {remark}", grouped(count));
            writeln!(text, "{}", line.trim_end())
        };
        row("pages archived", r.pages, &format!("with {} requests", grouped(r.requests)))?;
        row("  new", r.new, "")?;
        row("  changed", r.changed, "")?;
        row("  unchanged", r.unchanged, "")?;
        row("  moved", r.moved, "")?;
        row("  gone", r.gone, "")?;
        row("  refused", r.refused, "by robots files, the opt-out list or the address; nothing was sent")?;
        row("  failed", r.failed + r.unreachable, "or not reached")?;
        row("servers", r.servers, &format!("and {} answers about robots files", grouped(r.robots)))?;
        row("pages known", r.known, &format!("of which {} wait for their first visit", grouped(r.waiting)))?;
        if r.lost > 0 {
            row("not kept", r.lost, "because the disk was full at the end; nothing said to be kept is lost")?;
        }
        writeln!(
            text,
            "{:<16}{:>12}  received, {} written to {}",
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
