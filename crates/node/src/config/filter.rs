//! `[filter]`: what is followed, and what is visited rarely (C13).

use std::fmt;
use std::str::FromStr;

/// `[filter]`
#[derive(Clone, Debug, Default)]
pub struct FilterConfig {
    /// The languages whose pages are followed; all if empty.
    pub languages: Vec<LanguageCode>,
    /// Whether adult pages are dropped.
    pub drops_adult: bool,
    /// The media types that are followed; all if empty.
    pub types: Vec<MediaTypePattern>,
    /// The maximum length of a response that is followed.
    pub size_max: u64,
}

/// A language by its code, such as `ja`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanguageCode(pub lang::Language);

impl fmt::Display for LanguageCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl FromStr for LanguageCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("`{}` is not a language code; write one such as `ja`", base::printable(text));
        lang::Language::parse(text).map(Self).ok_or_else(refuse)
    }
}

/// A media type such as `text/html`, or all of a kind such as `image/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaTypePattern(String);

impl MediaTypePattern {
    /// The prefix of the types in it.
    pub fn prefix(&self) -> &str {
        self.0.strip_suffix('*').unwrap_or(&self.0)
    }
}

impl fmt::Display for MediaTypePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for MediaTypePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_token = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
        };
        let is_range = |(kind, sub): (&str, &str)| is_token(kind) && (sub == "*" || is_token(sub));
        let refuse = || {
            let text = base::printable(text);
            format!("`{text}` is not a media type; write one such as `text/html` or `image/*`")
        };
        let fits = text.split_once('/').is_some_and(is_range);
        if fits { Ok(Self(text.to_ascii_lowercase())) } else { Err(refuse()) }
    }
}
