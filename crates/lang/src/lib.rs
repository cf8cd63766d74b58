//! Which language a text is in, its sentences, words, numbers and dates.
//!
//! ```
//! use lang::Language;
//!
//! assert_eq!(lang::detect("図書館は朝の九時に開きます。", None), Some(Language::JAPANESE));
//! // Without kana a text may be Japanese or Chinese: the hint of the page decides.
//! assert_eq!(lang::detect("東京都千代田区永田町一丁目七番一号", Some("Shift_JIS")), Some(Language::JAPANESE));
//! assert_eq!(lang::detect("東京都千代田区永田町一丁目七番一号", Some("zh-TW")), Some(Language::CHINESE));
//! assert_eq!(lang::detect("404", None), None);
//! ```
//!
//! The script decides first: kana is Japanese, hangul Korean, and a dozen scripts belong to one language each. For a
//! script with many languages, `whichlang` compares groups of letters. It knows sixteen languages, so a page that
//! claims another language of the same script is believed.
//!
//! **Invariant:** every function here is total and takes time linear in the text, of which at most
//! [`TEXT_BYTES_MAX`] are read.
//!
//! Not here: the majority language of a server's pages, which a caller may pass as the hint.

mod detect;
mod han;
mod language;
mod quantities;
mod script;
mod sentences;
mod words;

pub use detect::{TEXT_BYTES_MAX, detect};
pub use language::Language;
pub use quantities::{Quantity, QuantityValue, quantities};
pub use sentences::sentences;
pub use words::{Stems, words};
