//! The egress guard: a forward proxy that makes it impossible for a mistake of the crawler, or a bad setting of it, to
//! flood anyone or to reach the inside of a network (C12, H13).
//!
//! It is a process of its own. It knows nothing of crawling and shares no code of judgement with the crawler: it has
//! its own table of addresses, its own limits for each server and each address, its own daily caps and its own log.
//! Any program that can use a proxy can use it.
//!
//! ```no_run
//! # async fn example() -> Result<(), guard::Error> {
//! use guard::{Guard, Limits, Policy, Settings};
//!
//! let settings = Settings {
//!     listen: "127.0.0.1:3129".parse().expect("an address"),
//!     public_listen: false,
//!     directory: "utsushi-data/guard".into(),
//!     addresses: Policy::default(),
//!     limits: Limits::default(),
//! };
//! let guard = Guard::start(settings, base::clock::RealClock::start()).await?;
//! println!("curl --proxy http://{} http://example.org/", guard.address());
//! guard.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! **Invariant:** between two requests to one server, and between two to one address, lies at least the pause, and
//! never are two of them under way; what is forbidden, over a cap or cannot be written to the log does not leave. What
//! that means inside a TLS tunnel is said in the room `speech`.
//!
//! Not here: robots files, what a page is, when to come again: a guard delays and refuses, it never asks for anything
//! by itself.

#![warn(clippy::indexing_slicing)]

pub mod address;
mod answer;
mod connection;
mod day;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod house;
mod listen;
mod log;
mod request;
mod settings;
mod speech;
mod tunnel;

pub use address::{Policy, Range};
pub use error::Error;
pub use listen::Guard;
pub use settings::{Limits, Settings};
