//! The clients, how each is told to fetch the list, and what its turns took.

use super::kept::Kept;
use crate::fetch_pages::List;
use crate::fetch_server::Server;
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
    /// Where everything that it writes goes; emptied before every turn.
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

/// All clients that can be had, in the order of their turns.
pub(super) fn all(directory: &Path, list: &Path, batch: u64) -> Result<Vec<Contest>> {
    let (list, batch) = (list.as_os_str(), OsString::from(batch.to_string()));
    let ourselves = std::env::current_exe().context("cannot find this program")?;
    let ours = |name, task: &str, more: &[&str], kept| {
        let contest = Contest::new(name, ourselves.as_os_str(), directory, kept);
        let to = contest.directory.clone();
        let contest = contest.with([OsStr::new(task), "--list".as_ref(), list, "--batch".as_ref(), &batch]);
        contest.with(["--directory".as_ref(), to.as_os_str()]).with(more.iter().map(OsStr::new))
    };
    let mut contests = vec![
        ours("utsushi", "fetch-cell", &[], Kept::Checked),
        ours("bare loop", "fetch-bare", &[], Kept::Records),
        ours("utsushi, plain", "fetch-cell", &["--plain"], Kept::Checked),
        ours("bare loop, plain", "fetch-bare", &["--plain"], Kept::Records),
    ];
    contests.extend(wget(directory, list));
    contests.extend(wget2("wget2", directory, list, &[]));
    contests.extend(wget2("wget2, one thread", directory, list, &["--max-threads=1"]));
    contests.extend(spider("spider", "crawl", directory, list));
    contests.extend(spider("spider, no crawl", "list", directory, list));
    Ok(contests)
}

/// wget writes the archive alone: no files, and no log in the archive.
fn wget(directory: &Path, list: &OsStr) -> Option<Contest> {
    let contest = Contest::new("wget --warc-file", &peer("UTSUSHI_WGET")?, directory, Kept::Records);
    let mut file = OsString::from("--warc-file=");
    file.push(contest.directory.join("pages"));
    let libraries = std::env::var_os("UTSUSHI_WGET_LIBS");
    let contest =
        contest.with(["--quiet", "--no-warc-keep-log", "--output-document=/dev/null", "--input-file"]);
    Some(Contest { libraries, ..contest.with([list, &file]) })
}

/// wget2 knows no WARC: every page becomes a file.
fn wget2(name: &'static str, directory: &Path, list: &OsStr, more: &[&str]) -> Option<Contest> {
    let contest = Contest::new(name, &peer("UTSUSHI_WGET2")?, directory, Kept::Files);
    let to = contest.directory.clone();
    let libraries = std::env::var_os("UTSUSHI_WGET2_LIBS");
    let contest = contest.with(["--quiet", "--force-directories"]).with(more);
    let contest =
        contest.with(["--directory-prefix".as_ref(), to.as_os_str(), "--input-file".as_ref(), list]);
    Some(Contest { libraries, ..contest })
}

fn spider(name: &'static str, how: &str, directory: &Path, list: &OsStr) -> Option<Contest> {
    let contest = Contest::new(name, &peer("UTSUSHI_PEERS_FETCH")?, directory, Kept::Records);
    let to = contest.directory.clone();
    Some(contest.with([OsStr::new(how), list, to.as_os_str()]))
}

/// What a variable leads to; without it the peer is left out, which is said.
fn peer(variable: &str) -> Option<OsString> {
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

    /// Fetches the list once, and makes sure that it did.
    pub(super) fn take_turn(&mut self, server: &Server, list: &List) -> Result<()> {
        make_empty(&self.directory)?;
        server.forget()?;
        let used = process::measure(&mut self.command())?;
        let (seen, pages) = (server.seen()?, list.urls.len() as u64);
        ensure!(
            seen.pages == pages && seen.body_bytes >= list.body_bytes,
            "the server saw {seen:?}, not {pages} pages"
        );
        // What it wrote is looked at once: all turns are alike, and the server has counted.
        if self.turns.is_empty() {
            self.kept.check(&self.directory, list)?;
        }
        let bytes_written = super::kept::bytes_below(&self.directory)?;
        self.turns.push(Turn { used, bytes_written, connections: seen.connections });
        fs::remove_dir_all(&self.directory).with_context(|| cannot("remove", &self.directory))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null());
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

/// The one in the middle; of two in the middle the greater one.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn make_empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| cannot("remove", directory))?;
    }
    fs::create_dir_all(directory).with_context(|| cannot("make", directory))
}
