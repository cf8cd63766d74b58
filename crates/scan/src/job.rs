//! A job on disk: its documents, their results, the quarantine. It survives the process (D14).
//!
//! | file | what |
//! |---|---|
//! | `lock` | the process that works on it |
//! | `job.json` | the request and the number of documents; written when the list is complete |
//! | `documents` | the list ([`crate::pointers`]) |
//! | `journal` | what is settled ([`crate::journal`]) |
//! | `aside/` | quarantined documents |
//! | `scratch/` | scratch directories of programs that run |

use crate::error::Error;
use crate::journal::{self, DocumentResult, Journal, JournalRows, ScanRow, SettledSet};
use crate::pointers::{self, PointerWriter, Pointers};
use crate::quarantine;
use base::disk::{Disk, RealDisk, create_private_directory, private_options};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A job that this process works on.
#[derive(Debug)]
pub struct Job {
    directory: PathBuf,
    journal: Journal,
    /// How many documents there are.
    pub documents: u64,
    /// Whether it was begun earlier.
    pub is_resumed: bool,
    _lock: File,
}

const FORM: u64 = 1;

impl Job {
    /// Resumes the job in `directory`, or begins it: then `find` writes its documents. `asked` is the request in one
    /// line; a job with another request is not touched. One that `is_for_once` is not synced and may be lost in a power cut.
    pub fn open(
        directory: &Path,
        (asked, is_for_once): (&str, bool),
        find: impl FnOnce(&mut PointerWriter) -> Result<(), Error>,
    ) -> Result<(Self, SettledSet), Error> {
        create_private_directory(directory).map_err(|source| Error::io("make", directory, source))?;
        let lock = lock(&directory.join("lock"))?;
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let known = read(&directory.join("job.json"))?;
        let is_resumed = known.is_some();
        let documents = match known {
            Some((was, _)) if was != asked => {
                return Err(Error::OtherJob { was, directory: directory.to_owned() });
            }
            Some((_, documents)) => documents,
            None => begin(&*disk, directory, (asked, is_for_once), find)?,
        };
        make_scratch(&directory.join("scratch"))?;
        let (journal, done) = Journal::open(disk, &directory.join("journal"))?;
        if is_resumed {
            forget_unnoted(&directory.join("aside"), &journal)?;
        }
        Ok((Self { directory: directory.to_owned(), journal, documents, is_resumed, _lock: lock }, done))
    }

    /// Removes the job in `directory` with its quarantine, unless a process works on it.
    pub fn forget(directory: &Path) -> Result<(), Error> {
        let lock = directory.join("lock");
        let _lock = if lock.exists() { Some(self::lock(&lock)?) } else { None };
        clear(directory)
    }

    /// Where it is kept.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
    /// The documents.
    #[must_use]
    pub fn pointers(&self) -> Pointers {
        Pointers::new(Arc::new(RealDisk), self.directory.join("documents"))
    }
    /// The directory of quarantined documents.
    #[must_use]
    pub fn quarantine(&self) -> PathBuf {
        self.directory.join("aside")
    }
    /// Where programs get their scratch directories.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.directory.join("scratch")
    }
    /// Records the result of a document.
    pub fn keep(&mut self, row: &ScanRow) -> Result<(), Error> {
        self.journal.push(row)
    }
    /// After this, a killed process loses no recorded result.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.journal.flush()
    }
    /// After this, a power cut loses no recorded result.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.journal.sync()
    }
    /// Everything that is settled, in the order in which it was.
    pub fn rows(&self) -> Result<JournalRows, Error> {
        self.journal.read()
    }

    /// Removes the job; its quarantine stays.
    pub fn finish(self) -> Result<(), Error> {
        // Without `job.json` the rest has no meaning, so it is removed first.
        for name in ["job.json", "documents", "journal", "lock"] {
            let path = self.directory.join(name);
            fs::remove_file(&path).map_err(|source| Error::io("remove", &path, source))?;
        }
        let _ = fs::remove_dir_all(self.scratch());
        // It goes only if it is empty.
        let _ = fs::remove_dir(&self.directory);
        Ok(())
    }
}

/// Removes documents that a killed process had quarantined without noting them in the journal: they are tried again.
fn forget_unnoted(quarantined: &Path, journal: &Journal) -> Result<(), Error> {
    let kept = quarantine::kept(quarantined)?;
    let mut noted = BTreeSet::new();
    if !kept.is_empty() {
        for row in journal.read()? {
            let row = row?;
            if matches!(row.result, DocumentResult::Quarantined(_)) && kept.contains_key(&row.number) {
                noted.insert(row.number);
            }
        }
    }
    quarantine::keep_only(quarantined, &noted)
}

/// Finds the documents of a new job and pins them.
fn begin(
    disk: &dyn Disk,
    directory: &Path,
    (asked, is_for_once): (&str, bool),
    find: impl FnOnce(&mut PointerWriter) -> Result<(), Error>,
) -> Result<u64, Error> {
    for name in ["documents.part", "documents", "journal", "job.json.part"] {
        remove(&directory.join(name))?;
    }
    // The quarantine of an earlier job does not belong to this one.
    clear(&directory.join("aside"))?;
    let part = directory.join("documents.part");
    let mut writer = PointerWriter::create(disk, &part)?;
    find(&mut writer)?;
    let documents = writer.finish(!is_for_once)?;
    rename(disk, &part, &directory.join("documents"))?;
    let text = json!({ "form": FORM, "asked": asked, "documents": documents }).to_string();
    let part = directory.join("job.json.part");
    let created = private_options().write(true).create(true).truncate(true).open(&part);
    let written = created.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        if is_for_once { Ok(()) } else { file.sync_all() }
    });
    written.map_err(|source| Error::io("write", &part, source))?;
    rename(disk, &part, &directory.join("job.json"))?;
    if !is_for_once {
        disk.sync_directory(directory).map_err(|source| Error::io("sync", directory, source))?;
    }
    Ok(documents)
}

fn rename(disk: &dyn Disk, from: &Path, to: &Path) -> Result<(), Error> {
    disk.rename(from, to).map_err(|source| Error::io("rename", from, source))
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// Makes the directory for scratch directories, without what an earlier process left in it. Programs of a process that was
/// killed may still be ending and write there; that does no harm.
fn make_scratch(path: &Path) -> Result<(), Error> {
    let _ = clear(path);
    create_private_directory(path).map_err(|source| Error::io("make", path, source))
}

/// Removes a directory with all that is in it, if it is there.
fn clear(path: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// The request and the number of documents of a job; none if it was not begun.
fn read(path: &Path) -> Result<Option<(String, u64)>, Error> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|source| Error::io("read", path, source))?,
    };
    let known = serde_json::from_str::<Value>(&text).ok().filter(|job| job["form"] == FORM);
    let job =
        known.and_then(|job| Some((job.get("asked")?.as_str()?.to_owned(), job.get("documents")?.as_u64()?)));
    job.map(Some).ok_or_else(|| Error::Damaged {
        path: path.to_owned(),
        what: "it does not describe a job of this version; start the scan again with another output",
    })
}

fn lock(path: &Path) -> Result<File, Error> {
    let failed = |source| Error::io("lock", path, source);
    let mut file =
        private_options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            let _ = file.read_to_string(&mut owner);
            return Err(Error::Locked { owner: owner.trim().to_owned() });
        }
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    let named = file.set_len(0).and_then(|()| file.write_all(format!("{}\n", std::process::id()).as_bytes()));
    named.map_err(failed)?;
    Ok(file)
}

/// A job on disk that no process works on, opened to remove pages from it (D13).
#[derive(Debug)]
pub struct StoredJob {
    directory: PathBuf,
}

impl StoredJob {
    /// The job in `directory`, finished or not.
    #[must_use]
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Removes every document whose URL `is_gone`: results and quarantined files. Returns the number of each.
    pub fn remove(&self, is_gone: impl Fn(&str) -> bool) -> Result<(u64, u64), Error> {
        let lock = self.directory.join("lock");
        let _lock = if lock.exists() { Some(self::lock(&lock)?) } else { None };
        let results = self.remove_results(&is_gone)?;
        let aside = self.directory.join("aside");
        let quarantined = quarantine::remove(&aside, &is_gone)?;
        // They go only if they are empty.
        let _ = fs::remove_dir(aside).and_then(|()| fs::remove_dir(&self.directory));
        Ok((results, quarantined))
    }

    /// Rewrites the list and the journal without them.
    fn remove_results(&self, is_gone: &impl Fn(&str) -> bool) -> Result<u64, Error> {
        let (disk, at) = (RealDisk, |name: &str| self.directory.join(name));
        for part in ["documents.part", "journal.part", "job.json.part"] {
            remove(&at(part))?;
        }
        if read(&at("job.json"))?.is_none() {
            // It was not begun, or is done: the rest is not needed.
            ["documents", "journal"].into_iter().try_for_each(|name| remove(&at(name)))?;
            return Ok(0);
        }
        let mut gone = Vec::new();
        for pointer in Pointers::new(Arc::new(disk), at("documents")).read()? {
            let pointer = pointer?;
            if is_gone(&pointer.url) {
                gone.push(pointer.number);
            }
        }
        if gone.is_empty() {
            return Ok(0);
        }
        if at("journal").exists() {
            journal::rewrite(&disk, &at("journal"), &gone)?;
        }
        pointers::rewrite(&disk, &at("documents"), is_gone)?;
        Ok(gone.len() as u64)
    }
}
