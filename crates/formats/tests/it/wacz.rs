//! WACZ: written in one pass, read back entry by entry, accepted by its own validator.

use crate::files::{Files, PAGE};
use crate::tools::{run, tool};
use crate::warc_file::about;
use flate2::read::GzDecoder;
use formats::wacz::{self, Package};
use formats::{Row, cdxj};
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use warc::{Kind, WarcReader};

pub(crate) fn written(files: &Files, choose: impl Fn(&Row) -> bool) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    wacz::write(files.pick(choose), &files.source(), files.path(), &about(), &mut out).unwrap();
    out.into_inner()
}

/// The entries of a package, found from header to header without its directory.
fn entries(package: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut entries = BTreeMap::new();
    let mut rest = package;
    while rest.starts_with(b"PK\x03\x04") {
        let short = |at: usize| usize::from(u16::from_le_bytes(rest[at..at + 2].try_into().unwrap()));
        let (name_bytes, extra_bytes) = (short(26), short(28));
        let name = std::str::from_utf8(&rest[30..30 + name_bytes]).unwrap();
        let extra = &rest[30 + name_bytes..];
        let length = usize::try_from(u64::from_le_bytes(extra[4..12].try_into().unwrap())).unwrap();
        let content = &extra[extra_bytes..];
        entries.insert(name.to_owned(), content[..length].to_vec());
        rest = &content[length..];
    }
    entries
}

#[test]
fn what_is_packed_is_read_back() {
    let files = Files::new();
    let mut package = Package::open(Cursor::new(written(&files, |_| true))).unwrap();
    assert_eq!(package.check().unwrap(), []);
    let warcs = package.warcs();
    assert_eq!(warcs.iter().map(wacz::WarcEntry::name).collect::<Vec<_>>(), ["archive/data.warc.gz"]);
    let content = package.read(&warcs[0]).unwrap();
    let records: Vec<_> = WarcReader::new(content, 1_000).map(Result::unwrap).collect();
    assert_eq!(records.iter().map(|record| record.length).sum::<u64>(), warcs[0].bytes());
    let answers = records.iter().filter(|r| matches!(r.kind(), Kind::Response | Kind::Revisit)).count();
    assert_eq!(answers, 8);

    let mut seekable = package.read(&warcs[0]).unwrap().seekable(files.path()).unwrap();
    std::io::Seek::seek(&mut seekable, std::io::SeekFrom::Start(records[1].offset)).unwrap();
    let record = WarcReader::starting_at(seekable, records[1].offset, 1_000).next().unwrap().unwrap();
    assert_eq!(record, records[1]);
}

#[test]
fn the_index_leads_to_the_records() {
    let files = Files::new();
    let entries = entries(&written(&files, Row::is_revisit));
    let (index, warc) = (&entries["indexes/index.cdx.gz"], &entries["archive/data.warc.gz"]);
    let blocks = String::from_utf8(entries["indexes/index.idx"].clone()).unwrap();
    let (meta, block) = blocks.split_once('\n').unwrap();
    assert_eq!(meta, r#"!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}"#);
    let (first, place) = block.split_once(" {").unwrap();
    let place: serde_json::Value = serde_json::from_str(&format!("{{{place}")).unwrap();
    assert_eq!((place["offset"].as_u64(), place["length"].as_u64()), (Some(0), Some(index.len() as u64)));

    let mut text = String::new();
    GzDecoder::new(index.as_slice()).read_to_string(&mut text).unwrap();
    assert!(text.starts_with(&format!("{first} {{")));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.is_sorted());
    assert_eq!(lines.len(), 4 + 1 + 2, "four revisits, a 304, two originals");
    for line in lines {
        let (key, object) = line.split_once(" {").unwrap();
        let object: serde_json::Value = serde_json::from_str(&format!("{{{object}")).unwrap();
        let number = |name: &str| object[name].as_str().unwrap().parse::<usize>().unwrap();
        let (offset, length) = (number("offset"), number("length"));
        let record = WarcReader::new(&warc[offset..offset + length], 1_000).next().unwrap().unwrap();
        assert_eq!((record.target(), record.length), (object["url"].as_str(), length as u64), "{line}");
        assert_eq!(key.split_once(' ').unwrap().0, cdxj::surt(record.target().unwrap()));
        assert_eq!(object["mime"] == "warc/revisit", record.kind() == Kind::Revisit);
    }
}

#[test]
fn the_list_of_pages_names_pages_and_times() {
    let files = Files::new();
    let entries = entries(&written(&files, |row| row.url == PAGE || row.media_type.starts_with("image")));
    let pages = String::from_utf8(entries["pages/pages.jsonl"].clone()).unwrap();
    let pages: Vec<serde_json::Value> =
        pages.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pages[0]["format"], "json-pages-1.0");
    let found: Vec<_> = pages[1..].iter().map(|page| (page["url"].as_str(), page["ts"].as_str())).collect();
    let expected = [1, 3, 5].map(|day| format!("2026-03-0{day}T09:00:00.000001Z"));
    assert_eq!(found, expected.each_ref().map(|time| (Some(PAGE), Some(time.as_str()))));
}

#[test]
fn the_list_of_pages_has_the_titles_that_are_known() {
    let files = Files::new();
    let mut picker = formats::Picker::new(files.path());
    let title = "写し \"a\"\n<b>";
    // Of revisits only: their originals are pages with the same title, and so is a page that was answered with 304.
    for row in files.rows.iter().filter(|row| row.is_revisit()) {
        picker.add(&formats::Row { title: Some(title.to_owned()), ..row.clone() }).unwrap();
    }
    let mut out = Cursor::new(Vec::new());
    formats::wacz::write(picker.finish().unwrap(), &files.source(), files.path(), &about(), &mut out)
        .unwrap();
    let pages = String::from_utf8(entries(&out.into_inner())["pages/pages.jsonl"].clone()).unwrap();
    let pages: Vec<serde_json::Value> =
        pages.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(pages.len() >= 5, "{pages:?}");
    assert!(pages.iter().all(|page| page["title"] == title), "{pages:?}");
    // One that is not known is left out.
    let unknown = entries(&written(&files, |row| row.url == PAGE));
    assert!(!String::from_utf8_lossy(&unknown["pages/pages.jsonl"]).contains("\"title\": \"\""));
}

#[test]
fn many_lines_make_several_blocks_and_nothing_chosen_makes_a_package() {
    let files = Files::new();
    let mut picker = formats::Picker::new(files.path());
    let page = &files.rows[0];
    for number in 0..2_500 {
        // The same bytes at other places are other captures to the index.
        let mut row = files.rows[6].clone();
        row.url = format!("{PAGE}&n={number:04}");
        row.body.clone_from(&Some(page.place.clone()));
        picker.add(&row).unwrap();
    }
    let mut out = Cursor::new(Vec::new());
    wacz::write(picker.finish().unwrap(), &files.source(), files.path(), &about(), &mut out).unwrap();
    let entries_found = entries(out.get_ref());
    let blocks = String::from_utf8(entries_found["indexes/index.idx"].clone()).unwrap();
    assert_eq!(blocks.lines().count(), 1 + 3);
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(entries_found["indexes/index.cdx.gz"].as_slice())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text.lines().count(), 2_501);

    let empty = written(&files, |_| false);
    let mut package = Package::open(Cursor::new(empty)).unwrap();
    assert_eq!(package.check().unwrap(), []);
}

#[test]
fn differences_from_the_manifest_are_reported() {
    let files = Files::new();
    let good = written(&files, |_| true);
    let body = good.windows(PAGE.len()).position(|window| window == PAGE.as_bytes()).unwrap();
    let mut package = good.clone();
    package[body] ^= 1;
    let told = told(package);
    assert!(told.contains("`pages/pages.jsonl` is damaged"), "{told}");

    // The checksum of the ZIP file is made to agree, so that only the manifest's own digest detects the change.
    let entries = entries(&good);
    let manifest = &entries["datapackage.json"];
    let changed = String::from_utf8(manifest.clone()).unwrap().replace("data-package", "DATA-package");
    let package = replaced(&good, manifest, changed.as_bytes());
    let told = self::told(package);
    assert_eq!(told, "`datapackage.json` has another SHA-256 than the stated one\n");
    let pages = &entries["pages/pages.jsonl"];
    let changed = String::from_utf8(pages.clone()).unwrap().replace("All Pages", "NO PAGES!");
    let told = self::told(replaced(&good, pages, changed.as_bytes()));
    assert_eq!(told, "`pages/pages.jsonl` has another SHA-256 than the stated one\n");
}

/// The package with other bytes in the place of an entry's, and its checksum where that stood.
fn replaced(package: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let crc = |bytes: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum().to_le_bytes()
    };
    let mut package = package.to_vec();
    for (from, to) in [(from, to), (&crc(from), &crc(to))] {
        assert_eq!(from.len(), to.len());
        for place in 0..=package.len() - from.len() {
            if package[place..].starts_with(from) {
                package[place..place + to.len()].copy_from_slice(to);
            }
        }
    }
    package
}

fn told(package: Vec<u8>) -> String {
    let mut package = Package::open(Cursor::new(package)).unwrap();
    package.check().unwrap().iter().map(|mismatch| format!("{mismatch}\n")).collect()
}

#[test]
fn its_own_validator_accepts_it() {
    let files = Files::new();
    let path = files.path().join("snapshot.wacz");
    std::fs::write(&path, written(&files, |_| true)).unwrap();
    let Some(mut validator) = tool("wacz", "`wacz validate` of a package") else { return };
    let said = run(validator.args(["validate", "-f"]).arg(&path));
    assert!(said.contains("Validation succeeded, the passed WACZ is valid"), "{said}");
    let said = run(tool("python", "").unwrap().args(["-m", "zipfile", "-t"]).arg(&path));
    assert_eq!(said.trim(), "Done testing");
}

#[test]
fn what_its_own_tool_packs_is_read() {
    let Some(mut packer) = tool("wacz", "packages that `wacz create` makes") else { return };
    let files = Files::new();
    let (path, warcs) = (files.path().join("theirs.wacz"), ["originals.warc.gz", "later.warc.gz"]);
    packer.args(["create", "--detect-pages", "-o"]).arg(&path);
    run(packer.args(warcs.map(|name| files.path().join(name))));
    let mut package = Package::open(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(package.check().unwrap(), []);
    let entries = package.warcs();
    assert_eq!(
        entries.iter().map(wacz::WarcEntry::name).collect::<Vec<_>>(),
        warcs.map(|name| format!("archive/{name}"))
    );
    for (entry, name) in entries.iter().zip(warcs) {
        let mut bytes = Vec::new();
        package.read(entry).unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes == std::fs::read(files.path().join(name)).unwrap(), "{name}");
    }
}
