//! `utsushi import`: takes over what others archived: WARC, WACZ and ARC, whatever their files are called.
//!
//! One thread reads and unpacks, this one takes over what it hands out, so neither waits for the other.
//!
//! **Invariant:** a capture's line is printed after its batch is synced (D2). What is damaged in a file costs what is
//! damaged and no more, and a file that cannot be read costs no other. The summary accounts for every record that was read.

mod input;
mod tally;

use super::Context;
use crate::exit::{Advised, Exit};
use crate::node::directory::Web;
use crate::progress::Progress;
use crate::signals::{self, Stop};
use anyhow::Context as _;
use archive::{Archive, Group, Grouper, Imported};
use base::clock::{Clock as _, RealClock};
use base::limits::RECORD_BLOCK_BYTES_MAX;
use input::{Input, LeftOut, Step};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;
use tally::Tally;
use warc::{Joined, Segments};

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web import old-crawl-*.warc.gz
  utsushi --data ~/web import collection.wacz 1999.arc.gz
  utsushi --data ~/web --json import crawl.warc.zst | jq -r 'select(.url) | .url'";

/// What was read and not yet taken over: with the block bound, a bound on memory.
const STEPS_AHEAD: usize = 2;
/// A batch is synced when it has so many captures, or is so old (D2).
const BATCH_CAPTURES_MAX: usize = 1_000;
const BATCH_AGE_MAX: Duration = Duration::from_millis(900);
/// How long to wait for room before the disk is asked again.
const ROOM_PAUSE: Duration = Duration::from_millis(500);

/// Take over WARC, WACZ and ARC files of anyone
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// WARC (plain, gzip or zstandard), WACZ and ARC files; what they are is seen by what they hold
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Takes over all files.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let (inputs, left_out) = open_all(&args.files)?;
    let stop = signals::listen(&context.output).context("cannot listen for signals")?;
    let clock = RealClock::start();
    let writer = context.lock(Web::Public, "import", clock.now())?;
    let archive = context.archive(&writer, clock.now())?;
    let bytes = inputs.iter().map(|input| input.bytes).sum();
    let progress = context.output.progress("importing bytes", Some(bytes));
    let spool = context.spool(None);
    let (sender, receiver) = sync_channel(STEPS_AHEAD);
    let reading = std::thread::spawn(move || input::read_all(inputs, &spool, &sender));
    let import =
        Import { archive, context, clock, stop, progress, batch: Vec::new(), batch_age: Duration::ZERO };
    let mut tally = Tally::new(&context.output);
    left_out.iter().for_each(|file| tally.left_out_file(file));
    let tally = import.take_over(receiver, tally)?;
    reading.join().map_err(|_| anyhow::anyhow!("cannot import: the thread that reads has died"))?;
    let (json, text) = (tally.to_json(), || tally.to_text());
    context.output.result(&json, text);
    Ok(tally.exit())
}

/// The files that can be imported, and those that cannot. It is an error if none can.
fn open_all(paths: &[PathBuf]) -> anyhow::Result<(Vec<Input>, Vec<LeftOut>)> {
    let (mut inputs, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        match Input::open(path) {
            Ok(input) => inputs.push(input),
            Err(why) => left_out.push(LeftOut { path: path.clone(), why }),
        }
    }
    match left_out.pop() {
        Some(LeftOut { path, why }) if inputs.is_empty() => {
            let advice = "name WARC, WACZ or ARC files that you may read; nothing was imported";
            Err(Advised::new(format!("cannot import `{}`", path.display()), advice, why).into())
        }
        last => {
            left_out.extend(last);
            Ok((inputs, left_out))
        }
    }
}

/// An import on its way.
struct Import<'a> {
    archive: Archive,
    context: &'a Context,
    clock: Arc<RealClock>,
    stop: Stop,
    progress: Progress,
    /// Captures that wait for their sync, each with the number of its records.
    batch: Vec<(archive::Entry, u64)>,
    batch_age: Duration,
}

impl Import<'_> {
    /// Takes over what the reader hands out, until its end or until someone asks to stop.
    fn take_over(mut self, steps: Receiver<Step>, tally: Tally) -> anyhow::Result<Tally> {
        let tally = RefCell::new(tally);
        let records = std::iter::from_fn(|| {
            steps.iter().find_map(|step| tally.borrow_mut().hear(step)).map(Ok::<_, warc::Error>)
        });
        let mut grouper = Grouper::new();
        for logical in Joined::new(records, RECORD_BLOCK_BYTES_MAX) {
            let logical = logical.context("cannot read the records")?;
            if self.stop.is_asked() {
                break;
            }
            self.progress.set(tally.borrow().done_bytes, "");
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
        // The thread that reads ends when nobody listens.
        drop(steps);
        if !self.stop.is_asked() {
            for group in grouper.finish() {
                self.import(group, &tally)?;
            }
        }
        self.commit(&tally)?;
        tally.borrow_mut().is_stopped = self.stop.is_asked();
        self.archive
            .close()
            .context("everything said to be imported is, but the index could not be brought up to date")?;
        Ok(tally.into_inner())
    }

    fn import(&mut self, mut group: Group, tally: &RefCell<Tally>) -> anyhow::Result<()> {
        let unfit = group.take_unfit();
        let records = group.companions.len() as u64 + 1;
        let Some(imported) = self.when_there_is_room(|archive| archive.import(&group))? else {
            return Ok(());
        };
        let mut heard = tally.borrow_mut();
        unfit.iter().for_each(|(record, why)| heard.left_out(record, why));
        match imported {
            Imported::Added(entry) => self.batch.push((entry, records)),
            Imported::Known(_) => heard.known(records),
            Imported::TakenDown => heard.taken_down(records),
            Imported::Unfit(why) => heard.unfit(&group.main, records, why),
        }
        drop(heard);
        let is_old = self.clock.real_elapsed().saturating_sub(self.batch_age) >= BATCH_AGE_MAX;
        if is_old || self.batch.len() >= BATCH_CAPTURES_MAX { self.commit(tally) } else { Ok(()) }
    }

    /// Makes the batch durable, and says so.
    fn commit(&mut self, tally: &RefCell<Tally>) -> anyhow::Result<()> {
        if !self.batch.is_empty() && self.when_there_is_room(Archive::commit)?.is_some() {
            self.batch.drain(..).for_each(|(entry, records)| tally.borrow_mut().added(&entry, records));
        }
        self.batch_age = self.clock.real_elapsed();
        Ok(())
    }

    /// Does something that needs room; waits for it as long as there is none (D17). Nothing if someone asks to stop
    /// meanwhile.
    fn when_there_is_room<T>(
        &mut self,
        mut act: impl FnMut(&mut Archive) -> Result<T, archive::Error>,
    ) -> anyhow::Result<Option<T>> {
        let mut is_waiting = false;
        loop {
            match act(&mut self.archive) {
                Err(error) if error.is_disk_full() => {
                    if !std::mem::replace(&mut is_waiting, true) {
                        self.context.output.complaint(format!("waiting for room: {error}"));
                    }
                    if self.stop.is_asked() {
                        return Ok(None);
                    }
                    std::thread::sleep(ROOM_PAUSE);
                }
                done => {
                    if is_waiting {
                        self.context.output.complaint("there is room again; going on");
                    }
                    return done.map(Some).context("cannot write to the archive");
                }
            }
        }
    }
}
