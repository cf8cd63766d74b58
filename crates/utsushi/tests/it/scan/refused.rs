//! What cannot be done is refused, at once and with what to do about it.

use super::rig::{Rig, none_left, pages, pid_of, results, start, url, wait_until};
use crate::program::run;
use base::clock::RealClock;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

/// Whatever fails at once does so long before the progress limit, which is a minute.
const AT_ONCE: Duration = Duration::from_secs(30);

#[track_caller]
fn refused(rig: &Rig, arguments: &[&str], parts: &[&str]) {
    let clock = RealClock::start();
    rig.ended(arguments).could_not(parts);
    assert!(clock.real_elapsed() < AT_ONCE, "{arguments:?}: {:?}", clock.real_elapsed());
    none_left(&rig.mark);
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new(), "{arguments:?}");
}

#[test]
fn a_program_that_cannot_be_run_is_named() {
    let rig = pages(5).import();
    refused(&rig, &["--", "no-such-program"], &["cannot run `no-such-program`", "PATH", "--builtin"]);
    refused(&rig, &["--", "./no-such-program"], &["cannot run `./no-such-program`", "No such file"]);
    let file = rig.script("program.sh", "#!/bin/sh\n");
    refused(&rig, &["--", &file], &[&file, "it is not executable"]);
    refused(&rig, &["--each", "--", &file], &[&file, "it is not executable"]);
    refused(&rig, &["--", "/etc"], &["`/etc`", "directory"]);
    refused(&rig, &["--", ""], &["it has no name"]);
    fs::write(rig.path("program.sh"), "#!/no/such/shell\n").unwrap();
    fs::set_permissions(rig.path("program.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    refused(&rig, &["--", &file], &["did not answer", "cannot run", &file]);
    refused(&rig, &["--each", "--", &file], &["did not answer", "cannot run", &file]);
}

#[test]
fn a_program_that_ends_without_an_answer_fails_at_once_with_its_last_words() {
    let rig = pages(50).import();
    refused(&rig, &["--", "true"], &["did not answer its first document", "exit code 0", "add `--each`"]);
    let script = ["--", "sh", "-c", "printf 'no model\\033[2J\\n' >&2; exit 3"];
    refused(&rig, &script, &["exit code 3", "the end of its standard error: no model"]);
    assert!(!rig.ended(&script).stderr.contains('\u{1b}'), "what a terminal obeys is not passed on");
    refused(&rig, &["--", "sh", "-c", "kill -SEGV $$"], &["signal 11 (SIGSEGV)"]);
    // A filter that finds nothing ends with 1 and says nothing: that is an answer.
    assert_eq!(rig.results(&["--each", "--", "false"]).len(), 50);
    refused(
        &rig,
        &["--each", "--", "sh", "-c", "echo oops >&2; exit 1"],
        &["exit code 1", "standard error: oops"],
    );
}

#[test]
fn a_silent_program_fails_at_the_progress_limit_of_its_first_document() {
    let rig = pages(50).import();
    let notes = rig.directory("notes");
    let script = format!(": >{notes}/$$; exec sleep 10000");
    let flags =
        ["--jobs", "4", "--progress-limit", "700ms", "--allow-write", &notes, "--", "sh", "-c", &script];
    let clock = RealClock::start();
    let ended = run(&mut rig.scan_of(&[&["--at", "now"], &flags[..]].concat()));
    ended.could_not(&["did not answer its first document", &url(0), "it did nothing for 0.7 s"]);
    assert!(clock.real_elapsed() >= Duration::from_millis(700));
    assert_eq!(fs::read_dir(&notes).unwrap().count(), 1, "no second one was started");
    none_left(&rig.mark);
}

/// What people try first: a filter, or a program that knows nothing of the protocol.
#[test]
fn a_program_that_does_not_know_the_protocol_is_told_so() {
    let hint: [&str; 3] = ["did not answer its first document", "scan-protocol.md", "add `--each`"];
    for count in [1, 50] {
        let rig = pages(count).import();
        let check = |program: &[&str], what: &str| {
            refused(&rig, &[&["--"], program].concat(), &[&hint[..], &[what]].concat());
        };
        check(&["cat"], "it repeated what it was given");
        check(&["tee"], "it repeated what it was given");
        check(&["echo", "1"], "it answered before it had read the whole document");
        check(&["sh", "-c", "echo 1; exec sleep 10000"], "it answered before it had read the whole document");
        check(&["echo", "hello"], "a line that is no JSON: `hello`");
    }
}

#[test]
fn an_output_of_a_form_that_there_is_not_is_refused() {
    let rig = pages(1).import();
    rig.ended(&["-o", &rig.text("plain"), "--each", "--", "cat"]).done();
    for name in ["x.xlsx", "x.csv.gz", "x.txt", "x.JSONLD"] {
        let output = rig.text(name);
        let known =
            [&format!("cannot write `{output}`") as &str, "`.jsonl`, `.csv` or `.parquet`", "--format"];
        refused(&rig, &["-o", &output, "--each", "--", "cat"], &known);
        assert!(!rig.path(name).exists());
    }
    let named = rig.text("x.txt");
    rig.ended(&["-o", &named, "--format", "csv", "--each", "--", "cat"]).done();
    assert!(fs::read_to_string(named).unwrap().starts_with("document,url,at,kind,result\r\n"));
}

#[test]
fn a_scan_that_never_began_is_in_nobodys_way() {
    let rig = pages(5).import();
    let output = rig.text("results.jsonl");
    refused(&rig, &["-o", &output, "--", "true"], &["did not answer its first document"]);
    refused(&rig, &["-o", &output, "--", "no-such-program"], &["cannot run `no-such-program`"]);
    rig.ended(&["-o", &output, "--each", "--", "cat"]).done();
    assert_eq!(results(&fs::read_to_string(output).unwrap()).len(), 5);
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_anything_is_analysed() {
    let rig = pages(5).import();
    let notes = rig.directory("notes");
    let script = format!(": >{notes}/begun; cat");
    for output in ["/no/such/place/results.jsonl", &notes] {
        let flags = ["-o", output, "--allow-write", &notes, "--each", "--", "sh", "-c", &script];
        refused(&rig, &flags, &[&format!("cannot write `{output}`")]);
    }
    assert_eq!(fs::read_dir(notes).unwrap().count(), 0, "no program was started");
}

#[test]
fn a_command_that_makes_no_sense_is_refused() {
    let rig = pages(5).import();
    refused_whole(&rig, &["--at", "now"], &["no analysis given", "--builtin NAME"]);
    refused_whole(&rig, &["--at", "now", "--only-changed", "--builtin", "sizes"], &["--during FROM..TO"]);
    refused_whole(&rig, &["--builtin", "sizes"], &["--at T"]);
    let wrong = |arguments: &[&str], parts: &[&str]| run(&mut rig.scan(arguments)).wrong(parts);
    wrong(&["--builtin", "nosuch"], &["--builtin", "nosuch"]);
    wrong(&["--builtin", "sizes", "--", "cat"], &["--builtin"]);
    wrong(&["--anew", "--builtin", "sizes"], &["--output"]);
    wrong(&["--memory", "1MiB", "--builtin", "sizes"], &["--memory", "from 16MiB"]);
    wrong(&["--progress-limit", "1us", "--builtin", "sizes"], &["--progress-limit"]);
    wrong(&["--jobs", "0", "--builtin", "sizes"], &["--jobs"]);
    refused(&rig, &["--allow-write", "/no/such/place", "--", "cat"], &["/no/such/place"]);
}

#[track_caller]
fn refused_whole(rig: &Rig, arguments: &[&str], parts: &[&str]) {
    run(&mut rig.scan_of(arguments)).could_not(parts);
}

/// Answers with `1`; for the eleventh document only on a signal.
const WAITS: &str = r#"
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    head -c "$length" >/dev/null
    case $head in *pages.test/10'"'*)
        : >"$NOTES/waits"
        while [ ! -e "$NOTES/go" ]; do sleep 0.02; done ;;
    esac
    echo 1
done"#;

#[test]
fn an_output_belongs_to_one_scan_at_a_time() {
    let rig = pages(20).import();
    let (notes, output) = (rig.directory("notes"), rig.text("results.jsonl"));
    let program = rig.script("waits.sh", WAITS);
    let flags = ["-o", &output, "--allow-write", &notes, "--", "sh", &program];
    let mut command = rig.scan(&flags);
    let running = start(command.env("NOTES", &notes));
    let owner = format!("process {} works on this scan already", pid_of(&running).as_raw_nonzero());
    wait_until("it waits", || rig.path("notes").join("waits").exists());
    rig.ended(&flags).could_not(&[&owner, "choose another output"]);
    rig.ended(&[&["--anew"], &flags[..]].concat()).could_not(&[&owner]);
    fs::write(rig.path("notes").join("go"), "").unwrap();
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(results(&fs::read_to_string(output).unwrap()).len(), 20);
}

#[test]
fn an_unfinished_scan_is_gone_on_with_or_begun_anew_and_never_mixed() {
    let rig = pages(20).import();
    let (notes, output) = (rig.directory("notes"), rig.text("results.jsonl"));
    let program = rig.script("waits.sh", WAITS);
    let flags = ["-o", &output, "--allow-write", &notes, "--", "sh", &program];
    let mut command = rig.scan(&flags);
    let mut running = start(command.env("NOTES", &notes));
    wait_until("it waits", || rig.path("notes").join("waits").exists());
    running.kill().unwrap();
    running.wait().unwrap();
    none_left(&rig.mark);
    let was = format!("-- \"sh\" {program:?}");
    let other = |arguments: &[&str]| {
        rig.ended(&[&["-o", &output], arguments].concat()).could_not(&[
            "an unfinished scan with other choices writes to this output",
            &was,
            "add `--anew` to start over",
        ]);
    };
    other(&["--builtin", "sizes"]);
    other(&["--", "sh", &program, "x"]);
    other(&["--each", "--", "sh", &program]);
    other(&["--site", "pages.test", "--", "sh", &program]);
    assert!(!rig.path("results.jsonl").exists());
    let ended = rig.ended(&["-o", &output, "--anew", "--builtin", "sizes"]);
    assert!(!ended.stderr.contains("continuing where"), "{ended:?}");
    ended.done();
    let found = results(&fs::read_to_string(output).unwrap());
    assert!(found.len() == 20 && found.values().all(|said| said["content"].is_u64()), "{found:?}");
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new());
}
