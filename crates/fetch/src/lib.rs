//! The only door to the web: one HTTP exchange at a time, and robots rules.
//!
//! ```
//! use fetch::robots::Rules;
//!
//! let rules = Rules::for_agent(b"User-agent: *\nDisallow: /private\nCrawl-delay: 5", "utsushi");
//! assert!(rules.judge("/public").allowed);
//! let verdict = rules.judge("/private/diary");
//! assert!(!verdict.allowed);
//! assert_eq!(verdict.to_string(), "line 2: `Disallow: /private`");
//! ```
//!
//! **Invariant:** no other crate of the crawler opens a socket outwards. Whatever the other side does, an exchange
//! ends within [`client::Limits`] and comes back as a value of [`base::door`], its bytes as they were received.
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
mod exclusion;
pub mod opt_out;
pub mod outcome;
pub mod reading;
pub mod resolve;
pub mod robots;

pub use address::{Policy, Range};
pub use client::{Certificates, Limits, Proxy, Roots, Settings, WebDoor};
pub use coding::{Decoded, content};
pub use dns::Dns;
pub use exclusion::exclusion;
pub use outcome::outcome;
pub use reading::{Read, read};
pub use resolve::Resolver;
pub use robots::Rules;
