//! The names of files and directories: visible ones, durable ones, and the changes in between.
//!
//! Paths are kept whole and in one flat map. Directories are never renamed or removed, so a path always means the
//! same directory.
//!
//! **Invariant:** a rename is atomic. Two changes of one name, or of the names of one file, never take effect in the
//! wrong order.

use super::Survival;
use super::contents::Contents;
use super::machine::lock;
use crate::Chance;
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

pub(super) type File = Arc<Mutex<Contents>>;

#[derive(Clone, Debug)]
enum Node {
    File(File),
    Directory,
}

type Map = BTreeMap<PathBuf, Node>;

#[derive(Debug, Default)]
pub(super) struct Names {
    seen: Map,
    durable: Map,
    pending: Vec<Change>,
}

/// A creation adds, a removal removes, a rename does both.
#[derive(Debug)]
struct Change {
    removes: Option<PathBuf>,
    adds: Option<(PathBuf, Node)>,
}

impl Names {
    pub(super) fn file(&self, path: &Path) -> io::Result<File> {
        match self.seen.get(&plain(path)?) {
            Some(Node::File(file)) => Ok(Arc::clone(file)),
            Some(Node::Directory) => Err(Errno::ISDIR.into()),
            None => Err(Errno::NOENT.into()),
        }
    }
    pub(super) fn create(&mut self, path: &Path) -> io::Result<File> {
        let path = self.place_for(path)?;
        if self.seen.contains_key(&path) {
            return Err(Errno::EXIST.into());
        }
        let file = File::default();
        self.change(Change { removes: None, adds: Some((path, Node::File(Arc::clone(&file)))) });
        Ok(file)
    }
    /// Renames a file and returns the one that had the new name.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<Option<File>> {
        let file = self.file(from)?;
        let (from, to) = (plain(from)?, self.place_for(to)?);
        let replaced = match self.seen.get(&to) {
            Some(Node::Directory) => return Err(Errno::ISDIR.into()),
            Some(Node::File(old)) => Some(Arc::clone(old)),
            None => None,
        };
        if from == to {
            return Ok(None);
        }
        self.change(Change { removes: Some(from), adds: Some((to, Node::File(file))) });
        Ok(replaced)
    }
    pub(super) fn remove(&mut self, path: &Path) -> io::Result<File> {
        let file = self.file(path)?;
        self.change(Change { removes: Some(plain(path)?), adds: None });
        Ok(file)
    }
    pub(super) fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let inside = self.directory(directory)?;
        let below = self.seen.range(inside.clone()..).take_while(|(path, _)| path.starts_with(&inside));
        let files = below
            .filter(|(path, node)| !is_root(path) && parent(path) == inside && matches!(node, Node::File(_)));
        Ok(files.filter_map(|(path, _)| Some(directory.join(path.file_name()?))).collect())
    }
    pub(super) fn files(&self) -> Vec<(PathBuf, u64)> {
        let file = |(path, node): (&PathBuf, &Node)| match node {
            Node::File(file) => Some((Path::new("/").join(path), lock(file).length())),
            Node::Directory => None,
        };
        self.seen.iter().filter_map(file).collect()
    }
    pub(super) fn create_directory(&mut self, path: &Path) -> io::Result<()> {
        let path = plain(path)?;
        let mut parts: Vec<&Path> = path.ancestors().filter(|part| !is_root(part)).collect();
        parts.reverse();
        for part in parts {
            match self.seen.get(part) {
                Some(Node::File(_)) => return Err(Errno::NOTDIR.into()),
                Some(Node::Directory) => {}
                None => self.change(Change { removes: None, adds: Some((part.to_owned(), Node::Directory)) }),
            }
        }
        Ok(())
    }
    /// The directory at `path`, if it is one.
    pub(super) fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        let path = plain(path)?;
        match self.seen.get(&path) {
            _ if is_root(&path) => Ok(path),
            Some(Node::Directory) => Ok(path),
            Some(Node::File(_)) => Err(Errno::NOTDIR.into()),
            None => Err(Errno::NOENT.into()),
        }
    }
    /// Makes the names in `directory` durable.
    ///
    /// When only the directory that a file was renamed to is synced, its old name may come back beside the new one.
    pub(super) fn sync(&mut self, directory: &Path) {
        let directories = self.synced_with(directory);
        let is_synced = |path: &PathBuf| directories.contains(parent(path));
        for mut change in std::mem::take(&mut self.pending) {
            let removes = change.removes.take_if(|path| is_synced(path));
            let adds = change.adds.take_if(|(path, _)| is_synced(path));
            Change { removes, adds }.apply(&mut self.durable);
            if change.removes.is_some() || change.adds.is_some() {
                self.pending.push(change);
            }
        }
    }
    /// Decides which of the unsynced names reach the medium, and drops the rest.
    pub(super) fn settle(&mut self, survival: Survival, chance: &mut Chance) {
        let probability = match survival {
            Survival::All => 1.0,
            Survival::None => 0.0,
            Survival::Random => *chance.pick(&[0.1, 0.5, 0.9]),
        };
        let mut lost = Lost::default();
        for change in self.pending.drain(..) {
            if !lost.concerns(&change) && chance.happens(probability) {
                change.apply(&mut self.durable);
            } else {
                lost.note(&change);
            }
        }
    }
    /// The directory and all directories that files were moved to from it. They are synced together, so that no file
    /// loses both names.
    fn synced_with(&self, directory: &Path) -> BTreeSet<PathBuf> {
        let mut directories = BTreeSet::from([directory.to_owned()]);
        loop {
            let renames = self
                .pending
                .iter()
                .filter_map(|change| Some((change.removes.as_ref()?, &change.adds.as_ref()?.0)));
            let further = renames
                .filter(|(from, to)| directories.contains(parent(from)) && !directories.contains(parent(to)));
            let further: Vec<PathBuf> = further.map(|(_, to)| parent(to).to_owned()).collect();
            if further.is_empty() {
                return directories;
            }
            directories.extend(further);
        }
    }
    /// What the next start of the machine finds, file by file.
    pub(super) fn restart(&mut self) -> impl Iterator<Item = &File> {
        let found = std::mem::take(&mut self.durable);
        let is_directory = |path: &Path| is_root(path) || matches!(found.get(path), Some(Node::Directory));
        let is_reached = |path: &Path| path.ancestors().skip(1).all(is_directory);
        self.durable = found
            .iter()
            .filter(|(path, _)| is_reached(path))
            .map(|(path, node)| (path.clone(), node.clone()))
            .collect();
        self.seen = self.durable.clone();
        self.seen.values().filter_map(|node| match node {
            Node::File(file) => Some(file),
            Node::Directory => None,
        })
    }

    fn place_for(&self, path: &Path) -> io::Result<PathBuf> {
        let path = plain(path)?;
        self.directory(path.parent().ok_or(Errno::ISDIR)?)?;
        Ok(path)
    }
    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.pending.push(change);
    }
}

impl Change {
    fn apply(&self, names: &mut Map) {
        if let Some(path) = &self.removes {
            names.remove(path);
        }
        if let Some((path, node)) = &self.adds {
            names.insert(path.clone(), node.clone());
        }
    }
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.removes.iter().chain(self.adds.iter().map(|(path, _)| path))
    }
    fn file(&self) -> Option<*const Mutex<Contents>> {
        match self.adds {
            Some((_, Node::File(ref file))) => Some(Arc::as_ptr(file)),
            _ => None,
        }
    }
}

/// Names and files of changes that were lost: a later change that depends on them is lost too.
#[derive(Default)]
struct Lost {
    paths: BTreeSet<PathBuf>,
    files: BTreeSet<*const Mutex<Contents>>,
}

impl Lost {
    fn concerns(&self, change: &Change) -> bool {
        change.paths().any(|path| self.paths.contains(path))
            || change.file().is_some_and(|file| self.files.contains(&file))
    }
    fn note(&mut self, change: &Change) {
        self.paths.extend(change.paths().cloned());
        self.files.extend(change.file());
    }
}

/// The path from the root; `/a/./b` and `a/b` are one.
fn plain(path: &Path) -> io::Result<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return Err(Errno::INVAL.into()),
        }
    }
    Ok(plain)
}

fn is_root(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of names that `changes` on `/d/old`, `/d/tmp` and `/e` may leave after a power cut. A file is
    /// identified by its first name.
    fn outcomes(changes: fn(&mut Names)) -> BTreeSet<String> {
        let outcome = |seed| {
            let mut names = Names::default();
            ["d", "e"].iter().for_each(|path| names.create_directory(Path::new(path)).unwrap());
            let files = ["d/old", "d/tmp"].map(|path| (path, names.create(Path::new(path)).unwrap()));
            ["", "d"].iter().for_each(|path| names.sync(Path::new(path)));
            changes(&mut names);
            names.settle(Survival::Random, &mut Chance::new(seed));
            let _ = names.restart().count();
            let made_as =
                |file: &File| files.iter().find(|(_, made)| Arc::ptr_eq(made, file)).map_or("new", |f| f.0);
            let found = names.seen.iter().filter_map(|(path, node)| match node {
                Node::File(file) => Some(format!("{}={}", path.display(), made_as(file))),
                Node::Directory => None,
            });
            found.collect::<Vec<_>>().join(" ")
        };
        (0..500).map(outcome).collect()
    }

    #[track_caller]
    fn check(changes: fn(&mut Names), expected: &[&str]) {
        let expected = expected.iter().map(|&outcome| outcome.to_owned()).collect();
        assert_eq!(outcomes(changes), expected);
    }

    fn rename(names: &mut Names, from: &str, to: &str) {
        names.rename(Path::new(from), Path::new(to)).unwrap();
    }

    #[test]
    fn a_rename_is_atomic() {
        check(|names| rename(names, "d/tmp", "d/old"), &["d/old=d/old d/tmp=d/tmp", "d/old=d/tmp"]);
    }

    #[test]
    fn unrelated_names_change_in_any_order() {
        let both = |names: &mut Names| {
            names.remove(Path::new("d/old")).unwrap();
            names.create(Path::new("e/x")).unwrap();
        };
        let untouched = "d/old=d/old d/tmp=d/tmp";
        check(both, &[untouched, "d/tmp=d/tmp", "d/old=d/old d/tmp=d/tmp e/x=new", "d/tmp=d/tmp e/x=new"]);
    }

    #[test]
    fn dependent_changes_keep_their_order() {
        let twice = |names: &mut Names| {
            rename(names, "d/tmp", "d/a");
            rename(names, "d/a", "d/b");
        };
        check(twice, &["d/old=d/old d/tmp=d/tmp", "d/a=d/tmp d/old=d/old", "d/b=d/tmp d/old=d/old"]);
    }

    #[test]
    fn a_file_between_two_directories_is_never_lost() {
        let there = |names: &mut Names| rename(names, "d/tmp", "e/x");
        check(there, &["d/old=d/old d/tmp=d/tmp", "d/old=d/old e/x=d/tmp"]);
        let there_synced = |names: &mut Names| {
            rename(names, "d/tmp", "e/x");
            names.sync(Path::new("e"));
        };
        check(there_synced, &["d/old=d/old d/tmp=d/tmp e/x=d/tmp", "d/old=d/old e/x=d/tmp"]);
        let here_synced = |names: &mut Names| {
            names.create(Path::new("e/x")).unwrap();
            rename(names, "d/tmp", "e/x");
            names.sync(Path::new("d"));
        };
        check(here_synced, &["d/old=d/old e/x=d/tmp"]);
    }

    #[test]
    fn files_in_a_directory_without_a_durable_name_are_lost() {
        let inside = |names: &mut Names| {
            names.create_directory(Path::new("f/g")).unwrap();
            names.create(Path::new("f/g/x")).unwrap();
            names.sync(Path::new("f/g"));
        };
        check(inside, &["d/old=d/old d/tmp=d/tmp", "d/old=d/old d/tmp=d/tmp f/g/x=new"]);
    }
}
