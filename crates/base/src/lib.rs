//! Types that every crate uses: page URL, server, time, interval, digest, outcome, capture, clock, limits, the door to
//! the web and the disk.
//!
//! ```
//! use base::{Interval, PageUrl, Timestamp};
//!
//! let page = PageUrl::parse("HTTP://www.Example.co.jp:80/a/../%7Eb?PHPSESSID=0123456789abcdef01#top")?;
//! assert_eq!(page.as_str(), "http://www.example.co.jp/%7Eb?PHPSESSID=0123456789abcdef01");
//! assert_eq!(page.key().as_str(), "jp,co,example,www)/~b");
//! assert_eq!(page.server().registrable_domain(), Some("example.co.jp"));
//!
//! let seen: Timestamp = "2026-03-01T09:00:00Z".parse()?;
//! assert_eq!(seen.plus(Interval::from_days(30)).to_stamp(), "20260331090000");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** nothing here opens a socket, starts a process or reads the wall clock, except [`clock::RealClock`]
//! (the clock) and [`disk::RealDisk`] (files), which callers pass in.
//!
//! Not here: crawling, formats of files, configuration.

pub mod address_range;
pub mod body;
pub mod bytes;
pub mod capture;
pub mod chance;
pub mod clock;
pub mod digest;
pub mod disk;
pub mod door;
pub mod exclusion;
pub mod http;
pub mod interval;
pub mod limits;
pub mod memory;
pub mod printable;
pub mod server;
pub mod time;
pub mod url;

pub use address_range::{AddressRange, AddressRangeError};
pub use body::Body;
pub use capture::{Capture, Outcome, Refusal, RefusalKind};
pub use chance::Chance;
pub use clock::Clock;
pub use digest::{ContentDigest, Sha1Digest};
pub use interval::{Interval, Period};
pub use printable::printable;
pub use server::ServerName;
pub use time::Timestamp;
pub use url::{PageUrl, UrlKey};
