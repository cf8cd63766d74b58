//! The real crawler as a child process, in front of its site.

use super::serve::Server;
use crate::process::{Process, write_file};
use anyhow::{Context, Result, bail};
use base::{Interval, Timestamp};
use frontier::RevisitPolicy;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The shortest delay that the program allows; it is nothing beside the time between two visits of the budget.
const PAUSE: &str = "1s";
/// How long the crawl may take to start, and to end when it is told to.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the program says before it tells the time of an accelerated crawl.
const IT_IS: &str = "it is now ";

/// How a crawl is run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) program: PathBuf,
    pub(super) policy: RevisitPolicy,
    pub(super) every: Interval,
    pub(super) pace: u32,
    /// When it ends by itself, in real time, should nobody be left to end it.
    pub(super) ends_after: Duration,
}

/// What a crawl said of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// How long captures took from their visit until they were known to be durable and learned, in seconds of crawl time.
    pub(super) lags: Vec<f64>,
    /// The summary at its end.
    pub(super) summary: Value,
}

/// A crawl that runs, until this is dropped.
pub(super) struct Crawl {
    process: Process,
    told: Arc<Mutex<Told>>,
    readers: Vec<JoinHandle<()>>,
    complaints: Arc<Mutex<String>>,
}

impl Crawl {
    /// Starts a crawl of a site from its home page, with a new data directory, and with it the time of the site.
    pub(super) fn start(plan: &Plan, directory: &Path, server: &Arc<Server>) -> Result<Self> {
        let mut process = Process::start(&mut command(plan, directory, server)?)?;
        let child = process.child();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = (stdout.context("its output")?, stderr.context("its notes")?);
        let (told, complaints) = (Arc::default(), Arc::default());
        let (began, begins) = channel();
        let readers = vec![
            std::thread::spawn({
                let (told, server) = (Arc::clone(&told), Arc::clone(server));
                move || hear_captures(stdout, &told, &server)
            }),
            std::thread::spawn({
                let (complaints, server, pace) = (Arc::clone(&complaints), Arc::clone(server), plan.pace);
                move || {
                    hear_notes(stderr, &complaints, |origin| {
                        server.begin(origin, pace);
                        let _ = began.send(());
                    });
                }
            }),
        ];
        let mut crawl = Self { process, told, readers, complaints };
        crawl.wait_for_start(&begins)?;
        Ok(crawl)
    }
    fn wait_for_start(&mut self, begins: &Receiver<()>) -> Result<()> {
        match begins.recv_timeout(PATIENCE) {
            Ok(()) => Ok(()),
            Err(RecvTimeoutError::Timeout) => bail!("the crawl did not begin within {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("the crawl ended at once: {}", self.complaints()),
        }
    }
    /// An error if it has ended by itself.
    pub(super) fn check(&mut self) -> Result<()> {
        match self.process.child().try_wait()? {
            Some(status) => bail!("the crawl ended before its time with {status}: {}", self.complaints()),
            None => Ok(()),
        }
    }
    /// Seconds of processor time so far.
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.process.cpu_seconds()
    }
    /// Ends the crawl, and gives what it said.
    pub(super) fn end(mut self) -> Result<Told> {
        let pid = self.process.child().id().to_string();
        Command::new("kill").arg(pid).status().context("cannot run `kill`")?;
        let status = self.wait()?;
        // Its outputs are closed now, so that the threads end too.
        for reader in std::mem::take(&mut self.readers) {
            drop(reader.join());
        }
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("the crawl ended with {status}: {}", self.complaints());
        }
        Ok(std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner)))
    }
    fn wait(&mut self) -> Result<ExitStatus> {
        let step = Duration::from_millis(20);
        for _ in 0..PATIENCE.as_millis() / step.as_millis() {
            if let Some(status) = self.process.child().try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(step);
        }
        bail!("the crawl did not end within {PATIENCE:?}")
    }
    fn complaints(&self) -> String {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).trim().to_owned()
    }
}

fn command(plan: &Plan, directory: &Path, server: &Server) -> Result<Command> {
    let data = directory.join("data");
    if data.exists() {
        std::fs::remove_dir_all(&data).with_context(|| format!("cannot remove `{}`", data.display()))?;
    }
    let settings = directory.join("utsushi.toml");
    // A few thousand pages need no more log and no larger files.
    write_file(
        &settings,
        b"[store]\npool_bytes = \"4MiB\"\nlog_bytes = \"4MiB\"\nsegment_bytes = \"4MiB\"\n",
    )?;
    let mut command = Command::new(&plan.program);
    command.env_remove("UTSUSHI_LOG").arg("--json").arg("--config").arg(&settings).arg("--data").arg(&data);
    command.args(["crawl", &format!("http://{}/", server.address), "--allow-address", "127.0.0.0/8"]);
    command.args(["--pause", PAUSE, "--no-requisites", "--scope", "server"]);
    command.args(["--policy", &plan.policy.to_string(), "--every", &plan.every.to_string()]);
    command.args(["--accelerate", &plan.pace.to_string()]);
    command.args(["--for", &format!("{}s", plan.ends_after.as_secs())]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

fn hear_captures(output: impl Read, told: &Mutex<Told>, server: &Server) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        let Ok(mut line) = serde_json::from_str::<Value>(&line) else { continue };
        let at = line["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
        let lag = at.and_then(|at| server.seconds_since(at));
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        told.lags.extend(lag);
        if line["summary"].is_object() {
            told.summary = line["summary"].take();
        }
    }
}

fn hear_notes(notes: impl Read, complaints: &Mutex<String>, mut begin: impl FnMut(Timestamp)) {
    for line in BufReader::new(notes).lines().map_while(Result::ok) {
        if let Some(origin) = line.split_once(IT_IS).and_then(|(_, now)| now.trim().parse().ok()) {
            begin(origin);
        }
        let mut complaints = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        *complaints += &line;
        complaints.push('\n');
    }
}
