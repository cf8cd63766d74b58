//! One run of the program: its pipes, the end of its standard error, and its exit.

use crate::tree;
use crate::wire::FailureCause;
use crate::worker_config::{WorkerConfig, sandboxed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, WaitOptions, WaitStatus, pidfd_open, waitpid};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;

/// Size of a pipe: several documents, so that the two sides do not wait for each other at every document.
const PIPE_BYTES: usize = 1024 * 1024;
/// Maximum bytes kept of the end of its standard error.
const WORDS_BYTES_MAX: usize = 4 * 1024;
/// Time that a program gets to exit when it is no longer needed.
const FAREWELL: Duration = Duration::from_millis(500);

/// A program that runs.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) pid: Pid,
    alive: OwnedFd,
    input: Option<File>,
    output: File,
    complaints: Option<File>,
    words: VecDeque<u8>,
    /// Documents that it answered.
    pub(super) answered: u64,
    _scratch: TempDir,
}

/// What a read came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Bytes(usize),
    Nothing,
    End,
}

impl Program {
    /// Starts it in its sandbox, with a scratch directory of its own.
    pub(super) fn start(config: &WorkerConfig, program: &[OsString]) -> io::Result<Self> {
        let only_its_own = Permissions::from_mode(0o700);
        let scratch = tempfile::Builder::new()
            .prefix("program-")
            .permissions(only_its_own)
            .tempdir_in(&config.scratch)?;
        let config = WorkerConfig { scratch: scratch.path().to_owned(), ..config.clone() };
        let mut command = sandboxed(&config, program);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        let pipe = |pipe: Option<OwnedFd>| -> io::Result<File> {
            let pipe = pipe.ok_or(io::ErrorKind::BrokenPipe)?;
            fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
            Ok(File::from(pipe))
        };
        for pipe in [child.stdin.as_ref().map(AsFd::as_fd), child.stdout.as_ref().map(AsFd::as_fd)] {
            // A smaller pipe is only slower.
            let _ = pipe.map(|pipe| rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES));
        }
        Ok(Self {
            pid,
            alive: pidfd_open(pid, PidfdFlags::empty())?,
            input: Some(pipe(child.stdin.take().map(OwnedFd::from))?),
            output: pipe(child.stdout.take().map(OwnedFd::from))?,
            complaints: Some(pipe(child.stderr.take().map(OwnedFd::from))?),
            words: VecDeque::new(),
            answered: 0,
            _scratch: scratch,
        })
    }

    pub(super) fn alive(&self) -> BorrowedFd<'_> {
        self.alive.as_fd()
    }
    pub(super) fn input(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(AsFd::as_fd)
    }
    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }
    pub(super) fn complaints(&self) -> Option<BorrowedFd<'_>> {
        self.complaints.as_ref().map(AsFd::as_fd)
    }

    /// Writes what fits into the pipe. An error means that the program no longer reads.
    pub(super) fn write(&mut self, pieces: &[&[u8]]) -> io::Result<usize> {
        let Some(input) = &mut self.input else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let pieces: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        match input.write_vectored(&pieces) {
            Err(error) if is_for_later(&error) => Ok(0),
            written => written,
        }
    }
    /// Whether it has not read all that was written to it.
    pub(super) fn has_unread(&self) -> bool {
        self.input
            .as_ref()
            .is_some_and(|input| rustix::io::ioctl_fionread(input).is_ok_and(|bytes| bytes > 0))
    }
    /// Reads what it answered.
    pub(super) fn hear(&mut self, room: &mut [u8]) -> io::Result<Heard> {
        heard(self.output.read(room))
    }
    /// Reads its standard error and keeps the end.
    pub(super) fn listen(&mut self, room: &mut [u8]) {
        let Some(complaints) = &mut self.complaints else { return };
        match heard(complaints.read(room)) {
            Ok(Heard::Bytes(read)) => {
                self.words.extend(room.get(..read).unwrap_or_default());
                let surplus = self.words.len().saturating_sub(WORDS_BYTES_MAX);
                self.words.drain(..surplus);
            }
            Ok(Heard::Nothing) => {}
            Ok(Heard::End) | Err(_) => self.complaints = None,
        }
    }

    /// How it ended, if it has.
    pub(super) fn ended(&self) -> Option<(FailureCause, String)> {
        let (_, status) = waitpid(Some(self.pid), WaitOptions::NOHANG).ok().flatten()?;
        Some(in_words(status))
    }

    /// Kills it with all its processes; returns the end of its standard error.
    pub(super) fn end(mut self) -> String {
        // Its last output is still in the pipe.
        let mut room = [0; WORDS_BYTES_MAX];
        for _ in 0..64 {
            if !self
                .complaints
                .as_ref()
                .is_some_and(|complaints| is_ready(complaints.as_fd(), Duration::ZERO))
            {
                break;
            }
            self.listen(&mut room);
        }
        tree::end_all(&[]);
        let words: Vec<u8> = self.words.into();
        String::from_utf8_lossy(&words).trim().to_owned()
    }

    /// Closes its input, waits for it to exit, and kills it if it does not.
    pub(super) fn dismiss(mut self) {
        self.input = None;
        is_ready(self.alive.as_fd(), FAREWELL);
        self.end();
    }
}

fn heard(read: io::Result<usize>) -> io::Result<Heard> {
    match read {
        Ok(0) => Ok(Heard::End),
        Ok(read) => Ok(Heard::Bytes(read)),
        Err(error) if is_for_later(&error) => Ok(Heard::Nothing),
        Err(error) => Err(error),
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Whether there is something to read within `time`.
fn is_ready(fd: BorrowedFd<'_>, time: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let time = Timespec::try_from(time).ok();
    poll(&mut fds, time.as_ref()).is_ok_and(|ready| ready > 0)
}

fn in_words(status: WaitStatus) -> (FailureCause, String) {
    match (status.exit_status(), status.terminating_signal()) {
        // The exit codes by which a shell and `--each` report a signal.
        (Some(code), _) if code > 128 && code < 160 => (
            FailureCause::Crashed,
            format!("it ended with exit code {code}, which stands for signal {}", code - 128),
        ),
        (Some(code), _) => (FailureCause::Ended, format!("it ended with exit code {code}")),
        (None, Some(signal)) => {
            (FailureCause::Crashed, format!("it was ended by signal {signal}{}", name_of(signal)))
        }
        (None, None) => (FailureCause::Crashed, "it ended".to_owned()),
    }
}

fn name_of(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGXFSZ => " (SIGXFSZ: a file grew too long)",
        libc::SIGTERM => " (SIGTERM)",
        _ => "",
    }
}
