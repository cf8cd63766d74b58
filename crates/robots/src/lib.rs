//! Which requests are permitted: robots rules, `X-Robots-Tag` and the operator's opt-out list. Pure: bytes in, verdicts out.
//!
//! ```
//! use robots::RobotsRules;
//!
//! let rules = RobotsRules::for_agent(b"User-agent: *\nDisallow: /private\nCrawl-delay: 5", "utsushi");
//! assert!(rules.judge("/public").allowed);
//! let verdict = rules.judge("/private/diary");
//! assert!(!verdict.allowed);
//! assert_eq!(verdict.to_string(), "line 2: `Disallow: /private`");
//! ```
//!
//! **Invariant:** the same bytes and the same moment give the same verdict. There is no I/O, and no clock is read.
//!
//! Not here: fetching robots files and decoding responses.

#![warn(clippy::indexing_slicing)]

mod answer;
mod exclusion;
mod lines;
pub mod opt_out;
mod pattern;
mod rules;
mod standing;

pub use answer::RobotsAnswer;
pub use exclusion::exclusion;
pub use opt_out::OptOutList;
pub use rules::{RobotsLine, RobotsRules, RobotsVerdict};
pub use standing::{Need, Standing, home};
