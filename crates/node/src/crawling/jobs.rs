//! Takedowns and imports that a running crawl does for other processes.

use crate::control::{ControlAnswer, ControlLines, ControlRequest};
use crate::directory::{self, DirectoryWriter, WebKind};
use crate::error::Error;
use crate::import::Importer;
use crate::node::Node;
use crate::takedown::parse_target;
use archive::Target;
use base::clock::{Clock as _, RealClock};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of jobs that wait.
pub(super) const JOBS_MAX: usize = 16;

/// Work that needs the archive to itself.
#[derive(Debug)]
pub(super) struct Job {
    work: Work,
    reply: oneshot::Sender<Result<Value, String>>,
}

#[derive(Debug)]
enum Work {
    Takedown { target: Target, reason: String },
    Import { files: Vec<PathBuf>, lines: ControlLines },
}

/// Passes a request to the crawl and waits for the result. A takedown is done even if the client leaves; an import stops.
pub(super) async fn give(
    jobs: &mpsc::Sender<Job>,
    request: ControlRequest,
    lines: ControlLines,
) -> ControlAnswer {
    let work = match request {
        ControlRequest::Takedown { target, reason } => {
            let target =
                parse_target(&target).ok_or_else(|| format!("`{target}` is not a page or server"))?;
            Work::Takedown { target, reason }
        }
        ControlRequest::Import { files } => Work::Import { files, lines },
        _ => return Err("this is not a job".to_owned()),
    };
    let ending = || "the crawl is ending".to_owned();
    let (reply, answer) = oneshot::channel();
    jobs.send(Job { work, reply }).await.map_err(|_| ending())?;
    answer.await.map_err(|_| ending())?.map(|object| vec![object])
}

impl Job {
    /// Does the work. An import ends early when `stopping` becomes true.
    pub(super) async fn run(self, node: Node, writer: Arc<DirectoryWriter>, stopping: Arc<AtomicBool>) {
        let Self { work, reply } = self;
        let done = tokio::task::spawn_blocking(move || work.run(&node, &writer, &stopping));
        let done = done.await.expect("a job neither panics nor is stopped");
        // The client may have left.
        let _ = reply.send(done.map_err(|error| error.with_causes()));
    }
}

/// Nothing is imported where time is not that of this machine.
fn check_public(writer: &DirectoryWriter) -> Result<(), directory::Error> {
    let (path, held) = (writer.directory().path().to_owned(), writer.directory().format().web);
    match held {
        WebKind::Public => Ok(()),
        WebKind::Simulated | WebKind::Accelerated => {
            Err(directory::Error::OtherWeb { path, held, wanted: WebKind::Public })
        }
    }
}

impl Work {
    fn run(self, node: &Node, writer: &DirectoryWriter, stopping: &AtomicBool) -> Result<Value, Error> {
        match self {
            Self::Takedown { target, reason } => {
                let now = RealClock::start().now();
                let receipt = node.take_down(writer, (&target, &reason), now)?;
                Ok(json!({ "receipt": receipt }))
            }
            Self::Import { files, lines } => {
                check_public(writer)?;
                let should_stop = || lines.is_closed() || stopping.load(Ordering::Relaxed);
                let mut report = |event: &_| {
                    if let Ok(object) = serde_json::to_value(event) {
                        // A client that has left receives nothing, and the import stops.
                        let _ = lines.blocking_send(json!({ "import": object }));
                    }
                };
                let summary = Importer::open(&files)?.run(node, writer, &should_stop, &mut report)?;
                Ok(json!({ "summary": summary }))
            }
        }
    }
}
