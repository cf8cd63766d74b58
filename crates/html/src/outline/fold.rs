//! The text of blocks, white space folded, with the position of every part of it in the decoded page.
//!
//! **Invariant:** a mark is set wherever the text stops being a copy of the page, so between two marks the distance from
//! the page is constant; a character that was written as a reference has a mark of its own.

use crate::reference::{self, Reference};
use crate::text::is_plain;
use memchr::memchr;
use std::ops::Range;

/// Where a part of the text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Where the part begins in the text.
    text: u32,
    /// Where it begins in the decoded page.
    page: u32,
    /// The length of the reference that it is written as; 0 if it is a copy.
    written: u32,
}

/// White space that is due before the next word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// The text of all blocks of a page, and what is needed to find it there.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    text: String,
    marks: Vec<Mark>,
    gap: Gap,
    /// Where the open block begins.
    start: usize,
}

impl Fold {
    pub(super) fn text(&self, range: Range<u32>) -> &str {
        self.text.get(range.start as usize..range.end as usize).unwrap_or_default()
    }
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }
    pub(super) fn is_open(&self) -> bool {
        self.text.len() > self.start
    }
    /// Ends the open block; returns its text, unless it is empty.
    pub(super) fn end_block(&mut self) -> Option<Range<u32>> {
        let range = short(self.start)..short(self.text.len());
        self.gap = Gap::None;
        self.start = self.text.len();
        (!range.is_empty()).then_some(range)
    }
    /// A line ends here, though the block goes on.
    pub(super) fn end_line(&mut self) {
        self.gap = Gap::Line;
    }

    /// Adds text as written, which begins at `at` in the page. In preformatted text, line breaks are kept.
    pub(super) fn push(&mut self, text: &str, at: usize, keeps_lines: bool) {
        let start = text.len() - text.trim_ascii_start().len();
        let inner = text.trim_ascii();
        self.space(text.get(..start).unwrap_or_default(), keeps_lines);
        if inner.is_empty() {
            return;
        }
        if inner.is_ascii() && is_plain(inner.as_bytes()) {
            self.word(inner, at + start);
        } else {
            self.push_with_references(inner, at + start, keeps_lines);
        }
        self.space(text.get(start + inner.len()..).unwrap_or_default(), keeps_lines);
    }

    fn push_with_references(&mut self, text: &str, mut at: usize, keeps_lines: bool) {
        let mut rest = text;
        while let Some(ampersand) = memchr(b'&', rest.as_bytes()) {
            let (before, behind) = rest.split_at(ampersand);
            self.words(before, at, keeps_lines);
            at += ampersand;
            match reference::at_ampersand(behind) {
                Some(reference) => {
                    self.reference(reference, at, keeps_lines);
                    rest = behind.get(reference.bytes..).unwrap_or_default();
                    at += reference.bytes;
                }
                None => {
                    self.word("&", at);
                    rest = behind.get(1..).unwrap_or_default();
                    at += 1;
                }
            }
        }
        self.words(rest, at, keeps_lines);
    }

    /// Adds text without references, as it is.
    pub(super) fn words(&mut self, text: &str, at: usize, keeps_lines: bool) {
        let mut from = 0;
        let mut word = None;
        for (place, letter) in text.char_indices() {
            if letter > ' ' && !letter.is_whitespace() {
                word = word.or(Some(place));
                continue;
            }
            if let Some(start) = word.take() {
                self.word(text.get(start..place).unwrap_or_default(), at + start);
                from = place;
            }
            self.space(text.get(from..place + letter.len_utf8()).unwrap_or_default(), keeps_lines);
            from = place + letter.len_utf8();
        }
        if let Some(start) = word {
            self.word(text.get(start..).unwrap_or_default(), at + start);
        }
    }

    fn reference(&mut self, reference: Reference, at: usize, keeps_lines: bool) {
        let mut buffer = [0; 4];
        for character in reference.characters() {
            let text = &*character.encode_utf8(&mut buffer);
            if character.is_whitespace() {
                self.space(text, keeps_lines);
                continue;
            }
            self.fill_gap();
            let mark =
                Mark { text: short(self.text.len()), page: short(at), written: short(reference.bytes) };
            self.text.push_str(text);
            self.marks.push(mark);
        }
    }

    /// Notes white space.
    fn space(&mut self, blank: &str, keeps_lines: bool) {
        if !blank.is_empty() {
            let is_line = keeps_lines && memchr(b'\n', blank.as_bytes()).is_some();
            self.gap = self.gap.max(if is_line { Gap::Line } else { Gap::Space });
        }
    }
    fn fill_gap(&mut self) {
        if self.gap != Gap::None && self.is_open() {
            self.text.push(if self.gap == Gap::Line { '\n' } else { ' ' });
        }
        self.gap = Gap::None;
    }

    /// Adds a word, or words with single spaces between them.
    fn word(&mut self, word: &str, at: usize) {
        self.fill_gap();
        let (text, page) = (short(self.text.len()), short(at));
        let is_copied = self.marks.last().is_some_and(|last| {
            last.written == 0 && text.wrapping_sub(last.text) == page.wrapping_sub(last.page)
        });
        if !is_copied || text as usize == self.start {
            self.marks.push(Mark { text, page, written: 0 });
        }
        self.text.push_str(word);
    }

    /// Where a part of the text is in the decoded page, tags inside included.
    pub(super) fn in_page(&self, text: Range<u32>) -> Range<usize> {
        if text.is_empty() {
            let at = self.first_byte(text.start);
            return at..at;
        }
        self.first_byte(text.start)..self.end_of_byte(text.end - 1)
    }

    fn mark_of(&self, text: u32) -> Option<&Mark> {
        let after = self.marks.partition_point(|mark| mark.text <= text);
        after.checked_sub(1).and_then(|at| self.marks.get(at))
    }
    fn first_byte(&self, text: u32) -> usize {
        self.mark_of(text).map_or(0, |mark| match mark.written {
            0 => mark.page + (text - mark.text),
            _ => mark.page,
        }) as usize
    }
    fn end_of_byte(&self, text: u32) -> usize {
        self.mark_of(text).map_or(0, |mark| match mark.written {
            0 => mark.page + (text - mark.text) + 1,
            written => mark.page + written,
        }) as usize
    }
}

/// A position; a page has fewer bytes than 4 GiB, and what is behind that is not found.
pub(super) fn short(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
