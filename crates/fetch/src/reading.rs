//! Reads a response without blocking the network.
//!
//! Decoding, hashing and parsing a page takes a millisecond; hostile content can take a thousand times that. So long
//! content is read on a separate thread, one at a time: it waits for other long content, and only its own visit waits
//! for it.
//!
//! **Invariant:** between two awaits at most 512 KiB of content is decoded and read, and at any time only one longer
//! content is in memory.

use crate::outcome::of_answer;
use base::door::{Exchange, Failure};
use base::{Outcome, PageUrl};
use coding::{Cap, Decoded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Content up to this length is read on the calling thread.
const LIGHT_BYTES_MAX: usize = 512 * 1024;

/// A visit whose response has been read.
#[derive(Debug)]
pub struct Read<T> {
    /// Its outcome.
    pub outcome: Outcome,
    /// The result of `learn`; `None` without a response.
    pub learned: Option<T>,
    /// The response.
    pub exchange: Option<Exchange>,
}

/// Reads the response to a request for `url`: its outcome, and the result of `learn` for its content.
pub async fn read<T: Send + 'static>(
    url: &PageUrl,
    result: Result<Exchange, Failure>,
    learn: impl FnOnce(&Exchange, &Decoded<'_>) -> T + Send + 'static,
) -> Read<T> {
    let exchange = match result {
        Ok(exchange) => exchange,
        Err(failure) => {
            return Read { outcome: Outcome::of_failure(&failure), learned: None, exchange: None };
        }
    };
    if exchange.body.len() > LIGHT_BYTES_MAX {
        return read_long(url.clone(), exchange, learn).await;
    }
    match coding::content_within(&exchange, LIGHT_BYTES_MAX) {
        Decoded::Capped(Cap::Bytes) => {}
        content => {
            let (outcome, learned) = (of_answer(url, &exchange, &content), learn(&exchange, &content));
            drop(content);
            return Read { outcome, learned: Some(learned), exchange: Some(exchange) };
        }
    }
    read_long(url.clone(), exchange, learn).await
}

async fn read_long<T: Send + 'static>(
    url: PageUrl,
    exchange: Exchange,
    learn: impl FnOnce(&Exchange, &Decoded<'_>) -> T + Send + 'static,
) -> Read<T> {
    let work = move || {
        let content = coding::content(&exchange);
        let (outcome, learned) = (of_answer(&url, &exchange, &content), learn(&exchange, &content));
        drop(content);
        Read { outcome, learned: Some(learned), exchange: Some(exchange) }
    };
    // A simulation in a plain loop has no network to block.
    if Handle::try_current().is_err() {
        return work();
    }
    let (sender, receiver) = oneshot::channel();
    // A visit that was cancelled meanwhile needs no result.
    let job = move || drop(sender.send(work()));
    reader().send(Box::new(job)).expect("the reader waits for ever");
    receiver.await.expect("reading an answer does not panic")
}

type Job = Box<dyn FnOnce() + Send>;

/// The thread that reads long content. It is always the same one, so that its memory is allocated once. Its queue is no
/// longer than the number of visits.
fn reader() -> &'static Sender<Job> {
    static READER: OnceLock<Sender<Job>> = OnceLock::new();
    READER.get_or_init(|| {
        let (sender, jobs) = channel::<Job>();
        let thread = std::thread::Builder::new().name("reader".to_owned());
        thread.spawn(move || jobs.into_iter().for_each(run)).expect("a thread can be started");
        sender
    })
}

/// Runs a job. A panic ends only its own visit, not the thread that all others wait for.
fn run(job: Job) {
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("reading an answer failed");
    }
}
