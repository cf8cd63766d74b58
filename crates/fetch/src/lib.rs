//! The only door to the web: one HTTP exchange at a time.
//!
//! **Invariant:** no other crate of the crawler opens a socket outwards. Whatever the other side does, an exchange
//! ends within [`client::ExchangeLimits`] and comes back as a value of [`base::door`], its bytes as they were received.
//!
//! **Invariant:** nothing is ever connected to but what [`client::Settings::addresses`] allows, and it allows nothing
//! unless told (H1).
//!
//! Not here: when a page is visited, politeness, following redirects. A redirect is an outcome, and its target a page
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
