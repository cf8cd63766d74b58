//! The control socket (D1): how commands steer and question the process that writes to a data directory.
//!
//! A socket of the file system, `control` in the data directory, which only its owner may use. One connection is one
//! question: a line of JSON such as `{"do":"explain","url":"https://example.org/"}`. The answer is any number of lines, each
//! an object, and a last one: `{"end":"done"}`, or `{"end":"could not","why":"…"}`. An answer without its last line
//! was cut off.
//!
//! **Invariant:** a client costs a bounded amount of memory and time: the length of its line, the number of clients, the
//! time for its question and for the answer all have a limit.

mod client;
mod name;
mod server;

pub use client::{ControlError, ask, ask_long, is_reachable};
pub use server::ControlServer;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// The name of the socket in the data directory.
pub const FILE_NAME: &str = "control";
/// The longest line of a question.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
/// How many clients are served at once.
const CLIENTS_MAX: usize = 16;
/// How long a question, and then the answer, may take, unless it is a long one.
const TIME_MAX: Duration = Duration::from_secs(10);
/// The time between two empty lines of a long answer.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// So many pages go into one question, which stays far below the longest line.
pub const PAGES_MAX: usize = 256;

/// A question or an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum ControlRequest {
    /// Take these pages into the crawl.
    Add {
        /// The pages.
        pages: Vec<PageToAdd>,
    },
    /// Do something with pages that are known.
    Direct {
        /// `visit` now, `remove` or `restore`.
        what: String,
        /// Which: `url`, `prefix` or `server`, a space, and what it is.
        pages: Vec<String>,
    },
    /// Ask nobody anything any more.
    Pause {},
    /// Go on.
    Resume {},
    /// The life of a page.
    Explain {
        /// The page.
        url: String,
    },
    /// The servers, overloaded ones first, then by load.
    Servers {
        /// Only those of which pages are held back.
        #[serde(default)]
        held_back: bool,
        /// Only the overloaded ones.
        #[serde(default)]
        overloaded: bool,
        /// Only the one of this name.
        #[serde(default)]
        name: Option<String>,
        /// So many at most.
        limit: usize,
    },
    /// The whole.
    Status {},
    /// The pages whose last visit failed.
    Failing {
        /// So many at most.
        limit: usize,
    },
    /// The figures of the paper.
    Figures {},
    /// Remove something from every store, for good. The crawl stops while this is done.
    Takedown {
        /// `url`, `prefix` or `server`, a space, and which.
        target: String,
        /// Why.
        reason: String,
    },
    /// Import files. The crawl stops while this is done.
    Import {
        /// Their absolute paths.
        files: Vec<PathBuf>,
    },
}

impl ControlRequest {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_question(&self) -> bool {
        match self {
            Self::Explain { .. }
            | Self::Servers { .. }
            | Self::Status {}
            | Self::Failing { .. }
            | Self::Figures {} => true,
            Self::Add { .. }
            | Self::Direct { .. }
            | Self::Pause {}
            | Self::Resume {}
            | Self::Takedown { .. }
            | Self::Import { .. } => false,
        }
    }
    /// Whether it may take long. Then the answer is sent line by line, with an empty line now and then while there is
    /// nothing to say.
    #[must_use]
    pub fn is_long(&self) -> bool {
        matches!(self, Self::Takedown { .. } | Self::Import { .. })
    }
}

/// A page to take into the crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageToAdd {
    /// Its URL.
    pub url: String,
    /// What it is visited for: `page`, `feed`, `news` or `sitemap`.
    pub role: String,
    /// How much sooner than others: 0 is plain.
    pub priority: i8,
}

/// Where a handler sends the first objects of a long answer.
pub type ControlLines = mpsc::Sender<Value>;

/// What is answered: objects, or why there is no answer.
pub type ControlAnswer = Result<Vec<Value>, String>;

/// The last line of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "lowercase", deny_unknown_fields)]
enum End {
    /// All has been said, and done.
    Done,
    /// It could not be done.
    #[serde(rename = "could not")]
    CouldNot {
        /// Why.
        why: String,
    },
}

#[cfg(test)]
mod tests;
