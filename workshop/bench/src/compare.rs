//! Runs systems one after another, each in its own process, and compares their results.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable with the path of the peers.
const PEERS: &str = "UTSUSHI_PEERS";

/// The program with the peer stores, if it could be built.
#[derive(Debug)]
pub(crate) struct Peers(Option<PathBuf>);

impl Peers {
    pub(crate) fn find() -> Self {
        let program = std::env::var_os(PEERS).map(PathBuf::from);
        if program.is_none() {
            eprintln!("WITHOUT PEERS: `{PEERS}` is not set; `cargo xtask bench` builds them and sets it");
        }
        Self(program)
    }
    /// The names of the systems that it holds.
    pub(crate) fn systems(&self) -> Result<Vec<String>> {
        let Some(program) = &self.0 else { return Ok(Vec::new()) };
        let output = Command::new(program).arg("systems").output().context("cannot start the peers")?;
        Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().map(ToOwned::to_owned).collect())
    }
    /// A command for one of its systems.
    pub(crate) fn command(&self, what: &str, system: &str) -> Command {
        let mut command = Command::new(self.0.as_deref().unwrap_or(Path::new("peers")));
        command.args([what, "--system", system]);
        command
    }
}

/// Whether a system reads and writes through the page cache, which then counts as its memory.
pub(crate) fn is_buffered(system: &str) -> bool {
    !system.starts_with("rocksdb")
}

/// This very program.
pub(crate) fn ourselves() -> Result<Command> {
    Ok(Command::new(std::env::current_exe().context("cannot find this program")?))
}

/// The last object that a command prints.
pub(crate) fn result_of(command: &mut Command) -> Result<Value> {
    let lines = lines_of(command)?;
    lines.into_iter().next_back().context("it printed no result")
}

/// The objects that a command prints.
pub(crate) fn lines_of(command: &mut Command) -> Result<Vec<Value>> {
    let output = command.stderr(Stdio::inherit()).output().context("cannot start it")?;
    if !output.status.success() {
        bail!("it ended with {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The directory for a comparison: below the target directory, on the disk of the project.
pub(crate) fn work_directory(given: Option<&Path>, name: &str) -> Result<PathBuf> {
    let directory = match given {
        Some(given) => given.to_owned(),
        None => {
            let program = std::env::current_exe().context("cannot find this program")?;
            let target = program.ancestors().nth(2).context("the program lies in a target directory")?;
            target.join("tmp").join(name)
        }
    };
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot make `{}`", directory.display()))?;
    // Commands may be started in another directory.
    std::path::absolute(&directory).with_context(|| format!("cannot find `{}`", directory.display()))
}

/// Prints results as objects or as a table.
pub(crate) fn print_results(results: &[Value], json: bool, unit: &str) {
    if json {
        results.iter().for_each(|result| println!("{result}"));
        return;
    }
    println!(
        "{:<18} {:>12} {:>10} {:>9} {:>9} {:>9} {:>8} {:>9}",
        "system", unit, "CPU µs", "read B", "write B", "resident", "seconds", "ratio"
    );
    let best = results.first().map_or(0.0, |result| number(result, "records_per_second"));
    for result in results {
        let processed = number(result, "processed").max(1.0);
        println!(
            "{:<18} {:>12.0} {:>10.3} {:>9.0} {:>9.0} {:>6.0} MB {:>8.1} {:>8.1}x",
            result["system"].as_str().unwrap_or("?"),
            number(result, "records_per_second"),
            number(result, "cpu_seconds") * 1e6 / processed,
            number(result, "bytes_read") / processed,
            number(result, "bytes_written") / processed,
            number(result, "resident_bytes_max") / 1e6,
            number(result, "seconds"),
            best / number(result, "records_per_second").max(1e-9),
        );
    }
    println!("\nratio: how many times as fast the first line is; bytes and CPU are for one record");
}

/// A number in a result; 0 if it is not there.
pub(crate) fn number(result: &Value, name: &str) -> f64 {
    result[name].as_f64().unwrap_or(0.0)
}
