//! What a snapshot can be asked for, checked once (A3, A4).
//!
//! [`Asked`] is what a user wrote; [`Asked::check`] turns it into a [`Choice`] or says what to write instead. Every
//! [`Choice`] is consistent.
//!
//! Flags, statuses and types are judged on the visit that *begins* a version.

use crate::capture::entry::Flag;
use crate::scope::Scope;
use crate::snapshot::recipe::{Condition, Recipe};
use crate::snapshot::relation::Relations;
use crate::snapshot::versions::{Rules, Unit};
use base::{Interval, Period, Timestamp};
use std::fmt;
use std::str::FromStr;

/// What a user asks of a snapshot, unchecked. Parts may be left out.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// `--at`: the moment T.
    pub at: Option<Timestamp>,
    /// `--during`: the period Q.
    pub during: Option<Period>,
    /// `--relation`: how a version must stand to Q.
    pub relations: Option<Relations>,
    /// `--recipe`: a name instead of relations.
    pub recipe: Option<Recipe>,
    /// `--unit`: what counts as one version.
    pub unit: Option<Unit>,
    /// `--flag`: any of these; empty means all but errors.
    pub flags: Vec<Flag>,
    /// `--status`: any of these; empty means all but errors.
    pub statuses: Vec<u16>,
    /// `--type`: any of these; empty means all.
    pub media_types: Vec<MediaPattern>,
    /// `--changed-since`: only what changed at this moment or later.
    pub changed_since: Option<Timestamp>,
    /// `--site`: a [`Scope::site`].
    pub site: Option<Scope>,
    /// `--prefix`: a [`Scope::prefix`].
    pub prefix: Option<Scope>,
}

/// A media type that is asked for: `text/html`, or `text/*` for all texts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MediaPattern(String);

/// Which versions of which pages make a snapshot.
///
/// **Invariant:** its parts do not contradict each other, and its period is never empty.
#[derive(Clone, Debug)]
pub struct Choice {
    q: Period,
    relations: Relations,
    condition: Condition,
    unit: Unit,
    flags: Vec<Flag>,
    statuses: Vec<u16>,
    media_types: Vec<MediaPattern>,
    changed_since: Option<Timestamp>,
    scope: Scope,
}

/// Why a request is inconsistent, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No time is given.
    #[error("a snapshot needs a time: give `--at T` or `--during FROM..TO`")]
    NoTime,
    /// Two times are given.
    #[error("give either `--at T` or `--during FROM..TO`, not both")]
    TwoTimes,
    /// The last moment stands for infinity.
    #[error(
        "nothing can be seen at the end of time; give an earlier `--at`, or `--during FROM..` for what has no end"
    )]
    EndOfTime,
    /// A moment has no relations.
    #[error("`--relation` compares with a period: give `--during FROM..TO` in place of `--at T`")]
    RelationAtMoment,
    /// There is no relation to choose by.
    #[error("`--relation` names no relation; write one or more of `{all}`", all = Relations::ALL)]
    NoRelation,
    /// A recipe has its own relations.
    #[error("the recipe `{0}` has its own relations: leave out `--relation` or `--recipe`")]
    RelationAndRecipe(Recipe),
    /// The recipe is about a period.
    #[error("the recipe `{0}` is about a period: give `--during FROM..TO` in place of `--at T`")]
    RecipeNeedsPeriod(Recipe),
    /// The recipe is about a moment.
    #[error(
        "the recipe `{0}` is about one moment: give `--at T` in place of `--during`, or leave the recipe out"
    )]
    RecipeNeedsMoment(Recipe),
    /// The recipe makes sense in the other unit.
    #[error("the recipe `{recipe}` implies `--unit {implied}`: leave out `--unit`, or choose another recipe")]
    UnitOfRecipe {
        /// The recipe.
        recipe: Recipe,
        /// Its unit.
        implied: Unit,
    },
    /// The recipe never chooses an error.
    #[error(
        "the recipe `{0}` is about content and never chooses an error answer: leave out `--flag error` and error statuses"
    )]
    ErrorsOfContent(Recipe),
    /// An error is not a change.
    #[error(
        "`--changed-since` is about content, an error answer is not a change: leave out `--flag error` and error statuses"
    )]
    ErrorsChangedSince,
    /// There is no such status.
    #[error("`{0}` is not an HTTP status; write a number from 100 to 999, such as `--status 404`")]
    Status(u16),
    /// Two scopes are given.
    #[error("give either `--site` or `--prefix`, not both")]
    TwoScopes,
}

impl Asked {
    /// Checks it and makes it a choice.
    pub fn check(self) -> Result<Choice, ChoiceError> {
        let q = self.period()?;
        let (relations, condition) = self.selection()?;
        let unit = self.checked_unit()?;
        self.check_errors()?;
        if let Some(status) = self.statuses.iter().find(|status| !(100..=999).contains(*status)) {
            return Err(ChoiceError::Status(*status));
        }
        let scope = match (self.site, self.prefix) {
            (Some(_), Some(_)) => return Err(ChoiceError::TwoScopes),
            (site, prefix) => site.or(prefix).unwrap_or(Scope::Whole),
        };
        let Self { flags, statuses, media_types, changed_since, .. } = self;
        Ok(Choice { q, relations, condition, unit, flags, statuses, media_types, changed_since, scope })
    }

    /// A moment is the period up to the next microsecond.
    fn period(&self) -> Result<Period, ChoiceError> {
        match (self.at, self.during) {
            (None, None) => Err(ChoiceError::NoTime),
            (Some(_), Some(_)) => Err(ChoiceError::TwoTimes),
            (None, Some(q)) => Ok(q),
            (Some(at), None) => {
                Period::new(at, at.plus(Interval::from_micros(1))).ok_or(ChoiceError::EndOfTime)
            }
        }
    }

    fn selection(&self) -> Result<(Relations, Condition), ChoiceError> {
        let is_moment = self.at.is_some();
        match (self.relations, self.recipe) {
            (Some(_), Some(recipe)) => Err(ChoiceError::RelationAndRecipe(recipe)),
            (Some(_), None) if is_moment => Err(ChoiceError::RelationAtMoment),
            (Some(relations), None) if relations.is_empty() => Err(ChoiceError::NoRelation),
            (Some(relations), None) => Ok((relations, Condition::Always)),
            (None, Some(recipe)) if is_moment != (recipe == Recipe::AsOf) => Err(if is_moment {
                ChoiceError::RecipeNeedsPeriod(recipe)
            } else {
                ChoiceError::RecipeNeedsMoment(recipe)
            }),
            (None, Some(recipe)) => Ok((recipe.relations(), recipe.condition())),
            (None, None) => Ok((Relations::SHARING_AN_INSTANT, Condition::Always)),
        }
    }

    fn checked_unit(&self) -> Result<Unit, ChoiceError> {
        match (self.unit, self.recipe.and_then(|recipe| Some((recipe, recipe.unit()?)))) {
            (Some(unit), Some((recipe, implied))) if unit != implied => {
                Err(ChoiceError::UnitOfRecipe { recipe, implied })
            }
            (_, Some((_, implied))) => Ok(implied),
            (unit, None) => Ok(unit.unwrap_or_default()),
        }
    }

    /// Refuses requests for errors that could never be chosen.
    fn check_errors(&self) -> Result<(), ChoiceError> {
        let asks = self.flags.contains(&Flag::Error) || self.statuses.iter().any(|status| *status >= 400);
        match self.recipe.filter(|recipe| recipe.is_about_content()) {
            Some(recipe) if asks => Err(ChoiceError::ErrorsOfContent(recipe)),
            None if asks && self.changed_since.is_some() => Err(ChoiceError::ErrorsChangedSince),
            _ => Ok(()),
        }
    }
}

impl Choice {
    /// The web as of `at`: the contents that were valid then.
    pub fn as_of(at: Timestamp) -> Result<Self, ChoiceError> {
        Asked { at: Some(at), ..Asked::default() }.check()
    }
    /// Which pages are requested.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
    /// What counts as one version.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }
    /// The period Q; for a moment, the one that ends with the next moment.
    #[must_use]
    pub fn period(&self) -> Period {
        self.q
    }
    /// The first and the last moment at which a chosen version can begin; `None` if none can be chosen.
    ///
    /// Visits after the last only end versions.
    #[must_use]
    pub fn begins(&self) -> Option<(Timestamp, Timestamp)> {
        let (oldest, newest) = self.relations.begins(self.q)?;
        let oldest = self.changed_since.map_or(oldest, |since| since.max(oldest));
        (oldest <= newest).then_some((oldest, newest))
    }
    /// Whether the visit that begins a version has a requested flag, status and type.
    ///
    /// The type is in lower case and without parameters.
    #[must_use]
    pub fn accepts(&self, flag: Flag, status: Option<u16>, media_type: &str) -> bool {
        (self.flags.is_empty() || self.flags.contains(&flag))
            && (self.statuses.is_empty() || status.is_some_and(|status| self.statuses.contains(&status)))
            && (self.media_types.is_empty() || self.media_types.iter().any(|range| range.holds(media_type)))
            && (flag != Flag::Error || self.asks_for_errors())
    }

    /// Whether errors were requested, by status or by flag.
    fn asks_for_errors(&self) -> bool {
        let about_content = self.condition != Condition::Always || self.changed_since.is_some();
        !about_content && (self.flags.contains(&Flag::Error) || !self.statuses.is_empty())
    }

    pub(crate) fn rules(&self) -> Rules {
        Rules {
            unit: self.unit,
            q: self.q,
            relations: self.relations,
            condition: self.condition,
            errors: self.asks_for_errors(),
            seen_changed: self.condition == Condition::Changed || self.changed_since.is_some(),
            begins: self.begins(),
            ends_from: self.relations.ends_from(self.q),
        }
    }
}

/// Why a text is not a unit, flag or media type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// No unit.
    #[error(
        "`{0}` is not a unit; write `content` (one content is one version) or `visit` (each answered visit is one)"
    )]
    Unit(String),
    /// No flag.
    #[error("`{0}` is not a flag; write `changed`, `unchanged` or `error`")]
    Flag(String),
    /// No media type.
    #[error(
        "`{0}` is not a media type; write one without parameters, such as `text/html`, or `text/*` for all of a kind"
    )]
    MediaType(String),
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Content => "content",
            Self::Visit => "visit",
        })
    }
}

impl FromStr for Unit {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        match text {
            "content" => Ok(Self::Content),
            "visit" => Ok(Self::Visit),
            _ => Err(WordError::Unit(base::printable(text).into_owned())),
        }
    }
}

impl FromStr for Flag {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        Self::named(text).ok_or_else(|| WordError::Flag(base::printable(text).into_owned()))
    }
}

impl MediaPattern {
    /// Whether the media type, in lower case and without parameters, is one of these.
    #[must_use]
    pub fn holds(&self, media_type: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(kind) => media_type.starts_with(kind),
            None => media_type == self.0,
        }
    }
}

impl fmt::Display for MediaPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for MediaPattern {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let is_token = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
        };
        match text.trim().split_once('/') {
            Some((kind, name)) if is_token(kind) && (is_token(name) || name == "*") => {
                Ok(Self(text.trim().to_ascii_lowercase()))
            }
            _ => Err(WordError::MediaType(base::printable(text).into_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros).unwrap()
    }

    fn at(micros: i64) -> Asked {
        Asked { at: Some(moment(micros)), ..Asked::default() }
    }

    fn during(from: i64, to: i64) -> Asked {
        Asked { during: Period::new(moment(from), moment(to)), ..Asked::default() }
    }

    #[track_caller]
    fn refused(asked: Asked, error: &ChoiceError, advice: &str) {
        assert_eq!(asked.check().err().as_ref(), Some(error));
        assert!(error.to_string().contains(advice), "{error}");
    }

    #[test]
    fn contradictions_are_refused_with_advice() {
        let relations = Some(Relations::COVERING);
        let recipe = |recipe| Some(recipe);
        refused(Asked::default(), &ChoiceError::NoTime, "give `--at T` or `--during");
        refused(Asked { at: at(5).at, ..during(1, 2) }, &ChoiceError::TwoTimes, "either");
        refused(Asked { at: Some(Timestamp::MAX), ..Asked::default() }, &ChoiceError::EndOfTime, "earlier");
        refused(Asked { relations, ..at(5) }, &ChoiceError::RelationAtMoment, "`--during FROM..TO` in place");
        refused(
            Asked { relations: Some(Relations::new(&[])), ..during(1, 2) },
            &ChoiceError::NoRelation,
            "before,after",
        );
        refused(
            Asked { relations, recipe: recipe(Recipe::WholePeriod), ..during(1, 2) },
            &ChoiceError::RelationAndRecipe(Recipe::WholePeriod),
            "leave out `--relation` or",
        );
        refused(
            Asked { recipe: recipe(Recipe::FirstSeen), ..at(1) },
            &ChoiceError::RecipeNeedsPeriod(Recipe::FirstSeen),
            "`first-seen` is about a period",
        );
        refused(
            Asked { recipe: recipe(Recipe::AsOf), ..during(1, 2) },
            &ChoiceError::RecipeNeedsMoment(Recipe::AsOf),
            "give `--at T`",
        );
        let (recipe, unit) = (Recipe::AccessedInAndValidAtEnd, Some(Unit::Content));
        refused(
            Asked { recipe: Some(recipe), unit, ..during(1, 2) },
            &ChoiceError::UnitOfRecipe { recipe, implied: Unit::Visit },
            "implies `--unit visit`",
        );
        let everything = Asked { site: Some(Scope::Whole), prefix: Some(Scope::Whole), ..at(1) };
        refused(everything, &ChoiceError::TwoScopes, "either `--site`");
        refused(Asked { statuses: vec![200, 20], ..at(1) }, &ChoiceError::Status(20), "`20` is not an HTTP");
    }

    #[test]
    fn requests_about_content_cannot_include_errors() {
        for recipe in [Recipe::FirstSeen, Recipe::Vanished, Recipe::ChangedWithin] {
            let asked = Asked { recipe: Some(recipe), ..during(1, 2) };
            let error = ChoiceError::ErrorsOfContent(recipe);
            refused(Asked { flags: vec![Flag::Error], ..asked.clone() }, &error, "leave out `--flag error`");
            refused(Asked { statuses: vec![404], ..asked.clone() }, &error, "leave out `--flag error`");
            assert!(Asked { statuses: vec![200], ..asked }.check().is_ok());
        }
        let since = Asked { changed_since: Some(moment(1)), ..at(5) };
        refused(
            Asked { flags: vec![Flag::Error], ..since.clone() },
            &ChoiceError::ErrorsChangedSince,
            "not a change",
        );
        let choice = Asked { statuses: vec![200], ..since }.check().unwrap();
        assert!(!choice.accepts(Flag::Error, Some(200), ""));
    }

    #[test]
    fn the_unit_is_content_unless_asked_or_implied() {
        let unit = |asked: Asked| asked.check().unwrap().unit();
        assert_eq!(unit(at(1)), Unit::Content);
        assert_eq!(unit(Asked { unit: Some(Unit::Visit), ..at(1) }), Unit::Visit);
        let recipe = Some(Recipe::AccessedInAndValidAtEnd);
        assert_eq!(unit(Asked { recipe, ..during(1, 2) }), Unit::Visit);
        assert_eq!(unit(Asked { recipe: Some(Recipe::AsOf), ..at(1) }), Unit::Content);
    }

    #[test]
    fn filters_are_joined_and_errors_must_be_asked_for() {
        let choice = |flags: &[Flag], statuses: &[u16], types: &[&str]| {
            let media_types = types.iter().map(|text| text.parse().unwrap()).collect();
            let (flags, statuses) = (flags.to_vec(), statuses.to_vec());
            Asked { flags, statuses, media_types, ..at(1) }.check().unwrap()
        };
        let all = choice(&[], &[], &[]);
        assert!(all.accepts(Flag::Changed, Some(200), "text/html") && all.accepts(Flag::Unchanged, None, ""));
        assert!(!all.accepts(Flag::Error, Some(404), "text/html"));
        assert!(choice(&[Flag::Error], &[], &[]).accepts(Flag::Error, Some(503), ""));
        assert!(!choice(&[Flag::Error], &[], &[]).accepts(Flag::Changed, Some(200), ""));
        assert!(choice(&[], &[404, 200], &[]).accepts(Flag::Error, Some(404), ""));
        assert!(!choice(&[Flag::Changed], &[404], &[]).accepts(Flag::Error, Some(404), ""));
        assert!(!choice(&[], &[200], &[]).accepts(Flag::Changed, None, ""));
        let texts = choice(&[], &[], &["text/*", "Application/PDF"]);
        assert!(texts.accepts(Flag::Changed, None, "text/html"));
        assert!(texts.accepts(Flag::Changed, None, "application/pdf"));
        assert!(!texts.accepts(Flag::Changed, None, "application/pdfx"));
        assert!(!texts.accepts(Flag::Changed, None, "texts/html") && !texts.accepts(Flag::Changed, None, ""));
    }

    #[test]
    fn words_are_read_and_printed() {
        for word in ["content", "visit"] {
            assert_eq!(word.parse::<Unit>().unwrap().to_string(), word);
        }
        for word in ["changed", "unchanged", "error"] {
            assert_eq!(word.parse::<Flag>().unwrap().as_str(), word);
        }
        for text in ["html", "text/", "/html", "*/*", "text/html; charset=utf-8", "text/h*", "a/b/c", ""] {
            assert!(text.parse::<MediaPattern>().is_err(), "{text}");
        }
        assert!("visits".parse::<Unit>().is_err() && "errors".parse::<Flag>().is_err());
    }

    #[test]
    fn changed_since_bounds_the_beginning() {
        let begins = |since| {
            let changed_since = Some(moment(since));
            Asked { changed_since, ..during(10, 20) }.check().unwrap().begins()
        };
        assert_eq!(begins(5), Some((moment(5), moment(19))));
        assert_eq!(begins(19), Some((moment(19), moment(19))));
        assert_eq!(begins(20), None);
    }
}
