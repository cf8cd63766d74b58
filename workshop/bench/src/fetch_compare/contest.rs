//! The clients, the command line of each, and what its turns took.

use super::kept::{self, Kept};
use crate::fetch_pages::List;
use crate::fetch_server::Server;
use crate::fetch_tls::Certificates;
use crate::process::{self, Used};
use crate::warc_pages::cannot;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One client.
#[derive(Debug)]
pub(super) struct Contest {
    pub(super) name: &'static str,
    program: OsString,
    arguments: Vec<OsString>,
    libraries: Option<OsString>,
    /// Where everything that it writes goes, one directory a turn.
    directory: PathBuf,
    kept: Kept,
    pub(super) turns: Vec<Turn>,
}

/// What one turn took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) used: Used,
    bytes_written: u64,
    connections: usize,
}

/// All available clients; over TLS without spider.
pub(super) fn all(
    directory: &Path,
    list: &Path,
    batch: u64,
    tls: Option<&Certificates>,
) -> Result<Vec<Contest>> {
    let (list, batch) = (list.as_os_str(), OsString::from(batch.to_string()));
    let ourselves = std::env::current_exe().context("cannot find this program")?;
    let ours = |name, task: &str, compression: &str, kept| {
        let contest = Contest::new(name, ourselves.as_os_str(), directory, kept);
        let contest = contest.with([OsStr::new(task), "--list".as_ref(), list, "--batch".as_ref(), &batch]);
        let contest = contest.with(["--compression", compression, "--directory", HERE]);
        contest.trusting("--roots", tls)
    };
    let mut contests = vec![
        ours("utsushi", "fetch-cell", "gzip", Kept::Checked),
        ours("bare loop", "fetch-bare", "gzip", Kept::Records),
        ours("utsushi, zstd", "fetch-cell", "zstd", Kept::Checked),
        ours("utsushi, plain", "fetch-cell", "plain", Kept::Checked),
        ours("bare loop, plain", "fetch-bare", "plain", Kept::Records),
    ];
    let others = [wget(directory, list), wget2(directory, list)];
    contests.extend(others.into_iter().flatten().map(|contest| contest.trusting("--ca-certificate", tls)));
    if tls.is_none() {
        contests.extend(spider("spider", "crawl", directory, list));
        contests.extend(spider("spider, no crawl", "list", directory, list));
    }
    Ok(contests)
}

/// Stands in arguments for the directory of the turn, in which every client is started.
const HERE: &str = ".";

/// wget writes the archive alone: no files, and no log in the archive.
fn wget(directory: &Path, list: &OsStr) -> Option<Contest> {
    let contest = Contest::new("wget --warc-file", &peer("UTSUSHI_WGET")?, directory, Kept::Records);
    let libraries = std::env::var_os("UTSUSHI_WGET_LIBS");
    let contest = contest.with(["--quiet", "--no-warc-keep-log", "--warc-file=pages"]);
    let contest = contest.with(["--output-document=/dev/null".as_ref(), "--input-file".as_ref(), list]);
    Some(Contest { libraries, ..contest })
}

/// wget2 has no WARC output: every page becomes a file.
fn wget2(directory: &Path, list: &OsStr) -> Option<Contest> {
    let contest = Contest::new("wget2, files", &peer("UTSUSHI_WGET2")?, directory, Kept::Files);
    let libraries = std::env::var_os("UTSUSHI_WGET2_LIBS");
    let contest =
        contest.with(["--quiet".as_ref(), "--force-directories".as_ref(), "--input-file".as_ref(), list]);
    Some(Contest { libraries, ..contest })
}

fn spider(name: &'static str, how: &str, directory: &Path, list: &OsStr) -> Option<Contest> {
    let contest = Contest::new(name, &peer("UTSUSHI_PEERS_FETCH")?, directory, Kept::Records);
    Some(contest.with([OsStr::new(how), list, OsStr::new(HERE)]))
}

/// The path in a variable; without it the peer is left out with a note.
pub(crate) fn peer(variable: &str) -> Option<OsString> {
    let found = std::env::var_os(variable);
    if found.is_none() {
        eprintln!("WITHOUT A PEER: `{variable}` is not set; `cargo xtask bench` sets it");
    }
    found
}

impl Contest {
    fn new(name: &'static str, program: &OsStr, directory: &Path, kept: Kept) -> Self {
        let program = program.to_owned();
        let directory = directory.join(name.replace([' ', ','], "-"));
        Self { name, program, arguments: Vec::new(), libraries: None, directory, kept, turns: Vec::new() }
    }

    fn with(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// The same with an authority to trust, named by `option`.
    fn trusting(self, option: &str, tls: Option<&Certificates>) -> Self {
        match tls {
            Some(tls) => self.with([OsStr::new(option), tls.authority.as_os_str()]),
            None => self,
        }
    }

    /// Fetches the list once, and checks the result.
    pub(super) fn take_turn(&mut self, server: &Server, list: &List) -> Result<()> {
        let directory = self.directory.join(self.turns.len().to_string());
        fs::create_dir_all(&directory).with_context(|| cannot("make", &directory))?;
        server.forget()?;
        let used = process::measure(&mut self.command(&directory))?;
        let (seen, pages) = (server.seen()?, list.urls.len() as u64);
        ensure!(seen.pages == pages, "the server saw {seen:?}, not {pages} pages");
        ensure!(
            seen.body_bytes >= list.body_bytes,
            "the server sent {seen:?}, not {} bytes",
            list.body_bytes
        );
        // Its output is checked once: all turns are alike, and the server has counted.
        if self.turns.is_empty() {
            self.kept.check(&directory, list)?;
        }
        let bytes_written = kept::bytes_below(&directory)?;
        self.turns.push(Turn { used, bytes_written, connections: seen.connections });
        // ext4 creates files slowly for minutes after many were removed, so those of wget2 stay until the end.
        if self.kept == Kept::Files { Ok(()) } else { remove(&directory) }
    }

    /// Removes its output, of this run or of an interrupted one.
    pub(super) fn clean(&self) -> Result<()> {
        if self.directory.exists() { remove(&self.directory) } else { Ok(()) }
    }

    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }

    pub(super) fn cpu_seconds(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.used.cpu_seconds))
    }
    pub(super) fn seconds(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.used.seconds))
    }
    pub(super) fn resident_bytes_max(&self) -> u64 {
        self.turns.iter().map(|turn| turn.used.resident_bytes_max).max().unwrap_or(0)
    }
    pub(super) fn bytes_written(&self) -> u64 {
        self.turns.last().map_or(0, |turn| turn.bytes_written)
    }
    pub(super) fn connections(&self) -> usize {
        self.turns.last().map_or(0, |turn| turn.connections)
    }
    /// Its processor time over that of another, round by round.
    pub(super) fn over(&self, other: &Self) -> f64 {
        let pairs = self.turns.iter().zip(&other.turns);
        median(pairs.map(|(ours, theirs)| ours.used.cpu_seconds / theirs.used.cpu_seconds))
    }

    pub(super) fn to_json(&self, pages: usize, page_bytes: u64) -> Value {
        json!({
            "client": self.name,
            "pages": pages,
            "page_bytes": page_bytes,
            "pages_per_second": pages as f64 / self.seconds(),
            "cpu_microseconds_per_page": self.cpu_seconds() * 1e6 / pages as f64,
            "resident_bytes_max": self.resident_bytes_max(),
            "bytes_written": self.bytes_written(),
            "connections": self.connections(),
            "rounds": self.turns.len(),
        })
    }
}

/// The median; of two middle values the greater one.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

pub(crate) fn remove(directory: &Path) -> Result<()> {
    fs::remove_dir_all(directory).with_context(|| cannot("remove", directory))
}
