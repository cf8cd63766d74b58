//! Words of Japanese text: morphemes with their part of speech, base form and reading; bunsetsu and their heads.
//!
//! ```
//! let mut analyser = japanese::Analyser::new();
//! let analysis = analyser.analyse("ｶﾒﾗを買いました。");
//! let words: Vec<&str> = analysis.morphemes().map(|morpheme| morpheme.surface()).collect();
//! assert_eq!(words, ["ｶﾒﾗ", "を", "買い", "まし", "た", "。"]);
//!
//! let camera = analysis.morpheme(0);
//! assert_eq!((camera.normal(), camera.normal_span(), camera.span()), ("カメラ", 0..9, 0..9));
//! let bought = analysis.morpheme(2);
//! assert_eq!((bought.base(), bought.reading().as_deref()), ("買う", Some("カイ")));
//! assert_eq!(bought.part().fields(), ["動詞", "自立", "*", "*", "五段・ワ行促音便", "連用形"]);
//! assert_eq!(bought.connection_id(), 832);
//! ```
//!
//! The text is brought into Unicode's form NFKC first, because the dictionary knows one width of every character;
//! [`Normalised`] maps positions back. The words are the cheapest path through all words of the dictionary IPADIC, as
//! MeCab finds it. One rule is added: an unknown sequence of symbols is 記号,一般, not a noun.
//!
//! The dictionary is part of the program and used in place: an [`Analyser`] costs nothing but its working memory. Keep
//! one per thread.
//!
//! **Invariant:** every function is total and takes time linear in the text. The path is searched in pieces of at most
//! [`PIECE_BYTES_MAX`]; a longer line is cut after a sentence end or a space where there is one.
//!
//! Not here: sentences (crate `lang`).

mod analyser;
mod analysis;
mod bunsetsu;
mod dictionary;
mod juman;
mod knp;
mod lattice;
mod normal;
mod notices;
mod part;
mod synonyms;
mod syntax;

/// The size of the dictionary and the synonyms in the program, in bytes.
pub const TABLE_BYTES: usize = dictionary::BYTES + synonyms::BYTES;

pub use analyser::{Analyser, PIECE_BYTES_MAX};
pub use analysis::{AnalysedText, Morpheme};
pub use bunsetsu::{Bunsetsu, DependencyLabel};
pub use knp::knp;
pub use normal::Normalised;
pub use notices::{DATA_NOTICES, DataNotice};
pub use part::PartOfSpeech;
pub use synonyms::{Synonym, SynonymGroup, synonyms, synonyms_of};
#[doc(hidden)]
pub use syntax::training;
pub use syntax::{BUNSETSU_MORPHEMES_MAX, ModelError, PIECE_BUNSETSU_MAX, Parser, Style};
