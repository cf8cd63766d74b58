//! Peers read what is written. `UTSUSHI_WARCIO` and `UTSUSHI_FASTWARC` name their programs.

use crate::{file_in, say_skipped};
use base::Timestamp;
use std::path::Path;
use std::process::{Command, Output};
use warc::{Compression, Level, ZstdLevel, removed, removed_bytes_min};

const GZIP: Compression = Compression::Gzip(Level::DEFAULT);
const ZSTD: Compression = Compression::Zstd(ZstdLevel::DEFAULT);

/// A file of records between which others were removed: of every length a few, up to several stored blocks.
fn file_with_holes(compression: Compression) -> (usize, Vec<u8>) {
    let (_, mut bytes) = file_in(compression, &[b"HTTP/1.1 200 OK\r\n\r\nhi"]);
    let least = removed_bytes_min("f", 0, Timestamp::MIN, compression) + 20;
    let lengths = (least..least + 300).chain([65_500, 65_540, 65_541, 65_545, 65_563, 200_000, 1_000_000]);
    let mut records = 1;
    for length in lengths {
        let offset = bytes.len() as u64;
        bytes.extend(removed("f", offset, Timestamp::MIN, length, compression).unwrap());
        records += 1;
    }
    (records, bytes)
}

fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn warcio_accepts_removed_records() {
    let Some(warcio) = std::env::var_os("UTSUSHI_WARCIO") else {
        return say_skipped("`warcio check`", "UTSUSHI_WARCIO");
    };
    let directory = tempfile::tempdir().unwrap();
    for (name, compression) in [("f.warc.gz", GZIP), ("f.warc", Compression::Plain)] {
        let (records, bytes) = file_with_holes(compression);
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let output = Command::new(&warcio).args(["check", "-v"]).arg(&path).output().unwrap();
        let said = said(&output);
        assert!(output.status.success() && !said.contains("failed"), "{name}: {said}");
        assert_eq!(said.matches("WARC-Record-ID").count(), records, "{name}: {said}");
    }
}

#[test]
fn fastwarc_accepts_what_is_written_and_removed() {
    let Some(fastwarc) = std::env::var_os("UTSUSHI_FASTWARC") else {
        return say_skipped("`fastwarc check`", "UTSUSHI_FASTWARC");
    };
    let directory = tempfile::tempdir().unwrap();
    for (name, compression) in [("f.warc.gz", GZIP), ("f.warc.zst", ZSTD), ("f.warc", Compression::Plain)] {
        let (records, bytes) = file_with_holes(compression);
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        check(Path::new(&fastwarc), &path, records);
    }
}

fn check(fastwarc: &Path, path: &Path, records: usize) {
    let list = path.with_added_extension("said");
    let mut command = Command::new(fastwarc);
    let output = command.args(["check", "--quiet", "--output"]).args([&list, path]).output().unwrap();
    let verified = std::fs::read_to_string(&list).unwrap();
    assert!(output.status.success(), "{}: {}{verified}", path.display(), said(&output));
    assert_eq!(verified.lines().count(), records, "{}: {verified}", path.display());
    assert!(!verified.contains("FAIL"), "{}: {verified}", path.display());
}
