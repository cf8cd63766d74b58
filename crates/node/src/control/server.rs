//! The server side of the control socket.

use super::name::Name;
use super::{
    CLIENTS_MAX, ControlAnswer, ControlLines, ControlRequest, End, FILE_NAME, HEARTBEAT, LINE_BYTES_MAX,
    TIME_MAX,
};
use crate::json::json_line;
use rustix::fs::{Mode, fchmod};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with};
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The name of the socket until its permissions are set.
const UNFINISHED_NAME: &str = "control.tmp";
/// Maximum number of objects of a long answer between the handler and the client.
const LINES_MAX: usize = 64;
/// The maximum number of clients that wait to be accepted.
const BACKLOG: i32 = 64;
/// How long to wait after a client could not be accepted because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The socket, served until this is dropped, and then removed.
#[derive(Debug)]
pub struct ControlServer {
    path: PathBuf,
    task: JoinHandle<()>,
}

impl ControlServer {
    /// Serves the socket in a data directory that this process writes to; a stale one is replaced.
    pub fn serve<A, F>(directory: &Path, answer: A) -> io::Result<Self>
    where
        A: Fn(ControlRequest, ControlLines) -> F + Send + Sync + 'static,
        F: Future<Output = ControlAnswer> + Send + 'static,
    {
        let listener = UnixListener::from_std(open(directory)?)?;
        let task = tokio::spawn(accept(listener, Arc::new(answer)));
        Ok(Self { path: directory.join(FILE_NAME), task })
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.task.abort();
        // A stale socket does no harm: the next writer replaces it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A socket that only the owner can reach at any time.
fn open(directory: &Path) -> io::Result<StdListener> {
    let name = Name::of(directory, UNFINISHED_NAME)?;
    match std::fs::remove_file(name.path()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // The file gets the mode of the socket when it is bound.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(name.path())?)?;
    listen(&socket, BACKLOG)?;
    std::fs::rename(name.path(), directory.join(FILE_NAME))?;
    Ok(socket.into())
}

async fn accept<A, F>(listener: UnixListener, answer: Arc<A>)
where
    A: Fn(ControlRequest, ControlLines) -> F + Send + Sync + 'static,
    F: Future<Output = ControlAnswer> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(CLIENTS_MAX));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let place = Arc::clone(&places).try_acquire_owned();
        let answer = Arc::clone(&answer);
        tokio::spawn(async move {
            let Ok(_place) = place else {
                let why = format!("{CLIENTS_MAX} clients are connected; try again in a moment");
                return send(stream, Err(why)).await;
            };
            serve(stream, &*answer).await;
        });
    }
}

/// Reads one request and answers it.
async fn serve<A, F>(stream: UnixStream, answer: &A)
where
    A: Fn(ControlRequest, ControlLines) -> F,
    F: Future<Output = ControlAnswer>,
{
    let mut reader = BufReader::new(stream);
    let request = match timeout(TIME_MAX, hear(&mut reader)).await {
        Ok(Some(Ok(request))) => request,
        Ok(Some(Err(why))) => return send(reader.into_inner(), Err(why)).await,
        // The client left without a complete request.
        Ok(None) | Err(_) => return,
    };
    let mut stream = reader.into_inner();
    let (lines, mut said) = mpsc::channel(LINES_MAX);
    let is_long = request.is_long();
    let mut answering = pin!(answer(request, lines));
    let deadline = tokio::time::sleep(TIME_MAX);
    let mut deadline = pin!(deadline);
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    loop {
        let text = tokio::select! {
            biased;
            Some(object) = said.recv() => json_line(&object).unwrap_or_default(),
            answer = &mut answering => {
                while let Ok(object) = said.try_recv() {
                    let line = json_line(&object).unwrap_or_default();
                    let _ = timeout(TIME_MAX, stream.write_all(line.as_bytes())).await;
                }
                return send(stream, answer).await;
            }
            () = &mut deadline, if !is_long => {
                let why = format!("it takes longer than {} seconds", TIME_MAX.as_secs());
                return send(stream, Err(why)).await;
            }
            _ = heartbeat.tick(), if is_long => "\n".to_owned(),
        };
        // When a client leaves, work done only for it ends: its lines have no receiver any more.
        match timeout(TIME_MAX, stream.write_all(text.as_bytes())).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
}

/// The request of a client; `None` if it left.
async fn hear(reader: &mut BufReader<UnixStream>) -> Option<Result<ControlRequest, String>> {
    let mut line = Vec::new();
    reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await.ok()?;
    match line.last()? {
        b'\n' => {
            Some(serde_json::from_slice(&line).map_err(|error| format!("the request is not valid: {error}")))
        }
        _ if line.len() as u64 >= LINE_BYTES_MAX => {
            Some(Err(format!("the request is longer than {LINE_BYTES_MAX} bytes")))
        }
        _ => None,
    }
}

/// Sends an answer. A client that does not read it loses the rest.
async fn send(mut stream: UnixStream, answer: ControlAnswer) {
    let (objects, end) = match answer {
        Ok(objects) => (objects, End::Done),
        Err(why) => (Vec::new(), End::CouldNot { why }),
    };
    let lines: Vec<String> = objects.iter().filter_map(|object| json_line(object).ok()).collect();
    let last = json_line(&end).unwrap_or_default();
    let text = lines.concat() + &last;
    let _ = timeout(TIME_MAX, stream.write_all(text.as_bytes())).await;
}
