//! The second thread: makes the bodies of pages, digests and reads them, in the order in which they come.
//!
//! Pages go to it and come back many at a time: a hand-over costs as much as a page.
//!
//! **Invariant:** how pages are grouped depends on how fast the threads are; their order does not.

use base::door::{Exchange, Request};
use base::{ContentDigest, PageUrl};
use crawl::{Filter, Findings, ReadOptions};
use fetch::Decoded;
use sim::{SimulatedDoor, StartedExchange};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Number of pages that are handed over at once.
const TOGETHER: usize = 32;
/// The robot that pages are read for.
pub(super) const AGENT: &str = "utsushi";

/// What a frontier needs from a page.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Nothing when the answer cannot be decoded, or came in part.
    pub(super) content: Option<[u8; 16]>,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) findings: Findings,
}

/// What is handed over: pages to read, and results to free. Memory is freed cheaply only by the thread that allocated
/// it.
#[derive(Default)]
struct Jobs {
    pages: Vec<(StartedExchange, Request)>,
    spent: Vec<Read>,
}

/// The thread, and both ways to it. The sender bounds how many pages are on their way.
pub(super) struct Reader {
    jobs: Option<Sender<Jobs>>,
    done: Receiver<Vec<Read>>,
    thread: Option<JoinHandle<()>>,
    /// Pages not sent yet, and results not taken yet.
    given: Jobs,
    ready: VecDeque<Read>,
}

impl Reader {
    pub(super) fn start(door: Arc<SimulatedDoor>) -> Self {
        let (jobs, waiting) = channel::<Jobs>();
        let (tell, done) = channel();
        let reads =
            ReadOptions { agent: AGENT.into(), requisites: false, filter: Arc::new(Filter::default()) };
        let thread = std::thread::spawn(move || {
            for Jobs { pages, spent } in waiting {
                drop(spent);
                let read_one = |(begun, request): (StartedExchange, Request)| {
                    let exchange = door.complete(begun, &request);
                    read(&reads, &request.url, &exchange)
                };
                if tell.send(pages.into_iter().map(read_one).collect()).is_err() {
                    break;
                }
            }
        });
        Self { jobs: Some(jobs), done, thread: Some(thread), given: Jobs::default(), ready: VecDeque::new() }
    }

    pub(super) fn give(&mut self, begun: StartedExchange, request: Request) {
        self.given.pages.push((begun, request));
        if self.given.pages.len() >= TOGETHER {
            self.hand_over();
        }
    }
    /// The result of the first page that was given and not taken yet.
    pub(super) fn take(&mut self) -> Read {
        if self.ready.is_empty() {
            self.ready.extend(self.done.try_recv().into_iter().flatten());
        }
        if self.ready.is_empty() {
            self.hand_over();
            self.ready.extend(self.done.recv().expect("it runs, and was given something"));
        }
        self.ready.pop_front().expect("nothing is handed over empty")
    }
    /// Takes back a result of `take`, to free it.
    pub(super) fn spend(&mut self, read: Read) {
        self.given.spent.push(read);
    }
    fn hand_over(&mut self) {
        if !self.given.pages.is_empty() {
            let jobs = self.jobs.as_ref().expect("it runs");
            jobs.send(std::mem::take(&mut self.given)).expect("it runs");
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the reader ended well");
        }
    }
}

/// Digests and reads an answer, as the crawler does.
fn read(reads: &ReadOptions, url: &PageUrl, exchange: &Exchange) -> Read {
    let field = |name: &str| exchange.field(name).map(ToOwned::to_owned);
    let decoded = fetch::content(exchange);
    let content = match &decoded {
        Decoded::Whole(content) if exchange.truncated.is_none() => {
            ContentDigest::of(content).as_bytes().first_chunk().copied()
        }
        _ => None,
    };
    let body = reads.parse(url, exchange, &decoded);
    let findings = reads.findings(url, &exchange.response_head, body.as_ref());
    Read { content, etag: field("etag"), last_modified: field("last-modified"), findings }
}
