//! Archives that others wrote, from the source packages of pywb and Warcat. `UTSUSHI_SAMPLES` names the directory above
//! them; `cargo xtask test` fetches them and sets it.
//!
//! Some of them are broken, on purpose or by accident, and are listed with the clauses that they break. All others are
//! valid, and an alarm on them is a false one.

use crate::say_skipped;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use warc::WarcReader;
use warc::check::{Check, Severity};

/// Name, records that are read whole, clauses that are broken.
const WARC: &[(&str, usize, &str)] = &[
    ("dupes.warc.gz", 25, ""),
    // It was compressed as a whole, which the standard advises against.
    ("example-bad.warc.gz.bad", 6, ""),
    // Line ends were lost or doubled by hand, and records were copied.
    ("example-extra.warc", 6, "4 5.2 5.9"),
    // No line ends follow the first block.
    ("example-url-agnostic-orig.warc.gz", 2, "4"),
    ("example-url-agnostic-revisit.warc.gz", 2, "4"),
    // Its last two records have one id.
    ("example-wget-1-14.warc.gz", 6, "5.2"),
    ("example-wpull.warc.gz", 4, ""),
    // The fifth record is longer than it says.
    ("example.warc", 5, "5.3"),
    ("example.warc.gz", 6, ""),
    ("example2.warc.gz", 3, ""),
    ("httpbin-resource.warc.gz", 1, ""),
    ("iana.warc.gz", 343, ""),
    // Every line ends in CR CR LF.
    ("missing-status-text.warc", 0, "4 5.1"),
    ("post-test.warc.gz", 6, ""),
    // wget 1.14 gives its manifest and its arguments one id.
    ("at.warc", 8, "5.2"),
    ("at.warc.gz", 8, "5.2"),
    // Only the answer is bad or not UTF-8, which is archived as received.
    ("bad_http_chunked_content.warc", 1, ""),
    ("c1_warcinfo.warc", 1, ""),
    ("long_url.warc", 1, ""),
    ("not_utf8_http_header.warc", 1, ""),
];

/// Name, records that are read, how often damage is told.
const ARC: &[(&str, usize, usize)] = &[("example.arc", 1, 0), ("example.arc.gz", 1, 0), ("bad.arc", 1, 2)];

/// Where the samples are, if that is set.
fn samples() -> Option<Vec<PathBuf>> {
    let Some(samples) = std::env::var_os("UTSUSHI_SAMPLES") else {
        say_skipped("archives of peers", "UTSUSHI_SAMPLES");
        return None;
    };
    let packages = fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path());
    let directories =
        packages.flat_map(|package| [package.join("sample_archive/warcs"), package.join("example")]);
    let files = directories
        .filter(|directory| directory.is_dir())
        .flat_map(|directory| fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()));
    Some(files.collect())
}

/// The one sample called `name`.
fn called<'a>(samples: &'a [PathBuf], name: &str) -> &'a Path {
    let mut found = samples.iter().filter(|path| path.ends_with(name));
    let path = found.next().unwrap_or_else(|| panic!("there is no sample `{name}`"));
    assert_eq!(found.next(), None);
    path
}

/// The clauses that `path` breaks, each once, in order.
fn broken(path: &Path) -> String {
    let findings = Check::new(File::open(path).unwrap()).map(Result::unwrap);
    let errors = findings.filter(|finding| finding.severity == Severity::Error);
    let mut clauses: Vec<_> = errors.map(|finding| finding.clause_number()).collect();
    clauses.sort_unstable();
    clauses.dedup();
    clauses.join(" ")
}

/// How many records are read, damage passed over.
fn readable(path: &Path) -> usize {
    let mut reader = WarcReader::new(File::open(path).unwrap(), usize::MAX);
    let mut records = 0;
    loop {
        match reader.next() {
            Some(Ok(record)) => {
                assert_ne!(record.digest_holds(), Some(false), "{}", path.display());
                records += 1;
            }
            Some(Err(_)) => {}
            None if reader.resume().unwrap() => {}
            None => return records,
        }
    }
}

#[test]
fn samples_of_peers_are_read_completely() {
    let Some(samples) = samples() else { return };
    for (name, records, _) in WARC {
        assert_eq!(readable(called(&samples, name)), *records, "{name}");
    }
}

#[test]
fn samples_of_peers_raise_no_false_alarm() {
    let Some(samples) = samples() else { return };
    for (name, _, clauses) in WARC {
        assert_eq!(broken(called(&samples, name)), *clauses, "{name}");
    }
}

#[test]
fn arc_samples_of_peers_are_read() {
    let Some(samples) = samples() else { return };
    for (name, records, damages) in ARC {
        let read = warc::arc::ArcReader::new(File::open(called(&samples, name)).unwrap(), usize::MAX);
        let (good, bad): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
        assert_eq!((good.len(), bad.len()), (*records, *damages), "{name}: {bad:?}");
    }
    let read = |name| {
        let mut reader = warc::arc::ArcReader::new(File::open(called(&samples, name)).unwrap(), usize::MAX);
        reader.next().unwrap().unwrap()
    };
    let (plain, packed) = (read("example.arc"), read("example.arc.gz"));
    assert_eq!(plain.url, "http://example.com/");
    assert_eq!(plain.date.unwrap().to_stamp(), "20140216050221");
    assert!(plain.block.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert_eq!((plain.block, plain.url), (packed.block, packed.url));
}

#[test]
fn every_sample_is_in_a_list() {
    let Some(samples) = samples() else { return };
    for path in samples {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_listed =
            WARC.iter().any(|(listed, ..)| *listed == name) || ARC.iter().any(|(listed, ..)| *listed == name);
        assert!(is_listed || !name.contains("arc"), "{name}");
    }
}
