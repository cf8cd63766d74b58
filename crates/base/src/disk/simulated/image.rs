//! The bytes of a file, held in pages, so that holes cost nothing and copies share unchanged pages. Whole pages can be
//! moved between images.
//!
//! **Invariant:** no page begins after the end, and the bytes of the last page after the end are zero, so a file that
//! grows again reads as zeros there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub(super) const PAGE_BYTES: usize = 4096;

pub(super) type Page = Arc<[u8; PAGE_BYTES]>;

#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    length: u64,
    pages: BTreeMap<u64, Page>,
}

impl Image {
    pub(super) fn length(&self) -> u64 {
        self.length
    }
    /// Fills `buffer`; false if the file is shorter.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> bool {
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > self.length) {
            return false;
        }
        for piece in pieces(offset, buffer.len(), PAGE_BYTES) {
            let target = &mut buffer[piece.bytes];
            match self.pages.get(&piece.unit) {
                Some(page) => target.copy_from_slice(&page[piece.within..piece.within + target.len()]),
                None => target.fill(0),
            }
        }
        true
    }
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        for piece in pieces(offset, bytes.len(), PAGE_BYTES) {
            let source = &bytes[piece.bytes];
            if let Ok(whole) = source.try_into() {
                self.pages.insert(piece.unit, Arc::new(whole));
                continue;
            }
            let page = self.pages.entry(piece.unit).or_insert_with(|| Arc::new([0; PAGE_BYTES]));
            Arc::make_mut(page)[piece.within..piece.within + source.len()].copy_from_slice(source);
        }
        if !bytes.is_empty() {
            self.grow(offset + bytes.len() as u64);
        }
    }
    /// Writes whole pages without copying them.
    pub(super) fn write_pages(&mut self, first: u64, pages: &[Page]) {
        for (unit, page) in (first..).zip(pages) {
            self.pages.insert(unit, Arc::clone(page));
            self.grow((unit + 1) * PAGE_BYTES as u64);
        }
    }
    /// The number of the first page and the pages where `length` bytes were written at `offset`, if those were whole
    /// pages.
    pub(super) fn written_pages(&self, offset: u64, length: usize) -> Option<(u64, Vec<Page>)> {
        let (first, within) = place(offset, PAGE_BYTES);
        if within > 0 || !length.is_multiple_of(PAGE_BYTES) {
            return None;
        }
        let units = first..first + (length / PAGE_BYTES) as u64;
        let pages: Option<Vec<Page>> = units.map(|unit| self.pages.get(&unit).cloned()).collect();
        Some((first, pages?))
    }
    /// Makes the file at least `length` long.
    pub(super) fn grow(&mut self, length: u64) {
        self.length = self.length.max(length);
    }
    /// Makes the file at most `length` long.
    pub(super) fn cut(&mut self, length: u64) {
        if length >= self.length {
            return;
        }
        self.length = length;
        let (last, within) = place(length, PAGE_BYTES);
        drop(self.pages.split_off(&(last + u64::from(within > 0))));
        if let Some(page) = self.pages.get_mut(&last) {
            Arc::make_mut(page)[within..].fill(0);
        }
    }
    /// Flips one bit; false if it is after the end.
    pub(super) fn flip_bit(&mut self, bit: u64) -> bool {
        let mut byte = [0];
        if !self.read(bit / 8, &mut byte) {
            return false;
        }
        self.write(bit / 8, &[byte[0] ^ (1 << (bit % 8))]);
        true
    }
}

/// The part of a range of bytes that lies in one unit (a page, a sector).
pub(super) struct Piece {
    /// The number of the unit in the file.
    pub(super) unit: u64,
    /// Where in the unit the part begins.
    pub(super) within: usize,
    /// Which of the bytes it is.
    pub(super) bytes: Range<usize>,
}

/// Splits `length` bytes at `offset` at unit boundaries.
pub(super) fn pieces(offset: u64, length: usize, unit_bytes: usize) -> impl Iterator<Item = Piece> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let (unit, within) = place(offset + start as u64, unit_bytes);
        let end = length.min(start + unit_bytes - within);
        let piece = Piece { unit, within, bytes: start..end };
        start = end;
        (!piece.bytes.is_empty()).then_some(piece)
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a remainder is smaller than the unit, a usize")]
fn place(offset: u64, unit_bytes: usize) -> (u64, usize) {
    (offset / unit_bytes as u64, (offset % unit_bytes as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;

    #[test]
    fn model_an_image_is_a_vector_of_bytes() {
        let mut chance = Chance::new(1);
        let (mut image, mut model) = (Image::default(), Vec::new());
        for _ in 0..2_000 {
            let (offset, length) = (chance.index(20_000), chance.index(9_000));
            match chance.below(4) {
                0 => {
                    image.cut(offset as u64);
                    model.truncate(offset);
                }
                1 => {
                    image.grow(offset as u64);
                    model.resize(model.len().max(offset), 0);
                }
                _ => {
                    let bytes: Vec<u8> = (0..length).map(|_| chance.bits().to_le_bytes()[0]).collect();
                    image.write(offset as u64, &bytes);
                    let end = if length == 0 { 0 } else { offset + length };
                    model.resize(model.len().max(end), 0);
                    model.get_mut(offset..end).unwrap_or_default().copy_from_slice(&bytes);
                }
            }
            let mut found = vec![7; model.len()];
            assert!(image.length() == model.len() as u64 && image.read(0, &mut found) && found == model);
            assert!(!image.read(1, &mut found) || found.is_empty());
        }
    }

    #[test]
    fn changing_a_copy_leaves_the_original() {
        let mut first = Image::default();
        first.write(0, b"abc");
        let mut second = first.clone();
        assert!(second.flip_bit(8) && !second.flip_bit(24));
        let mut bytes = [0; 3];
        assert!(first.read(0, &mut bytes) && &bytes == b"abc");
        assert!(second.read(0, &mut bytes) && &bytes == b"acc");
    }
}
