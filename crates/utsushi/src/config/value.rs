//! TOML as entries with their places, and entries as values of a type and in a range.

use super::Problem;
use crate::logs::{Filter, Form};
use base::Interval;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// As much of a wrong value as a message shows.
const SHOWN_CHARS_MAX: usize = 60;
const UNITS: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// One `key = value` of a file.
pub(super) struct Entry<'a> {
    /// Section and name, with a dot between.
    pub(super) key: String,
    /// The value.
    pub(super) value: Spanned<DeValue<'a>>,
    /// The value as it stands in the file, made fit to print.
    pub(super) source: String,
    /// The line of the key, counted from 1.
    pub(super) line: usize,
    /// The column of the key, counted from 1.
    pub(super) column: usize,
}

impl Entry<'_> {
    /// What kind of value it is, in words.
    pub(super) fn type_name(&self) -> &'static str {
        match self.value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a section",
        }
    }
}

/// Why a value does not fit, each with what would.
pub(super) enum Unfit {
    /// It has another type.
    Type(String),
    /// It lies outside the range, or cannot be read.
    Value(String),
}

/// All entries of a file, those of sections under their full key.
pub(super) fn entries(text: &str) -> Result<Vec<Entry<'_>>, Problem> {
    let table = DeTable::parse(text).map_err(|error| syntax_problem(text, &error))?;
    let mut found = Vec::new();
    for (name, value) in table.into_inner() {
        match value.get_ref() {
            DeValue::Table(section) if section.is_empty() && is_section(name.get_ref()) => {}
            DeValue::Table(section) if !section.is_empty() => {
                let full = |key: &str| format!("{}.{key}", name.get_ref());
                found.extend(
                    section.iter().map(|(key, value)| entry(text, full(key.get_ref()), key.span(), value)),
                );
            }
            _ => found.push(entry(text, name.get_ref().to_string(), name.span(), &value)),
        }
    }
    Ok(found)
}

fn is_section(name: &str) -> bool {
    super::SETTINGS.iter().any(|setting| setting.key.split('.').next() == Some(name))
}

fn entry<'a>(text: &'a str, key: String, at: Range<usize>, value: &Spanned<DeValue<'a>>) -> Entry<'a> {
    let (line, column) = place(text, at.start);
    Entry { key, value: value.clone(), source: shown(text, value.span()), line, column }
}

fn shown(text: &str, span: Range<usize>) -> String {
    let source = text.get(span).unwrap_or_default();
    let start: String = source.chars().take(SHOWN_CHARS_MAX).collect();
    let more = if start.len() < source.len() { "…" } else { "" };
    format!("{}{more}", base::printable(&start))
}

fn syntax_problem(text: &str, error: &toml::de::Error) -> Problem {
    let (line, column) = place(text, error.span().map_or(text.len(), |span| span.start));
    Problem { line, column, what: format!("this is no TOML: {}", error.message().replace('\n', ", ")) }
}

/// Line and column of an offset, both counted from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |feed| feed + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// A whole number in a range.
pub(super) fn whole<T>(value: &DeValue<'_>, range: RangeInclusive<T>) -> Result<T, Unfit>
where
    T: Copy + Display + PartialOrd + TryFrom<i128>,
{
    let allowed = || format!("a whole number from {} to {}", range.start(), range.end());
    let DeValue::Integer(number) = value else { return Err(Unfit::Type(allowed())) };
    let number = i128::from_str_radix(number.as_str(), number.radix()).ok().and_then(|n| T::try_from(n).ok());
    number.filter(|n| range.contains(n)).ok_or_else(|| Unfit::Value(allowed()))
}

/// A length of time in a range.
pub(super) fn interval(value: &DeValue<'_>, range: RangeInclusive<Interval>) -> Result<Interval, Unfit> {
    let allowed = || format!("a length of time from {} to {}", range.start(), range.end());
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    text.parse().ok().filter(|t| range.contains(t)).ok_or_else(|| Unfit::Value(allowed()))
}

/// A number of bytes in a range, as a whole number or with a unit.
pub(super) fn bytes(value: &DeValue<'_>, range: RangeInclusive<u64>) -> Result<u64, Unfit> {
    let allowed =
        || format!("a number of bytes from {} to {}", in_units(*range.start()), in_units(*range.end()));
    let number = match value {
        DeValue::Integer(_) => whole(value, range.clone()).ok(),
        DeValue::String(text) => parse_bytes(text),
        _ => return Err(Unfit::Type(allowed())),
    };
    number.filter(|n| range.contains(n)).ok_or_else(|| Unfit::Value(allowed()))
}

fn parse_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    if unit.is_empty() {
        return Some(number);
    }
    let (_, factor) = UNITS.into_iter().find(|(name, _)| *name == unit.trim_start())?;
    number.checked_mul(factor)
}

/// The number with the largest unit that divides it.
fn in_units(number: u64) -> String {
    let unit = UNITS.into_iter().rev().find(|(_, factor)| number > 0 && number.is_multiple_of(*factor));
    unit.map_or_else(|| number.to_string(), |(name, factor)| format!("{}{name}", number / factor))
}

/// A text that may stand in a field of an HTTP request.
pub(super) fn header_text(value: &DeValue<'_>) -> Result<String, Unfit> {
    let allowed = || "1 to 256 printable ASCII characters".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    let fits = (1..=256).contains(&text.len()) && text.bytes().all(|b| (b' '..=b'~').contains(&b));
    let trimmed = text.trim() == text;
    if fits && trimmed { Ok(text.to_string()) } else { Err(Unfit::Value(allowed())) }
}

/// What is logged.
pub(super) fn log_filter(value: &DeValue<'_>) -> Result<Filter, Unfit> {
    let allowed = || "off, error, warn, info, debug or trace, for all crates or for one".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    text.parse().map_err(|_| Unfit::Value(allowed()))
}

/// How records are compressed; true for zstd.
pub(super) fn is_zstd(value: &DeValue<'_>) -> Result<bool, Unfit> {
    let allowed = || "\"gzip\" or \"zstd\"".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    match text.as_ref() {
        "gzip" => Ok(false),
        "zstd" => Ok(true),
        _ => Err(Unfit::Value(allowed())),
    }
}

/// The form of log lines.
pub(super) fn log_form(value: &DeValue<'_>) -> Result<Form, Unfit> {
    let allowed = || "\"text\" or \"json\"".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    Form::from_name(text).ok_or_else(|| Unfit::Value(allowed()))
}
