//! One rule: what to do, and with what.

use super::text;
use base::{PageUrl, ServerName};
use std::fmt;
use std::str::FromStr;

/// Maximum characters of a wrong text in an error.
const SHOWN_CHARS_MAX: usize = 200;

/// One rule, a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(super) action: Action,
    pub(super) what: What,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Never,
    Only,
    Also,
    First,
    Last,
}

impl Action {
    const ALL: [Self; 5] = [Self::Never, Self::Only, Self::Also, Self::First, Self::Last];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never visit",
            Self::Only => "only visit",
            Self::Also => "also visit",
            Self::First => "visit first",
            Self::Last => "visit last",
        }
    }
}

/// What the rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// One server.
    Server(ServerName),
    /// A name and all below it, on every port; also a suffix such as `jp`.
    Domain(Box<str>),
    /// URLs that begin with this; the server is always whole.
    Prefix { server: ServerName, target: Box<str> },
    /// URLs with this in path or query.
    Containing(Box<str>),
    /// URLs with this at the end of the path.
    Ending(Box<str>),
}

impl What {
    /// Whether path and query match; the server was checked before.
    pub(super) fn matches_target(&self, url: &PageUrl) -> bool {
        match self {
            Self::Server(_) | Self::Domain(_) => true,
            Self::Prefix { target, .. } => text::begins(url.target(), target),
            Self::Containing(piece) => text::contains(url.target(), piece),
            Self::Ending(end) => text::ends(url.path(), end),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(name) => write!(f, "server {name}"),
            Self::Domain(name) => write!(f, "domain {name}"),
            Self::Prefix { server, target } => write!(f, "prefix {server}{target}"),
            Self::Containing(piece) => write!(f, "path containing {piece}"),
            Self::Ending(end) => write!(f, "ending {end}"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action.as_str(), self.what)
    }
}

/// Why a text is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a rule: {why}; {advice}")]
pub struct RuleError {
    text: String,
    why: &'static str,
    advice: String,
}

/// How a rule may continue after its action: the words, an example value, and how the value is read.
struct Kind {
    words: &'static str,
    example: &'static str,
    read: fn(&str) -> Result<What, &'static str>,
}

const KINDS: [Kind; 5] = [
    Kind { words: "server", example: "www.example.jp", read: server },
    Kind { words: "domain", example: "example.jp", read: domain },
    Kind { words: "prefix", example: "https://example.jp/news/", read: prefix },
    Kind { words: "path containing", example: "/cgi-bin/", read: containing },
    Kind { words: "ending", example: ".zip", read: ending },
];

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let near = Near::find(&words);
        let refuse = |why| {
            let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            let text = base::printable(&shown).into_owned();
            RuleError { text, why, advice: near.advice() }
        };
        if near.distance > 0 {
            return Err(refuse("its words are unknown"));
        }
        let what = match near.value {
            [] => return Err(refuse("something is missing at its end")),
            [value] => (near.kind.read)(value).map_err(refuse)?,
            _ => return Err(refuse("there is too much at its end")),
        };
        Ok(Self { action: near.action, what })
    }
}

/// The sentence that is nearest to what was written.
struct Near<'a> {
    distance: usize,
    action: Action,
    kind: &'static Kind,
    /// What follows its words.
    value: &'a [&'a str],
}

impl<'a> Near<'a> {
    fn find(words: &'a [&'a str]) -> Self {
        let sentences =
            || Action::ALL.into_iter().flat_map(|action| KINDS.iter().map(move |kind| (action, kind)));
        let exact = sentences().find_map(|(action, kind)| {
            let head = action.as_str().split(' ').chain(kind.words.split(' '));
            let (given, value) = words.split_at_checked(head.clone().count())?;
            let is_same = given.iter().zip(head).all(|(given, word)| given.eq_ignore_ascii_case(word));
            is_same.then_some(Self { distance: 0, action, kind, value })
        });
        exact.unwrap_or_else(|| Self::nearest(words, sentences()))
    }

    fn nearest(words: &'a [&'a str], sentences: impl Iterator<Item = (Action, &'static Kind)>) -> Self {
        let near = sentences.flat_map(|(action, kind)| {
            // A word that is missing at the end is a small mistake.
            let short = kind.words.split(' ').next().unwrap_or_default();
            [(kind.words, 0), (short, usize::from(short != kind.words))].map(|(kind_words, left_out)| {
                let head = format!("{} {kind_words}", action.as_str());
                let (given, value) = words.split_at(words.len().min(head.split(' ').count()));
                let given = given.join(" ").to_ascii_lowercase();
                let distance = distance(&given, &head).min(1 + distance(&sorted(&given), &sorted(&head)));
                Self { distance: distance + left_out, action, kind, value }
            })
        });
        near.min_by_key(|near| near.distance).expect("there are sentences")
    }

    /// What to write instead, with the value that was given if it can be one.
    fn advice(&self) -> String {
        let Self { action, kind, value, .. } = self;
        let given =
            value.first().filter(|value| value.len() <= SHOWN_CHARS_MAX && (kind.read)(value).is_ok());
        let value = base::printable(given.unwrap_or(&kind.example));
        let (action, kind) = (action.as_str(), kind.words);
        format!("write a sentence such as `{action} {kind} {value}`")
    }
}

/// The words in another order that is always the same.
fn sorted(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    words.sort_unstable();
    words.join(" ")
}

/// How many letters must be put in, taken out or changed to make one text from the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, l) in left.chars().take(SHOWN_CHARS_MAX).enumerate() {
        let mut before = std::mem::replace(&mut row[0], above + 1);
        for (at, r) in right.iter().enumerate() {
            let changed = before + usize::from(l != *r);
            before = row[at + 1];
            row[at + 1] = changed.min(before + 1).min(row[at] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

fn server(text: &str) -> Result<What, &'static str> {
    ServerName::parse(text).map(What::Server).map_err(|_| "it names no server")
}

fn domain(text: &str) -> Result<What, &'static str> {
    let name = text.strip_prefix("*.").or_else(|| text.strip_prefix('.')).unwrap_or(text);
    let server = ServerName::parse(name).map_err(|_| "it names no domain")?;
    match (server.port(), server.address()) {
        (None, None) => Ok(What::Domain(server.host().into())),
        (Some(_), _) => Err("a domain has no port"),
        (None, Some(_)) => Err("an address is no domain"),
    }
}

/// The server is always whole: `example.jp` is not a prefix of `example.jp.org`.
fn prefix(text: &str) -> Result<What, &'static str> {
    let why = "no URL begins with this";
    let behind = match text.split_once("://") {
        Some((scheme, behind)) if ["http", "https"].iter().any(|s| s.eq_ignore_ascii_case(scheme)) => behind,
        Some((scheme, _)) if !scheme.contains(['/', '?']) => return Err("only http and https are visited"),
        _ => text,
    };
    if behind.contains('#') {
        return Err("the part after a `#` cannot be matched");
    }
    let host_end = behind.find(['/', '?']).unwrap_or(behind.len());
    let (host, target) = behind.split_at(host_end);
    let server = ServerName::parse(host).map_err(|_| why)?;
    // An extra letter, so that the parser keeps a last `.`.
    let url = PageUrl::parse(&format!("http://{server}/")).and_then(|root| root.join(&format!("{target}x")));
    let url = url.map_err(|_| why)?;
    let target = if target.is_empty() { "/" } else { url.target().strip_suffix('x').ok_or(why)? };
    Ok(What::Prefix { server, target: target.into() })
}

fn containing(text: &str) -> Result<What, &'static str> {
    Ok(What::Containing(text.into()))
}

fn ending(text: &str) -> Result<What, &'static str> {
    if text.contains(['/', '?', '#']) {
        return Err("the end of a path has no `/`, `?` or `#`");
    }
    Ok(What::Ending(text.into()))
}
