//! One of the two streams, which discards output once it can no longer be written to.

use indicatif::ProgressBar;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A stream that may show a progress bar on its last line.
#[derive(Debug)]
pub(crate) struct Stream {
    terminal: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    sink: Sink,
    failure: Option<io::Error>,
    bar: Option<ProgressBar>,
}

#[derive(Debug)]
enum Sink {
    Stdout,
    Stderr,
    #[cfg(test)]
    Memory(Vec<u8>),
}

impl Stream {
    /// The standard output of this process.
    pub(super) fn stdout() -> Self {
        Self::new(Sink::Stdout, io::stdout().is_terminal())
    }
    /// The standard error of this process.
    pub(super) fn stderr() -> Self {
        Self::new(Sink::Stderr, io::stderr().is_terminal())
    }
    /// A stream that stores its output in memory.
    #[cfg(test)]
    pub(crate) fn memory() -> Self {
        Self::new(Sink::Memory(Vec::new()), false)
    }
    fn new(sink: Sink, terminal: bool) -> Self {
        Self { terminal, state: Mutex::new(State { sink, failure: None, bar: None }) }
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Writes complete lines, above the bar if there is one; does nothing once a write has failed.
    pub(crate) fn write(&self, bytes: &[u8]) {
        self.without_bar(|| {
            let mut state = self.state();
            if state.failure.is_none() {
                state.failure = state.sink.write(bytes).err();
            }
        });
    }

    /// Does something while the bar is hidden.
    pub(crate) fn without_bar(&self, act: impl FnOnce()) {
        let bar = self.state().bar.clone();
        match bar {
            Some(bar) => bar.suspend(act),
            None => act(),
        }
    }

    /// Shows a bar on the last line, or removes it.
    pub(crate) fn set_bar(&self, bar: Option<ProgressBar>) {
        self.state().bar = bar;
    }

    /// Whether output is discarded, because a write failed or the reader left.
    pub(crate) fn is_quiet(&self) -> bool {
        self.state().failure.is_some()
    }

    /// Stores a write error: from now on output is discarded.
    pub(super) fn fail(&self, error: io::Error) {
        self.state().failure.get_or_insert(error);
    }

    /// Why output is discarded, unless the reader simply left.
    pub(super) fn failure(&self) -> Option<io::Error> {
        let error = self.state().failure.take()?;
        (error.kind() != io::ErrorKind::BrokenPipe).then_some(error)
    }

    /// Takes the output of a stream in memory.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> String {
        match &mut self.state().sink {
            Sink::Memory(bytes) => String::from_utf8(std::mem::take(bytes)).unwrap(),
            other => panic!("{other:?} keeps nothing"),
        }
    }

    /// A panic elsewhere leaves the state consistent, so poisoning can be ignored.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => write_all(&mut io::stdout().lock(), bytes),
            Self::Stderr => write_all(&mut io::stderr().lock(), bytes),
            #[cfg(test)]
            Self::Memory(kept) => write_all(kept, bytes),
        }
    }
}

fn write_all(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}
