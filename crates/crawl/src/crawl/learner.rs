//! Lets the frontier learn from what has become durable, in the order of the archive.

use super::error::Error;
use super::outbox::Ticket;
use crate::findings::ReadOptions;
use crate::frontier_stage::{FrontierStage, Hint};
use crate::report::ArchivedCapture;
use archive::{Entry, Flag};
use base::{Capture, Outcome, Timestamp};
use frontier::Frontier;
use stage::{Arrival, BodyParser, Delivery, ParsedBody};

pub(super) struct Learner {
    reads: ReadOptions,
    parser: BodyParser,
    /// Hands what is durable to the frontier's stage.
    delivery: Delivery,
}

impl Learner {
    /// Begins after the checkpoint of a frontier.
    pub(super) fn start(frontier: &mut Frontier, reads: ReadOptions, now: Timestamp) -> Result<Self, Error> {
        let delivery = Delivery::start(&[&mut FrontierStage::new(frontier, &reads, now)])?;
        Ok(Self { parser: reads.parser(), reads, delivery })
    }

    /// Learns from a note; how many pages it concerned.
    pub(super) fn note(
        &mut self,
        frontier: &mut Frontier,
        entry: Entry,
        (kind, text): (&str, &str),
        now: Timestamp,
    ) -> Result<u64, Error> {
        let parser = self.parser.clone();
        self.deliver(frontier, &Arrival::noted(entry, kind, text, &parser), None, now)
    }

    /// Learns from a visit of this crawl.
    pub(super) fn capture(
        &mut self,
        frontier: &mut Frontier,
        entry: Entry,
        (capture, body, ticket): (Capture, Option<ParsedBody>, Ticket),
        now: Timestamp,
    ) -> Result<ArchivedCapture, Error> {
        let is_robots = matches!(ticket, Ticket::Robots { .. } | Ticket::Page(None));
        let (mut had_content, mut is_requisite) = (false, false);
        let hint = match ticket {
            Ticket::Page(Some(page)) => {
                had_content = frontier.has_content(page);
                is_requisite = frontier.is_requisite(page);
                Hint::Page(page)
            }
            Ticket::Robots { sitemaps } => Hint::Robots(sitemaps),
            _ => Hint::Nothing,
        };
        let parser = self.parser.clone();
        let arrival = Arrival::visited(entry, &capture, &parser).with_body(body);
        self.deliver(frontier, &arrival, Some(hint), now)?;
        let entry = arrival.into_entry();
        let is_changed = entry.flag == Flag::Changed;
        let changed = match capture.outcome {
            Outcome::NotModified => Some(false),
            Outcome::Fetched { .. } => (had_content || !is_changed).then_some(is_changed),
            _ => None,
        };
        Ok(ArchivedCapture {
            url: capture.url,
            at: capture.at,
            outcome: capture.outcome,
            robots: is_robots,
            requisite: is_requisite,
            changed,
            stored: entry.kind,
            location: entry.location,
        })
    }

    fn deliver(
        &mut self,
        frontier: &mut Frontier,
        arrival: &Arrival<'_>,
        hint: Option<Hint>,
        now: Timestamp,
    ) -> Result<u64, Error> {
        let mut stage = FrontierStage::new(frontier, &self.reads, now).expecting(hint);
        self.delivery.take(&mut [&mut stage], arrival)?;
        Ok(stage.counts().noted)
    }

    /// Commits what was learned with its checkpoint.
    pub(super) fn commit(&mut self, frontier: &mut Frontier, now: Timestamp) -> Result<(), Error> {
        let mut stage = FrontierStage::new(frontier, &self.reads, now);
        Ok(self.delivery.commit(&mut [&mut stage])?)
    }
}
