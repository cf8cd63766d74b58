//! The roles of this executable in a scan besides the main one: worker, sandbox, and one program per document.
//!
//! A scan starts its own executable again with one of four words as its first argument. They are not commands for users, and are checked
//! before anything else, so that the process has one thread and starts fast.

use crate::check::Reach;
use crate::worker_config::{
    EACH, EXIT_CANNOT_RUN, EXIT_NOT_FOUND, EXIT_OUT_OF_REACH, EXIT_REFUSED, OWN_EXECUTABLE, SANDBOX, TRIAL,
    WORKER, WorkerConfig, chain, say,
};
use crate::{bound, each, sandbox, worker};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// Runs the role that the command line names, if it names one. Call it first in `main`.
#[must_use]
pub fn play(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let word = arguments.next()?;
    let play: fn(&WorkerConfig, Vec<OsString>) -> ExitCode = match word.to_str()? {
        WORKER => |config, program| worker::run(config, &program),
        SANDBOX => become_program,
        TRIAL => try_program,
        EACH => |config, program| each::run(config, &program),
        _ => return None,
    };
    let config = arguments.next().and_then(|text| WorkerConfig::read(text.to_str()?))?;
    Some(play(&config, arguments.collect()))
}

/// Restricts itself and becomes the program.
#[expect(clippy::needless_pass_by_value, reason = "every role gets its arguments")]
fn become_program(config: &WorkerConfig, program: Vec<OsString>) -> ExitCode {
    let worker = parent();
    bound::join(worker);
    let entered = sandbox::enter(worker, &config.limits, &config.confinement, Some(&config.scratch));
    let is_other = match entered.and_then(|is_other| Ok(sandbox::detach().map(|()| is_other)?)) {
        Ok(is_other) => is_other,
        Err(error) => return refused(&error),
    };
    let Some((name, arguments)) = program.split_first() else { return ExitCode::SUCCESS };
    let mut command = Command::new(name);
    command.args(arguments).env("TMPDIR", &config.scratch);
    if is_other {
        // It cannot enter root's home directory.
        command.env("HOME", &config.scratch);
    }
    let error = command.exec();
    say(&format!("cannot run `{}`: {error}\n", name.display()));
    if error.kind() == std::io::ErrorKind::NotFound { EXIT_NOT_FOUND.into() } else { EXIT_CANNOT_RUN.into() }
}

/// Restricts itself and checks whether the program could be run, without running it.
#[expect(clippy::needless_pass_by_value, reason = "every role gets its arguments")]
fn try_program(config: &WorkerConfig, program: Vec<OsString>) -> ExitCode {
    let own = config.is_each.then_some(OWN_EXECUTABLE);
    let reach = Reach::of(&program, own, &config.confinement.writable);
    let entered = sandbox::enter(parent(), &config.limits, &config.confinement, Some(&config.scratch));
    if let Err(error) = entered {
        return refused(&error);
    }
    match reach.lost(&config.scratch) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
