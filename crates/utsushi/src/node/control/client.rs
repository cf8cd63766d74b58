//! The end of a command that asks.

use super::name::Name;
use super::{End, Request, TIME_MAX};
use crate::output::json_line;
use serde_json::Value;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// A little more than the other side takes at most.
const PATIENCE: Duration = TIME_MAX.saturating_mul(3);
/// The longest answer: every server of a large crawl.
const ANSWER_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreached {
    /// Nobody serves the socket.
    #[error("it takes no orders")]
    Deaf(#[source] io::Error),
    /// The connection broke, or took too long.
    #[error("it does not answer")]
    Lost(#[source] io::Error),
    /// It was understood and could not be done.
    #[error("{0}")]
    CouldNot(String),
}

/// Whether somebody serves the socket of a data directory, and lets us in.
pub(crate) async fn is_reachable(directory: &Path) -> bool {
    let Ok(name) = Name::of_control(directory) else { return false };
    UnixStream::connect(name.path()).await.is_ok()
}

/// Puts a question to the process that writes to a data directory.
pub(crate) async fn ask(directory: &Path, request: &Request) -> Result<Vec<Value>, Unreached> {
    let question = json_line(request).map_err(Unreached::Lost)?;
    let connect = async { UnixStream::connect(Name::of_control(directory)?.path()).await };
    let mut stream = connect.await.map_err(Unreached::Deaf)?;
    let talk = async {
        stream.write_all(question.as_bytes()).await?;
        let mut answer = String::new();
        stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer).await?;
        io::Result::Ok(answer)
    };
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let answer = timeout(PATIENCE, talk).await.unwrap_or_else(|_| Err(late())).map_err(Unreached::Lost)?;
    read(&answer)
}

/// The objects of an answer, if it came whole and says that all was done.
fn read(answer: &str) -> Result<Vec<Value>, Unreached> {
    let cut = || Unreached::Lost(io::ErrorKind::UnexpectedEof.into());
    let strange = |error: serde_json::Error| Unreached::Lost(error.into());
    let (objects, last) = match answer.strip_suffix('\n').ok_or_else(cut)?.rsplit_once('\n') {
        Some((objects, last)) => (objects, last),
        None => ("", answer),
    };
    match serde_json::from_str(last).map_err(strange)? {
        End::Done => objects.lines().map(|line| serde_json::from_str(line).map_err(strange)).collect(),
        End::CouldNot { why } => Err(Unreached::CouldNot(why)),
    }
}
