//! The last words of a demo: what was visited, what the servers felt, what is archived, how one page lived.

use super::findings::{Findings, PageLife};
use super::middle::Middle;
use super::scanned::Scanned;
use crate::commands::{counts, told};
use crate::node::directory::Writer;
use crate::when;
use crate::words::{bytes, count_of, grouped};
use ::crawl::Report;
use archive::{Flag, Stored};
use base::Interval;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The most languages that are shown.
const LANGUAGES_SHOWN_MAX: usize = 4;
/// The most visits of a page's life that are shown.
const VISITS_SHOWN_MAX: usize = 8;

/// What there is to tell.
pub(super) struct Told<'a> {
    pub(super) report: Report,
    pub(super) politeness: sim::observe::Report,
    pub(super) findings: Findings,
    pub(super) middle: Middle,
    pub(super) scanned: Scanned,
    pub(super) pause: Interval,
    pub(super) directory: &'a Writer,
}

impl Told<'_> {
    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let mut object = counts::to_json(&self.report);
        object.extend(self.findings_json());
        object.into()
    }

    fn findings_json(&self) -> Map<String, Value> {
        let Value::Object(object) = json!({
            "archive": self.directory.archive_path().to_string_lossy(),
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

    /// For people.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_visits(&mut text);
        let _ = self.write_politeness(&mut text);
        let _ = self.write_archive(&mut text);
        if let Some(page) = &self.findings.page {
            let _ = write_life(&mut text, page);
        }
        let _ = write_middle(&mut text, &self.middle);
        let _ = write_scanned(&mut text, &self.scanned);
        let _ = self.write_hints(&mut text);
        text
    }

    fn write_visits(&self, text: &mut String) -> std::fmt::Result {
        let r = &self.report;
        writeln!(text, "\nWhat was visited")?;
        counts::lines(r).iter().try_for_each(|line| writeln!(text, "  {line}"))
    }

    fn write_politeness(&self, text: &mut String) -> std::fmt::Result {
        let (servers, addresses) = (&self.politeness.at_servers, &self.politeness.at_addresses);
        let shortest = |gap: Option<Interval>| gap.map_or("none".to_owned(), |gap| gap.to_string());
        writeln!(text, "\nWhat the servers felt of it, by an observer on their side")?;
        row(text, "requests", servers.requests, "")?;
        let (server, address) = (shortest(servers.gap_min), shortest(addresses.gap_min));
        writeln!(
            text,
            "  {:<16}{server:>10}  on one server, {address} on one address; asked for: {}",
            "shortest pause", self.pause
        )?;
        row(text, "violations", self.politeness.violations(), "of pauses, robots rules or Retry-After")
    }

    fn write_archive(&self, text: &mut String) -> std::fmt::Result {
        let r = &self.report;
        writeln!(text, "\nWhat is archived")?;
        writeln!(
            text,
            "  {:<16}{:>10}  from {} received, in {}",
            "bytes written",
            bytes(r.bytes_written),
            bytes(r.bytes_received),
            self.directory.archive_path().display()
        )?;
        row(text, "read back", self.findings.records, "captures of this run, from the WARC files")?;
        if self.findings.damaged > 0 {
            row(text, "damaged", self.findings.damaged, "records; the disk may be failing")?;
        }
        self.findings.last.iter().try_for_each(|entry| {
            let status = entry.status.map_or_else(|| "---".to_owned(), |status| status.to_string());
            let (file, offset) = (&entry.location.file, entry.location.offset);
            writeln!(text, "  {:<12} {status}  {}\n      {file} at {offset}", entry.outcome(), entry.url)
        })
    }

    fn write_hints(&self, text: &mut String) -> std::fmt::Result {
        let data = self.directory.directory().path().display();
        writeln!(text, "\nLook for yourself")?;
        writeln!(text, "  utsushi --data {data} status")?;
        let at = self.middle.at;
        if let Some(page) = &self.findings.page {
            writeln!(text, "  utsushi --data {data} history '{}'", page.url)?;
            writeln!(text, "  utsushi --data {data} get '{}' --at {at}", page.url)?;
        }
        writeln!(text, "  utsushi --data {data} scan --at {at} --builtin titles")?;
        writeln!(text, "  utsushi --data {data} snapshot --at {at} --format wacz -o web.wacz")?;
        writeln!(text, "  zcat {}/*.warc.gz | less", self.directory.archive_path().display())?;
        writeln!(text, "  utsushi sim serve          the same kind of web, for any crawler")
    }
}

fn write_life(text: &mut String, page: &PageLife) -> std::fmt::Result {
    let seen = page.visits.iter().skip(1).filter(|visit| visit.flag == Flag::Changed).count();
    writeln!(text, "\nOne page's life, as it was seen")?;
    writeln!(text, "  {}  {}", page.url, page.title)?;
    for (place, visit) in page.visits.iter().take(VISITS_SHOWN_MAX).enumerate() {
        let word = match (visit.kind, visit.flag, place) {
            (Stored::Metadata, _, _) => "no answer",
            (_, _, 0) => "stored",
            (_, flag, _) => flag.as_str(),
        };
        let status = visit.status.map_or_else(|| "---".to_owned(), |status| status.to_string());
        let until = page.validity.get(&visit.location).copied().map(when::until).unwrap_or_default();
        let line =
            format!("  {}  {word:<10} {status}  {:>8}  {until}", visit.at, bytes(visit.location.length));
        writeln!(text, "{}", line.trim_end())?;
    }
    if page.visits.len() > VISITS_SHOWN_MAX {
        writeln!(text, "  … and {} more visits", page.visits.len() - VISITS_SHOWN_MAX)?;
    }
    let (real, process) = (page.changes.len(), &page.process);
    writeln!(
        text,
        "  The web itself says: {process}; changes in that time: {real}, seen as new versions: {seen}."
    )
}

fn write_middle(text: &mut String, middle: &Middle) -> std::fmt::Result {
    writeln!(text, "\nThe web as of the middle of the run, {}", middle.at)?;
    for version in &middle.first {
        let (entry, until) = (&version.payload, when::until(version.validity));
        writeln!(text, "  {}  {until:<33}  {}  {}", entry.at, told::status(entry), entry.url)?;
    }
    let more = middle.versions - middle.first.len() as u64;
    writeln!(text, "  and {} beside", count_of(more, "page"))
}

fn write_scanned(text: &mut String, scanned: &Scanned) -> std::fmt::Result {
    let Scanned { documents, seconds, workers, languages } = scanned;
    let (pages, workers) = (count_of(*documents, "page"), count_of(*workers as u64, "worker"));
    writeln!(text, "\nWhich languages it is in, by an analysis of {pages} on {workers} in {seconds:.1} s")?;
    for (language, count) in languages.iter().take(LANGUAGES_SHOWN_MAX) {
        row(text, if language.is_empty() { "none" } else { language }, *count, "")?;
    }
    Ok(())
}

fn row(text: &mut String, name: &str, count: u64, remark: &str) -> std::fmt::Result {
    let line = format!("  {name:<16}{:>10}  {remark}", grouped(count));
    writeln!(text, "{}", line.trim_end())
}
