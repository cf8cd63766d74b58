//! A WARC file of a snapshot: what was stored, byte for byte, in a file of its own.

use crate::files::{Files, day};
use crate::tools::tool;
use flate2::read::MultiGzDecoder;
use formats::warc_file::{About, Copied, write};
use formats::{Coding, Row};
use std::io::Read as _;
use warc::{Kind, Record, WarcReader};

pub(crate) fn about() -> About {
    About { created: day(31), software: "utsushi/0.1.0".to_owned(), description: "a\ntest".to_owned() }
}

fn written(files: &Files, coding: Coding, choose: impl Fn(&Row) -> bool) -> (Vec<u8>, Copied) {
    let mut out = Vec::new();
    let copied =
        write(files.pick(choose), &files.source(), "snapshot.warc.gz", coding, &about(), &mut out).unwrap();
    assert_eq!(copied.bytes, out.len() as u64);
    (out, copied)
}

fn records(file: &[u8]) -> Vec<Record> {
    WarcReader::new(file, 1_000_000).map(Result::unwrap).collect()
}

/// Every record of the fixture that belongs to a row, as it is read.
fn expected(files: &Files, choose: impl Fn(&Row) -> bool) -> Vec<Record> {
    let mut rows: Vec<&Row> = files.rows.iter().filter(|row| choose(row)).collect();
    rows.sort_by_key(|row| row.place.clone());
    rows.iter().flat_map(|row| records(&stored(files, row))).collect()
}

fn stored(files: &Files, row: &Row) -> Vec<u8> {
    formats::Source::stored(&files.source(), &row.place).unwrap()
}

fn content(records: &[Record]) -> Vec<(Kind, Option<&str>, &[u8])> {
    records.iter().map(|record| (record.kind(), record.target(), record.block.as_slice())).collect()
}

#[test]
fn captures_are_copied_as_they_are_with_their_requests() {
    let files = Files::new();
    let (out, copied) = written(&files, Coding::Gzip, |_| true);
    assert_eq!((copied.captures, copied.originals), (files.rows.len() as u64, 0));
    for row in &files.rows {
        let bytes = stored(&files, row);
        assert!(out.windows(bytes.len()).any(|window| window == bytes), "{}", row.url);
    }
    let found = records(&out);
    assert_eq!(found[0].kind(), Kind::Warcinfo);
    assert_eq!(found[0].fields.get("WARC-Filename"), Some("snapshot.warc.gz"));
    assert_eq!(content(&found[1..]), content(&expected(&files, |_| true)));
}

#[test]
fn a_revisit_without_its_original_gets_it_once() {
    let files = Files::new();
    let (out, copied) = written(&files, Coding::Gzip, Row::is_revisit);
    assert_eq!((copied.captures, copied.originals), (5, 2));
    let found = records(&out);
    let responses: Vec<&Record> = found.iter().filter(|record| record.kind() == Kind::Response).collect();
    assert_eq!(responses.len(), 2);
    for row in [&files.rows[0], &files.rows[1]] {
        let original = &records(&stored(&files, row))[0];
        assert!(
            responses.iter().any(|found| found.block == original.block && found.fields == original.fields)
        );
    }
}

#[test]
fn a_resolved_revisit_is_an_answer_with_its_own_date() {
    let files = Files::new();
    let mut out = Vec::new();
    let picks = files.resolve(Row::is_revisit);
    let copied = write(picks, &files.source(), "x.warc.gz", Coding::Gzip, &about(), &mut out).unwrap();
    assert_eq!((copied.captures, copied.originals, copied.resolved), (5, 0, 5));
    let found = records(&out);
    assert_eq!(found.iter().filter(|record| record.kind() == Kind::Revisit).count(), 0);
    let (answers, requests): (Vec<_>, Vec<_>) =
        found[1..].iter().partition(|record| record.kind() == Kind::Response);
    assert_eq!((answers.len(), requests.len()), (5, 5));
    let revisits: Vec<&Row> = files.rows.iter().filter(|row| row.is_revisit()).collect();
    for ((answer, request), row) in answers.iter().zip(requests).zip(revisits) {
        assert_eq!((answer.target(), answer.date()), (Some(&*row.url), Some(row.at)));
        let payload = row.payload.unwrap().to_string();
        assert_eq!(answer.fields.get("WARC-Payload-Digest"), Some(&*payload));
        assert_eq!(base::http::status(&answer.block), Some(200), "also where the server said 304");
        for field in ["WARC-Profile", "WARC-Refers-To-Date", "WARC-Refers-To-Target-URI", "WARC-Truncated"] {
            assert_eq!(answer.fields.get(field), None, "{field}");
        }
        let id = answer.fields.get("WARC-Record-ID");
        assert_eq!(request.fields.get("WARC-Concurrent-To"), id);
    }
    assert!(answers[0].block.ends_with(crate::files::PAGE_BODY), "{:?}", answers[0]);
    let mut check = warc::check::Check::new(std::io::Cursor::new(&out));
    let findings: Vec<String> = check.by_ref().map(|finding| finding.unwrap().to_string()).collect();
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn one_file_has_one_compression() {
    let files = Files::new();
    let (gzip, _) = written(&files, Coding::Gzip, |_| true);
    let (zstd, _) = written(&files, Coding::Zstd, |_| true);
    let (mut from_gzip, mut from_zstd) = (Vec::new(), Vec::new());
    MultiGzDecoder::new(gzip.as_slice()).read_to_end(&mut from_gzip).unwrap();
    zstd::stream::read::Decoder::new(zstd.as_slice()).unwrap().read_to_end(&mut from_zstd).unwrap();
    assert!(from_gzip == from_zstd, "the same records, other members");
}

/// `warcio check` computes the payload digest of chunked answers with the chunk framing (its issues 74 and 75), so it
/// rejects the digest of the standard. It finds nothing else.
#[test]
fn warcio_rejects_only_chunked_answers() {
    let files = Files::new();
    let (out, _) = written(&files, Coding::Gzip, |_| true);
    let path = files.path().join("snapshot.warc.gz");
    std::fs::write(&path, &out).unwrap();
    let Some(mut warcio) = tool("warcio", "`warcio check` of a snapshot") else { return };
    let output = warcio.args(["check", "-v"]).arg(&path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.matches("WARC-Record-ID").count(), records(&out).len());
    assert_eq!(
        (said.matches("failed").count(), said.matches("payload digest failed").count()),
        (1, 1),
        "{said}"
    );
    let payload = files.rows[1].payload.unwrap().to_string();
    assert!(said.contains(&format!("payload digest failed {payload}")), "{said}");
}
