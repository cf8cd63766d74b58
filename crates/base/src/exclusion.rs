//! What a page asks of robots about itself: `X-Robots-Tag` and `<meta name="robots">` as values (C8).
//!
//! ```
//! use base::exclusion::Directives;
//!
//! let asked = Directives::of_field("otherbot: noindex, utsushi: nofollow, noarchive", "utsushi");
//! assert_eq!(asked, Directives { nofollow: true, noarchive: true, ..Directives::default() });
//! ```
//!
//! Directives for all robots and directives for us by name are combined; of two, the stricter one counts. Unknown words
//! are ignored.
//!
//! **Invariant:** any text is accepted and read in one pass; more text never makes the result less strict.
//!
//! Not here: acting on them. The crawler obeys `nofollow`; the rest are for what shows, indexes and keeps pages.

use crate::{Interval, Timestamp};

/// What a page asks of robots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// The page must not appear in search results.
    pub noindex: bool,
    /// Its links must not be followed.
    pub nofollow: bool,
    /// No copy must be shown.
    pub noarchive: bool,
    /// No part of its text must be shown with search results.
    pub nosnippet: bool,
    /// Its images must not appear in search results.
    pub noimageindex: bool,
    /// No translation must be offered.
    pub notranslate: bool,
    /// The page must not appear in search results after this moment.
    pub unavailable_after: Option<Timestamp>,
    /// Maximum number of characters of its text to show with search results.
    pub max_snippet: Option<u32>,
}

impl Directives {
    /// Reads the content of a `meta` element that is addressed to us or to all robots.
    #[must_use]
    pub fn of_meta(content: &str) -> Self {
        let mut read = Self::default();
        parts(content).for_each(|part| read.take(&part));
        read
    }

    /// Reads the value of one `X-Robots-Tag` field, as far as it applies to all robots or to `agent`.
    ///
    /// A name in front (`otherbot: noindex`) says which crawler the rest of the value is for, up to the next name:
    /// proxies may have joined fields.
    #[must_use]
    pub fn of_field(value: &str, agent: &str) -> Self {
        let (mut read, mut for_us) = (Self::default(), true);
        for part in parts(value) {
            if let Some((name, rest)) = part.addressee() {
                for_us = name.eq_ignore_ascii_case(agent) || matches!(name, "*" | "robots");
                if for_us {
                    read.take(&rest);
                }
            } else if for_us {
                read.take(&part);
            }
        }
        read
    }

    /// Both combined: of two directives the stricter one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
            nosnippet: self.nosnippet || other.nosnippet,
            noimageindex: self.noimageindex || other.noimageindex,
            notranslate: self.notranslate || other.notranslate,
            unavailable_after: earlier(self.unavailable_after, other.unavailable_after),
            max_snippet: earlier(self.max_snippet, other.max_snippet),
        }
    }

    fn take(&mut self, part: &Part<'_>) {
        let asked = match part.value {
            None => part.name.split_ascii_whitespace().filter_map(of_word).fold(Self::default(), Self::and),
            Some(value) => of_name(part.name, value).unwrap_or_default(),
        };
        *self = self.and(asked);
    }
}

/// The smaller of those that are present.
fn earlier<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.into_iter().chain(other).min()
}

/// What a word asks for, if it is known.
fn of_word(word: &str) -> Option<Directives> {
    let none = Directives::default();
    let known = [
        ("noindex", Directives { noindex: true, ..none }),
        ("nofollow", Directives { nofollow: true, ..none }),
        ("none", Directives { noindex: true, nofollow: true, ..none }),
        ("noarchive", Directives { noarchive: true, ..none }),
        ("nocache", Directives { noarchive: true, ..none }),
        ("nosnippet", Directives { nosnippet: true, ..none }),
        ("noimageindex", Directives { noimageindex: true, ..none }),
        ("notranslate", Directives { notranslate: true, ..none }),
        ("all", none),
        ("index", none),
        ("follow", none),
    ];
    known.into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, asked)| asked)
}

/// What a name with a value asks for; nothing when the name is unknown or the value cannot be read.
fn of_name(name: &str, value: &str) -> Option<Directives> {
    let none = Directives::default();
    if name.eq_ignore_ascii_case("unavailable_after") {
        return Some(Directives { unavailable_after: date(value), ..none });
    }
    // A page writes -1 for no limit.
    let max_snippet = || value.parse().ok();
    name.eq_ignore_ascii_case("max-snippet").then(|| Directives { max_snippet: max_snippet(), ..none })
}

/// A part between commas, and what follows its first colon.
struct Part<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

impl<'a> Part<'a> {
    fn read(text: &'a str) -> Self {
        match text.split_once(':') {
            Some((name, value)) => Self { name: name.trim(), value: Some(value.trim()) },
            None => Self { name: text.trim(), value: None },
        }
    }
    /// The addressee and the rest, if the part names one: a name that is not a directive, before one that is.
    fn addressee(&self) -> Option<(&'a str, Part<'a>)> {
        let rest = Part::read(self.value?);
        let says = match rest.value {
            None => rest.name.split_ascii_whitespace().any(|word| of_word(word).is_some()),
            Some(value) => of_name(rest.name, value).is_some(),
        };
        (says && of_name(self.name, "").is_none()).then_some((self.name, rest))
    }
}

/// The parts of a value. A date may contain a comma, after the day of the week.
fn parts(value: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let mut end = text.find(',').unwrap_or(text.len());
        if is_weekday(text.get(..end)?.rsplit(':').next()?.trim()) {
            end =
                text.get(end + 1..).and_then(|rest| rest.find(',')).map_or(text.len(), |more| end + 1 + more);
        }
        rest = text.get(end + 1..);
        text.get(..end).map(Part::read)
    })
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let is =
        |day: &&str| word.len() >= 3 && day.get(..word.len()).is_some_and(|d| d.eq_ignore_ascii_case(word));
    DAYS.iter().any(is)
}

/// A date as pages write it: `2026-03-31`, RFC 3339, or the words of RFC 822 and RFC 850 with a zone.
fn date(text: &str) -> Option<Timestamp> {
    if text.len() > 64 || !text.is_ascii() {
        return None;
    }
    if text.as_bytes().get(4) == Some(&b'-') {
        return Timestamp::parse(text, Timestamp::MIN).ok();
    }
    let (words, zone) = text.rsplit_once(' ')?;
    let words =
        words.split_once([',', ' ']).filter(|(day, _)| is_weekday(day)).map_or(words, |(_, rest)| rest);
    let seconds = if words.matches(':').count() == 1 { ":00" } else { "" };
    let local = Timestamp::parse_http_date(&format!("Mon, {words}{seconds} GMT"))?;
    let (is_ahead, offset) = zone_offset(zone)?;
    Some(if is_ahead { local.minus(offset) } else { local.plus(offset) })
}

/// Whether a zone is ahead of UTC, and by how much it differs.
fn zone_offset(zone: &str) -> Option<(bool, Interval)> {
    let hours = |hours| Some((false, Interval::from_hours(hours)));
    match zone.to_ascii_uppercase().as_str() {
        "GMT" | "UTC" | "UT" | "Z" => hours(0),
        "EDT" => hours(4),
        "EST" | "CDT" => hours(5),
        "CST" | "MDT" => hours(6),
        "MST" | "PDT" => hours(7),
        "PST" => hours(8),
        "JST" => Some((true, Interval::from_hours(9))),
        "CET" => Some((true, Interval::from_hours(1))),
        "CEST" => Some((true, Interval::from_hours(2))),
        other => {
            let digits = other.strip_prefix(['+', '-'])?.replace(':', "");
            let number: u64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
            Some((other.starts_with('+'), Interval::from_minutes(number / 100 * 60 + number % 100)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for, in words.
    fn told(asked: Directives) -> String {
        let Directives { noindex, nofollow, noarchive, nosnippet, noimageindex, notranslate, .. } = asked;
        let words = [
            (noindex, "noindex"),
            (nofollow, "nofollow"),
            (noarchive, "noarchive"),
            (nosnippet, "nosnippet"),
            (noimageindex, "noimageindex"),
            (notranslate, "notranslate"),
        ];
        let mut words: Vec<String> =
            words.into_iter().filter(|(set, _)| *set).map(|(_, word)| word.to_owned()).collect();
        words.extend(asked.unavailable_after.map(Timestamp::to_rfc3339));
        words.extend(asked.max_snippet.map(|most| most.to_string()));
        words.join(" ")
    }

    #[track_caller]
    fn check(value: &str, expected: &str) {
        assert_eq!(told(Directives::of_field(value, "utsushi")), expected, "{value}");
    }

    #[test]
    fn words_are_read_in_any_case_and_unknown_ones_are_skipped() {
        check("noindex", "noindex");
        check(" NoIndex ,NOFOLLOW,, noodp", "noindex nofollow");
        check("none", "noindex nofollow");
        check("nocache noimageindex", "noarchive noimageindex");
        check("nosnippet, notranslate", "nosnippet notranslate");
        check("all, index, follow, max-image-preview:large, indexifembedded", "");
        check("", "");
        check("max-snippet: 20, max-snippet:50", "20");
        check("max-snippet:-1, max-video-preview: 3, nofollow", "nofollow");
    }

    #[test]
    fn directives_for_others_are_ignored_and_those_for_us_are_added() {
        check("otherbot: noindex, nofollow", "");
        check("utsushi: noindex, nofollow", "noindex nofollow");
        check("UTSUSHI: noindex", "noindex");
        check("utsushibot: noindex", "");
        check("noarchive, otherbot: noindex, utsushi: nofollow", "nofollow noarchive");
        check("otherbot: noindex, *: nosnippet", "nosnippet");
        check("otherbot: unavailable_after: 2026-03-31, noindex", "");
        check("utsushi: unavailable_after: 2026-03-31, noindex", "noindex 2026-03-31T00:00:00Z");
        check("unknown-thing: 3, noindex", "noindex");
    }

    #[test]
    fn dates_have_commas_and_zones() {
        for text in [
            "Tue, 31 Mar 2026 09:00:00 GMT",
            "Tuesday, 31-Mar-26 09:00:00 UTC",
            "31 Mar 2026 01:00:00 PST",
            "31-Mar-2026 04:00 EST",
            "31 Mar 2026 18:00:00 +0900",
            "tue 31 Mar 2026 02:30:00 -06:30",
            "2026-03-31T09:00:00Z",
            "2026-03-31T18:00:00+09:00",
        ] {
            check(&format!("unavailable_after: {text}, noindex"), "noindex 2026-03-31T09:00:00Z");
            check(&format!("nofollow, unavailable_after:{text}"), "nofollow 2026-03-31T09:00:00Z");
        }
        check("unavailable_after: 2026-03-31", "2026-03-31T00:00:00Z");
        for text in
            ["soon", "now", "3d ago", "Tue", "31 Mar 2026 09:00:00 XYZ", "31 Mar 2999 09:00:00 GMT", ""]
        {
            check(&format!("unavailable_after: {text}"), "");
        }
        check("unavailable_after: 2026-04-01, unavailable_after: 2026-03-31", "2026-03-31T00:00:00Z");
    }

    #[test]
    fn meta_elements_have_no_addressee() {
        let told = |content| told(Directives::of_meta(content));
        assert_eq!(told("noindex,nofollow"), "noindex nofollow");
        assert_eq!(
            told("unavailable_after: Tue, 31 Mar 2026 09:00:00 GMT, none"),
            "noindex nofollow 2026-03-31T09:00:00Z"
        );
        assert_eq!(told("otherbot: noindex"), "");
    }

    #[test]
    fn any_text_is_accepted_and_more_text_is_never_less_strict() {
        let mut chance = crate::Chance::new(8);
        let words = [
            "noindex",
            "nofollow",
            "utsushi:",
            "other:",
            ":",
            ",",
            " ",
            "Tue",
            "unavailable_after",
            "é",
            "\0",
        ];
        for _ in 0..20_000 {
            let count = chance.index(12);
            let text: String = (0..count).map(|_| *chance.pick(&words)).collect();
            let asked = Directives::of_field(&text, "utsushi");
            let more = Directives::of_field(&format!("{text},utsushi: noindex"), "utsushi");
            assert_eq!(more.and(asked), more, "{text:?}");
        }
    }
}
