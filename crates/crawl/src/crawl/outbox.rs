//! What is on its way into the archive: captures and notes that are not durable yet.
//!
//! **Invariant:** an item is counted from the moment it is handed over until the archive's thread says that it is durable.

use crate::derived_stage::DerivedStage;
use crate::write::{Batch, Item, Word, Work, Writer};
use archive::Archive;
use base::{Capture, Timestamp};
use frontier::FoundUrl;
use stage::{BodyParser, ParsedBody};
use tokio::sync::oneshot;

/// Maximum number of notes on their way beside the captures.
pub(super) const NOTES_MAX: usize = 64;

/// What comes back with something durable.
pub(super) enum Ticket {
    /// A visit to a page, if the frontier has a record of it.
    Page(Option<frontier::Number>),
    /// A robots file, and the sitemaps that it names.
    Robots { sitemaps: Vec<FoundUrl> },
    /// No request was sent; the page keeps its turn.
    HeldBack,
    /// Pages that were added.
    Add(Option<oneshot::Sender<usize>>),
    /// A pause, or its end.
    Pause(Option<oneshot::Sender<()>>),
    /// Something an operator ordered of pages.
    Direct(Option<oneshot::Sender<u64>>),
}

pub(super) struct Outbox {
    writer: Writer<Ticket>,
    items: usize,
    bytes: u64,
    notes: usize,
}

impl Outbox {
    /// Starts the archive's thread. At most `captures_max` captures may be on their way.
    pub(super) fn start(
        archive: Archive,
        derived: Option<DerivedStage>,
        parser: BodyParser,
        captures_max: usize,
    ) -> Result<Self, stage::Error> {
        let writer = Writer::start(archive, derived, parser, captures_max + NOTES_MAX)?;
        Ok(Self { writer, items: 0, bytes: 0, notes: 0 })
    }

    /// Items on their way.
    pub(super) fn len(&self) -> usize {
        self.items
    }
    /// Bytes that they hold in memory.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Whether one more order, with its notes, may be accepted.
    pub(super) fn has_room_for_notes(&self) -> bool {
        self.notes < NOTES_MAX / 2
    }

    /// Hands over a capture; its bytes.
    pub(super) fn keep(&mut self, capture: Capture, body: Option<ParsedBody>, ticket: Ticket) -> u64 {
        self.hand_over(Work { item: Item::Capture(Box::new(capture)), body, ticket })
    }
    /// Hands over a note.
    pub(super) fn note(&mut self, kind: &'static str, at: Timestamp, text: String, ticket: Ticket) {
        self.notes += 1;
        self.hand_over(Work { item: Item::Note(kind, at, text), body: None, ticket });
    }
    fn hand_over(&mut self, work: Work<Ticket>) -> u64 {
        let bytes = work.item.bytes();
        if self.writer.hand_over(work) {
            self.items += 1;
            self.bytes += bytes;
        }
        bytes
    }

    /// What the archive's thread says next; `None` when it has ended.
    pub(super) async fn next(&mut self) -> Option<Word<Ticket>> {
        self.writer.words.recv().await
    }
    /// These items are durable.
    pub(super) fn take_out(&mut self, batch: &Batch<Ticket>) {
        self.items -= batch.len();
        self.bytes -= batch.iter().map(|(work, _)| work.item.bytes()).sum::<u64>();
        self.notes -= batch.iter().filter(|(work, _)| matches!(work.item, Item::Note(..))).count();
    }

    /// Nothing more is handed over.
    pub(super) fn finish(&mut self) {
        self.writer.finish();
    }
    /// A full disk is no longer waited for.
    pub(super) fn give_up(&self) {
        self.writer.give_up();
    }
    /// Waits for the thread's end; how many captures were given up.
    pub(super) fn join(&mut self) -> Result<u64, crate::Error> {
        self.writer.join()
    }
}
