//! Where the sentences of a text are.

use std::ops::Range;

/// A bracket that is not closed after this many characters is a mistake.
const BRACKETED_MAX: usize = 300;
/// Words that end in a full stop inside a sentence.
const ABBREVIATIONS: [&str; 14] =
    ["mr", "mrs", "ms", "dr", "prof", "st", "no", "vol", "fig", "e.g", "i.e", "vs", "cf", "approx"];

/// The sentences of a text, each without the white space around it. Line breaks end sentences.
pub(crate) fn split(text: &str) -> Vec<Range<usize>> {
    let mut splitter = Splitter { text, found: Vec::new(), start: 0, open: 0, open_for: 0 };
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        splitter.bracket(c);
        let end = at + c.len_utf8();
        if !splitter.ends_with(c, at, end) {
            continue;
        }
        let mut end = end;
        while let Some((at, closer)) = characters.next_if(|(_, next)| is_end(*next) || is_closer(*next)) {
            splitter.bracket(closer);
            end = at + closer.len_utf8();
        }
        splitter.push(end);
    }
    splitter.push(text.len());
    splitter.found
}

struct Splitter<'a> {
    text: &'a str,
    found: Vec<Range<usize>>,
    start: usize,
    /// Brackets that are open, and for how many characters.
    open: usize,
    open_for: usize,
}

impl Splitter<'_> {
    fn bracket(&mut self, c: char) {
        match c {
            '「' | '『' | '（' | '【' | '〈' | '《' => self.open += 1,
            '」' | '』' | '）' | '】' | '〉' | '》' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.open_for = if self.open > 0 { self.open_for + 1 } else { 0 };
        if self.open_for > BRACKETED_MAX {
            (self.open, self.open_for) = (0, 0);
        }
    }

    /// Whether a sentence ends with the character between `at` and `end`.
    fn ends_with(&self, c: char, at: usize, end: usize) -> bool {
        let rest = self.text.get(end..).unwrap_or_default();
        match c {
            '\n' => true,
            '。' | '！' | '？' | '．' | '｡' => self.open == 0,
            '!' | '?' => is_before_space(rest),
            '.' => is_before_space(rest) && !goes_on(rest) && !self.is_abbreviated(at),
            _ => false,
        }
    }
    /// Whether the word before the full stop at `at` is an initial or an abbreviation.
    fn is_abbreviated(&self, at: usize) -> bool {
        let before = self.text.get(self.start..at).unwrap_or_default();
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let word = word.trim_start_matches(['(', '"', '\'']);
        let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
        is_initial || ABBREVIATIONS.contains(&&*word.to_lowercase())
    }

    fn push(&mut self, end: usize) {
        let piece = self.text.get(self.start..end).unwrap_or_default();
        let start = self.start + piece.len() - piece.trim_start().len();
        if !piece.trim().is_empty() {
            self.found.push(start..start + piece.trim().len());
        }
        (self.start, self.open, self.open_for) = (end, 0, 0);
    }
}

fn is_end(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '!' | '?' | '｡')
}
fn is_closer(c: char) -> bool {
    matches!(c, '」' | '』' | '）' | '】' | '〉' | '》' | '”' | '’' | ')' | ']' | '"' | '\'')
}
/// Whether the text ends, or white space follows the closing marks.
fn is_before_space(rest: &str) -> bool {
    rest.trim_start_matches(is_closer).chars().next().is_none_or(char::is_whitespace)
}
/// Whether the next word continues the sentence.
fn goes_on(rest: &str) -> bool {
    rest.trim_start_matches(is_closer).trim_start_matches(' ').chars().next().is_some_and(char::is_lowercase)
}

/// Whether a sentence is Japanese: it has kana, or Chinese characters in a Japanese document.
pub(crate) fn is_japanese(sentence: &str, language: Option<&str>) -> bool {
    let is_kana =
        |c: char| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}');
    let is_han = |c: char| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々');
    sentence.chars().any(|c| is_kana(c) && !matches!(c, '・' | 'ー'))
        || language == Some("ja") && sentence.chars().any(is_han)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = split(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sentences_end_where_they_end() {
        check("", &[]);
        check(" \n ", &[]);
        check("今日は晴れ。明日は雨！？たぶん", &["今日は晴れ。", "明日は雨！？", "たぶん"]);
        check("彼は「行く。必ず。」と言った。終わり。", &["彼は「行く。必ず。」と言った。", "終わり。"]);
        check("「行く。」", &["「行く。」"]);
        check("見出し\n本文です。", &["見出し", "本文です。"]);
        check(
            "It costs 3.50 yen. Dr. Smith agrees! \"Yes.\" He said so.",
            &["It costs 3.50 yen.", "Dr. Smith agrees!", "\"Yes.\"", "He said so."],
        );
        check(
            "See e.g. this, i.e. that. J. Doe is at no. 5 now",
            &["See e.g. this, i.e. that.", "J. Doe is at no. 5 now"],
        );
        check("開いた「まま。次。", &["開いた「まま。次。"]);
    }

    #[test]
    fn a_bracket_that_stays_open_holds_only_so_much() {
        let text = format!("「{}。次。", "あ".repeat(400));
        assert_eq!(split(&text).len(), 2);
    }

    #[test]
    fn kana_is_japanese_and_han_by_its_document() {
        for (sentence, language, expected) in [
            ("これ", None, true),
            ("東京", Some("ja"), true),
            ("東京", Some("zh"), false),
            ("A・B", None, false),
            ("plain", Some("ja"), false),
        ] {
            assert_eq!(is_japanese(sentence, language), expected, "{sentence}");
        }
    }
}
