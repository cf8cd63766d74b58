//! A rebuilt stage takes the place of the old one.
//!
//! The new directory grows in `NAME.tmp/NAME`. When it is complete, the old one is moved to `NAME.tmp/old` and the new one
//! to `NAME`. A crash between the two renames is finished by the next writer; a crash before them costs only the new one.

use super::InstalledStage;
use crate::error::Error;
use base::disk::{Disk, RealDisk};
use std::io;
use std::path::{Path, PathBuf};

/// Where the old directory is for a moment.
const OLD: &str = "old";

/// The directory in which a stage is rebuilt.
#[derive(Debug)]
pub(super) struct NewDirectory {
    data: PathBuf,
    parent: PathBuf,
    name: &'static str,
}

impl NewDirectory {
    /// Begins without what an interrupted rebuild left.
    pub(super) fn begin(data: &Path, name: &'static str) -> Result<Self, Error> {
        let new = Self::of(data, name);
        remove(&new.parent)?;
        RealDisk.create_directory(&new.path()).map_err(Error::io("create", &new.path()))?;
        Ok(new)
    }
    fn of(data: &Path, name: &'static str) -> Self {
        Self { data: data.to_owned(), parent: data.join(format!("{name}.tmp")), name }
    }

    /// The directory itself.
    pub(super) fn path(&self) -> PathBuf {
        self.parent.join(self.name)
    }
    /// The directory that contains it.
    pub(super) fn parent(&self) -> &Path {
        &self.parent
    }

    /// Replaces the old directory, if there is one. What is in the new one is durable already.
    pub(super) fn put_in_place(self) -> Result<(), Error> {
        let (place, old) = (self.data.join(self.name), self.parent.join(OLD));
        let put = Error::io("put the rebuilt data in place at", &place);
        if place.is_dir() {
            RealDisk.rename(&place, &old).map_err(&put)?;
            RealDisk.sync_directory(&self.parent).map_err(&put)?;
        }
        RealDisk.rename(&self.path(), &place).map_err(&put)?;
        RealDisk.sync_directory(&self.data).map_err(&put)?;
        remove(&self.parent)
    }
}

/// Finishes replacements that a crash interrupted between the two renames.
pub(crate) fn finish_swaps(data: &Path, stages: &[&dyn InstalledStage]) -> Result<(), Error> {
    for stage in stages {
        let new = NewDirectory::of(data, stage.name());
        let is_between = new.parent.join(OLD).is_dir() && new.path().is_dir();
        if is_between && !data.join(stage.name()).exists() {
            new.put_in_place()?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::Io { action: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
