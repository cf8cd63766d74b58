//! One program per document: a plain filter that reads a document from its standard input and writes its result.
//!
//! To the worker this is a program that speaks the [protocol](crate::protocol), so that there is one way to blame,
//! limit and restart. It runs in the same sandbox as the programs it starts.
//!
//! Exit code 0 is an answer, and so is 1 with an empty standard error: `grep` exits with 1 if it
//! finds nothing. Anything else is a failure, and this process exits the same way.

use crate::protocol::{self, DocumentHead};
use crate::tree;
use crate::worker_config::{WorkerConfig, say};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::thread;

/// Maximum bytes of a head in the environment, which is small.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Maximum bytes passed on of the end of its standard error.
const WORDS_BYTES_MAX: usize = 8 * 1024;

pub(crate) fn run(config: &WorkerConfig, program: &[OsString]) -> ExitCode {
    let Some((name, arguments)) = program.split_first() else { return ExitCode::FAILURE };
    if let Err(error) = tree::adopt() {
        say(&format!("cannot look after the program: {error}\n"));
        return ExitCode::FAILURE;
    }
    let answer_bytes_max = config.limits.answer_bytes;
    let mut ended = ExitCode::SUCCESS;
    let served = protocol::serve_with(io::stdin().lock(), io::stdout().lock(), |head, body, out| {
        let mut command = Command::new(name);
        command.args(arguments).process_group(0);
        describe(&mut command, head);
        let done = one(command, body, answer_bytes_max)?;
        // Processes that the program left running are killed.
        tree::end_all(&[]);
        if let Some(code) =
            failure(done.status, &done.words).filter(|_| done.output.len() <= answer_bytes_max)
        {
            say(&done.words);
            ended = code;
            return Err(io::ErrorKind::Interrupted.into());
        }
        writeln!(out, "={} {}", done.output.len(), head.document)?;
        out.write_all(&done.output)
    });
    match served {
        Err(error) if ended == ExitCode::SUCCESS => {
            say(&format!("cannot run `{}`: {error}\n", name.display()));
            ExitCode::from(crate::worker_config::EXIT_CANNOT_RUN)
        }
        _ => ended,
    }
}

/// The environment variables that describe the document.
fn describe(command: &mut Command, head: DocumentHead<'_>) {
    if let Some(url) = head.get("url").filter(|url| !url.contains('\0')) {
        command.env("UTSUSHI_URL", url);
    }
    if head.as_str().len() <= HEAD_BYTES_MAX {
        command.env("UTSUSHI_HEAD", head.as_str());
    }
}

/// The result of one run.
struct FilterRun {
    status: ExitStatus,
    output: Vec<u8>,
    words: String,
}

fn one(mut command: Command, body: &[u8], answer_bytes_max: usize) -> io::Result<FilterRun> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (input, output, complaints) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (output, words) = thread::scope(|scope| {
        // A filter may stop reading early.
        scope.spawn(move || input.map(|mut input| input.write_all(body)));
        let words = scope.spawn(move || read_end(complaints, WORDS_BYTES_MAX));
        // One byte above the limit shows that the answer is too long; the worker reports that.
        let output = read_start(output, answer_bytes_max.saturating_add(1));
        (output, words.join().unwrap_or_default())
    });
    let status = child.wait()?;
    Ok(FilterRun { status, output, words: String::from_utf8_lossy(&words).into_owned() })
}

/// Reads to the end and keeps the beginning, so that the writer never gets a broken pipe.
fn read_start(from: Option<impl Read>, bytes_max: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        let _ = from.by_ref().take(bytes_max as u64).read_to_end(&mut bytes);
        let _ = io::copy(&mut from, &mut io::sink());
    }
    bytes
}

/// The same, and keeps the end.
fn read_end(from: Option<impl Read>, bytes_max: usize) -> Vec<u8> {
    let (mut bytes, mut room) = (VecDeque::new(), [0; 4 * 1024]);
    let Some(mut from) = from else { return Vec::new() };
    while let Ok(read @ 1..) = from.read(&mut room) {
        bytes.extend(room.get(..read).unwrap_or_default());
        let surplus = bytes.len().saturating_sub(bytes_max);
        bytes.drain(..surplus);
    }
    bytes.into()
}

/// The exit code of this process, if the program failed.
fn failure(status: ExitStatus, words: &str) -> Option<ExitCode> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(1), _) if words.trim().is_empty() => None,
        (Some(code), _) => Some(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        (None, signal) => Some(ExitCode::from(128 + u8::try_from(signal.unwrap_or(0)).unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, body: &[u8]) -> FilterRun {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        one(command, body, 1_000).unwrap()
    }

    #[track_caller]
    fn check(script: &str, output: &str, is_failure: bool) {
        let done = shell(script, b"a\nb\n");
        assert_eq!(String::from_utf8_lossy(&done.output), output, "{script}");
        assert_eq!(failure(done.status, &done.words).is_some(), is_failure, "{script}: {}", done.words);
    }

    #[test]
    fn a_filter_answers_with_what_it_writes() {
        check("cat", "a\nb\n", false);
        check("grep b", "b\n", false);
        check("grep c", "", false);
        check("head -n 1", "a\n", false);
        check("exec <&-; echo x", "x\n", false);
        check("grep b; exit 3", "b\n", true);
        check("echo oops >&2; exit 1", "", true);
        check("echo note >&2; echo x", "x\n", false);
        check("kill -ABRT $$", "", true);
        check("seq 1 100000 >&2; echo x", "x\n", false);
        let long: String = (0..500).map(|_| "y\n").collect();
        check("yes | head -n 5000", &format!("{long}y"), false);
    }

    #[test]
    fn a_filter_that_reads_nothing_of_a_long_document_is_not_waited_for() {
        let done = shell("echo x", &vec![b'x'; 4 << 20]);
        assert_eq!(done.output, b"x\n");
    }
}
