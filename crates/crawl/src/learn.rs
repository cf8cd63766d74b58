//! Learning from the archive what was not learned while it happened: after a crash, after an import, from the beginning.
//!
//! The captures are played in the order in which they arrived, through the very functions that learn from visits. What was
//! visited by a crawl was found before, so the same pages become known at the same moments (D3). What came from elsewhere
//! is not found on any page: it is made known first, many pages at a time (C17). A capture that is older than what its page
//! has learned lets the page be folded anew from all of its captures (D4).

use crate::lesson::Teachings;
use crate::order::{Added, Directive};
use crate::reading::{Reading, Reads};
use archive::derived;
use archive::{Entry, Place, Reader, Stored};
use base::{PageUrl, Timestamp};
use frontier::{FoundUrl, Frontier, LearnResult, Lesson, RevisitPolicy, Role, Selection, VisitResult};
use robots::RobotsRules;
use std::collections::{BTreeSet, VecDeque};

/// So many captures are looked ahead when pages must be made known.
const AHEAD: usize = 4_096;
/// After so many captures what was learned is committed.
const COMMIT_CAPTURES: u64 = 2_048;

/// What was learned from an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learning {
    /// Captures that were looked at.
    pub captures: u64,
    /// Pages that no page of ours had led to.
    pub foreign: u64,
    /// Pages that were folded anew.
    pub refolded: u64,
    /// Captures whose record, or whose body, is damaged. They are passed over.
    pub damaged: u64,
}

/// Lets a frontier learn everything that arrived behind its place. `tell` hears of it now and then.
///
/// # Errors
/// When the archive cannot be read, or the frontier's store cannot be written.
pub fn learn_all(
    frontier: &mut Frontier,
    reader: &Reader,
    reads: &Reads,
    now: Timestamp,
    mut tell: impl FnMut(&Learning),
) -> Result<Learning, crate::Error> {
    let place = Place::parse(frontier.place());
    let mut arrivals = reader.since(place.as_ref())?;
    let mut pupil = Pupil { frontier, reader, reads, older: BTreeSet::new(), learning: Learning::default() };
    let mut ahead = VecDeque::new();
    loop {
        while ahead.len() < AHEAD
            && let Some(arrival) = arrivals.next()
        {
            ahead.push_back(arrival?);
        }
        let Some((entry, place)) = ahead.pop_front() else { break };
        pupil.learn(&entry, &place.to_string(), &ahead)?;
        if pupil.learning.captures.is_multiple_of(COMMIT_CAPTURES) {
            pupil.refold_all()?;
            pupil.frontier.commit(now)?;
            tell(&pupil.learning);
        }
    }
    pupil.refold_all()?;
    let learning = pupil.learning;
    frontier.commit(now)?;
    Ok(learning)
}

/// Takes up links of archived pages again, for a crawl that goes further than before. `tell` hears of it now and then.
///
/// # Errors
/// When the archive cannot be read, or the frontier's store cannot be written.
pub fn rediscover(
    frontier: &mut Frontier,
    reader: &Reader,
    reads: &Reads,
    now: Timestamp,
    mut tell: impl FnMut(&Learning),
) -> Result<Learning, crate::Error> {
    let mut learning = Learning::default();
    for arrival in reader.since(None)? {
        let (entry, _) = arrival?;
        learning.captures += 1;
        let url = PageUrl::parse(&entry.url).ok().filter(|_| entry.is_visit());
        let Some(url) = url.filter(|url| url.target() != "/robots.txt") else { continue };
        let learned = match reader.learned(&entry) {
            Err(archive::Error::Damaged { .. }) => {
                learning.damaged += 1;
                continue;
            }
            learned => learned?,
        };
        let Some(learned) = learned else { continue };
        let reading = Body { reader, reads, learning: &mut learning }.read(&url, &entry)?;
        let teachings = Teachings { url, learned, reading, place: String::new() };
        let lesson = teachings.lesson(None);
        frontier.found(lesson.links, lesson.at)?;
        if let VisitResult::Moved { target: Some(target), .. } = lesson.result {
            frontier.found(&[FoundUrl::page(target.clone())], lesson.at)?;
        }
        if learning.captures.is_multiple_of(COMMIT_CAPTURES) {
            frontier.commit(now)?;
            tell(&learning);
        }
    }
    frontier.settle(now)?;
    frontier.commit(now)?;
    Ok(learning)
}

/// Reads everything that arrived behind the place of the derived table, and notes down what is found (D11). `tell` hears
/// of it now and then.
///
/// # Errors
/// When the archive cannot be read, or the table cannot be written.
pub fn derive_all(
    table: &mut derived::Writer,
    reader: &Reader,
    reads: &Reads,
    mut tell: impl FnMut(&Learning),
) -> Result<Learning, crate::Error> {
    let mut learning = Learning::default();
    for arrival in reader.since(table.place().as_ref())? {
        let (entry, _) = arrival?;
        learning.captures += 1;
        let url = PageUrl::parse(&entry.url).ok().filter(|_| entry.is_visit());
        let facts = match &url {
            Some(url) => Body { reader, reads, learning: &mut learning }.read(url, &entry)?.facts,
            None => None,
        };
        table.append([(&entry, facts)])?;
        if learning.captures.is_multiple_of(COMMIT_CAPTURES) {
            tell(&learning);
        }
    }
    table.sync()?;
    Ok(learning)
}

struct Pupil<'a> {
    frontier: &'a mut Frontier,
    reader: &'a Reader,
    reads: &'a Reads,
    /// Pages to be folded anew, before the next commit: a page that gets a hundred older captures is folded once.
    older: BTreeSet<PageUrl>,
    learning: Learning,
}

impl Pupil<'_> {
    fn learn(
        &mut self,
        entry: &Entry,
        place: &str,
        ahead: &VecDeque<(Entry, Place)>,
    ) -> Result<(), crate::Error> {
        self.learning.captures += 1;
        let url = PageUrl::parse(&entry.url).ok().filter(|_| entry.is_visit());
        match url {
            None => self.learn_note(entry)?,
            Some(url) if url.target() == "/robots.txt" => self.learn_robots(&url, entry)?,
            Some(url) => self.learn_page(url, entry, place, ahead)?,
        }
        self.frontier.pass(place);
        Ok(())
    }
    fn learn_note(&mut self, entry: &Entry) -> Result<(), crate::Error> {
        let note = self.reader.note(entry);
        let Some((kind, text)) = self.pass_damage(entry, note)?.flatten() else { return Ok(()) };
        play_note(self.frontier, &kind, &text, entry.at)
    }
    fn learn_robots(&mut self, url: &PageUrl, entry: &Entry) -> Result<(), crate::Error> {
        let is_file = entry.status.is_some_and(|status| (200..300).contains(&status)) && !entry.truncated;
        let Some((_, content)) = self.body().content(entry)?.filter(|_| is_file) else { return Ok(()) };
        let rules = RobotsRules::for_agent(&content, &self.reads.agent);
        Ok(self.frontier.found(&sitemaps(&rules, url), entry.at)?)
    }
    fn learn_page(
        &mut self,
        url: PageUrl,
        entry: &Entry,
        place: &str,
        ahead: &VecDeque<(Entry, Place)>,
    ) -> Result<(), crate::Error> {
        let learned = self.reader.learned(entry);
        let Some(learned) = self.pass_damage(entry, learned)? else {
            // The index still says which page it was, so the page can be visited again.
            return self.make_known(&url, entry.at, ahead);
        };
        let Some(learned) = learned else { return Ok(()) };
        let reading = self.body().read(&url, entry)?;
        self.make_known(&url, entry.at, ahead)?;
        let teachings = Teachings { url, learned, reading, place: place.to_owned() };
        let lesson = teachings.lesson(None);
        if self.frontier.learn(&lesson)? == LearnResult::Outdated {
            self.frontier.found(lesson.links, lesson.at)?;
            self.older.insert(teachings.url);
        }
        Ok(())
    }
    /// What was read from the record of a capture; nothing when the record is damaged, which is counted.
    fn pass_damage<T>(
        &mut self,
        entry: &Entry,
        read: Result<T, archive::Error>,
    ) -> Result<Option<T>, archive::Error> {
        match read {
            Err(error @ archive::Error::Damaged { .. }) => {
                tracing::warn!(url = %entry.url, %error, "a damaged capture is passed over");
                self.learning.damaged += 1;
                Ok(None)
            }
            read => read.map(Some),
        }
    }
    /// Makes sure that a page is known. When nothing led to it, it comes from elsewhere, and so do others, probably.
    fn make_known(
        &mut self,
        url: &PageUrl,
        at: Timestamp,
        ahead: &VecDeque<(Entry, Place)>,
    ) -> Result<(), crate::Error> {
        if self.frontier.knows(url)? {
            return Ok(());
        }
        self.frontier.know(&[])?;
        if self.frontier.knows(url)? {
            return Ok(());
        }
        let mut pages = vec![(url.clone(), at)];
        for (entry, _) in ahead.iter().filter(|(entry, _)| entry.is_visit()) {
            if let Ok(page) = PageUrl::parse(&entry.url)
                && !self.frontier.knows(&page)?
            {
                pages.push((page, entry.at));
            }
        }
        self.learning.foreign += pages.len() as u64;
        Ok(self.frontier.know(&pages)?)
    }

    fn body(&mut self) -> Body<'_> {
        Body { reader: self.reader, reads: self.reads, learning: &mut self.learning }
    }

    /// Folds pages anew from all of their captures (D4).
    fn refold_all(&mut self) -> Result<(), crate::Error> {
        for url in std::mem::take(&mut self.older) {
            self.refold(&url)?;
        }
        Ok(())
    }
    fn refold(&mut self, url: &PageUrl) -> Result<(), crate::Error> {
        let (mut all, place) = (Vec::new(), self.frontier.place().to_owned());
        for entry in self.reader.newest_first(&url.key().into())? {
            let entry = entry?;
            let learned = match self.reader.learned(&entry) {
                // It was counted when its turn came.
                Err(archive::Error::Damaged { .. }) => continue,
                learned => learned?,
            };
            if let (Some(learned), Ok(url)) = (learned, PageUrl::parse(&entry.url)) {
                let reading = self.body().read(&url, &entry)?;
                all.push(Teachings { url, learned, reading, place: place.clone() });
            }
        }
        let lessons: Vec<Lesson<'_>> = all.iter().rev().map(|teachings| teachings.lesson(None)).collect();
        self.frontier.refold(&lessons)?;
        self.learning.refolded += 1;
        Ok(())
    }
}

/// The head of an answer, and its content with all codings removed.
type HeadAndContent = (Vec<u8>, Vec<u8>);

/// Reads bodies back from the archive.
struct Body<'a> {
    reader: &'a Reader,
    reads: &'a Reads,
    learning: &'a mut Learning,
}

impl Body<'_> {
    /// What the body of a capture teaches; nothing when there is none, or it is damaged.
    fn read(&mut self, url: &PageUrl, entry: &Entry) -> Result<Reading, crate::Error> {
        let is_content = entry.status.is_none_or(|status| (200..300).contains(&status)) && !entry.truncated;
        if !is_content || entry.kind == Stored::Metadata {
            return Ok(Reading::default());
        }
        let Some((head, content)) = self.content(entry)? else { return Ok(Reading::default()) };
        let asks = robots::exclusion(&head, &self.reads.agent);
        let content_type = base::http::field(&head, "content-type");
        Ok(self.reads.read_content(url, content_type, &content, asks.nofollow))
    }
    /// The head and the content of a capture, whole.
    fn content(&mut self, entry: &Entry) -> Result<Option<HeadAndContent>, crate::Error> {
        if !matches!(entry.kind, Stored::Response | Stored::Revisit | Stored::Resource) {
            return Ok(None);
        }
        let document = match self.reader.document(entry) {
            Ok(document) => document,
            Err(error) => {
                tracing::warn!(url = %entry.url, %error, "a capture cannot be read back and teaches nothing");
                self.learning.damaged += 1;
                return Ok(None);
            }
        };
        let content = match document.content() {
            fetch::Decoded::Whole(content) => content.into_owned(),
            _ => return Ok(None),
        };
        Ok(Some((document.head, content)))
    }
}

/// Plays a note again.
pub(crate) fn play_note(
    frontier: &mut Frontier,
    kind: &str,
    text: &str,
    at: Timestamp,
) -> Result<(), crate::Error> {
    match kind {
        ADD => {
            add(frontier, &Added::read(text), at)?;
        }
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
                directive.apply(frontier, &selections, at)?;
            }
        }
    }
    Ok(())
}

/// The policy that a note of settings tells of: the lines of a configuration.
pub(crate) fn noted_policy(text: &str) -> Option<RevisitPolicy> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|value| value.trim_matches('"'))
    };
    let policy: RevisitPolicy = value("crawl.policy")?.parse().ok()?;
    let every = value("crawl.every")?.parse().ok()?;
    Some(RevisitPolicy { every, counts_new: value("crawl.budget_counts_new") == Some("true"), ..policy })
}

/// Kinds of notes.
pub(crate) const ADD: &str = "add";
pub(crate) const PAUSE: &str = "pause";
pub(crate) const RESUME: &str = "resume";
pub(crate) const SETTINGS: &str = "settings";

/// Adds pages; how many were offered.
pub(crate) fn add(frontier: &mut Frontier, pages: &[Added], at: Timestamp) -> Result<usize, crate::Error> {
    let mut offered = 0;
    let named: Vec<Selection> = pages.iter().map(|added| Selection::page(&added.url)).collect();
    frontier.restore(&named, at)?;
    for added in pages {
        let found = FoundUrl { url: added.url.clone(), role: added.role, announced: None };
        offered += frontier.add(&[found], added.priority, at)?;
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

/// Whether a URL is that of a robots file, which is no page.
pub(crate) fn is_robots(url: &PageUrl) -> bool {
    robots::home(&url.origin()).is_some_and(|home| home == *url)
}
