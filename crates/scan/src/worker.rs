//! A worker: takes parcels from the dispatcher, unpacks them, has them analysed, and reports (P1).
//!
//! It is a separate process, so that a document that crashes the decoding or a built-in analysis affects no
//! other worker. A program is supervised by [`external`]; a built-in analysis runs here ([`builtin`]).

mod builtin;
mod external;
mod greed;
mod outbox;
mod program;
mod reports;

use crate::analyses::Analysis;
use crate::wire::Report;
use crate::worker_config::WorkerConfig;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// Maximum bytes of one read from the dispatcher.
const READ_BYTES: usize = 256 * 1024;

/// Works until the dispatcher closes the pipe.
pub(crate) fn run(config: &WorkerConfig, program: &[OsString]) -> ExitCode {
    let worked = match &config.builtin {
        Some(name) => match Analysis::named(name) {
            Some(analysis) => builtin::run(config, analysis),
            None => Err(format!("there is no analysis `{name}`")),
        },
        None => external::run(config, program),
    };
    let Err(why) = worked else { return ExitCode::SUCCESS };
    let mut report = Vec::new();
    Report::Broken(why).put(&mut report);
    let _ = std::io::stdout().write_all(&report);
    ExitCode::FAILURE
}
