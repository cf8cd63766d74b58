//! The configuration that a scan passes on to the processes it starts, and the command line of each.
//!
//! A scan starts its own executable again with one of four words as its first argument ([`crate::role`]). The second
//! argument is a [`WorkerConfig`] as JSON; the others are the program and its arguments.

use crate::settings::{AnalysisCommand, Confinement, ProgramLimits, Settings};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The word for a worker.
pub(crate) const WORKER: &str = "scan-worker";
/// The word for the sandbox, which becomes the program.
pub(crate) const SANDBOX: &str = "scan-sandbox";
/// The word for the sandbox that only checks whether the program could be run in it.
pub(crate) const TRIAL: &str = "scan-trial";
/// The word for the process that starts a program for each document.
pub(crate) const EACH: &str = "scan-each";

/// Exit codes of the sandbox, as those of a shell and of `env`.
pub(crate) const EXIT_REFUSED: u8 = 125;
/// Exit code of a trial: the program cannot reach the path written to standard error.
pub(crate) const EXIT_OUT_OF_REACH: u8 = 124;
pub(crate) const EXIT_CANNOT_RUN: u8 = 126;
pub(crate) const EXIT_NOT_FOUND: u8 = 127;

/// The configuration passed from role to role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerConfig {
    pub(crate) limits: ProgramLimits,
    pub(crate) confinement: Confinement,
    pub(crate) scratch: PathBuf,
    pub(crate) restart_every: u64,
    /// The analysis that is built in; none for a program.
    pub(crate) builtin: Option<String>,
    /// Whether the program is started for each document.
    pub(crate) is_each: bool,
}

impl WorkerConfig {
    /// The configuration of the workers of a scan.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            limits: settings.limits,
            confinement: settings.confinement.clone(),
            scratch: settings.scratch.clone(),
            restart_every: settings.restart_every.max(1),
            builtin: match &settings.work {
                AnalysisCommand::Builtin(analysis) => Some(analysis.as_str().to_owned()),
                AnalysisCommand::Program(_) | AnalysisCommand::Each(_) => None,
            },
            is_each: matches!(settings.work, AnalysisCommand::Each(_)),
        }
    }
    pub(crate) fn write(&self) -> String {
        let ProgramLimits {
            progress,
            document,
            memory_bytes,
            processes,
            answer_bytes,
            document_bytes,
            file_bytes,
        } = self.limits;
        let path = |path: &PathBuf| Value::from(path.as_os_str().as_bytes().to_vec());
        json!({
            "progress": micros(progress), "document": micros(document), "memory": memory_bytes,
            "processes": processes, "answer": answer_bytes, "bytes": document_bytes, "file": file_bytes,
            "lifted": self.confinement.is_lifted, "keeps": self.confinement.keeps_user, "network": self.confinement.has_network,
            "writable": self.confinement.writable.iter().map(path).collect::<Vec<_>>(),
            "scratch": path(&self.scratch), "restart": self.restart_every,
            "builtin": self.builtin, "each": self.is_each,
        })
        .to_string()
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let said: Value = serde_json::from_str(text).ok()?;
        let number = |name: &str| said.get(name)?.as_u64();
        let size = |name: &str| usize::try_from(number(name)?).ok();
        let time = |name: &str| number(name).map(Duration::from_micros);
        let is = |name: &str| said.get(name)?.as_bool();
        let path = |value: &Value| {
            let bytes = value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
            Some(PathBuf::from(OsString::from_vec(bytes.collect::<Option<Vec<u8>>>()?)))
        };
        let limits = ProgramLimits {
            progress: time("progress")?,
            document: time("document")?,
            memory_bytes: number("memory")?,
            processes: size("processes")?,
            answer_bytes: size("answer")?,
            document_bytes: size("bytes")?,
            file_bytes: number("file")?,
        };
        let writable = said.get("writable")?.as_array()?.iter().map(path).collect::<Option<Vec<_>>>()?;
        let confinement = Confinement {
            is_lifted: is("lifted")?,
            keeps_user: is("keeps")?,
            has_network: is("network")?,
            writable,
        };
        Some(Self {
            limits,
            confinement,
            scratch: path(said.get("scratch")?)?,
            restart_every: number("restart")?,
            builtin: said.get("builtin")?.as_str().map(str::to_owned),
            is_each: is("each")?,
        })
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The command that runs `program` in the sandbox.
pub(crate) fn sandboxed(config: &WorkerConfig, program: &[OsString]) -> Command {
    let mut command = Command::new(OWN_EXECUTABLE);
    command.arg(SANDBOX).arg(config.write());
    if config.is_each {
        command.arg(OWN_EXECUTABLE).arg(EACH).arg(config.write());
    }
    command.args(program.iter().map(OsStr::new));
    command
}

/// This executable, even if its file was replaced meanwhile.
pub(crate) const OWN_EXECUTABLE: &str = "/proc/self/exe";

/// Writes to standard error; errors are ignored.
pub(crate) fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passed_on_arrives() {
        let config = WorkerConfig {
            limits: ProgramLimits::default(),
            confinement: Confinement {
                is_lifted: false,
                keeps_user: true,
                has_network: true,
                writable: vec!["/写し".into()],
            },
            scratch: OsString::from_vec(b"/tmp/\xff".to_vec()).into(),
            restart_every: 7,
            builtin: Some("titles".to_owned()),
            is_each: true,
        };
        assert_eq!(WorkerConfig::read(&config.write()), Some(config));
        assert_eq!(WorkerConfig::read("{}"), None);
    }
}
