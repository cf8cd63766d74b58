//! The models' weights, and the file that holds them (`docs/formats/syntax-model.md`).
//!
//! A weight is one byte. Features are found by their hash in buckets of four: the upper bits choose the bucket, one
//! byte of the rest tells the features of a bucket apart. An unknown feature passes for a known one in about one of a
//! hundred cases.

use super::Style;

/// The built-in model.
pub(super) static BUILT_IN: &[u8] = include_bytes!("../../data/syntax.model");

/// Names the format and its version.
const MAGIC: [u8; 8] = *b"UTSYN\0\0\x01";
/// Models of a file: boundaries, heads, labels.
pub(super) const MODELS: usize = 3;
/// Bytes of a bucket: four marks, and four weights for each style.
const BUCKET_BYTES: usize = 12;
/// Entries of a bucket.
const BUCKET_ENTRIES: usize = 4;
/// More buckets than this no file has.
const BUCKETS_MAX: usize = 1 << 22;

/// Why bytes are no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The file starts differently.
    #[error("no syntax model of this version: make one with `cargo xtask train`")]
    Magic,
    /// The file ends early or late.
    #[error(
        "the syntax model has not the length it states: restore the file or make it with `cargo xtask train`"
    )]
    Length,
    /// The checksum differs.
    #[error("the syntax model is damaged: restore the file or make it with `cargo xtask train`")]
    Checksum,
}

/// The weights of one model in one style.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// Lower half: four marks; upper half: the weights.
    buckets: Vec<u64>,
}

impl Weights {
    /// The weight of a feature; 0 if it has none.
    #[inline]
    pub(super) fn of(&self, feature: u32) -> i32 {
        let bucket = self.buckets[bucket_of(feature, self.buckets.len())];
        let marks = bucket & 0xFFFF_FFFF;
        let differences = marks ^ (u64::from(mark_of(feature)) * 0x0101_0101);
        let equal = differences.wrapping_sub(0x0101_0101) & !differences & 0x8080_8080;
        // Without a branch, for whether a feature is known cannot be predicted: if none is equal, everything is
        // shifted out.
        let place = (equal | 1 << 63).trailing_zeros() & 56;
        let [weight, ..] = (bucket >> 32 >> place).to_le_bytes();
        i32::from(weight.cast_signed())
    }
}

#[inline]
fn bucket_of(feature: u32, buckets: usize) -> usize {
    ((u64::from(feature) * buckets as u64) >> 32) as usize
}

/// Tells the features of a bucket apart; 0 marks an empty entry.
#[inline]
fn mark_of(feature: u32) -> u8 {
    let [_, mark, ..] = feature.to_le_bytes();
    mark.max(1)
}

/// Reads a file's models in one style.
pub(super) fn read(bytes: &[u8], style: Style) -> Result<[Weights; MODELS], ModelError> {
    let body = bytes.strip_prefix(&MAGIC).ok_or(ModelError::Magic)?;
    let (body, sum) = body.split_last_chunk::<8>().ok_or(ModelError::Length)?;
    let (counts, mut rest) = body.split_first_chunk::<{ 4 * MODELS }>().ok_or(ModelError::Length)?;
    let mut all = [const { Weights { buckets: Vec::new() } }; MODELS];
    for (weights, count) in all.iter_mut().zip(counts.as_chunks::<4>().0) {
        let buckets = usize::try_from(u32::from_le_bytes(*count)).unwrap_or(usize::MAX);
        if !(1..=BUCKETS_MAX).contains(&buckets) || rest.len() < buckets * BUCKET_BYTES {
            return Err(ModelError::Length);
        }
        let (part, after) = rest.split_at(buckets * BUCKET_BYTES);
        weights.buckets =
            part.as_chunks::<BUCKET_BYTES>().0.iter().map(|bucket| in_style(bucket, style)).collect();
        rest = after;
    }
    if !rest.is_empty() {
        return Err(ModelError::Length);
    }
    if checksum(body) == u64::from_le_bytes(*sum) { Ok(all) } else { Err(ModelError::Checksum) }
}

fn in_style(bucket: &[u8; BUCKET_BYTES], style: Style) -> u64 {
    let [m0, m1, m2, m3, web @ .., e0, e1, e2, e3] = *bucket;
    let [w0, w1, w2, w3] = match style {
        Style::Web => web,
        Style::Encyclopedia => [e0, e1, e2, e3],
    };
    u64::from_le_bytes([m0, m1, m2, m3, w0, w1, w2, w3])
}

/// FNV-1a over words of eight bytes.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| step(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, &byte| step(sum, u64::from(byte)))
}

/// A feature with its weight in each style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelEntry {
    /// The feature's hash.
    pub feature: u32,
    /// Its weight in [`Style::Web`].
    pub web: i8,
    /// Its weight in [`Style::Encyclopedia`].
    pub encyclopedia: i8,
}

/// Writes a file. An entry whose bucket is full of heavier ones is left out.
pub(super) fn write(models: [&[ModelEntry]; MODELS]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let tables = models.map(table);
    for table in &tables {
        let count = u32::try_from(table.len()).expect("a model has fewer buckets");
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    bytes.extend(tables.iter().flatten().flatten());
    let sum = checksum(&bytes[MAGIC.len()..]);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

fn table(entries: &[ModelEntry]) -> Vec<[u8; BUCKET_BYTES]> {
    // Three of four places are used.
    let buckets = (entries.len() / 3 + 1).min(BUCKETS_MAX);
    let mut heaviest: Vec<&ModelEntry> = entries.iter().collect();
    heaviest.sort_by_key(|entry| (std::cmp::Reverse(entry.weight()), entry.feature));
    let mut table = vec![[0; BUCKET_BYTES]; buckets];
    for entry in heaviest {
        let bucket = &mut table[bucket_of(entry.feature, buckets)];
        let mark = mark_of(entry.feature);
        let marks = &bucket[..BUCKET_ENTRIES];
        let free = marks.iter().position(|&taken| taken == 0);
        if let (Some(place), false) = (free, marks.contains(&mark)) {
            bucket[place] = mark;
            bucket[BUCKET_ENTRIES + place] = entry.web.cast_unsigned();
            bucket[2 * BUCKET_ENTRIES + place] = entry.encyclopedia.cast_unsigned();
        }
    }
    table
}

impl ModelEntry {
    fn weight(&self) -> u8 {
        self.web.unsigned_abs().max(self.encyclopedia.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<ModelEntry> {
        (1..2000_u32)
            .map(|number| ModelEntry {
                feature: number.wrapping_mul(0x9E37_79B1),
                web: i8::try_from(number % 200 / 2).unwrap() - 20,
                encyclopedia: 3,
            })
            .collect()
    }

    fn file() -> Vec<u8> {
        write([&entries(), &[], &entries()[..10]])
    }

    #[test]
    fn weights_come_back_in_the_style_asked_for() {
        let [web, none, _] = read(&file(), Style::Web).unwrap();
        let [encyclopedia, ..] = read(&file(), Style::Encyclopedia).unwrap();
        let found = entries().iter().filter(|entry| web.of(entry.feature) == i32::from(entry.web)).count();
        assert!(found > 1800, "{found}");
        let found = entries().iter().filter(|entry| encyclopedia.of(entry.feature) == 3).count();
        assert!(found > 1800, "{found}");
        assert_eq!(none.of(entries()[0].feature), 0);
    }

    #[test]
    fn a_feature_without_a_weight_rarely_has_one() {
        let [web, ..] = read(&file(), Style::Web).unwrap();
        let wrong =
            (1..10_000_u32).filter(|number| web.of(number.wrapping_mul(0x85EB_CA6B) ^ 0x1234) != 0).count();
        assert!(wrong < 300, "{wrong}");
    }

    #[test]
    fn every_changed_byte_and_every_other_length_is_refused() {
        let file = file();
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x10;
            assert!(read(&changed, Style::Web).is_err(), "byte {at}");
        }
        assert_eq!(read(&file[..file.len() - 1], Style::Web).unwrap_err(), ModelError::Length);
        assert_eq!(read(&[file.as_slice(), &[0]].concat(), Style::Web).unwrap_err(), ModelError::Length);
        assert_eq!(read(b"", Style::Web).unwrap_err(), ModelError::Magic);
        assert_eq!(read(&MAGIC, Style::Web).unwrap_err(), ModelError::Length);
    }

    #[test]
    fn the_built_in_model_is_whole() {
        for style in [Style::Web, Style::Encyclopedia] {
            assert!(read(BUILT_IN, style).is_ok(), "run `cargo xtask train`");
        }
    }
}
