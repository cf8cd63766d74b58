//! Unicode's form NFKC with a way back: half-width kana, full-width letters and old forms become the usual characters.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick, is_nfkc_quick};

/// A text in form NFKC, and for each of its positions the one in the original.
///
/// ```
/// let text = japanese::Normalised::new("①ﾃﾞｰﾀ");
/// assert_eq!(text.text(), "1データ");
/// assert_eq!(&text.original()[text.original_span(1..4)], "ﾃﾞ");
/// ```
#[derive(Clone, Debug)]
pub struct Normalised<'t> {
    original: &'t str,
    text: Cow<'t, str>,
    changes: Vec<Change>,
}

/// A place where the two texts differ. Between two of these they are equal.
#[derive(Clone, Debug)]
struct Change {
    normal: Range<usize>,
    original: Range<usize>,
}

impl<'t> Normalised<'t> {
    /// Normalises a text.
    #[must_use]
    pub fn new(original: &'t str) -> Self {
        let same = original.find(|c| !is_plain(c)).unwrap_or(original.len());
        if same == original.len() {
            return Self { original, text: Cow::Borrowed(original), changes: Vec::new() };
        }
        let mut text = String::with_capacity(original.len());
        let mut changes = Vec::new();
        let mut rest = 0;
        while rest < original.len() {
            let unit = rest..rest + unit(&original[rest..]);
            let start = text.len();
            append(&mut text, &original[unit.clone()]);
            if text[start..] != original[unit.clone()] {
                changes.push(Change { normal: start..text.len(), original: unit.clone() });
            }
            rest = unit.end;
        }
        Self { original, text: Cow::Owned(text), changes }
    }

    /// The text as it was.
    #[must_use]
    pub fn original(&self) -> &'t str {
        self.original
    }

    /// The normalised text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The original bytes of a span of the normalised text. Spans side by side stay so: of several that share one original
    /// character, the first gets it.
    #[must_use]
    pub fn original_span(&self, span: Range<usize>) -> Range<usize> {
        self.original_position(span.start)..self.original_position(span.end)
    }

    fn original_position(&self, normal: usize) -> usize {
        let before = self.changes.partition_point(|change| change.normal.start < normal);
        let Some(change) = before.checked_sub(1).map(|last| &self.changes[last]) else { return normal };
        change.original.end + normal.saturating_sub(change.normal.end)
    }
}

/// The length of a beginning that can be normalised by itself: of plain characters all but the last, which what follows
/// may join, else as little as possible.
fn unit(text: &str) -> usize {
    let mut last = 0;
    for (at, c) in text.char_indices() {
        if !is_plain(c) {
            break;
        }
        last = at;
    }
    if last > 0 {
        return last;
    }
    let mut characters = text.char_indices().skip(1);
    characters.find(|(_, c)| is_plain(*c) || begins(*c)).map_or(text.len(), |(at, _)| at)
}

fn append(text: &mut String, unit: &str) {
    if unit.chars().all(is_plain) || is_nfkc_quick(unit.chars()) == IsNormalized::Yes {
        text.push_str(unit);
    } else {
        text.extend(unit.nfkc());
    }
}

/// Characters that are normalised and join none before them: most of every text.
fn is_plain(c: char) -> bool {
    matches!(c, '\0'..='\u{9F}' | '\u{3001}'..='\u{3029}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FE}'
        | '\u{4E00}'..='\u{9FFF}')
}

/// Whether no character before this one changes with it.
fn begins(c: char) -> bool {
    let mut first = None;
    decompose_compatible(c, |part| {
        first.get_or_insert(part);
    });
    let first = first.unwrap_or(c);
    canonical_combining_class(first) == 0 && is_nfc_quick(std::iter::once(first)) == IsNormalized::Yes
}
