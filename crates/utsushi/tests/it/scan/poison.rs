//! Documents that harm the program that reads them, in every possible way (H22).
//!
//! `cargo xtask torture scan-poison` does it with 10,000 documents, a hundred of which are poison.

use super::rig::{Corpus, DAY, Rig, none_left, results, rounds, seed, url};
use crate::program::{on, run, utsushi};
use base::Chance;
use base::clock::RealClock;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Answers with the body, unless that is poison.
const PROGRAM: &str = r#"
harm() {
    echo "last words of $1" >&2
    case $1 in
    crash) kill -SEGV $$ ;;
    abort) kill -ABRT $$ ;;
    exit) exit 3 ;;
    ends) exit 0 ;;
    busy) while :; do :; done ;;
    silence) sleep 10000 ;;
    stop) kill -STOP $$ ;;
    balloon) exec tail /dev/zero ;;
    # Each holds back a line that has no end, and is less than it may be.
    family) for i in 1 2 3 4; do (head -c 45000000 /dev/zero; sleep 10000) | tail >/dev/null & done; wait ;;
    # Some two thousand processes, and no more: other tests want to live too.
    bomb) bomb() { [ "$1" = 0 ] && exec sleep 10000; bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; }; bomb 10; sleep 10000 ;;
    garbage) printf '\000\377 garbage\n' ;;
    chatter) exec cat /dev/zero ;;
    murmur) while :; do printf ' '; sleep 0.1; done ;;
    complaint) cat /dev/zero >&2 ;;
    mute) exec >&-; sleep 10000 ;;
    deaf) exec <&-; sleep 10000 ;;
    wrong) printf '{"document":123456789}\n'; sleep 10000 ;;
    daemon) (setsid sleep 10000 >/dev/null 2>&1 &); exit 4 ;;
    # What follows is bad manners, and no harm.
    orphan) (setsid sleep 10000 >/dev/null 2>&1 &) ;;
    held) (setsid sleep 10000 &) ;;
    mutiny) kill -9 $PPID ;;
    litter) head -c 100000 /dev/zero >"$TMPDIR/litter"; mkdir -p "$TMPDIR/a/b"; chmod 0 "$TMPDIR/a" ;;
    twice) printf '{"document":%s,"body":"%s"}\n' "$number" "$body" ;;
    esac
}
while IFS= read -r head; do
    length=${head##*'"length":'}; length=${length%'}'}
    number=${head#*'"document":'}; number=${number%%,*}
    body=$(head -c "$length")
    case $body in *poison:*) kind=${body##*poison:}; harm "${kind%% *}" ;; esac
    printf '{"document":%s,"body":"%s"}\n' "$number" "$body"
done"#;

/// What kills a program, and the causes that may be reported.
const KINDS: &[(&str, &[&str])] = &[
    ("crash", &["crashed"]),
    ("abort", &["crashed"]),
    ("exit", &["ended"]),
    ("ends", &["ended"]),
    ("busy", &["hung"]),
    ("silence", &["hung"]),
    ("stop", &["hung"]),
    // On a busy machine the time limit may come first.
    ("balloon", &["greedy", "ended", "hung"]),
    ("family", &["greedy", "hung"]),
    // The kernel refuses it more processes, of which it may end.
    ("bomb", &["greedy", "hung", "ended"]),
    ("garbage", &["garbage"]),
    ("chatter", &["garbage", "hung"]),
    ("murmur", &["hung"]),
    ("complaint", &["hung"]),
    ("mute", &["ended"]),
    ("deaf", &["hung", "ended"]),
    ("wrong", &["garbage"]),
    ("daemon", &["ended"]),
];
/// What does not.
const HARMLESS: &[&str] = &["orphan", "held", "mutiny", "litter", "twice"];

/// A number of documents, some of them poison, and some that misbehave.
fn poisoned(count: u64, poison: u64, chance: &mut Chance) -> (Rig, BTreeMap<String, &'static str>) {
    let (mut corpus, mut kinds) = (Corpus::new(), BTreeMap::new());
    let mut places: BTreeMap<u64, &'static str> = BTreeMap::new();
    for (kind, _) in KINDS.iter().cycle().take(usize::try_from(poison).unwrap()) {
        // The first one shows that the program works at all.
        let free =
            std::iter::repeat_with(|| 1 + chance.below(count - 1)).find(|place| !places.contains_key(place));
        places.insert(free.unwrap(), kind);
    }
    for number in 0..count {
        let kind = places.get(&number).copied();
        let manners = HARMLESS[chance.index(HARMLESS.len())];
        let body = match kind {
            Some(kind) => format!("page {number} poison:{kind}"),
            None if number > 0 && chance.below(count) < poison => format!("page {number} poison:{manners}"),
            None => format!("page {number}"),
        };
        corpus.page(&url(number), DAY, body);
        kind.map(|kind| kinds.insert(url(number), kind));
    }
    (corpus.import(), kinds)
}

/// Long enough for harmless documents, even on a busy machine.
const LIMITS: &[&str] = &["--progress-limit", "1500ms", "--document-limit", "4s", "--memory", "128MiB"];

#[test]
fn poisoned_scan_sets_aside_the_poison_and_nothing_else() {
    let count = rounds(300);
    let poison = (count / 100).max(KINDS.len() as u64);
    let (rig, kinds) = poisoned(count, poison, &mut Chance::new(seed()));
    let program = rig.script("poison.sh", PROGRAM);
    let clock = RealClock::start();
    let flags = [&["--at", "now", "--jobs", "4", "--strikes", "2"], LIMITS, &["--", "sh", &program]].concat();
    let ended = run(&mut rig.scan_of(&flags));
    let took = clock.real_elapsed();
    let left = none_left(&rig.mark);
    println!("{count} documents, {poison} poison, {took:?}; {left:?} until nothing was left");
    let found = results(&ended.found(&[&format!("{poison} documents quarantined")]));
    for (url, said) in &found {
        assert!(!kinds.contains_key(url), "{url}: {said}");
        let number = url.rsplit_once('/').unwrap().1;
        let body = said["body"].as_str().unwrap();
        assert_eq!(body.split(" poison:").next().unwrap(), format!("page {number}"));
    }
    assert_eq!(found.len() as u64, count - poison);
    set_aside_can_be_tried_again(&rig, &kinds);
}

/// Every document that was set aside is there, with what is known of why, and can be archived elsewhere.
fn set_aside_can_be_tried_again(rig: &Rig, kinds: &BTreeMap<String, &str>) {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, about) in rig.set_aside() {
        let url = about["url"].as_str().unwrap();
        let kind = kinds[url];
        let (_, causes) = KINDS.iter().find(|(known, _)| *known == kind).unwrap();
        assert!(causes.contains(&about["cause"].as_str().unwrap()), "{kind}: {about}");
        assert!(!about["what"].as_str().unwrap().is_empty(), "{kind}: {about}");
        let words = about["stderr"].as_str().unwrap();
        let is_loud = ["bomb", "complaint"].contains(&kind);
        assert!(words.contains(&format!("last words of {kind}")) || is_loud, "{kind}: {about}");
        assert!(words.len() <= 3 * 4_096, "{kind}: so much of it is kept");
        assert_eq!(about["at"], DAY);
        files.push(path.with_file_name(about["warc"].as_str().unwrap()));
        seen.insert(url.to_owned());
    }
    assert_eq!(seen, kinds.keys().cloned().collect(), "exactly the poison");
    let copy = rig.path("copy");
    let imported = run(utsushi().arg("--quiet").arg("--data").arg(&copy).arg("import").args(&files));
    imported.done();
    let bodies = results(&on(&copy, &["scan", "--at", "now", "--each", "--", "cat"]).done());
    assert_eq!(bodies.len(), kinds.len());
    for (url, body) in bodies {
        assert!(body.as_str().unwrap().ends_with(&format!("poison:{}", kinds[&url])), "{url}: {body}");
    }
}

/// A child that was started twice removed belongs to the program all the same.
#[test]
fn what_a_program_takes_by_a_child_that_it_has_left_is_charged_to_it() {
    let mut corpus = Corpus::new();
    for number in 0..6 {
        let greedy = "(setsid tail /dev/zero >/dev/null 2>&1 &); sleep 10000";
        corpus.page(&url(number), DAY, if number == 3 { greedy } else { "echo fine" });
    }
    let rig = corpus.import();
    let flags = ["--strikes", "1", "--memory", "64MiB", "--progress-limit", "30s", "--each", "--", "sh"];
    let found = results(&rig.ended(&flags).found(&["1 document quarantined"]));
    assert_eq!(found.len(), 5);
    let (_, about) = rig.set_aside().remove(0);
    assert_eq!((&about["url"], &about["cause"]), (&url(3).into(), &"greedy".into()), "{about}");
    none_left(&rig.mark);
}

#[test]
fn a_filter_that_fails_on_a_document_costs_that_document() {
    let mut corpus = Corpus::new();
    for number in 0..40_usize {
        let bad = ["exit 3", "kill -SEGV $$", "echo oops >&2; exit 1", "sleep 10000", "sleep 10000 & wait"];
        let body = if number % 8 == 5 { bad[number / 8] } else { "echo fine" };
        corpus.page(&url(number as u64), DAY, body);
    }
    let rig = corpus.import();
    let flags = [&["--strikes", "2", "--each"], LIMITS, &["--", "sh"]].concat();
    let found = results(&rig.ended(&flags).found(&["5 documents quarantined"]));
    assert!(found.len() == 35 && found.values().all(|said| said == "fine\n"), "{found:?}");
    let causes: BTreeMap<_, _> = rig
        .set_aside()
        .into_iter()
        .map(|(_, about)| (about["url"].as_str().unwrap().to_owned(), about))
        .collect();
    let cause = |number| causes[&url(number)]["cause"].as_str().unwrap();
    assert_eq!([5, 13, 21, 29, 37].map(cause), ["ended", "crashed", "ended", "hung", "hung"]);
    assert_eq!(causes[&url(21)]["stderr"], "oops");
    none_left(&rig.mark);
}

#[test]
fn what_is_set_aside_is_that_of_the_last_scan() {
    let mut corpus = Corpus::new();
    for number in 0..8 {
        corpus.page(&url(number), DAY, if number == 3 { "exit 3" } else { "echo fine" });
    }
    let rig = corpus.import();
    let output = rig.text("results.jsonl");
    rig.ended(&["-o", &output, "--each", "--", "sh"]).found(&["1 document quarantined"]);
    assert_eq!(rig.set_aside().len(), 1);
    assert_eq!(fs::read_to_string(&output).unwrap().lines().count(), 7);
    rig.ended(&["-o", &output, "--each", "--", "cat"]).done();
    assert_eq!(
        rig.kept(),
        Vec::<std::path::PathBuf>::new(),
        "the program was mended, and nothing is set aside"
    );
    assert_eq!(results(&fs::read_to_string(&output).unwrap())[&url(3)], Value::from("exit 3"));
}
