//! What the analysis of a text found.

use std::borrow::Cow;
use std::ops::Range;

use crate::dictionary::Entry;
use crate::lattice::Word;
use crate::normal::Normalised;
use crate::part::PartOfSpeech;

/// A text and its morphemes, in order and without overlap.
#[derive(Clone, Debug)]
pub struct AnalysedText<'t> {
    text: Normalised<'t>,
    tokens: Vec<Token>,
}

/// A morpheme as it is kept.
#[derive(Clone, Copy, Debug)]
struct Token {
    normal: (u32, u32),
    original: (u32, u32),
    part: PartOfSpeech,
    /// The part of speech before the rule for unknown symbols.
    raw: PartOfSpeech,
    entry: Option<Entry>,
}

/// One morpheme of an [`AnalysedText`].
#[derive(Clone, Copy, Debug)]
pub struct Morpheme<'a> {
    text: &'a Normalised<'a>,
    token: Token,
}

impl<'t> AnalysedText<'t> {
    pub(crate) fn new(text: Normalised<'t>, words: &[Word]) -> Self {
        let tokens = words.iter().map(|word| Token::new(&text, word)).collect();
        Self { text, tokens }
    }

    /// The text, original and normalised.
    #[must_use]
    pub fn text(&self) -> &Normalised<'t> {
        &self.text
    }

    /// How many morphemes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is none: the text is empty or white space.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The morpheme at this place.
    ///
    /// # Panics
    ///
    /// If `at` is not below [`Self::len`].
    #[must_use]
    pub fn morpheme(&self, at: usize) -> Morpheme<'_> {
        Morpheme { text: &self.text, token: self.tokens[at] }
    }

    /// All morphemes.
    pub fn morphemes(&self) -> impl DoubleEndedIterator<Item = Morpheme<'_>> + ExactSizeIterator {
        self.tokens.iter().map(|token| Morpheme { text: &self.text, token: *token })
    }
}

impl Token {
    fn new(text: &Normalised<'_>, word: &Word) -> Self {
        let original = text.original_span(word.start as usize..word.end as usize);
        let narrow = |at| u32::try_from(at).unwrap_or(u32::MAX);
        let raw = PartOfSpeech::known(word.id);
        Self {
            normal: (word.start, word.end),
            original: (narrow(original.start), narrow(original.end)),
            part: if word.symbol { PartOfSpeech::SYMBOL } else { raw },
            raw,
            entry: word.entry,
        }
    }
}

impl<'a> Morpheme<'a> {
    /// The morpheme as the original text writes it. Empty if one original character became several morphemes and this
    /// is not the first.
    #[must_use]
    pub fn surface(&self) -> &'a str {
        &self.text.original()[self.span()]
    }

    /// The morpheme in the normalised text.
    #[must_use]
    pub fn normal(&self) -> &'a str {
        &self.text.text()[self.normal_span()]
    }

    /// Byte positions in the original text.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.token.original.0 as usize..self.token.original.1 as usize
    }

    /// Byte positions in the normalised text.
    #[must_use]
    pub fn normal_span(&self) -> Range<usize> {
        self.token.normal.0 as usize..self.token.normal.1 as usize
    }

    /// The base form: what a dictionary lists. For an unknown word its normalised form.
    #[must_use]
    pub fn base(&self) -> &'a str {
        self.token.entry.and_then(Entry::base).unwrap_or_else(|| self.normal())
    }

    /// The reading in katakana; none for an unknown word.
    #[must_use]
    pub fn reading(&self) -> Option<Cow<'static, str>> {
        self.token.entry.map(Entry::reading)
    }

    /// The pronunciation in katakana (ワ for the particle は); none for an unknown word.
    #[must_use]
    pub fn pronunciation(&self) -> Option<Cow<'static, str>> {
        self.token.entry.map(Entry::pronunciation)
    }

    /// The part of speech.
    #[must_use]
    pub fn part(&self) -> PartOfSpeech {
        self.token.part
    }

    /// The connection id of the part of speech.
    #[must_use]
    pub fn connection_id(&self) -> u16 {
        self.token.part.connection_id()
    }

    /// The part of speech before the rule for unknown symbols: what MeCab says.
    #[must_use]
    pub fn raw_part(&self) -> PartOfSpeech {
        self.token.raw
    }

    /// Whether the dictionary lacks the word.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.token.entry.is_none()
    }
}
