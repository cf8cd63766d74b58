//! Sentences of a text as pages write it.
//!
//! Lines come first: a line break ends a sentence, unless the line was only broken for its width or in the middle of a
//! clause ([`lines`]). Then every piece is cut by the rules of its language: [`japanese`] or [`western`].

mod bracket;
mod following;
mod japanese;
mod lines;
mod western;

use std::ops::Range;

use crate::Language;

/// The sentences of a text as byte ranges, without the white space around them. `language` decides the rules: those of
/// Japanese and Chinese, or Unicode's for all others.
///
/// ```
/// use lang::Language;
///
/// let text = "「行こう。」と言った。\n・一つ目\n・二つ目";
/// let sentences = lang::sentences(text, Some(Language::JAPANESE));
/// let sentences: Vec<&str> = sentences.into_iter().map(|range| &text[range]).collect();
/// assert_eq!(sentences, ["「行こう。」と言った。", "・一つ目", "・二つ目"]);
/// ```
#[must_use]
pub fn sentences(text: &str, language: Option<Language>) -> Vec<Range<usize>> {
    let wide = matches!(language, Some(Language::JAPANESE | Language::CHINESE));
    let mut sentences = Vec::new();
    for piece in lines::pieces(text, wide) {
        let part = &text[piece.clone()];
        let cuts = if wide { japanese::cuts(part) } else { western::cuts(part) };
        let mut start = 0;
        for end in cuts.into_iter().chain([part.len()]) {
            sentences.extend(trimmed(text, piece.start + start..piece.start + end));
            start = end;
        }
    }
    sentences
}

/// The range without white space around it; none if nothing is left.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let length = part.trim().len();
    (length > 0).then_some(start..start + length)
}
