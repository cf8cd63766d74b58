//! Where sentences of Japanese end within a piece of text.
//!
//! A full stop, exclamation or question mark outside brackets ends a sentence, with what clings to it: more such signs,
//! (笑), emoticons. A note, a star, laughter or an emoji does so after a word that can end a sentence.

use super::bracket;
use super::following::{goes_on, goes_on_after_quote, goes_on_after_stop, is_hiragana, is_japanese};
use super::western::{is_abbreviation, is_acronym};

/// Signs that always end a sentence.
const STOPS: &str = "。｡";
/// Signs that end a sentence unless it goes on after them.
const MARKS: &str = "！？!?‼⁇⁈⁉";
/// Signs that end a sentence only after a word that can stand at its end.
const SOFT: &str = "♪♫♬☆★♡♥❤…‥";
/// Hiragana that sentences end with.
const FINALS: &str = "たるいねよなすんかだぞわさうくむぐけせてのっーぁぃぇれろり";
/// What people do in brackets.
const ACTS: [&str; 12] = ["笑", "爆", "泣", "汗", "涙", "苦笑", "爆笑", "大笑", "怒", "照", "殴", "嘘"];
/// Signs that are found in faces.
const FACE_SIGNS: &str = "^_;>T´｀`ω∀д◎・゜°￣▽ー－-~〜*'\"oO0.≧≦；＾＿Д艸∩";
/// How far before a point its meaning is looked for.
const NEAR_CHARACTERS: usize = 80;
/// Words after whose exclamation mark no sentence ends.
const NAMES: [&str; 4] = ["Yahoo!", "Ｙａｈｏｏ！", "モーニング娘。", "ヤフー!"];

/// One piece of text, character by character.
struct Piece<'t> {
    text: &'t str,
    characters: Vec<(usize, char)>,
    /// By opening bracket: the closing one.
    pairs: Vec<Option<usize>>,
}

/// The byte positions at which sentences end, except the end of the text.
pub(super) fn cuts(text: &str) -> Vec<usize> {
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    let pairs = bracket::pairs(&characters);
    let piece = Piece { text, characters, pairs };
    let (mut cuts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < piece.characters.len() {
        let (next, ends) = piece.step(start, at);
        if ends && next < piece.characters.len() {
            cuts.push(piece.characters[next].0);
            start = next;
        }
        at = next;
    }
    cuts
}

impl Piece<'_> {
    /// Reads what is at `at`: the position after it, and whether the sentence that began at `start` ends there.
    fn step(&self, start: usize, at: usize) -> (usize, bool) {
        if let Some(end) = self.address(at) {
            return (end, false);
        }
        if let Some(close) = self.pairs[at] {
            return self.bracketed(start, at, close);
        }
        let character = self.character(at);
        if STOPS.contains(character) {
            let end = self.trailing(at + 1);
            (end, !self.is_name(end) && !goes_on_after_stop(self.rest(end)))
        } else if MARKS.contains(character) {
            let end = self.trailing(at + 1);
            (end, !self.is_inside_word(at, end) && !self.is_name(end) && !goes_on(self.rest(end)))
        } else if matches!(character, '.' | '．') {
            let end = self.trailing(at + 1);
            (end, self.is_full_stop(start, at, end) && !goes_on_after_stop(self.rest(end)))
        } else if SOFT.contains(character) || is_emoji(character) || self.is_laughter(at) {
            let end = self.trailing(at + 1);
            (end, self.ends_softly(at, end))
        } else {
            (at + 1, false)
        }
    }

    /// A pair of brackets: a quotation that is a sentence, an act such as (笑), or part of the sentence.
    fn bracketed(&self, start: usize, open: usize, close: usize) -> (usize, bool) {
        let inside = self.between(open + 1, close);
        let end = close + 1;
        if is_act(inside) {
            let end = self.trailing(end);
            return (end, self.ends_softly(open, end));
        }
        let is_whole = inside.ends_with(|c| STOPS.contains(c) || MARKS.contains(c) || matches!(c, '…' | '―'));
        let before = self.between(start, open).trim_end();
        let alone = before.trim_start().is_empty() || before.ends_with(['：', ':']);
        let is_speech = matches!(self.character(open), '「' | '『' | '“' | '｢');
        let is_remark =
            matches!(self.character(open), '（' | '(') && alone && inside.ends_with(|c| STOPS.contains(c));
        let ends = is_remark || (is_speech && is_whole && !goes_on_after_quote(self.rest(end), alone));
        // A stop right after the bracket is the sentence's own.
        let stops = self.characters.get(end).is_some_and(|(_, c)| STOPS.contains(*c) || MARKS.contains(*c));
        (end, ends && !stops)
    }

    /// The end of the signs that cling to the end of a sentence.
    fn trailing(&self, mut at: usize) -> usize {
        while let Some((_, character)) = self.characters.get(at) {
            let clings = STOPS.contains(*character)
                || MARKS.contains(*character)
                || SOFT.contains(*character)
                || is_emoji(*character)
                || matches!(character, '.' | '．' | '\u{FE0F}' | '\u{200D}' | '\u{20E3}' | '〜' | '～')
                || (bracket::is_closing(*character) && !matches!(character, '）' | ')'))
                || self.is_laughter(at);
            let act = self.pairs[at].filter(|close| is_act(self.between(at + 1, *close)));
            match act {
                Some(close) => at = close + 1,
                None if clings => at += 1,
                None => break,
            }
        }
        at
    }

    /// Whether a soft sign ends a sentence: the word before can, and nothing that goes on follows.
    fn ends_softly(&self, at: usize, end: usize) -> bool {
        let rest = self.rest(end);
        let strong = self.between(at, end).contains(|c| STOPS.contains(c) || MARKS.contains(c));
        let before = at.checked_sub(1).map_or(' ', |before| self.character(before));
        let is_ellipsis = matches!(self.character(at), '…' | '‥');
        let spaced = rest.starts_with(char::is_whitespace);
        let ended =
            FINALS.contains(before) && is_hiragana(before) || strong || matches!(before, 'ー' | '～' | '〜');
        let next = rest.trim_start();
        match (is_ellipsis && !strong, spaced) {
            (true, false) => false,
            (_, true) => ended || strong,
            _ => {
                ended
                    && !goes_on(rest)
                    && !goes_on_after_stop(rest)
                    && !next.starts_with(['。', '」', '』', '）', ')'])
            }
        }
    }

    /// Whether a point is a full stop and not part of a number, a name or an abbreviation.
    fn is_full_stop(&self, start: usize, at: usize, end: usize) -> bool {
        let before = at.checked_sub(1).map_or(' ', |before| self.character(before));
        let next = self.characters.get(end).map_or(' ', |(_, c)| *c);
        if self.between(at, end).contains(|c| STOPS.contains(c) || MARKS.contains(c)) {
            return true;
        }
        // Only what is near decides, so that a text full of points takes linear time.
        let start = start.max(at.saturating_sub(NEAR_CHARACTERS));
        let is_number =
            self.between(start, at).trim().chars().all(|c| c.is_alphanumeric() && !is_japanese(c));
        if end > at + 1 && self.between(at, end).chars().all(|c| matches!(c, '.' | '．' | '…')) {
            return next.is_whitespace() && FINALS.contains(before);
        }
        if is_number && end == at + 1 {
            return false;
        }
        if is_japanese(before) || bracket::is_closing(before) {
            return next.is_whitespace() || is_japanese(next) || bracket::closing(next).is_some();
        }
        let foreign = !self.between(start, at).contains(is_japanese);
        let word =
            self.between(start, at).rsplit(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or("");
        before.is_alphanumeric()
            && next.is_whitespace()
            && foreign
            && !is_abbreviation(word)
            && !is_acronym(word)
    }

    /// Whether a mark stands between letters without a space: a name or part of an address.
    fn is_inside_word(&self, at: usize, end: usize) -> bool {
        let before = at.checked_sub(1).map_or(' ', |before| self.character(before));
        let next = self.characters.get(end).map_or(' ', |(_, c)| *c);
        before.is_ascii_alphanumeric() && (next.is_ascii_alphanumeric() || matches!(next, '=' | '&' | '/'))
    }

    fn is_name(&self, end: usize) -> bool {
        let until = self.byte(end);
        let name = NAMES.iter().find(|name| self.text[..until].ends_with(**name));
        name.is_some_and(|name| !name.ends_with('。') || goes_on(self.rest(end)))
    }

    /// `w` and `ｗ` after a Japanese word, alone or repeated.
    fn is_laughter(&self, at: usize) -> bool {
        let laughs = |c: char| matches!(c, 'w' | 'ｗ' | '笑');
        if !laughs(self.character(at)) {
            return false;
        }
        let before = at.checked_sub(1).map_or(' ', |before| self.character(before));
        let next = self.characters.get(at + 1).map_or(' ', |(_, c)| *c);
        let follows =
            laughs(before) || is_hiragana(before) || MARKS.contains(before) || STOPS.contains(before);
        if self.character(at) == '笑' {
            return follows && (next.is_whitespace() || MARKS.contains(next) || STOPS.contains(next));
        }
        follows && !(next.is_alphanumeric() && next.is_ascii() && !laughs(next))
    }

    /// The end of an address of the web that begins here.
    fn address(&self, at: usize) -> Option<usize> {
        if !self.character(at).is_ascii_alphabetic() {
            return None;
        }
        let rest = self.rest(at);
        let begins = ["http://", "https://", "ftp://", "www."].iter().any(|scheme| rest.starts_with(scheme));
        begins.then(|| at + rest.bytes().take_while(u8::is_ascii_graphic).count())
    }

    fn character(&self, at: usize) -> char {
        self.characters[at].1
    }

    fn byte(&self, at: usize) -> usize {
        self.characters.get(at).map_or(self.text.len(), |(byte, _)| *byte)
    }

    fn between(&self, start: usize, end: usize) -> &str {
        &self.text[self.byte(start)..self.byte(end)]
    }

    fn rest(&self, at: usize) -> &str {
        &self.text[self.byte(at)..]
    }
}

/// Whether brackets hold an act or a face.
fn is_act(inside: &str) -> bool {
    let inside = inside.trim();
    if ACTS.contains(&inside) {
        return true;
    }
    let length = inside.chars().count();
    let signs = inside.chars().filter(|c| FACE_SIGNS.contains(*c)).count();
    (2..=8).contains(&length)
        && signs * 2 > length
        && !inside.chars().any(|c| c.is_ascii_digit() && c != '0')
        && inside.chars().any(|c| "^_;>´｀ω∀д￣≧≦；＾＿ДT▽".contains(c))
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F300}'..='\u{1FAFF}' | '\u{2600}'..='\u{2604}' | '\u{2607}'..='\u{26FF}' | '\u{2728}' | '\u{1F1E6}'..='\u{1F1FF}')
}
