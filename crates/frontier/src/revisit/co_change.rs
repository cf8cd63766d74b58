//! Pages that change together.
//!
//! Sites are built: a new template, a price list, a release touches many pages at once. A change that is seen on one page says
//! little of the whole server, but much of the pages *beside* it: those of the same directory, and those of the same name in
//! other directories (`/en/faq.html`, `/ja/faq.html`). So a change that is seen opens an *burst* to the page's two groups. Each
//! page of a group that was last visited before the burst began is as likely to have changed as those that were looked at
//! since: (a + hits)/(a + b + tries), which begins low and grows or falls with every visit. The best burst goes before the
//! schedule while it is some times as likely to find a change as the page that is next by schedule, and ends when
//! it finds nothing, when nobody is left, or after a month.
//!
//! **Invariant:** a burst never changes when a page is due. It makes visits earlier, out of the same budget.

use base::chance::hash_bytes;
use std::collections::HashMap;

/// The chance of the first page beside one that changed: a/(a + b).
const HITS_FIRST: f64 = 0.3;
const MISSES_FIRST: f64 = 1.0;
/// How much more likely a burst must find a change than the next page by schedule, because a page that is visited early was to
/// be visited anyway.
const ADVANTAGE: f64 = 3.0;
/// An burst ends when its chance falls to this after some tries, or after this time in seconds.
const CHANCE_MIN: f64 = 0.02;
const TRIES_MIN: u32 = 20;
const LASTS: u64 = 30 * 86_400;
/// A group has no more members than this: who comes later does not join.
const MEMBERS_MAX: usize = 20_000;
/// So many bursts are under way on one server; beyond it none begins.
const BURSTS_MAX: usize = 256;

/// The groups of a server's pages, and the bursts under way.
#[derive(Debug, Default)]
pub struct CoChange {
    groups: HashMap<u32, Members>,
    bursts: Vec<Burst>,
}

/// Most names belong to one page: that must not cost much.
#[derive(Debug)]
enum Members {
    One(u32),
    #[expect(clippy::box_collection, reason = "half the size for those that are alone")]
    Many(Box<Vec<u32>>),
}

impl Members {
    fn all(&self) -> &[u32] {
        match self {
            Self::One(page) => std::slice::from_ref(page),
            Self::Many(pages) => pages,
        }
    }
    fn add(&mut self, page: u32) {
        match self {
            Self::One(first) => *self = Self::Many(Box::new(vec![*first, page])),
            Self::Many(pages) if pages.len() < MEMBERS_MAX => pages.push(page),
            Self::Many(_) => {}
        }
    }
}

#[derive(Debug)]
struct Burst {
    group: u32,
    /// When the change was seen that it began with, in seconds.
    begun: u64,
    hits: u32,
    tries: u32,
    /// Where in the group the next page is, and how many have been passed.
    at: usize,
    passed: usize,
}

/// A page that may have changed because others beside it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The page.
    pub page: u32,
    /// How likely it has changed.
    pub chance: f64,
    /// When others were seen to have changed, in seconds: a visit since then has taken care of the page.
    pub since: u64,
}

/// The groups of a page by the part of its URL behind the server: its directory, and its name in any directory.
#[must_use]
pub fn groups_of(target: &str) -> [Option<u32>; 2] {
    #[expect(clippy::cast_possible_truncation, reason = "a few that are taken for one do no harm")]
    let hash = |kind: u64, text: &str| hash_bytes(kind, text.as_bytes()) as u32;
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    // A directory's own page has no name that would say anything.
    let name = (!name.is_empty() && !name.starts_with("index.")).then(|| hash(2, name));
    [Some(hash(1, directory)), name]
}

impl CoChange {
    /// Takes a page in. It is told once of each.
    pub fn join(&mut self, page: u32, target: &str) {
        for group in groups_of(target).into_iter().flatten() {
            self.groups.entry(group).and_modify(|members| members.add(page)).or_insert(Members::One(page));
        }
    }
    /// A page was visited again at `now`; it was last visited at `before`.
    pub fn visited(&mut self, page: u32, target: &str, before: u64, now: u64, is_changed: bool) {
        for group in groups_of(target).into_iter().flatten() {
            let members = self.groups.get(&group).map_or(&[][..], Members::all);
            if members.len() < 2 {
                continue;
            }
            let here = || members.iter().position(|member| *member == page).map_or(0, |at| at + 1);
            let has_room = self.bursts.len() < BURSTS_MAX;
            match self.bursts.iter_mut().find(|burst| burst.group == group) {
                Some(burst) if before < burst.begun => {
                    burst.tries += 1;
                    burst.hits += u32::from(is_changed);
                }
                // It changed again since the burst began: so may the others.
                Some(burst) if is_changed => {
                    *burst = Burst { group, begun: now, hits: 0, tries: 0, at: here(), passed: 0 };
                }
                None if is_changed && has_room => {
                    self.bursts.push(Burst { group, begun: now, hits: 0, tries: 0, at: here(), passed: 0 });
                }
                _ => {}
            }
        }
    }

    /// The page that is most likely to have changed because others did. It is likelier than the next page by schedule
    /// has to be: see [`Self::is_better`].
    pub fn best(&mut self, now: u64) -> Option<Candidate> {
        self.bursts.retain(|burst| {
            let is_over = now.saturating_sub(burst.begun) > LASTS
                || (burst.tries >= TRIES_MIN && burst.chance() < CHANCE_MIN);
            let members = self.groups.get(&burst.group).map_or(0, |members| members.all().len());
            !is_over && burst.passed < members
        });
        let best = self.bursts.iter().max_by(|a, b| a.chance().total_cmp(&b.chance()))?;
        let members = self.groups[&best.group].all();
        let page = members[best.at % members.len()];
        Some(Candidate { page, chance: best.chance(), since: best.begun })
    }
    /// Whether a candidate goes before a page that has changed by now with the probability `stale`.
    #[must_use]
    pub fn is_better(candidate: &Candidate, stale: f64) -> bool {
        candidate.chance > ADVANTAGE * stale
    }
    /// The page of a candidate is being visited, or need not be: the burst goes on to the next.
    pub fn pass(&mut self, candidate: &Candidate) {
        for burst in &mut self.bursts {
            let members = self.groups.get(&burst.group).map_or(&[][..], Members::all);
            if !members.is_empty()
                && burst.begun == candidate.since
                && members[burst.at % members.len()] == candidate.page
            {
                (burst.at, burst.passed) = (burst.at + 1, burst.passed + 1);
            }
        }
    }
    /// How likely a page has changed because of a burst that is under way, and how many of how many pages beside it had.
    #[must_use]
    pub fn told(&self, target: &str, last_visit: u64) -> Option<(f64, u32, u32)> {
        let groups = groups_of(target);
        let bursts = self
            .bursts
            .iter()
            .filter(|burst| groups.contains(&Some(burst.group)) && last_visit < burst.begun);
        let best = bursts.max_by(|a, b| a.chance().total_cmp(&b.chance()))?;
        Some((best.chance(), best.hits, best.tries))
    }
    /// Whether a burst is under way.
    #[must_use]
    pub fn is_out(&self) -> bool {
        !self.bursts.is_empty()
    }
}

/// A set of pages by number, a bit each.
#[derive(Debug, Default)]
pub(crate) struct MemberSet {
    bits: Vec<u64>,
    count: u64,
}

impl MemberSet {
    /// Adds a page. Returns whether it is new.
    pub(crate) fn add(&mut self, page: u32) -> bool {
        let (word, bit) = (page as usize / 64, 1_u64 << (page % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.count += u64::from(is_new);
        is_new
    }
    /// How many pages there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

impl Burst {
    fn chance(&self) -> f64 {
        (HITS_FIRST + f64::from(self.hits)) / (HITS_FIRST + MISSES_FIRST + f64::from(self.tries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn co_change() -> CoChange {
        let mut co_change = CoChange::default();
        for page in 0..10 {
            co_change.join(page, &format!("/a/{page}.html"));
            co_change.join(100 + page, &format!("/b/{page}.html"));
        }
        co_change
    }

    #[test]
    fn a_change_leads_to_the_pages_beside_it_and_hits_lead_on() {
        let mut co_change = co_change();
        assert_eq!(co_change.best(100), None);
        co_change.visited(3, "/a/3.html", 10, 100, true);
        let first = co_change.best(100).unwrap();
        assert!(first.chance > 0.2 && first.chance < 0.25 && first.since == 100);
        // The page of the same name elsewhere did not change, that of the directory did.
        co_change.visited(103, "/b/3.html", 20, 101, false);
        co_change.visited(4, "/a/4.html", 20, 102, true);
        let next = co_change.best(103).unwrap();
        assert!(next.chance > 0.5, "{next:?}");
        let mut seen = Vec::new();
        while let Some(candidate) = co_change.best(104).filter(|candidate| candidate.chance > 0.5) {
            seen.push(candidate.page);
            co_change.pass(&candidate);
        }
        assert_eq!(seen[..6], [4, 5, 6, 7, 8, 9], "from the page that changed on");
        assert!(seen.contains(&0) && !seen.iter().any(|page| *page > 99), "{seen:?}");
    }

    #[test]
    fn an_outing_that_finds_nothing_ends() {
        let mut co_change = CoChange::default();
        (0..100).for_each(|page| co_change.join(page, &format!("/a/{page}.html")));
        co_change.visited(0, "/a/0.html", 10, 100, true);
        let mut tries = 0;
        while let Some(candidate) = co_change.best(200) {
            co_change.pass(&candidate);
            co_change.visited(candidate.page, &format!("/a/{}.html", candidate.page), 10, 200, false);
            tries += 1;
        }
        assert!((20..40).contains(&tries), "{tries}");
        co_change.visited(0, "/a/0.html", 200, 300, true);
        assert!(co_change.best(300).is_some());
        assert_eq!(co_change.best(300 + LASTS + 1), None, "it does not last for ever");
    }

    #[test]
    fn directories_and_names_are_told_apart() {
        let [directory, name] = groups_of("/en/faq.html?x=1");
        assert_eq!(groups_of("/en/other.html")[0], directory);
        assert_eq!(groups_of("/ja/faq.html")[1], name);
        assert_eq!(groups_of("/en/"), [directory, None]);
        assert_eq!(groups_of("/en/index.html"), [directory, None]);
    }
}
