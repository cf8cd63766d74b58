//! The lines of a robots file: line breaks, comments, names and values, as files in the wild write them.

use base::limits::ROBOTS_BYTES_MAX;
use std::borrow::Cow;

/// The field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// A line with a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) directive: Directive,
    pub(crate) value: &'a [u8],
    text: &'a [u8],
}

/// The maximum number of bytes read of a line: eight times the longest URL, as in the widely used parser. The rest is ignored.
const LINE_BYTES_MAX: usize = 8 * base::limits::URL_BYTES_MAX - 1;
/// The maximum number of characters shown of a line.
const SHOWN_CHARS_MAX: usize = 200;

/// A file in UTF-16 with a byte order mark, as some editors write it, converted to UTF-8; any other file unchanged.
pub(crate) fn as_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return bytes.into(),
    };
    // No more than twice the bound can be read of it.
    let (pairs, _) = bytes.get(..2 * ROBOTS_BYTES_MAX).unwrap_or(bytes).as_chunks();
    let text = String::from_utf16_lossy(&pairs.iter().map(|pair| unit(*pair)).collect::<Vec<_>>());
    text.into_bytes().into()
}

/// The meaningful lines of the first `bytes_max` bytes.
pub(crate) fn read(bytes: &[u8], bytes_max: usize) -> impl Iterator<Item = Line<'_>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let kept = bytes.get(..bytes_max).map_or(bytes, |cut| without_cut_line(cut, bytes.get(bytes_max)));
    let numbered = split(kept).enumerate();
    numbered.filter_map(|(before, text)| Line::read(before + 1, text))
}

/// Drops a last line that continues after the cut: half an `Allow: /` or half a path is worse than none.
fn without_cut_line<'a>(cut: &'a [u8], next: Option<&u8>) -> &'a [u8] {
    if next.is_none_or(|byte| is_break(*byte)) {
        return cut;
    }
    let end = cut.iter().rposition(|byte| is_break(*byte)).map_or(0, |at| at + 1);
    cut.get(..end).unwrap_or_default()
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Splits at LF, CR and CRLF.
fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let Some(at) = memchr::memchr2(b'\r', b'\n', bytes) else { return rest.take() };
        let (line, after) = (bytes.get(..at)?, bytes.get(at..)?);
        rest = after.strip_prefix(b"\r\n").or_else(|| after.get(1..));
        Some(line)
    })
}

impl<'a> Line<'a> {
    fn read(number: usize, text: &'a [u8]) -> Option<Self> {
        let text = text.get(..LINE_BYTES_MAX).unwrap_or(text);
        let text = text.split(|byte| *byte == b'#').next()?.trim_ascii();
        let (name, value) = name_and_value(text)?;
        Some(Self { number, directive: directive(name)?, value, text })
    }

    /// The line for people.
    pub(crate) fn shown(&self) -> crate::rules::RobotsLine {
        if self.text.len() <= SHOWN_CHARS_MAX && self.text.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            return crate::rules::RobotsLine {
                number: self.number,
                text: String::from_utf8_lossy(self.text).into_owned(),
            };
        }
        let lossy = String::from_utf8_lossy(self.text);
        let mut text: String = base::printable(&lossy).chars().take(SHOWN_CHARS_MAX + 1).collect();
        if text.chars().count() > SHOWN_CHARS_MAX {
            text.pop();
            text.push('…');
        }
        crate::rules::RobotsLine { number: self.number, text }
    }
}

/// Name and value are separated by a colon or, if the colon is missing and there are just two words, by white space.
fn name_and_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let colon = memchr::memchr(b':', text);
    let at = colon.or_else(|| text.iter().position(is_blank))?;
    let (name, value) = (text.get(..at)?.trim_ascii(), text.get(at + 1..)?.trim_ascii());
    (colon.is_some() || !value.iter().any(is_blank)).then_some((name, value))
}

/// The names in use, including common misspellings of `Disallow` and `User-agent`.
fn directive(name: &[u8]) -> Option<Directive> {
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
    let any = |wanted: &[&str]| wanted.iter().any(|wanted| is(wanted));
    if any(&["user-agent", "useragent", "user agent"]) {
        Some(Directive::UserAgent)
    } else if is("allow") {
        Some(Directive::Allow)
    } else if any(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "disallowed"]) {
        Some(Directive::Disallow)
    } else if any(&["crawl-delay", "crawldelay"]) {
        Some(Directive::CrawlDelay)
    } else if any(&["sitemap", "site-map"]) {
        Some(Directive::Sitemap)
    } else {
        None
    }
}

/// The product token of a `User-agent` value: letters, `_` and `-` at its start.
pub(crate) fn product_token(value: &[u8]) -> &[u8] {
    let is_token = |byte: &&u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let length = value.iter().take_while(is_token).count();
    value.get(..length).unwrap_or_default()
}
