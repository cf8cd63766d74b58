//! A working process is killed (`kill -9`), again and again; the next one continues. What a process had confirmed is
//! there, and table and records are of one commit.

use base::disk::{DirectDisk, Disk, RealDisk};
use sat::{Batch, Minute, Options, Store};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The variable that marks the process to be killed; its value is the directory.
const DIRECTORY: &str = "SAT_TEST_KILLED_IN";
/// The variable that makes it bypass the page cache.
const DIRECT: &str = "SAT_TEST_KILLED_DIRECT";
const RECORDS: u64 = 3_000;
const KILLS: u32 = 4;
/// Commits that a process confirms before it is killed.
const COMMITS: usize = 40;

fn open(directory: &Path, direct: bool) -> Store {
    let mut options = Options::default();
    (options.pool_bytes, options.log_bytes, options.segment_bytes) = (512 << 10, 1 << 20, 1 << 20);
    options.read_threads = 2;
    let disk: Arc<dyn Disk> = if direct { Arc::new(DirectDisk) } else { Arc::new(RealDisk) };
    Store::open(disk, directory, options).unwrap()
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

fn sum(store: &Store) -> u64 {
    store.table().get(&b"sum"[..]).map_or(0, |sum| number(sum))
}

/// Not a test: the process that the other tests start and kill. Otherwise it does nothing.
#[test]
fn the_process_that_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let mut store = open(&directory, std::env::var_os(DIRECT).is_some());
    if store.count() == 0 {
        for key in 0..RECORDS {
            store.offer(&key.to_le_bytes(), Minute(1 + u32::try_from(key % 50).unwrap()), &[0; 200]).unwrap();
            if key % 500 == 499 {
                store.commit().unwrap();
            }
        }
        store.settle().unwrap();
    }
    let mut batch = Batch::new();
    loop {
        store.advance(Minute(store.minute().0 + 1));
        while store.next_due(&mut batch).unwrap() {
            for record in batch.records() {
                let mut value = record.value.to_vec();
                let visits = number(&value) + 1;
                value[..8].copy_from_slice(&visits.to_le_bytes());
                let due = Minute(store.minute().0 + 1 + u32::try_from(visits * 7 % 300).unwrap());
                store.update(record.number, record.key, due, &value).unwrap();
            }
            let sum = sum(&store) + batch.len() as u64;
            store.set(b"sum", &sum.to_le_bytes()).unwrap();
            store.commit().unwrap();
            println!("confirmed {sum}");
        }
    }
}

/// Starts the process, kills it after some commits, and returns the last checksum that it confirmed.
fn kill_one(directory: &Path, direct: bool) -> u64 {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "killed::the_process_that_is_killed", "--nocapture"]).env(DIRECTORY, directory);
    if direct {
        command.env(DIRECT, "1");
    }
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let confirmed =
        lines.map_while(Result::ok).filter_map(|line| line.split("confirmed ").nth(1)?.parse().ok());
    let last = confirmed.take(COMMITS).last();
    child.kill().unwrap();
    child.wait().unwrap();
    last.expect("it confirms what it does")
}

fn check(direct: bool) {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("store");
    for _ in 0..KILLS {
        let confirmed = kill_one(&directory, direct);
        let mut store = open(&directory, direct);
        let sum = sum(&store);
        assert!(sum >= confirmed, "{confirmed} were confirmed and {sum} are there");
        let (mut records, mut visits) = (0, 0);
        store
            .for_each(|record| {
                records += 1;
                visits += number(record.value);
                Ok::<(), sat::Error>(())
            })
            .unwrap();
        assert_eq!(
            (records, visits),
            (RECORDS, sum),
            "every record once, of the commit that the table is of"
        );
        assert!(store.verify().unwrap().is_empty());
    }
}

#[test]
fn survives_kill_9_through_the_page_cache() {
    check(false);
}

#[test]
fn survives_kill_9_without_the_page_cache() {
    check(true);
}
