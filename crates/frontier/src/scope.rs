//! Which URLs belong to the crawl, by rules that read as sentences (C13).

use base::PageUrl;

/// How far the crawl goes from its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The servers of the seeds.
    #[default]
    Server,
    /// Their registrable domains.
    Domain,
    /// Whatever begins like a seed.
    Prefix,
    /// Anywhere.
    Any,
}

/// One rule, a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule;

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rule")]
pub struct RuleError(String);

/// What belongs to the crawl.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// How far it goes from its seeds.
    pub mode: Mode,
    /// The rules, first match wins.
    pub rules: Vec<Rule>,
}

/// What the scope says of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It belongs to the crawl. Pages of a higher priority are visited first; 0 is plain.
    Visit {
        /// The priority.
        priority: i8,
    },
    /// It does not; the rule that says so, as a sentence.
    Leave(String),
}

impl Scope {
    /// Takes a seed: what lies around it belongs to the crawl.
    pub fn add_seed(&mut self, _seed: &PageUrl) {}
    /// What is said of a URL.
    #[must_use]
    pub fn judge(&self, _url: &PageUrl) -> Verdict {
        Verdict::Visit { priority: 0 }
    }
}
