//! The archive's own thread: takes captures, syncs them in batches, then reports them.
//!
//! **Invariant:** a capture is acknowledged only after the sync of its batch (D2), which waits at most
//! [`BATCH_WAIT_MAX`]. When the disk is full the batch waits for room and nothing acknowledged is lost (M4).
//!
//! **Invariant:** the thread sends at most one message per capture on its way, and two more: when the disk is full and
//! when it no longer is. So their channel needs no bound.

use crate::derived_stage::DerivedStage;
use archive::{Appended, Archive};
use base::limits::BATCH_WAIT_MAX;
use base::{Capture, Timestamp};
use stage::{Arrival, BodyParser, Delivery, ParsedBody, Stage as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Maximum number of captures in a batch.
const BATCH_CAPTURES_MAX: usize = 512;
/// Maximum received bytes in a batch.
const BATCH_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long a batch that could grow waits for the next capture.
const GATHER_STEP: Duration = Duration::from_millis(10);
/// How often a write to a full disk is retried.
const FULL_RETRY: Duration = Duration::from_millis(250);

/// Something on its way into the archive, with data that is returned to its sender.
pub(crate) struct Work<T> {
    pub item: Item,
    /// Its body, parsed by the visit.
    pub body: Option<ParsedBody>,
    pub ticket: T,
}

/// What the archive takes.
pub(crate) enum Item {
    /// A visit.
    Capture(Box<Capture>),
    /// A note: its kind, its moment, its text (D3).
    Note(&'static str, Timestamp, String),
}

impl Item {
    /// The bytes that it holds in memory.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Capture(capture) => crate::visit::received_bytes(capture),
            Self::Note(_, _, text) => text.len() as u64,
        }
    }
    fn append_to(&self, archive: &mut Archive) -> Result<Appended, archive::Error> {
        match self {
            Self::Capture(capture) => archive.append(capture),
            Self::Note(kind, at, text) => archive.note(kind, *at, text),
        }
    }
}

/// Captures that are in the archive, or about to be.
pub(crate) type Batch<T> = Vec<(Work<T>, Appended)>;

/// A message of the archive's thread.
pub(crate) enum Word<T> {
    /// These captures are durable.
    Kept(Batch<T>),
    /// The disk is full; everything waits for room.
    Full(archive::Error),
    /// There is room again.
    Room,
}

/// The crawl's side of the archive's thread.
pub(crate) struct Writer<T> {
    work: Option<SyncSender<Work<T>>>,
    pub words: UnboundedReceiver<Word<T>>,
    thread: Option<JoinHandle<Result<u64, crate::Error>>>,
    give_up: Arc<AtomicBool>,
}

impl<T: Send + 'static> Writer<T> {
    /// Starts the thread. At most `captures_max` may be on their way at once.
    pub(crate) fn start(
        archive: Archive,
        derived: Option<DerivedStage>,
        parser: BodyParser,
        captures_max: usize,
    ) -> Result<Self, stage::Error> {
        let (work, receiver) = sync_channel(captures_max);
        let (sender, words) = unbounded_channel();
        let give_up = Arc::new(AtomicBool::new(false));
        let derived = derived.map(|derived| Derived::start(derived, parser)).transpose()?;
        let far = Far { archive, derived, receiver, sender, give_up: Arc::clone(&give_up) };
        let thread = std::thread::Builder::new().name("archive".into()).spawn(move || far.run());
        let thread = Some(thread.expect("a thread can be started"));
        Ok(Self { work: Some(work), words, thread, give_up })
    }

    /// Sends a capture. Returns whether the thread is still running.
    ///
    /// # Panics
    /// When more captures are on their way than the maximum given at the start.
    pub(crate) fn hand_over(&self, work: Work<T>) -> bool {
        use std::sync::mpsc::TrySendError;
        let Some(sender) = &self.work else { return false };
        match sender.try_send(work) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => panic!("more captures on their way than agreed"),
            Err(TrySendError::Disconnected(_)) => false,
        }
    }

    /// Ends the input: what is there is synced and the archive closed.
    pub(crate) fn finish(&mut self) {
        self.work = None;
    }

    /// Stops waiting for a full disk; what could not be synced is given up.
    pub(crate) fn give_up(&self) {
        self.give_up.store(true, Ordering::Relaxed);
    }

    /// Waits for the thread's end; returns how many captures were given up.
    pub(crate) fn join(&mut self) -> Result<u64, crate::Error> {
        self.finish();
        let thread = self.thread.take().expect("the thread is joined once");
        thread.join().expect("the archive's thread does not panic")
    }
}

/// The thread itself.
struct Far<T> {
    archive: Archive,
    derived: Option<Derived>,
    receiver: Receiver<Work<T>>,
    sender: UnboundedSender<Word<T>>,
    give_up: Arc<AtomicBool>,
}

impl<T> Far<T> {
    /// Works until no more captures come; returns how many were given up.
    fn run(mut self) -> Result<u64, crate::Error> {
        while let Ok(first) = self.receiver.recv() {
            let (batch, given_up) = self.gather(first)?;
            if given_up > 0 || self.with_room(Archive::commit)?.is_none() {
                return Ok(batch.len() as u64 + given_up + self.receiver.iter().count() as u64);
            }
            let batch = match &mut self.derived {
                Some(derived) => derived.take(batch)?,
                None => batch,
            };
            // The receiver is gone if the crawl was dropped; the captures are durable anyway.
            let _ = self.sender.send(Word::Kept(batch));
        }
        if let Some(derived) = &mut self.derived {
            derived.stage.sync()?;
        }
        self.archive.close()?;
        Ok(0)
    }

    /// Appends captures until the batch is old or large enough; returns the batch, and how many were given up.
    fn gather(&mut self, first: Work<T>) -> Result<(Batch<T>, u64), archive::Error> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let mut patience = BATCH_WAIT_MAX / 2;
        let mut next = Some(first);
        while let Some(work) = next.take() {
            bytes += work.item.bytes();
            let append = |archive: &mut Archive| work.item.append_to(archive);
            let Some(appended) = self.with_room(append)? else { return Ok((batch, 1)) };
            batch.push((work, appended));
            if batch.len() < BATCH_CAPTURES_MAX && bytes < BATCH_BYTES_MAX {
                next = self.wait(&mut patience);
            }
        }
        Ok((batch, 0))
    }

    /// The next capture, unless the patience runs out or none comes for a moment: then the batch is synced at once,
    /// because the crawl learns from what is synced.
    fn wait(&self, patience: &mut Duration) -> Option<Work<T>> {
        let step = GATHER_STEP.min(*patience);
        *patience -= step / 2;
        if step.is_zero() { None } else { self.receiver.recv_timeout(step).ok() }
    }

    /// Repeats an action on the archive until there is room for it; `None` if that is given up.
    fn with_room<R>(
        &mut self,
        act: impl Fn(&mut Archive) -> Result<R, archive::Error>,
    ) -> Result<Option<R>, archive::Error> {
        let mut told = false;
        loop {
            match act(&mut self.archive) {
                Err(error) if error.is_disk_full() => {
                    if !std::mem::replace(&mut told, true) {
                        let _ = self.sender.send(Word::Full(error));
                    }
                    if self.give_up.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    std::thread::sleep(FULL_RETRY);
                }
                result => {
                    if told {
                        let _ = self.sender.send(Word::Room);
                    }
                    return result.map(Some);
                }
            }
        }
    }
}

/// The stage of the derived table, which processes a batch before it is reported.
struct Derived {
    stage: DerivedStage,
    delivery: Delivery,
    parser: BodyParser,
}

impl Derived {
    fn start(mut stage: DerivedStage, parser: BodyParser) -> Result<Self, stage::Error> {
        let delivery = Delivery::start(&[&mut stage])?;
        Ok(Self { stage, delivery, parser })
    }

    fn take<T>(&mut self, mut batch: Batch<T>) -> Result<Batch<T>, stage::Error> {
        for (work, stored) in &mut batch {
            let entry = stored.entry.clone();
            let arrival = match &work.item {
                Item::Capture(capture) => {
                    Arrival::visited(entry, capture, &self.parser).with_body(work.body.take())
                }
                Item::Note(kind, _, text) => Arrival::noted(entry, kind, text, &self.parser),
            };
            self.delivery.take(&mut [&mut self.stage], &arrival)?;
            work.body = arrival.into_body();
        }
        self.delivery.commit(&mut [&mut self.stage])?;
        Ok(batch)
    }
}
