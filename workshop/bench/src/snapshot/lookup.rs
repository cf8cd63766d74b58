//! One page's history by its key: our index beside a sorted CDXJ file that is searched by bisection.

use super::cdxj::{self, Cdxj};
use super::synthetic::{Histories, Size};
use crate::meter::seconds_of;
use anyhow::{Result, ensure};
use archive::{Key, Reader};
use base::Chance;
use base::disk::RealDisk;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Looks up this many keys in both, alternating key by key.
pub(super) fn compare(archive: &Path, size: Size, count: usize) -> Result<Vec<Value>> {
    let path = archive.join("index.cdxj");
    cdxj::ensure(&path, Histories::new(size))?;
    let (reader, cdxj) = (Reader::open(Arc::new(RealDisk), archive)?, Cdxj::open(&path)?);
    let keys = sample(size, count);
    let (mut ours, mut theirs, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    // Once for the page cache, once to measure.
    for round in 0..2 {
        for key in &keys {
            let (found, ours_took) = seconds_of(|| history(&reader, key));
            let (lines, theirs_took) = seconds_of(|| cdxj.history(key));
            let nowhere = format!("{key}/nothing-there");
            let (nothing, missed_took) = seconds_of(|| history(&reader, &nowhere));
            let (found, lines) = (found?, lines?.len());
            ensure!(found == lines && found > 0, "`{key}`: {found} versions here, {lines} there");
            ensure!(nothing? == 0, "`{nowhere}` is there");
            if round == 1 {
                ours.push(ours_took);
                theirs.push(theirs_took);
                missed.push(missed_took);
            }
        }
    }
    let result = |system, mut seconds: Vec<f64>, bytes: u64| {
        seconds.sort_by(f64::total_cmp);
        let at = |share: usize| seconds[(seconds.len() * share / 1000).min(seconds.len() - 1)] * 1e6;
        json!({
            "task": "lookup",
            "system": system,
            "lookups": seconds.len(),
            "microseconds_p50": at(500),
            "microseconds_p99": at(990),
            "bytes": bytes,
            "bytes_per_version": bytes as f64 / size.versions as f64,
        })
    };
    Ok(vec![
        result("index", ours, reader.index_bytes()),
        result("index, a key that is not there", missed, reader.index_bytes()),
        result("CDXJ by bisection", theirs, cdxj.bytes()),
    ])
}

fn history(reader: &Reader, key: &str) -> Result<usize> {
    let mut count = 0;
    for entry in reader.newest_first(&Key::from_stored(key))? {
        std::hint::black_box(entry?);
        count += 1;
    }
    Ok(count)
}

/// Keys from all over the index, in no order.
fn sample(size: Size, count: usize) -> Vec<String> {
    let mut chance = Chance::new(3);
    let share = count as f64 / size.pages as f64;
    let mut keys: Vec<String> = Histories::keys(size).filter(|_| chance.happens(share)).collect();
    for place in (1..keys.len()).rev() {
        keys.swap(place, chance.index(place + 1));
    }
    keys
}
