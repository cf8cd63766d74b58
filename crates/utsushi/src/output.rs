//! The output of the program: results on standard output, notes on standard error.
//!
//! A reader that has seen enough (`utsushi … | head`) closes the pipe. The stream then discards all output, the command
//! continues, and its exit code does not change. Any other failure to write a result is stored and makes the program
//! fail: a script must not take half a result for a complete one.
//!
//! **Invariant:** no control character reaches a terminal from this module except in [`Output::own_text`], which prints
//! only our own text: neither a page nor a server can move the cursor, forge a line or reorder text (H24). Archived bytes
//! are written unchanged, but never to a terminal.
//!
//! **Invariant:** nothing here panics, whatever the streams are connected to.

mod stream;

pub(crate) use stream::Stream;

use crate::progress::Progress;
use base::printable;
use serde::Serialize;
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Both streams and their settings. Copies share the streams.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    results: Arc<Stream>,
    notes: Arc<Stream>,
    json: bool,
    quiet: bool,
}

impl Output {
    /// The streams of this process.
    pub(crate) fn of_process(json: bool, quiet: bool) -> Self {
        Self { results: Arc::new(Stream::stdout()), notes: Arc::new(Stream::stderr()), json, quiet }
    }

    /// Whether results are printed as JSON, one object per line.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// One line of a result, in text form.
    pub(crate) fn line(&self, text: impl Display) {
        self.write_result(&format!("{}\n", printable(&text.to_string())));
    }

    /// One object of a result, on a line of its own.
    pub(crate) fn object(&self, value: &impl Serialize) {
        match node::json_line(value) {
            Ok(line) => self.write_result(&line),
            Err(error) => self.results.fail(io::Error::other(error)),
        }
    }

    /// One result, as text or as JSON; the text may have several lines.
    pub(crate) fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) {
        if self.json {
            self.object(value);
        } else {
            text().lines().for_each(|line| self.line(line));
        }
    }

    /// A writer for lines that are printable already.
    pub(crate) fn printable_lines(&self) -> Bytes<'_> {
        Bytes(self)
    }

    /// A writer for archived bytes; `None` if standard output is a terminal, which they could
    /// control.
    pub(crate) fn bytes(&self) -> Option<Bytes<'_>> {
        (!self.results.is_terminal()).then_some(Bytes(self))
    }

    /// Our own text, printed unchanged: a manual page, a completion script, the default configuration.
    pub(crate) fn own_text(&self, text: &str) {
        self.write_result(text);
    }

    /// A note, not shown with `--quiet`.
    pub(crate) fn note(&self, text: impl Display) {
        if !self.quiet {
            self.complaint(text);
        }
    }

    /// An error message, always shown.
    pub(crate) fn complaint(&self, text: impl Display) {
        let text = text.to_string();
        let lines: String = text.lines().map(|line| format!("{}\n", printable(line))).collect();
        self.notes.write(lines.as_bytes());
    }

    /// The progress of a long command; `total` is `None` if it is unknown.
    pub(crate) fn progress(&self, what: &str, total: Option<u64>) -> Progress {
        if self.quiet { Progress::none() } else { Progress::start(&self.notes, what, total) }
    }

    /// A few lines about a long command that change while it runs; without a terminal at most one line every `pause`.
    pub(crate) fn view(&self, pause: Duration) -> Progress {
        if self.quiet { Progress::none() } else { Progress::view(&self.notes, pause) }
    }

    /// The stream of notes, for logs.
    pub(crate) fn notes(&self) -> &Arc<Stream> {
        &self.notes
    }

    /// An error if a result could not be written, except after the reader closed the pipe.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.results.failure().map_or(Ok(()), Err)
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_watched(&self) -> bool {
        self.results.is_terminal()
    }

    /// The number of columns of the terminal; `None` if standard output is not a terminal.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.results.is_terminal().then(|| columns_of(&console::Term::stdout()))
    }

    /// Whether results are discarded, so that long work can stop.
    pub(crate) fn is_closed(&self) -> bool {
        self.results.is_quiet()
    }

    /// A result on a terminal must not run into a bar on the same terminal.
    fn write_result(&self, text: &str) {
        self.write_bytes(text.as_bytes());
    }
    fn write_bytes(&self, bytes: &[u8]) {
        self.notes.without_bar(|| self.results.write(bytes));
    }
}

/// The number of columns of a terminal, or the usual number if it is unknown.
pub(crate) fn columns_of(terminal: &console::Term) -> usize {
    terminal.size_checked().map_or(80, |(_, columns)| usize::from(columns))
}

/// Standard output as a writer of bytes. Errors are stored in the stream.
#[derive(Debug)]
pub(crate) struct Bytes<'a>(&'a Output);

impl io::Write for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_bytes(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value as one line of JSON that cannot control a terminal, with its line feed.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<String> {
    node::json_line(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(json: bool) -> (Output, Arc<Stream>) {
        let results = Arc::new(Stream::memory());
        let notes = Arc::new(Stream::memory());
        (Output { results: Arc::clone(&results), notes, json, quiet: false }, results)
    }

    #[test]
    fn survives_h24_text_from_the_web_cannot_steer_the_terminal() {
        let (plain, written) = output(false);
        plain.line("title \u{1b}[2J\nforged \u{202e}line");
        assert_eq!(written.taken(), "title \\u{1b}[2J\\nforged \\u{202e}line\n");

        let (json, written) = output(true);
        json.object(&serde_json::json!({ "title": "\u{1b}[2J \u{9b}1m \u{202e}\n日本語" }));
        assert_eq!(written.taken(), "{\"title\":\"\\u001b[2J \\u009b1m \\u202e\\n日本語\"}\n");
    }

    #[test]
    fn a_result_has_one_form_or_the_other() {
        for (json, expected) in [(true, "{\"pages\":3}\n"), (false, "pages\n3\n")] {
            let (output, written) = output(json);
            output.result(&serde_json::json!({ "pages": 3 }), || "pages\n3".to_owned());
            assert_eq!(written.taken(), expected);
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is_one() {
        for (kind, fails) in [(io::ErrorKind::BrokenPipe, false), (io::ErrorKind::StorageFull, true)] {
            let (output, written) = output(false);
            written.fail(kind.into());
            output.line("nobody reads this");
            assert_eq!(output.finish().is_err(), fails);
            assert_eq!(written.taken(), "");
        }
    }
}
