//! What is remembered from record to record, in bounded memory: ids, dates of capture events, segments.

use super::clause::{Clause, Field};
use super::fields::number;
use super::head::Head;
use super::report::Report;
use crate::Kind;
use base::ContentDigest;
use std::collections::{HashMap, HashSet, VecDeque};

/// The maximum number of ids that are kept: what a hash table of 2^22 places (38 MiB) holds. A later id is still compared
/// with these, and the check says once that it is not compared with the others.
const IDS_MAX: usize = (1 << 22) / 8 * 7;
/// The records of one capture event stand close to each other.
const EVENTS_MAX: usize = 64;
const SEGMENTED_MAX: usize = 1024;

/// The records seen so far.
#[derive(Debug)]
pub(super) struct Known {
    ids: HashSet<u64>,
    ids_max: usize,
    /// Whether the file has more ids than are kept.
    has_more_ids: bool,
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

impl Default for Known {
    fn default() -> Self {
        Self::keeping(IDS_MAX)
    }
}

impl Known {
    fn keeping(ids_max: usize) -> Self {
        let (ids, dates, segments) = (HashSet::new(), VecDeque::new(), HashMap::new());
        Self { ids, ids_max, has_more_ids: false, dates, segments }
    }

    /// Adds a record and reports what contradicts earlier ones.
    pub(super) fn learn(&mut self, head: &Head, kind: &Kind, report: &mut Report) {
        if let Some(id) = head.get(Field::RecordId).map(short) {
            self.check_id(id, report);
            self.check_dates(id, head, report);
            self.check_segments(id, head, kind, report);
        }
    }

    fn check_id(&mut self, id: u64, report: &mut Report) {
        let clause = Clause::Field(Field::RecordId);
        if self.ids.contains(&id) {
            report.error(clause, "an earlier record of this file has the same id; ids are globally unique");
        } else if self.ids.len() < self.ids_max {
            self.ids.insert(id);
        } else if !std::mem::replace(&mut self.has_more_ids, true) {
            let what = format!(
                "the file has more than `{}` records; later ids are compared with the ids of these only",
                self.ids_max
            );
            report.advice(clause, what);
        }
    }

    fn check_dates(&mut self, id: u64, head: &Head, report: &mut Report) {
        let date = head.get(Field::Date).unwrap_or_default();
        let others: Vec<u64> = head.all(Field::ConcurrentTo).map(short).collect();
        let differs = |(other, other_date): &(u64, String)| others.contains(other) && other_date != date;
        if self.dates.iter().any(differs) {
            // wpull and others date every record separately.
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
            // The segments between may be in another file: nothing is known about the rest.
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

/// A hash long enough to distinguish the ids of one file.
fn short(text: &str) -> u64 {
    let digest = ContentDigest::of(text.as_bytes());
    digest.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::super::report::Severity::{self, Advice, Error};
    use super::*;

    #[test]
    fn ids_are_kept_in_bounded_memory_and_the_bound_is_reported_once() {
        let mut known = Known::keeping(2);
        let mut look = |id: &str| -> Vec<Severity> {
            let mut report = Report::default();
            let head = format!("WARC/1.1\r\nWARC-Record-ID: <urn:x:{id}>\r\n\r\n");
            let head = Head::read(head.as_bytes(), &mut report);
            known.learn(&head, &Kind::Resource, &mut report);
            report.0.into_iter().map(|(severity, ..)| severity).collect()
        };
        assert_eq!([look("a"), look("b"), look("a")], [vec![], vec![], vec![Error]]);
        assert_eq!([look("c"), look("d"), look("c"), look("b")], [vec![Advice], vec![], vec![], vec![Error]]);
    }
}
