//! The flags that select versions, the same for every command that works on a snapshot.

use crate::commands::Context;
use crate::exit::Advised;
use crate::when::{self, Said};
use archive::{Asked, Choice, Flag, MediaPattern, Recipe, Relations, Scope, Unit};
use base::{Period, Timestamp};
use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Which versions of which pages.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which versions")]
pub(crate) struct Choices {
    /// Select versions valid at this moment: RFC 3339, a date, 14 digits, or an age such as `3d ago`
    #[arg(long, value_name = "T", value_parser = Said::moment)]
    at: Option<Said<Timestamp>>,
    /// Select versions valid at any moment of this half-open period; either end may be omitted
    #[arg(long, value_name = "FROM..TO", value_parser = Said::period)]
    during: Option<Said<Period>>,
    /// Select versions by how their validity relates to the period: `before`, `after`, `meets`, `met-by`, `overlaps`,
    /// `overlapped-by`, `starts`, `started-by`, `during`, `contains`, `finishes`, `finished-by`, `equals`; separate several
    /// with commas
    #[arg(long, value_name = "RELATIONS")]
    relation: Option<Relations>,
    /// Use a named selection: `as-of`, `accessed-in-and-valid-at-end`, `whole-period`, `changed-within`,
    /// `first-seen`, `vanished`
    #[arg(long, value_name = "NAME")]
    recipe: Option<Recipe>,
    /// What counts as one version: a `content`, extended by unchanged visits, or each answered `visit`
    #[arg(long, value_name = "UNIT")]
    unit: Option<Unit>,
    /// Select captures that are `changed`, `unchanged` or `error`; separate several with commas. Errors are excluded by default
    #[arg(long, value_name = "FLAG", value_delimiter = ',')]
    flag: Vec<Flag>,
    /// Select one site: a domain with all its servers (`example.org`), or one server (`www.example.org`)
    #[arg(long, value_name = "SITE", value_parser = Scope::site)]
    site: Option<Scope>,
    /// Select pages whose URLs start with this; http and https are equivalent
    #[arg(long, value_name = "URL", value_parser = Scope::prefix)]
    prefix: Option<Scope>,
    /// Select media types, such as `text/html` or `image/*`; separate several with commas
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    media_type: Vec<MediaPattern>,
    /// Select status codes, such as `200`, or classes, such as `4xx`; separate several with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    status: Vec<Statuses>,
    /// Select languages, such as `ja` or `en`; separate several with commas. Only captures with analysed text have a language
    #[arg(long, value_name = "L", value_delimiter = ',', value_parser = language)]
    language: Vec<String>,
    /// Select versions that changed at this moment or later
    #[arg(long, value_name = "T", value_parser = Said::moment)]
    changed_since: Option<Said<Timestamp>>,
}

/// One status, or a class of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Statuses(RangeInclusive<u16>);

impl FromStr for Statuses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a status; write a number such as `404`, or a class such as `4xx`");
        let (digits, width) = match text.as_bytes() {
            [_, b'x' | b'X', b'x' | b'X'] => (&text[..1], 100),
            [_, _, _] => (text, 1),
            _ => return Err(wrong()),
        };
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let first = digits.parse::<u16>().ok().filter(|_| is_number).map(|number| number * width);
        let first = first.filter(|first| *first >= 100).ok_or_else(wrong)?;
        Ok(Self(first..=first + width - 1))
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.start();
        if self.0.end() == first { write!(f, "{first}") } else { write!(f, "{}xx", first / 100) }
    }
}

impl Choices {
    /// Whether nothing is selected.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { at, during, relation, recipe, unit, flag, .. } = self;
        let Self { site, prefix, media_type, status, language, changed_since, .. } = self;
        at.is_none()
            && during.is_none()
            && relation.is_none()
            && recipe.is_none()
            && unit.is_none()
            && flag.is_empty()
            && site.is_none()
            && prefix.is_none()
            && media_type.is_empty()
            && status.is_empty()
            && language.is_empty()
            && changed_since.is_none()
    }

    /// The same, with all of time and all visits as the default.
    pub(crate) fn or_all_visits(&self, context: &Context) -> anyhow::Result<Choice> {
        let mut asked = self.asked(context)?;
        if asked.at.is_none() {
            asked.during = asked.during.or_else(|| Some(when::always()));
        }
        if asked.recipe.is_none() {
            asked.unit = asked.unit.or(Some(Unit::Visit));
        }
        checked(asked)
    }

    /// The choice, if its parts do not contradict each other.
    pub(crate) fn check(&self, context: &Context) -> anyhow::Result<Choice> {
        checked(self.asked(context)?)
    }

    /// The requested languages; all if empty.
    pub(crate) fn languages(&self) -> &[String] {
        &self.language
    }

    /// Two moments: the web at the second is compared with that at the first. All other selections apply to the versions at
    /// the second.
    pub(crate) fn between(&self, context: &Context) -> anyhow::Result<(Choice, Choice)> {
        let refuse = |why: &'static str| {
            let advice = "give `--during FROM..TO` without `--at`, `--relation`, `--recipe` and `--unit`";
            Err(Advised::new("cannot select changed pages", advice, anyhow::anyhow!(why)).into())
        };
        if self.during.is_none() {
            return refuse("`--only-changed` compares two moments");
        }
        if self.at.is_some() || self.relation.is_some() || self.recipe.is_some() || self.unit.is_some() {
            return refuse("`--only-changed` takes the versions at the end of the period");
        }
        let asked = self.asked(context)?;
        let period = asked.during.unwrap_or_else(when::always);
        let to = if period.to() == Timestamp::MAX { when::latest() } else { period.to() };
        let later = Asked { during: None, at: Some(to), ..asked };
        let earlier = Asked {
            at: Some(period.from()),
            site: later.site.clone(),
            prefix: later.prefix.clone(),
            ..Asked::default()
        };
        Ok((checked(earlier)?, checked(later)?))
    }

    /// The choices as written, to recognise them.
    pub(crate) fn as_written(&self) -> String {
        let mut words = String::new();
        let mut add = |flag: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = write!(words, " --{flag} {value}");
            }
        };
        let several = |values: Vec<String>| (!values.is_empty()).then(|| values.join(","));
        add("at", self.at.as_ref().map(|at| at.as_written().to_owned()));
        add("during", self.during.as_ref().map(|during| during.as_written().to_owned()));
        add("relation", self.relation.as_ref().map(ToString::to_string));
        add("recipe", self.recipe.as_ref().map(ToString::to_string));
        add("unit", self.unit.as_ref().map(ToString::to_string));
        add("flag", several(self.flag.iter().map(|flag| flag.as_str().to_owned()).collect()));
        add("site", self.site.as_ref().map(|site| format!("{site:?}")));
        add("prefix", self.prefix.as_ref().map(|prefix| format!("{prefix:?}")));
        add("type", several(self.media_type.iter().map(ToString::to_string).collect()));
        add("status", several(self.status.iter().map(ToString::to_string).collect()));
        add("language", several(self.language.clone()));
        add("changed-since", self.changed_since.as_ref().map(|since| since.as_written().to_owned()));
        words.trim_start().to_owned()
    }

    fn asked(&self, context: &Context) -> anyhow::Result<Asked> {
        let Self { at, during, changed_since, .. } = self;
        let moments = at.iter().chain(changed_since);
        let is_relative =
            moments.map(Said::is_relative).chain(during.iter().map(Said::is_relative)).any(|is| is);
        // Without relative times the current time is not needed.
        let present = if is_relative { context.tell_present()? } else { Timestamp::MIN };
        Ok(Asked {
            at: at.as_ref().map(|at| at.read_at(present)).transpose()?,
            during: during.as_ref().map(|during| during.read_at(present)).transpose()?,
            relations: self.relation,
            recipe: self.recipe,
            unit: self.unit,
            flags: self.flag.clone(),
            statuses: self.status.iter().flat_map(|statuses| statuses.0.clone()).collect(),
            media_types: self.media_type.clone(),
            changed_since: changed_since.as_ref().map(|since| since.read_at(present)).transpose()?,
            site: self.site.clone(),
            prefix: self.prefix.clone(),
        })
    }
}

/// Parses a language tag.
fn language(text: &str) -> Result<String, String> {
    let is_part =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if text.len() <= LANGUAGE_BYTES_MAX && text.split('-').all(is_part) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(format!("`{text}` is not a language; write a tag such as `ja` or `en`"))
    }
}

/// The maximum length of a language tag of registered parts.
const LANGUAGE_BYTES_MAX: usize = 35;

fn checked(asked: Asked) -> anyhow::Result<Choice> {
    let choice = asked.check().map_err(|error| {
        let advice = "correct the flags; `utsushi snapshot --help` lists them";
        Advised::new("cannot make this snapshot", advice, error)
    });
    Ok(choice?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_numbers_or_classes() {
        for (text, statuses) in
            [("404", 404..=404), ("100", 100..=100), ("2xx", 200..=299), ("9XX", 900..=999)]
        {
            assert_eq!(text.parse::<Statuses>().unwrap().0, statuses, "{text}");
        }
        assert_eq!("4XX".parse::<Statuses>().unwrap().to_string(), "4xx");
        for text in
            ["abc", "", "x", "20", "2000", "2x", "0xx", "099", "+12", "-12", "2x0", "xxx", "１xx", "é1"]
        {
            let why = text.parse::<Statuses>().unwrap_err();
            assert!(why.contains("such as `404`"), "{text}: {why}");
        }
    }
}
