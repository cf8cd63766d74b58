//! The egress guard: a forward proxy that rate-limits requests and blocks private addresses, so that a bug or a wrong
//! setting of the crawler can neither flood a server nor reach an internal network (C12, H13).
//!
//! It is a process of its own. It knows nothing of crawling and shares no code of judgement with the crawler: it has
//! its own table of addresses, its own limits for each server and each address, its own daily caps and its own log.
//! Any program that can use a proxy can use it.
//!
//! ```no_run
//! # async fn example() -> Result<(), guard::Error> {
//! use guard::{Guard, TrafficLimits, AddressRules, Settings};
//!
//! let settings = Settings {
//!     listen: "127.0.0.1:3129".parse().expect("an address"),
//!     public_listen: false,
//!     directory: "utsushi-data/guard".into(),
//!     addresses: AddressRules::default(),
//!     limits: TrafficLimits::default(),
//! };
//! let guard = Guard::start(settings, base::clock::RealClock::start()).await?;
//! println!("curl --proxy http://{} http://example.org/", guard.address());
//! guard.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! **Invariant:** between two requests to one server, and between two to one address, at least the delay passes, and
//! no two of them are in progress at once. Requests that are forbidden, over a cap or cannot be logged are not sent. What
//! this means inside a TLS tunnel is documented in the module `tunnel_requests`.
//!
//! Not here: robots files, what a page is, revisit schedules. A guard delays and refuses; it never sends requests
//! of its own.

#![warn(clippy::indexing_slicing)]

pub mod address;
mod answer;
mod connection;
mod day;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod listen;
mod log;
mod request;
mod settings;
mod shared;
mod tunnel;
mod tunnel_requests;

pub use address::{AddressBlock, AddressRules};
pub use error::Error;
pub use listen::Guard;
pub use settings::{Settings, TrafficLimits};
