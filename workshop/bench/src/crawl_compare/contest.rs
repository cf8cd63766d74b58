//! The crawlers, the command line of each, and what its turns took.

use super::tree::Tree;
use crate::fetch_compare::contest::{median, peer, remove};
use crate::fetch_compare::kept::{check, files_below, is_warc, responses};
use crate::fetch_server::Server;
use crate::process::{self, Used, write_file};
use crate::warc_pages::cannot;
use anyhow::{Context, Result, ensure};
use base::PageUrl;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One crawler.
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

/// The output of a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// WARC files without faults by the standard.
    Checked,
    /// WARC files.
    Records,
    /// A file for every page.
    Files,
}

/// The cost and result of one turn.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) used: Used,
    /// Pages of the site that it got.
    pub(super) pages: usize,
    /// Those that it did not.
    missing: Vec<String>,
    /// Answers that were no page of the site.
    others: usize,
    /// Pages that it asked for more than once.
    repeats: usize,
}

/// File name endings of pages; nothing else is requested.
const PAGES: &str = r"(/|\.html)$";
/// Stands in arguments for the directory of the turn, in which every crawler is started.
const HERE: &str = ".";
/// Concurrent requests, for crawlers that have such an option.
const WIDTH: &str = "32";
const SCRAPY: &str = include_str!("scrapy.py");

/// All available crawlers.
pub(super) fn all(directory: &Path, port: u16) -> Result<Vec<Contest>> {
    let url = format!("http://127.0.0.1:{port}/");
    let url = OsStr::new(&url);
    let found = [
        utsushi("utsushi", "gzip", directory, url, port)?,
        utsushi("utsushi, zstd", "zstd", directory, url, port)?,
        Some(bare(directory, url)?),
        spider(directory, url),
        wget2(directory, url),
        wget(directory, url),
        scrapy(directory, url)?,
    ];
    Ok(found.into_iter().flatten().collect())
}

/// Ours, as agreed with the server's owner: no delay, and as many concurrent requests as the others.
fn utsushi(
    name: &'static str,
    compression: &str,
    directory: &Path,
    url: &OsStr,
    port: u16,
) -> Result<Option<Contest>> {
    let Some(program) = peer("UTSUSHI_PROGRAM") else { return Ok(None) };
    let settings = directory.join(format!("{compression}.toml"));
    let text = format!(
        "[crawl]\nagreed = [\"127.0.0.1:{port} pause=0s width={WIDTH}\"]\nconnections_max = {WIDTH}\n\
         [archive]\ncompression = \"{compression}\"\n"
    );
    write_file(&settings, text.as_bytes())?;
    let contest = Contest::new(name, &program, directory, Kept::Checked);
    let contest =
        contest.with(["--quiet".as_ref(), "--data".as_ref(), OsStr::new(HERE), "--config".as_ref()]);
    let contest = contest.with([settings.as_os_str(), "crawl".as_ref(), url]);
    Ok(Some(contest.with([
        "--once",
        "--no-requisites",
        "--scope",
        "server",
        "--allow-address",
        "127.0.0.0/8",
    ])))
}

fn bare(directory: &Path, url: &OsStr) -> Result<Contest> {
    let ourselves = std::env::current_exe().context("cannot find this program")?;
    let contest = Contest::new("bare loop", ourselves.as_os_str(), directory, Kept::Records);
    Ok(contest.with(["crawl-bare".as_ref(), url]).with(["--width", WIDTH, "--directory", HERE]))
}

fn spider(directory: &Path, url: &OsStr) -> Option<Contest> {
    let contest = Contest::new("spider", &peer("UTSUSHI_PEERS_FETCH")?, directory, Kept::Records);
    Some(contest.with([OsStr::new("walk"), url, OsStr::new(HERE)]))
}

/// wget2 has no WARC output: every page becomes a file.
fn wget2(directory: &Path, url: &OsStr) -> Option<Contest> {
    let contest = Contest::new("wget2, files", &peer("UTSUSHI_WGET2")?, directory, Kept::Files);
    let libraries = std::env::var_os("UTSUSHI_WGET2_LIBS");
    let contest = contest.with(["--quiet", "--recursive", "--level=inf", "--accept-regex", PAGES]);
    Some(Contest { libraries, ..contest }.with([url]))
}

/// wget reads links out of files, so it makes and removes one for every page.
fn wget(directory: &Path, url: &OsStr) -> Option<Contest> {
    let contest = Contest::new("wget --warc-file", &peer("UTSUSHI_WGET")?, directory, Kept::Records);
    let libraries = std::env::var_os("UTSUSHI_WGET_LIBS");
    let contest = contest.with(["--quiet", "--recursive", "--level=inf", "--accept-regex", PAGES]);
    let contest = contest.with(["--delete-after", "--no-warc-keep-log", "--warc-file=pages"]);
    Some(Contest { libraries, ..contest }.with([url]))
}

fn scrapy(directory: &Path, url: &OsStr) -> Result<Option<Contest>> {
    let Some(python) = peer("UTSUSHI_PYTHON") else { return Ok(None) };
    let script = directory.join("walk.py");
    write_file(&script, SCRAPY.as_bytes())?;
    let contest = Contest::new("Scrapy + warcio", &python, directory, Kept::Records);
    Ok(Some(contest.with([script.as_os_str(), url, HERE.as_ref()])))
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

    /// Walks the site once.
    pub(super) fn take_turn(&mut self, server: &Server, tree: &Tree) -> Result<()> {
        let directory = self.directory.join(self.turns.len().to_string());
        fs::create_dir_all(&directory).with_context(|| cannot("make", &directory))?;
        server.forget()?;
        let mut turn = self.walk(&directory)?;
        turn.count(server, tree)?;
        ensure!(turn.pages > 0, "it found nothing");
        // Its output is checked once: all turns are alike, and the server has counted.
        if self.turns.is_empty() {
            self.kept.check(&directory, turn.pages)?;
        }
        self.turns.push(turn);
        // ext4 creates files slowly for minutes after many were removed, so those of wget2 stay until the end.
        if self.kept == Kept::Files { Ok(()) } else { remove(&directory) }
    }

    fn walk(&self, directory: &Path) -> Result<Turn> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
        if let Some(libraries) = &self.libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        // A crawl that met a broken link has found something: wget says 8, ours 1.
        let used = process::measure_any(&mut command, &[0, 1, 8])?;
        Ok(Turn { used, pages: 0, missing: Vec::new(), others: 0, repeats: 0 })
    }

    /// Removes its output, of this run or of an interrupted one.
    pub(super) fn clean(&self) -> Result<()> {
        if self.directory.exists() { remove(&self.directory) } else { Ok(()) }
    }

    /// CPU seconds a page.
    pub(super) fn cpu_seconds(&self) -> f64 {
        median(self.turns.iter().map(Turn::cpu_seconds))
    }
    pub(super) fn pages_per_second(&self) -> f64 {
        median(self.turns.iter().map(Turn::pages_per_second))
    }
    pub(super) fn resident_bytes_max(&self) -> u64 {
        self.turns.iter().map(|turn| turn.used.resident_bytes_max).max().unwrap_or(0)
    }
    pub(super) fn bytes_written(&self) -> u64 {
        self.turns.last().map_or(0, |turn| turn.used.written_bytes)
    }
    /// Pages found in the worst turn, and what was missing there.
    pub(super) fn worst(&self) -> Option<&Turn> {
        self.turns.iter().min_by_key(|turn| turn.pages)
    }

    pub(super) fn to_json(&self) -> Value {
        let Some(worst) = self.worst() else { return Value::Null };
        let all = |of: fn(&Turn) -> f64| self.turns.iter().map(of).collect::<Vec<_>>();
        json!({
            "crawler": self.name,
            "pages": worst.pages,
            "pages_missing": worst.missing.len(),
            "missing": worst.missing.iter().take(MISSING_TOLD).collect::<Vec<_>>(),
            "other_answers": worst.others,
            "pages_repeated": worst.repeats,
            "cpu_microseconds_per_page": self.cpu_seconds() * 1e6,
            "cpu_microseconds_per_page_by_turn": all(|turn| turn.cpu_seconds() * 1e6),
            "pages_per_second": self.pages_per_second(),
            "pages_per_day": self.pages_per_second() * 86_400.0,
            "seconds_by_turn": all(|turn| turn.used.seconds),
            "resident_bytes_max": self.resident_bytes_max(),
            "bytes_written": self.bytes_written(),
            "turns": self.turns.len(),
        })
    }
}

/// Maximum number of missing pages that are listed.
pub(super) const MISSING_TOLD: usize = 5;

impl Turn {
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.used.cpu_seconds / self.pages.max(1) as f64
    }
    pub(super) fn pages_per_second(&self) -> f64 {
        self.pages as f64 / self.used.seconds
    }
    pub(super) fn missing(&self) -> &[String] {
        &self.missing
    }
    pub(super) fn others(&self) -> usize {
        self.others
    }

    /// Counts what the server saw.
    fn count(&mut self, server: &Server, tree: &Tree) -> Result<()> {
        let mut found = BTreeSet::new();
        for answer in server.answers()? {
            let target = PageUrl::parse(&format!("http://127.0.0.1{}", answer.target));
            let target = target.map_or(answer.target, |url| url.target().to_owned());
            if answer.status != 200 || !tree.targets.contains(&target) {
                self.others += 1;
            } else if !found.insert(target) {
                self.repeats += 1;
            }
        }
        self.pages = found.len();
        self.missing = tree.targets.difference(&found).cloned().collect();
        Ok(())
    }
}

impl Kept {
    /// Checks that `pages` pages are below `directory`.
    fn check(self, directory: &Path, pages: usize) -> Result<()> {
        let mut files = Vec::new();
        files_below(directory, &mut files)?;
        let mut kept = files.len();
        if self != Self::Files {
            kept = 0;
            for file in files.iter().filter(|file| is_warc(file)) {
                if self == Self::Checked {
                    check(file)?;
                }
                kept += responses(file)?.0;
            }
        }
        // Two names of pages may be one name of a file.
        let lost_max = if self == Self::Files { pages / 1_000 } else { 0 };
        ensure!(kept + lost_max >= pages, "it kept {kept} of the {pages} pages that it got");
        Ok(())
    }
}
