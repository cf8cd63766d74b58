//! The texts of an import: for one event, and for the summary.

use crate::words::{count_of, grouped};
use node::import::{ImportEvent, ImportSummary, RecordAccounts};
use std::fmt::Write as _;

/// An event in a sentence.
pub(super) fn event(event: &ImportEvent) -> String {
    match event {
        ImportEvent::Added { .. } => "added a capture".to_owned(),
        ImportEvent::Unfit { input: Some(input), input_offset, what, .. } => {
            format!("the record at byte {input_offset} of `{input}` cannot be imported: {what}")
        }
        ImportEvent::Unfit { id, url, input_offset, what, .. } => {
            let (id, url) = (id.as_deref().unwrap_or_default(), url.as_deref().unwrap_or_default());
            format!("the record {id} of `{url}` at byte {input_offset} cannot be imported: {what}")
        }
        ImportEvent::Damaged { input, input_offset, what } => {
            format!("`{input}` at byte {input_offset}: {what}")
        }
        ImportEvent::FileLeftOut { input, what } => {
            format!("cannot import `{input}`: {what}; the other files are imported")
        }
        ImportEvent::MoreUnreported => "more records like these are counted but not listed".to_owned(),
    }
}

/// The summary as a table.
pub(super) fn summary(summary: &ImportSummary) -> String {
    let mut text = String::new();
    let mut row = |name: &str, count: u64, remark: &str| {
        let line = format!("{name:<12}{:>10}  {remark}", grouped(count));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    };
    row("records", summary.records, &format!("in {}", count_of(summary.files, "file")));
    row("added", summary.added, "captures; they are synced");
    if summary.others > 0 {
        row("others", summary.others, "records that are not captures, such as notes; they are synced");
    }
    row("known", summary.known, "captures already archived");
    if summary.taken_down > 0 {
        row("taken down", summary.taken_down, "captures under a takedown, not imported");
    }
    let left_out = &summary.accounted.left_out;
    if !left_out.is_empty() {
        row("left out", summary.accounted.left_out_count(), "records that cannot be imported:");
        left_out.iter().for_each(|(why, count)| row("", *count, why));
    }
    if summary.files_left_out > 0 {
        row("files", summary.files_left_out, "that cannot be imported; the others are");
    }
    if summary.damaged > 0 {
        row("damaged", summary.damaged, "places in the files; the rest is imported");
    }
    if summary.stopped {
        row("stopped", 0, "before the end; run the same command again to continue");
    }
    text + &accounts(&summary.accounted)
}

/// One line in which the numbers add up.
fn accounts(accounts: &RecordAccounts) -> String {
    let further = [
        (accounts.taken_down, "taken down"),
        (accounts.joined, "joined to others"),
        (accounts.left_out_count(), "left out"),
        (accounts.not_reached, "not reached"),
    ];
    let mut line = format!(
        "{:<12}{:>10}  records read = {} imported + {} known",
        "accounted",
        grouped(accounts.read),
        grouped(accounts.imported),
        grouped(accounts.known)
    );
    for (count, what) in further.into_iter().filter(|(count, _)| *count > 0) {
        // Writing to a string cannot fail.
        let _ = write!(line, " + {} {what}", grouped(count));
    }
    line + "\n"
}
