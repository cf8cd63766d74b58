//! Character references: `&amp;`, `&#12354;`, `&eacute`, as the HTML standard reads them.
//!
//! **Invariant:** decoding takes time linear in the text, and text without references is borrowed.

use memchr::{memchr, memchr2};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Where a reference occurs. In attributes, a name without a semicolon counts only at the end of a word, because
/// `?a=1&copy=2` is a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Text,
    Attribute,
}

/// The value of an attribute.
pub(crate) fn in_attribute(text: &str) -> Cow<'_, str> {
    match memchr2(b'&', 0, text.as_bytes()) {
        Some(_) => decoded(text, Place::Attribute).replace('\0', "\u{fffd}").into(),
        None => text.into(),
    }
}

/// Text as it is shown.
pub(crate) fn in_text(text: &str) -> Cow<'_, str> {
    match memchr(b'&', text.as_bytes()) {
        Some(_) => decoded(text, Place::Text).into(),
        None => text.into(),
    }
}

/// Text of XML: numbers and the five names that need no declaration (H9).
pub(crate) fn in_xml(text: &str) -> Cow<'_, str> {
    if memchr(b'&', text.as_bytes()).is_none() {
        return text.into();
    }
    with_references(text, |rest| numbered(rest).or_else(|| plain(rest))).into()
}

fn decoded(text: &str, place: Place) -> String {
    with_references(text, |rest| read(rest, place))
}

fn read(rest: &str, place: Place) -> Option<Read> {
    numbered(rest).or_else(|| plain(rest)).or_else(|| named(rest, place))
}

/// A character reference.
#[derive(Clone, Copy)]
pub(crate) struct Reference {
    characters: [char; 2],
    /// Its length as written, with the ampersand.
    pub(crate) bytes: usize,
}

impl Reference {
    /// What it stands for.
    pub(crate) fn characters(self) -> impl Iterator<Item = char> {
        self.characters.into_iter().filter(|character| *character != NOTHING)
    }
}

/// The reference that begins with the ampersand at the start of a text.
pub(crate) fn at_ampersand(text: &str) -> Option<Reference> {
    let (characters, length) = read(text.get(1..)?, Place::Text)?;
    Some(Reference { characters, bytes: length + 1 })
}

/// What a reference expands to, and its length after the ampersand.
type Read = ([char; 2], usize);

/// Copies `text` and replaces each reference by what `read` returns for the text after the ampersand.
fn with_references(text: &str, read: impl Fn(&str) -> Option<Read>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        match read(behind) {
            Some((characters, length)) => {
                out.extend(characters.into_iter().filter(|c| *c != NOTHING));
                rest = behind.get(length..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Fills the second position of a reference to one character; no reference expands to it.
const NOTHING: char = '\u{10ffff}';

/// The most common references.
fn plain(rest: &str) -> Option<Read> {
    const PLAIN: [(&str, char); 5] =
        [("amp;", '&'), ("lt;", '<'), ("gt;", '>'), ("quot;", '"'), ("apos;", '\'')];
    let found = PLAIN.iter().find(|(name, _)| rest.starts_with(name))?;
    Some(([found.1, NOTHING], found.0.len()))
}

/// `#12354;` or `#x3042;`, with or without its semicolon.
fn numbered(rest: &str) -> Option<Read> {
    let digits = rest.strip_prefix('#')?;
    let (digits, radix, before) = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 2),
        None => (digits, 10, 1),
    };
    let length = digits.bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    if length == 0 {
        return None;
    }
    let value = digits.get(..length)?.chars().fold(0_u32, |value, digit| {
        value.saturating_mul(radix).saturating_add(digit.to_digit(radix).unwrap_or(0))
    });
    let semicolon = usize::from(digits.as_bytes().get(length) == Some(&b';'));
    Some(([character(value), NOTHING], before + length + semicolon))
}

/// The character of a number; numbers of windows-1252 characters mean those characters.
fn character(value: u32) -> char {
    const WINDOWS: [u32; 32] = [
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152,
        0x8D, 0x17D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122,
        0x161, 0x203A, 0x153, 0x9D, 0x17E, 0x178,
    ];
    let value = match value {
        0 => 0xfffd,
        0x80..=0x9f => WINDOWS.get(value as usize - 0x80).copied().unwrap_or(value),
        _ => value,
    };
    char::from_u32(value).filter(|c| *c != NOTHING).unwrap_or('\u{fffd}')
}

/// `eacute;`, or `eacute` for the names that do not need a semicolon.
fn named(rest: &str, place: Place) -> Option<Read> {
    let length = rest.bytes().take(NAME_BYTES_MAX).take_while(u8::is_ascii_alphanumeric).count();
    if rest.as_bytes().get(length) == Some(&b';')
        && let Some(read) = rest.get(..=length).and_then(looked_up)
    {
        return Some((read, length + 1));
    }
    let (read, short) =
        (2..=length.min(OLD_BYTES_MAX)).rev().find_map(|n| Some((looked_up(rest.get(..n)?)?, n)))?;
    let goes_on = rest.as_bytes().get(short).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'=');
    (place == Place::Text || !goes_on).then_some((read, short))
}

/// The longest name, and the longest that does not need a semicolon.
const NAME_BYTES_MAX: usize = 32;
const OLD_BYTES_MAX: usize = 6;

/// The names of the HTML standard in byte order, each with its one or two characters.
static NAMES: LazyLock<Vec<(&'static str, [char; 2])>> = LazyLock::new(|| {
    let entry = |entry: &'static str| {
        let mut words = entry.split(' ');
        let name = words.next()?;
        let mut next = || u32::from_str_radix(words.next()?, 16).ok().and_then(char::from_u32);
        Some((name, [next()?, next().unwrap_or(NOTHING)]))
    };
    include_str!("../data/references.txt").split([',', '\n']).filter_map(entry).collect()
});

fn looked_up(name: &str) -> Option<[char; 2]> {
    let place = NAMES.binary_search_by_key(&name, |(known, _)| known).ok()?;
    NAMES.get(place).map(|(_, characters)| *characters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str, value: &str) {
        assert_eq!((&*in_text(text), &*in_attribute(text)), (shown, value));
    }

    #[test]
    fn references_are_read_as_the_standard_says() {
        check("a&amp;b&lt&#65;&#x3042&#0;", "a&b<Aあ\u{fffd}", "a&b<Aあ\u{fffd}");
        check("?a=1&copy=2&copy;&copy", "?a=1©=2©©", "?a=1&copy=2©©");
        check("&notit; &notin; &unknown; &", "¬it; ∉ &unknown; &", "&notit; ∉ &unknown; &");
        check(
            "&#128;&#x110000;&#xD800;&#99999999999;",
            "€\u{fffd}\u{fffd}\u{fffd}",
            "€\u{fffd}\u{fffd}\u{fffd}",
        );
        check("&#;&#x;&;&&amp;amp;", "&#;&#x;&;&&amp;", "&#;&#x;&;&&amp;");
        check("&NotEqualTilde;&CounterClockwiseContourIntegral;", "≂̸∳", "≂̸∳");
    }

    #[test]
    fn xml_knows_five_names() {
        assert_eq!(in_xml("&amp;&lt;&gt;&quot;&apos;&#65;&copy;&x;"), "&<>\"'A&copy;&x;");
    }

    #[test]
    fn all_names_are_known_and_fit() {
        assert_eq!(NAMES.len(), 2_231);
        assert!(NAMES.is_sorted());
        assert_eq!(NAMES.iter().map(|(name, _)| name.len()).max(), Some(NAME_BYTES_MAX));
        let old = NAMES.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(';'));
        assert_eq!(old.map(str::len).max(), Some(OLD_BYTES_MAX));
    }
}
