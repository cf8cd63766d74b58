//! A damaged archive costs a scan what is damaged.

use super::rig::{pages, results, url};
use crate::program::on;
use base::disk::RealDisk;
use std::fs;

#[test]
fn a_damaged_document_is_set_aside_and_the_scan_goes_on() {
    let rig = pages(40).import();
    let archive = rig.data.join("archive");
    let entries = archive::list(&RealDisk, &archive).unwrap().map(|entry| entry.unwrap());
    let damaged: Vec<_> = entries.filter(|entry| [url(0), url(7), url(39)].contains(&entry.url)).collect();
    assert_eq!(damaged.len(), 3);
    for entry in &damaged {
        let file = find(&archive, &entry.location.file);
        let mut bytes = fs::read(&file).unwrap();
        let middle = usize::try_from(entry.location.offset + entry.location.length / 2).unwrap();
        bytes[middle] ^= 0xff;
        fs::write(&file, bytes).unwrap();
    }
    for analysis in [&["--each", "--", "cat"][..], &["--builtin", "sizes"]] {
        let found = results(&rig.ended(analysis).found(&["3 documents quarantined"]));
        assert!(found.len() == 37 && !found.contains_key(&url(7)), "{found:?}");
        let aside = rig.set_aside();
        assert_eq!(aside.len(), 3);
        for (path, about) in aside {
            assert_eq!(about["cause"], "unfit", "{about}");
            assert!(!about["what"].as_str().unwrap().is_empty(), "{about}");
            assert!(damaged.iter().any(|entry| about["url"] == entry.url.as_str()), "{about}");
            fs::remove_file(path).unwrap();
        }
        fs::remove_dir_all(rig.data.join("scans")).unwrap();
    }
    assert_eq!(on(&rig.data, &["verify"]).code, Some(1), "it is told elsewhere too");
}

/// The file of a name anywhere below a directory.
fn find(directory: &std::path::Path, name: &str) -> std::path::PathBuf {
    let path = directory.join(name);
    assert!(path.is_file(), "{}", path.display());
    path
}
