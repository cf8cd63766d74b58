//! Where results go: a reader that leaves, a file of each form, a figure.

use super::rig::{none_left, pages, start, wait_until};
use std::fs;
use std::io::{BufRead as _, BufReader};

#[test]
fn a_scan_whose_reader_has_left_stops_and_says_nothing() {
    let rig = pages(2_000).import();
    let slow = rig.script(
        "slow.sh",
        "while IFS= read -r head; do\n length=${head##*'\"length\":'}; head -c \"${length%'}'}\" >/dev/null; sleep 0.01; echo 1\ndone",
    );
    let mut running = start(&mut rig.scan(&["--", "sh", &slow]));
    let mut first = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("pages.test"), "{first}");
    wait_until("it has ended", || running.try_wait().unwrap().is_some());
    let ended = running.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8(ended.stderr).unwrap()), (Some(0), String::new()));
    none_left(&rig.mark);
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn results_and_traces_are_written_in_the_form_that_the_name_says() {
    let rig = pages(20).import();
    let [csv, parquet, figure, data] =
        ["a.csv", "a.parquet", "trace.svg", "trace.json"].map(|name| rig.text(name));
    rig.ended(&["-o", &csv, "--trace", &figure, "--builtin", "sizes"]).done();
    let table = fs::read_to_string(csv).unwrap();
    assert!(table.starts_with("document,url,at,kind,result\r\n") && table.lines().count() == 21, "{table}");
    let drawn = fs::read_to_string(figure).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("20 documents"), "{drawn}");
    rig.ended(&["-o", &parquet, "--trace", &data, "--builtin", "sizes"]).done();
    let table = fs::read(parquet).unwrap();
    assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"));
    let told = super::rig::json(&fs::read_to_string(data).unwrap());
    assert_eq!((&told["supply"], &told["documents"]), (&"pipelined".into(), &20.into()), "{told}");
}

#[test]
fn a_trace_that_cannot_be_written_is_refused_before_anything_is_analysed() {
    let rig = pages(20).import();
    let nowhere = rig.text("nowhere/trace.svg");
    rig.ended(&["--trace", &nowhere, "--builtin", "sizes"]).could_not(&["cannot write", "nowhere/trace.svg"]);
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_a_killed_scan_without_an_output_left_is_removed_by_the_next() {
    let rig = pages(20).import();
    let mut running = start(&mut rig.scan(&["--each", "--", "sleep", "1000"]));
    wait_until("it has begun", || {
        rig.data.join("scans").exists()
            && rig.kept().first().is_some_and(|kept| kept.join("journal").exists())
    });
    running.kill().unwrap();
    running.wait().unwrap();
    none_left(&rig.mark);
    assert_eq!(rig.kept().len(), 1);
    rig.ended(&["--builtin", "sizes"]).done();
    assert_eq!(rig.kept(), Vec::<std::path::PathBuf>::new());
}
