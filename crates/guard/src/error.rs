//! Errors that prevent a guard from starting.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a guard cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory of the log cannot be used.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another guard writes its log there (M8).
    #[error("cannot use `{}`: it is in use by {}", path.display(), owner(*pid))]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process, if it has signed.
        pid: Option<u32>,
    },
    /// The listening socket cannot be opened.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Other machines could reach it.
    #[error("cannot listen on `{address}`: other machines could send requests through it")]
    Public {
        /// Where.
        address: SocketAddr,
    },
}

impl Error {
    /// What the user can do about it.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::Io { .. } => "name a directory that can be written to with `--data`".to_owned(),
            Self::InUse { pid, .. } => {
                let stop = pid.map(|pid| format!(", stop it with `kill {pid}`")).unwrap_or_default();
                format!("use the guard that runs{stop}, or name another directory with `--data`")
            }
            Self::Listen { .. } => {
                "choose another address or port with `--listen`; port 0 takes any that is free".to_owned()
            }
            Self::Public { .. } => {
                "listen on 127.0.0.1, or add `--public-listen` if a firewall blocks other machines".to_owned()
            }
        }
    }
}

fn owner(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
