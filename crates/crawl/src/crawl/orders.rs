//! Orders to a running crawl. Each is noted in the archive first (D3), and answered when it is durable and carried out (D2).

use super::Crawl;
use super::error::Error;
use super::outbox::Ticket;
use crate::note::{ADD, PAUSE, RESUME};
use crate::order::{Added, Directive, Order, Orders};
use base::door::Door;
use frontier::Selection;
use tokio::sync::oneshot;

/// The next order; pending for ever once nobody can give one.
pub(super) async fn next_order(orders: &mut Option<Orders>) -> Option<Order> {
    match orders {
        Some(orders) => orders.recv().await,
        None => std::future::pending().await,
    }
}

impl<D: Door + 'static> Crawl<D> {
    /// Adds the seeds. Those that are known already are due now: they were named again.
    pub(super) fn note_seeds(&mut self) -> Result<(), Error> {
        let seeds = std::mem::take(&mut self.settings.seeds);
        let mut known = Vec::new();
        for seed in &seeds {
            if self.frontier.knows(&seed.url)? {
                known.push(Selection::page(&seed.url));
            }
        }
        if !seeds.is_empty() {
            self.note_add(&seeds, None);
        }
        if !known.is_empty() {
            self.note_directive(Directive::VisitNow, &known, None);
        }
        Ok(())
    }

    /// Answers a question, or notes an order.
    pub(super) fn obey(&mut self, order: Option<Order>) -> Result<(), Error> {
        let Some(order) = order else {
            self.orders = None;
            return Ok(());
        };
        match order.answer(&mut self.frontier, self.clock.now())? {
            Some(Order::Add(pages, answer)) => self.note_add(&pages, Some(answer)),
            Some(Order::Pause(is_paused, answer)) => {
                let kind = if is_paused { PAUSE } else { RESUME };
                self.note(kind, String::new(), Ticket::Pause(Some(answer)));
            }
            Some(Order::Direct(directive, selections, answer)) => {
                self.note_directive(directive, &selections, Some(answer));
            }
            // Questions are answered already.
            Some(_) | None => {}
        }
        Ok(())
    }
    fn note_directive(
        &mut self,
        directive: Directive,
        selections: &[Selection],
        answer: Option<oneshot::Sender<u64>>,
    ) {
        let text = selections.iter().map(|selection| format!("{selection}\n")).collect();
        self.note(directive.name(), text, Ticket::Direct(answer));
    }
    fn note_add(&mut self, pages: &[Added], answer: Option<oneshot::Sender<usize>>) {
        let text = pages.iter().map(Added::line).collect();
        self.note(ADD, text, Ticket::Add(answer));
    }
    fn note(&mut self, kind: &'static str, text: String, ticket: Ticket) {
        self.outbox.note(kind, self.clock.now(), text, ticket);
    }

    /// Answers an order whose note is in the archive and was carried out.
    pub(super) fn answer(&mut self, ticket: Ticket, pages: u64) -> Result<(), Error> {
        let now = self.clock.now();
        if matches!(ticket, Ticket::Add(_)) {
            self.frontier.settle(now)?;
        }
        self.frontier.commit_durably(now)?;
        // The client may have left.
        match ticket {
            Ticket::Add(Some(answer)) => drop(answer.send(usize::try_from(pages).unwrap_or(usize::MAX))),
            Ticket::Pause(Some(answer)) => drop(answer.send(())),
            Ticket::Direct(Some(answer)) => drop(answer.send(pages)),
            _ => {}
        }
        Ok(())
    }
}
