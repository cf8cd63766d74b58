//! Unpacks the dictionary and lays it out for use in place: nothing is built or read when the program starts.
//!
//! The packed file is described in `docs/formats/japanese.md`, the tables made from it in `src/dictionary.rs`.

#![expect(clippy::unwrap_used, reason = "a build script ends with its first failure")]
#![expect(clippy::cast_possible_truncation, reason = "sizes below 4 GiB, and a failed build is seen at once")]
#![expect(clippy::print_stdout, reason = "cargo is told things by printing")]

mod characters;
mod details;
mod synonyms;
mod trie;
mod unpack;

use std::env;
use std::fs;
use std::path::PathBuf;

fn main() {
    let data = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("data");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=data");
    let packed = unpack::read(&data.join("ipadic.br"));
    let target = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let write = |name: &str, bytes: &[u8]| fs::write(target.join(name), bytes).unwrap();

    let trie = trie::build(&packed.surfaces);
    write("codes.bin", &trie.codes);
    write("trie.bin", &trie.nodes);
    write("entries.bin", &entries(&packed));
    write("matrix.bin", &matrix(&packed));
    let details = details::build(&packed);
    write("detail_starts.bin", &details.starts);
    write("details.bin", &details.records);
    write("bases.bin", &details.bases);
    let characters = characters::build(&packed.characters);
    write("classes.bin", &characters.classes);
    let synonyms = synonyms::build(&data.join("synonyms.br"));
    write("synonym_keys.bin", &synonyms.keys);
    write("synonym_ends.bin", &synonyms.ends);
    write("synonym_groups.bin", &synonyms.groups);
    write("tables.rs", tables(&packed, &characters).as_bytes());
}

/// Id and cost of every entry; the top bit of the id marks the last entry of a surface.
fn entries(packed: &unpack::Packed) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(packed.ids.len() * 4);
    for at in 0..packed.ids.len() {
        let last = packed.surfaces.get(at + 1) != Some(&packed.surfaces[at]);
        bytes.extend((packed.ids[at] | (u16::from(last) << 15)).to_le_bytes());
        bytes.extend(packed.costs[at].to_le_bytes());
    }
    bytes
}

/// Connection costs, one row for each right word: its left words are compared one after the other.
fn matrix(packed: &unpack::Packed) -> Vec<u8> {
    let count = packed.parts.len();
    let cells = (0..count).flat_map(|right| (0..count).map(move |left| (left, right)));
    cells.flat_map(|(left, right)| packed.matrix[left * count + right].to_le_bytes()).collect()
}

/// The small tables, as Rust source.
fn tables(packed: &unpack::Packed, characters: &characters::Characters) -> String {
    use std::fmt::Write as _;
    let mut text = format!("pub(crate) static PARTS: [[&str; 6]; {}] = [\n", packed.parts.len());
    for part in &packed.parts {
        let mut fields: Vec<&str> = part.split(',').collect();
        fields.resize(6, "*");
        writeln!(text, "    {fields:?},").unwrap();
    }
    text += "];\n\n";
    writeln!(text, "pub(crate) static CLASSES: [Class; {}] = [", characters.distinct.len()).unwrap();
    for class in &characters.distinct {
        let unknown = unknown(&packed.unknown, &class.name);
        writeln!(
            text,
            "    Class {{ kinds: {}, invoke: {}, group: {}, length: {}, symbol: {}, unknown: &{unknown:?} }},",
            class.kinds, class.invoke, class.group, class.length, class.name == "SYMBOL"
        )
        .unwrap();
    }
    text += "];\n";
    text
}

/// Id and cost of the entries for unknown words of a class, in the order of the file.
fn unknown(definitions: &str, class: &str) -> Vec<(u16, i16)> {
    let lines = definitions.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let own = lines.filter(|fields| fields.first() == Some(&class));
    own.map(|fields| (fields[1].parse().unwrap(), fields[3].parse().unwrap())).collect()
}
