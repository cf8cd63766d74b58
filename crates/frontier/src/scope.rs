//! Which URLs belong to the crawl, by rules that read as sentences (C13).
//!
//! ```
//! use base::PageUrl;
//! use frontier::{Mode, CrawlScope, ScopeVerdict};
//!
//! let rules = ["never visit ending .zip", "visit first prefix https://example.jp/news/"];
//! let mut scope = CrawlScope::new(Mode::Server, rules.iter().map(|rule| rule.parse()).collect::<Result<_, _>>()?);
//! scope.add_seed(&PageUrl::parse("https://example.jp/")?);
//! let judge = |url| scope.judge(&PageUrl::parse(url).unwrap());
//! assert_eq!(judge("https://example.jp/a"), ScopeVerdict::Visit { priority: 0 });
//! assert_eq!(judge("http://example.jp/news/1"), ScopeVerdict::Visit { priority: 10 });
//! assert_eq!(judge("https://example.jp/a.zip"), ScopeVerdict::Leave("never visit ending .zip".to_owned()));
//! assert!(matches!(judge("https://example.org/"), ScopeVerdict::Leave(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rules come first, in their order; if none of them decides, the mode does: how far the crawl goes from its seeds.
//!
//! **Invariant:** http and https of one server are the same (D6), and an escape equals its character: no spelling of a
//! URL evades a rule.
//!
//! **Invariant:** a verdict allocates only the sentence that refuses, and takes a few look-ups in tables; only rules on
//! pieces of a path are tried one by one.

mod rule;
mod text;

pub use rule::{Rule, RuleError};

use base::PageUrl;
use rule::{Action, What};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

/// The priority of what is visited first, and of what is visited last.
const FIRST: i8 = 10;
const LAST: i8 = -10;

/// How far the crawl goes from its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The servers of the seeds, with or without `www.` in front.
    #[default]
    Server,
    /// Their registrable domains.
    Domain,
    /// Whatever begins like a seed, up to its last slash.
    Prefix,
    /// Anywhere.
    Any,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Server, Self::Domain, Self::Prefix, Self::Any];

    /// The mode in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Domain => "domain",
            Self::Prefix => "prefix",
            Self::Any => "any",
        }
    }

    /// How far it goes: more for a wider one.
    pub(crate) const fn reach(self) -> u8 {
        match self {
            Self::Prefix => 0,
            Self::Server => 1,
            Self::Domain => 2,
            Self::Any => 3,
        }
    }

    /// Why a URL too far from the seeds is not visited.
    const fn refusal(self) -> &'static str {
        match self {
            Self::Server => "it is outside the servers of the seeds (`--scope server`)",
            Self::Domain => "it is outside the domains of the seeds (`--scope domain`)",
            Self::Prefix => "it does not begin like a seed (`--scope prefix`)",
            Self::Any => "",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| "write `server`, `domain`, `prefix` or `any`".to_owned())
    }
}

/// The scope's verdict on a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeVerdict {
    /// It belongs to the crawl. Pages of a higher priority are visited first; 0 is plain.
    Visit {
        /// The priority.
        priority: i8,
    },
    /// It does not belong to the crawl; holds the rule as a sentence.
    Leave(String),
}

/// What belongs to the crawl.
#[derive(Clone, Debug, Default)]
pub struct CrawlScope {
    mode: Mode,
    rules: Vec<Rule>,
    /// The rules that decide by matching.
    deciding: Table,
    /// The rules of which one must match, and the place of the first.
    only: Table,
    only_from: Option<usize>,
    seeds: Seeds,
}

impl CrawlScope {
    /// A scope by mode; the first rule that matches takes precedence.
    #[must_use]
    pub fn new(mode: Mode, rules: Vec<Rule>) -> Self {
        let (mut deciding, mut only) = (Table::default(), Table::default());
        for (at, rule) in rules.iter().enumerate() {
            let table = if rule.action == Action::Only { &mut only } else { &mut deciding };
            table.add(&rule.what, at);
        }
        let only_from = rules.iter().position(|rule| rule.action == Action::Only);
        Self { mode, rules, deciding, only, only_from, seeds: Seeds::default() }
    }

    /// How far it goes from its seeds.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }
    /// The rules in their order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Adds a seed: what is around it belongs to the crawl.
    pub fn add_seed(&mut self, seed: &PageUrl) {
        self.seeds.add(self.mode, seed);
    }

    /// The verdict on a URL.
    #[must_use]
    pub fn judge(&self, url: &PageUrl) -> ScopeVerdict {
        let decided = self.deciding.first_match(url, &self.rules);
        if let Some(from) = self.only_from
            && decided.is_none_or(|at| from < at)
            && self.only.first_match(url, &self.rules).is_none()
        {
            return ScopeVerdict::Leave(self.only_sentence());
        }
        let rule = decided.and_then(|at| self.rules.get(at));
        let priority = match rule.map(|rule| rule.action) {
            Some(Action::Never) => {
                return ScopeVerdict::Leave(rule.map(ToString::to_string).unwrap_or_default());
            }
            Some(Action::Also) => return ScopeVerdict::Visit { priority: 0 },
            Some(Action::First) => FIRST,
            Some(Action::Last) => LAST,
            Some(Action::Only) | None => 0,
        };
        if self.seeds.hold(self.mode, url) {
            ScopeVerdict::Visit { priority }
        } else {
            ScopeVerdict::Leave(self.mode.refusal().to_owned())
        }
    }

    /// Whether a rule asks for a URL by `also visit` or `visit first`.
    #[must_use]
    pub fn asks_for(&self, url: &PageUrl) -> bool {
        let rule = self.deciding.first_match(url, &self.rules).and_then(|at| self.rules.get(at));
        rule.is_some_and(|rule| matches!(rule.action, Action::Also | Action::First))
    }

    /// The verdict on something that is needed to show a page of the crawl (a requisite). It may be anywhere: images
    /// and style sheets are often on other servers. Only a rule `never visit` refuses it.
    #[must_use]
    pub fn judge_requisite(&self, url: &PageUrl) -> ScopeVerdict {
        let rule = self.deciding.first_match(url, &self.rules).and_then(|at| self.rules.get(at));
        match rule.map(|rule| rule.action) {
            Some(Action::Never) => ScopeVerdict::Leave(rule.map(ToString::to_string).unwrap_or_default()),
            Some(Action::First) => ScopeVerdict::Visit { priority: FIRST },
            Some(Action::Last) => ScopeVerdict::Visit { priority: LAST },
            Some(Action::Also | Action::Only) | None => ScopeVerdict::Visit { priority: 0 },
        }
    }

    /// The rules that belong together, as one sentence.
    fn only_sentence(&self) -> String {
        let only = self.rules.iter().filter(|rule| rule.action == Action::Only);
        let mut what = only.map(|rule| rule.what.to_string());
        let shown: Vec<String> = what.by_ref().take(ONLY_SHOWN_MAX).collect();
        let more = if what.next().is_some() { " or …" } else { "" };
        format!("only visit {}{more}", shown.join(" or "))
    }
}

/// Maximum number of `only` rules named in a refusal.
const ONLY_SHOWN_MAX: usize = 3;

/// Rules, indexed by what they match.
#[derive(Clone, Debug, Default)]
struct Table {
    /// The first rule on a server, and on a domain.
    servers: HashMap<Box<str>, usize>,
    domains: HashMap<Box<str>, usize>,
    /// The rules on what lies below a server's path.
    prefixes: HashMap<Box<str>, Vec<usize>>,
    /// The rules on pieces of a path, in their order.
    pieces: Vec<usize>,
}

impl Table {
    fn add(&mut self, what: &What, at: usize) {
        match what {
            What::Server(name) => _ = self.servers.entry(name.as_str().into()).or_insert(at),
            What::Domain(name) => _ = self.domains.entry(name.clone()).or_insert(at),
            What::Prefix { server, .. } => {
                self.prefixes.entry(server.as_str().into()).or_default().push(at);
            }
            What::Containing(_) | What::Ending(_) => self.pieces.push(at),
        }
    }

    /// The place of the first rule that matches.
    fn first_match(&self, url: &PageUrl, rules: &[Rule]) -> Option<usize> {
        let server = server_of(url);
        let matches = |at: &usize| rules.get(*at).is_some_and(|rule| rule.what.matches_target(url));
        let by_server = self.servers.get(server).copied();
        let by_domain = || domains_above(url.host()).filter_map(|name| self.domains.get(name)).min().copied();
        let by_domain = if self.domains.is_empty() { None } else { by_domain() };
        let by_prefix = self.prefixes.get(server).and_then(|places| places.iter().find(|at| matches(at)));
        let by_piece = self.pieces.iter().find(|at| matches(at));
        [by_server, by_domain, by_prefix.copied(), by_piece.copied()].into_iter().flatten().min()
    }
}

/// What lies around the seeds.
#[derive(Clone, Debug, Default)]
struct Seeds {
    /// Servers, or domains.
    names: HashSet<Box<str>>,
    /// The directories of the seeds, by their servers.
    directories: HashMap<Box<str>, Vec<Box<str>>>,
}

impl Seeds {
    fn add(&mut self, mode: Mode, seed: &PageUrl) {
        match mode {
            Mode::Server => _ = self.names.insert(home_of(seed).into()),
            Mode::Domain => _ = self.names.insert(domain_of(seed).into()),
            Mode::Prefix => {
                let directories = self.directories.entry(home_of(seed).into()).or_default();
                let directory = directory_of(seed);
                if !directories.iter().any(|known| text::begins(directory, known)) {
                    directories.push(directory.into());
                }
            }
            Mode::Any => {}
        }
    }

    fn hold(&self, mode: Mode, url: &PageUrl) -> bool {
        match mode {
            Mode::Server => self.names.contains(home_of(url)),
            Mode::Domain => self.names.contains(domain_of(url)),
            Mode::Prefix => self.directories.get(home_of(url)).is_some_and(|directories| {
                directories.iter().any(|directory| text::begins(url.target(), directory))
            }),
            Mode::Any => true,
        }
    }
}

/// Host, and port unless it is the scheme's own: what a `ServerName` says, without making one.
fn server_of(url: &PageUrl) -> &str {
    let behind = url.as_str().split_once("://").map_or("", |(_, behind)| behind);
    behind.split('/').next().unwrap_or_default()
}

/// The server without `www.` in front: a redirect from one to the other stays on the server.
fn home_of(url: &PageUrl) -> &str {
    let server = server_of(url);
    server.strip_prefix("www.").filter(|bare| bare.contains('.')).unwrap_or(server)
}

/// The registrable domain; the server itself where there is none, as for an address.
fn domain_of(url: &PageUrl) -> &str {
    base::server::registrable_domain(url.host()).unwrap_or_else(|| server_of(url))
}

/// The path up to its last slash.
fn directory_of(url: &PageUrl) -> &str {
    let path = url.path();
    path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or("/")
}

/// A host and everything above it: `www.example.jp`, `example.jp`, `jp`.
fn domains_above(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |name| name.split_once('.').map(|(_, above)| above))
}

#[cfg(test)]
mod tests;
