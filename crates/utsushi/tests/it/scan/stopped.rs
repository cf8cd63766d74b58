//! An interrupted scan ends cleanly, and continues when it is repeated.

use super::rig::{Rig, marked, none_left, pages, pid_of, results, start, wait_until};
use crate::program::Ended;
use rustix::process::{Signal, kill_process, kill_process_group};
use std::fs;
use std::os::unix::process::CommandExt as _;

/// Answers with `1`, at once for the first documents and then in no hurry.
const PROGRAM: &str = r#"
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    head -c "$length" >/dev/null
    sleep "$PAUSE"
    : >"$NOTES/begun"
    echo 1
done"#;

/// Stops a scan in its middle: as a terminal does, which tells all processes in front of it, or the scan alone.
fn stopped(rig: &Rig, arguments: &[&str], is_group: bool, signal: Signal) -> Ended {
    let notes = rig.directory("notes");
    let mut command = rig.scan(&[&["--allow-write", &notes], arguments].concat());
    let running = start(command.env("PAUSE", "0.05").env("NOTES", &notes).process_group(0));
    wait_until("a document was read", || fs::remove_file(rig.path("notes").join("begun")).is_ok());
    wait_until("another was read", || rig.path("notes").join("begun").exists());
    if is_group {
        kill_process_group(pid_of(&running), signal).unwrap();
    } else {
        kill_process(pid_of(&running), signal).unwrap();
    }
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    none_left(&rig.mark);
    fs::remove_dir_all(notes).unwrap();
    ended.into()
}

#[track_caller]
fn says(ended: &Ended, advice: &str) {
    let said = "utsushi: cannot run the analysis: it was stopped before its end\nwhat to do: ";
    assert!(ended.stderr.ends_with(&format!("{said}{advice}\n")), "{ended:?}");
}

#[test]
fn an_interrupted_scan_ends_in_order_and_goes_on_where_it_stopped() {
    let rig = pages(60).import();
    let output = rig.text("results.jsonl");
    let program = rig.script("slow.sh", PROGRAM);
    let flags = ["-o", &output, "--", "sh", &program];
    for (is_group, signal) in [(false, Signal::INT), (true, Signal::INT), (false, Signal::TERM)] {
        let ended = stopped(&rig, &flags, is_group, signal);
        says(&ended, "run the same command again to continue where it stopped");
        assert!(!rig.path("results.jsonl").exists());
        let [kept] = &rig.kept()[..] else { panic!("{:?}", rig.kept()) };
        assert!(!kept.join("scratch").exists(), "{}", kept.display());
    }
    let notes = rig.directory("notes");
    let mut command = rig.scan(&[&["--allow-write", &notes], &flags[..]].concat());
    let ended = crate::program::run(command.env("PAUSE", "0").env("NOTES", &notes));
    assert!(ended.stderr.contains("continuing where it stopped: "), "{ended:?}");
    assert!(!ended.stderr.contains("stopped: 0 of"), "{ended:?}");
    ended.done();
    assert_eq!(results(&fs::read_to_string(output).unwrap()).len(), 60);
    assert!(marked(&rig.mark).is_empty());
}

#[test]
fn an_interrupted_scan_without_an_output_says_how_to_have_one_that_goes_on() {
    let rig = pages(60).import();
    let program = rig.script("slow.sh", PROGRAM);
    let ended = stopped(&rig, &["--", "sh", &program], true, Signal::INT);
    says(&ended, "with `-o FILE` a stopped scan can be continued");
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new(), "nobody will go on with it");
}
