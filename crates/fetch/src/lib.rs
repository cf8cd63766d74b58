//! The only access to the web: one HTTP exchange at a time.
//!
//! **Invariant:** no other crate of the crawler opens an outgoing socket. Whatever the server does, an exchange
//! ends within [`client::ExchangeLimits`] and returns a value of [`base::door`] with its bytes as received.
//!
//! **Invariant:** only addresses that [`client::Settings::addresses`] allows are connected to, and by default it allows
//! none (H1).
//!
//! Not here: when a page is visited, politeness, following redirects. A redirect is an outcome, and its target is a page
//! like any other.

#![warn(clippy::indexing_slicing)]

pub mod address;
pub mod client;
pub mod dns;
pub mod outcome;
pub mod reading;
pub mod resolve;
mod robots_text;

pub use address::AddressPolicy;
pub use base::{AddressRange, AddressRangeError};
pub use client::{Certificates, ExchangeLimits, Proxy, Roots, Settings, WebDoor};
pub use coding::{Decoded, content};
pub use dns::Dns;
pub use outcome::outcome;
pub use reading::{Read, read};
pub use resolve::Resolver;
pub use robots_text::{robots_text, robots_text_of};
