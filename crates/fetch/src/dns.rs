//! Look-ups of names: asynchronous, remembered, bounded (C9).
//!
//! A stub resolver: it asks the name servers it is told and believes them no more than needed. It walks down from no
//! root and checks no signatures; the servers do.
//!
//! | step | room |
//! |---|---|
//! | a host that may be asked for | `name` |
//! | what is remembered | `bounded` |
//! | one look-up for all who ask for the same name | `flight` |
//! | a turn in the zone and among all | `zones` |
//! | both kinds of address, along aliases, for how long | `addresses` |
//! | servers, repetition, UDP and TCP | `servers` |
//! | bytes | `message` |
//!
//! **Invariant:** what a name was found to be holds for its lifetime, whatever the servers say in between (H3, D6).
//!
//! **Invariant:** a look-up ends within [`Settings::look_up_time_max`]. Slow and dead zones stall only themselves
//! (H27): sockets, look-ups under way, those that wait and answers in memory all have a bound.
//!
//! Not here: a judgement on addresses (`address`), and hosts that are addresses.

mod addresses;
mod bounded;
mod flight;
#[doc(hidden)]
pub mod fuzzing;
mod message;
mod name;
mod servers;
mod settings;
mod stats;
mod zones;

pub use settings::{Families, Settings};
pub use stats::DnsStats;

use base::Interval;
use base::door::Cause;
use flight::{Known, Shared};
use name::Name;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::Instant;

/// Looks names up. Clones share everything.
#[derive(Clone)]
pub struct Dns {
    shared: Arc<Shared>,
}

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The addresses, best first; never empty.
    pub addresses: Vec<IpAddr>,
    /// How long they may be used.
    pub lifetime: Interval,
}

impl Dns {
    /// Look-ups with these settings. Nothing is asked before the first look-up.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { shared: Arc::new(Shared::new(settings)) }
    }

    /// The addresses of a host: a name in ASCII, in any case, with or without a dot at its end.
    ///
    /// It must be awaited on a tokio runtime with time and network, and may be dropped at any moment.
    ///
    /// # Errors
    /// [`Cause::NoSuchName`] when the name does not exist, has no addresses, cannot exist, or is none that belongs on
    /// a network, such as `localhost`; also for addresses, which are no names. [`Cause::NameServer`] when the servers
    /// do not say, or too many look-ups wait before this one.
    pub async fn look_up(&self, host: &str) -> Result<Answer, Cause> {
        let name = Name::parse(host).filter(|name| !name.is_never_asked()).ok_or(Cause::NoSuchName)?;
        let known = flight::join(&self.shared, name).await?;
        known.answer(Instant::now())
    }

    /// What the look-ups did so far.
    #[must_use]
    pub fn stats(&self) -> DnsStats {
        self.shared.stats()
    }
}

impl Known {
    fn answer(self, now: Instant) -> Result<Answer, Cause> {
        let addresses = self.addresses?.to_vec();
        Ok(Answer { addresses, lifetime: self.until.saturating_duration_since(now).into() })
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
