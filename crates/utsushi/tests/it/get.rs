//! One version of a page, as bytes.

use crate::made::{PAGE, imported, small_web};
use crate::program::{objects, on};
use std::fs;

#[test]
fn a_version_is_had_at_any_moment_at_which_it_is_valid() {
    let (_place, data) = imported(&small_web());
    for (at, expected) in [
        ("2026-03-01", "first"),
        ("20260302120000", "first"),
        ("2026-03-03T09:00:00+09:00", "second"),
        ("2026-03-03", "second"),
        ("now", "second"),
    ] {
        assert_eq!(on(&data, &["get", PAGE, "--at", at]).done(), expected, "{at}");
    }
    assert_eq!(on(&data, &["get", PAGE]).done(), "second");
}

#[test]
fn head_and_message_are_had_as_archived() {
    let (_place, data) = imported(&small_web());
    let head = on(&data, &["get", PAGE, "--at", "2026-03-02", "--head"]).done();
    assert_eq!(head, "HTTP/1.1 200 Made\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n");
    let raw = on(&data, &["get", PAGE, "--at", "2026-03-02", "--raw"]).done();
    assert_eq!(raw, format!("{head}first"));
    on(&data, &["get", PAGE, "--raw", "--head"]).wrong(&["--raw", "--head"]);
}

#[test]
fn when_there_is_none_the_nearest_are_named() {
    let (_place, data) = imported(&small_web());
    let parts = [
        "no version of `http://example.org/news` is valid at 2026-03-04T12:00:00Z",
        "the previous version is valid from 2026-03-03T00:00:00Z until 2026-03-04T00:00:00Z",
        "the next version is valid from 2026-03-05T00:00:00Z, still valid",
    ];
    assert_eq!(on(&data, &["get", PAGE, "--at", "2026-03-04T12:00:00Z"]).found(&parts), "");
    on(&data, &["get", PAGE, "--at", "2026-02-01"])
        .found(&["the next version is valid from 2026-03-01T00:00:00Z"]);
    on(&data, &["get", "http://example.org/old"])
        .found(&["is valid now: it is gone", "until 2026-03-02T12:00:00Z"]);
    on(&data, &["get", "http://example.org/nothing"]).found(&["is not archived"]);
}

#[test]
fn a_file_appears_when_it_is_whole() {
    let (place, data) = imported(&small_web());
    let file = place.path().join("page.html");
    let arguments = ["--json", "get", PAGE, "--at", "2026-03-01", "-o", file.to_str().unwrap()];
    let told = objects(&on(&data, &arguments).done()).remove(0);
    assert_eq!((&told["output_bytes"], &told["flag"]), (&5.into(), &"changed".into()));
    assert_eq!(fs::read(&file).unwrap(), b"first");
    on(&data, &["--json", "get", PAGE]).could_not(&["the bytes of a page are not JSON", "-o FILE"]);
    on(&data, &["get", PAGE, "-o", "/nowhere/page"]).could_not(&["cannot write `/nowhere/page`"]);
}

#[test]
fn a_wrong_time_names_its_flag_and_what_to_write() {
    let (_place, data) = imported(&small_web());
    for at in ["yesterday", "2026-13-01", ""] {
        on(&data, &["get", PAGE, "--at", at]).wrong(&["--at", "is not a time; write RFC 3339"]);
    }
    on(&data, &["get", PAGE, "--at", "9999-12-31T23:59:59.999999Z"]).wrong(&["end of time"]);
}

#[test]
fn survives_m5_damage_is_told_and_nothing_of_it_is_handed_out() {
    let (_place, data) = imported(&small_web());
    let line = objects(&on(&data, &["--json", "history", PAGE]).done()).remove(0);
    let path = data.join("archive").join(line["file"].as_str().unwrap());
    let mut bytes = fs::read(&path).unwrap();
    let end = line["offset"].as_u64().unwrap() + line["length"].as_u64().unwrap();
    bytes[usize::try_from(end).unwrap() - 12] ^= 1;
    fs::write(&path, bytes).unwrap();
    for arguments in [&["get", PAGE, "--at", "2026-03-02"][..], &["get", PAGE, "--at", "2026-03-02", "--raw"]]
    {
        let ended = on(&data, arguments);
        ended.could_not(&["is damaged", "utsushi verify"]);
        assert_eq!(ended.stdout, "");
    }
    assert_eq!(on(&data, &["get", PAGE]).done(), "second", "the others are not concerned");
}
