//! Limits on look-ups per registrable domain and in total (H27).
//!
//! A look-up takes a slot of its zone first and then one of all zones, so that a look-up that waits for a slow zone holds
//! nothing that others need. A zone that failed recently is in trouble: it has one look-up at a time, and all such zones
//! together have a quarter of all slots, so that even many dead zones do not stall the others.
//!
//! **Invariant:** a zone is in memory only while it has look-ups, which are bounded per zone and in total; the table of
//! zones in trouble is bounded.

use super::bounded::Bounded;
use super::settings::Settings;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How long a zone is in trouble after a failed look-up, unless one succeeds.
const TROUBLE_TIME: Duration = Duration::from_secs(5 * 60);
/// The maximum number of zones in trouble that are stored.
const TROUBLED_ZONES_MAX: usize = 16_384;
/// The share of all queries for all zones in trouble.
const TROUBLED_SHARE: usize = 4;

/// The zones with look-ups now.
#[derive(Debug)]
pub(super) struct Zones {
    zones: HashMap<Arc<str>, Zone>,
    troubled: Bounded<Arc<str>, Instant>,
    look_ups: usize,
    limits: ExchangeLimits,
}

#[derive(Debug)]
struct Zone {
    turns: Arc<Semaphore>,
    look_ups: usize,
}

#[derive(Debug)]
struct ExchangeLimits {
    zone_queries: u32,
    zone_look_ups: usize,
    look_ups: usize,
    look_up_queries: u32,
}

/// Slots among all zones.
#[derive(Debug)]
pub(super) struct Turns {
    all: Arc<Semaphore>,
    troubled: Arc<Semaphore>,
    look_up_queries: u32,
}

/// A slot in the queue of a zone.
#[derive(Debug)]
pub(super) struct Ticket {
    zone: Arc<Semaphore>,
    zone_queries: u32,
    is_troubled: bool,
}

/// Released when it is dropped.
pub(super) type Turn = [Option<OwnedSemaphorePermit>; 3];

impl Zones {
    pub(super) fn new(settings: &Settings) -> Self {
        let look_up_queries = settings.families.queries();
        let zone_queries =
            u32::try_from(settings.zone_queries_max).unwrap_or(u32::MAX).clamp(look_up_queries, 1 << 16);
        let at_once = (zone_queries / look_up_queries) as usize;
        let limits = ExchangeLimits {
            zone_queries,
            zone_look_ups: at_once.saturating_add(settings.zone_waiting_max),
            look_ups: settings.look_ups_max.max(1),
            look_up_queries,
        };
        Self { zones: HashMap::new(), troubled: Bounded::new(TROUBLED_ZONES_MAX), look_ups: 0, limits }
    }

    /// A slot in the queue of `zone`, or why there is none. The caller must [`Zones::leave`].
    pub(super) fn enter(&mut self, zone: &str, now: Instant) -> Result<Ticket, String> {
        if self.look_ups >= self.limits.look_ups {
            return Err(format!("{} names are being looked up already", self.look_ups));
        }
        let zone: Arc<str> = zone.into();
        let is_troubled = self.troubled.get(&zone).is_some_and(|until| *until > now);
        let entry = self.zones.entry(zone.clone()).or_insert_with(|| Zone {
            turns: Arc::new(Semaphore::new(self.limits.zone_queries as usize)),
            look_ups: 0,
        });
        if entry.look_ups >= self.limits.zone_look_ups {
            return Err(format!("{} names of `{zone}` are being looked up already", entry.look_ups));
        }
        entry.look_ups += 1;
        self.look_ups += 1;
        // In trouble, a look-up takes all slots of the zone, so that it is alone.
        let ExchangeLimits { zone_queries, look_up_queries, .. } = self.limits;
        let zone_queries = if is_troubled { zone_queries } else { look_up_queries };
        Ok(Ticket { zone: entry.turns.clone(), zone_queries, is_troubled })
    }

    pub(super) fn leave(&mut self, zone: &str) {
        self.look_ups -= 1;
        if let Entry::Occupied(mut entry) = self.zones.entry(zone.into()) {
            entry.get_mut().look_ups -= 1;
            if entry.get().look_ups == 0 {
                entry.remove();
            }
        }
    }

    pub(super) fn learn(&mut self, zone: &str, failed: bool, now: Instant) {
        if failed {
            self.troubled.insert(zone.into(), now + TROUBLE_TIME);
        } else {
            self.troubled.remove(&zone.into());
        }
    }

    pub(super) fn look_ups(&self) -> usize {
        self.look_ups
    }
}

impl Turns {
    pub(super) fn new(settings: &Settings) -> Self {
        let look_up_queries = settings.families.queries();
        let at_least = |queries: usize| queries.clamp(look_up_queries as usize, 1 << 16);
        let all = at_least(settings.queries_max);
        Self {
            all: Arc::new(Semaphore::new(all)),
            troubled: Arc::new(Semaphore::new(at_least(all / TROUBLED_SHARE))),
            look_up_queries,
        }
    }

    /// Waits for a slot of the zone, then for one among zones in trouble if it is one of them, then for one among all.
    pub(super) async fn wait(&self, ticket: Ticket) -> Turn {
        let zone = take(ticket.zone, ticket.zone_queries).await;
        let troubled = match ticket.is_troubled {
            true => take(self.troubled.clone(), self.look_up_queries).await,
            false => None,
        };
        [zone, troubled, take(self.all.clone(), self.look_up_queries).await]
    }
}

/// These are never closed, so acquiring cannot fail.
async fn take(from: Arc<Semaphore>, queries: u32) -> Option<OwnedSemaphorePermit> {
    from.acquire_many_owned(queries).await.ok()
}
