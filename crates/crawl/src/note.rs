//! Notes in the archive: what an operator ordered, and with which settings the crawl ran (D3).

use crate::order::{Added, Directive};
use base::{PageUrl, Timestamp};
use frontier::{FoundUrl, Frontier, RevisitPolicy, Role, Selection};
use robots::RobotsRules;

/// Kinds of notes.
pub(crate) const ADD: &str = "add";
pub(crate) const PAUSE: &str = "pause";
pub(crate) const RESUME: &str = "resume";
pub(crate) const SETTINGS: &str = "settings";

/// Carries out a note; returns how many pages it concerns.
pub(crate) fn play_note(
    frontier: &mut Frontier,
    kind: &str,
    text: &str,
    at: Timestamp,
) -> frontier::Result<u64> {
    match kind {
        ADD => return add(frontier, &Added::read(text), at),
        SETTINGS => {
            if let Some(policy) = noted_policy(text) {
                frontier.set_policy(policy)?;
            }
        }
        PAUSE => frontier.pause(true),
        RESUME => frontier.pause(false),
        kind => {
            if let Some(directive) = Directive::named(kind) {
                let selections: Vec<Selection> = text.lines().filter_map(Selection::read).collect();
                return directive.apply(frontier, &selections, at);
            }
        }
    }
    Ok(0)
}

/// The policy in a note of settings, which has the lines of a configuration.
pub(crate) fn noted_policy(text: &str) -> Option<RevisitPolicy> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|value| value.trim_matches('"'))
    };
    let policy: RevisitPolicy = value("crawl.policy")?.parse().ok()?;
    let every = value("crawl.every")?.parse().ok()?;
    Some(RevisitPolicy { every, counts_new: value("crawl.budget_counts_new") == Some("true"), ..policy })
}

/// Adds pages; returns how many were offered.
fn add(frontier: &mut Frontier, pages: &[Added], at: Timestamp) -> frontier::Result<u64> {
    let mut offered = 0;
    let named: Vec<Selection> = pages.iter().map(|added| Selection::page(&added.url)).collect();
    frontier.restore(&named, at)?;
    for added in pages {
        let found = FoundUrl { url: added.url.clone(), role: added.role, announced: None };
        offered += frontier.add(&[found], added.priority, at)? as u64;
    }
    Ok(offered)
}

/// The sitemaps that a robots file names.
pub(crate) fn sitemaps(rules: &RobotsRules, url: &PageUrl) -> Vec<FoundUrl> {
    let found = |text: &String| {
        let url = url.join(text).ok()?;
        Some(FoundUrl { url, role: Role::Sitemap, announced: None })
    };
    rules.sitemaps().iter().filter_map(found).collect()
}

/// Whether a URL is that of a robots file, which is not a page.
pub(crate) fn is_robots(url: &PageUrl) -> bool {
    robots::home(&url.origin()).is_some_and(|home| home == *url)
}
