//! DNS look-ups: asynchronous, cached, bounded (C9).
//!
//! A stub resolver: it queries the configured name servers and trusts them no more than needed. It neither resolves from
//! the root nor checks signatures; the servers do.
//!
//! | step | room |
//! |---|---|
//! | a valid host name | `name` |
//! | cache | `bounded` |
//! | one look-up for all callers with the same name | `flight` |
//! | limits per zone and in total | `zones` |
//! | both address families, aliases, lifetime | `addresses` |
//! | servers, retries, UDP and TCP | `servers` |
//! | bytes | `message` |
//!
//! **Invariant:** the addresses of a name are used for their lifetime, whatever the servers say in between (H3, D6).
//!
//! **Invariant:** a look-up ends within [`Settings::look_up_time_max`]. Slow and dead zones delay only themselves
//! (H27): sockets, running look-ups, waiting look-ups and cached answers are all bounded.
//!
//! Not here: whether an address may be visited (`address`), and hosts that are addresses.

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

/// Resolves names. Clones share everything.
#[derive(Clone)]
pub struct Dns {
    shared: Arc<Shared>,
}

/// The addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedAddresses {
    /// The addresses, best first; never empty.
    pub addresses: Vec<IpAddr>,
    /// How long they may be used.
    pub lifetime: Interval,
}

impl Dns {
    /// A resolver with these settings. Nothing is sent before the first look-up.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { shared: Arc::new(Shared::new(settings)) }
    }

    /// The addresses of a host: a name in ASCII, in any case, with or without a trailing dot.
    ///
    /// It must be awaited on a tokio runtime with time and network, and may be dropped at any time.
    ///
    /// # Errors
    /// [`Cause::NoSuchName`] if the name does not exist, has no addresses, is invalid, or is never public, such as
    /// `localhost`; also for addresses, which are not names. [`Cause::NameServer`] if the servers do not answer, or too many
    /// look-ups are waiting.
    pub async fn look_up(&self, host: &str) -> Result<ResolvedAddresses, Cause> {
        let name = Name::parse(host).filter(|name| !name.is_never_asked()).ok_or(Cause::NoSuchName)?;
        let known = flight::join(&self.shared, name).await?;
        known.answer(Instant::now())
    }

    /// Counters of the look-ups so far.
    #[must_use]
    pub fn stats(&self) -> DnsStats {
        self.shared.stats()
    }
}

impl Known {
    fn answer(self, now: Instant) -> Result<ResolvedAddresses, Cause> {
        let addresses = self.addresses?.to_vec();
        Ok(ResolvedAddresses { addresses, lifetime: self.until.saturating_duration_since(now).into() })
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
