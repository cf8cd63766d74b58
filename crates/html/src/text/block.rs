//! One block of text: the text between two tags that break a line.

use super::{digest, run};
use crate::reference::in_text;
use memchr::{memchr, memchr_iter};

/// A block of visible text, its white space folded.
#[derive(Debug, Default)]
pub(super) struct Block {
    text: String,
    /// A space is due before the next character.
    space: bool,
    /// The number of its bytes inside links.
    pub(super) linked: usize,
    /// It was cut, and the next block is the rest of it.
    pub(super) goes_on: bool,
}

/// The contents of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Letters; those of CJK scripts count twice.
    pub(super) letters: usize,
    /// ASCII digits.
    pub(super) digits: usize,
    /// Characters of all kinds.
    pub(super) chars: usize,
}

impl Block {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Adds text as written. White space of any length, also across several texts, becomes one space.
    pub(super) fn push(&mut self, text: &str, in_link: bool) {
        let before = self.text.len();
        let bytes = text.as_bytes();
        let Some(start) = bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
            self.space |= !bytes.is_empty();
            return;
        };
        let end = bytes.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(start, |last| last + 1);
        let inner = text.get(start..end).unwrap_or_default();
        self.space |= start > 0;
        self.space_if_due();
        if run::is_plain(inner.as_bytes()) {
            self.text.push_str(inner);
        } else {
            self.push_lines(&in_text(inner));
        }
        self.space = end < bytes.len();
        if in_link {
            self.linked += self.text.len() - before;
        }
    }

    /// Most text with line breaks is wrapped at some width, and its lines need no folding.
    fn push_lines(&mut self, text: &str) {
        let mut rest = text;
        loop {
            let end = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            let (line, behind) = rest.split_at(end);
            let line = line.trim_ascii();
            if run::is_plain(line.as_bytes()) {
                self.push_word(line);
            } else {
                line.split_ascii_whitespace().for_each(|word| self.push_word(word));
            }
            match behind.get(1..) {
                Some(next) => rest = next,
                None => return,
            }
        }
    }

    fn push_word(&mut self, word: &str) {
        if !word.is_empty() {
            self.space_if_due();
            self.text.push_str(word);
            self.space = true;
        }
    }

    fn space_if_due(&mut self) {
        if self.space && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.space = false;
    }

    /// A space is due, as between the cells of a table.
    pub(super) fn part(&mut self) {
        self.space = true;
    }

    /// Cuts the block at or shortly before this many bytes, and returns the rest.
    pub(super) fn split_off(&mut self, bytes: usize) -> Self {
        let text = self.text.split_off(self.text.floor_char_boundary(bytes));
        let linked = self.linked.saturating_sub(self.text.len());
        self.goes_on = true;
        Self { text, space: std::mem::take(&mut self.space), linked, goes_on: false }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.space = false;
        self.linked = 0;
        self.goes_on = false;
    }

    pub(super) fn weight(&self) -> Weight {
        let run::Count { ascii, latin, digits, others, wide } = run::count(self.text.as_bytes());
        Weight { letters: latin + others + wide, digits, chars: ascii + others }
    }

    /// Writes the text without digits and addresses to `bare`, and that of a short block also without the names of months,
    /// spaces folded again; returns whether there were any of these.
    pub(super) fn skeleton(&self, weight: Weight, bare: &mut Vec<u8>) -> bool {
        let bytes = self.text.as_bytes();
        let has_address = has_address(bytes);
        if !has_address && !self.has_digit(weight) {
            return false;
        }
        bare.clear();
        if !has_address && bytes.len() > LABEL_BYTES_MAX {
            push_bare(bare, bytes);
            return true;
        }
        for word in self.text.split(' ').map(str::as_bytes) {
            if !(is_month(word) || has_address && self::has_address(word)) {
                push_bare(bare, word);
                push_blank(bare);
            }
        }
        if bare.last() == Some(&b' ') {
            bare.pop();
        }
        true
    }

    /// Whether there is a digit, ASCII or full-width.
    pub(super) fn has_digit(&self, weight: Weight) -> bool {
        let bytes = self.text.as_bytes();
        weight.digits > 0 || (weight.chars != bytes.len() && has_wide_digit(bytes))
    }

    pub(super) fn digest(&self) -> u64 {
        digest::of(self.text.as_bytes())
    }
}

/// The number of letters; those of CJK scripts count twice.
pub(super) fn letters(bytes: &[u8]) -> usize {
    let run::Count { latin, others, wide, .. } = run::count(bytes);
    latin + others + wide
}

/// Longer blocks are not the heading of a calendar.
const LABEL_BYTES_MAX: usize = 256;

/// Appends bytes without digits; a space is never first or after another space.
fn push_bare(bare: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(at) = run::digit_in(rest) {
        let (before, digit) = rest.split_at(at);
        push_run(bare, before);
        rest = match digit {
            [0xEF, 0xBC, 0x90..=0x99, behind @ ..] => behind,
            [0xEF, behind @ ..] => {
                bare.push(0xEF);
                behind
            }
            [_, behind @ ..] => behind,
            [] => digit,
        };
    }
    push_run(bare, rest);
}

fn push_run(bare: &mut Vec<u8>, run: &[u8]) {
    let is_at_blank = bare.is_empty() || bare.last() == Some(&b' ');
    bare.extend_from_slice(if is_at_blank { run.strip_prefix(b" ").unwrap_or(run) } else { run });
}

fn push_blank(bare: &mut Vec<u8>) {
    if !bare.is_empty() && bare.last() != Some(&b' ') {
        bare.push(b' ');
    }
}

/// Whether the text contains one of ０ to ９.
fn has_wide_digit(bytes: &[u8]) -> bool {
    let behind = |at: usize| bytes.get(at + 1..at + 3);
    memchr_iter(0xEF, bytes).any(|at| matches!(behind(at), Some([0xBC, 0x90..=0x99])))
}

fn has_address(bytes: &[u8]) -> bool {
    memchr_iter(b':', bytes).any(|at| bytes.get(at + 1..at + 3) == Some(b"//"))
}

/// Whether a word, without the signs around it, is the English name of a month or its first three letters.
fn is_month(word: &[u8]) -> bool {
    const MONTHS: [&[u8]; 12] = [
        b"January",
        b"February",
        b"March",
        b"April",
        b"May",
        b"June",
        b"July",
        b"August",
        b"September",
        b"October",
        b"November",
        b"December",
    ];
    if word.len() < 3 || !word.iter().take(2).any(u8::is_ascii_uppercase) {
        return false;
    }
    let is_sign = |byte: &u8| byte.is_ascii_punctuation();
    let start = word.iter().position(|byte| !is_sign(byte)).unwrap_or(word.len());
    let end = word.iter().rposition(|byte| !is_sign(byte)).map_or(start, |last| last + 1);
    let name = word.get(start..end).unwrap_or_default();
    MONTHS.iter().any(|month| *month == name || month.get(..3) == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], folded: &str) {
        let mut block = Block::default();
        texts.iter().for_each(|text| block.push(text, false));
        assert_eq!(block.text(), folded);
    }

    #[test]
    fn white_space_of_any_length_is_one_blank() {
        check(&["a", "b"], "ab");
        check(&[" a ", " b\n"], "a b");
        check(&["a", " \n\t ", "b"], "a b");
        check(&["a  b\nc", "d"], "a b cd");
        check(&["\n", "a b", " ", "", "c"], "a b c");
        check(&["漢 字\r\n", "仮名"], "漢 字 仮名");
    }

    #[test]
    fn skeletons_leave_out_what_counts_days_and_pages() {
        let skeleton = |text: &str| {
            let mut block = Block::default();
            block.push(text, false);
            let mut bare = Vec::new();
            block.skeleton(block.weight(), &mut bare).then(|| String::from_utf8(bare).unwrap())
        };
        assert_eq!(skeleton("nothing of the kind"), None);
        assert_eq!(skeleton("page 12 of 300").as_deref(), Some("page of"));
        assert_eq!(skeleton("2026年３月31日の予定").as_deref(), Some("年月日の予定"));
        assert_eq!(skeleton("March 31, 2026 at http://a.example/x").as_deref(), Some(", at"));
        assert_eq!(skeleton("31").as_deref(), Some(""));
        let long = "The year 2026 has 12 months. ".repeat(20);
        assert_eq!(skeleton(&long), Some("The year has months. ".repeat(20).trim_end().to_owned()));
        assert_eq!(skeleton(&long.replace("2026", "２０２７")), skeleton(&long));
    }

    #[test]
    fn cjk_letters_weigh_two() {
        let mut block = Block::default();
        block.push("abc 12 漢字", false);
        assert_eq!(block.weight(), Weight { letters: 7, digits: 2, chars: 9 });
    }
}
