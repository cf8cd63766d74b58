//! What a scan is asked to do, and what a program may take.

use crate::analyses::Analysis;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What is run over each document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// An analysis that is built in.
    Builtin(Analysis),
    /// A program and its arguments, which speaks the [protocol](crate::protocol).
    Program(Vec<OsString>),
    /// A program and its arguments that is started for each document and reads it from its standard input.
    Each(Vec<OsString>),
}

/// How documents get to the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Supply {
    /// To each worker its part of the list, fixed beforehand.
    Static,
    /// To a worker that has nothing, the next one, when its last answer is in.
    Synchronous,
    /// To a worker with nothing unsent, the next one, before its last answer is in.
    #[default]
    Pipelined,
}

impl Supply {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Static, Self::Synchronous, Self::Pipelined];

    /// The way in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Synchronous => "synchronous",
            Self::Pipelined => "pipelined",
        }
    }
}

/// What one analysis may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// It may do nothing for so long: neither take a byte nor give one.
    pub progress: Duration,
    /// It may have one document for so long.
    pub document: Duration,
    /// All its processes together may hold so much.
    pub memory_bytes: u64,
    /// So many processes may it be.
    pub processes: usize,
    /// An answer may be so long.
    pub answer_bytes: usize,
    /// A document may be so long.
    pub document_bytes: usize,
    /// A file in its scratch directory may be so long.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            progress: Duration::from_secs(60),
            document: Duration::from_secs(600),
            memory_bytes: 1 << 30,
            processes: 64,
            answer_bytes: 16 << 20,
            document_bytes: base::limits::DECODED_BYTES_MAX,
            file_bytes: 1 << 30,
        }
    }
}

/// What a program is kept from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// It is not kept from anything but its limits.
    pub is_lifted: bool,
    /// It keeps the user of the caller, also that of root; it has no capabilities all the same. A scan sets this itself
    /// where another user could not reach the program.
    pub keeps_user: bool,
    /// It may use the network.
    pub has_network: bool,
    /// It may write here, beside its scratch directory.
    pub writable: Vec<PathBuf>,
}

/// Everything that is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is run.
    pub work: Work,
    /// How many workers there are.
    pub jobs: usize,
    /// How documents get to them.
    pub supply: Supply,
    /// What one analysis may take.
    pub limits: Limits,
    /// What it is kept from.
    pub confinement: Confinement,
    /// After so many documents a program is started anew.
    pub restart_every: u64,
    /// A document that failed so often alone is set aside.
    pub strikes_max: u32,
    /// The program that plays the [roles](crate::role) of workers: this one.
    pub executable: PathBuf,
    /// Where scratch directories are made.
    pub scratch: PathBuf,
}
