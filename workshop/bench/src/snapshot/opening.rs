//! How long it takes to open the index, for a reader and for the writer.

use super::cold;
use super::synthetic::END;
use crate::meter::seconds_of;
use anyhow::Result;
use archive::{Archive, Reader, Settings};
use base::disk::RealDisk;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Opens the archive a few times, and once with nothing of it in the page cache.
pub(super) fn measure(archive: &Path, rounds: usize) -> Result<Vec<Value>> {
    let mut results = Vec::new();
    for who in ["reader", "writer"] {
        let mut warm: Vec<f64> = (0..rounds.max(1)).map(|_| open(archive, who)).collect::<Result<_>>()?;
        warm.sort_by(f64::total_cmp);
        cold::forget(archive)?;
        let cold = open(archive, who)?;
        results.push(json!({
            "task": "open",
            "system": who,
            "seconds_warm": warm[warm.len() / 2],
            "seconds_cold": cold,
        }));
    }
    Ok(results)
}

fn open(archive: &Path, who: &str) -> Result<f64> {
    let disk = Arc::new(RealDisk);
    let (opened, seconds) = if who == "reader" {
        seconds_of(|| Reader::open(disk, archive).map(|reader| drop(std::hint::black_box(reader))))
    } else {
        seconds_of(|| {
            Archive::open(disk, archive, Settings::default(), END)
                .map(|writer| drop(std::hint::black_box(writer)))
        })
    };
    opened?;
    Ok(seconds)
}
