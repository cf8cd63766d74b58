//! One look-up for all callers with the same name at the same time.
//!
//! The look-up is a separate task, so that it continues when its first caller is gone. It ends when it is answered, when
//! its time is over, or when no caller waits for it any more.
//!
//! **Invariant:** a name has at most one running look-up, and a look-up that ends in any way, even by a panic, releases
//! its name and its slot in the zone.

use super::addresses::{self, Finding};
use super::bounded::Bounded;
use super::name::Name;
use super::servers::Servers;
use super::settings::Settings;
use super::stats::{Counts, DnsStats};
use super::zones::{Ticket, Turns, Zones};
use base::door::Cause;
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// The state shared by all look-ups.
pub(super) struct Shared {
    settings: Settings,
    servers: Servers,
    turns: Turns,
    state: Mutex<State>,
    counts: Arc<Counts>,
}

struct State {
    cache: Bounded<Name, Known>,
    flights: HashMap<Name, watch::Sender<Option<Known>>>,
    zones: Zones,
}

/// The result for a name, and its expiry.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) addresses: Result<Arc<[IpAddr]>, Cause>,
    pub(super) until: Instant,
}

impl Shared {
    pub(super) fn new(settings: Settings) -> Self {
        let settings = settings.within_reason();
        let counts = Arc::new(Counts::default());
        let state = State {
            cache: Bounded::new(settings.cache_entries_max),
            flights: HashMap::new(),
            zones: Zones::new(&settings),
        };
        Self {
            servers: Servers::new(&settings, counts.clone()),
            turns: Turns::new(&settings),
            state: Mutex::new(state),
            settings,
            counts,
        }
    }

    pub(super) fn stats(&self) -> DnsStats {
        let state = self.lock();
        self.counts.stats(state.zones.look_ups(), state.cache.len())
    }

    /// A panic elsewhere leaves the tables consistent, so poisoning can be ignored.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result for `name`: from the cache, from the running look-up, or from a new one.
pub(super) async fn join(shared: &Arc<Shared>, name: Name) -> Result<Known, Cause> {
    let mut waiting = match begin(shared, name)? {
        Begun::Known(known) => return Ok(known),
        Begun::UnderWay(waiting) => waiting,
    };
    let known = waiting.wait_for(Option::is_some).await.ok().and_then(|known| known.clone());
    known.ok_or_else(|| Cause::NameServer("the look-up was broken off".to_owned()))
}

enum Begun {
    Known(Known),
    UnderWay(watch::Receiver<Option<Known>>),
}

fn begin(shared: &Arc<Shared>, name: Name) -> Result<Begun, Cause> {
    let now = Instant::now();
    let mut state = shared.lock();
    if let Some(known) = state.cache.get(&name).filter(|known| known.until > now) {
        shared.counts.cache_hits.add();
        return Ok(Begun::Known(known.clone()));
    }
    if let Some(under_way) = state.flights.get(&name) {
        shared.counts.joined.add();
        return Ok(Begun::UnderWay(under_way.subscribe()));
    }
    let ticket = state.zones.enter(name.zone(), now).map_err(|why| shared.refuse(&why))?;
    let (sender, waiting) = watch::channel(None);
    state.flights.insert(name.clone(), sender.clone());
    drop(state);
    let flight = Flight { shared: shared.clone(), name, sender };
    tokio::spawn(flight.run(ticket, now));
    Ok(Begun::UnderWay(waiting))
}

impl Shared {
    fn refuse(&self, why: &str) -> Cause {
        self.counts.refused.add();
        Cause::NameServer(format!("not looked up: {why}"))
    }
}

/// A running look-up.
struct Flight {
    shared: Arc<Shared>,
    name: Name,
    sender: watch::Sender<Option<Known>>,
}

impl Flight {
    async fn run(self, ticket: Ticket, begun: Instant) {
        let mut work = pin!(self.look_up(ticket, begun));
        loop {
            tokio::select! {
                known = &mut work => {
                    self.sender.send_replace(Some(known));
                    return;
                }
                () = self.sender.closed() => if self.is_abandoned() { return },
            }
        }
    }

    /// Whether no caller waits; from then on none can join either.
    fn is_abandoned(&self) -> bool {
        let mut state = self.shared.lock();
        let is_abandoned = self.sender.receiver_count() == 0;
        if is_abandoned {
            state.flights.remove(&self.name);
            self.shared.counts.abandoned.add();
        }
        is_abandoned
    }

    async fn look_up(&self, ticket: Ticket, begun: Instant) -> Known {
        let Shared { settings, turns, servers, .. } = &*self.shared;
        // A look-up that waited as long as possible still has half of the time for its queries.
        let turn_ends = begun + settings.look_up_time_max / 2;
        let Ok(_turn) = timeout_at(turn_ends, turns.wait(ticket)).await else {
            let why =
                format!("the name servers are slow with other names, of `{}` or of all", self.name.zone());
            return Known { addresses: Err(self.shared.refuse(&why)), until: turn_ends };
        };
        let ends = begun + settings.look_up_time_max;
        let (finding, lifetime) = addresses::find(servers, &self.name, settings.families, ends).await;
        let now = Instant::now();
        self.keep(finding, now, now + lifetime)
    }

    /// Caches a result. A look-up that was never sent has no result and is not cached.
    fn keep(&self, finding: Finding, now: Instant, until: Instant) -> Known {
        let failed = matches!(finding, Finding::Failure(_));
        let count = if failed { &self.shared.counts.failed } else { &self.shared.counts.answered };
        count.add();
        let addresses = match finding {
            Finding::Addresses(addresses) => Ok(addresses.into()),
            Finding::NoSuchName => Err(Cause::NoSuchName),
            Finding::Failure(what) => {
                tracing::debug!(name = self.name.as_str(), what, "a look-up failed");
                Err(Cause::NameServer(what))
            }
        };
        let known = Known { addresses, until };
        let mut state = self.shared.lock();
        state.zones.learn(self.name.zone(), failed, now);
        state.cache.insert(self.name.clone(), known.clone());
        known
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        // Once abandoned, the name may have a new look-up, which must not be ended here.
        if state.flights.get(&self.name).is_some_and(|sender| sender.same_channel(&self.sender)) {
            state.flights.remove(&self.name);
        }
        state.zones.leave(self.name.zone());
    }
}
