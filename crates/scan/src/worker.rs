//! A worker: takes parcels from the dispatcher, unpacks them, has them analysed, and reports (P1).
//!
//! It is a process of its own, so that whatever a document does to the unpacking or to a built-in analysis hits nobody
//! else. A program is looked after by [`external`]; what is built in runs here ([`builtin`]).

mod builtin;
mod external;
mod greed;
mod outbox;
mod program;
mod reports;

use crate::analyses::Analysis;
use crate::role::Spoken;
use crate::wire::Report;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// So much is read from the dispatcher at once.
const READ_BYTES: usize = 256 * 1024;

/// Works until the dispatcher has nothing more, or is gone.
pub(crate) fn run(spoken: &Spoken, program: &[OsString]) -> ExitCode {
    let worked = match &spoken.builtin {
        Some(name) => match Analysis::named(name) {
            Some(analysis) => builtin::run(spoken, analysis),
            None => Err(format!("there is no analysis `{name}`")),
        },
        None => external::run(spoken, program),
    };
    let Err(why) = worked else { return ExitCode::SUCCESS };
    let mut report = Vec::new();
    Report::Broken(why).put(&mut report);
    let _ = std::io::stdout().write_all(&report);
    ExitCode::FAILURE
}
