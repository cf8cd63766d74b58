//! The client side of the control socket.

use super::name::Name;
use super::{ControlRequest, End, TIME_MAX};
use crate::json::json_line;
use serde_json::Value;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// A little more than the server's limit.
const PATIENCE: Duration = TIME_MAX.saturating_mul(3);
/// The maximum length of an answer: every server of a large crawl.
const ANSWER_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No process serves the socket.
    #[error("it accepts no commands")]
    Deaf(#[source] io::Error),
    /// The connection broke, or took too long.
    #[error("it does not answer")]
    Lost(#[source] io::Error),
    /// It runs an older version that does not know the request.
    #[error("it runs an older version of utsushi, which cannot do this while it crawls")]
    Unsupported,
    /// The request was understood but failed.
    #[error("{0}")]
    CouldNot(String),
}

/// Whether a process serves the socket of a data directory and accepts a connection.
pub async fn is_reachable(directory: &Path) -> bool {
    let Ok(name) = Name::of_control(directory) else { return false };
    UnixStream::connect(name.path()).await.is_ok()
}

/// Sends a request to the process that writes to a data directory.
pub async fn ask(directory: &Path, request: &ControlRequest) -> Result<Vec<Value>, ControlError> {
    let question = json_line(request).map_err(ControlError::Lost)?;
    let connect = async { UnixStream::connect(Name::of_control(directory)?.path()).await };
    let mut stream = connect.await.map_err(ControlError::Deaf)?;
    let talk = async {
        stream.write_all(question.as_bytes()).await?;
        let mut answer = String::new();
        stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer).await?;
        io::Result::Ok(answer)
    };
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let answer = timeout(PATIENCE, talk).await.unwrap_or_else(|_| Err(late())).map_err(ControlError::Lost)?;
    read(&answer)
}

/// Sends a request that may take long. `on_object` receives each object as it arrives.
pub async fn ask_long(
    directory: &Path,
    request: &ControlRequest,
    on_object: &mut (dyn FnMut(Value) + Send),
) -> Result<(), ControlError> {
    let question = json_line(request).map_err(ControlError::Lost)?;
    let connect = async { UnixStream::connect(Name::of_control(directory)?.path()).await };
    let mut stream = connect.await.map_err(ControlError::Deaf)?;
    stream.write_all(question.as_bytes()).await.map_err(ControlError::Lost)?;
    let mut lines = BufReader::new(stream).lines();
    loop {
        let late = || io::Error::from(io::ErrorKind::TimedOut);
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap_or_else(|_| Err(late()));
        let line = line.map_err(ControlError::Lost)?;
        let line = line.ok_or_else(|| ControlError::Lost(io::ErrorKind::UnexpectedEof.into()))?;
        if line.is_empty() {
            continue;
        }
        let strange = |error: serde_json::Error| ControlError::Lost(error.into());
        match serde_json::from_str(&line) {
            Ok(End::Done) => return Ok(()),
            Ok(End::CouldNot { why }) => return Err(refused(why)),
            Err(_) => on_object(serde_json::from_str(&line).map_err(strange)?),
        }
    }
}

/// Why a request was refused. An older version that does not know a request reports the error of its parser.
fn refused(why: String) -> ControlError {
    if why.contains("unknown variant") { ControlError::Unsupported } else { ControlError::CouldNot(why) }
}

/// The objects of an answer, if it is complete and successful.
pub(crate) fn read(answer: &str) -> Result<Vec<Value>, ControlError> {
    let cut = || ControlError::Lost(io::ErrorKind::UnexpectedEof.into());
    let strange = |error: serde_json::Error| ControlError::Lost(error.into());
    let (objects, last) = match answer.strip_suffix('\n').ok_or_else(cut)?.rsplit_once('\n') {
        Some((objects, last)) => (objects, last),
        None => ("", answer),
    };
    match serde_json::from_str(last).map_err(strange)? {
        End::Done => objects.lines().map(|line| serde_json::from_str(line).map_err(strange)).collect(),
        End::CouldNot { why } => Err(refused(why)),
    }
}
