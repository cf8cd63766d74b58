//! What every test of scans needs: documents, programs, and a look at the processes that there are.

use crate::program::{Ended, on, run, utsushi};
use base::Timestamp;
use base::clock::RealClock;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use warc::{Draft, Kind, Level, RecordId, WarcWriter};

/// Every process below a scan has this in its environment.
const MARK: &str = "UTSUSHI_SCAN_MARK";
/// When most documents were captured.
pub(super) const DAY: &str = "2026-03-01T00:00:00Z";

/// Documents on their way into an archive.
pub(super) struct Corpus {
    bytes: Vec<u8>,
    writer: WarcWriter,
}

impl Corpus {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), writer: WarcWriter::new(Level::DEFAULT) }
    }

    /// Adds a page.
    pub(super) fn page(&mut self, url: &str, at: &str, body: impl AsRef<[u8]>) -> &mut Self {
        let length = format!("Content-Length: {}", body.as_ref().len());
        self.answer(url, at, &["HTTP/1.1 200 OK", "Content-Type: text/plain", &length], body)
    }

    /// Adds an answer with the lines of its head.
    pub(super) fn answer(&mut self, url: &str, at: &str, head: &[&str], body: impl AsRef<[u8]>) -> &mut Self {
        let at: Timestamp = at.parse().unwrap();
        let head = format!("{}\r\n\r\n", head.join("\r\n"));
        let id = RecordId::at("made.warc.gz", self.bytes.len() as u64, at, &Kind::Response);
        let draft = Draft::new(&Kind::Response, &id, at).target(url);
        self.writer.append(draft, warc::HTTP_RESPONSE, &[head.as_bytes(), body.as_ref()], &mut self.bytes);
        self
    }

    /// An archive of them.
    pub(super) fn import(&self) -> Rig {
        let place = tempfile::tempdir().unwrap();
        // A program run by root gets another user, who must find its script.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (data, file) = (place.path().join("data"), place.path().join("made.warc.gz"));
        fs::write(&file, &self.bytes).unwrap();
        on(&data, &["--quiet", "import", file.to_str().unwrap()]).done();
        Rig { mark: place.path().to_string_lossy().into_owned(), data, place }
    }
}

/// The URL of one of many pages.
pub(super) fn url(number: u64) -> String {
    format!("http://pages.test/{number}")
}

/// Many pages whose bodies are the same words and their number.
pub(super) fn pages(count: u64) -> Corpus {
    let mut corpus = Corpus::new();
    for number in 0..count {
        corpus.page(&url(number), DAY, format!("page {number}"));
    }
    corpus
}

/// An archive, and a place for what is made of it.
pub(super) struct Rig {
    place: TempDir,
    pub(super) data: PathBuf,
    /// What processes are known by.
    pub(super) mark: String,
}

impl Rig {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }
    /// The same as text.
    pub(super) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
    /// A directory in which everyone may write.
    pub(super) fn directory(&self, name: &str) -> String {
        fs::create_dir_all(self.path(name)).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o777)).unwrap();
        self.text(name)
    }
    /// Writes a script; gives its path.
    pub(super) fn script(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.text(name)
    }

    /// A scan of everything there is, with two workers.
    pub(super) fn scan(&self, arguments: &[&str]) -> Command {
        self.scan_of(&[&["--at", "now", "--jobs", "2"], arguments].concat())
    }
    /// A scan of what is asked for.
    pub(super) fn scan_of(&self, arguments: &[&str]) -> Command {
        let mut command = utsushi();
        command.arg("--data").arg(&self.data).arg("scan").args(arguments);
        command.env(MARK, &self.mark).env("LC_ALL", "C");
        command
    }
    /// Runs a scan of everything to its end.
    pub(super) fn ended(&self, arguments: &[&str]) -> Ended {
        run(&mut self.scan(arguments))
    }
    /// The results of a scan of everything, which has nothing to complain of.
    #[track_caller]
    pub(super) fn results(&self, arguments: &[&str]) -> BTreeMap<String, Value> {
        results(&self.ended(arguments).done())
    }

    /// What is kept of scans in the data directory.
    pub(super) fn kept(&self) -> Vec<PathBuf> {
        let found = fs::read_dir(self.data.join("scans")).unwrap();
        found.map(|entry| entry.unwrap().path()).collect()
    }
    /// What is known of the documents that were set aside by the only scan there was.
    pub(super) fn set_aside(&self) -> Vec<(PathBuf, Value)> {
        let [scan] = &self.kept()[..] else { panic!("{:?}", self.kept()) };
        let found = fs::read_dir(scan.join("aside")).unwrap().map(|entry| entry.unwrap().path());
        let about = found.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
        about.map(|path| (path.clone(), json(&fs::read_to_string(path).unwrap()))).collect()
    }
}

pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The results by URL; there is one for each.
#[track_caller]
pub(super) fn results(said: &str) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for line in said.lines().map(json) {
        let url = line["url"].as_str().unwrap().to_owned();
        let before = found.insert(url, line["result"].clone());
        assert_eq!(before, None, "two results: {line}");
    }
    found
}

/// Starts a scan and leaves it to itself.
pub(super) fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// How long something that is not there yet may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for something that another process does.
#[track_caller]
pub(super) fn wait_until(what: &str, is_so: impl FnMut() -> bool) -> Duration {
    wait_within(PATIENCE, what, is_so)
}

/// Waits for something that another process does, and must do soon; says how long it took.
#[track_caller]
pub(super) fn wait_within(most: Duration, what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let clock = RealClock::start();
    while !is_so() {
        assert!(clock.real_elapsed() < most, "after {most:?} it is not so: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    clock.real_elapsed()
}

/// The processes that have `mark` in their environment, with their commands.
pub(super) fn marked(mark: &str) -> Vec<(Pid, String)> {
    let wanted = format!("{MARK}={mark}");
    let found = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|field| field == wanted.as_bytes()).then_some(())?;
        Some((pid, command_of(pid)))
    });
    found.collect()
}

/// Nothing that a scan started is there any more, or will not be at once.
#[track_caller]
pub(super) fn none_left(mark: &str) -> Duration {
    // The system may take a moment to bury what was ended.
    let clock = RealClock::start();
    loop {
        let (left, waited) = (marked(mark), clock.real_elapsed());
        if left.is_empty() {
            return waited;
        }
        assert!(waited < Duration::from_secs(5), "they are left: {left:?}");
    }
}

pub(super) fn command_of(pid: Pid) -> String {
    let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

pub(super) fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap()
}

/// The children of a process, of all its threads.
pub(super) fn children(pid: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let numbers: Vec<i32> =
        lists.flat_map(|list| list.split(' ').filter_map(|n| n.parse().ok()).collect::<Vec<_>>()).collect();
    numbers.into_iter().filter_map(Pid::from_raw).collect()
}

/// As `kill -9` does; what has ended meanwhile is as good.
pub(super) fn end(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
}

/// The most memory that a process had so far, in bytes.
pub(super) fn most_memory(pid: Pid) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1_024)
}

/// How many rounds a torture plays, or how many in short.
pub(super) fn rounds(in_short: u64) -> u64 {
    number("UTSUSHI_TORTURE_COUNT", in_short)
}

/// Where random numbers start.
pub(super) fn seed() -> u64 {
    number("UTSUSHI_TORTURE_SEED", 1)
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The lines of a file.
pub(super) fn lines_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}
