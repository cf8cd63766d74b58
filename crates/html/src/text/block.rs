//! One block of text: what stands between two tags that break a line.

use super::digest;
use memchr::memmem;

/// A block of visible text, its white space folded.
#[derive(Debug, Default)]
pub(super) struct Block {
    text: String,
    /// A blank is due before the next character.
    space: bool,
    /// How many of its bytes stand in links.
    pub(super) linked: usize,
}

/// What there is in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// Letters; those of CJK scripts, which say twice as much, count twice.
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

    /// Adds text. White space of any length, also across several texts, is one blank.
    pub(super) fn push(&mut self, text: &str, in_link: bool) {
        let before = self.text.len();
        let inner = text.trim_ascii();
        if inner.is_empty() {
            self.space |= !text.is_empty();
            return;
        }
        self.space |= text.starts_with(is_blank);
        self.space_if_due();
        if is_folded(inner.as_bytes()) {
            self.text.push_str(inner);
        } else {
            self.push_words(inner);
        }
        self.space = text.ends_with(is_blank);
        if in_link {
            self.linked += self.text.len() - before;
        }
    }

    fn push_words(&mut self, text: &str) {
        for word in text.split_ascii_whitespace() {
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

    /// A blank is due, as between the cells of a table.
    pub(super) fn part(&mut self) {
        self.space = true;
    }

    /// Cuts the block after so many bytes, or a little earlier, and gives what stands behind.
    pub(super) fn split_off(&mut self, bytes: usize) -> Self {
        let text = self.text.split_off(self.text.floor_char_boundary(bytes));
        let linked = self.linked.saturating_sub(self.text.len());
        Self { text, space: std::mem::take(&mut self.space), linked }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.space = false;
        self.linked = 0;
    }

    pub(super) fn weight(&self) -> Weight {
        let bytes = self.text.as_bytes();
        let ascii = count(bytes, |byte| byte < 0x80);
        let latin = count(bytes, |byte| (byte | 0x20).wrapping_sub(b'a') < 26);
        let digits = count(bytes, |byte| byte.wrapping_sub(b'0') < 10);
        if ascii == bytes.len() {
            return Weight { letters: latin, digits, chars: ascii };
        }
        let others = count(bytes, |byte| byte >= 0xC0);
        let wide = count(bytes, |byte| byte >= 0xE3);
        Weight { letters: latin + others + wide, digits, chars: ascii + others }
    }

    /// Writes the text without digits, addresses and the names of months to `bare`, blanks folded again; tells
    /// whether there was any of these.
    pub(super) fn skeleton(&self, weight: Weight, bare: &mut Vec<u8>) -> bool {
        let bytes = self.text.as_bytes();
        let has_address = memmem::find(bytes, b"://").is_some() || memmem::find(bytes, b"www.").is_some();
        if weight.digits == 0 && !has_address && !has_wide_digit(bytes) {
            return false;
        }
        bare.clear();
        for word in self.text.split(' ').map(str::as_bytes) {
            if !(has_address && is_address(word) || is_month(word)) {
                push_bare(bare, word);
            }
        }
        if bare.last() == Some(&b' ') {
            bare.pop();
        }
        true
    }

    pub(super) fn digest(&self) -> u64 {
        digest::of(self.text.as_bytes())
    }
}

/// How many bytes are of a kind. In short runs, so that the counts fit bytes and many are looked at in one step.
fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let run = |run: &[u8]| run.iter().fold(0_u8, |sum, byte| sum.wrapping_add(u8::from(is(*byte))));
    bytes.chunks(255).map(|bytes| usize::from(run(bytes))).sum()
}

/// Whether there is nothing to fold: no white space but single blanks.
fn is_folded(text: &[u8]) -> bool {
    // Without an early end, so that many bytes are looked at in one step.
    let control = text.iter().fold(false, |found, byte| found | (*byte < b' '));
    let pairs = text.iter().zip(text.iter().skip(1));
    let doubled = pairs.fold(false, |found, (a, b)| found | ((*a == b' ') & (*b == b' ')));
    !control && !doubled
}

fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace()
}

/// Appends a word without its digits, behind a blank.
fn push_bare(bare: &mut Vec<u8>, word: &[u8]) {
    if !bare.is_empty() && bare.last() != Some(&b' ') {
        bare.push(b' ');
    }
    let mut rest = word;
    while let Some((first, behind)) = rest.split_first() {
        if first.is_ascii_digit() {
            rest = behind;
        } else if let [0xEF, 0xBC, 0x90..=0x99, behind @ ..] = rest {
            rest = behind;
        } else {
            bare.push(*first);
            rest = behind;
        }
    }
}

/// Whether one of ０ to ９ is there.
fn has_wide_digit(bytes: &[u8]) -> bool {
    let is_digit = |at: usize| bytes.get(at + 2).is_some_and(|byte| (0x90..=0x99).contains(byte));
    memmem::find_iter(bytes, &[0xEF, 0xBC]).any(is_digit)
}

fn is_address(word: &[u8]) -> bool {
    word.starts_with(b"www.") || memmem::find(word, b"://").is_some()
}

/// Whether a word, without the signs around it, is the English name of a month or its first three letters.
fn is_month(word: &[u8]) -> bool {
    const MONTHS: &str =
        "January February March April May June July August September October November December";
    let is_sign = |byte: &u8| byte.is_ascii_punctuation();
    let start = word.iter().position(|byte| !is_sign(byte)).unwrap_or(word.len());
    let end = word.iter().rposition(|byte| !is_sign(byte)).map_or(start, |last| last + 1);
    let name = word.get(start..end).unwrap_or_default();
    (3..=9).contains(&name.len())
        && name.first().is_some_and(u8::is_ascii_uppercase)
        && MONTHS.split(' ').map(str::as_bytes).any(|month| month == name || month.get(..3) == Some(name))
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
    }

    #[test]
    fn cjk_letters_weigh_two() {
        let mut block = Block::default();
        block.push("abc 12 漢字", false);
        assert_eq!(block.weight(), Weight { letters: 7, digits: 2, chars: 9 });
    }
}
