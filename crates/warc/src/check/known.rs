//! What is remembered from record to record, in bounded memory: ids, dates of capture events, segments.

use super::clause::{Clause, Field};
use super::fields::number;
use super::head::Head;
use super::report::Report;
use crate::Kind;
use base::ContentDigest;
use std::collections::{HashMap, HashSet, VecDeque};

/// As many records as a file of some ten gigabytes has; later ids are not compared.
const IDS_MAX: usize = 1 << 21;
/// The records of one capture event stand close to each other.
const EVENTS_MAX: usize = 64;
const SEGMENTED_MAX: usize = 1024;

/// The records seen so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    ids: HashSet<u64>,
    dates: VecDeque<(u64, String)>,
    segments: HashMap<u64, Series>,
}

/// The segments of one record, as long as none is missing.
#[derive(Debug)]
struct Series {
    next: u64,
    bytes: u64,
    target: u64,
}

impl Known {
    /// Takes note of a record and tells what does not fit those before it.
    pub(super) fn learn(&mut self, head: &Head, kind: &Kind, report: &mut Report) {
        if let Some(id) = head.get(Field::RecordId).map(short) {
            self.check_id(id, report);
            self.check_dates(id, head, report);
            self.check_segments(id, head, kind, report);
        }
    }

    fn check_id(&mut self, id: u64, report: &mut Report) {
        let is_new = if self.ids.len() < IDS_MAX { self.ids.insert(id) } else { !self.ids.contains(&id) };
        if !is_new {
            // wget 1.14 gives its manifest and its arguments one id.
            let what = "a record before this one has the same id; ids are unique";
            report.advice(Clause::Field(Field::RecordId), what);
        }
    }

    fn check_dates(&mut self, id: u64, head: &Head, report: &mut Report) {
        let date = head.get(Field::Date).unwrap_or_default();
        let others: Vec<u64> = head.all(Field::ConcurrentTo).map(short).collect();
        let differs = |(other, other_date): &(u64, String)| others.contains(other) && other_date != date;
        if self.dates.iter().any(differs) {
            // wpull and others date every record by itself.
            let what = "the date differs from that of a record of the same capture event; they should be one";
            report.advice(Clause::Field(Field::Date), what);
        }
        if self.dates.len() == EVENTS_MAX {
            self.dates.pop_front();
        }
        self.dates.push_back((id, date.chars().take(64).collect()));
    }

    fn check_segments(&mut self, id: u64, head: &Head, kind: &Kind, report: &mut Report) {
        let Some(segment) = head.get(Field::SegmentNumber).and_then(number) else { return };
        let length = head.get(Field::ContentLength).and_then(number).unwrap_or_default();
        let target = short(head.get(Field::TargetUri).unwrap_or_default());
        if *kind != Kind::Continuation {
            if segment == 1 && self.segments.len() < SEGMENTED_MAX {
                self.segments.insert(id, Series { next: 2, bytes: length, target });
            }
            return;
        }
        let origin = short(head.get(Field::SegmentOriginId).unwrap_or_default());
        let Some(series) = self.segments.get_mut(&origin) else { return };
        if series.target != target {
            report.error(
                Clause::Segmentation,
                "its target differs from that of the first segment; all have the same",
            );
        }
        if segment != series.next {
            // The segments between may stand in another file: nothing is known of the rest.
            self.segments.remove(&origin);
            return;
        }
        series.next += 1;
        series.bytes = series.bytes.saturating_add(length);
        if let Some(total) = head.get(Field::SegmentTotalLength).and_then(number) {
            if total != series.bytes {
                let what = format!("says `{total}`, but the segments have `{}` bytes", series.bytes);
                report.wrong(Field::SegmentTotalLength, what);
            }
            self.segments.remove(&origin);
        }
    }
}

/// Enough of a hash to tell the ids of one file apart.
fn short(text: &str) -> u64 {
    let digest = ContentDigest::of(text.as_bytes());
    digest.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}
