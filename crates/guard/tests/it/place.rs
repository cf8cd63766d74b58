//! Where tests take place: a guard with a log of its own, a server to ask, a network to do it in.

use base::clock::RealClock;
use guard::{AddressRules, Guard, Settings, TrafficLimits};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A pause that a test can wait for.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// Limits with a short delay.
pub(crate) fn limits() -> TrafficLimits {
    TrafficLimits { pause: PAUSE, doubt_time_max: Duration::from_secs(1), ..TrafficLimits::default() }
}

/// The settings of a guard on loopback with its log in `directory`.
pub(crate) fn settings(directory: &Path, limits: TrafficLimits) -> Settings {
    Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        public_listen: false,
        directory: directory.join("guard"),
        addresses: AddressRules { opened: vec!["127.0.0.0/8".parse().unwrap()] },
        limits,
    }
}

/// A guard and its log.
pub(crate) struct Place {
    pub(crate) guard: Guard,
    pub(crate) directory: TempDir,
}

impl Place {
    /// A guard on loopback.
    pub(crate) async fn start(limits: TrafficLimits) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let guard = Guard::start(settings(directory.path(), limits), RealClock::start()).await.unwrap();
        Self { guard, directory }
    }
    /// Where the log is.
    pub(crate) fn log_directory(&self) -> PathBuf {
        self.directory.path().join("guard")
    }
    /// The lines of the log that are of this kind.
    pub(crate) fn lines(&self, event: &str) -> Vec<Value> {
        lines(&self.log_directory(), event)
    }
    /// Waits until the log has `count` lines of a kind.
    pub(crate) async fn wait_for(&self, event: &str, count: usize) -> Vec<Value> {
        loop {
            let lines = self.lines(event);
            if lines.len() >= count {
                return lines;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The lines of a kind in all files of a log.
pub(crate) fn lines(directory: &Path, event: &str) -> Vec<Value> {
    let Ok(files) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let text: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let values = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    values.filter(|value| value["event"] == event).collect()
}

/// A plain server that notes what it is sent and answers every request alike.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) heard: Arc<Mutex<String>>,
}

impl Server {
    /// Answers each head with `answer`.
    pub(crate) async fn start(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, heard) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(String::new())));
        let noted = heard.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let noted = noted.clone();
                tokio::spawn(async move {
                    let (mut buffer, mut input) = (vec![0; 65_536], String::new());
                    while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
                        let text = String::from_utf8_lossy(&buffer[..bytes]).into_owned();
                        noted.lock().unwrap().push_str(&text);
                        input.push_str(&text);
                        while let Some(end) = input.find("\r\n\r\n") {
                            let head: String = input.drain(..end + 4).collect();
                            let _ = stream.write_all(answer.as_bytes()).await;
                            if head.contains("Connection: close") {
                                return;
                            }
                        }
                    }
                });
            }
        });
        Self { address, heard }
    }
    /// How many requests it was sent.
    pub(crate) fn requests(&self) -> usize {
        self.heard.lock().unwrap().matches(" HTTP/1.1\r\n").count()
    }
}

/// Reports that something is not tested. Not by `eprintln!`, whose output is shown only for failed tests.
pub(crate) fn not_tested(what: &str) {
    let notice = format!("NOT TESTED: {what}\n");
    std::io::Write::write_all(&mut std::io::stderr(), notice.as_bytes()).unwrap();
}

/// The variable by which a test knows that it is inside.
const INSIDE: &str = "UTSUSHI_GUARD_INSIDE";

/// Whether this is the inside of a network of its own. If not, the test is run there, and what it said is returned;
/// nothing when this machine does not allow that.
pub(crate) fn inside(test: &str, prepare: &str) -> Inside {
    if std::env::var_os(INSIDE).is_some() {
        return Inside::Here;
    }
    let script = format!("ip link set lo up || exit 77\n{prepare}\nexec \"$0\" \"$@\"");
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "--mount", "sh", "-c", &script]).arg(std::env::current_exe().unwrap());
    unshare.args([test, "--exact", "--nocapture"]).env(INSIDE, "1");
    let Ok(output) = unshare.output() else { return Inside::NotAllowed };
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(77) || complaint.starts_with("unshare: ") {
        return Inside::NotAllowed;
    }
    assert!(output.status.success(), "{said}\n{complaint}");
    Inside::Passed(said.into_owned())
}

/// Where a test is.
pub(crate) enum Inside {
    /// In a network of its own.
    Here,
    /// Outside; inside it has passed, and said this.
    Passed(String),
    /// Outside, where no such namespace can be made.
    NotAllowed,
}
