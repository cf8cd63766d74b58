//! The text of the link that is open.

use crate::reference::in_text;
use base::limits::ANCHOR_TEXT_BYTES_MAX;

/// The maximum number of bytes read of one text; its character references expand to less.
const WRITTEN_BYTES_MAX: usize = 4 * ANCHOR_TEXT_BYTES_MAX;

/// Collects the text of one link at a time, white space folded.
///
/// **Invariant:** it holds at most [`ANCHOR_TEXT_BYTES_MAX`] and one written text.
#[derive(Debug, Default)]
pub(crate) struct AnchorText {
    /// The number of the open link.
    link: Option<usize>,
    text: String,
    /// A space is due before the next word.
    space: bool,
}

impl AnchorText {
    /// A link opens, or text that belongs to no link.
    pub(crate) fn open(&mut self, link: Option<usize>) {
        self.link = link;
        self.text.clear();
        self.space = false;
    }
    /// Text as written, with its character references.
    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        if self.link.is_some() && self.text.len() < ANCHOR_TEXT_BYTES_MAX {
            self.add(text);
        }
    }
    fn add(&mut self, text: &str) {
        let inner = text.trim_ascii_start();
        self.space |= inner.len() < text.len();
        let inner = inner.get(..inner.floor_char_boundary(WRITTEN_BYTES_MAX)).unwrap_or(inner);
        for word in in_text(inner).split_ascii_whitespace() {
            if self.space && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(word);
            self.space = true;
        }
        self.space =
            inner.ends_with(|last: char| last.is_ascii_whitespace()) || inner.is_empty() && self.space;
    }
    /// The link closes: returns its number and its text, unless it has none.
    pub(crate) fn close(&mut self) -> Option<(usize, &str)> {
        let link = self.link.take()?;
        let end = self.text.floor_char_boundary(ANCHOR_TEXT_BYTES_MAX);
        let text = self.text.get(..end).unwrap_or_default().trim_ascii_end();
        (!text.is_empty()).then_some((link, text))
    }
}
