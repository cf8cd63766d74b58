//! Reading and writing WARC beside its peers: `bench warc`.
//!
//! Every system works in a process of its own on the same file, one after the other, for several rounds; what counts is
//! the median of the processor time that each took for the work itself, without its start. All work in one thread.
//!
//! * read: all records from the page cache, heads parsed, content decompressed whole. Ours holds the block in memory
//!   and has proved its checksum; FastWARC, in Python and in Rust, discards the content piece by piece; warcio makes it
//!   bytes of Python. None of them parses HTTP.
//! * bare: the members of the same file, whose lengths are known, decompressed one after the other. The gzip loop is
//!   libdeflate, the zstd loop libzstd; nothing looks at what comes out.
//! * write: the same pages as responses, with the digests of block and payload.

use crate::compare;
use crate::warc_cell::lengths_of;
use crate::{warc_cell, warc_pages};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How fast WARC is read and written, against FastWARC, warcio and a bare loop of decompression
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench warc
  cargo xtask bench warc --quick
  cargo xtask bench warc --levels 1,3,6,9 --rounds 1
  cargo xtask bench warc --json")]
pub(crate) struct Args {
    /// Records in the file
    #[arg(long, default_value_t = 52_000)]
    records: usize,
    /// Turns of every reader
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Turns of every writer; 0 to read only
    #[arg(long, default_value_t = 3)]
    write_rounds: usize,
    /// 3,000 records, one turn each: to see that all of it works
    #[arg(long)]
    quick: bool,
    /// Levels of gzip to write with, besides the usual one
    #[arg(long, value_delimiter = ',', default_values_t = [6, 7])]
    levels: Vec<u8>,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Where the files are made
    #[arg(long)]
    directory: Option<PathBuf>,
}

const FORMATS: [&str; 2] = ["gzip", "zstd"];
/// The variables that lead to the pages and the peers.
const PAGES: &str = "UTSUSHI_PAGES";
const PYTHON: &str = "UTSUSHI_PYTHON";
const FASTWARC_CRATE: &str = "UTSUSHI_PEERS_WARC";

/// One system at one task.
#[derive(Debug)]
struct Contest {
    system: String,
    task: &'static str,
    format: &'static str,
    program: OsString,
    arguments: Vec<OsString>,
    file: PathBuf,
    rounds: usize,
    turns: Vec<Turn>,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    records: u64,
    content_bytes: u64,
    cpu_seconds: f64,
}

/// Runs the comparison; says whether everything came out as it must.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let directory = compare::work_directory(args.directory.as_deref(), "bench-warc")?;
    let records = if args.quick { 3_000 } else { args.records };
    let (rounds, write_rounds) = if args.quick { (1, 1) } else { (args.rounds, args.write_rounds) };
    let pages = prepare(&directory, records)?;
    let mut contests = readers(&directory, rounds)?;
    contests.extend(writers(&directory, &pages, &args.levels, write_rounds)?);
    for round in 0..rounds.max(write_rounds) {
        for contest in contests.iter_mut().filter(|contest| round < contest.rounds) {
            contest.take_turn()?;
        }
    }
    contests.retain(|contest| !contest.turns.is_empty());
    check_alike(&contests)?;
    let verdicts = verdicts(&contests);
    print(args.json, &contests, &verdicts);
    if !args.json {
        print_fastest_at_no_greater_size(&contests);
    }
    Ok(verdicts.iter().all(Verdict::is_met))
}

/// Makes the files that are read: the same pages in every format.
fn prepare(directory: &Path, records: usize) -> Result<PathBuf> {
    let tree = std::env::var_os(PAGES).context("run this through `cargo xtask bench warc`")?;
    let pages = directory.join("pages");
    warc_pages::gather(Path::new(&tree), records, &pages, warc_pages::Layout::Mixed)?;
    for format in FORMATS {
        let file = file_of(directory, format);
        let written = warc_pages::write(&pages, &file, warc_cell::compression(format, None)?)?;
        ensure!(written == records as u64, "`{}` has {written} records", file.display());
        warc_pages::write_lengths(&file, &lengths_of(&file))?;
    }
    Ok(pages)
}

fn file_of(directory: &Path, format: &str) -> PathBuf {
    directory.join(if format == "gzip" { "pages.warc.gz" } else { "pages.warc.zst" })
}

fn readers(directory: &Path, rounds: usize) -> Result<Vec<Contest>> {
    let mut contests = Vec::new();
    for format in FORMATS {
        let file = file_of(directory, format);
        for task in ["read", "bare"] {
            let system = if task == "read" { "utsushi" } else { "bare loop" };
            contests.push(Contest::ours(system, task, format, &file, rounds)?);
        }
        contests.extend(Contest::crate_of_fastwarc(format, &file, rounds));
        contests.extend(Contest::python("fastwarc-python", "read", format, &file, rounds));
    }
    let gzip = file_of(directory, "gzip");
    contests.extend(Contest::python("warcio", "read", "gzip", &gzip, rounds));
    Ok(contests)
}

fn writers(directory: &Path, pages: &Path, levels: &[u8], rounds: usize) -> Result<Vec<Contest>> {
    let mut contests = Vec::new();
    for format in FORMATS {
        let file = directory.join(format!("written-utsushi.{format}"));
        contests.push(
            Contest::ours("utsushi", "write", format, &file, rounds)?.with(["--pages".as_ref(), pages]),
        );
    }
    for level in levels {
        let file = directory.join(format!("written-{level}.gzip"));
        let contest = Contest::ours(&format!("utsushi, level {level}"), "write", "gzip", &file, rounds)?;
        let level = level.to_string();
        contests.push(contest.with(["--pages".as_ref(), pages, "--level".as_ref(), Path::new(&level)]));
    }
    let file = directory.join("written-warcio.gzip");
    let warcio = Contest::python("warcio", "write", "gzip", &file, rounds);
    contests.extend(warcio.map(|contest| contest.with([pages])));
    Ok(contests)
}

impl Contest {
    fn new(system: &str, task: &'static str, format: &'static str, file: &Path, rounds: usize) -> Self {
        let (system, file) = (system.to_owned(), file.to_owned());
        let (program, arguments) = (OsString::new(), Vec::new());
        Self { system, task, format, program, arguments, file, rounds, turns: Vec::new() }
    }

    fn ours(
        system: &str,
        task: &'static str,
        format: &'static str,
        file: &Path,
        rounds: usize,
    ) -> Result<Self> {
        let mut contest =
            Self::new(system, if task == "write" { task } else { "read" }, format, file, rounds);
        contest.program = std::env::current_exe().context("cannot find this program")?.into_os_string();
        let arguments = ["warc-cell", "--task", task, "--format", format, "--file"];
        contest.arguments = arguments.into_iter().map(OsString::from).collect();
        Ok(contest.with([file]))
    }

    fn crate_of_fastwarc(format: &'static str, file: &Path, rounds: usize) -> Option<Self> {
        let mut contest = Self::new("fastwarc-crate", "read", format, file, rounds);
        contest.program = peer(FASTWARC_CRATE)?;
        Some(contest.with([file]))
    }

    fn python(
        system: &str,
        task: &'static str,
        format: &'static str,
        file: &Path,
        rounds: usize,
    ) -> Option<Self> {
        let mut contest = Self::new(system, task, format, file, rounds);
        contest.program = peer(PYTHON)?;
        let arguments = ["-c", include_str!("warc_peers.py"), task, system, format];
        contest.arguments = arguments.into_iter().map(OsString::from).collect();
        Some(contest.with([file]))
    }

    fn with<const N: usize>(mut self, more: [&Path; N]) -> Self {
        self.arguments.extend(more.into_iter().map(|argument| argument.as_os_str().to_owned()));
        self
    }

    fn take_turn(&mut self) -> Result<()> {
        let said = compare::result_of(Command::new(&self.program).args(&self.arguments))
            .with_context(|| format!("{} cannot {} {}", self.system, self.task, self.format))?;
        let count = |name: &str| said[name].as_u64().with_context(|| format!("it does not say `{name}`"));
        self.turns.push(Turn {
            records: count("records")?,
            content_bytes: count("content_bytes")?,
            cpu_seconds: compare::number(&said, "cpu_seconds"),
        });
        Ok(())
    }

    fn records(&self) -> u64 {
        self.turns.first().map_or(0, |turn| turn.records)
    }
    /// The median over all turns.
    fn cpu_seconds(&self) -> f64 {
        let mut seconds: Vec<f64> = self.turns.iter().map(|turn| turn.cpu_seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.len() / 2;
        let at = |place: usize| seconds.get(place).copied().unwrap_or(f64::NAN);
        if seconds.len() % 2 == 1 {
            at(middle)
        } else {
            f64::midpoint(at(middle.saturating_sub(1)), at(middle))
        }
    }
    fn records_per_second(&self) -> f64 {
        self.records() as f64 / self.cpu_seconds()
    }
    /// How long the file is that was read or written.
    fn bytes(&self) -> u64 {
        std::fs::metadata(&self.file).map_or(0, |file| file.len())
    }
    fn is(&self, system: &str, task: &str, format: &str) -> bool {
        self.system == system && self.task == task && self.format == format
    }
    fn to_json(&self) -> Value {
        json!({
            "system": self.system,
            "task": self.task,
            "format": self.format,
            "records": self.records(),
            "records_per_second": self.records_per_second(),
            "cpu_seconds": self.cpu_seconds(),
            "bytes": self.bytes(),
            "rounds": self.turns.len(),
        })
    }
}

/// What a variable leads to; without it the peer is left out, which is said.
fn peer(variable: &str) -> Option<OsString> {
    let found = std::env::var_os(variable);
    if found.is_none() {
        eprintln!("WITHOUT A PEER: `{variable}` is not set; `cargo xtask bench` sets it");
    }
    found
}

/// All readers must have read the same.
fn check_alike(contests: &[Contest]) -> Result<()> {
    for contest in contests {
        let Some(ours) = contests.iter().find(|other| other.is("utsushi", contest.task, contest.format))
        else {
            continue;
        };
        let (found, expected) = (contest.turns.last(), ours.turns.last());
        let (Some(found), Some(expected)) = (found, expected) else { continue };
        let name = &contest.system;
        ensure!(found.records == expected.records, "{name} found {} records", found.records);
        let is_alike = name == "bare loop" || found.content_bytes == expected.content_bytes;
        ensure!(is_alike, "{name} found {} bytes, ours {}", found.content_bytes, expected.content_bytes);
    }
    Ok(())
}

/// A ratio that must be reached.
#[derive(Debug)]
struct Verdict {
    what: String,
    ratio: f64,
    least: f64,
}

impl Verdict {
    fn is_met(&self) -> bool {
        self.ratio >= self.least
    }
}

/// What must be shown: our speed over that of others.
const SPEEDS: [(&str, &str, &str, f64); 6] = [
    ("read", "gzip", "fastwarc-python", 1.15),
    ("read", "gzip", "fastwarc-crate", 1.0),
    ("read", "gzip", "bare loop", 0.8),
    ("read", "zstd", "fastwarc-python", 1.3),
    ("read", "zstd", "bare loop", 0.8),
    ("write", "gzip", "warcio", 5.0),
];

fn verdicts(contests: &[Contest]) -> Vec<Verdict> {
    let find = |system: &str, task: &str, format: &str| {
        contests.iter().find(|contest| contest.is(system, task, format))
    };
    let mut verdicts = Vec::new();
    for (task, format, other, least) in SPEEDS {
        let (Some(ours), Some(theirs)) = (find("utsushi", task, format), find(other, task, format)) else {
            continue;
        };
        let ratio = ours.records_per_second() / theirs.records_per_second();
        verdicts.push(Verdict { what: format!("{task} {format}, speed over {other}"), ratio, least });
    }
    if let (Some(ours), Some(theirs)) = (find("utsushi", "write", "gzip"), find("warcio", "write", "gzip")) {
        let ratio = theirs.bytes() as f64 / ours.bytes() as f64;
        verdicts.push(Verdict { what: "write gzip, size of warcio over ours".to_owned(), ratio, least: 1.0 });
    }
    verdicts
}

/// Which of our levels writes no more than warcio, and how much faster the fastest of them is. The verdicts are on the
/// usual level alone.
fn print_fastest_at_no_greater_size(contests: &[Contest]) {
    let Some(warcio) = contests.iter().find(|contest| contest.is("warcio", "write", "gzip")) else { return };
    let ours = contests.iter().filter(|contest| {
        contest.task == "write" && contest.format == "gzip" && contest.system.starts_with("utsushi")
    });
    let fastest = ours
        .filter(|contest| contest.bytes() <= warcio.bytes())
        .max_by(|a, b| a.records_per_second().total_cmp(&b.records_per_second()));
    match fastest {
        Some(fastest) => println!(
            "fastest gzip that is no longer than warcio's: {}, {:.2} times as fast",
            fastest.system,
            fastest.records_per_second() / warcio.records_per_second()
        ),
        None => println!("no level of gzip that was tried is as short as warcio's"),
    }
}

fn print(is_json: bool, contests: &[Contest], verdicts: &[Verdict]) {
    if is_json {
        contests.iter().for_each(|contest| println!("{}", contest.to_json()));
        return;
    }
    println!(
        "{:<20} {:<6} {:<6} {:>9} {:>12} {:>12} {:>13} {:>7}",
        "system", "task", "format", "records", "records/s", "CPU µs each", "bytes", "rounds"
    );
    for contest in contests {
        println!(
            "{:<20} {:<6} {:<6} {:>9} {:>12.0} {:>12.1} {:>13} {:>7}",
            contest.system,
            contest.task,
            contest.format,
            contest.records(),
            contest.records_per_second(),
            1e6 / contest.records_per_second(),
            contest.bytes(),
            contest.turns.len(),
        );
    }
    println!("\nrecords/s: for one second of processor time; the median of all rounds\n");
    for verdict in verdicts {
        let word = if verdict.is_met() { "met" } else { "MISSED" };
        println!("{:<45} {:>6.2} (at least {:.2}: {word})", verdict.what, verdict.ratio, verdict.least);
    }
}
