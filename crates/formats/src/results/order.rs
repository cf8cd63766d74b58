//! Sorts answers by document.
//!
//! Above a bound on memory they are sorted on disk. A long answer goes to a separate file and only its position is
//! sorted, so that merged items are small.
//!
//! **Invariant:** the order does not depend on the bound. Memory is that bound, one answer, and a [`SHORT_BYTES_MAX`] a
//! run that is merged. The files have no names, so nothing remains after a crash.

use crate::Error;
use crate::sort::{Sorted, Sorter};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Longer answers are stored separately.
const SHORT_BYTES_MAX: usize = 64 * 1024;
/// The marks after the number of an answer: it follows, or it is stored separately at an offset with a length.
const HERE: u8 = 0;
const APART: u8 = 1;

/// Takes answers in any order.
#[derive(Debug)]
pub struct InOrder {
    sorter: Sorter,
    directory: PathBuf,
    apart: Option<File>,
    apart_bytes: u64,
    /// Room for an item to be sorted.
    item: Vec<u8>,
}

impl InOrder {
    /// Answers go to files in `directory` when they take more than `memory_bytes_max`.
    #[must_use]
    pub fn new(directory: &Path, memory_bytes_max: usize) -> Self {
        let sorter = Sorter::new(directory, memory_bytes_max);
        Self { sorter, directory: directory.to_owned(), apart: None, apart_bytes: 0, item: Vec::new() }
    }

    /// Adds an answer for the document with this number.
    pub fn push(&mut self, document: u64, answer: &[u8]) -> Result<(), Error> {
        self.item.clear();
        self.item.extend_from_slice(&document.to_be_bytes());
        if answer.len() <= SHORT_BYTES_MAX {
            self.item.push(HERE);
            self.item.extend_from_slice(answer);
        } else {
            self.put_apart(answer).map_err(Error::io("spool a long answer"))?;
        }
        self.sorter.push(&self.item)
    }

    fn put_apart(&mut self, answer: &[u8]) -> std::io::Result<()> {
        let mut file = match self.apart.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(&self.directory)?,
        };
        file.write_all(answer)?;
        self.apart = Some(file);
        self.item.push(APART);
        self.item.extend_from_slice(&self.apart_bytes.to_be_bytes());
        self.item.extend_from_slice(&(answer.len() as u64).to_be_bytes());
        self.apart_bytes += answer.len() as u64;
        Ok(())
    }

    /// All answers in the order of their documents. Several of one document are adjacent.
    pub fn finish(self) -> Result<Ordered, Error> {
        Ok(Ordered { sorted: self.sorter.finish()?, apart: self.apart, long: Vec::new() })
    }
}

/// Returns answers in the order of their documents.
#[derive(Debug)]
pub struct Ordered {
    sorted: Sorted,
    apart: Option<File>,
    /// The long answer that was read last.
    long: Vec<u8>,
}

impl Ordered {
    /// The next document and its answer.
    #[expect(clippy::should_implement_trait, reason = "what is handed out lives until the next call")]
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>, Error> {
        let Some(item) = self.sorted.next()? else { return Ok(None) };
        let (document, rest) = number(item);
        match (rest, &mut self.apart) {
            ([APART, place @ ..], Some(file)) => {
                let (from, rest) = number(place);
                let length = number(rest).0;
                read(file, from, length, &mut self.long).map_err(Error::io("read a long answer back"))?;
                Ok(Some((document, &self.long)))
            }
            _ => Ok(Some((document, rest.get(1..).unwrap_or_default()))),
        }
    }
}

/// The number at the front of an item, and what stands after it.
fn number(item: &[u8]) -> (u64, &[u8]) {
    item.split_first_chunk().map_or((0, item), |(number, rest)| (u64::from_be_bytes(*number), rest))
}

fn read(file: &mut File, from: u64, length: u64, into: &mut Vec<u8>) -> std::io::Result<()> {
    into.clear();
    file.seek(SeekFrom::Start(from))?;
    let read = file.take(length).read_to_end(into)?;
    if read as u64 == length { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;

    /// All answers in the order in which they are returned.
    fn ordered(answers: &[(u64, Vec<u8>)], memory_bytes_max: usize) -> Vec<(u64, Vec<u8>)> {
        let directory = tempfile::tempdir().unwrap();
        let mut order = InOrder::new(directory.path(), memory_bytes_max);
        for (document, answer) in answers {
            order.push(*document, answer).unwrap();
        }
        let mut ordered = order.finish().unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "files have no names");
        let mut found = Vec::new();
        while let Some((document, answer)) = ordered.next().unwrap() {
            found.push((document, answer.to_vec()));
        }
        found
    }

    /// Answers of all lengths, in no order.
    fn answers(count: u64) -> Vec<(u64, Vec<u8>)> {
        let mut chance = Chance::new(count);
        let mut answers: Vec<(u64, Vec<u8>)> = (0..count)
            .map(|n| {
                let length = if n % 97 == 0 { SHORT_BYTES_MAX + chance.index(3) } else { chance.index(40) };
                (n * 3, vec![u8::try_from(chance.below(256)).unwrap(); length])
            })
            .collect();
        for place in (1..answers.len()).rev() {
            answers.swap(place, chance.index(place + 1));
        }
        answers
    }

    #[test]
    fn the_order_is_that_of_the_documents_whatever_the_memory() {
        let answers = answers(2_000);
        let mut expected = answers.clone();
        expected.sort();
        for memory_bytes_max in [0, 1_000, 50_000, usize::MAX] {
            assert!(ordered(&answers, memory_bytes_max) == expected, "{memory_bytes_max}");
        }
    }

    #[test]
    fn numbers_are_ordered_as_numbers_and_none_is_lost() {
        assert!(ordered(&[], 0).is_empty());
        let numbers = [u64::MAX, 256, 255, 0, 1 << 32];
        let answers: Vec<_> = numbers.iter().map(|number| (*number, b"\0".to_vec())).collect();
        let found: Vec<u64> = ordered(&answers, 100).into_iter().map(|(number, _)| number).collect();
        assert_eq!(found, [0, 255, 256, 1 << 32, u64::MAX]);
        let twice = [(1, b"b".to_vec()), (1, Vec::new()), (0, Vec::new()), (1, b"b".to_vec())];
        assert_eq!(ordered(&twice, 0).len(), 4);
    }
}
