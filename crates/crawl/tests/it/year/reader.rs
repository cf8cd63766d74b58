//! The second thread: makes the bodies of pages, digests and reads them, in the order in which they come.

use base::door::{Exchange, Request};
use base::{ContentDigest, PageUrl};
use crawl::{Filter, Reading, Reads};
use fetch::Decoded;
use sim::{Begun, SimulatedDoor};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// As many pages wait for being read, at most.
const WAITING_MAX: usize = 4_096;
/// The robot that pages are read for.
pub(super) const AGENT: &str = "utsushi";

/// What a page says, as far as a frontier wants to know it.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Nothing when the answer cannot be decoded, or came in part.
    pub(super) content: Option<[u8; 16]>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) reading: Reading,
}

/// The thread, and both ways to it.
pub(super) struct Reader {
    jobs: Option<SyncSender<(Begun, Request)>>,
    done: Receiver<Read>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    pub(super) fn start(door: Arc<SimulatedDoor>) -> Self {
        let (jobs, waiting) = sync_channel::<(Begun, Request)>(WAITING_MAX);
        let (tell, done) = sync_channel(WAITING_MAX);
        let reads = Reads { agent: AGENT.into(), requisites: false, filter: Arc::new(Filter::default()) };
        let thread = std::thread::spawn(move || {
            for (begun, request) in waiting {
                let exchange = door.complete(begun, &request);
                if tell.send(read(&reads, &request.url, &exchange)).is_err() {
                    break;
                }
            }
        });
        Self { jobs: Some(jobs), done, thread: Some(thread) }
    }

    pub(super) fn give(&self, begun: Begun, request: Request) {
        let jobs = self.jobs.as_ref().expect("it runs");
        jobs.send((begun, request)).expect("it runs");
    }
    /// What the first page says that was given and not taken yet.
    pub(super) fn take(&self) -> Read {
        self.done.recv().expect("it runs, and was given something")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            while self.done.recv().is_ok() {}
            thread.join().expect("the reader ended well");
        }
    }
}

/// Digests and reads an answer, as the crawler does.
fn read(reads: &Reads, url: &PageUrl, exchange: &Exchange) -> Read {
    let field = |name: &str| exchange.field(name).map(ToOwned::to_owned);
    let decoded = fetch::content(exchange);
    let content = match &decoded {
        Decoded::Whole(content) if exchange.truncated.is_none() => {
            ContentDigest::of(content).as_bytes().first_chunk().copied()
        }
        _ => None,
    };
    let reading = reads.read(url, exchange, &decoded);
    Read { content, etag: field("etag"), last_modified: field("last-modified"), reading }
}
