//! The results of a job so far: a frame per settled document, in order of arrival (D14).
//!
//! **Invariant:** a document is settled at most once; a document in the journal is not analysed again.

use crate::error::Error;
use crate::frames::{self, Frames, Writer};
use crate::wire::{AnalysisAnswer, AnalysisFailure, FailureCause, Rest, put_bytes};
use base::Timestamp;
use base::disk::Disk;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A settled document and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRow {
    /// Its number in the job.
    pub number: u64,
    /// The URL as requested.
    pub url: String,
    /// When it was captured.
    pub at: Timestamp,
    /// The result.
    pub result: DocumentResult,
}

impl ScanRow {
    /// The row as bytes, for temporary storage.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }
    /// Reads what [`ScanRow::to_bytes`] wrote.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        decode(bytes)
    }
}

/// The result of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentResult {
    /// It was answered.
    Answered(AnalysisAnswer),
    /// It was quarantined.
    Quarantined(AnalysisFailure),
    /// It was taken down after it was answered.
    Removed,
}

const ANSWERED: u8 = 0;
const QUARANTINED: u8 = 1;
const REMOVED: u8 = 2;

fn encode(row: &ScanRow) -> Vec<u8> {
    let mut frame = Vec::new();
    encode_into(row, &mut frame);
    frame
}

fn encode_into(row: &ScanRow, frame: &mut Vec<u8>) {
    frame.push(match row.result {
        DocumentResult::Answered(_) => ANSWERED,
        DocumentResult::Quarantined(_) => QUARANTINED,
        DocumentResult::Removed => REMOVED,
    });
    frame.extend_from_slice(&row.number.to_le_bytes());
    frame.extend_from_slice(&row.at.as_micros().to_le_bytes());
    put_bytes(frame, row.url.as_bytes());
    match &row.result {
        DocumentResult::Answered(answer) => answer.put(frame),
        DocumentResult::Quarantined(failure) => {
            frame.push(failure.cause.code());
            put_bytes(frame, failure.what.as_bytes());
            put_bytes(frame, failure.words.as_bytes());
        }
        DocumentResult::Removed => {}
    }
}

fn decode(frame: &[u8]) -> Option<ScanRow> {
    let mut rest = Rest(frame);
    let [kind] = rest.chunk()?;
    let number = u64::from_le_bytes(rest.chunk()?);
    let at = Timestamp::from_micros(i64::from_le_bytes(rest.chunk()?))?;
    let url = rest.text()?.to_owned();
    let result = match kind {
        ANSWERED => DocumentResult::Answered(AnalysisAnswer::read(rest.0)?),
        QUARANTINED => {
            let [code] = rest.chunk()?;
            let cause = FailureCause::ALL.into_iter().find(|cause| cause.code() == code)?;
            DocumentResult::Quarantined(AnalysisFailure {
                cause,
                what: rest.text()?.to_owned(),
                words: rest.text()?.to_owned(),
            })
        }
        REMOVED => DocumentResult::Removed,
        _ => return None,
    };
    Some(ScanRow { number, url, at, result })
}

/// Which documents are settled: a bit each.
#[derive(Clone, Debug, Default)]
pub struct SettledSet {
    /// By pages of [`PAGE_WORDS`] words: a number that no job has costs one page.
    pages: BTreeMap<u64, Box<[u64; PAGE_WORDS]>>,
    /// Number of answered documents.
    pub answered: u64,
    /// Number of quarantined documents.
    pub quarantined: u64,
    /// Number of documents taken down.
    pub removed: u64,
}

impl SettledSet {
    /// Whether a document is settled.
    #[must_use]
    pub fn holds(&self, number: u64) -> bool {
        let (page, word, bit) = place(number);
        self.pages.get(&page).and_then(|words| words.get(word)).is_some_and(|bits| bits & bit != 0)
    }
    /// How many are settled.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.answered + self.quarantined + self.removed
    }
    /// Settles a document; false if it was.
    pub(crate) fn add(&mut self, number: u64, settled: &DocumentResult) -> bool {
        let (page, word, bit) = place(number);
        let words = self.pages.entry(page).or_insert_with(|| Box::new([0; PAGE_WORDS]));
        let Some(bits) = words.get_mut(word).filter(|bits| **bits & bit == 0) else { return false };
        *bits |= bit;
        match settled {
            DocumentResult::Answered(_) => self.answered += 1,
            DocumentResult::Quarantined(_) => self.quarantined += 1,
            DocumentResult::Removed => self.removed += 1,
        }
        true
    }
}

/// A page has a bit for each of 65,536 documents.
const PAGE_WORDS: usize = 1_024;

/// The page of a document, its word there, and its bit.
fn place(number: u64) -> (u64, usize, u64) {
    let words = PAGE_WORDS as u64;
    (number / 64 / words, (number / 64 % words) as usize, 1 << (number % 64))
}

/// The journal of a job.
#[derive(Debug)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    writer: Writer,
    room: Vec<u8>,
}

impl Journal {
    /// Opens the journal at `path`, or begins one, and says what is settled.
    pub(crate) fn open(disk: Arc<dyn Disk>, path: &Path) -> Result<(Self, SettledSet), Error> {
        let mut done = SettledSet::default();
        let writer = match Frames::open(&*disk, path) {
            Ok(mut frames) => {
                let mut end = 0;
                while let Some(frame) = frames.next()? {
                    let Some(row) = decode(frame) else { break };
                    done.add(row.number, &row.result);
                    end = frames.position();
                }
                Writer::resume(&*disk, path, end)?
            }
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Writer::create(&*disk, path)?
            }
            Err(error) => return Err(error),
        };
        Ok((Self { disk, path: path.to_owned(), writer, room: Vec::new() }, done))
    }
    pub(crate) fn push(&mut self, row: &ScanRow) -> Result<(), Error> {
        self.room.clear();
        encode_into(row, &mut self.room);
        self.writer.push(&[&self.room])
    }
    /// From here on a killed process loses none of it.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.writer.flush()
    }
    /// From here on nothing loses any of it.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.writer.sync()
    }
    /// Everything in it, in order.
    pub(crate) fn read(&self) -> Result<JournalRows, Error> {
        Ok(JournalRows { frames: Frames::open(&*self.disk, &self.path)?, done: SettledSet::default() })
    }
}

/// Rewrites the journal at `path`: documents in `gone` are recorded only as taken down.
pub(crate) fn rewrite(disk: &dyn Disk, path: &Path, gone: &[u64]) -> Result<(), Error> {
    let removed = |number: &u64| {
        let (number, url, at) = (*number, String::new(), Timestamp::MIN);
        encode(&ScanRow { number, url, at, result: DocumentResult::Removed })
    };
    let removed: Vec<Vec<u8>> = gone.iter().map(removed).collect();
    frames::rewrite(disk, path, &removed, |frame| {
        let row = decode(frame)?;
        (gone.binary_search(&row.number).is_err()).then_some(frame)
    })
}

/// A walk through a journal.
#[derive(Debug)]
pub struct JournalRows {
    frames: Frames,
    done: SettledSet,
}

impl Iterator for JournalRows {
    type Item = Result<ScanRow, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = match self.frames.next() {
                Ok(frame) => decode(frame?)?,
                Err(error) => return Some(Err(error)),
            };
            if self.done.add(row.number, &row.result) {
                return Some(Ok(row));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::disk::SimulatedDisk;

    fn rows() -> Vec<ScanRow> {
        let row = |number, result| ScanRow {
            number,
            url: "http://a.example/写し".to_owned(),
            at: Timestamp::from_micros(7).unwrap(),
            result,
        };
        let failure = AnalysisFailure {
            cause: FailureCause::Greedy,
            what: "写し".to_owned(),
            words: "\"\n".to_owned(),
        };
        vec![
            row(3, DocumentResult::Answered(AnalysisAnswer::Json("{}".to_owned()))),
            row(200, DocumentResult::Quarantined(failure)),
            row(0, DocumentResult::Answered(AnalysisAnswer::Bytes(vec![255]))),
            row(64, DocumentResult::Removed),
        ]
    }

    #[test]
    fn what_is_settled_stays_so() {
        let (disk, path) = (Arc::new(SimulatedDisk::new(1)), Path::new("/journal"));
        let (mut journal, done) = Journal::open(disk.clone(), path).unwrap();
        assert_eq!(done.count(), 0);
        rows().iter().for_each(|row| journal.push(row).unwrap());
        // A document that comes twice counts once.
        journal.push(&ScanRow { result: DocumentResult::Removed, ..rows()[0].clone() }).unwrap();
        journal.sync().unwrap();
        let (journal, done) = Journal::open(disk, path).unwrap();
        assert_eq!((done.answered, done.quarantined, done.removed), (2, 1, 1));
        assert!(
            [0, 3, 64, 200].into_iter().all(|number| done.holds(number))
                && !done.holds(1)
                && !done.holds(9_999)
        );
        assert_eq!(journal.read().unwrap().map(Result::unwrap).collect::<Vec<_>>(), rows());
    }

    #[test]
    fn a_number_that_no_job_has_costs_little() {
        let mut done = SettledSet::default();
        assert!(
            done.add(u64::MAX, &DocumentResult::Removed) && !done.add(u64::MAX, &DocumentResult::Removed)
        );
        assert!(done.holds(u64::MAX) && !done.holds(u64::MAX - 1) && done.count() == 1);
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        for row in rows() {
            let frame = encode(&row);
            assert_eq!(decode(&frame).as_ref(), Some(&row));
            (0..21).for_each(|end| assert_eq!(decode(&frame[..end]), None));
        }
        assert_eq!(decode(&[9; 40]), None);
    }
}
