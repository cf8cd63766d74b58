//! Verification: of the archive, and of anyone's files.

use crate::made::{PAGE, imported, small_web};
use crate::program::{objects, on, run, utsushi};
use std::fs;

#[test]
fn a_valid_file_is_valid_whoever_asks() {
    let place = tempfile::tempdir().unwrap();
    let file = small_web().write(&place.path().join("made.warc.gz"));
    let said = run(utsushi().arg("verify").arg(&file)).done();
    assert!(said.contains("made.warc.gz: 9 records, valid"), "{said}");
    let said = run(utsushi().args(["--json", "verify"]).arg(&file)).done();
    let summary = objects(&said).pop().unwrap()["summary"].clone();
    assert_eq!((&summary["records"], &summary["errors"]), (&9.into(), &0.into()));
}

#[test]
fn a_broken_record_is_named_with_its_clause() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("broken.warc");
    let record = "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: 2026-02-30T09:00:00Z\r\n\
                  WARC-Record-ID: <urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39>\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    fs::write(&file, record).unwrap();
    let said = run(utsushi().args(["--json", "verify"]).arg(&file)).found(&[]);
    let finding = &objects(&said)[0];
    assert_eq!(
        (&finding["severity"], &finding["clause"], &finding["offset"]),
        (&"error".into(), &"5.4".into(), &0.into())
    );
    let said = run(utsushi().arg("verify").arg(&file)).found(&[]);
    assert!(said.contains("error: record 1 at byte 0") && said.contains("not valid; errors: 1"), "{said}");
}

#[test]
fn a_file_that_cannot_be_read_keeps_no_other_from_being_looked_at() {
    let place = tempfile::tempdir().unwrap();
    let file = small_web().write(&place.path().join("made.warc.gz"));
    let ended = run(utsushi().arg("verify").arg("/nowhere/x.warc").arg(place.path()).arg(&file));
    ended.could_not(&["cannot read `/nowhere/x.warc`"]);
    assert!(ended.stdout.contains("9 records, valid"), "{ended:?}");
    let text = place.path().join("text");
    fs::write(&text, "no WARC at all").unwrap();
    run(utsushi().arg("verify").arg(text)).found(&[]);
}

#[test]
fn survives_m5_a_flipped_bit_in_the_archive_is_found() {
    let (_place, data) = imported(&small_web());
    let said = on(&data, &["verify"]).done();
    assert!(said.contains("9 captures, 9 in the index: all as stored"), "{said}");
    let line = objects(&on(&data, &["--json", "history", PAGE]).done()).remove(2);
    let path = data.join("archive").join(line["file"].as_str().unwrap());
    let mut bytes = fs::read(&path).unwrap();
    let offset = line["offset"].as_u64().unwrap();
    // A field of the gzip head, which no checksum of gzip covers.
    bytes[usize::try_from(offset).unwrap() + 5] ^= 1;
    fs::write(&path, bytes).unwrap();
    let said = on(&data, &["--json", "verify"]).found(&["restore damaged archive files"]);
    let damage = &objects(&said)[0];
    assert_eq!((&damage["event"], &damage["offset"]), (&"damaged".into(), &offset.into()), "{said}");
    let nowhere = data.join("nowhere");
    on(&nowhere, &["verify"]).could_not(&["it does not exist"]);
}
