//! Streams that are closed, full, or read only in part.

use crate::program::{run, utsushi};
use std::io::pipe;
use std::process::{Command, Stdio};

#[test]
fn a_reader_that_has_left_changes_no_exit_code() {
    for command in [&["config"][..], &["config", "--json"], &["config", "--default"], &["man"], &["--help"]] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let ended = run(utsushi().args(command).stdout(writer).stderr(Stdio::piped()));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{command:?}");
    }
}

#[test]
fn a_standard_error_that_nobody_reads_changes_no_exit_code() {
    for (command, code) in
        [(&["--log-level", "trace", "config"][..], 0), (&["--data", "/nowhere", "status"], 2)]
    {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let status = utsushi().args(command).stdout(Stdio::null()).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(code), "{command:?}");
    }
}

#[test]
fn streams_that_were_never_open_change_no_exit_code() {
    for (arguments, code) in [("config", 0), ("--data /nowhere status", 2), ("nothing", 2)] {
        let line = format!("\"$0\" {arguments} <&- >&- 2>&-");
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", &line, env!("CARGO_BIN_EXE_utsushi")]).status().unwrap();
        assert_eq!(status.code(), Some(code), "{line}");
    }
}

#[test]
fn a_result_that_could_not_be_written_is_a_failure() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let ended = run(utsushi().arg("config").stdout(full).stderr(Stdio::piped()));
    ended.could_not(&["cannot write the results to standard output", "what to do: free some space"]);
}
