//! The table of synonyms, laid out for binary search.

use std::path::Path;

use crate::unpack;

/// Set for headwords that are only found from others.
const TARGET: u32 = 1 << 31;
/// Set for verbs and adjectives.
const VERB: u32 = 1 << 30;

/// The tables.
#[derive(Default)]
pub(crate) struct Synonyms {
    /// All headwords, sorted, one after the other.
    pub(crate) keys: Vec<u8>,
    /// For every headword where it ends and where its groups end (u32 each).
    pub(crate) ends: Vec<u8>,
    /// Numbers of groups with marks (u32).
    pub(crate) groups: Vec<u8>,
}

/// Reads the packed table, which `cargo xtask synonyms` describes.
pub(crate) fn build(path: &Path) -> Synonyms {
    let mut tables = Synonyms::default();
    for line in String::from_utf8(unpack::decompress(path)).unwrap().lines() {
        let (key, groups) = line.split_once('\t').expect("a line has a headword and groups");
        tables.keys.extend_from_slice(key.as_bytes());
        tables.groups.extend(groups.split(' ').flat_map(|group| code(group).to_le_bytes()));
        tables.ends.extend((tables.keys.len() as u32).to_le_bytes());
        tables.ends.extend((tables.groups.len() as u32 / 4).to_le_bytes());
    }
    tables
}

fn code(group: &str) -> u32 {
    let number: u32 = group.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap();
    let mark = |letter, bit| if group.contains(letter) { bit } else { 0 };
    number | mark('v', VERB) | mark('t', TARGET)
}
