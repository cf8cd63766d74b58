//! The counts of a crawl, as every summary prints them: for programs and for people.
//!
//! `docs/reference/figures.md` defines each figure. Summaries share this module so that a figure means the same everywhere.

use crate::words::grouped;
use ::crawl::CrawlReport;
use node::held_back;
use serde_json::{Map, Value, json};

/// The maximum width of a table of counts.
#[cfg(test)]
const COLUMNS_MAX: usize = 80;

/// The counts for programs.
pub(crate) fn to_json(r: &CrawlReport) -> Map<String, Value> {
    let Value::Object(object) = json!({
        "requests": r.requests, "unanswered": r.unanswered, "cut_off": r.cut_off, "robots": r.robots,
        "requisites": r.requisites, "requisites_missing": r.requisites_missing,
        "pages": r.pages, "new": r.new, "duplicates": r.duplicates, "changed": r.changed,
        "unchanged": r.unchanged, "moved": r.moved, "gone": r.gone, "failed": r.failed,
        "refused": r.refused, "unreachable": r.unreachable, "failing": r.failing,
        "bytes_received": r.bytes_received, "bytes_written": r.bytes_written,
        "servers": r.servers, "known": r.known, "waiting": r.waiting, "dropped": r.dropped, "lost": r.lost,
        "held_back": held_back::by_reason(&r.held_back),
    }) else {
        unreachable!("it is written as an object")
    };
    object
}

/// The counts for people, one per line. Irrelevant zeros are left out.
pub(crate) fn lines(r: &CrawlReport) -> Vec<String> {
    let mut lines = vec![line("requests", r.requests, &requests(r))];
    if r.cut_off > 0 {
        lines.push(line("  cut off", r.cut_off, "in progress at the end"));
    }
    lines.push(line("pages archived", r.pages, ""));
    let kinds = [
        ("  new", r.new, ""),
        ("  duplicates", r.duplicates, "new, with content already archived"),
        ("  changed", r.changed, "since the previous visit"),
        ("  unchanged", r.unchanged, "since the previous visit"),
        ("  moved", r.moved, "redirects"),
        ("  gone", r.gone, "404 or 410"),
        ("  errors", r.failed, "other error responses"),
        ("no answer", r.unreachable, "from the server of the page"),
        ("refused", r.refused, "by robots file, opt-out list or address: not sent"),
    ];
    let kinds = kinds.into_iter().filter(|(_, count, _)| *count > 0);
    lines.extend(kinds.map(|(name, count, remark)| line(name, count, remark)));
    if r.requisites + r.requisites_missing > 0 {
        let missing = format!("images, styles, fonts, scripts; {} missing", grouped(r.requisites_missing));
        lines.push(line("requisites", r.requisites, &missing));
    }
    lines.push(line("servers", r.servers, ""));
    lines.push(line("pages known", r.known, &format!("{} never visited", grouped(r.waiting))));
    if r.held_back.total() > 0 {
        let remark = "look like a trap: `utsushi servers --held-back`";
        lines.push(line("held back", r.held_back.total(), remark));
        let reasons = r.held_back.reasons();
        lines.extend(
            reasons.map(|(reason, count)| line(&format!("  {}", reason.as_str()), count, reason.brief())),
        );
    }
    if r.lost > 0 {
        lines.push(line("not kept", r.lost, "captures: disk full; none was acknowledged"));
    }
    lines
}

fn requests(r: &CrawlReport) -> String {
    let robots = format!("{} for robots files", grouped(r.robots));
    if r.unanswered == 0 { robots } else { format!("{robots}, {} unanswered", grouped(r.unanswered)) }
}

/// A name, a count and a remark in columns.
pub(crate) fn line(name: &str, count: u64, remark: &str) -> String {
    let line = format!("{name:<16}{:>11}  {remark}", grouped(count));
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_no_requests_and_no_pages() {
        let report = CrawlReport {
            requests: 227,
            robots: 3,
            pages: 224,
            new: 224,
            refused: 102,
            ..CrawlReport::default()
        };
        let lines = lines(&report);
        assert_eq!(lines[0], "requests                227  3 for robots files");
        assert_eq!(lines[1], "pages archived          224");
        assert!(lines.iter().any(|line| line.starts_with("refused                 102  ")), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains("unchanged")), "{lines:#?}");
    }

    #[test]
    fn every_line_fits_a_terminal() {
        let many = 12_345_678;
        let report = CrawlReport {
            requests: many,
            unanswered: many,
            cut_off: 1_024,
            robots: many,
            requisites: many,
            requisites_missing: many,
            duplicates: many,
            refused: many,
            lost: many,
            waiting: many,
            ..CrawlReport::default()
        };
        for line in lines(&report) {
            assert!(line.chars().count() <= COLUMNS_MAX, "{line}");
        }
    }
}
