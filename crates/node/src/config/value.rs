//! TOML as entries with their positions, and entries as values of a type within a range.

use super::Problem;
use super::log::{LogFilter, LogFormat};
use base::{Interval, ServerName};
use fetch::Proxy;
use frontier::{AgreedRate, AgreedRateError};
use std::fmt::{self, Display};
use std::net::{IpAddr, SocketAddr};
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The maximum number of characters of a wrong value shown in a message.
const SHOWN_CHARS_MAX: usize = 60;
/// The port of name servers.
const DNS_PORT: u16 = 53;
const UNITS: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// One `key = value` of a file.
pub(super) struct Entry<'a> {
    /// Section and name, separated by a dot.
    pub(super) key: String,
    /// The value.
    pub(super) value: Spanned<DeValue<'a>>,
    /// The value as written in the file, made printable.
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

/// Why a value is refused, each with what is allowed.
pub(super) enum Unfit {
    /// It has another type.
    Type(String),
    /// It is outside the range, or cannot be parsed.
    Value(String),
    /// An entry of a list cannot be parsed: why, as a sentence.
    Entry(String),
}

/// All entries of a file; those of sections under their full key.
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
    Problem { line, column, what: format!("this is not TOML: {}", error.message().replace('\n', ", ")) }
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

/// A number of bytes as people write it, such as `8GiB`.
pub fn parse_bytes(text: &str) -> Option<u64> {
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

/// A text that may be used in a field of an HTTP request.
pub(super) fn header_text(value: &DeValue<'_>) -> Result<String, Unfit> {
    let allowed = || "1 to 256 printable ASCII characters".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    let fits = (1..=256).contains(&text.len()) && text.bytes().all(|b| (b' '..=b'~').contains(&b));
    let trimmed = text.trim() == text;
    if fits && trimmed { Ok(text.to_string()) } else { Err(Unfit::Value(allowed())) }
}

/// The name of the crawler: a product token, optionally followed by a version.
pub(super) fn agent(value: &DeValue<'_>) -> Result<String, Unfit> {
    let allowed = || {
        "a name of letters, - and _, optionally followed by / and a version: 1 to 256 printable ASCII characters"
            .to_owned()
    };
    let text = header_text(value).map_err(|unfit| match unfit {
        Unfit::Type(_) => Unfit::Type(allowed()),
        Unfit::Value(_) | Unfit::Entry(_) => Unfit::Value(allowed()),
    })?;
    let name = super::product_token(&text);
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b"-_".contains(&b));
    if is_name { Ok(text) } else { Err(Unfit::Value(allowed())) }
}

/// The contact for the crawl: a page, an email address, or none.
pub(super) fn contact(value: &DeValue<'_>) -> Result<Option<String>, Unfit> {
    let allowed = || "the URL of a page, an email address, or \"\" for none".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    if text.is_empty() {
        return Ok(None);
    }
    parse_contact(text).map(Some).ok_or_else(|| Unfit::Value(allowed()))
}

/// A contact as people write it.
pub fn parse_contact(text: &str) -> Option<String> {
    let is_page = || text.starts_with("http") && base::PageUrl::parse(text).is_ok();
    let is_mail = || text.split_once('@').is_some_and(|(who, host)| !who.is_empty() && host.contains('.'));
    let is_printable =
        text.len() <= 200 && text.bytes().all(|b| b.is_ascii_graphic() && !b"()\\".contains(&b));
    (is_printable && (is_page() || is_mail())).then(|| text.to_owned())
}

/// A list of texts, each parsed as `T`.
pub(super) fn list<T: FromStr>(value: &DeValue<'_>, what: &str) -> Result<Vec<T>, Unfit> {
    let allowed = || format!("a list of {what}");
    let DeValue::Array(entries) = value else { return Err(Unfit::Type(allowed())) };
    let read = |entry: &Spanned<DeValue<'_>>| match entry.get_ref() {
        DeValue::String(text) => text.parse().ok(),
        _ => None,
    };
    entries.iter().map(read).collect::<Option<_>>().ok_or_else(|| Unfit::Value(allowed()))
}

/// A list of texts, each parsed as `T`, which says what is wrong with it.
pub(super) fn sentences<T>(value: &DeValue<'_>, what: &str) -> Result<Vec<T>, Unfit>
where
    T: FromStr<Err: Display>,
{
    let allowed = || format!("a list of {what}");
    let DeValue::Array(entries) = value else { return Err(Unfit::Type(allowed())) };
    let read = |entry: &Spanned<DeValue<'_>>| match entry.get_ref() {
        DeValue::String(text) => text.parse().map_err(|error: T::Err| Unfit::Entry(error.to_string())),
        _ => Err(Unfit::Value(allowed())),
    };
    entries.iter().map(read).collect()
}

/// True or false.
pub(super) fn flag(value: &DeValue<'_>) -> Result<bool, Unfit> {
    let DeValue::Boolean(is_so) = value else { return Err(Unfit::Type("true or false".to_owned())) };
    Ok(*is_so)
}

/// An agreed exception, and the text it was parsed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    text: String,
    /// What was agreed.
    pub agreed: AgreedRate,
}

impl FromStr for Agreement {
    type Err = AgreedRateError;

    fn from_str(text: &str) -> Result<Self, AgreedRateError> {
        Ok(Self { agreed: text.parse()?, text: text.to_owned() })
    }
}

impl Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Another name of a server, and its main name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAlias {
    /// The other name.
    pub other: ServerName,
    /// The main name.
    pub server: ServerName,
}

impl FromStr for ServerAlias {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |why: &str| {
            let text = base::printable(text);
            format!("`{text}` {why}; write it as `www.example.jp = example.jp`, the name to use last")
        };
        let (other, server) = text.split_once('=').ok_or_else(|| refuse("does not contain two names"))?;
        let read = |name: &str| ServerName::parse(name.trim()).map_err(|_| refuse("does not name a server"));
        let alias = Self { other: read(other)?, server: read(server)? };
        if alias.other == alias.server { Err(refuse("has the same name twice")) } else { Ok(alias) }
    }
}

impl Display for ServerAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.other, self.server)
    }
}

/// A name server: an address, and a port unless it is the default.
pub(super) struct NameServer(pub(super) SocketAddr);

impl FromStr for NameServer {
    type Err = std::net::AddrParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = || text.parse().map(|address: IpAddr| SocketAddr::new(address, DNS_PORT));
        text.parse().or_else(|_| bare()).map(Self)
    }
}

/// A forward proxy, or none.
pub(super) fn proxy(value: &DeValue<'_>) -> Result<Option<Proxy>, Unfit> {
    let allowed = || "\"http://host:port\", or \"\" for none".to_owned();
    match value {
        DeValue::String(text) if text.is_empty() => Ok(None),
        DeValue::String(text) => text.parse().map(Some).map_err(|_| Unfit::Value(allowed())),
        _ => Err(Unfit::Type(allowed())),
    }
}

/// A file, or none.
pub(super) fn file(value: &DeValue<'_>) -> Result<Option<PathBuf>, Unfit> {
    let DeValue::String(text) = value else {
        return Err(Unfit::Type("the name of a file, or \"\" for none".to_owned()));
    };
    Ok((!text.is_empty()).then(|| PathBuf::from(text.as_ref())))
}

/// One of a few words.
pub(super) fn word<T: Copy>(value: &DeValue<'_>, words: &[(&str, T)]) -> Result<T, Unfit> {
    let allowed = || words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    let found = words.iter().find(|(word, _)| *word == text.as_ref());
    found.map(|(_, meant)| *meant).ok_or_else(|| Unfit::Value(allowed()))
}

/// A policy of revisits.
pub(super) fn policy(value: &DeValue<'_>) -> Result<frontier::RevisitPolicy, Unfit> {
    let allowed = || "a policy such as \"co-change/root\", \"paper\" or \"uniform\"".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    text.parse().map_err(|_| Unfit::Value(allowed()))
}

/// An address to listen on.
pub(super) fn socket(value: &DeValue<'_>) -> Result<SocketAddr, Unfit> {
    let allowed = || "an address and a port, such as 127.0.0.1:3129".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    text.parse().map_err(|_| Unfit::Value(allowed()))
}

/// An address to listen on, or none.
pub(super) fn optional_socket(value: &DeValue<'_>) -> Result<Option<SocketAddr>, Unfit> {
    let allowed = || "an address and a port, such as 127.0.0.1:9090, or \"\" for none".to_owned();
    match value {
        DeValue::String(text) if text.is_empty() => Ok(None),
        DeValue::String(text) => text.parse().map(Some).map_err(|_| Unfit::Value(allowed())),
        _ => Err(Unfit::Type(allowed())),
    }
}

/// What is logged.
pub(super) fn log_filter(value: &DeValue<'_>) -> Result<LogFilter, Unfit> {
    let allowed = || "off, error, warn, info, debug or trace, for all crates or for one".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    text.parse().map_err(|_| Unfit::Value(allowed()))
}

/// The format of log lines.
pub(super) fn log_form(value: &DeValue<'_>) -> Result<LogFormat, Unfit> {
    let allowed = || "\"text\" or \"json\"".to_owned();
    let DeValue::String(text) = value else { return Err(Unfit::Type(allowed())) };
    LogFormat::from_name(text).ok_or_else(|| Unfit::Value(allowed()))
}
