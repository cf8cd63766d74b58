//! Which answers are kept, and which of them lead on (C13).
//!
//! The filter for adults is simple: a short list of Japanese and English words, each with a weight. A title counts three
//! times, a word at most three times. A page is held for one when different words together weigh enough. It errs
//! both ways: it knows no pictures, no other languages and no irony.
//!
//! **Invariant:** a verdict is a function of what is handed in, and says why.

use std::fmt;
use std::str::FromStr;

/// As much of a text as is looked at, in bytes.
const TEXT_BYTES_MAX: usize = 20_000;
/// What different words must weigh together, and how many of them there must be.
const ADULT_WEIGHT_MIN: u32 = 12;
const ADULT_WORDS_MIN: usize = 3;
/// How often a word counts at most.
const COUNT_MAX: u32 = 3;

/// Which answers are kept.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The languages whose pages lead on; all without any.
    pub languages: Vec<Language>,
    /// Whether pages for adults are left out.
    pub drops_adult: bool,
    /// The media types that are kept; all without any.
    pub types: Vec<MediaRange>,
    /// The longest answer that is kept; nothing for any.
    pub bytes_max: Option<u64>,
}

/// What is seen of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// Its media type, without parameters; empty if it has none.
    pub media_type: &'a str,
    /// Its length.
    pub bytes: u64,
    /// Its language, if it could be told.
    pub language: Option<&'a str>,
    /// Its title.
    pub title: &'a str,
    /// Its text, or the beginning of it.
    pub text: &'a str,
}

/// What becomes of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It is kept, and leads on.
    Keep,
    /// It is kept, but its links are not followed and it is looked at rarely: why.
    Aside(String),
    /// Only the fact is kept: why.
    Drop(String),
}

impl Filter {
    /// What becomes of an answer.
    #[must_use]
    pub fn judge(&self, seen: &Seen<'_>) -> Choice {
        if !self.types.is_empty() && !self.types.iter().any(|range| range.holds(seen.media_type)) {
            return Choice::Drop(format!("its type `{}` is not among `filter.types`", seen.media_type));
        }
        if let Some(most) = self.bytes_max.filter(|most| seen.bytes > *most) {
            let bytes = seen.bytes;
            return Choice::Drop(format!("its {bytes} bytes are more than `filter.size_max`, {most}"));
        }
        if let Some(why) = self.drops_adult.then(|| adult(seen.title, seen.text)).flatten() {
            return Choice::Drop(why);
        }
        match seen.language {
            Some(language)
                if !self.languages.is_empty() && !self.languages.iter().any(|l| l.is(language)) =>
            {
                Choice::Aside(format!("its language `{language}` is not among `filter.languages`"))
            }
            _ => Choice::Keep,
        }
    }
}

/// Words and their weights. Those that stand in other words, or on pages about health, weigh little.
const ADULT_WORDS: [(&str, u32); 30] = [
    ("porn", 4),
    ("xxx", 3),
    ("hentai", 4),
    ("milf", 4),
    ("blowjob", 5),
    ("camgirl", 5),
    ("escort girls", 5),
    ("hardcore", 2),
    ("nude", 2),
    ("naked", 1),
    ("erotic", 2),
    ("sex", 1),
    ("adults only", 3),
    ("over 18", 1),
    ("アダルト動画", 5),
    ("アダルト", 2),
    ("無修正", 5),
    ("エロ", 3),
    ("素人", 1),
    ("人妻", 3),
    ("熟女", 4),
    ("巨乳", 4),
    ("風俗", 2),
    ("デリヘル", 5),
    ("ソープランド", 5),
    ("av女優", 5),
    ("フェラ", 4),
    ("オナニー", 4),
    ("出会い系", 2),
    ("18歳未満", 3),
];

/// Why a page is held for one for adults; nothing if it is not.
#[must_use]
pub fn adult(title: &str, text: &str) -> Option<String> {
    let (title, text) = (title.to_lowercase(), start(text).to_lowercase());
    let weigh = |(word, weight): &(&'static str, u32)| {
        let count = (count(&title, word) * 3).saturating_add(count(&text, word)).min(COUNT_MAX);
        (count > 0).then_some((*word, weight * count))
    };
    let mut found: Vec<(&str, u32)> = ADULT_WORDS.iter().filter_map(weigh).collect();
    let weight: u32 = found.iter().map(|(_, weight)| weight).sum();
    found.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    let words: Vec<&str> = found.iter().take(ADULT_WORDS_MIN).map(|(word, _)| *word).collect();
    (weight >= ADULT_WEIGHT_MIN && words.len() >= ADULT_WORDS_MIN)
        .then(|| format!("it reads like a page for adults: `{}` (`filter.adult`)", words.join("`, `")))
}

/// The beginning of a text, cut between letters.
fn start(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// How often a word stands in a text; one in Latin letters only where no letter stands beside it.
fn count(text: &str, word: &str) -> u32 {
    let is_latin = word.is_ascii();
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let stands = |at: usize| {
        let (before, behind) = (text.get(..at), text.get(at + word.len()..));
        let beside = letter(before.and_then(|t| t.chars().next_back()))
            || letter(behind.and_then(|t| t.chars().next()));
        !is_latin || !beside
    };
    let found = text.match_indices(word).filter(|(at, _)| stands(*at)).take(COUNT_MAX as usize).count();
    u32::try_from(found).unwrap_or(COUNT_MAX)
}

/// A language by its code, such as `ja`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language(Box<str>);

impl Language {
    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// Whether a code means this language; `en-GB` is `en`.
    #[must_use]
    pub fn is(&self, code: &str) -> bool {
        code.split(['-', '_']).next().is_some_and(|primary| primary.eq_ignore_ascii_case(&self.0))
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = (2..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphabetic());
        let refuse = || {
            format!(
                "`{}` is no code of a language; write two or three letters such as `ja`",
                base::printable(text)
            )
        };
        if fits { Ok(Self(text.to_ascii_lowercase().into())) } else { Err(refuse()) }
    }
}

/// A media type such as `text/html`, or all of a kind such as `image/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRange(Box<str>);

impl MediaRange {
    /// Whether a media type without parameters lies in it.
    #[must_use]
    pub fn holds(&self, media_type: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(kind) => media_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind)),
            None => media_type.eq_ignore_ascii_case(&self.0),
        }
    }
}

impl fmt::Display for MediaRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for MediaRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_token = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
        };
        let fits =
            text.split_once('/').is_some_and(|(kind, sub)| is_token(kind) && (sub == "*" || is_token(sub)));
        let refuse = || {
            format!(
                "`{}` is no media type; write one such as `text/html` or `image/*`",
                base::printable(text)
            )
        };
        if fits { Ok(Self(text.to_ascii_lowercase().into())) } else { Err(refuse()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen<'a>(media_type: &'a str, language: Option<&'a str>) -> Seen<'a> {
        Seen { media_type, bytes: 100, language, title: "", text: "" }
    }

    #[test]
    fn without_settings_everything_is_kept() {
        let text = "xxx porn hentai milf アダルト動画 無修正";
        let seen = Seen { text, language: Some("fr"), bytes: u64::MAX, ..Seen::default() };
        assert_eq!(Filter::default().judge(&seen), Choice::Keep);
    }

    #[test]
    fn types_sizes_and_languages_are_told_apart() {
        let filter = Filter {
            languages: vec!["ja".parse().unwrap()],
            types: vec!["text/HTML".parse().unwrap(), "image/*".parse().unwrap()],
            bytes_max: Some(100),
            drops_adult: false,
        };
        assert_eq!(filter.judge(&seen("text/html", Some("ja-JP"))), Choice::Keep);
        assert_eq!(filter.judge(&seen("IMAGE/png", None)), Choice::Keep);
        let aside = "its language `en` is not among `filter.languages`".to_owned();
        assert_eq!(filter.judge(&seen("text/html", Some("en"))), Choice::Aside(aside));
        for (media_type, bytes) in [("video/mp4", 1), ("", 1), ("imag", 1), ("text/html", 101)] {
            let choice = filter.judge(&Seen { bytes, ..seen(media_type, None) });
            assert!(matches!(choice, Choice::Drop(_)), "{media_type}: {choice:?}");
        }
    }

    #[test]
    fn pages_for_adults_are_told_by_several_words() {
        assert!(adult("無修正アダルト動画", "人妻 熟女 素人").is_some());
        assert!(adult("Free porn", "xxx hardcore milf videos, naked, adults only").is_some());
        let why = adult("XXX hentai", "nude").unwrap();
        assert_eq!(why, "it reads like a page for adults: `hentai`, `xxx`, `nude` (`filter.adult`)");
        for (title, text) in [
            ("Sex education", "sex and health: naked facts, sex, sex, over 18"),
            ("Essex and Sussex", "the sexes in Middlesex"),
            ("風俗画の歴史", "江戸の風俗を描いた絵"),
            ("Hardcore punk", "hardcore, hardcore, hardcore"),
            ("", ""),
        ] {
            assert_eq!(adult(title, text), None, "{title}");
        }
        assert_eq!(adult("", &"日".repeat(100_000)), None);
    }

    #[test]
    fn codes_and_types_are_checked() {
        assert_eq!("JA".parse::<Language>().unwrap().to_string(), "ja");
        for text in ["", "j", "japanese", "日本", "e1"] {
            assert!(text.parse::<Language>().is_err(), "{text}");
        }
        for text in ["", "html", "text/", "/html", "*/*", "text/html; charset=utf-8", "te xt/a"] {
            assert!(text.parse::<MediaRange>().is_err(), "{text}");
        }
    }
}
