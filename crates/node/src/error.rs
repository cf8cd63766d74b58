//! Why a node could not do something, and what to do about it.

use crate::config;
use crate::control::ControlError;
use crate::directory::{self, LockOwner};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a node could not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data directory cannot be used.
    #[error(transparent)]
    Directory(#[from] directory::Error),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The archive cannot be read or written.
    #[error("cannot {action}")]
    Archive {
        /// What was being done.
        action: &'static str,
        /// Why it failed.
        source: archive::Error,
    },
    /// The schedule cannot be read or written.
    #[error("cannot {action}")]
    Schedule {
        /// What was being done.
        action: &'static str,
        /// Why it failed.
        source: crawl::Error,
    },
    /// A stage cannot be read or written.
    #[error("cannot {action} `{stage}`")]
    Stage {
        /// What was being done.
        action: &'static str,
        /// The stage.
        stage: &'static str,
        /// Why it failed.
        source: stage::Error,
    },
    /// There is no stage of this name.
    #[error("`{0}` is not derived from the archive")]
    NoStage(String),
    /// A file or directory cannot be read or written.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The system does not provide the needed information.
    #[error("cannot {action}")]
    System {
        /// What was being done.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The opt-out list cannot be read or is malformed.
    #[error("cannot use the opt-out list `{}`", path.display())]
    OptOut {
        /// The list.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The section `[fetch]` of the configuration is inconsistent.
    #[error("cannot set up access to the web")]
    Door(#[source] fetch::client::SettingsError),
    /// An accelerated crawl could reach other machines.
    #[error("cannot crawl faster than real time: {why}")]
    NotLoopback {
        /// What leads to them.
        why: String,
    },
    /// Metrics would be served to other machines.
    #[error("cannot serve metrics on {listen}: other machines can reach that address")]
    MetricsExposed {
        /// The address.
        listen: SocketAddr,
    },
    /// The port for metrics cannot be opened.
    #[error("cannot listen on {listen} for metrics")]
    MetricsListen {
        /// The address.
        listen: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The process that writes to the data directory did not do what was requested.
    #[error("cannot reach {owner}")]
    Control {
        /// That process.
        owner: LockOwner,
        /// Why.
        source: ControlError,
    },
    /// The schedule refused the request.
    #[error("cannot do it: {0}")]
    Refused(String),
    /// An answer has an unknown form.
    #[error("cannot understand the answer")]
    Answer(#[source] serde_json::Error),
    /// Versions cannot be chosen by language.
    #[error(
        "cannot choose by `--language`: the language of a page is known only once its text has been read, and nothing in \
         this data directory has read it"
    )]
    LanguagesUnknown,
    /// No directory for scans can be written to.
    #[error(
        "cannot store the scan: neither `{}` nor `{}` can be written to",
        inside.display(), beside.display()
    )]
    NoScanDirectory {
        /// The one in the data directory.
        inside: PathBuf,
        /// The one beside the output.
        beside: PathBuf,
    },
    /// A stored scan cannot be read or written.
    #[error("cannot remove content from a stored scan")]
    Scan(#[source] scan::Error),
    /// No file can be imported.
    #[error("cannot import `{}`", path.display())]
    NotImportable {
        /// The last of them.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Only public addresses could be visited, and there is no contact (D18).
    #[error("cannot crawl: public addresses are not visited without a contact")]
    NoContact,
    /// A crawl knows no page and was given none.
    #[error("cannot crawl: no page is known yet, and no page given")]
    NoSeeds,
    /// There is nothing to draw.
    #[error("cannot draw figures: nothing has been crawled yet")]
    NothingCrawled,
    /// Documents or links cannot be read.
    #[error(transparent)]
    Document(document::Error),
    /// The caller asked to stop.
    #[error("stopped before the end")]
    Stopped,
}

/// How versions get languages, titles and types.
pub(crate) const DERIVED_ADVICE: &str = "run a crawl or `utsushi rebuild derived` to detect them";

impl Error {
    /// An error of the archive during `action`.
    pub(crate) fn archive(action: &'static str) -> impl Fn(archive::Error) -> Self {
        move |source| Self::Archive { action, source }
    }
    /// An error with `path` during `action`.
    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    /// The error with its causes, in one line.
    #[must_use]
    pub fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }

    /// What a person can do about it, if that is known.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::Directory(error) => return Some(error.advice()),
            Self::Config(error) => return Some(error.advice()),
            Self::Control { owner, source } => return Some(control_advice(owner, source)),
            Self::Schedule { source: crawl::Error::Archive(_), .. }
            | Self::Stage { source: stage::Error::Archive(_), .. } => return None,
            Self::Stage { stage, .. } => {
                return Some(format!(
                    "run `utsushi rebuild {stage}`, which rebuilds it from the archive; nothing is lost"
                ));
            }
            Self::Schedule { .. } => {
                "run `utsushi rebuild frontier`, which rebuilds it from the archive; nothing is lost"
            }
            Self::OptOut { .. } => {
                "correct the list, or change `opt_out` under `[crawl]` in the configuration"
            }
            Self::Door(_) => {
                "correct the section `[fetch]` of the configuration; `utsushi config` shows what is in effect"
            }
            Self::NoContact => crate::door::no_contact_advice(),
            Self::NoSeeds => "give a seed: `utsushi crawl URL`",
            Self::NothingCrawled => "start with `utsushi crawl URL`",
            Self::NotLoopback { .. } => {
                "allow only servers of this machine, such as `--allow-address 127.0.0.0/8`, and no proxy; a data directory of an \
                 accelerated crawl stays on this machine, so crawl the web in another one"
            }
            Self::MetricsExposed { .. } => {
                "listen on 127.0.0.1, or add `--metrics-public` if anyone who can connect may read the metrics"
            }
            Self::MetricsListen { .. } => {
                "choose another address with `--metrics`, or stop the program that listens there"
            }
            Self::LanguagesUnknown => {
                return Some(format!(
                    "omit `--language`, or wait until languages are known: {DERIVED_ADVICE}"
                ));
            }
            Self::NotImportable { .. } => {
                "give WARC, WACZ or ARC files that are readable; nothing was imported"
            }
            Self::NoScanDirectory { .. } => "choose an output with `-o FILE` in a writable directory",
            _ => return None,
        };
        Some(advice.to_owned())
    }
}

fn control_advice(owner: &LockOwner, error: &ControlError) -> String {
    match error {
        ControlError::Deaf(_) | ControlError::Unsupported => owner.advice(),
        ControlError::Lost(_) => "try again in a moment; if that does not help, check its log".to_owned(),
        ControlError::CouldNot(_) => "correct that, and try again".to_owned(),
    }
}
