//! The summary of a demo: the visits, the load on servers, the archive, the history of one page.

use super::findings::{Findings, PageLife};
use super::middle::Middle;
use super::scanned::Scanned;
use crate::cli::{DATA_VARIABLE, usual_data};
use crate::commands::{counts, told};
use crate::words::{bytes, count_of, grouped};
use ::crawl::CrawlReport;
use archive::{Flag, Stored};
use base::{Interval, Period, Timestamp};
use node::directory::DirectoryWriter;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// The maximum number of languages shown.
const LANGUAGES_SHOWN_MAX: usize = 4;
/// The maximum number of visits shown of a page.
const VISITS_SHOWN_MAX: usize = 4;

/// The contents of the summary.
pub(super) struct DemoResults<'a> {
    pub(super) report: CrawlReport,
    pub(super) politeness: sim::observe::PolitenessReport,
    pub(super) findings: Findings,
    pub(super) middle: Middle,
    pub(super) scanned: Scanned,
    pub(super) pause: Interval,
    /// How long it took, here and in the simulated web.
    pub(super) took: Duration,
    pub(super) simulated: Interval,
    pub(super) writer: &'a DirectoryWriter,
}

impl DemoResults<'_> {
    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let mut object = counts::to_json(&self.report);
        object.extend(self.findings_json());
        object.into()
    }

    fn findings_json(&self) -> Map<String, Value> {
        let Value::Object(object) = json!({
            "archive": self.writer.archive_path().to_string_lossy(),
            "read_back": self.findings.records,
            "damaged": self.findings.damaged,
            "snapshot": { "at": self.middle.at.to_rfc3339(), "versions": self.middle.versions },
            "scan": {
                "documents": self.scanned.documents,
                "workers": self.scanned.workers,
                "languages": self.scanned.languages.iter().map(|(language, count)| json!([language, count])).collect::<Vec<_>>(),
            },
            "page": self.findings.page.as_ref().map(|page| page.url.as_str()),
            "politeness": self.politeness.to_json(),
        }) else {
            unreachable!("it is written as an object")
        };
        object
    }

    /// For people: two screens of 24 lines, together with the next visits and the hints.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_visits(&mut text);
        let _ = self.write_checks(&mut text);
        if let Some(page) = &self.findings.page {
            let _ = write_life(&mut text, page);
        }
        let _ = write_middle(&mut text, &self.middle);
        let _ = write_scanned(&mut text, &self.scanned);
        text
    }

    fn write_visits(&self, text: &mut String) -> std::fmt::Result {
        let took = Interval::from_seconds(self.took.as_secs());
        let simulated = Interval::from_seconds(self.simulated.as_seconds());
        writeln!(text, "Visits in {took}, or {simulated} of simulated time")?;
        counts::lines(&self.report).iter().try_for_each(|line| writeln!(text, "  {line}"))?;
        writeln!(text)
    }

    fn write_checks(&self, text: &mut String) -> std::fmt::Result {
        let (servers, addresses) = (&self.politeness.at_servers, &self.politeness.at_addresses);
        let shortest = |gap: Option<Interval>| gap.map_or("none".to_owned(), |gap| gap.to_string());
        let (server, address) = (shortest(servers.gap_min), shortest(addresses.gap_min));
        writeln!(text, "Requests seen by the simulated servers, and contents of the archive files")?;
        let mut row = |name: &str, what: &str, remark: &str| {
            writeln!(text, "{}", format!("  {name:<16}{what:>11}  {remark}").trim_end())
        };
        let remark = format!("per server, {address} per address; set: {}", self.pause);
        row("shortest delay", &server, &remark)?;
        row("violations", &grouped(self.politeness.violations()), "of delays, robots rules or Retry-After")?;
        row("read back", &grouped(self.findings.records), "captures of this run, from the WARC files")?;
        if self.findings.damaged > 0 {
            row("damaged", &grouped(self.findings.damaged), "records; the disk may be failing")?;
        }
        let received = bytes(self.report.bytes_received);
        row("written", &bytes(self.report.bytes_written), &format!("from {received} received"))?;
        writeln!(text)
    }

    /// Commands to continue with.
    pub(super) fn hints(&self, data: &Path) -> Vec<String> {
        let mut hints = vec![String::new(), "Try it yourself".to_owned()];
        if data != usual_data() {
            hints.push(format!("export {DATA_VARIABLE}='{}'", data.display()));
        }
        let commands = ["status", "servers", "scan --at now --builtin titles"];
        hints.extend(commands.map(|command| format!("utsushi {command}")));
        if let Some(page) = &self.findings.page {
            hints.push(format!("utsushi explain '{}'", page.url));
            hints.push(format!("utsushi history '{}'", page.url));
        }
        hints.push("utsushi snapshot --at now --format wacz -o web.wacz".to_owned());
        hints.iter_mut().skip(2).for_each(|hint| hint.insert_str(0, "  "));
        hints
    }
}

fn write_life(text: &mut String, page: &PageLife) -> std::fmt::Result {
    let seen = page.visits.iter().skip(1).filter(|visit| visit.flag == Flag::Changed).count();
    writeln!(text, "One page's life: {}", page.url)?;
    for (place, visit) in page.visits.iter().take(VISITS_SHOWN_MAX).enumerate() {
        let word = match (visit.kind, visit.flag, place) {
            (Stored::Metadata, _, _) => "no answer",
            (_, _, 0) => "stored",
            (_, flag, _) => flag.as_str(),
        };
        let until = page.validity.get(&visit.location).copied().map(until).unwrap_or_default();
        let line = format!("  {}  {word:<10} {}  {until}", short(visit.at), told::status(visit));
        writeln!(text, "{}", line.trim_end())?;
    }
    if page.visits.len() > VISITS_SHOWN_MAX {
        let more = (page.visits.len() - VISITS_SHOWN_MAX) as u64;
        writeln!(text, "  … and {}", count_of(more, "more visit"))?;
    }
    let (real, process) = (page.changes.len(), &page.process);
    writeln!(text, "  Ground truth: {process};")?;
    writeln!(text, "  real changes in that time: {real}, seen as new versions: {seen}.\n")
}

fn write_middle(text: &mut String, middle: &Middle) -> std::fmt::Result {
    let pages = count_of(middle.versions, "page");
    writeln!(text, "The web as of the middle of the run, {}: {pages}, such as", short(middle.at))?;
    for version in &middle.first {
        let (entry, until) = (&version.payload, until(version.validity));
        writeln!(text, "  from {}  {until:<20}  {}  {}", short(entry.at), told::status(entry), entry.url)?;
    }
    writeln!(text)
}

fn write_scanned(text: &mut String, scanned: &Scanned) -> std::fmt::Result {
    let Scanned { documents, seconds, workers, languages } = scanned;
    let (pages, workers) = (count_of(*documents, "page"), count_of(*workers as u64, "worker"));
    let language = |(name, count): &(String, u64)| {
        format!("{} {}", if name.is_empty() { "none" } else { name }, grouped(*count))
    };
    let languages: Vec<String> = languages.iter().take(LANGUAGES_SHOWN_MAX).map(language).collect();
    writeln!(text, "Languages of the {pages} at the end, by an analysis on {workers} in {seconds:.1} s")?;
    writeln!(text, "  {}\n", languages.join(", "))
}

/// A moment of the run: month, day and time.
fn short(at: Timestamp) -> String {
    at.to_rfc3339()[5..19].replace('T', " ")
}

fn until(validity: Period) -> String {
    if validity.to() == Timestamp::MAX {
        "still valid".to_owned()
    } else {
        format!("until {}", short(validity.to()))
    }
}
