//! The comparison of paper 001, section 4: `bench sat`.
//!
//! Every result is stored in a file, one object per line, and a stored cell is run again only on request: the whole
//! matrix takes hours and can be stopped and continued. Figures 7 to 9 of the paper are drawn from the same file.

use crate::compare::{self, Peers};
use crate::figures;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Measure how fast due records are read and written back, against B-trees and LSM trees, as in paper 001
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench sat
  cargo xtask bench sat --records 1500000 --json
  cargo xtask bench sat --systems satl,satl-strict --commit 1000
  cargo xtask bench sat --io-bytes-per-second 200000000
  cargo xtask bench sat --matrix --records 1500000")]
pub(crate) struct Args {
    /// How many records of 200 bytes
    #[arg(long, default_value_t = 15_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    records: u32,
    /// Every data set, range of intervals and buffer size of the paper
    #[arg(long)]
    matrix: bool,
    /// Buffer sizes for `--matrix`, in MiB
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])]
    buffers: Vec<u64>,
    /// Memory for buffers in the one cell
    #[arg(long, default_value_t = 32 << 20)]
    buffer_bytes: u64,
    /// Records in a commit, each synced
    #[arg(long, default_value_t = 10_000)]
    commit: u32,
    /// Limit of the block device, each way
    #[arg(long)]
    io_bytes_per_second: Option<u64>,
    /// Only these systems, by name
    #[arg(long, value_delimiter = ',')]
    systems: Vec<String>,
    /// Minutes that a peer works through at most
    #[arg(long, default_value_t = 30)]
    units: u32,
    /// Seconds that a peer is given at most
    #[arg(long, default_value_t = 120)]
    seconds: u32,
    /// Seconds that ours is measured at least
    #[arg(long, default_value_t = 20.0)]
    own_seconds: f64,
    /// Print one object a line
    #[arg(long)]
    json: bool,
    /// Run cells again that have a result
    #[arg(long)]
    again: bool,
    /// Where results are kept; the figures are drawn from them
    #[arg(long)]
    results: Option<PathBuf>,
    /// Where the figures go
    #[arg(long, default_value = "docs/benchmarks")]
    figures: PathBuf,
    /// Where stores are made and removed
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// Minutes of work after which a store is killed.
const KILLED_AFTER_MINUTES: usize = 150;

/// Our own variants.
const OWN: [&str; 4] = ["satl", "satl-strict", "satl-naive", "sat-linear"];

/// One cell of the matrix: everything but the system.
#[derive(Clone, Debug)]
struct Cell {
    dataset: &'static str,
    periods: u32,
    buffer_bytes: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let work = compare::work_directory(args.directory.as_deref(), "bench-sat")?;
    let path = args.results.clone().unwrap_or_else(|| work.join("results.jsonl"));
    let mut comparison = Comparison { args, results: read_results(&path), path, work, peers: Peers::find() };
    let mut shown = Vec::new();
    for cell in cells(args) {
        shown.extend(comparison.run(&cell)?);
    }
    ensure!(
        !shown.is_empty(),
        "nothing was measured: `--systems` names `satl`, `satl-strict`, `satl-naive`, `sat-linear`, `bare`, `opening` or a peer"
    );
    compare::print_results(&shown, args.json, "records/s");
    if args.matrix {
        comparison.trace()?;
    }
    let drawn = figures::draw(&comparison.results, &args.figures)?;
    drawn.iter().for_each(|figure| eprintln!("drew {}", figure.display()));
    Ok(())
}

fn cells(args: &Args) -> Vec<Cell> {
    if !args.matrix {
        return vec![Cell { dataset: "peaked", periods: 576_000, buffer_bytes: args.buffer_bytes }];
    }
    let mut cells = Vec::new();
    for periods in [9_600, 576_000] {
        for dataset in ["zipf", "peaked"] {
            let sizes = args.buffers.iter().map(|mebibytes| mebibytes << 20);
            cells.extend(sizes.map(|buffer_bytes| Cell { dataset, periods, buffer_bytes }));
        }
    }
    cells
}

struct Comparison<'a> {
    args: &'a Args,
    results: Vec<Value>,
    path: PathBuf,
    work: PathBuf,
    peers: Peers,
}

impl Comparison<'_> {
    /// Runs all systems in one cell, the bare loop directly after ours.
    fn run(&mut self, cell: &Cell) -> Result<Vec<Value>> {
        let mut shown = Vec::new();
        for system in OWN {
            if !self.is_wanted(system) {
                continue;
            }
            match self.own(system, cell) {
                Ok(result) => {
                    shown.push(result.clone());
                    if system == "satl" && !self.args.matrix && self.is_wanted("bare") {
                        shown.push(self.bare(&result, false)?);
                        shown.push(self.bare(&result, true)?);
                    }
                }
                Err(error) => eprintln!("{system}: {error:#}"),
            }
        }
        if !self.args.matrix && self.is_wanted("opening") {
            shown.push(self.opening(cell)?);
        }
        let mut peers = self.peers.systems()?;
        peers.retain(|system| self.is_wanted(system));
        for system in &peers {
            match self.peer(system, cell) {
                Ok(result) => shown.push(result),
                Err(error) => eprintln!("{system}: {error:#}"),
            }
        }
        Ok(shown)
    }
    fn is_wanted(&self, system: &str) -> bool {
        self.args.systems.is_empty() || self.args.systems.iter().any(|wanted| wanted == system)
    }
    /// The key of this cell's result for a system.
    fn name(&self, system: &str, cell: &Cell) -> Value {
        json!([
            system,
            cell.dataset,
            cell.periods,
            cell.buffer_bytes,
            self.args.records,
            self.args.commit,
            self.args.io_bytes_per_second
        ])
    }
    fn known(&self, name: &Value) -> Option<Value> {
        let found = self.results.iter().rfind(|result| result["cell"] == *name);
        found.filter(|_| !self.args.again).cloned()
    }
    fn keep(&mut self, name: Value, mut result: Value) -> Result<Value> {
        result["cell"] = name;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
        writeln!(file, "{result}")?;
        self.results.push(result.clone());
        Ok(result)
    }
    /// The arguments that say which records.
    fn data(&self, cell: &Cell) -> Vec<String> {
        let Cell { dataset, periods, buffer_bytes } = cell;
        let pairs = [
            ("--dataset", (*dataset).to_owned()),
            ("--periods", periods.to_string()),
            ("--records", self.args.records.to_string()),
            ("--buffer-bytes", buffer_bytes.to_string()),
        ];
        pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect()
    }
    fn own(&mut self, system: &str, cell: &Cell) -> Result<Value> {
        let name = self.name(system, cell);
        if let Some(known) = self.known(&name) {
            return Ok(known);
        }
        let directory = self.loaded(system, cell)?;
        let mut command = compare::ourselves()?;
        command.arg("sat-cell").args(self.data(cell)).args(["--variant", system]);
        command.args(["--commit", &self.args.commit.to_string()]);
        command.args(["--seconds", &self.args.own_seconds.to_string()]);
        if let Some(rate) = self.args.io_bytes_per_second {
            command.args(["--io-bytes-per-second", &rate.to_string(), "--warm-minutes", "60"]);
        }
        eprintln!(
            "measuring {system}: {}, T = {}, {} MiB",
            cell.dataset,
            cell.periods,
            cell.buffer_bytes >> 20
        );
        let result = compare::result_of(command.arg("--directory").arg(&directory))?;
        self.keep(name, result)
    }
    /// A copy of the loaded store, made once for all variants that can begin from it.
    fn loaded(&self, system: &str, cell: &Cell) -> Result<PathBuf> {
        let kind = if system == "sat-linear" { "linear" } else { "variable" };
        let kept = self.work.join(format!("{kind}-{}-{}-{}", cell.dataset, cell.periods, self.args.records));
        if !kept.exists() {
            remove_other(&self.work, kind)?;
            let making = self.work.join("making");
            remove(&making)?;
            eprintln!("loading {} records", self.args.records);
            let mut command = compare::ourselves()?;
            command.arg("sat-load").args(self.data(cell)).args(["--variant", system]);
            compare::lines_of(command.arg("--directory").arg(&making))?;
            std::fs::rename(&making, &kept)?;
        }
        let copy = self.work.join("running");
        remove(&copy)?;
        std::fs::create_dir(&copy)?;
        for entry in std::fs::read_dir(&kept)? {
            let entry = entry?;
            std::fs::copy(entry.path(), copy.join(entry.file_name()))
                .context("cannot copy the loaded store")?;
        }
        Ok(copy)
    }
    fn bare(&mut self, imitated: &Value, at_once: bool) -> Result<Value> {
        let mut name = imitated["cell"].clone();
        name[0] = json!(if at_once { "bare, at once" } else { "bare, in turn" });
        if let Some(known) = self.known(&name) {
            return Ok(known);
        }
        let mut command = compare::ourselves()?;
        command.args(["sat-bare", "--imitate", &imitated.to_string()]);
        if at_once {
            command.arg("--at-once");
        }
        let result = compare::result_of(command.arg("--directory").arg(self.work.join("running")))?;
        self.keep(name, result)
    }
    /// Measures how long opening takes after the process was killed.
    fn opening(&mut self, cell: &Cell) -> Result<Value> {
        let name = self.name("opening", cell);
        if let Some(known) = self.known(&name) {
            return Ok(known);
        }
        let directory = self.loaded("satl-strict", cell)?;
        let mut command = compare::ourselves()?;
        command.arg("sat-cell").args(self.data(cell)).args([
            "--variant",
            "satl-strict",
            "--minutes",
            "100000",
            "--trace",
        ]);
        let mut child = command.arg("--directory").arg(&directory).stdout(Stdio::piped()).spawn()?;
        // It prints a line for every minute after the warm ones: it is killed in the middle of its work.
        let lines = BufReader::new(child.stdout.take().context("its output is a pipe")?).lines();
        let worked = lines.take(KILLED_AFTER_MINUTES).count();
        child.kill()?;
        child.wait()?;
        ensure!(worked == KILLED_AFTER_MINUTES, "it ended before it was killed");
        let mut command = compare::ourselves()?;
        command.arg("sat-open").args(self.data(cell)).args(["--variant", "satl-strict"]);
        let result = compare::result_of(command.arg("--directory").arg(&directory))?;
        self.keep(name, result)
    }
    fn peer(&mut self, system: &str, cell: &Cell) -> Result<Value> {
        let name = self.name(system, cell);
        if let Some(known) = self.known(&name) {
            return Ok(known);
        }
        let directory = self.work.join("peer");
        remove(&directory)?;
        eprintln!(
            "measuring {system}: {}, T = {}, {} MiB",
            cell.dataset,
            cell.periods,
            cell.buffer_bytes >> 20
        );
        let mut command = self.peers.command("run", system);
        command.args(self.data(cell)).args(["--commit", &self.args.commit.to_string()]);
        command.args(["--units", &self.args.units.to_string(), "--seconds", &self.args.seconds.to_string()]);
        if compare::is_buffered(system) {
            command.arg("--memory-cgroup");
        }
        if let Some(rate) = self.args.io_bytes_per_second {
            command.args(["--blkio-bytes-per-second", &rate.to_string()]);
        }
        let result = compare::result_of(command.arg("--directory").arg(&directory));
        remove(&directory)?;
        self.keep(name, result?)
    }
    /// How long each minute takes from the beginning on, for figure 9.
    fn trace(&mut self) -> Result<()> {
        let cell = Cell { dataset: "peaked", periods: 576_000, buffer_bytes: 32 << 20 };
        for system in ["satl", "satl-strict"] {
            let name = json!(["trace", system, self.args.records]);
            if self.known(&name).is_some() {
                continue;
            }
            let directory = self.loaded(system, &cell)?;
            let mut command = compare::ourselves()?;
            command.arg("sat-cell").args(self.data(&cell)).args(["--variant", system]);
            command.args(["--warm-minutes", "0", "--minutes", "120", "--trace"]);
            let lines = compare::lines_of(command.arg("--directory").arg(&directory))?;
            let minutes: Vec<Value> = lines
                .iter()
                .filter(|line| line.get("minute").is_some())
                .map(|line| line["seconds"].clone())
                .collect();
            self.keep(
                name,
                json!({ "trace": system, "records": self.args.records, "seconds_each": minutes }),
            )?;
        }
        Ok(())
    }
}

fn read_results(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Removes stores loaded for other cells: one of a kind is kept at a time.
fn remove_other(work: &Path, kind: &str) -> Result<()> {
    for entry in std::fs::read_dir(work)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(kind) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(directory: &Path) -> Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{}`", directory.display()))
        }
        _ => Ok(()),
    }
}
