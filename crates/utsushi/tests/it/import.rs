//! Files of others become part of the archive: all of them, once, also after a `kill -9`.

use crate::made::{Made, PAGE, imported, small_web};
use crate::program::{self, Ended, contents, format_text, objects, on, run, utsushi};
use base::Chance;
use base::disk::RealDisk;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use warc::Kind;

/// The last line of an import.
fn summary(said: &str) -> Value {
    objects(said).pop().unwrap()["summary"].clone()
}

fn import(data: &Path, file: &Path) -> Ended {
    on(data, &["--json", "import", file.to_str().unwrap()])
}

/// Every capture of the archive: what and when.
fn captures(data: &Path) -> Vec<(String, String)> {
    let list = archive::list(&RealDisk, &data.join("archive")).unwrap();
    list.map(|entry| entry.unwrap()).map(|entry| (entry.url.clone(), entry.at.to_rfc3339())).collect()
}

#[test]
fn captures_keep_their_times_and_bytes() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("whatever.it.is.called"));
    let said = import(&data, &small_web().write(&file)).done();
    let told = summary(&said);
    assert_eq!(
        (&told["added"], &told["known"], &told["damaged"]),
        (&9.into(), &0.into(), &0.into()),
        "{told}"
    );
    assert_eq!(objects(&said).len(), 10, "a line a capture, and the summary");
    assert_eq!(on(&data, &["get", PAGE, "--at", "2026-03-02"]).done(), "first");
    assert!(fs::read_to_string(data.join("FORMAT")).unwrap().contains("web = \"public\""));
    on(&data, &["verify"]).done();
}

#[test]
fn import_status_and_verify_count_the_same_captures() {
    let mut made = small_web();
    made.other(&Kind::Resource, "http://example.org/shot.txt", "2026-03-02T00:00:00Z", "seen").other(
        &Kind::Conversion,
        "http://example.org/text",
        "2026-03-02T00:00:00Z",
        "told",
    );
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("made.warc.gz"));
    let told = summary(&import(&data, &made.write(&file)).done());
    let status = objects(&on(&data, &["--json", "status"]).done()).remove(0)["archive"].clone();
    let verified = summary(&on(&data, &["--json", "verify"]).done());
    for (one, captures, others) in [
        ("import", &told["added"], &told["others"]),
        ("status", &status["captures"], &status["others"]),
        ("verify", &verified["captures"], &verified["others"]),
    ] {
        assert_eq!((captures, others), (&10.into(), &1.into()), "{one}: {told} {status} {verified}");
    }
    assert_eq!(verified["indexed"], 11, "{verified}");
    let text = on(&data, &["status"]).done();
    // Contents that were there before are stored as references. Only one of them is of the same page at the visit before.
    let kinds = "10: 5 in full, 1 unchanged, 3 duplicates, 1 without an exchange and 1 other record";
    assert!(text.contains(kinds), "{text}");
}

#[test]
fn importing_twice_changes_nothing() {
    let made = small_web();
    let (place, data) = imported(&made);
    let before = contents(&data.join("archive"));
    let told = summary(&import(&data, &place.path().join("made.warc.gz")).done());
    assert_eq!((&told["added"], &told["known"]), (&0.into(), &9.into()), "{told}");
    assert_eq!(contents(&data.join("archive")), before);
}

#[test]
fn damage_costs_what_is_damaged_and_no_more() {
    let made = small_web();
    let place = tempfile::tempdir().unwrap();
    let mut bytes = made.bytes().to_vec();
    let damaged = usize::try_from(made.offsets[2]).unwrap();
    bytes[damaged + 40] ^= 0xff;
    let file = place.path().join("damaged.warc.gz");
    fs::write(&file, bytes).unwrap();
    let data = place.path().join("data");
    let said = import(&data, &file).found(&[]);
    let told = objects(&said).into_iter().find(|line| line["event"] == "damaged").unwrap();
    assert_eq!(told["input_offset"], made.offsets[2], "{told}");
    assert_eq!((&summary(&said)["added"], &summary(&said)["damaged"]), (&8.into(), &1.into()));
    let offset = format!("at byte {}", made.offsets[2]);
    on(&data, &["import", file.to_str().unwrap()]).found(&[&offset, "reading continues"]);
}

#[test]
fn a_file_that_is_cut_off_gives_what_it_holds() {
    let made = small_web();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("cut.warc.gz");
    fs::write(&file, &made.bytes()[..made.bytes().len() - 20]).unwrap();
    let said = import(&place.path().join("data"), &file).found(&[]);
    let last = *made.offsets.last().unwrap();
    assert_eq!(summary(&said)["added"], 8);
    let told = objects(&said).into_iter().find(|line| line["event"] == "damaged").unwrap();
    assert_eq!(told["input_offset"], last, "{told}");
    assert!(told["what"].as_str().unwrap().contains("the file ends inside a record"), "{told}");
}

#[test]
fn a_file_that_cannot_be_imported_costs_no_other() {
    let place = tempfile::tempdir().unwrap();
    let good = small_web().write(&place.path().join("good.warc.gz"));
    let (text, empty) = (place.path().join("text.warc.gz"), place.path().join("empty.warc"));
    fs::write(&text, "WARC/ is what this text is about, and it is none").unwrap();
    fs::write(&empty, "").unwrap();
    let cut = place.path().join("cut.warc.gz");
    fs::write(&cut, &small_web().bytes()[..100]).unwrap();
    let absent = place.path().join("absent.warc");
    for (number, bad) in [&text, &empty, &cut, &absent, &place.path().to_owned()].into_iter().enumerate() {
        let (alone, data) =
            (place.path().join(format!("alone-{number}")), place.path().join(format!("data-{number}")));
        on(&alone, &["import", bad.to_str().unwrap()])
            .could_not(&[&format!("cannot import `{}`", bad.display()), "nothing was imported"]);
        assert!(!alone.exists());
        let files = ["--json", "import", bad.to_str().unwrap(), good.to_str().unwrap()];
        let said = on(&data, &files).found(&[]);
        let told = objects(&said).into_iter().find(|line| line["event"] == "file_left_out").unwrap();
        assert_eq!(told["input"], bad.to_str().unwrap());
        let summary = summary(&said);
        assert_eq!((&summary["added"], &summary["files_left_out"]), (&9.into(), &1.into()), "{summary}");
    }
    on(&place.path().join("data"), &["import"]).wrong(&["FILE"]);
}

/// A record of someone else, plain.
fn plain(kind: &str, id: u32, date: &str, more: &str, block: &str) -> String {
    format!(
        "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{id}>\r\nWARC-Date: {date}\r\n\
         WARC-Target-URI: http://example.org/\r\n{more}Content-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn the_summary_accounts_for_every_record_that_was_read() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("odd.warc"));
    let wrong = "WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n";
    let right = base::Sha1Digest::of(&[b"hi"]);
    let kept = format!("{wrong}WARC-Payload-Digest: {right}\r\n");
    let (answer, request) = ("HTTP/1.1 200 OK\r\n\r\nhi", "GET / HTTP/1.1\r\n\r\n");
    let of = |id: u32| format!("WARC-Concurrent-To: <urn:uuid:{id}>\r\n");
    let records = [
        plain("response", 1, "2014", "", answer),
        plain("request", 2, "2014", &of(1), request),
        plain("response", 3, "2015-01-05T00:00:00Z", &kept, answer),
        plain("request", 4, "2015-01-05T00:00:00Z", &(of(3) + wrong), request),
        plain("response", 5, "2016-01-05T00:00:00Z", wrong, answer),
        plain("request", 6, "2016-01-05T00:00:00Z", &of(5), request),
        plain("response", 7, "never", "", answer),
    ];
    fs::write(&file, records.concat()).unwrap();
    let said = import(&data, &file).found(&[]);
    let accounted = summary(&said)["accounted"].clone();
    let digest = "its block does not match its digest";
    let left_out = &accounted["left_out"];
    assert_eq!((&accounted["read"], &accounted["imported"]), (&7.into(), &3.into()), "{accounted}");
    assert_eq!(left_out[digest], 3, "a request alone, and an answer with its request: {accounted}");
    assert_eq!(left_out.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 4);
    let again = on(&data, &["import", file.to_str().unwrap()]).found(&[]);
    assert!(again.contains("7  records read = 0 imported + 3 known + 4 left out"), "{again}");
    assert_eq!(on(&data, &["get", "http://example.org/", "--at", "2014-06-01"]).done(), "hi");
    on(&data, &["verify"]).done();
}

#[test]
fn an_arc_file_is_taken_over() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("1999.arc"));
    let answer = "HTTP/1.0 200 OK\nContent-Type: text/html\n\nan old page";
    let text = format!(
        "filedesc://1999.arc 0.0.0.0 19990101000000 text/plain 14\n1 0 Someone\n-\n\n\
         http://example.org/ 192.0.2.1 19990102030405 text/html {}\n{answer}\n",
        answer.len()
    );
    fs::write(&file, &text).unwrap();
    let told = summary(&import(&data, &file).done());
    assert_eq!(
        (&told["added"], &told["others"]),
        (&1.into(), &1.into()),
        "the page, and what describes the file"
    );
    assert_eq!(on(&data, &["get", "http://example.org/", "--at", "1999-12-31"]).done(), "an old page");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    fs::write(&file, packed.finish().unwrap()).unwrap();
    let told = summary(&import(&data, &file).done());
    assert_eq!((&told["known"], &told["records"]), (&2.into(), &2.into()), "{told}");
}

#[test]
fn a_directory_of_the_simulated_web_or_in_use_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let file = small_web().write(&place.path().join("made.warc.gz"));
    let simulated = place.path().join("simulated");
    fs::create_dir(&simulated).unwrap();
    fs::write(simulated.join("FORMAT"), format_text(1, "simulated")).unwrap();
    import(&simulated, &file).could_not(&["it contains the simulated web, not the public one"]);

    let (_place, data) = imported(&small_web());
    fs::write(data.join("lock"), "pid = 4711\ncommand = \"crawl\"\nsince = \"2026-03-31T09:00:00Z\"\n")
        .unwrap();
    let lock = File::options().read(true).write(true).open(data.join("lock")).unwrap();
    lock.lock().unwrap();
    for command in [&["import", file.to_str().unwrap()][..], &["--quiet", "takedown", "--url", PAGE, "--yes"]]
    {
        let ended = on(&data, command);
        ended.could_not(&["cannot reach process 4711 (`utsushi crawl`)", "accepts no commands", "kill 4711"]);
    }
    on(&data, &["rebuild", "index"]).could_not(&["in use by process 4711 (`utsushi crawl`)"]);
    assert_eq!(on(&data, &["get", PAGE]).done(), "second", "readers need no lock");
}

/// A file of `count` answers that do not compress well.
fn large(place: &Path, count: u64, body_bytes: usize) -> PathBuf {
    let mut made = Made::new();
    let mut chance = Chance::new(7);
    for number in 0..count {
        let body: String = (0..body_bytes / 2).map(|_| format!("{:02x}", chance.index(256))).collect();
        made.answer(&format!("http://example.org/{number}"), "2026-03-01T00:00:00Z", 200, &body);
    }
    made.write(&place.join("large.warc.gz"))
}

#[test]
fn survives_m1_a_kill_in_the_middle_and_everything_is_there_once() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), large(place.path(), 6_000, 2_000));
    let mut acknowledged = HashSet::new();
    for count in [1, 1_500] {
        let mut command = utsushi();
        command.arg("--data").arg(&data).args(["--json", "import"]).arg(&file);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        for _ in 0..count {
            output.read_line(&mut said).unwrap();
        }
        child.kill().unwrap();
        output.read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        let lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        acknowledged.extend(lines.filter_map(|line| line["url"].as_str().map(str::to_owned)));
        let kept: HashSet<String> = captures(&data).into_iter().map(|(url, _)| url).collect();
        assert!(acknowledged.is_subset(&kept), "what was acknowledged is kept");
    }
    let told = summary(&import(&data, &file).done());
    assert_eq!(told["added"].as_u64().unwrap() + told["known"].as_u64().unwrap(), 6_000, "{told}");
    assert!(told["known"].as_u64().unwrap() >= acknowledged.len() as u64, "{told}");
    let all = captures(&data);
    assert_eq!((all.len(), all.into_iter().collect::<HashSet<_>>().len()), (6_000, 6_000));
    on(&data, &["verify"]).done();
}

#[test]
fn survives_m4_a_disk_that_fills_up_and_gets_room_again() {
    let place = tempfile::tempdir().unwrap();
    large(place.path(), 3_000, 4_000);
    let script = "mkdir disk && mount -t tmpfs -o size=3m tmpfs disk || exit 77\n\
                  printf '[archive]\\ndisk_free_bytes_min = 0\\ndisk_free_percent_min = 0\\n' > c.toml\n\
                  \"$0\" --json --config c.toml --data disk/data import large.warc.gz > said 2> notes &\n\
                  for _ in $(seq 600); do grep -q 'waiting for space on disk' notes && break; sleep 0.1; done\n\
                  mount -o remount,size=64m tmpfs disk; wait $!; code=$?\n\
                  \"$0\" --config c.toml --data disk/data verify > verified || exit 79; exit $code";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_utsushi")]).current_dir(place.path());
    let ended = run(&mut unshare);
    if ended.code == Some(77) || ended.stderr.starts_with("unshare: ") {
        program::not_tested("a disk that gets room again, for no small disk can be mounted here");
        return;
    }
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    assert_eq!(ended.code, Some(0), "{ended:?} {}", read("notes"));
    assert!(
        read("notes").contains("waiting for space on disk")
            && read("notes").contains("disk space is available again")
    );
    assert_eq!(summary(&read("said"))["added"], 3_000);
}
