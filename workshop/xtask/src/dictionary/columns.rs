//! The packed form: one column after the other, so that like stands beside like.

use anyhow::{Context, Result, ensure};

use super::source::{Entry, Source};

/// The first bytes of the packed form.
const MAGIC: &[u8; 8] = b"IPADIC1\0";
/// Base forms share at least this with their surface, or are written out.
const CUT_MAX: usize = 9;
/// Katakana are one byte: the code less this.
const KATAKANA: u32 = 0x30A0;
/// Around a text that is not katakana.
const PLAIN: u8 = 0xFE;
const END: u8 = 0xFF;

/// Packs all columns.
pub(super) fn pack(source: &Source) -> Result<Vec<u8>> {
    let mut packed = MAGIC.to_vec();
    packed.extend(u32::try_from(source.entries.len())?.to_le_bytes());
    packed.extend(u32::try_from(source.ids)?.to_le_bytes());
    let [shared, rest_lengths, rests] = surfaces(&source.entries)?;
    let [id_low, id_high] = halves(source.entries.iter().map(|entry| entry.id.to_le_bytes()));
    let [cost_low, cost_high] = halves(source.entries.iter().map(|entry| entry.cost.to_le_bytes()));
    let [matrix_low, matrix_high] = halves(source.matrix.iter().map(|cost| cost.to_le_bytes()));
    let parts = [
        shared,
        rest_lengths,
        rests,
        id_low,
        id_high,
        cost_low,
        cost_high,
        lines(source.entries.iter().map(base)),
        lines(parts_of_speech(source)?.into_iter()),
        source.characters.clone().into_bytes(),
        source.unknown.clone().into_bytes(),
        matrix_low,
        matrix_high,
        source.entries.iter().flat_map(|entry| kana(&entry.reading)).collect(),
        source.entries.iter().flat_map(pronunciation).collect(),
    ];
    for part in parts {
        packed.extend(u32::try_from(part.len())?.to_le_bytes());
        packed.extend(part);
    }
    Ok(packed)
}

/// Every surface as the number of bytes shared with the one before, and the rest.
fn surfaces(entries: &[Entry]) -> Result<[Vec<u8>; 3]> {
    let (mut shared, mut lengths, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    let mut before: &[u8] = b"";
    for entry in entries {
        let surface = entry.surface.as_bytes();
        let same = before.iter().zip(surface).take_while(|(a, b)| a == b).count();
        let rest = &surface[same..];
        let long = || format!("surface too long: `{}`", entry.surface);
        shared.push(u8::try_from(same).with_context(long)?);
        lengths.push(u8::try_from(rest.len()).with_context(long)?);
        rests.extend_from_slice(rest);
        before = surface;
    }
    Ok([shared, lengths, rests])
}

fn halves(numbers: impl Iterator<Item = [u8; 2]>) -> [Vec<u8>; 2] {
    let (low, high) = numbers.map(|[low, high]| (low, high)).unzip();
    [low, high]
}

fn lines(texts: impl Iterator<Item = String>) -> Vec<u8> {
    texts.flat_map(|text| format!("{text}\n").into_bytes()).collect()
}

/// A base form: empty is the surface, `*` none, a digit and a text: cut so many characters off the surface and append the
/// text; `=` and a text is the text.
fn base(entry: &Entry) -> String {
    if entry.base == entry.surface {
        return String::new();
    }
    if entry.base == "*" {
        return "*".to_owned();
    }
    let surface: Vec<char> = entry.surface.chars().collect();
    let same = surface.iter().zip(entry.base.chars()).take_while(|(a, b)| **a == *b).count();
    let (cut, suffix) = (surface.len() - same, entry.base.chars().skip(same).collect::<String>());
    if same > 0 && cut <= CUT_MAX { format!("{cut}{suffix}") } else { format!("={}", entry.base) }
}

/// The part of speech of every connection id, and a check that the id decides it.
fn parts_of_speech(source: &Source) -> Result<Vec<String>> {
    let mut parts = vec![String::new(); source.ids];
    for entry in &source.entries {
        let part = parts.get_mut(usize::from(entry.id)).with_context(|| format!("no id {}", entry.id))?;
        ensure!(part.is_empty() || *part == entry.part, "id {} has two parts of speech", entry.id);
        part.clone_from(&entry.part);
    }
    Ok(parts)
}

/// A text in katakana in a byte a character.
fn kana(text: &str) -> Vec<u8> {
    let short = |c: char| u8::try_from(u32::from(c).checked_sub(KATAKANA)?).ok().filter(|byte| *byte < PLAIN);
    match text.chars().map(short).collect::<Option<Vec<u8>>>() {
        Some(bytes) => [bytes, vec![END]].concat(),
        None => [&[PLAIN], text.as_bytes(), &[PLAIN, END]].concat(),
    }
}

/// The pronunciation; empty where it is the reading.
fn pronunciation(entry: &Entry) -> Vec<u8> {
    if entry.pronunciation == entry.reading { vec![END] } else { kana(&entry.pronunciation) }
}
