use super::*;
use serde_json::json;

fn day() -> Day {
    Day::parse("2026-11-16").unwrap()
}

fn passed(server: &str, bytes: u64) -> String {
    json!({ "event": "passed", "address": "203.0.113.9", "server": server, "bytes": bytes }).to_string()
}

#[track_caller]
fn counts(past: &Past, server: &str, expected: (u64, u64)) {
    let key = ("203.0.113.9".to_owned(), server.to_owned());
    assert_eq!(past.counts.get(&key).copied().unwrap_or_default(), expected);
}

#[test]
fn what_was_written_is_counted_again() {
    let place = tempfile::tempdir().unwrap();
    let (mut log, ..) = Log::open(place.path(), day()).unwrap();
    for bytes in [0, 10, 20] {
        log.write(day(), &passed("a.jp", bytes)).unwrap();
    }
    log.write(
        day(),
        &json!({ "event": "closed", "address": "203.0.113.9", "server": "a.jp", "bytes": 5 }).to_string(),
    )
    .unwrap();
    log.write(day(), &json!({ "event": "refused", "address": "203.0.113.9", "server": "a.jp" }).to_string())
        .unwrap();
    drop(log);
    let (_, _, past) = Log::open(place.path(), day()).unwrap();
    counts(&past, "a.jp", (3, 35));
    assert_eq!((past.unread, past.targets().count()), (0, 1));
}

#[test]
fn survives_m1_a_line_that_was_cut_off_stands_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("guard-2026-11-16.jsonl");
    let line = passed("a.jp", 7);
    for cut in 1..line.len() {
        fs::write(&path, format!("{line}\n{}", &line[..cut])).unwrap();
        let (mut log, _, past) = Log::open(place.path(), day()).unwrap();
        counts(&past, "a.jp", (1, 7));
        assert_eq!(past.unread, 1);
        log.write(day(), &line).unwrap();
        drop(log);
        let (_, _, past) = Log::open(place.path(), day()).unwrap();
        counts(&past, "a.jp", (2, 14));
    }
    fs::write(&path, b"\xff\xfe\n\n[]\n{\"event\":3}\n").unwrap();
    let (_, _, past) = Log::open(place.path(), day()).unwrap();
    assert_eq!((past.unread, past.counts.len()), (2, 0));
}

#[test]
fn survives_m6_a_day_that_is_over_does_not_come_back() {
    let place = tempfile::tempdir().unwrap();
    let later = Day::parse("2026-11-18").unwrap();
    let (mut log, ..) = Log::open(place.path(), later).unwrap();
    log.write(later, &passed("a.jp", 0)).unwrap();
    drop(log);
    let (_, counted, past) = Log::open(place.path(), day()).unwrap();
    assert_eq!(counted, later);
    counts(&past, "a.jp", (1, 0));
    let next = Day::parse("2026-11-19").unwrap();
    let (_, counted, past) = Log::open(place.path(), next).unwrap();
    assert_eq!((counted, past.counts.len()), (next, 0), "a new day begins at nothing");
}

#[test]
fn a_new_day_begins_a_new_file() {
    let place = tempfile::tempdir().unwrap();
    let next = Day::parse("2026-11-17").unwrap();
    let (mut log, ..) = Log::open(place.path(), day()).unwrap();
    log.write(day(), "{}").unwrap();
    log.write(next, "{}").unwrap();
    for name in ["guard-2026-11-16.jsonl", "guard-2026-11-17.jsonl"] {
        assert_eq!(fs::read_to_string(place.path().join(name)).unwrap(), "{}\n");
    }
}

#[test]
fn survives_m8_a_second_guard_is_told_who_the_first_is() {
    let place = tempfile::tempdir().unwrap();
    let held = Log::open(place.path(), day()).unwrap();
    let error = Log::open(place.path(), day()).unwrap_err();
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    assert!(error.advice().contains("kill"), "{}", error.advice());
    drop(held);
    Log::open(place.path(), day()).unwrap();
}

/// A log whose directory is taken away, and given back.
#[test]
fn a_log_that_was_moved_or_removed_is_noticed_and_found_again() {
    let place = tempfile::tempdir().unwrap();
    let (directory, away) = (place.path().join("guard"), place.path().join("away"));
    let (mut log, ..) = Log::open(&directory, day()).unwrap();
    log.write(day(), "1").unwrap();
    fs::rename(&directory, &away).unwrap();
    assert!(log.write(day(), "2").is_err() && log.check(day()).is_err());
    fs::rename(&away, &directory).unwrap();
    log.write(day(), "3").unwrap();
    let path = directory.join("guard-2026-11-16.jsonl");
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n3\n");

    fs::remove_dir_all(&directory).unwrap();
    assert!(log.write(day(), "4").is_err(), "it does not create the directory again");
    fs::create_dir(&directory).unwrap();
    log.check(day()).unwrap();
    log.write(day(), "5").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "5\n");
    assert!(
        matches!(Log::open(&directory, day()), Err(Error::InUse { .. })),
        "and the lock is held there too"
    );

    fs::remove_file(&path).unwrap();
    log.write(day(), "6").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "6\n", "a removed file is created again");
}

#[test]
fn survives_h24_a_line_steers_no_terminal() {
    let line = to_line(&json!({ "reason": "a\u{1b}[2J\u{9b}\u{202e}\n日本" }));
    assert_eq!(line, r#"{"reason":"a\u001b[2J\u009b\u202e\n日本"}"#);
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["reason"], "a\u{1b}[2J\u{9b}\u{202e}\n日本");
}
