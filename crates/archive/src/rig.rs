//! For comparisons: an index without an archive, and a bare loop over its files.

use crate::capture::entry::Entry;
use crate::error::Error;
use crate::index::body::Body;
use crate::index::row::{Row, Rows};
use crate::index::{Index, PublishedRuns};
use base::disk::Disk;
use runs::Rows as _;
use std::path::Path;
use std::sync::Arc;

/// Makes an index from entries in its order: by key, then by moment. The archive files that they name need not exist.
pub fn write_index(
    disk: Arc<dyn Disk>,
    archive: &Path,
    keys_max: u64,
    entries: impl Iterator<Item = Entry>,
) -> Result<(), Error> {
    disk.create_directory(archive).map_err(|source| Error::io("make directory", archive, source))?;
    let (mut index, _) = Index::open(disk, archive)?;
    index.write_sorted(keys_max, entries)
}

/// Reads and decodes every block of the index, checks included, and does nothing else; how many rows there are, and the
/// checksum of their moments.
pub fn read_bare(disk: &dyn Disk, archive: &Path) -> Result<(u64, i64), Error> {
    let mut files = crate::index::Files::default();
    let published = PublishedRuns::open(disk, &archive.join(crate::index::DIRECTORY), &mut files)?;
    let (mut buffer, mut rows) = (Vec::new(), Rows::default());
    let (mut count, mut moments) = (0, 0_i64);
    for run in &published.runs {
        for block in 0..run.block_count() {
            run.read_block(block, &mut buffer, &mut rows)?;
            count += rows.len() as u64;
            for number in 0..rows.len() {
                moments = moments.wrapping_add(rows.row(number).at.as_micros());
            }
        }
    }
    Ok((count, moments))
}

impl Index {
    /// Publishes one run of all `entries`.
    fn write_sorted(&mut self, keys_max: u64, entries: impl Iterator<Item = Entry>) -> Result<(), Error> {
        self.write_run(keys_max, |writer, files| {
            let mut bodies: Vec<Body> = Vec::new();
            for entry in entries {
                let row = Row::of(&entry, files);
                bodies.extend(Body::of(&row));
                writer.push(entry.key.as_str().as_bytes(), &row)?;
            }
            bodies.sort_unstable_by_key(|body| (body.payload, body.content));
            bodies.dedup_by_key(|body| (body.payload, body.content));
            bodies.iter().try_for_each(|body| writer.push_secondary(body))
        })
    }
}
