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
        let count = |is: fn(u8) -> bool| self.text.bytes().map(|byte| usize::from(is(byte))).sum::<usize>();
        let chars = count(|byte| byte & 0xC0 != 0x80);
        let ascii = count(|byte| byte.is_ascii());
        let digits = count(|byte| byte.is_ascii_digit());
        let latin = count(|byte| byte.is_ascii_alphabetic());
        let wide = count(|byte| byte >= 0xE3);
        Weight { letters: latin + (chars - ascii) + wide, digits, chars }
    }

    /// The text without digits, addresses and the names of months, if there are any; blanks folded again.
    pub(super) fn skeleton(&self, weight: Weight) -> Option<String> {
        let bytes = self.text.as_bytes();
        let wide_digits = weight.chars < bytes.len() && self.text.contains(is_wide_digit);
        if weight.digits == 0 && !wide_digits && memmem::find(bytes, b"://").is_none() {
            return None;
        }
        let mut bare = String::with_capacity(self.text.len());
        for word in self.text.split(' ').filter(|word| !is_address(word) && !is_month(word)) {
            if !bare.is_empty() && !bare.ends_with(' ') {
                bare.push(' ');
            }
            bare.extend(word.chars().filter(|c| !c.is_ascii_digit() && !is_wide_digit(*c)));
        }
        bare.truncate(bare.trim_end().len());
        Some(bare)
    }

    pub(super) fn digest(&self) -> u64 {
        digest::of(self.text.as_bytes())
    }
}

/// Whether there is nothing to fold: no white space but single blanks.
fn is_folded(text: &[u8]) -> bool {
    // Without an early end, so that many bytes are looked at in one step.
    let control = text.iter().fold(false, |found, byte| found | (*byte < b' '));
    let doubled =
        text.iter().zip(text.iter().skip(1)).fold(false, |found, (a, b)| found | (*a == b' ' && *b == b' '));
    !control && !doubled
}

fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace()
}
fn is_wide_digit(c: char) -> bool {
    ('０'..='９').contains(&c)
}
fn is_address(word: &str) -> bool {
    word.contains("://") || word.starts_with("www.")
}

/// Whether a word, without the signs around it, is the English name of a month or its first three letters.
fn is_month(word: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
    MONTHS.iter().any(|month| *month == word || month.get(..3) == Some(word))
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
            block.skeleton(block.weight())
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
