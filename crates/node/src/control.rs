//! The control socket (D1): how commands steer and query the process that writes to a data directory.
//!
//! A Unix socket, `control` in the data directory, which only its owner may use. One connection is one request: a line of
//! JSON such as `{"do":"explain","url":"https://example.org/"}`. The answer is any number of lines, each an object, and a
//! last one: `{"end":"done"}`, or `{"end":"could not","why":"…"}`. An answer without its last line was
//! truncated.
//!
//! **Invariant:** a client costs a bounded amount of memory and time: the length of its line, the number of clients, the
//! time for its request and for the answer all have a limit.

mod client;
mod name;
mod server;

pub use client::{ControlError, ask, ask_long, is_reachable};
pub use server::ControlServer;

pub(crate) use client::read as read_answer;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// The name of the socket in the data directory.
pub const FILE_NAME: &str = "control";
/// The maximum length of a request.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
/// The maximum number of clients at the same time.
const CLIENTS_MAX: usize = 16;
/// The time limit of a request, and then of its answer, unless it is a long one.
const TIME_MAX: Duration = Duration::from_secs(10);
/// The time between two empty lines of a long answer.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// The maximum number of pages in one request, which stays far below the maximum length.
pub const PAGES_MAX: usize = 256;

/// A query or an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum ControlRequest {
    /// Add these pages to the crawl.
    Add {
        /// The pages.
        pages: Vec<PageToAdd>,
    },
    /// Do something with pages that are known.
    Direct {
        /// `visit` now, `remove` or `restore`.
        what: String,
        /// Which pages: `url`, `prefix` or `server`, a space, and its value.
        pages: Vec<String>,
    },
    /// Stop sending requests.
    Pause {},
    /// Send requests again.
    Resume {},
    /// Explain a page.
    Explain {
        /// The page.
        url: String,
    },
    /// List the servers, overloaded ones first, then by load.
    Servers {
        /// Only those with pages that are held back.
        #[serde(default)]
        held_back: bool,
        /// Only the overloaded ones.
        #[serde(default)]
        overloaded: bool,
        /// Only the one of this name.
        #[serde(default)]
        name: Option<String>,
        /// Maximum number of servers.
        limit: usize,
    },
    /// Show the whole schedule.
    Status {},
    /// List the pages whose last visit failed.
    Failing {
        /// Maximum number of pages.
        limit: usize,
    },
    /// List the stages that follow the archive.
    Stages {},
    /// Return the figures of the paper.
    Figures {},
    /// Remove something from every store permanently. The crawl stops meanwhile.
    Takedown {
        /// `url`, `prefix` or `server`, a space, and its value.
        target: String,
        /// Why.
        reason: String,
    },
    /// Import files. The crawl stops meanwhile.
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
            | Self::Stages {}
            | Self::Figures {} => true,
            Self::Add { .. }
            | Self::Direct { .. }
            | Self::Pause {}
            | Self::Resume {}
            | Self::Takedown { .. }
            | Self::Import { .. } => false,
        }
    }
    /// Whether it may take long. Then the answer is sent line by line, with an empty line now and then while there is nothing
    /// to send.
    #[must_use]
    pub fn is_long(&self) -> bool {
        matches!(self, Self::Takedown { .. } | Self::Import { .. })
    }
}

/// A page to add to the crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageToAdd {
    /// Its URL.
    pub url: String,
    /// What it is visited for: `page`, `feed`, `news` or `sitemap`.
    pub role: String,
    /// Its priority: 0 is normal, higher is sooner.
    pub priority: i8,
}

/// Where a handler sends the first objects of a long answer.
pub type ControlLines = mpsc::Sender<Value>;

/// The answer: objects, or why there are none.
pub type ControlAnswer = Result<Vec<Value>, String>;

/// The last line of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "lowercase", deny_unknown_fields)]
enum End {
    /// Everything was sent and done.
    Done,
    /// The request failed.
    #[serde(rename = "could not")]
    CouldNot {
        /// Why.
        why: String,
    },
}

#[cfg(test)]
mod tests;
