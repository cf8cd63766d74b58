//! One file: what its readers see, what a power cut leaves, and the changes in between.

use super::Survival;
use super::image::{Image, pieces};
use crate::Chance;

/// What a drive writes whole or not at all.
const SECTOR_BYTES: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Contents {
    /// What readers see.
    seen: Image,
    /// What a power cut leaves if it leaves nothing else.
    durable: Image,
    /// What was done since the last sync, in order.
    pending: Vec<Change>,
    /// How far room on the disk is taken for this file.
    pub(super) room_bytes: u64,
    /// Whether a name leads here; a file without one takes no room.
    pub(super) is_named: bool,
}

#[derive(Debug)]
enum Change {
    Write { offset: u64, bytes: Box<[u8]> },
    Cut(u64),
    Grow(u64),
}

impl Contents {
    pub(super) fn length(&self) -> u64 {
        self.seen.length()
    }
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        self.seen.read(offset, buffer)
    }
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.change(Change::Write { offset, bytes: bytes.into() });
        }
    }
    pub(super) fn truncate(&mut self, length: u64) {
        self.change(if length < self.length() { Change::Cut(length) } else { Change::Grow(length) });
    }
    pub(super) fn grow(&mut self, length: u64) {
        if length > self.length() {
            self.change(Change::Grow(length));
        }
    }
    /// How much more room the file takes when it reaches to `end`.
    pub(super) fn growth(&self, end: u64) -> u64 {
        if self.is_named { end.saturating_sub(self.room_bytes) } else { 0 }
    }
    /// Bit rot: on the medium, and so in every later read.
    pub(super) fn flip_bit(&mut self, bit: u64) -> bool {
        self.durable.flip_bit(bit);
        self.seen.flip_bit(bit)
    }
    pub(super) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            change.apply(&mut self.durable);
        }
    }
    /// Decides what of the unsynced changes reaches the medium, and forgets the rest.
    pub(super) fn settle(&mut self, survival: Survival, chance: &mut Chance) {
        match survival {
            Survival::All => self.sync(),
            Survival::None => self.pending.clear(),
            Survival::Random => {
                // One file comes back nearly whole, another nearly as it was.
                let whole = *chance.pick(&[0.0, 0.1, 0.5, 0.9, 1.0]);
                for change in std::mem::take(&mut self.pending) {
                    if chance.happens(whole) {
                        change.apply(&mut self.durable);
                    } else {
                        change.apply_torn(&mut self.durable, chance);
                    }
                }
            }
        }
    }
    /// What the next start of the machine finds.
    pub(super) fn restart(&mut self) {
        self.seen = self.durable.clone();
        self.room_bytes = self.length();
        self.is_named = true;
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.pending.push(change);
    }
}

impl Change {
    fn apply(&self, image: &mut Image) {
        match self {
            Self::Write { offset, bytes } => image.write(*offset, bytes),
            Self::Cut(length) => image.cut(*length),
            Self::Grow(length) => image.grow(*length),
        }
    }
    /// What is left of a change that was under way when the power went: nothing, or a part.
    fn apply_torn(&self, image: &mut Image, chance: &mut Chance) {
        let Self::Write { offset, bytes } = self else { return };
        match chance.below(4) {
            0 => {}
            // The file system wrote the new length before the data.
            1 => image.grow(offset + bytes.len() as u64),
            2 => image.write(*offset, &bytes[..chance.index(bytes.len())]),
            _ => apply_sectors(*offset, bytes, image, chance),
        }
    }
}

fn apply_sectors(offset: u64, bytes: &[u8], image: &mut Image, chance: &mut Chance) {
    if chance.happens(0.5) {
        image.grow(offset + bytes.len() as u64);
    }
    for piece in pieces(offset, bytes.len(), SECTOR_BYTES) {
        if chance.happens(0.5) {
            image.write(offset + piece.bytes.start as u64, &bytes[piece.bytes]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What a file of 1,024 `a` can be after `change` and a power cut, one letter a sector (`-` for mixed ones).
    fn outcomes(change: fn(&mut Contents)) -> BTreeSet<String> {
        let letter = |sector: &[u8]| match sector {
            [first, rest @ ..] if rest.iter().all(|b| b == first) => char::from((*first).max(b'0')),
            _ => '-',
        };
        let outcome = |seed| {
            let mut file = Contents::default();
            file.write(0, &[b'a'; 1_024]);
            file.sync();
            change(&mut file);
            file.settle(Survival::Random, &mut Chance::new(seed));
            file.restart();
            let mut bytes = vec![0; usize::try_from(file.length()).unwrap()];
            assert!(file.read(0, &mut bytes));
            bytes.chunks(SECTOR_BYTES).map(letter).collect()
        };
        (0..4_000).map(outcome).collect()
    }

    #[track_caller]
    fn check(change: fn(&mut Contents), expected: &[&str]) {
        let expected = expected.iter().map(|&outcome| outcome.to_owned()).collect();
        assert_eq!(outcomes(change), expected);
    }

    #[test]
    fn an_unsynced_write_lands_whole_not_at_all_or_torn() {
        check(|file| file.write(0, &[b'b'; 1_024]), &["aa", "bb", "ab", "ba", "-a", "b-"]);
    }

    #[test]
    fn an_unsynced_append_may_leave_zeros_or_nothing() {
        check(|file| file.write(1_024, &[b'b'; 512]), &["aa", "aab", "aa0"]);
    }

    #[test]
    fn unsynced_changes_land_in_any_order() {
        let two = |file: &mut Contents| {
            file.write(0, &[b'b'; 512]);
            file.write(512, &[b'c'; 512]);
        };
        check(two, &["aa", "ba", "ac", "bc", "-a", "-c", "a-", "b-", "--"]);
    }

    #[test]
    fn an_unsynced_length_may_be_the_old_one() {
        check(|file| file.truncate(512), &["a", "aa"]);
        check(|file| file.grow(1_536), &["aa", "aa0"]);
    }
}
