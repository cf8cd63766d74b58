//! The published generation: which runs make up the store, and which inputs they cover.
//!
//! **Invariant:** the file `CURRENT` is replaced whole, and only after every run that it names is durable. A reader
//! always finds a store that was complete at one moment. The file ends in a digest of itself.

use crate::error::Error;
use base::ContentDigest;
use base::disk::{Disk, Open};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "CURRENT";
pub(super) const UNFINISHED_NAME: &str = "CURRENT.tmp";

/// The parts of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generation {
    /// Grows by one with each change.
    pub(crate) number: u64,
    /// The number of the next run.
    pub(crate) next_run: u64,
    /// The runs, oldest first, each with its level: how often its rows were merged.
    pub(crate) runs: Vec<(u64, u32)>,
    /// The inputs whose rows are all in the runs, by name.
    pub(crate) covered: BTreeSet<Arc<str>>,
    /// A line of text that the owner publishes with the rows, such as a checkpoint; empty for none.
    pub(crate) mark: String,
}

impl Generation {
    /// Reads the published generation in `directory`; `None` if there is none.
    pub(crate) fn read(disk: &dyn Disk, directory: &Path, first_line: &str) -> Result<Option<Self>, Error> {
        let path = directory.join(FILE_NAME);
        let file = match disk.open(&path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|source| Error::io("open", &path, source))?,
        };
        let length = file.length().map_err(|source| Error::io("read", &path, source))?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_at(0, &mut bytes).map_err(|source| Error::io("read", &path, source))?;
        let generation = std::str::from_utf8(&bytes).ok().and_then(|text| Self::parse(text, first_line));
        generation.map(Some).ok_or(Error::Damaged { path, what: "it does not match its digest" })
    }

    fn parse(text: &str, first_line: &str) -> Option<Self> {
        let (body, check) = text.rsplit_once("check ")?;
        if check.strip_suffix('\n')? != ContentDigest::of(body.as_bytes()).to_string() {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != first_line {
            return None;
        }
        let mut generation = Self::default();
        for line in lines {
            match line.split_once(' ')? {
                ("generation", number) => generation.number = number.parse().ok()?,
                ("next-run", number) => generation.next_run = number.parse().ok()?,
                ("run", rest) => {
                    let (id, level) = rest.split_once(" level ")?;
                    generation.runs.push((id.parse().ok()?, level.parse().ok()?));
                }
                ("covers", name) => _ = generation.covered.insert(Arc::from(name)),
                ("mark", mark) => mark.clone_into(&mut generation.mark),
                _ => return None,
            }
        }
        Some(generation)
    }

    fn to_text(&self, first_line: &str) -> String {
        let mut text = format!("{first_line}\ngeneration {}\nnext-run {}\n", self.number, self.next_run);
        self.runs.iter().for_each(|(id, level)| text.push_str(&format!("run {id} level {level}\n")));
        self.covered.iter().for_each(|name| text.push_str(&format!("covers {name}\n")));
        if !self.mark.is_empty() {
            text.push_str(&format!("mark {}\n", self.mark));
        }
        let check = ContentDigest::of(text.as_bytes());
        text.push_str(&format!("check {check}\n"));
        text
    }

    /// Publishes the generation in `directory`, durably, the names of new runs included.
    pub(crate) fn publish(&self, disk: &dyn Disk, directory: &Path, first_line: &str) -> Result<(), Error> {
        let (path, unfinished) = (directory.join(FILE_NAME), directory.join(UNFINISHED_NAME));
        match disk.remove(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &unfinished, error));
            }
            _ => {}
        }
        let failed = |action| {
            let unfinished = &unfinished;
            move |source| Error::writing(disk, action, unfinished, source)
        };
        let file = disk.open(&unfinished, Open::CreateNew).map_err(failed("create"))?;
        file.write_at(0, self.to_text(first_line).as_bytes()).map_err(failed("write to"))?;
        file.sync().map_err(failed("sync"))?;
        // The names of the runs first: published runs must be there.
        disk.sync_directory(directory).map_err(|source| Error::io("sync", directory, source))?;
        disk.rename(&unfinished, &path).map_err(failed("rename"))?;
        disk.sync_directory(directory).map_err(|source| Error::io("sync", directory, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_is_read_as_it_was_written_and_nothing_else_is() {
        let covered = [Arc::from("a.warc.gz"), Arc::from("b.warc.gz")].into();
        let generation =
            Generation { number: 7, next_run: 4, runs: vec![(3, 1), (2, 0)], covered, mark: "a@7".into() };
        let text = generation.to_text("links 1");
        assert_eq!(Generation::parse(&text, "links 1"), Some(generation));
        for place in 0..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[place] ^= 1;
            assert_eq!(
                String::from_utf8(wrong).ok().and_then(|text| Generation::parse(&text, "links 1")),
                None,
                "{place}"
            );
        }
    }
}
