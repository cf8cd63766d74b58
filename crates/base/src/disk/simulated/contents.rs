//! One file: what readers see, what is durable, and the changes in between.

use super::Survival;
use super::image::{Image, PAGE_BYTES, Page, pieces};
use crate::Chance;

/// The unit that a drive writes atomically.
const SECTOR_BYTES: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Contents {
    /// What readers see.
    seen: Image,
    /// What a power cut leaves at least.
    durable: Image,
    /// Changes since the last sync, in order.
    pending: Vec<Change>,
    /// Bytes of room that the file takes.
    pub(super) room_bytes: u64,
    /// Whether the file has a name; without one it takes no room.
    pub(super) is_named: bool,
}

/// A write of whole pages shares them with the images, because copying is what costs time.
#[derive(Debug)]
enum Change {
    Write { offset: u64, bytes: Box<[u8]> },
    WritePages { first: u64, pages: Vec<Page> },
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
        if bytes.is_empty() {
            return;
        }
        self.seen.write(offset, bytes);
        self.pending.push(match self.seen.written_pages(offset, bytes.len()) {
            Some((first, pages)) => Change::WritePages { first, pages },
            None => Change::Write { offset, bytes: bytes.into() },
        });
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
    /// Bit rot on the medium, visible in every later read.
    pub(super) fn flip_bit(&mut self, bit: u64) -> bool {
        self.durable.flip_bit(bit);
        self.seen.flip_bit(bit)
    }
    pub(super) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            change.apply(&mut self.durable);
        }
    }
    /// Decides which unsynced changes reach the medium, and drops the rest.
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
            Self::WritePages { first, pages } => image.write_pages(*first, pages),
            Self::Cut(length) => image.cut(*length),
            Self::Grow(length) => image.grow(*length),
        }
    }
    /// Applies a part, or nothing, of a change that the power cut interrupted.
    fn apply_torn(&self, image: &mut Image, chance: &mut Chance) {
        match self {
            Self::Write { offset, bytes } => write_torn(*offset, bytes, image, chance),
            Self::WritePages { first, pages } => {
                let bytes: Vec<&[u8]> = pages.iter().map(|page| page.as_slice()).collect();
                write_torn(first * PAGE_BYTES as u64, &bytes.concat(), image, chance);
            }
            Self::Cut(_) | Self::Grow(_) => {}
        }
    }
}

fn write_torn(offset: u64, bytes: &[u8], image: &mut Image, chance: &mut Chance) {
    match chance.below(4) {
        0 => {}
        // The file system wrote the new length before the data.
        1 => image.grow(offset + bytes.len() as u64),
        2 => image.write(offset, &bytes[..chance.index(bytes.len())]),
        _ => write_sectors(offset, bytes, image, chance),
    }
}

fn write_sectors(offset: u64, bytes: &[u8], image: &mut Image, chance: &mut Chance) {
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
    fn an_unsynced_write_is_kept_lost_or_torn() {
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
    fn an_unsynced_page_is_kept_lost_or_torn() {
        let found = outcomes(|file| file.write(0, &[b'b'; 4_096]));
        for expected in ["aa", "bbbbbbbb", "aa000000", "-a", "b-", "ba", "bbbb"] {
            assert!(found.contains(expected), "{expected}");
        }
        assert!(found.iter().any(|outcome| outcome.starts_with("ab") && outcome.contains("0b0")), "sectors");
    }

    #[test]
    fn shared_pages_change_one_by_one() {
        let mut file = Contents::default();
        let read = |file: &Contents| {
            let mut bytes = [0; 3];
            assert!(file.read(4_096, &mut bytes));
            bytes
        };
        file.write(0, &[b'a'; 8_192]);
        file.sync();
        file.write(4_096, &[b'b'; 4_096]);
        file.write(4_097, b"c");
        assert_eq!(read(&file), *b"bcb");
        file.sync();
        file.write(4_098, b"d");
        assert_eq!(read(&file), *b"bcd");
        file.settle(Survival::None, &mut Chance::new(1));
        file.restart();
        assert_eq!(read(&file), *b"bcb");
    }

    #[test]
    fn an_unsynced_length_may_be_the_old_one() {
        check(|file| file.truncate(512), &["a", "aa"]);
        check(|file| file.grow(1_536), &["aa", "aa0"]);
    }
}
