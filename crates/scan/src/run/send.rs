//! What goes to a worker: documents as the dispatcher gives them out, from their file into the pipe.

use super::hear::row;
use super::{Event, Shared};
use crate::dispatch::Next;
use crate::journal::DocumentResult;
use crate::wire::{AnalysisFailure, Batch, FailureCause, Parcel};
use rustix::pipe::{SpliceFlags, splice};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::process::ChildStdin;
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

/// Sends parcels to a worker as it is given them, until there are no more or it has ended.
pub(super) fn send(
    shared: &Shared<'_>,
    seat: usize,
    mut input: ChildStdin,
    (is_dead, events): (&Mutex<bool>, &SyncSender<Event>),
) {
    let mut front = Vec::new();
    loop {
        let (parcels, is_alone) = {
            let mut live = shared.lock();
            loop {
                if live.is_over || *is_dead.lock().unwrap_or_else(PoisonError::into_inner) {
                    return;
                }
                match live.dispatch.next(seat) {
                    Next::Take(parcels) => {
                        let now = shared.now();
                        if live.dispatch.with(seat) == parcels.len() {
                            live.heard.iter_mut().skip(seat).take(1).for_each(|heard| *heard = now);
                            live.dispatch.begins(seat, now);
                        }
                        break (parcels, live.dispatch.is_alone(seat));
                    }
                    Next::Wait => live = shared.wait(seat, live),
                    Next::End => return,
                }
            }
        };
        let mut unsent = parcels.as_slice();
        while let Some((batch, rest)) = Batch::split(unsent, is_alone) {
            match send_batch(&mut input, &batch, &mut front) {
                Ok(()) => unsent = rest,
                // Its end is heard by the other thread.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
                Err(error) => {
                    // The archive cannot be read there. The worker has half a message, and ends; of several documents
                    // each is then tried alone.
                    if let [only] = batch.parcels {
                        quarantined(shared, seat, only, &error, events);
                    }
                    return;
                }
            }
        }
    }
}

/// A document that cannot be read is a fault of the disk, not of the analysis.
fn quarantined(
    shared: &Shared<'_>,
    seat: usize,
    parcel: &Parcel,
    error: &io::Error,
    events: &SyncSender<Event>,
) {
    let settled = {
        let mut live = shared.lock();
        let settled = live.dispatch.settle(seat, parcel.number);
        shared.ring_all(&live);
        settled
    };
    let Some(settled) = settled else { return };
    let location = &settled.location;
    let what = format!("`{}` cannot be read at byte {}: {error}", location.file, location.offset);
    let failure = AnalysisFailure { cause: FailureCause::Unfit, what, words: String::new() };
    let _ =
        events.send(Event::Rows(vec![(row(&settled, DocumentResult::Quarantined(failure)), Some(settled))]));
}

/// Sends the descriptions of parcels that lie close together, then the range of their file, from file to pipe.
fn send_batch(input: &mut ChildStdin, batch: &Batch<'_>, front: &mut Vec<u8>) -> io::Result<()> {
    front.clear();
    batch.put_front(front);
    input.write_all(front)?;
    let file = batch.parcels.first().map(|parcel| &parcel.file);
    match file.and_then(|file| file.as_file()) {
        Some(file) => splice_all(file, input, batch.from, batch.length),
        None => {
            let mut stretch = vec![0; batch.length];
            file.map_or(Ok(()), |file| file.read_at(batch.from, &mut stretch))?;
            input.write_all(&stretch)
        }
    }
}

/// The same by way of our memory, for a file system that does not give its pages away.
fn copy_all(file: &File, mut input: &ChildStdin, offset: u64, length: usize) -> io::Result<()> {
    let mut stretch = vec![0; length];
    file.read_exact_at(&mut stretch, offset)?;
    input.write_all(&stretch)
}

/// The pages of the file go into the pipe as they are.
fn splice_all(file: &File, input: &ChildStdin, mut offset: u64, mut length: usize) -> io::Result<()> {
    while length > 0 {
        match splice(file, Some(&mut offset), input, None, length, SpliceFlags::empty()) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(moved) => length -= moved.min(length),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::INVAL) => return copy_all(file, input, offset, length),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
