//! Named ways to choose versions, for frequent questions (A3).
//!
//! Each is a set of relations to Q, and for some a condition on the page's other versions. Below, `D` is where a
//! version begins, `D⁺` where it ends, `Q = [Q⁻, Q⁺)`. Content means an answer that is not an error: 2xx, 304, or a
//! redirect to another page.

use crate::Relations;
use crate::snapshot::versions::Unit;
use std::fmt;
use std::str::FromStr;

/// A named way to choose versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// The web at the moment T: `D ≤ T < D⁺`. At most one version of each page, beside requested error answers. The
    /// only one with `--at`.
    AsOf,
    /// From the paper: visited in Q and not visited again before Q ends, `Q⁻ ≤ D < Q⁺ ≤ D⁺`, which is
    /// `overlapped-by,started-by,finishes,equals`. A version is a visit. At most one version of each page.
    AccessedInAndValidAtEnd,
    /// Valid during all of Q: `D ≤ Q⁻` and `Q⁺ ≤ D⁺`. At most one version of each page.
    WholePeriod,
    /// What changed in Q: `Q⁻ ≤ D < Q⁺`, and the page had content before. A version after a 404 or 410 counts, even
    /// with the same content. With visits: those that saw a change.
    ChangedWithin,
    /// Pages that appeared in Q: `Q⁻ ≤ D < Q⁺`, and the page had no content before. At most one version of each
    /// page.
    FirstSeen,
    /// Pages that vanished in Q: a 404 or 410 ended the version, and was seen in Q: `Q⁻ ≤ D⁺ < Q⁺`. The version is the
    /// last content before the page was gone, so an error answer is never chosen.
    Vanished,
}

/// What a recipe requires beyond relations: a fact about the neighbours of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Nothing.
    Always,
    /// The page had content before; in visits, this one saw a change.
    Changed,
    /// The page had no content before.
    First,
    /// A 404 or 410 ended it.
    Vanished,
}

impl Recipe {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::AsOf,
        Self::AccessedInAndValidAtEnd,
        Self::WholePeriod,
        Self::ChangedWithin,
        Self::FirstSeen,
        Self::Vanished,
    ];

    /// Its name, such as `as-of`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsOf => "as-of",
            Self::AccessedInAndValidAtEnd => "accessed-in-and-valid-at-end",
            Self::WholePeriod => "whole-period",
            Self::ChangedWithin => "changed-within",
            Self::FirstSeen => "first-seen",
            Self::Vanished => "vanished",
        }
    }
    /// The relations in which a version must stand to Q. For [`Recipe::AsOf`], Q is the moment T alone.
    #[must_use]
    pub const fn relations(self) -> Relations {
        match self {
            Self::AsOf => Relations::SHARING_AN_INSTANT,
            Self::AccessedInAndValidAtEnd => Relations::BEGINNING_IN_AND_VALID_AT_END,
            Self::WholePeriod => Relations::COVERING,
            Self::ChangedWithin | Self::FirstSeen => Relations::BEGINNING_IN,
            Self::Vanished => Relations::ENDING_IN,
        }
    }
    /// The unit that the recipe implies, if there is only one.
    #[must_use]
    pub const fn unit(self) -> Option<Unit> {
        match self {
            Self::AccessedInAndValidAtEnd => Some(Unit::Visit),
            Self::Vanished => Some(Unit::Content),
            Self::AsOf | Self::WholePeriod | Self::ChangedWithin | Self::FirstSeen => None,
        }
    }
    /// Whether it is a question about content, so that an error answer is never chosen.
    #[must_use]
    pub const fn is_about_content(self) -> bool {
        !matches!(self.condition(), Condition::Always)
    }

    pub(crate) const fn condition(self) -> Condition {
        match self {
            Self::AsOf | Self::AccessedInAndValidAtEnd | Self::WholePeriod => Condition::Always,
            Self::ChangedWithin => Condition::Changed,
            Self::FirstSeen => Condition::First,
            Self::Vanished => Condition::Vanished,
        }
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a text is not a recipe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a recipe; write one of `{all}`", all = Recipe::ALL.map(Recipe::name).join("`, `"))]
pub struct RecipeError(String);

impl FromStr for Recipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<Self, RecipeError> {
        let known = Self::ALL.into_iter().find(|recipe| recipe.name() == text.trim());
        known.ok_or_else(|| RecipeError(base::printable(text).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_read_and_printed() {
        for recipe in Recipe::ALL {
            assert_eq!(recipe.to_string().parse(), Ok(recipe));
        }
        let message = "as of".parse::<Recipe>().unwrap_err().to_string();
        assert!(
            message.starts_with("`as of` is not a recipe; write one of `as-of`, `accessed-in"),
            "{message}"
        );
    }

    #[test]
    fn the_papers_recipe_has_the_papers_relations() {
        let recipe = Recipe::AccessedInAndValidAtEnd;
        assert_eq!(recipe.relations().to_string(), "overlapped-by,started-by,finishes,equals");
        assert_eq!(recipe.unit(), Some(Unit::Visit));
    }
}
