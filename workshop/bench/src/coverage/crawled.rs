//! The crawl of one site by our program, and what its archive then holds.

use super::sites::Site;
use crate::fetch_server::Server;
use crate::process::write_file;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// The result of a crawl.
#[derive(Debug)]
pub(super) struct Crawled {
    /// The targets (path and query) of what the archive holds with status 200.
    pub(super) targets: Vec<String>,
    /// Pages that the crawl knows and did not visit, by its summary; `None` if that is missing there.
    pub(super) held_back: Option<u64>,
    /// Answers in the server's log.
    pub(super) requests: usize,
    pub(super) seconds: f64,
}

/// Concurrent requests, as if agreed with the owner of the server.
const WIDTH: u32 = 4;

/// Crawls a site once into a new data directory.
pub(super) fn run(directory: &Path, site: &Site, port: u16, server: &Server) -> Result<Crawled> {
    let data = directory.join(site.package);
    if data.exists() {
        std::fs::remove_dir_all(&data).with_context(|| format!("cannot remove `{}`", data.display()))?;
    }
    let settings = directory.join(format!("{}.toml", site.package));
    let agreed = format!("[crawl]\nagreed = [\"{}:{port} pause=0s width={WIDTH}\"]\n", site.address());
    write_file(&settings, agreed.as_bytes())?;
    server.forget()?;
    // Requisites may be on other hosts, and only loopback is used here.
    let crawl = ["crawl", &site.url(port), "--once", "--no-requisites", "--scope", "server"];
    let mut command = utsushi(&data)?;
    command.arg("--config").arg(&settings).args(crawl).args(["--allow-address", "127.0.0.0/8"]);
    let lines = lines_of(&mut command, &[0, 1])?;
    let summary = lines.last().map_or(Value::Null, |line| line["summary"].clone());
    ensure!(summary.is_object(), "the crawl of `{}` printed no summary", site.package);
    let requests = server.answers()?.len();
    let targets = archived(&data)?;
    Ok(Crawled {
        targets,
        held_back: total(&summary["held_back"]),
        requests,
        seconds: summary["seconds"].as_f64().unwrap_or(0.0),
    })
}

/// The sum of counts by reason; nothing if there are none.
fn total(by_reason: &Value) -> Option<u64> {
    let counts = by_reason.as_object()?.iter().filter(|(reason, _)| *reason != "total");
    Some(counts.filter_map(|(_, count)| count.as_u64()).sum())
}

/// The targets of everything that the archive holds with status 200.
fn archived(data: &Path) -> Result<Vec<String>> {
    let versions = lines_of(utsushi(data)?.args(["snapshot", "--at", "now", "--status", "200"]), &[0, 1])?;
    let target = |version: &Value| {
        let (_, behind) = version["url"].as_str()?.split_once("://")?;
        Some(behind.find('/').map_or("/", |slash| &behind[slash..]).to_owned())
    };
    Ok(versions.iter().filter_map(target).collect())
}

fn utsushi(data: &Path) -> Result<Command> {
    let program =
        std::env::var_os("UTSUSHI_PROGRAM").context("run this through `cargo xtask bench coverage`")?;
    let mut command = Command::new(program);
    command.args(["--quiet", "--json", "--data"]).arg(data).stdin(Stdio::null());
    Ok(command)
}

/// The objects that a command prints. It may end with any of `codes`.
fn lines_of(command: &mut Command, codes: &[i32]) -> Result<Vec<Value>> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start {command:?}"))?;
    let ended_well = output.status.code().is_some_and(|code| codes.contains(&code));
    ensure!(ended_well, "{command:?} ended with {}", output.status);
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("{command:?} printed `{line}`")))
        .collect()
}
