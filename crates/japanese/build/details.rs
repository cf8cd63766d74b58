//! Base form, reading and pronunciation of every entry, as short records.

use std::collections::HashMap;

use crate::unpack::Packed;

/// The tables of details.
pub(crate) struct Details {
    /// Start of every entry's record (u32).
    pub(crate) starts: Vec<u8>,
    /// Base form (u24: 0 the surface, else 1 + the start in `bases`), reading, 0xFF, pronunciation, 0xFF.
    pub(crate) records: Vec<u8>,
    /// Length (u8) and text of every distinct base form.
    pub(crate) bases: Vec<u8>,
}

/// Builds the tables; equal records are stored once.
pub(crate) fn build(packed: &Packed) -> Details {
    let mut details = Details { starts: Vec::new(), records: Vec::new(), bases: Vec::new() };
    let (mut known_records, mut known_bases) = (HashMap::new(), HashMap::new());
    for at in 0..packed.ids.len() {
        let base = base(&packed.surfaces[at], &packed.bases[at]);
        let place = base.map_or(0, |base| place_of(base, &mut known_bases, &mut details.bases));
        let mut record = place.to_le_bytes()[..3].to_vec();
        assert!(place < 1 << 24, "too many base forms");
        for kana in [&packed.readings[at], &packed.pronunciations[at]] {
            record.extend_from_slice(kana);
            record.push(0xFF);
        }
        let start = *known_records.entry(record.clone()).or_insert_with(|| {
            details.records.extend_from_slice(&record);
            (details.records.len() - record.len()) as u32
        });
        details.starts.extend(start.to_le_bytes());
    }
    details
}

/// The base form, if it is not the surface.
fn base(surface: &str, written: &str) -> Option<String> {
    let mut characters = written.chars();
    match characters.next()? {
        '*' => None,
        '=' => Some(characters.collect()),
        cut => {
            let kept = surface.chars().count() - cut.to_digit(10).unwrap() as usize;
            Some(surface.chars().take(kept).chain(characters).collect())
        }
    }
}

fn place_of(base: String, known: &mut HashMap<String, u32>, bases: &mut Vec<u8>) -> u32 {
    if let Some(place) = known.get(&base) {
        return *place;
    }
    let place = bases.len() as u32 + 1;
    bases.push(u8::try_from(base.len()).unwrap());
    bases.extend_from_slice(base.as_bytes());
    known.insert(base, place);
    place
}
