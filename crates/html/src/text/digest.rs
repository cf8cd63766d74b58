//! A fast hash of text. Its values are stored on disk, so the algorithm must never change.
//!
//! Bytes are taken eight at a time as little-endian numbers, the last ones padded with zeros. Each number is mixed in by
//! one 64 × 64-bit multiplication whose halves are combined by exclusive or; the length comes last.
//!
//! Not for secrets, and not collision resistant against an attacker: an author who hides a change of their own page gains
//! nothing.

const START: u64 = 0x7574_7375_7368_6931;
const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xE703_7ED1_A0B4_28DB;

/// The digest of some bytes.
pub(super) fn of(bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let state = chunks.iter().fold(START, |state, chunk| folded(state ^ u64::from_le_bytes(*chunk), FIRST));
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let state = folded(state ^ u64::from_le_bytes(last), FIRST);
    folded(state ^ bytes.len() as u64, SECOND)
}

/// The digest of a list of digests with one more at the end.
pub(super) fn and(list: u64, digest: u64) -> u64 {
    folded(list.rotate_left(23) ^ digest ^ SECOND, FIRST)
}

/// Never the product alone, which would stay 0 once it is 0.
fn folded(value: u64, by: u64) -> u64 {
    let product = u128::from(value ^ by) * u128::from(by | 1);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are wanted")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high ^ value.rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Stored values depend on these: never change them.
    #[test]
    fn the_values_are_fixed_for_ever() {
        let found = [of(b""), of(b"a"), of("図書館は九時に開きます。".as_bytes()), and(and(0, 1), 2)];
        assert_eq!(found.map(|digest| format!("{digest:016x}")), FIXED);
    }
    const FIXED: [&str; 4] = ["850d1e5547c991aa", "0ce1a839b90b3d39", "aae1761406a26281", "95abba7124125a3b"];

    #[test]
    fn near_texts_have_digests_far_apart() {
        let mut seen = HashSet::new();
        let mut differing = 0;
        for n in 0..100_000_u32 {
            let text = format!("page {n} of the list");
            assert!(seen.insert(of(text.as_bytes())), "{text}");
            differing += (of(text.as_bytes()) ^ of(format!("page {n} of the lisu").as_bytes())).count_ones();
        }
        assert!((3_000_000..3_400_000).contains(&differing), "half of the bits differ: {differing}");
        assert_ne!(of(b"ab\0"), of(b"ab"));
        assert_ne!(and(and(0, 1), 2), and(and(0, 2), 1));
    }
}
