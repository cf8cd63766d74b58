//! Removes rows, or everything, from the table.

use super::Facts;
use super::journal::{Journal, frame, head, path_of};
use super::write::journals;
use crate::error::Error;
use crate::files::directory::{sync_directory_of, with_rewrite};
use base::disk::{Disk, Open};
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// Removes the whole table, so that it is rebuilt. There must be no writer.
pub fn clear(disk: &dyn Disk, directory: &Path) -> Result<(), Error> {
    // From the last to the first: what is left after a crash is the beginning of the table.
    for file in journals(disk, directory)?.into_iter().rev() {
        let path = path_of(directory, &file);
        disk.remove(&path).map_err(|source| Error::io("remove", &path, source))?;
        sync_directory_of(disk, &path)?;
    }
    Ok(())
}

/// Rewrites the journal of an archive file without the rows at some offsets, and replaces the old one. Returns how many rows
/// were removed. The caller syncs the directory.
pub(crate) fn remove(
    disk: &dyn Disk,
    directory: &Path,
    file: &str,
    gone: &HashSet<u64>,
) -> Result<u64, Error> {
    let path = path_of(directory, file);
    let Some(journal) = Journal::read(disk, directory, file)? else {
        // A file that is not a journal may hold anything.
        return match disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path, error)),
            _ => Ok(0),
        };
    };
    let (mut bytes, mut removed) = (head(file), 0);
    for covered in &journal.frames {
        let kept = covered.rows.iter().filter(|(offset, _)| !gone.contains(offset));
        let kept: Vec<(u64, Facts)> =
            kept.filter_map(|(offset, place)| Some((*offset, journal.facts_at(*place)?))).collect();
        removed += (covered.rows.len() - kept.len()) as u64;
        let rows: Vec<(u64, &Facts)> = kept.iter().map(|(offset, facts)| (*offset, facts)).collect();
        let place = bytes.len() as u64;
        bytes.extend_from_slice(&frame(file, place, (covered.from, covered.to), &rows));
    }
    let new_path = with_rewrite(&path);
    match disk.remove(&new_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &new_path, error));
        }
        _ => {}
    }
    let failed =
        |action| move |source| Error::writing(disk, action, &with_rewrite(&path_of(directory, file)), source);
    let new = disk.open(&new_path, Open::CreateNew).map_err(failed("create"))?;
    new.write_at(0, &bytes).map_err(failed("write to"))?;
    new.sync().map_err(failed("sync"))?;
    disk.rename(&new_path, &path).map_err(failed("rename"))?;
    Ok(removed)
}
