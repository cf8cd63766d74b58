//! Who may ask when: bounds for each registrable domain, and for all together (H27).
//!
//! A look-up takes its turn in its zone first and among all zones then, so that whoever waits for a slow zone holds
//! nothing that others need. A zone that failed lately is in trouble: it has one look-up at a time, and all
//! such zones together have a quarter of what there is, so that not even many dead zones stall the living ones.
//!
//! **Invariant:** a zone is held in memory only while it has look-ups, and these are bounded in each zone and in all;
//! the zones in trouble are held in a table with a bound.

use super::bounded::Bounded;
use super::settings::Settings;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How long a zone counts as in trouble after a look-up that failed, unless one succeeds.
const TROUBLE_TIME: Duration = Duration::from_secs(5 * 60);
/// The most zones in trouble that are remembered.
const TROUBLED_ZONES_MAX: usize = 16_384;
/// The share of all queries that zones in trouble may have together.
const TROUBLED_SHARE: usize = 4;

/// The zones that have look-ups now.
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

/// Turns among all zones.
#[derive(Debug)]
pub(super) struct Turns {
    all: Arc<Semaphore>,
    troubled: Arc<Semaphore>,
    look_up_queries: u32,
}

/// A place in the line of a zone.
#[derive(Debug)]
pub(super) struct Ticket {
    zone: Arc<Semaphore>,
    zone_queries: u32,
    is_troubled: bool,
}

/// What is given back when it is dropped.
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

    /// A place in the line of `zone`, or why there is none. Whoever has one must [`Zones::leave`].
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
        // In trouble a look-up takes all that the zone has, so that it is alone.
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

    /// Waits for a turn in the zone, then among the troubled if it is one of them, then among all.
    pub(super) async fn wait(&self, ticket: Ticket) -> Turn {
        let zone = take(ticket.zone, ticket.zone_queries).await;
        let troubled = match ticket.is_troubled {
            true => take(self.troubled.clone(), self.look_up_queries).await,
            false => None,
        };
        [zone, troubled, take(self.all.clone(), self.look_up_queries).await]
    }
}

/// Nobody closes these, so there is always something to take.
async fn take(from: Arc<Semaphore>, queries: u32) -> Option<OwnedSemaphorePermit> {
    from.acquire_many_owned(queries).await.ok()
}
