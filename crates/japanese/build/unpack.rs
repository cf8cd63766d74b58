//! The packed file, decompressed and taken apart.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The dictionary's columns, by entry.
pub(crate) struct Packed {
    pub(crate) surfaces: Vec<String>,
    pub(crate) ids: Vec<u16>,
    pub(crate) costs: Vec<i16>,
    /// Base forms as the file writes them.
    pub(crate) bases: Vec<String>,
    /// Part of speech by connection id.
    pub(crate) parts: Vec<String>,
    pub(crate) characters: String,
    pub(crate) unknown: String,
    /// By left word × number of ids + right word.
    pub(crate) matrix: Vec<i16>,
    /// Without their end marks.
    pub(crate) readings: Vec<Vec<u8>>,
    pub(crate) pronunciations: Vec<Vec<u8>>,
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Packed {
    let mut bytes = Vec::new();
    brotli_decompressor::Decompressor::new(File::open(path).unwrap(), 1 << 16)
        .read_to_end(&mut bytes)
        .unwrap();
    let rest = bytes.strip_prefix(b"IPADIC1\0").expect("the file is no packed IPADIC");
    let mut parts = Parts(&rest[8..]);
    let surfaces = surfaces(parts.next(), parts.next(), parts.next());
    Packed {
        ids: numbers(parts.next(), parts.next()).map(u16::from_le_bytes).collect(),
        costs: numbers(parts.next(), parts.next()).map(i16::from_le_bytes).collect(),
        bases: lines(parts.next()),
        parts: lines(parts.next()),
        characters: text(parts.next()),
        unknown: text(parts.next()),
        matrix: numbers(parts.next(), parts.next()).map(i16::from_le_bytes).collect(),
        readings: ended(parts.next()),
        pronunciations: ended(parts.next()),
        surfaces,
    }
}

/// All of a compressed file.
pub(crate) fn decompress(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    brotli_decompressor::Decompressor::new(File::open(path).unwrap(), 1 << 16)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// What is left of the file: each part has its length in front.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn next(&mut self) -> &'a [u8] {
        let (length, rest) = self.0.split_first_chunk().unwrap();
        let (part, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        self.0 = rest;
        part
    }
}

fn surfaces(shared: &[u8], lengths: &[u8], mut rests: &[u8]) -> Vec<String> {
    let mut surface = Vec::new();
    let each = shared.iter().zip(lengths).map(|(shared, length)| {
        let (rest, others) = rests.split_at(usize::from(*length));
        rests = others;
        surface.truncate(usize::from(*shared));
        surface.extend_from_slice(rest);
        String::from_utf8(surface.clone()).unwrap()
    });
    each.collect()
}

fn numbers(low: &[u8], high: &[u8]) -> impl Iterator<Item = [u8; 2]> {
    low.iter().zip(high).map(|(low, high)| [*low, *high])
}

fn text(part: &[u8]) -> String {
    str::from_utf8(part).unwrap().to_owned()
}

fn lines(part: &[u8]) -> Vec<String> {
    str::from_utf8(part).unwrap().lines().map(str::to_owned).collect()
}

fn ended(part: &[u8]) -> Vec<Vec<u8>> {
    part.strip_suffix(b"\xFF").unwrap().split(|byte| *byte == 0xFF).map(<[u8]>::to_vec).collect()
}
