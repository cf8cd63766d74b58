//! Robots rules (RFC 9309): which targets a server asks robots not to fetch. Pure: bytes in, verdicts out.
//!
//! A rule is read in two ways (D10). The *literal* reading compares the target byte by byte with the pattern, in which
//! only bytes outside ASCII are escaped, as the widely used parsers do. The *normalised* reading first converts both
//! sides to one spelling, as RFC 9309 §2.2.2 requires. If they differ, the reading that refuses decides.
//!
//! Tolerance never permits more: a misspelt `Disallow` refuses, a misspelt `Allow` allows nothing.
//!
//! **Invariant:** any bytes can be parsed, in time linear in their length. A verdict needs no backtracking and no
//! recursion, and has a bounded cost: a target that would exceed it is refused.

use crate::lines::{self, Directive, Line as Written};
use crate::pattern::{Pattern, Purse, Target};
use base::Interval;
use base::limits::{ROBOTS_BYTES_MAX, SERVER_PAUSE_MAX};
use std::fmt;

/// The rules of one robots file for one agent.
#[derive(Clone, Debug, Default)]
pub struct RobotsRules {
    rules: Vec<Rule>,
    /// Whether both readings compare every rule in the same spelling.
    is_plain: bool,
    refuses_all: bool,
    crawl_delay: Option<Interval>,
    sitemaps: Vec<String>,
}

#[derive(Clone, Debug)]
struct Rule {
    allows: bool,
    pattern: Pattern,
    line: RobotsLine,
}

/// A line of a robots file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text without comment, printable and shortened if it is long.
    pub text: String,
}

impl fmt::Display for RobotsLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: `{}`", self.number, self.text)
    }
}

/// Whether a target may be fetched, and the line that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotsVerdict<'a> {
    /// Whether it may be fetched.
    pub allowed: bool,
    /// The deciding line; `None` if no rule matches or everything is refused.
    pub line: Option<&'a RobotsLine>,
}

impl fmt::Display for RobotsVerdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.allowed) {
            (Some(line), _) => line.fmt(f),
            (None, true) => f.write_str("no rule matches"),
            (None, false) => f.write_str("everything is refused"),
        }
    }
}

impl RobotsRules {
    /// The rules of the robots file `bytes` for `agent`, a product token such as `utsushi`.
    ///
    /// Groups that name the agent are merged; only if there are none do the groups for `*` apply. At most
    /// [`ROBOTS_BYTES_MAX`] bytes are read; a line cut there is dropped.
    #[must_use]
    pub fn for_agent(bytes: &[u8], agent: &str) -> Self {
        let mut reading = Reading::new(agent);
        let bytes = lines::as_utf8(bytes);
        lines::read(&bytes, ROBOTS_BYTES_MAX).for_each(|line| reading.take(&line));
        reading.finish()
    }
    /// Rules that refuse nothing: there is no robots file (4xx).
    #[must_use]
    pub fn allow_all() -> Self {
        Self::default()
    }
    /// Rules that refuse everything: the robots file is unreachable (5xx, timeout; H12).
    #[must_use]
    pub fn refuse_all() -> Self {
        Self { refuses_all: true, ..Self::default() }
    }

    /// Whether `target` (path and query) may be fetched: only if both readings allow it.
    ///
    /// The robots file itself may always be fetched.
    #[must_use]
    pub fn judge(&self, target: &str) -> RobotsVerdict<'_> {
        if target == "/robots.txt" {
            return RobotsVerdict { allowed: true, line: None };
        }
        let (literal, normalised) =
            (Target::literal(target.as_bytes()), Target::normalised(target.as_bytes()));
        let verdict = self.weigh_literally(&literal);
        let is_one_reading = self.is_plain && literal.is_same(&normalised);
        if is_one_reading || !verdict.allowed { verdict } else { self.weigh_normalised(&normalised) }
    }
    /// The verdict of the literal reading alone.
    #[must_use]
    pub fn judge_literal(&self, target: &str) -> RobotsVerdict<'_> {
        self.weigh_literally(&Target::literal(target.as_bytes()))
    }
    /// The verdict of the normalised reading alone.
    #[must_use]
    pub fn judge_normalised(&self, target: &str) -> RobotsVerdict<'_> {
        self.weigh_normalised(&Target::normalised(target.as_bytes()))
    }

    fn weigh_literally(&self, target: &Target<'_>) -> RobotsVerdict<'_> {
        self.weigh(|rule, purse| rule.pattern.literal_weight(target, rule.allows, purse))
    }
    fn weigh_normalised(&self, target: &Target<'_>) -> RobotsVerdict<'_> {
        self.weigh(|rule, purse| rule.pattern.normalised_weight(target, rule.allows, purse))
    }

    /// The longest matching pattern decides; among equals one that allows; among those the first.
    /// If the budget does not suffice to find it, the target is refused.
    fn weigh(&self, weight: impl Fn(&Rule, &mut Purse) -> Option<usize>) -> RobotsVerdict<'_> {
        let (mut best, mut purse): (Option<(usize, &Rule)>, _) = (None, Purse::full());
        for rule in &self.rules {
            let Some(weight) = weight(rule, &mut purse) else { continue };
            if best.is_none_or(|(most, by)| (weight, rule.allows) > (most, by.allows)) {
                best = Some((weight, rule));
            }
        }
        if purse.is_empty() {
            return RobotsVerdict { allowed: false, line: None };
        }
        let allowed = best.map_or(!self.refuses_all, |(_, rule)| rule.allows);
        RobotsVerdict { allowed, line: best.map(|(_, rule)| &rule.line) }
    }

    /// The crawl delay between two requests, at most [`SERVER_PAUSE_MAX`].
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Interval> {
        self.crawl_delay
    }
    /// The sitemaps that the file lists, as written; they belong to no group.
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

/// The rules of the groups for one audience.
#[derive(Default)]
struct Group {
    exists: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Interval>,
}

/// A file being parsed for one agent.
struct Reading<'a> {
    agent: &'a str,
    named: Group,
    general: Group,
    /// Whether the current group names the agent, and whether it names `*`.
    in_named: bool,
    in_general: bool,
    /// Whether the current group has rules already, so that the next `User-agent` starts another one.
    has_rules: bool,
    sitemaps: Vec<String>,
}

impl<'a> Reading<'a> {
    fn new(agent: &'a str) -> Self {
        let (named, general) = Default::default();
        Self {
            agent,
            named,
            general,
            in_named: false,
            in_general: false,
            has_rules: false,
            sitemaps: Vec::new(),
        }
    }

    fn take(&mut self, line: &Written<'_>) {
        match line.directive {
            Directive::UserAgent => self.user_agent(line.value),
            Directive::Allow => self.rule(line, true),
            Directive::Disallow => self.rule(line, false),
            Directive::CrawlDelay => self.crawl_delay(line.value),
            Directive::Sitemap => {
                self.sitemaps.extend(std::str::from_utf8(line.value).map(ToOwned::to_owned));
            }
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        if std::mem::take(&mut self.has_rules) {
            (self.in_named, self.in_general) = (false, false);
        }
        if matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..]) {
            self.in_general = true;
            self.general.exists = true;
        } else if !self.agent.is_empty()
            && lines::product_token(value).eq_ignore_ascii_case(self.agent.as_bytes())
        {
            self.in_named = true;
            self.named.exists = true;
        }
    }

    /// The groups that the current line belongs to.
    fn present(&mut self) -> impl Iterator<Item = &mut Group> {
        let named = self.in_named.then_some(&mut self.named);
        named.into_iter().chain(self.in_general.then_some(&mut self.general))
    }

    fn rule(&mut self, line: &Written<'_>, allows: bool) {
        self.has_rules = true;
        // An empty pattern matches nothing: `Disallow:` is how a file allows everything.
        if line.value.is_empty() {
            return;
        }
        for group in self.present() {
            group.rules.push(Rule { allows, pattern: Pattern::new(line.value), line: line.shown() });
        }
    }

    /// Applies to the agents named so far and does not start a new group (RFC 9309 §2.2.4). Of several, the longest
    /// applies.
    fn crawl_delay(&mut self, value: &[u8]) {
        let Some(delay) = seconds(value) else { return };
        self.present().for_each(|group| group.crawl_delay = group.crawl_delay.max(Some(delay)));
    }

    fn finish(self) -> RobotsRules {
        let group = if self.named.exists { self.named } else { self.general };
        RobotsRules {
            is_plain: group.rules.iter().all(|rule| rule.pattern.is_plain()),
            rules: group.rules,
            refuses_all: false,
            crawl_delay: group.crawl_delay,
            sitemaps: self.sitemaps,
        }
    }
}

/// A number of seconds, with an optional fraction.
fn seconds(value: &[u8]) -> Option<Interval> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    let believable = seconds.is_finite() && seconds >= 0.0;
    believable.then(|| Interval::from_seconds(1).times(seconds).min(SERVER_PAUSE_MAX))
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
