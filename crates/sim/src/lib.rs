//! A web that exists on every machine: servers, pages, changes and faults, all known.
//!
//! ```
//! use base::{Interval, PageUrl};
//! use sim::{Asked, ORIGIN, Plan, Web};
//!
//! let web = Web::new(Plan { pages: 500, servers: 20, ..Plan::default() });
//! let home = PageUrl::parse(&web.page_url(0, 0, ORIGIN))?;
//! let asked = Asked {
//!     scheme: home.scheme(),
//!     host: home.host(),
//!     target: home.target(),
//!     head_only: false,
//!     if_none_match: None,
//!     if_modified_since: None,
//!     accepts_gzip: false,
//! };
//! let year = ORIGIN.plus(Interval::from_days(365));
//! let changes = web.truth(&home, ORIGIN, year).map_or(0, |truth| truth.byte_changes.len());
//! assert!(changes > 0);
//! assert_ne!(web.answer(&asked, ORIGIN).body, web.answer(&asked, year).body);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The rooms, from outside to inside: [`web`](Web) answers, [`serve`] and [`door`] carry what it answers, [`truth`] tells
//! what is so; [`change`] says when pages change, [`text`] and [`image`] what stands on them, [`hostile`] who misbehaves.
//!
//! **Invariant:** everything served is a pure function of (seed, page, moment): the same seed gives the same web
//! byte for byte, millions of pages need no memory, and the truth is known at any time.

pub mod answer;
pub mod change;
mod document;
pub mod door;
mod draw;
mod feed;
mod history;
pub mod hostile;
pub mod image;
mod links;
pub mod log;
mod name;
pub mod observe;
mod page;
mod path;
mod render;
mod requisite;
mod robots;
pub mod serve;
mod server;
mod sitemap;
pub mod text;
pub mod tls;
pub mod truth;
mod web;

pub use answer::{Answer, Asked, Head, Manner};
pub use change::{Mix, Process};
pub use door::{Begun, SimulatedDoor};
pub use truth::{ServerTruth, Truth};
pub use web::Web;

use base::Timestamp;

/// What a simulated web is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The same seed gives the same web.
    pub seed: u64,
    /// How many pages there are, on all honest servers together, those not yet born included.
    pub pages: u64,
    /// How many honest servers there are.
    pub servers: u32,
    /// How many hostile servers there are beside them.
    pub hostile: u32,
    /// How the pages change.
    pub mix: Mix,
}

/// A web of 5,000 pages on 150 servers, none of them hostile.
impl Default for Plan {
    fn default() -> Self {
        Self { seed: 1, pages: 5_000, servers: 150, hostile: 0, mix: Mix::default() }
    }
}

/// The moment at which most pages exist already; the others appear in the three years after it.
pub const ORIGIN: Timestamp = Timestamp::from_seconds(1_767_225_600).expect("2026-01-01");
