//! Captures and versions as output: JSON for programs, columns for people.

use crate::when;
use crate::words::{bytes, count_of};
use archive::{Entry, Version};
use base::Period;
use node::views::capture;
use serde_json::{Map, Value};

/// The JSON of a version: its capture, and its validity.
pub(crate) fn version(version: &Version) -> Map<String, Value> {
    let mut object = capture(&version.payload);
    object.extend(validity(Some(version.validity)));
    object.insert("is_first".to_owned(), version.is_first.into());
    object.insert("ended_by_gone".to_owned(), version.ended_by_gone.into());
    object
}

/// Start and end of a validity; both are null for a capture that does not start a version.
pub(crate) fn validity(validity: Option<Period>) -> [(String, Value); 2] {
    let from = validity.map(|validity| validity.from().to_rfc3339());
    let to = validity.and_then(when::end);
    [("from".to_owned(), from.into()), ("to".to_owned(), to.into())]
}

/// The columns of a capture: time, change, status, kind of storage, length, type.
pub(crate) fn columns(entry: &Entry) -> String {
    let (flag, kind) = (entry.flag.as_str(), entry.kind.as_str());
    let (at, length, media_type) = (entry.at.to_rfc3339(), bytes(entry.location.length), &entry.media_type);
    format!("{at:<27}  {flag:<9}  {}  {kind:<8}  {length:>8}  {media_type:<20}", status(entry))
}

/// The status, or dashes if there is none.
pub(crate) fn status(entry: &Entry) -> String {
    entry.status.map_or_else(|| "---".to_owned(), |status| status.to_string())
}

/// The text for records that are not captures, after the number of captures; empty if there are none.
pub(crate) fn others(count: u64) -> String {
    let records = || format!(" and {}", count_of(count, "other record"));
    if count > 0 { records() } else { String::new() }
}
