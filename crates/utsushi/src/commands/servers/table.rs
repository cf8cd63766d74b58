//! Servers as a table whose cells are never cut: text that does not fit continues on the next line.

use crate::words::{count_of, grouped};
use base::Interval;
use node::held_back;
use node::views::ServerView;

/// A longer name has a line of its own.
const NAME_CHARS_MAX: usize = 34;
/// Remarks that do not fit after the columns are below them, indented by this much.
const INDENT: &str = "    ";
const HEAD: [&str; 6] = ["SERVER", "PAGES", "NEW", "QUEUED", "NEEDS", "PAUSE"];

/// The table, for a terminal with this many columns; without one, a line may have any length.
pub(super) fn lines(servers: &[ServerView], columns: Option<usize>) -> Vec<String> {
    let rows: Vec<[String; 6]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(servers.iter().map(cells)).collect();
    let widths: [usize; 6] = std::array::from_fn(|column| width(&rows, column));
    let remarks = std::iter::once(vec!["REMARKS".to_owned()]).chain(servers.iter().map(remarks));
    rows.iter().zip(remarks).flat_map(|(row, remarks)| row_lines(row, &widths, &remarks, columns)).collect()
}

/// The need of a server is the interval between requests that keeps its schedule.
fn cells(server: &ServerView) -> [String; 6] {
    let needs = server.interval.map_or_else(|| "-".to_owned(), time);
    let counts = [server.pages, server.new, server.queued].map(grouped);
    let [pages, new, queued] = counts;
    [server.server.clone(), pages, new, queued, needs, time(server.pause)]
}

fn width(rows: &[[String; 6]], column: usize) -> usize {
    let widths = rows.iter().map(|row| row[column].chars().count());
    widths.filter(|width| column > 0 || *width <= NAME_CHARS_MAX).max().unwrap_or(0)
}

fn row_lines(
    row: &[String; 6],
    widths: &[usize; 6],
    remarks: &[String],
    columns: Option<usize>,
) -> Vec<String> {
    let [name, counts @ ..] = row;
    let is_long = name.chars().count() > NAME_CHARS_MAX;
    let mut lines = if is_long { vec![name.clone()] } else { Vec::new() };
    let mut line = format!("{:<1$}", if is_long { "" } else { name }, widths[0]);
    for (cell, width) in counts.iter().zip(&widths[1..]) {
        line.push_str(&format!("  {cell:>width$}"));
    }
    let fits = |length: usize| columns.is_none_or(|columns| length <= columns);
    for (place, remark) in remarks.iter().enumerate() {
        let between = if place == 0 { "  " } else { ", " };
        if fits(line.chars().count() + between.len() + remark.chars().count()) {
            line.push_str(between);
        } else {
            lines.push(std::mem::replace(&mut line, INDENT.to_owned()));
        }
        line.push_str(remark);
    }
    lines.push(line);
    lines
}

fn remarks(server: &ServerView) -> Vec<String> {
    let mut remarks = Vec::new();
    if server.overloaded {
        // Servers with the same address share its limits.
        let is_alone = server.interval.is_some_and(|interval| interval < server.pause);
        remarks.push(if is_alone { "overloaded" } else { "overloaded address" }.to_owned());
    }
    if server.dropped > 0 {
        remarks.push(format!("{} dropped", grouped(server.dropped)));
    }
    if !server.held_back.is_empty() {
        let total = grouped(held_back::total(&server.held_back));
        remarks.push(format!("{total} held back ({})", crate::words::by_reason(&server.held_back)));
    }
    if server.agreed {
        remarks.push("agreed".to_owned());
    }
    if let Some(why) = &server.slowed_by {
        remarks.push(format!("slowed: {why}"));
    }
    if server.failures > 0 {
        remarks.push(count_of(server.failures.into(), "failure"));
    }
    if let Some(name) = &server.alias_of {
        remarks.push(format!("= {name}"));
    }
    if let Some(freshness) = server.expected_freshness {
        remarks.push(format!("{:.1} % fresh", freshness * 100.0));
    }
    remarks
}

/// A length of time in a few characters.
fn time(seconds: f64) -> String {
    match seconds {
        ..0.001 => "0s".to_owned(),
        0.001..1.0 => format!("{:.0}ms", seconds * 1e3),
        1.0..120.0 => format!("{seconds:.1}s"),
        120.0..7_200.0 => format!("{:.1}m", seconds / 60.0),
        7_200.0..172_800.0 => format!("{:.1}h", seconds / 3_600.0),
        _ if seconds < Interval::from_days(10_000).as_seconds_f64() => format!("{:.1}d", seconds / 86_400.0),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(name: &str) -> ServerView {
        ServerView {
            server: name.to_owned(),
            pages: 123_456_789_012,
            new: 9_999_999,
            queued: 8_888_888,
            interval: Some(86_400.0 * 399.0),
            pause: 86_400.0,
            overloaded: true,
            dropped: 12_345_678,
            agreed: true,
            failures: 12,
            alias_of: Some("other.example".to_owned()),
            expected_freshness: Some(0.976),
            held_back: [("shape".to_owned(), 6_574), ("echo".to_owned(), 12)].into(),
            ..ServerView::default()
        }
    }

    #[test]
    fn no_cell_is_cut_and_a_terminal_is_not_overrun() {
        let name = "a-very-long-name-of-a-server-in-a-far.country.example:8080";
        for columns in [80, 100, 120] {
            let lines = lines(&[busy(name), busy("a.jp")], Some(columns));
            for line in &lines {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
            let text = lines.join("\n");
            for part in [
                name,
                "12,345,678 dropped",
                "12 failures",
                "= other.example",
                "97.6 % fresh",
                "6,586 held back (12 echo, 6,574 shape)",
            ] {
                assert!(text.contains(part), "{columns}: `{part}` is not in {text}");
            }
        }
        assert_eq!(lines(&[busy("a.jp")], None).len(), 2, "without a terminal a server has one line");
    }

    #[test]
    fn columns_stand_below_their_names() {
        let server = ServerView {
            server: "a.jp".to_owned(),
            pages: 1,
            new: 2,
            queued: 3,
            interval: Some(4.0),
            pause: 10.0,
            ..ServerView::default()
        };
        let lines = lines(&[server], Some(80));
        for (word, value) in
            [("PAGES", "1"), ("NEW", "2"), ("QUEUED", "3"), ("NEEDS", "4.0s"), ("PAUSE", "10.0s")]
        {
            let end = lines[0].find(word).unwrap() + word.len();
            assert!(lines[1][..end].ends_with(value), "{word}: {lines:#?}");
        }
    }
}
