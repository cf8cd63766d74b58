//! A scan whose processes are killed at random moments, the dispatcher among them: the results are the same.
//!
//! `cargo xtask torture scan-kill` kills 200 workers and programs, and 20 dispatchers.

use super::rig::{
    Rig, children, end, lines_of, none_left, pages, pid_of, results, rounds, seed, start, url, wait_until,
};
use base::Chance;
use rustix::process::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// Answers with the body, in no hurry, and notes in which life of the scan it read which document.
const PROGRAM: &str = r#"
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    number=${head#*'"document":'}; number=${number%%,*}
    body=$(head -c "$length")
    echo "$number" >>"$NOTES/$LIFE"
    echo "$body" >"$TMPDIR/$number"
    sleep "$PAUSE"
    printf '{"document":%s,"body":"%s"}\n' "$number" "$body"
done"#;

struct Torture {
    rig: Rig,
    documents: u64,
    program: String,
    notes: String,
}

impl Torture {
    fn new(documents: u64) -> Self {
        let rig = pages(documents).import();
        let (program, notes) = (rig.script("slow.sh", PROGRAM), rig.directory("notes"));
        Self { rig, documents, program, notes }
    }
    /// Starts or continues the scan.
    fn start(&self, life: u64, output: &str, pause: &str) -> Child {
        let mut command = self.rig.scan(&[
            "-o",
            &self.rig.text(output),
            "--strikes",
            "100",
            "--allow-write",
            &self.notes,
            "--",
            "sh",
            &self.program,
        ]);
        command.env("LIFE", life.to_string()).env("NOTES", &self.notes).env("PAUSE", pause);
        command.env("UTSUSHI_SCAN_MARK", self.mark(life));
        start(&mut command)
    }
    fn mark(&self, life: u64) -> String {
        format!("{} {life}", self.rig.mark)
    }
    fn noted(&self, life: u64) -> PathBuf {
        self.rig.path("notes").join(life.to_string())
    }
    /// The result without a kill.
    fn sorted(&self, output: &str) -> Vec<String> {
        let mut lines = lines_of(&self.rig.path(output));
        lines.sort_unstable();
        lines
    }
}

/// Workers and programs below a dispatcher.
fn below(dispatcher: Pid) -> Vec<Pid> {
    let workers = children(dispatcher);
    workers.iter().copied().chain(workers.iter().flat_map(|worker| children(*worker))).collect()
}

/// Kills something below a scan at some moment.
fn strike(running: &mut Child, chance: &mut Chance) {
    std::thread::sleep(Duration::from_millis(20 + chance.below(120)));
    let mut found = below(pid_of(running));
    if found.is_empty() {
        wait_until("a worker is there", || {
            found = below(pid_of(running));
            !found.is_empty() || running.try_wait().unwrap().is_some()
        });
    }
    if let Some(ended) = running.try_wait().unwrap() {
        panic!("the scan ended before its time: {ended}: {}", complaints(running));
    }
    end(*chance.pick(&found));
}

fn complaints(running: &mut Child) -> String {
    let mut said = String::new();
    running.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// Number of documents done before a scan continued.
fn were_done(said: &str) -> u64 {
    let line = said
        .lines()
        .find_map(|line| line.split_once("continuing where it stopped: "))
        .unwrap_or_else(|| panic!("{said}"));
    line.1.split_once(" of ").unwrap().0.replace(',', "").parse().unwrap()
}

#[test]
fn killed_scan_gives_the_same_results() {
    let kills = rounds(10);
    let (lives, mut chance) = ((kills / 10).max(2), Chance::new(seed()));
    let torture = Torture::new(kills * 60);
    let whole = torture.start(u64::MAX, "whole.jsonl", "0").wait_with_output().unwrap();
    assert_eq!(whole.status.code(), Some(0), "{whole:?}");
    assert_eq!(results(&torture.sorted("whole.jsonl").join("\n")).len() as u64, torture.documents);
    let (mut done, mut longest) = (vec![0], Duration::ZERO);
    for life in 0..=lives {
        let mut running = torture.start(life, "killed.jsonl", "0.01");
        let share = kills / (lives + 1) + u64::from(life < kills % (lives + 1));
        wait_until("a document is read", || {
            torture.noted(life).exists() || running.try_wait().unwrap().is_some()
        });
        (0..share).for_each(|_| strike(&mut running, &mut chance));
        if life < lives {
            running.kill().unwrap();
            running.wait().unwrap();
            // The next one may come while the last of this one are still on their way out.
            if life % 2 == 0 {
                longest = longest.max(none_left(&torture.mark(life)));
            }
        } else {
            let ended = running.wait().unwrap();
            assert_eq!(ended.code(), Some(0), "{}", complaints(&mut running));
        }
        if life > 0 {
            done.push(were_done(&complaints(&mut running)));
        }
    }
    (0..=lives).for_each(|life| longest = longest.max(none_left(&torture.mark(life))));
    wait_until("no group of processes is left", || groups_of_nobody().is_empty());
    assert_eq!(torture.sorted("killed.jsonl"), torture.sorted("whole.jsonl"));
    let analysed = nothing_twice(&torture, &done);
    println!(
        "{kills} and {lives} kills, {} documents, {analysed} times read; {longest:?} until nothing was left",
        torture.documents
    );
}

/// Control groups of workers that have ended.
fn groups_of_nobody() -> Vec<String> {
    let mut names = Vec::new();
    groups_below(Path::new("/sys/fs/cgroup"), &mut names);
    let is_nobodys = |name: &String| {
        let worker = name.strip_prefix("utsushi-scan-");
        worker.is_some_and(|worker| !PathBuf::from("/proc").join(worker).exists())
    };
    names.into_iter().filter(is_nobodys).collect()
}

fn groups_below(directory: &Path, names: &mut Vec<String>) {
    let found = fs::read_dir(directory).into_iter().flatten().flatten();
    for group in found.filter(|found| found.file_type().is_ok_and(|kind| kind.is_dir())) {
        names.push(group.file_name().to_string_lossy().into_owned());
        groups_below(&group.path(), names);
    }
}

/// Checks that documents done before a scan continued were not read again; returns how often documents were read in
/// total.
fn nothing_twice(torture: &Torture, done: &[u64]) -> usize {
    let (mut read, mut times) = (BTreeSet::new(), 0);
    for (life, done) in done.iter().enumerate().rev() {
        let lines = lines_of(&torture.noted(life as u64));
        times += lines.len();
        read.extend(lines);
        assert_eq!(
            read.len() as u64,
            torture.documents - done,
            "of those left when life {life} began, each was read"
        );
    }
    assert!(done.is_sorted() && done.last() > Some(&0), "{done:?}");
    times
}

#[test]
fn a_scan_that_was_killed_at_a_poisoned_document_goes_on() {
    let mut corpus = super::rig::Corpus::new();
    for number in 0..30 {
        corpus.page(&url(number), super::rig::DAY, if number == 12 { "sleep 10000" } else { "echo fine" });
    }
    let rig = corpus.import();
    let output = rig.text("results.jsonl");
    let flags = ["-o", &output, "--progress-limit", "1s", "--strikes", "2", "--each", "--", "sh"];
    let mut running = start(&mut rig.scan(&flags));
    let journal = || {
        fs::read_dir(rig.data.join("scans"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|scan| scan.path().join("journal"))
    };
    let length = || journal().next().and_then(|path| fs::metadata(path).ok()).map_or(0, |found| found.len());
    // All but the poisoned one are done; it does not delay others.
    let mut last = (0, 0);
    wait_until("nothing is left but poison", || {
        std::thread::sleep(Duration::from_millis(50));
        last = if length() == last.0 { (last.0, last.1 + 1) } else { (length(), 0) };
        last.0 > 1_000 && last.1 >= 5
    });
    running.kill().unwrap();
    running.wait().unwrap();
    none_left(&rig.mark);
    let ended = rig.ended(&flags);
    let said = ended.stderr.clone();
    ended.found(&["1 document quarantined"]);
    assert!((15..30).contains(&were_done(&said)), "{said}");
    assert_eq!(results(&fs::read_to_string(output).unwrap()).len(), 29);
}
