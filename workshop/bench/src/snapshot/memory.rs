//! How much memory it takes to choose versions, sort their pointers by address and write them down.
//!
//! Each amount is measured in a process of its own, whose peak is all that the walk, the sorter and the list take.

use super::synthetic::{END, START};
use super::walks::moment;
use crate::compare;
use crate::meter::Meter;
use anyhow::Result;
use archive::{Asked, Reader, Relations, SortOrder, Sorter, Unit};
use base::Period;
use base::disk::RealDisk;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workload::usage::resident_bytes_max;

/// What the sorter may hold.
const SORTER_BYTES: usize = 64 << 20;

/// Chooses, sorts and writes in this process.
#[derive(Debug, clap::Args)]
pub(crate) struct CellArgs {
    /// The archive
    #[arg(long)]
    directory: PathBuf,
    /// How much of the crawl's time, in percent
    #[arg(long)]
    percent: u32,
}

/// The visits of the last hundredth of the time, of a tenth, and all of them.
pub(super) fn compare(archive: &Path) -> Result<Vec<Value>> {
    let cell = |percent: u32| {
        let mut command = compare::ourselves()?;
        command.args(["snapshot-cell", "--percent", &percent.to_string(), "--directory"]).arg(archive);
        compare::result_of(&mut command)
    };
    [1, 10, 100].into_iter().map(cell).collect()
}

/// Chooses the visits that began in the last part of the crawl, and writes where they are, sorted by address.
pub(crate) fn cell(args: &CellArgs) -> Result<()> {
    let from = if args.percent >= 100 { START } else { moment(1.0 - f64::from(args.percent) / 100.0) };
    let relations = Some(Relations::BEGINNING_IN);
    let asked =
        Asked { during: Period::new(from, END), relations, unit: Some(Unit::Visit), ..Asked::default() };
    let reader = Reader::open(Arc::new(RealDisk), &args.directory)?;
    let opened_bytes = resident_bytes_max()?;
    let meter = Meter::start()?;
    let mut sorter = Sorter::new(SortOrder::Address, &args.directory, SORTER_BYTES);
    for version in reader.snapshot(&asked.check()?)? {
        sorter.push(&version?)?;
    }
    let (count, walked) = (sorter.count(), meter.seconds());
    let list = args.directory.join("pointers.txt");
    let mut output = BufWriter::new(std::fs::File::create(&list)?);
    for version in sorter.finish()? {
        let place = version?.payload.location;
        writeln!(output, "{} {} {}", place.file, place.offset, place.length)?;
    }
    output.flush()?;
    std::fs::remove_file(&list)?;
    let object = json!({
        "task": "memory",
        "system": format!("last {} % of the time", args.percent),
        "versions_chosen": count,
        "seconds": meter.seconds(),
        "seconds_walk_and_spill": walked,
        "resident_bytes_opened": opened_bytes,
        "resident_bytes_max": resident_bytes_max()?,
    });
    println!("{object}");
    Ok(())
}
