//! Imports files of other archives: WARC, WACZ and ARC, recognised by their content.
//!
//! One thread reads and decompresses, another appends to the archive, so neither waits for the other.
//!
//! **Invariant:** a capture is reported after its batch is synced (D2). Damage costs only what is damaged, and a file that
//! cannot be read does not affect the others. The summary accounts for every record that was read.

mod input;
mod summary;

pub use summary::{ImportEvent, ImportSummary, RecordAccounts};

use crate::directory::DirectoryWriter;
use crate::error::Error;
use crate::monitor::{Activity, Meter, Notice};
use crate::node::Node;
use archive::{Archive, Entry, Group, Grouper, Imported};
use base::clock::{Clock as _, RealClock};
use base::limits::RECORD_BLOCK_BYTES_MAX;
use input::{Input, Step};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;
use summary::Tally;
use warc::{Joined, Segments};

/// Maximum number of records between reading and appending; with the limit on a record's block, a bound on memory.
const STEPS_AHEAD: usize = 2;
/// A batch is synced when it has this many captures, or is this old (D2).
const BATCH_CAPTURES_MAX: usize = 1_000;
const BATCH_AGE_MAX: Duration = Duration::from_millis(900);
/// The time between two attempts to write to a full disk.
const FULL_RETRY: Duration = Duration::from_millis(500);

/// Files that can be imported.
#[derive(Debug)]
pub struct Importer {
    inputs: Vec<Input>,
    left_out: Vec<(PathBuf, String)>,
}

impl Importer {
    /// Opens all files and detects their formats. It is an error if none of them can be imported.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let (mut inputs, mut left_out) = (Vec::new(), Vec::new());
        for path in paths {
            match Input::open(path) {
                Ok(input) => inputs.push(input),
                Err(why) => left_out.push((path.clone(), why)),
            }
        }
        match left_out.pop() {
            Some((path, source)) if inputs.is_empty() => Err(Error::NotImportable { path, source }),
            last => {
                left_out.extend(last);
                let left_out = left_out.into_iter().map(|(path, why)| (path, why.to_string())).collect();
                Ok(Self { inputs, left_out })
            }
        }
    }

    /// Imports all files into the archive of a data directory that this process writes to. Stops early, cleanly, once
    /// `should_stop` says so.
    pub fn run(
        self,
        node: &Node,
        writer: &DirectoryWriter,
        should_stop: &dyn Fn() -> bool,
        on_event: &mut dyn FnMut(&ImportEvent),
    ) -> Result<ImportSummary, Error> {
        let clock = RealClock::start();
        let archive = node.archive(writer, clock.now())?;
        let bytes = self.inputs.iter().map(Input::bytes).sum();
        let meter = node.monitor.begin(Activity::Importing, Some(bytes));
        let (sender, receiver) = sync_channel(STEPS_AHEAD);
        let (inputs, spool) = (self.inputs, node.spool(None));
        let reading = std::thread::spawn(move || input::read_all(inputs, &spool, &sender));
        let running = Running {
            node,
            archive,
            clock,
            should_stop,
            meter,
            batch: Vec::new(),
            batch_age: Duration::ZERO,
        };
        let mut tally = Tally::new(on_event);
        self.left_out.iter().for_each(|(path, why)| tally.left_out_file(path, why));
        let summary = running.run(receiver, tally)?;
        reading.join().expect("the thread that reads does not panic");
        Ok(summary)
    }
}

/// The paths of files as another process on this machine finds them.
pub fn absolute(paths: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    paths.iter().map(|path| std::path::absolute(Path::new(path))).collect()
}

/// An import that runs.
struct Running<'a> {
    node: &'a Node,
    archive: Archive,
    clock: Arc<RealClock>,
    should_stop: &'a dyn Fn() -> bool,
    meter: Box<dyn Meter>,
    /// Captures that wait for their sync, each with the number of its records.
    batch: Vec<(Entry, u64)>,
    batch_age: Duration,
}

impl Running<'_> {
    /// Appends what the reader sends, until its end or until the caller stops it.
    fn run(mut self, steps: Receiver<Step>, tally: Tally<'_>) -> Result<ImportSummary, Error> {
        let tally = RefCell::new(tally);
        let records = std::iter::from_fn(|| {
            steps
                .iter()
                .find_map(|step| tally.borrow_mut().count(step))
                .map(Ok::<_, std::convert::Infallible>)
        });
        let mut grouper = Grouper::new();
        for logical in Joined::new(records, RECORD_BLOCK_BYTES_MAX) {
            let Ok(logical) = logical;
            if (self.should_stop)() {
                break;
            }
            self.meter.set(tally.borrow().done_bytes, None);
            match logical.segments {
                Segments::Whole => {}
                Segments::Joined(parts) => tally.borrow_mut().joined(parts),
                Segments::Incomplete { parts, why } => {
                    tally.borrow_mut().unfit(&logical.record, u64::from(parts), why);
                    continue;
                }
            }
            for group in grouper.push(logical.record) {
                self.import(group, &tally)?;
            }
        }
        // The thread that reads ends when nothing receives any more.
        drop(steps);
        if !(self.should_stop)() {
            for group in grouper.finish() {
                self.import(group, &tally)?;
            }
        }
        self.commit(&tally)?;
        let is_stopped = (self.should_stop)();
        self.archive.close().map_err(Error::archive("update the index after the import"))?;
        Ok(tally.into_inner().finish(is_stopped))
    }

    fn import(&mut self, mut group: Group, tally: &RefCell<Tally<'_>>) -> Result<(), Error> {
        let unfit = group.take_unfit();
        let records = group.companions.len() as u64 + 1;
        let Some(imported) = self.when_there_is_space(|archive| archive.import(&group))? else {
            return Ok(());
        };
        let mut counted = tally.borrow_mut();
        unfit.iter().for_each(|(record, why)| counted.left_out(record, why));
        match imported {
            Imported::Added(entry) => self.batch.push((entry, records)),
            Imported::Known(_) => counted.known(records),
            Imported::TakenDown => counted.taken_down(records),
            Imported::Unfit(why) => counted.unfit(&group.main, records, why),
        }
        drop(counted);
        let is_old = self.clock.real_elapsed().saturating_sub(self.batch_age) >= BATCH_AGE_MAX;
        if is_old || self.batch.len() >= BATCH_CAPTURES_MAX { self.commit(tally) } else { Ok(()) }
    }

    /// Makes the batch durable, and reports it.
    fn commit(&mut self, tally: &RefCell<Tally<'_>>) -> Result<(), Error> {
        if !self.batch.is_empty() && self.when_there_is_space(Archive::commit)?.is_some() {
            self.batch.drain(..).for_each(|(entry, records)| tally.borrow_mut().added(&entry, records));
        }
        self.batch_age = self.clock.real_elapsed();
        Ok(())
    }

    /// Does something that needs disk space, and waits while the disk is full (D17). Returns `None` if the
    /// caller stops the import meanwhile.
    fn when_there_is_space<T>(
        &mut self,
        mut act: impl FnMut(&mut Archive) -> Result<T, archive::Error>,
    ) -> Result<Option<T>, Error> {
        let mut is_waiting = false;
        loop {
            match act(&mut self.archive) {
                Err(error) if error.is_disk_full() => {
                    if !std::mem::replace(&mut is_waiting, true) {
                        self.node.monitor.notice(&Notice::DiskFull(&error));
                    }
                    if (self.should_stop)() {
                        return Ok(None);
                    }
                    std::thread::sleep(FULL_RETRY);
                }
                done => {
                    if is_waiting {
                        self.node.monitor.notice(&Notice::DiskFreed);
                    }
                    return done.map(Some).map_err(Error::archive("write to the archive"));
                }
            }
        }
    }
}
