//! Sentences with known bunsetsu and heads: reads them, learns from them, scores against them.
//!
//! The syntax model of crate `japanese` is made by [`recipe::train`]. Everything is sequential and uses only exact or
//! correctly rounded operations, so that the same treebanks make the same bytes on every machine.
//!
//! Not here: features (crate `japanese`), the choice of settings at run time.

pub mod gold;
pub mod learner;
pub mod recipe;
pub mod score;
