//! The configuration: one TOML file over the compiled-in `default.toml`, checked once.
//!
//! **Invariant:** a [`Config`] exists only if every setting has a value of its type and in its range, so no reader of
//! a setting checks it again.
//!
//! **Invariant:** `default.toml` names every setting; other names are refused in any file.

mod error;
mod filter;
mod keep;
mod log;
mod settings;
mod value;

pub use error::{Error, Problem};
pub use filter::{FilterConfig, LanguageCode, MediaTypePattern};
pub use log::{LogFilter, LogFilterError, LogFormat};
pub use settings::{SETTINGS, Setting};
pub use value::{Agreement, ServerAlias, parse_bytes, parse_contact};

use base::Interval;
use fetch::{AddressRange, Certificates, Proxy, Roots};
use frontier::{Mode, Rule};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The compiled-in file that shows every setting.
pub const DEFAULT: &str = include_str!("default.toml");
/// The name of the file in a data directory.
pub const FILE_NAME: &str = "utsushi.toml";
/// The maximum length of a configuration: a hundred times that of all settings with their comments.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Every setting.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// How pages are visited.
    pub crawl: CrawlConfig,
    /// How the crawler identifies itself and connects.
    pub fetch: FetchConfig,
    /// Which responses are followed and stored.
    pub filter: FilterConfig,
    /// How captures are stored.
    pub archive: ArchiveConfig,
    /// How the states of pages are stored.
    pub store: StoreConfig,
    /// How analyses are run.
    pub scan: ScanConfig,
    /// How metrics are served.
    pub metrics: MetricsConfig,
    /// The egress guard.
    pub guard: GuardConfig,
    /// The simulated web.
    pub sim: SimConfig,
    /// What is logged.
    pub log: LogConfig,
    origins: BTreeMap<&'static str, SettingOrigin>,
    overridden: Vec<(&'static str, SettingOrigin)>,
}

/// `[crawl]`
#[derive(Clone, Debug, Default)]
pub struct CrawlConfig {
    /// The minimum delay between two requests to one server, and to one address.
    pub pause: Interval,
    /// Maximum number of servers requested at the same time.
    pub connections_max: usize,
    /// The operator's opt-out list.
    pub opt_out: Option<PathBuf>,
    /// How far the crawl goes from its seeds.
    pub scope: Mode,
    /// Rules in addition to the scope.
    pub rules: Vec<Rule>,
    /// Servers and addresses whose owners agreed to a different delay.
    pub agreed: Vec<Agreement>,
    /// Other names of servers.
    pub aliases: Vec<ServerAlias>,
    /// Whether other names of servers are detected.
    pub detect_aliases: bool,
    /// Whether requisites of pages are fetched.
    pub requisites: bool,
    /// How the time until the next visit is chosen.
    pub policy: frontier::RevisitPolicy,
    /// The average time between two visits of a page.
    pub every: Interval,
    /// Whether first visits count in the resulting budget.
    pub budget_counts_new: bool,
    /// Maximum number of requests of the whole crawl per day; 0 for no limit, as with the next three.
    pub requests_per_day_max: u64,
    /// Maximum number of bytes received by the whole crawl per day.
    pub bytes_per_day_max: u64,
    /// Maximum number of requests to one server per day.
    pub server_requests_per_day_max: u64,
    /// Maximum number of bytes received from one server per day.
    pub server_bytes_per_day_max: u64,
    /// Maximum number of pages of one server.
    pub server_pages_max: u64,
    /// Whether pages that look like a trap are held back.
    pub detect_traps: bool,
    /// Whether pages of a directory whose pages are mostly gone are visited less often.
    pub spare_dead: bool,
    /// Maximum memory of the short-term queue.
    pub queue_bytes_max: usize,
    /// Seed of random choices.
    pub seed: u64,
}

/// `[store]`
#[derive(Clone, Debug, Default)]
pub struct StoreConfig {
    /// Memory for all write buffers together.
    pub pool_bytes: usize,
    /// The size of the log between two checkpoints.
    pub log_bytes: u64,
    /// The size of a data file.
    pub segment_bytes: u32,
}

/// `[scan]`
#[derive(Clone, Debug, Default)]
pub struct ScanConfig {
    /// Number of workers; 0 for one on each processor.
    pub jobs: usize,
    /// The limits of a program.
    pub limits: ::scan::ProgramLimits,
    /// Number of documents after which a program is restarted.
    pub restart_every: u64,
    /// Number of times a document may fail alone before it is quarantined.
    pub strikes_max: u32,
}

/// `[metrics]`
#[derive(Clone, Debug, Default)]
pub struct MetricsConfig {
    /// Where they are served.
    pub listen: Option<SocketAddr>,
    /// Whether that may be an address that other machines can reach.
    pub is_public: bool,
}

/// `[fetch]`
#[derive(Clone, Debug, Default)]
pub struct FetchConfig {
    /// The start of `User-Agent`.
    pub agent: String,
    /// A page or an email address for questions; the rest of `User-Agent`.
    pub contact: Option<String>,
    /// The value of `Accept-Language`.
    pub accept_language: String,
    /// Address ranges that may be visited although they are not public.
    pub allow_addresses: Vec<AddressRange>,
    /// The name servers; those of the system if empty.
    pub dns_servers: Vec<SocketAddr>,
    /// The forward proxy.
    pub proxy: Option<Proxy>,
    /// The trusted root certificates.
    pub roots: Roots,
    /// What happens if a certificate is not valid.
    pub certificates: Certificates,
    /// Maximum number of bytes stored of a body.
    pub body_bytes_max: usize,
    /// Maximum memory of all bodies in flight.
    pub body_memory_bytes_max: usize,
    /// Maximum disk space of all bodies in flight.
    pub body_disk_bytes_max: usize,
}

/// `[archive]`
#[derive(Clone, Debug, Default)]
pub struct ArchiveConfig {
    /// The size at which an archive file is closed.
    pub file_bytes_max: u64,
    is_zstd: bool,
    gzip_level: u8,
    zstd_level: u8,
    /// A writer pauses if fewer bytes are free.
    pub disk_free_bytes_min: u64,
    /// A writer pauses if a smaller share of the disk is free.
    pub disk_free_percent_min: u64,
}

impl ArchiveConfig {
    /// How records are compressed.
    pub fn compression(&self) -> warc::Compression {
        let checked = "the configuration was checked";
        if self.is_zstd {
            warc::Compression::Zstd(warc::ZstdLevel::new(self.zstd_level).expect(checked))
        } else {
            warc::Compression::Gzip(warc::Level::new(self.gzip_level).expect(checked))
        }
    }
}

/// `[guard]`
#[derive(Clone, Debug, Default)]
pub struct GuardConfig {
    /// Where it listens.
    pub listen: Option<SocketAddr>,
    /// Special addresses that may be connected to.
    pub allow_addresses: Vec<guard::AddressBlock>,
    /// The limits of the guard.
    pub limits: guard::TrafficLimits,
}

/// `[sim]`
#[derive(Clone, Debug, Default)]
pub struct SimConfig {
    /// Number of pages on all honest servers.
    pub pages: u64,
    /// Number of honest servers.
    pub servers: u32,
    /// Seed of the simulated web.
    pub seed: u64,
}

/// `[log]`
#[derive(Clone, Debug, Default)]
pub struct LogConfig {
    /// What is logged.
    pub level: LogFilter,
    /// The format of log lines.
    pub format: LogFormat,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The compiled-in default.
    Default,
    /// A line of a file, counted from 1.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// A line of the file in which a crawl stores its settings, counted from 1.
    Kept {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// A flag of this run.
    Flag(&'static str),
    /// An environment variable.
    Environment(&'static str),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}, line {line}", path.display()),
            Self::Kept { path, line } => {
                write!(f, "stored by an earlier run: {}, line {line}", path.display())
            }
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
        }
    }
}

impl Config {
    /// The defaults, overridden by the file in the data directory, overridden by the settings stored by an earlier crawl. A
    /// named file replaces the first, and overrides both.
    pub fn load(named: Option<&Path>, data: &Path) -> Result<Self, Error> {
        let mut config = Self::compiled_in();
        if named.is_none() {
            let path = data.join(FILE_NAME);
            match read(&path) {
                Ok(text) => config.apply_file(&path, &text)?,
                Err(error) if is_absent(&error) => {}
                Err(source) => return Err(Error::Read { path, source }),
            }
        }
        config.apply_kept(data)?;
        if let Some(path) = named {
            let text = read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
            config.apply_file(path, &text)?;
        }
        Ok(config)
    }

    /// Records that a flag of this run set a setting.
    pub fn say(&mut self, key: &'static str, flag: &'static str) {
        self.origins.insert(key, SettingOrigin::Flag(flag));
    }

    /// The defaults.
    pub fn compiled_in() -> Self {
        let mut config = Self::default();
        let outcome = config.apply(DEFAULT, |_| SettingOrigin::Default);
        assert!(outcome.is_ok(), "default.toml must pass its own checks: {outcome:?}");
        assert!(config.origins.len() == SETTINGS.len(), "default.toml must name every setting");
        config
    }

    /// Sets the log level for this run.
    pub fn set_log_level(&mut self, level: LogFilter, origin: SettingOrigin) {
        self.log.level = level;
        self.origins.insert("log.level", origin);
    }

    /// Where the value of a setting comes from.
    pub fn origin(&self, key: &str) -> &SettingOrigin {
        self.origins.get(key).unwrap_or(&SettingOrigin::Default)
    }

    /// The settings of a text.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut config = Self::compiled_in();
        config.apply_file(Path::new(FILE_NAME), text)?;
        Ok(config)
    }

    fn apply_file(&mut self, path: &Path, text: &str) -> Result<(), Error> {
        self.apply(text, |line| SettingOrigin::File { path: path.to_owned(), line })
            .map_err(|problems| Error::Invalid { path: path.to_owned(), problems })
    }

    fn apply(&mut self, text: &str, origin: impl Fn(usize) -> SettingOrigin) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        for entry in value::entries(text).map_err(|problem| vec![problem])? {
            match settings::find(&entry.key).and_then(|setting| setting.apply(self, &entry)) {
                Ok(key) => drop(self.origins.insert(key, origin(entry.line))),
                Err(what) => problems.push(Problem { line: entry.line, column: entry.column, what }),
            }
        }
        problems.sort_by_key(|problem| (problem.line, problem.column));
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// The word before the slash, to which robots groups are matched.
#[must_use]
pub fn product_token(agent: &str) -> &str {
    agent.split(['/', ' ']).next().unwrap_or(agent)
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// A data directory that does not exist yet, or is not a directory, contains no configuration.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
