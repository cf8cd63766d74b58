//! The end of the program: its three exit codes, and its error messages.

use crate::output::Output;
use node::{Error, config, directory};
use std::fmt;
use std::io;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Done, with findings.
    Found,
    /// Failed; also after a second signal.
    CouldNot,
}

impl Exit {
    /// The exit code of the process.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Found => 1,
            Self::CouldNot => 2,
        }
    }
}

/// An error together with what a person can do about it.
#[derive(Debug)]
pub(crate) struct Advised {
    what: String,
    advice: String,
    source: anyhow::Error,
}

impl Advised {
    /// `what` could not be done because of `source`; `advice` says what to do.
    pub(crate) fn new(
        what: impl Into<String>,
        advice: impl Into<String>,
        source: impl Into<anyhow::Error>,
    ) -> Self {
        Self { what: what.into(), advice: advice.into(), source: source.into() }
    }
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Advised {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.source.as_ref())
    }
}

/// The exit code for an error. An empty data directory is a finding.
pub(crate) fn of(error: &anyhow::Error) -> Exit {
    let wrapped = match error.downcast_ref::<Error>() {
        Some(Error::Directory(error)) => Some(error),
        _ => None,
    };
    match wrapped.or_else(|| error.downcast_ref::<directory::Error>()) {
        Some(directory::Error::Empty { .. }) => Exit::Found,
        _ => Exit::CouldNot,
    }
}

/// Prints on standard error what failed, why, and what to do about it.
pub(crate) fn report(output: &Output, error: &anyhow::Error) {
    output.complaint(format!("utsushi: {error:#}"));
    if let Some(advice) = advice(error) {
        output.complaint(format!("what to do: {advice}"));
    }
}

/// The advice of the outermost cause that has one.
fn advice(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let advised = cause.downcast_ref::<Advised>().map(|advised| advised.advice.clone());
        let node = || cause.downcast_ref::<Error>().and_then(Error::advice);
        let directory = || cause.downcast_ref::<directory::Error>().map(directory::Error::advice);
        let config = || cause.downcast_ref::<config::Error>().map(config::Error::advice);
        let archive = || cause.downcast_ref::<archive::Error>().and_then(archive_advice);
        let machine = || cause.downcast_ref::<io::Error>().and_then(machine_advice);
        advised.or_else(node).or_else(directory).or_else(config).or_else(archive).or_else(machine)
    })
}

fn archive_advice(error: &archive::Error) -> Option<String> {
    let advice = match error {
        archive::Error::Damaged { .. } => {
            "restore the file from a copy, or run `utsushi rebuild index --deep` to continue without the record; `utsushi verify` lists all damage"
        }
        archive::Error::IndexDamaged { .. } => "run `utsushi rebuild index`; nothing is lost",
        archive::Error::DiskFull { .. } => "free some space on that disk, then run the command again",
        _ => return None,
    };
    Some(advice.to_owned())
}

/// `EMFILE` and `ENFILE`.
const TOO_MANY_OPEN_FILES: [i32; 2] = [24, 23];

fn machine_advice(error: &io::Error) -> Option<String> {
    if error.raw_os_error().is_some_and(|code| TOO_MANY_OPEN_FILES.contains(&code)) {
        return Some("allow more open files (`ulimit -n`), or lower `crawl.connections_max`".to_owned());
    }
    let advice = match error.kind() {
        io::ErrorKind::StorageFull => "free some space on that disk, then run the command again",
        io::ErrorKind::PermissionDenied => {
            "run the command as a user with permission, or choose another directory"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose a directory on a writable file system",
        _ => return None,
    };
    Some(advice.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn the_outermost_advice_is_given() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let plain = Err::<(), _>(full()).context("cannot write").unwrap_err();
        assert!(advice(&plain).unwrap().starts_with("free some space"));
        let advised = anyhow::Error::new(Advised::new("cannot listen", "choose another port", full()));
        assert_eq!(advice(&advised.context("cannot serve")).unwrap(), "choose another port");
        assert_eq!(advice(&anyhow::anyhow!("cannot say why")), None);
    }
}
