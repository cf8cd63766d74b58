//! The part of the index that is not in any run yet: the captures of the latest archive files.
//!
//! **Invariant:** it is bounded, because archive files are: it becomes a run when a file is finished.

use crate::index::Files;
use crate::index::body::Body;
use crate::index::row::{Row, Rows};
use base::Sha1Digest;
use std::collections::BTreeMap;

/// Rows by key, and the bodies that they store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    rows: BTreeMap<Box<str>, Vec<Row>>,
    bodies: BTreeMap<(Sha1Digest, [u8; 8]), Body>,
    count: u64,
}

impl Memory {
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
    pub(crate) fn key_count(&self) -> u64 {
        self.rows.len() as u64
    }
    /// Adds a row in its place.
    pub(crate) fn add(&mut self, key: &str, row: Row, files: &Files) {
        if let Some(body) = Body::of(&row) {
            // The latest, as in the runs: an older one may be damaged.
            self.bodies.insert((body.payload, body.content), body);
        }
        self.count += 1;
        match self.rows.get_mut(key) {
            None => _ = self.rows.insert(key.into(), vec![row]),
            Some(rows) => {
                let place = rows.partition_point(|other| other.order(&row, files).is_lt());
                rows.insert(place, row);
            }
        }
    }
    /// The rows of a key, oldest first.
    pub(crate) fn rows_of(&self, key: &str) -> &[Row] {
        self.rows.get(key).map(Vec::as_slice).unwrap_or_default()
    }
    pub(crate) fn find_body(&self, payload: Sha1Digest, content: [u8; 8]) -> Option<Body> {
        self.bodies.get(&(payload, content)).copied()
    }
    pub(crate) fn find_payload(&self, payload: Sha1Digest) -> Option<Body> {
        self.bodies.range((payload, [0; 8])..=(payload, [255; 8])).next().map(|(_, body)| *body)
    }
    /// All rows in the order of the index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.rows.iter().flat_map(|(key, rows)| rows.iter().map(move |row| (&**key, row)))
    }
    /// All bodies in the order of their digests.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.bodies.values()
    }
    /// The same rows, to be walked.
    pub(crate) fn to_rows(&self) -> Rows {
        Rows::of_sorted(self.iter())
    }
}
