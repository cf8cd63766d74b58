//! A simulated web: servers, pages, changes and faults, the same on every machine and all known.
//!
//! ```
//! use base::{Interval, PageUrl};
//! use sim::{ORIGIN, Plan, Web, WebRequest};
//!
//! let web = Web::new(Plan { pages: 500, servers: 20, ..Plan::default() });
//! let home = PageUrl::parse(&web.page_url(0, 0, ORIGIN))?;
//! let request = WebRequest {
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
//! assert_ne!(web.answer(&request, ORIGIN).body, web.answer(&request, year).body);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules, from outside to inside: [`web`](Web) answers requests, [`serve`] and [`door`] deliver the responses, [`truth`]
//! is the ground truth; [`change`] decides when pages change, [`text`] and [`image`] make their content, [`hostile`] the misbehaving servers.
//!
//! **Invariant:** everything served is a pure function of (seed, page, moment): the same seed gives the same web
//! byte for byte, millions of pages need no memory, and the truth is known at any time.

pub mod change;
mod document;
pub mod door;
mod draw;
mod feed;
mod history;
pub mod hostile;
pub mod image;
mod layout;
mod links;
pub mod log;
mod name;
pub mod observe;
mod page;
mod path;
mod render;
mod requisite;
pub mod response;
mod robots;
pub mod serve;
mod server;
mod sitemap;
pub mod text;
pub mod tls;
pub mod truth;
mod web;

pub use change::{ChangeMix, ChangeProcess};
pub use door::{SimulatedDoor, StartedExchange};
pub use response::{DeliveryMode, WebRequest, WebResponse, WebResponseHead};
pub use truth::{ServerTruth, Truth};
pub use web::Web;

use base::Timestamp;

/// The parameters of a simulated web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The same seed gives the same web.
    pub seed: u64,
    /// Number of pages on all honest servers together, those not yet born included.
    pub pages: u64,
    /// Number of honest servers.
    pub servers: u32,
    /// Number of hostile servers in addition.
    pub hostile: u32,
    /// How the pages change.
    pub mix: ChangeMix,
}

/// A web of 5,000 pages on 150 servers, none of them hostile.
impl Default for Plan {
    fn default() -> Self {
        Self { seed: 1, pages: 5_000, servers: 150, hostile: 0, mix: ChangeMix::default() }
    }
}

/// The moment at which most pages exist already; the others appear in the three years after it.
pub const ORIGIN: Timestamp = Timestamp::from_seconds(1_767_225_600).expect("2026-01-01");
