//! Which records can be imported.
//!
//! A record whose block is not the one of its digest was damaged, or its writer digested something else. Where its payload
//! digest holds, the payload at least is what was archived: it is imported, and the digest that it stated is kept beside
//! the right one.

use super::{COMPANIONS_MAX, Group};
use crate::capture::describe::{self, field, split_answer};
use base::Sha1Digest;
use base::http;
use warc::header::name;
use warc::{Kind, Record};

/// What archives note of themselves is about URIs that begin so.
const NOTES: &str = "urn:utsushi:";

impl Group {
    /// Takes out the companions that cannot be imported, each with the reason. The capture itself may still be.
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
        return Some("what stood there was removed");
    }
    let target = group.main.target().unwrap_or_default();
    if target.get(..NOTES.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(NOTES)) {
        return Some("it is a note of another archive about itself");
    }
    if group.companions.len() > COMPANIONS_MAX {
        return Some("more records belong to it than a capture may have");
    }
    std::iter::once(&group.main).chain(&group.companions).find_map(unfit_record)
}

fn unfit_record(record: &Record) -> Option<&'static str> {
    if !record.is_whole() {
        return Some("it is longer than a record may be");
    }
    let is_wrong = wrong_digest(record).is_some() && !payload_holds(record);
    is_wrong.then_some("its block is not the one its digest was made of")
}

/// The block digest that a record states, if it is not that of its block.
pub(super) fn wrong_digest(record: &Record) -> Option<&str> {
    // What was put together from parts has the digest of its first one.
    let is_wrong = record.fields.get(name::SEGMENT_NUMBER).is_none() && record.digest_holds() == Some(false);
    record.fields.get(name::BLOCK_DIGEST).filter(|_| is_wrong)
}

/// Whether a record holds the payload of the digest that it states, with its chunks or without: writers differ.
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
