//! Logs on standard error, as text or as JSON.
//!
//! **Invariant:** a log line is written through the same [`Stream`] as notes and the progress bar, so they never mix,
//! and a closed standard error is not a failure.

use crate::output::{Output, Stream};
use node::config::{LogFilter, LogFormat};
use std::io::{self, Write};
use std::sync::Arc;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Starts logging. A second call changes nothing: a process has one log.
pub(crate) fn start(output: &Output, filter: &LogFilter, format: LogFormat) {
    let lines = Lines(Arc::clone(output.notes()));
    let ansi = output.notes().is_terminal();
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter.as_str()))
        .with_writer(lines)
        .with_ansi(ansi);
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

/// Passes every event to the stream as a whole.
#[derive(Clone)]
struct Lines(Arc<Stream>);

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
