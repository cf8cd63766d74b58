//! `cargo xtask torture fuzz`: runs the targets of `workshop/fuzz` under libFuzzer, guided by coverage.
//!
//! What is tried lies in `fuzz` below the target directory: `corpus/TARGET` grows from run to run, `found/` holds inputs that
//! failed, `logs/` what libFuzzer printed. `--minimise` puts the inputs that reach different code into `workshop/fuzz/corpus`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::tools::{self, CXX_COMPILER};
use crate::workspace::Workspace;
use crate::{Verdict, clock, process};

/// How long each target runs unless something else is asked for.
const MINUTES: f64 = 5.0;
/// The toolchain that has what libFuzzer needs.
const TOOLCHAIN: &str = "nightly";
/// An input that takes longer, or more memory, is a finding.
const SECONDS_MAX: u32 = 20;
const MEMORY_MEBIBYTES_MAX: u32 = 2_048;
/// The longest file of a minimised corpus: longer inputs rarely reach more.
const KEPT_BYTES_MAX: u64 = 4 * 1024;

/// What to fuzz and for how long.
#[derive(clap::Args)]
pub(super) struct Choice {
    /// How many minutes each fuzz target runs [default: 5].
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Run this fuzz target alone; may be repeated.
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
    /// Put the inputs that reach different code into the repository afterwards.
    #[arg(long)]
    minimise: bool,
}

impl Choice {
    /// Whether something was asked for that only fuzzing knows.
    pub(super) fn is_given(&self) -> bool {
        self.minutes.is_some() || !self.target.is_empty() || self.minimise
    }
}

/// Builds the fuzzer and runs every target that was asked for.
pub(super) fn run(choice: &Choice) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    tools::ensure(&[&CXX_COMPILER])?;
    ensure_toolchain()?;
    let fuzzer = Fuzzer::build(&workspace)?;
    let targets = choose(fuzzer.targets()?, &choice.target)?;
    let seconds = (choice.minutes.unwrap_or(MINUTES) * 60.0).max(1.0).round();
    let mut runs = Vec::new();
    for target in &targets {
        runs.push(fuzzer.fuzz(target, seconds)?);
        if choice.minimise {
            fuzzer.minimise(target)?;
        }
    }
    print_runs(&runs);
    let passed = runs.iter().all(|run| run.found.is_empty());
    println!("torture `fuzz`: {}", if passed { "survived" } else { "FAILED" });
    Ok(Verdict::passed(passed))
}

/// Makes sure that rustup has a nightly compiler.
fn ensure_toolchain() -> Result<()> {
    let is_there = || process::answers(Command::new("rustup").args(["run", TOOLCHAIN, "rustc", "--version"]));
    if is_there() {
        return Ok(());
    }
    let install = ["toolchain", "install", TOOLCHAIN, "--profile", "minimal"];
    let installed =
        process::find("rustup").is_some() && process::succeeds(Command::new("rustup").args(install))?;
    ensure!(
        installed && is_there(),
        "fuzzing needs a nightly compiler: install rustup, then `rustup {}`",
        install.join(" ")
    );
    Ok(())
}

/// The program `cargo-fuzz`, installed beside the builds if the machine has none.
fn cargo_fuzz(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(program) = process::find("cargo-fuzz") {
        return Ok(program);
    }
    let root = workspace.target.join("tools/cargo-fuzz");
    let program = root.join("bin/cargo-fuzz");
    if !program.is_file() {
        let mut install = process::cargo();
        install.args(["install", "cargo-fuzz", "--locked", "--root"]).arg(&root);
        process::must_succeed(&mut install)
            .context("fuzzing needs `cargo-fuzz`: `cargo install cargo-fuzz`")?;
    }
    Ok(program)
}

/// A target as the fuzzer lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    name: String,
    /// The longest input that is tried.
    bytes_max: String,
}

/// The targets that were asked for; all of them if none was.
fn choose(all: Vec<Target>, asked: &[String]) -> Result<Vec<Target>> {
    if asked.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| match all.iter().find(|target| target.name == *name) {
        Some(target) => Ok(target.clone()),
        None => {
            let known: Vec<&str> = all.iter().map(|target| target.name.as_str()).collect();
            bail!("there is no fuzz target `{name}`; there are {}", known.join(", "))
        }
    };
    asked.iter().map(find).collect()
}

/// The fuzzer that was built, and where it works.
struct Fuzzer {
    program: PathBuf,
    /// `fuzz` below the target directory.
    place: PathBuf,
    /// `workshop/fuzz`.
    repository: PathBuf,
}

impl Fuzzer {
    fn build(workspace: &Workspace) -> Result<Self> {
        let (place, repository) = (workspace.target.join("fuzz"), workspace.root.join("workshop/fuzz"));
        let mut build = Command::new(cargo_fuzz(workspace)?);
        build.args(["build", "--fuzz-dir"]).arg(repository.join("fuzzer"));
        build.arg("--target-dir").arg(&place).arg("fuzzer").current_dir(&workspace.root);
        for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
            build.env_remove(name);
        }
        process::must_succeed(build.env("RUSTUP_TOOLCHAIN", TOOLCHAIN))?;
        let program = built_in(&place).context("`cargo fuzz build` left no program")?;
        Ok(Self { program, place, repository })
    }

    fn targets(&self) -> Result<Vec<Target>> {
        Ok(read_targets(&process::output(&mut self.program())?))
    }

    /// Runs one target for so many seconds, or until it fails.
    fn fuzz(&self, target: &Target, seconds: f64) -> Result<Run> {
        let corpus = self.directory("corpus")?.join(&target.name);
        fs::create_dir_all(&corpus).with_context(|| format!("cannot make `{}`", corpus.display()))?;
        let log = self.directory("logs")?.join(format!("{}.log", target.name));
        let found = self.directory("found")?.join(format!("{}-", target.name));
        let mut fuzz = self.command(target);
        fuzz.env("UTSUSHI_FUZZ_SEEDS", &corpus).arg(&corpus).args(self.kept(target));
        fuzz.arg(format!("-max_total_time={seconds}")).arg(format!("-artifact_prefix={}", found.display()));
        fuzz.arg("-print_final_stats=1");
        eprintln!("fuzzing `{}` for {seconds} s", target.name);
        let (status, took) = clock::timed(|| self.logged(&mut fuzz, &log));
        let status = status?;
        let text = fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.with_context(|| format!("cannot read `{}`", log.display()))?;
        let found =
            if status { None } else { Some(finding(&text).unwrap_or_else(|| log.display().to_string())) };
        let inputs = fs::read_dir(&corpus).map_or(0, Iterator::count);
        let (name, seconds) = (target.name.clone(), took.as_secs());
        Ok(Run { name, seconds, executions: executions(&text), inputs, found: found.unwrap_or_default() })
    }

    /// Replaces the corpus in the repository by the fewest inputs that reach as much.
    fn minimise(&self, target: &Target) -> Result<()> {
        let (kept, fewest) = (self.repository.join("corpus").join(&target.name), self.place.join("fewest"));
        let _ = fs::remove_dir_all(&fewest);
        fs::create_dir_all(&fewest).with_context(|| format!("cannot make `{}`", fewest.display()))?;
        let mut merge = self.command(target);
        // Inputs that reach the same code more often are left to the directory of the builds.
        merge
            .args(["-set_cover_merge=1", "-use_counters=0"])
            .arg(&fewest)
            .arg(self.place.join("corpus").join(&target.name))
            .arg(&kept);
        fs::create_dir_all(&kept).with_context(|| format!("cannot make `{}`", kept.display()))?;
        let log = self.directory("logs")?.join(format!("{}-merge.log", target.name));
        ensure!(self.logged(&mut merge, &log)?, "cannot minimise `{}`: see `{}`", target.name, log.display());
        move_short(&fewest, &kept).with_context(|| format!("cannot replace `{}`", kept.display()))
    }

    /// The program, told to tolerate what some libraries in C do: include one table in several files.
    fn program(&self) -> Command {
        let mut program = Command::new(&self.program);
        program.env("ASAN_OPTIONS", "detect_odr_violation=0");
        program
    }

    fn command(&self, target: &Target) -> Command {
        let mut command = self.program();
        command.env("UTSUSHI_FUZZ_TARGET", &target.name).arg(format!("-max_len={}", target.bytes_max));
        command.args([format!("-timeout={SECONDS_MAX}"), format!("-rss_limit_mb={MEMORY_MEBIBYTES_MAX}")]);
        command
    }

    /// What the repository keeps of a target.
    fn kept(&self, target: &Target) -> Vec<PathBuf> {
        let kept = ["corpus", "regressions"].map(|kind| self.repository.join(kind).join(&target.name));
        kept.into_iter().filter(|path| path.is_dir()).collect()
    }

    fn directory(&self, name: &str) -> Result<PathBuf> {
        let path = self.place.join(name);
        fs::create_dir_all(&path).with_context(|| format!("cannot make `{}`", path.display()))?;
        Ok(path)
    }

    /// Runs a command whose words go to a file; whether it succeeded.
    fn logged(&self, command: &mut Command, log: &Path) -> Result<bool> {
        let file = fs::File::create(log).with_context(|| format!("cannot write `{}`", log.display()))?;
        let status = command.stdout(Stdio::null()).stderr(file).status();
        Ok(status.with_context(|| format!("cannot start `{}`", self.program.display()))?.success())
    }
}

/// The program below the directory of a build: cargo-fuzz builds for a target by name.
fn built_in(place: &Path) -> Option<PathBuf> {
    let directories = fs::read_dir(place).ok()?.filter_map(Result::ok);
    directories.map(|entry| entry.path().join("release/fuzzer")).find(|path| path.is_file())
}

fn read_targets(listing: &str) -> Vec<Target> {
    let words = listing.lines().filter_map(|line| line.split_once(' '));
    words.map(|(name, bytes_max)| Target { name: name.to_owned(), bytes_max: bytes_max.to_owned() }).collect()
}

/// Replaces the files of `to` by those of `from` that are short enough to be kept.
fn move_short(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::remove_dir_all(to)?;
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.metadata()?.len() <= KEPT_BYTES_MAX {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// How one target fared.
struct Run {
    name: String,
    seconds: u64,
    executions: u64,
    inputs: usize,
    /// Where the input that failed is; empty if none did.
    found: String,
}

/// How often the target was called, by the last lines of libFuzzer.
fn executions(log: &str) -> u64 {
    let stated = log.lines().rev().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    stated.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Where libFuzzer says that it wrote the input that failed.
fn finding(log: &str) -> Option<String> {
    log.lines()
        .find_map(|line| line.split_once("Test unit written to "))
        .map(|(_, path)| path.trim().to_owned())
}

fn print_runs(runs: &[Run]) {
    println!("{:<20} {:>8} {:>12} {:>8}  found", "target", "seconds", "executions", "inputs");
    for Run { name, seconds, executions, inputs, found } in runs {
        println!("{name:<20} {seconds:>8} {executions:>12} {inputs:>8}  {found}");
    }
}

#[cfg(test)]
mod tests {
    use super::{Target, choose, executions, finding, read_targets};

    #[test]
    fn what_libfuzzer_prints_is_read() {
        let log = "#7 DONE\nstat::number_of_executed_units: 1234\nstat::average_exec_per_sec:     9\n";
        assert_eq!((executions(log), finding(log)), (1_234, None));
        let log = "artifact_prefix='x-'; Test unit written to x-crash-1 \nBase64: YQ==\n";
        assert_eq!((executions(log), finding(log).as_deref()), (0, Some("x-crash-1")));
    }

    #[test]
    fn an_unknown_target_is_answered_with_the_known_ones() {
        let all = read_targets("arc 9\nwarc 8\n");
        assert_eq!(all[1], Target { name: "warc".to_owned(), bytes_max: "8".to_owned() });
        assert_eq!(choose(all.clone(), &[]).unwrap(), all);
        let error = choose(all, &["feather".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "there is no fuzz target `feather`; there are arc, warc");
    }
}
