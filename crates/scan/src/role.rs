//! The roles that the program plays in a scan beside its own: worker, sandbox, and one program a document.
//!
//! A scan starts its own executable again with one of four words in front. They are no commands for people, and are looked
//! for before anything else is done, so that the process has one thread and little to start.

use crate::check::Reach;
use crate::settings::{Confinement, Limits};
use crate::{bound, each, sandbox, worker};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// The word for a worker.
pub(crate) const WORKER: &str = "scan-worker";
/// The word for the sandbox, which becomes the program.
pub(crate) const SANDBOX: &str = "scan-sandbox";
/// The word for the sandbox that only looks whether the program could be run in it.
pub(crate) const TRIAL: &str = "scan-trial";
/// The word for what starts a program for each document.
pub(crate) const EACH: &str = "scan-each";

/// Exit codes of the sandbox, as those of a shell and of `env`.
pub(crate) const EXIT_REFUSED: u8 = 125;
/// That of a trial: something is out of the reach of the program, and standard error names it.
pub(crate) const EXIT_OUT_OF_REACH: u8 = 124;
pub(crate) const EXIT_CANNOT_RUN: u8 = 126;
pub(crate) const EXIT_NOT_FOUND: u8 = 127;

/// Plays the role that the command line asks for, if it asks for one. To be called first in `main`.
#[must_use]
pub fn play(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let word = arguments.next()?;
    let play: fn(&Spoken, Vec<OsString>) -> ExitCode = match word.to_str()? {
        WORKER => |spoken, program| worker::run(spoken, &program),
        SANDBOX => become_program,
        TRIAL => try_program,
        EACH => |spoken, program| each::run(spoken, &program),
        _ => return None,
    };
    let spoken = arguments.next().and_then(|text| Spoken::read(text.to_str()?))?;
    Some(play(&spoken, arguments.collect()))
}

/// What is passed on from role to role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) limits: Limits,
    pub(crate) confinement: Confinement,
    pub(crate) scratch: PathBuf,
    pub(crate) restart_every: u64,
    /// The analysis that is built in; none for a program.
    pub(crate) builtin: Option<String>,
    /// Whether the program is started for each document.
    pub(crate) is_each: bool,
}

impl Spoken {
    pub(crate) fn write(&self) -> String {
        let Limits { progress, document, memory_bytes, processes, answer_bytes, document_bytes, file_bytes } =
            self.limits;
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

    fn read(text: &str) -> Option<Self> {
        let said: Value = serde_json::from_str(text).ok()?;
        let number = |name: &str| said.get(name)?.as_u64();
        let size = |name: &str| usize::try_from(number(name)?).ok();
        let time = |name: &str| number(name).map(Duration::from_micros);
        let is = |name: &str| said.get(name)?.as_bool();
        let path = |value: &Value| {
            let bytes = value.as_array()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
            Some(PathBuf::from(OsString::from_vec(bytes.collect::<Option<Vec<u8>>>()?)))
        };
        let limits = Limits {
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

/// Restricts itself and becomes the program.
#[expect(clippy::needless_pass_by_value, reason = "every role is handed its arguments")]
fn become_program(spoken: &Spoken, program: Vec<OsString>) -> ExitCode {
    let worker = parent();
    bound::join(worker);
    let entered = sandbox::enter(worker, &spoken.limits, &spoken.confinement, Some(&spoken.scratch));
    let is_other = match entered.and_then(|is_other| Ok(sandbox::detach().map(|()| is_other)?)) {
        Ok(is_other) => is_other,
        Err(error) => return refused(&error),
    };
    let Some((name, arguments)) = program.split_first() else { return ExitCode::SUCCESS };
    let mut command = Command::new(name);
    command.args(arguments).env("TMPDIR", &spoken.scratch);
    if is_other {
        // The home of root is closed to it.
        command.env("HOME", &spoken.scratch);
    }
    let error = command.exec();
    say(&format!("cannot run `{}`: {error}\n", name.display()));
    if error.kind() == std::io::ErrorKind::NotFound { EXIT_NOT_FOUND.into() } else { EXIT_CANNOT_RUN.into() }
}

/// Restricts itself and looks whether the program could be run so, without running it.
#[expect(clippy::needless_pass_by_value, reason = "every role is handed its arguments")]
fn try_program(spoken: &Spoken, program: Vec<OsString>) -> ExitCode {
    let own = spoken.is_each.then_some(OWN_EXECUTABLE);
    let reach = Reach::of(&program, own, &spoken.confinement.writable);
    let entered = sandbox::enter(parent(), &spoken.limits, &spoken.confinement, Some(&spoken.scratch));
    if let Err(error) = entered {
        return refused(&error);
    }
    match reach.lost(&spoken.scratch) {
        None => ExitCode::SUCCESS,
        Some(path) => {
            let _ = std::io::stderr().write_all(path.as_os_str().as_bytes());
            EXIT_OUT_OF_REACH.into()
        }
    }
}

fn refused(error: &sandbox::Error) -> ExitCode {
    say(&format!("{}\n", chain(error)));
    EXIT_REFUSED.into()
}

fn parent() -> u32 {
    rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs())
}

/// The command that runs `program` in the sandbox.
pub(crate) fn sandboxed(spoken: &Spoken, program: &[OsString]) -> Command {
    let mut command = Command::new(OWN_EXECUTABLE);
    command.arg(SANDBOX).arg(spoken.write());
    if spoken.is_each {
        command.arg(OWN_EXECUTABLE).arg(EACH).arg(spoken.write());
    }
    command.args(program.iter().map(OsStr::new));
    command
}

/// This program, also when its file was replaced since.
const OWN_EXECUTABLE: &str = "/proc/self/exe";

/// Says something on standard error, if anyone listens.
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
        let spoken = Spoken {
            limits: Limits::default(),
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
        assert_eq!(Spoken::read(&spoken.write()), Some(spoken));
        assert_eq!(Spoken::read("{}"), None);
    }

    #[test]
    fn other_words_are_commands() {
        let arguments = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for words in
            [&[][..], &["utsushi"], &["utsushi", "scan"], &["utsushi", WORKER], &["utsushi", WORKER, "x"]]
        {
            assert!(play(arguments(words)).is_none(), "{words:?}");
        }
    }
}
