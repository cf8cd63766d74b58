//! The settings of a scan, and the limits of a program.

use crate::analyses::Analysis;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What is run over each document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisCommand {
    /// An analysis that is built in.
    Builtin(Analysis),
    /// A program and its arguments, which speaks the [protocol](crate::protocol).
    Program(Vec<OsString>),
    /// A program and its arguments that is started for each document and reads it from its standard input.
    Each(Vec<OsString>),
}

/// How documents get to the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SupplyMode {
    /// Each worker gets a fixed part of the list.
    Static,
    /// A worker gets the next document after its last answer has arrived.
    Synchronous,
    /// A worker gets the next document before its last answer has arrived.
    #[default]
    Pipelined,
}

impl SupplyMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Static, Self::Synchronous, Self::Pipelined];

    /// The name of the mode.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Synchronous => "synchronous",
            Self::Pipelined => "pipelined",
        }
    }
}

/// The limits of one analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramLimits {
    /// Maximum time without progress: without reading or writing a byte.
    pub progress: Duration,
    /// Maximum time for one document.
    pub document: Duration,
    /// Maximum memory of all its processes together.
    pub memory_bytes: u64,
    /// Maximum number of its processes.
    pub processes: usize,
    /// Maximum bytes of an answer.
    pub answer_bytes: usize,
    /// Maximum bytes of a document.
    pub document_bytes: usize,
    /// Maximum bytes of a file in its scratch directory.
    pub file_bytes: u64,
}

impl Default for ProgramLimits {
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

/// The restrictions of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Only the limits apply.
    pub is_lifted: bool,
    /// It keeps the caller's user, even root, but without capabilities. A scan sets this itself
    /// where another user could not reach the program.
    pub keeps_user: bool,
    /// It may use the network.
    pub has_network: bool,
    /// It may write here, beside its scratch directory.
    pub writable: Vec<PathBuf>,
}

/// The settings of a scan.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The analysis.
    pub work: AnalysisCommand,
    /// Number of workers.
    pub jobs: usize,
    /// How documents get to them.
    pub supply: SupplyMode,
    /// The limits of one analysis.
    pub limits: ProgramLimits,
    /// The restrictions of its program.
    pub confinement: Confinement,
    /// Number of documents after which a program is restarted.
    pub restart_every: u64,
    /// Number of failures alone after which a document is quarantined.
    pub strikes_max: u32,
    /// The executable that runs the [roles](crate::role) of workers: this program.
    pub executable: PathBuf,
    /// Where scratch directories are created.
    pub scratch: PathBuf,
}
