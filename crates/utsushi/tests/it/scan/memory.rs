//! Memory is bounded whatever the sizes of documents and answers (M7).

use super::rig::{Corpus, DAY, children, command_of, most_memory, pid_of, start, url};
use base::Chance;
use std::fs;
use std::process::Child;
use std::time::Duration;

/// Answers with many bytes for few, and with few for many.
const PROGRAM: &str = r#"
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    head -c "$length" >/dev/null
    if [ "$length" -lt 1000 ]; then
        echo "=4000000"
        head -c 4000000 /dev/zero | tr '\0' x
    else
        echo "$length"
    fi
done"#;

const MIB: u64 = 1 << 20;
const LONG_BYTES: usize = 60_000_000;
/// Number of documents with long answers.
const SHORT: u64 = 100;
const ANSWER_BYTES: u64 = 4_000_000;
/// Maximum number of answers in the dispatcher; it holds no documents.
const DISPATCHER_BYTES_MAX: u64 = 32 * MIB + 24 * ANSWER_BYTES;
const _: () = assert!(DISPATCHER_BYTES_MAX < SHORT * ANSWER_BYTES / 2);
/// A worker holds a document several times: as received, alone, unpacked, as sent, and the next one after it.
const WORKER_BYTES_MAX: u64 = 32 * MIB + 6 * LONG_BYTES as u64;

#[test]
fn long_documents_and_long_answers_take_bounded_memory() {
    let (mut corpus, mut chance) = (Corpus::new(), Chance::new(1));
    let noise: Vec<u8> =
        std::iter::repeat_with(|| chance.bits().to_le_bytes()).take(LONG_BYTES / 8).flatten().collect();
    for number in 0..SHORT {
        corpus.page(&url(number), DAY, format!("page {number}"));
    }
    // Noise is not shorter for being packed.
    for (number, body) in [(1, &noise[..]), (2, &vec![b' '; LONG_BYTES]), (3, &noise[1..])] {
        corpus.page(&format!("http://long.test/{number}"), DAY, body);
    }
    let rig = corpus.import();
    drop((corpus, noise));
    let (program, output) = (rig.script("long.sh", PROGRAM), rig.text("results.jsonl"));
    let settings = rig.script("settings.toml", "[scan]\nanswer_bytes_max = \"4MiB\"\n");
    let flags = ["--config", &settings, "-o", &output, "--", "sh", &program];
    let mut running = start(&mut rig.scan(&flags));
    let (dispatcher, worker) = watch(&mut running);
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    println!("dispatcher {} MiB, worker {} MiB", dispatcher / MIB, worker / MIB);
    assert!((1..DISPATCHER_BYTES_MAX).contains(&dispatcher), "{} MiB", dispatcher / MIB);
    assert!((1..WORKER_BYTES_MAX).contains(&worker), "{} MiB", worker / MIB);
    assert!(fs::metadata(output).unwrap().len() > SHORT * ANSWER_BYTES);
}

/// The most memory that the dispatcher had, and that any worker had.
fn watch(running: &mut Child) -> (u64, u64) {
    let (mut dispatcher, mut worker) = (0, 0);
    while running.try_wait().unwrap().is_none() {
        let pid = pid_of(running);
        dispatcher = dispatcher.max(most_memory(pid).unwrap_or(0));
        let workers = children(pid).into_iter().filter(|pid| command_of(*pid).contains("scan-worker"));
        worker = workers.filter_map(most_memory).fold(worker, u64::max);
        std::thread::sleep(Duration::from_millis(5));
    }
    (dispatcher, worker)
}
