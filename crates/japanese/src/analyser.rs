//! From a text to its morphemes.

use crate::analysis::AnalysedText;
use crate::lattice::Lattice;
use crate::normal::Normalised;

/// The longest piece of normalised text in which a path is searched, in bytes.
pub const PIECE_BYTES_MAX: usize = 8192;

/// Cuts texts into morphemes; keeps its working memory from one text to the next.
#[derive(Default)]
pub struct Analyser {
    lattice: Lattice,
}

impl Analyser {
    /// An analyser with the built-in dictionary.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Normalises a text and cuts it into morphemes. White space belongs to none.
    pub fn analyse<'t>(&mut self, text: &'t str) -> AnalysedText<'t> {
        self.analyse_normalised(Normalised::new(text))
    }

    /// Cuts a normalised text into morphemes.
    pub fn analyse_normalised<'t>(&mut self, text: Normalised<'t>) -> AnalysedText<'t> {
        let mut words = Vec::with_capacity(text.text().len() / 4);
        let mut start = 0;
        while start < text.text().len() {
            let piece = piece(&text.text()[start..]);
            let first = words.len();
            self.lattice.cut(piece, &mut words);
            let shift = u32::try_from(start).unwrap_or(u32::MAX);
            for word in &mut words[first..] {
                word.start += shift;
                word.end += shift;
            }
            start += piece.len();
        }
        AnalysedText::new(text, &words)
    }
}

/// The first piece of a text: all of it, or up to the last sentence end or space, or as much as fits.
fn piece(text: &str) -> &str {
    if text.len() <= PIECE_BYTES_MAX {
        return text;
    }
    let fitting = &text[..text.floor_char_boundary(PIECE_BYTES_MAX)];
    let ends = ["。", "！", "？", "!", "?", "\n", " ", "、"];
    let end = ends.iter().find_map(|end| Some(fitting.rfind(end)? + end.len()));
    &text[..end.unwrap_or(fitting.len())]
}
