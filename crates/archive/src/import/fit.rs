//! Which records can be imported.
//!
//! If a block does not match its digest, it was damaged or its writer digested something else. If the payload digest
//! matches, the payload is intact: the record is imported, and the stated digest is kept beside the right one.

use super::{COMPANIONS_MAX, Group};
use crate::capture::describe::{self, field, split_answer};
use base::Sha1Digest;
use base::http;
use warc::header::name;
use warc::{Kind, Record};

/// Prefix of the URIs of an archive's own notes.
const NOTES: &str = "urn:utsushi:";

impl Group {
    /// Removes and returns the companions that cannot be imported, each with the reason.
    pub fn take_unfit(&mut self) -> Vec<(Record, &'static str)> {
        let mut unfit = Vec::new();
        for companion in std::mem::take(&mut self.companions) {
            match unfit_record(&companion) {
                Some(why) => unfit.push((companion, why)),
                None => self.companions.push(companion),
            }
        }
        unfit
    }
}

/// Why a group cannot be imported, if it cannot.
pub(super) fn unfit(group: &Group) -> Option<&'static str> {
    if group.main.fields.get(field::REMOVED).is_some() {
        return Some("the original was removed by a takedown");
    }
    let target = group.main.target().unwrap_or_default();
    if target.get(..NOTES.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(NOTES)) {
        return Some("it is another archive's note about itself");
    }
    if group.companions.len() > COMPANIONS_MAX {
        return Some("it has more records than a capture may have");
    }
    std::iter::once(&group.main).chain(&group.companions).find_map(unfit_record)
}

fn unfit_record(record: &Record) -> Option<&'static str> {
    if !record.is_whole() {
        return Some("it is longer than the maximum of a record");
    }
    let is_wrong = wrong_digest(record).is_some() && !payload_holds(record);
    is_wrong.then_some("its block does not match its digest")
}

/// The block digest that a record states, if it is not that of its block.
pub(super) fn wrong_digest(record: &Record) -> Option<&str> {
    // A record joined from segments has the digest of the first one.
    let is_wrong = record.fields.get(name::SEGMENT_NUMBER).is_none() && record.digest_holds() == Some(false);
    record.fields.get(name::BLOCK_DIGEST).filter(|_| is_wrong)
}

/// Whether a record's payload matches the digest that it states, with or without chunk framing: writers differ.
fn payload_holds(record: &Record) -> bool {
    let Some(stated) = record.payload_digest() else { return false };
    let is_stated = |payload: &[u8]| Sha1Digest::of(&[payload]) == stated;
    match record.kind() {
        Kind::Response | Kind::Request => {
            let (head, body) = split_answer(&record.block);
            is_stated(body) || is_stated(&http::payload(body, describe::framing(head)))
        }
        Kind::Resource | Kind::Conversion => is_stated(&record.block),
        // The payload of a revisit is elsewhere.
        _ => false,
    }
}
