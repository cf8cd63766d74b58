//! What can go wrong with a scan as a whole.

use crate::wire::AnalysisFailure;
use std::io;
use std::path::{Path, PathBuf};

/// Why a scan could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive cannot be read.
    #[error("cannot read the archive")]
    Archive(#[from] archive::Error),
    /// A file of the job cannot be read or written.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of the job holds something else.
    #[error("`{}` is damaged: {what}", path.display())]
    Damaged {
        /// Which one.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// Another scan works on the same job.
    #[error("process {owner} works on this scan already")]
    Locked {
        /// Its process id.
        owner: String,
    },
    /// The output belongs to a scan that was asked for otherwise and is not finished.
    #[error("an unfinished scan with other choices writes to this output: `{was}`")]
    OtherJob {
        /// How it was asked for.
        was: String,
        /// Where it is kept.
        directory: PathBuf,
    },
    /// The program has never answered.
    #[error("the program did not answer its first document, `{url}`: {}{}", failure.what, in_words(&failure.words))]
    NeverAnswered {
        /// Which document.
        url: String,
        /// How the program failed.
        failure: AnalysisFailure,
    },
    /// The program has stopped answering.
    #[error("the program has failed on every document of late, the last one `{url}`: {}{}", failure.what, in_words(&failure.words))]
    StoppedAnswering {
        /// Which document.
        url: String,
        /// How the program failed.
        failure: AnalysisFailure,
    },
    /// The program cannot be started.
    #[error("cannot run `{program}`: {why}")]
    NoProgram {
        /// Which one.
        program: String,
        /// Why.
        why: String,
    },
    /// Without the rights of root the program cannot reach something that it needs.
    #[error("without the rights of root the program cannot reach `{}`", path.display())]
    OutOfReach {
        /// What it cannot reach.
        path: PathBuf,
    },
    /// The sandbox does not hold on this machine.
    #[error("cannot confine the program: {0}")]
    NoSandbox(String),
    /// Workers cannot work.
    #[error("the workers cannot work: {0}")]
    Workers(String),
    /// Someone asked to stop.
    #[error("it was stopped before its end")]
    Stopped,
    /// Results cannot be handed on.
    #[error("cannot hand on a result")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<runs::Error> for Error {
    fn from(error: runs::Error) -> Self {
        match error {
            runs::Error::Io { action, path, source } => Self::Io { action, path, source },
            runs::Error::Damaged { path, what } => Self::Damaged { path, what },
            runs::Error::DiskFull { path, .. } => {
                Self::Io { action: "write", path, source: io::ErrorKind::StorageFull.into() }
            }
        }
    }
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}

fn in_words(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!("; the end of its standard error: {}", base::printable(words))
    }
}
