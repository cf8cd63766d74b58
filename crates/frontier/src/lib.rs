//! Which page is visited next, and when.
//!
//! Not here: sockets, files, clocks; every moment is handed in, and the store of page states with it.

pub mod filter;
mod role;
mod scope;
mod settings;
mod tell;

pub use filter::{Filter, Language, MediaRange};
pub use role::Role;
pub use scope::{Mode, Rule, RuleError, Scope, Verdict};
pub use settings::{Agreed, AgreedError, Settings, Whom};
pub use tell::{Bin, Explanation, Figures, Overview, ServerTold};
