//! 365 real pages in legacy encodings, most of them unlabelled.

use encoding_rs::Encoding;
use flate2::read::GzDecoder;
use html::charset;
use std::collections::HashMap;
use std::io::Read;

/// The files of a tar archive by name.
fn unpacked(path: &std::path::Path) -> HashMap<String, Vec<u8>> {
    let file =
        std::fs::File::open(path).unwrap_or_else(|error| panic!("cannot open `{}`: {error}", path.display()));
    let mut bytes = Vec::new();
    GzDecoder::new(file).take(256 << 20).read_to_end(&mut bytes).unwrap();
    let (mut files, mut rest) = (HashMap::new(), bytes.as_slice());
    while rest.len() >= 512 && rest[0] != 0 {
        let text = |from: usize, to: usize| {
            let field = &rest[from..to];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
            String::from_utf8_lossy(&field[..end]).trim().to_owned()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).unwrap();
        let (prefix, name) = (text(345, 500), text(0, 100));
        let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        files.insert(name.trim_start_matches("./").to_owned(), rest[512..512 + size].to_vec());
        rest = &rest[512 + size.div_ceil(512) * 512..];
    }
    files
}

/// The pages in legacy encodings: name, encoding and bytes.
pub(crate) fn legacy_pages() -> Option<Vec<(String, &'static Encoding, Vec<u8>)>> {
    let shared = crate::shared("the pages in legacy encodings")?;
    let mut files = unpacked(&shared.join("data/charsets.tar.gz"));
    let manifest = String::from_utf8(files["manifest.tsv"].clone()).unwrap();
    let rows = manifest.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let pages = rows.map(|row| {
        let encoding = Encoding::for_label(row[1].as_bytes()).unwrap();
        (row[0].to_owned(), encoding, files.remove(row[0]).unwrap())
    });
    Some(pages.collect())
}

#[test]
fn nearly_all_real_pages_are_read_in_their_encoding() {
    let Some(pages) = legacy_pages() else { return };
    let mut misses = Vec::new();
    for (name, expected, bytes) in &pages {
        let found = charset::find(None, bytes);
        // Right is what gives the right text: KOI8-U has the letters of KOI8-R, windows-1253 those of ISO-8859-7.
        if found.encoding.decode(bytes).0 != expected.decode(bytes).0 {
            misses.push(format!(
                "{name}: {} read as {} ({:?})",
                expected.name(),
                found.encoding.name(),
                found.how
            ));
        }
    }
    assert_eq!(pages.len(), 365);
    assert!(pages.len() - misses.len() > 362, "{misses:#?}");
    println!("{} of {} right; {misses:#?}", pages.len() - misses.len(), pages.len());
}
