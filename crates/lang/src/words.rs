//! Words of languages that write spaces, and their stems.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::Language;

/// The words of a text by Unicode's rules, with their byte positions.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.unicode_word_indices()
}

/// Reduces words to stems by Snowball's rules.
pub struct Stems(Stemmer);

impl Stems {
    /// The rules of a language, if Snowball has any.
    #[must_use]
    pub fn of(language: Language) -> Option<Self> {
        let algorithm = match language.as_str() {
            "ar" => Algorithm::Arabic,
            "da" => Algorithm::Danish,
            "nl" => Algorithm::Dutch,
            "en" => Algorithm::English,
            "fi" => Algorithm::Finnish,
            "fr" => Algorithm::French,
            "de" => Algorithm::German,
            "el" => Algorithm::Greek,
            "hu" => Algorithm::Hungarian,
            "it" => Algorithm::Italian,
            "no" | "nb" | "nn" => Algorithm::Norwegian,
            "pt" => Algorithm::Portuguese,
            "ro" => Algorithm::Romanian,
            "ru" => Algorithm::Russian,
            "es" => Algorithm::Spanish,
            "sv" => Algorithm::Swedish,
            "ta" => Algorithm::Tamil,
            "tr" => Algorithm::Turkish,
            _ => return None,
        };
        Some(Self(Stemmer::create(algorithm)))
    }

    /// The stem of a word, in lower case.
    ///
    /// ```
    /// let stems = lang::Stems::of(lang::Language::ENGLISH).unwrap();
    /// assert_eq!(stems.stem("Documents"), "document");
    /// ```
    #[must_use]
    pub fn stem(&self, word: &str) -> String {
        self.0.stem(&word.to_lowercase()).into_owned()
    }
}
