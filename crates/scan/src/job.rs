//! A job on disk: which documents, what is settled, what was set aside. It outlives the process (D14).
//!
//! | file | what |
//! |---|---|
//! | `lock` | the process that works on it |
//! | `job.json` | how it was asked for, and how many documents there are; written when the list is whole |
//! | `documents` | the list ([`crate::pointers`]) |
//! | `journal` | what is settled ([`crate::journal`]) |
//! | `aside/` | documents that were set aside |
//! | `scratch/` | scratch directories of programs that run |

use crate::aside;
use crate::error::Error;
use crate::journal::{self, Done, Entries, Journal, Row, Settled};
use crate::pointers::{self, PointerWriter, Pointers};
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
    /// Takes up the job in `directory`, or begins it: then `find` hands over its documents. `asked` says in one line how it
    /// was asked for; a job that was asked for otherwise is not touched. One that `is_for_once` is not made to outlive a power cut.
    pub fn open(
        directory: &Path,
        (asked, is_for_once): (&str, bool),
        find: impl FnOnce(&mut PointerWriter) -> Result<(), Error>,
    ) -> Result<(Self, Done), Error> {
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

    /// Forgets the job in `directory` with all that it set aside, unless a process works on it.
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
    /// Where what is set aside goes.
    #[must_use]
    pub fn aside(&self) -> PathBuf {
        self.directory.join("aside")
    }
    /// Where programs get their scratch directories.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.directory.join("scratch")
    }
    /// Keeps what became of a document.
    pub fn keep(&mut self, row: &Row) -> Result<(), Error> {
        self.journal.push(row)
    }
    /// From here on a killed process loses nothing of what was kept.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.journal.flush()
    }
    /// From here on nothing loses anything of it.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.journal.sync()
    }
    /// Everything that is settled, in the order in which it was.
    pub fn rows(&self) -> Result<Entries, Error> {
        self.journal.read()
    }

    /// Removes the job; what was set aside stays.
    pub fn finish(self) -> Result<(), Error> {
        // Without this one the rest means nothing, so it goes first.
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

/// Removes documents that a process had set aside when it was killed and had not noted: they are tried again.
fn forget_unnoted(aside: &Path, journal: &Journal) -> Result<(), Error> {
    let kept = aside::kept(aside)?;
    let mut noted = BTreeSet::new();
    if !kept.is_empty() {
        for row in journal.read()? {
            let row = row?;
            if matches!(row.settled, Settled::SetAside(_)) && kept.contains_key(&row.number) {
                noted.insert(row.number);
            }
        }
    }
    aside::keep_only(aside, &noted)
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
    // What an earlier job set aside is none of this one's.
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
/// killed may be on their way out and still write there; they are in nobody's way.
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

/// How a job was asked for and how many documents it has; nothing if it was not begun.
fn read(path: &Path) -> Result<Option<(String, u64)>, Error> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|source| Error::io("read", path, source))?,
    };
    let known = serde_json::from_str::<Value>(&text).ok().filter(|job| job["form"] == FORM);
    let job =
        known.and_then(|job| Some((job.get("asked")?.as_str()?.to_owned(), job.get("documents")?.as_u64()?)));
    job.map(Some)
        .ok_or_else(|| Error::Damaged { path: path.to_owned(), what: "it describes no job of this version" })
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

/// What a job that nobody works on holds of pages: for who must remove some (D13).
#[derive(Debug)]
pub struct Kept {
    directory: PathBuf,
}

impl Kept {
    /// The job in `directory`, finished or not.
    #[must_use]
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Removes every document whose URL `is_gone`: results and set-aside files. Says how many of each went.
    pub fn remove(&self, is_gone: impl Fn(&str) -> bool) -> Result<(u64, u64), Error> {
        let lock = self.directory.join("lock");
        let _lock = if lock.exists() { Some(self::lock(&lock)?) } else { None };
        let results = self.remove_results(&is_gone)?;
        let aside = self.directory.join("aside");
        let set_aside = aside::remove(&aside, &is_gone)?;
        // They go only if they are empty.
        let _ = fs::remove_dir(aside).and_then(|()| fs::remove_dir(&self.directory));
        Ok((results, set_aside))
    }

    /// Writes the list and the journal anew without them.
    fn remove_results(&self, is_gone: &impl Fn(&str) -> bool) -> Result<u64, Error> {
        let (disk, at) = (RealDisk, |name: &str| self.directory.join(name));
        for part in ["documents.part", "journal.part", "job.json.part"] {
            remove(&at(part))?;
        }
        if read(&at("job.json"))?.is_none() {
            // It was not begun, or is done: nobody needs the rest.
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
