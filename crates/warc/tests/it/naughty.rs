//! Field values that break programs (H16). `UTSUSHI_SHARED` names the directory with the list of naughty strings,
//! `UTSUSHI_WARCIO` the `warcio` script, the peer that must agree.

use crate::say_skipped;
use base::{Sha1Digest, Timestamp};
use std::path::PathBuf;
use std::process::Command;
use warc::header::name;
use warc::{Draft, Fields, Kind, Level, Profile, RecordId, WARC_FIELDS, WarcReader, WarcWriter};

fn strings() -> Vec<String> {
    let mut strings: Vec<String> = [
        "\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n",
        "\n",
        "\r",
        "\0",
        "\u{85}\u{2028}\u{2029}",
        "%0D%0A",
        " ",
        "",
    ]
    .map(str::to_owned)
    .to_vec();
    let Some(shared) = std::env::var_os("UTSUSHI_SHARED") else {
        say_skipped("the list of naughty strings", "UTSUSHI_SHARED");
        return strings;
    };
    let list = std::fs::read(PathBuf::from(shared).join("data/suites/blns.json")).unwrap();
    strings.extend(serde_json::from_slice::<Vec<String>>(&list).unwrap());
    strings
}

/// A file in which every value that can come from outside is naughty, one kind after the other.
fn naughty_file(strings: &[String]) -> Vec<u8> {
    let mut writer = WarcWriter::new(Level::DEFAULT);
    let mut file = Vec::new();
    let kinds = [Kind::Warcinfo, Kind::Metadata, Kind::Resource, Kind::Revisit];
    for (text, kind) in strings.iter().zip(kinds.iter().cycle()) {
        let id = RecordId::at(text, file.len() as u64, Timestamp::MIN, kind);
        let mut block = Vec::new();
        Fields::new().text("value", text).write_to(&mut block);
        let draft = Draft::new(kind, &id, Timestamp::MIN).target(text).text(name::FILENAME, text);
        let draft = draft.refers_to(Profile::IdenticalPayloadDigest, text, Timestamp::MIN);
        writer.append(draft.payload_digest(Sha1Digest::of(&[&block])), WARC_FIELDS, &[&block], &mut file);
    }
    file
}

#[test]
fn no_value_forges_a_record() {
    let strings = strings();
    let file = naughty_file(&strings);
    let records: Vec<_> = WarcReader::new(&*file, 100_000).map(Result::unwrap).collect();
    assert_eq!(records.len(), strings.len());
    for (record, text) in records.iter().zip(&strings) {
        assert_eq!(record.fields.decoded(name::FILENAME).as_ref(), Some(text));
        assert_eq!(Fields::read(&record.block).unwrap().decoded("value").as_ref(), Some(text));
        assert!(record.target().unwrap().bytes().all(|b| b.is_ascii_graphic()), "{text}");
        assert_eq!(record.digest_holds(), Some(true));
        let count = |name: &str| record.fields.iter().filter(|(found, _)| *found == name).count();
        assert_eq!((count(name::TYPE), count(name::CONTENT_LENGTH)), (1, 1));
    }
}

#[test]
fn warcio_reads_the_same_records() {
    let Some(warcio) = std::env::var_os("UTSUSHI_WARCIO") else {
        say_skipped("`warcio check`", "UTSUSHI_WARCIO");
        return;
    };
    let strings = strings();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("naughty.warc.gz");
    std::fs::write(&path, naughty_file(&strings)).unwrap();
    let output = Command::new(warcio).args(["check", "-v"]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && !said.contains("failed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(said.matches("WARC-Record-ID").count(), strings.len());
}
