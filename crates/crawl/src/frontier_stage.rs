//! The frontier as a stage: learns page states and new pages from captures (D3).
//!
//! During a crawl and afterwards the same functions learn. A page that a crawl visited was found on another page before,
//! so the same pages become known at the same moments. A page from an import was found on none: it is made known first,
//! together with the others that the runner sees ahead (C17). If a capture is older than what its page has learned, the
//! page's state is computed again from all of its captures (D4).

use crate::Error;
use crate::evidence::Evidence;
use crate::findings::ReadOptions;
use crate::note::{play_note, sitemaps};
use archive::{Checkpoint, Reader, Target};
use base::{PageUrl, Timestamp};
use frontier::{FoundUrl, Frontier, LearnResult, Lesson, Number};
use robots::RobotsRules;
use stage::{Arrival, BodyParser, Stage};
use std::collections::BTreeSet;

/// The name of the stage.
pub(crate) const NAME: &str = "frontier";

/// The frontier, as a stage.
pub struct FrontierStage<'a> {
    frontier: &'a mut Frontier,
    options: &'a ReadOptions,
    parser: BodyParser,
    now: Timestamp,
    /// The archive, to compute states of pages again.
    reader: Option<&'a Reader>,
    taken_down: Vec<Target>,
    /// Makes an empty frontier.
    fresh: Option<Fresh<'a>>,
    /// Pages whose state is computed again before the next commit: once, also after a hundred older captures.
    older: BTreeSet<PageUrl>,
    hint: Option<Hint>,
    /// What was learned.
    counts: FrontierCounts,
}

type Fresh<'a> = Box<dyn FnMut() -> Result<Frontier, Error> + 'a>;

/// What a frontier learned in a run, beside the states of known pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontierCounts {
    /// Pages that none of our pages led to.
    pub(crate) foreign: u64,
    /// Pages whose state was computed again.
    pub(crate) refolded: u64,
    /// Pages that the last note concerned.
    pub(crate) noted: u64,
}

/// What a running crawl knows about a capture beside the archive.
#[derive(Clone, Debug)]
pub(crate) enum Hint {
    /// It is a visit to the page with this number, which was handed out for it.
    Page(Number),
    /// It is a robots file that names these sitemaps.
    Robots(Vec<FoundUrl>),
    /// Nothing is learned from it.
    Nothing,
}

impl<'a> FrontierStage<'a> {
    /// The stage of a frontier; `now` is the moment of its commits.
    #[must_use]
    pub fn new(frontier: &'a mut Frontier, options: &'a ReadOptions, now: Timestamp) -> Self {
        Self {
            frontier,
            options,
            parser: options.parser(),
            now,
            reader: None,
            taken_down: Vec::new(),
            fresh: None,
            older: BTreeSet::new(),
            hint: None,
            counts: FrontierCounts::default(),
        }
    }
    /// With the archive from which states of pages are computed again. A run over an archive needs it.
    #[must_use]
    pub fn over(self, reader: &'a Reader) -> Self {
        Self { reader: Some(reader), ..self }
    }
    /// With what makes the empty frontier that [`Stage::clear`] puts in its place. Without it, the stage is in use and
    /// cannot be cleared.
    #[must_use]
    pub fn with_fresh(self, fresh: impl FnMut() -> Result<Frontier, Error> + 'a) -> Self {
        Self { fresh: Some(Box::new(fresh)), ..self }
    }
    /// With what was taken down before.
    #[must_use]
    pub fn without(self, taken_down: Vec<Target>) -> Self {
        Self { taken_down, ..self }
    }
    /// With what the crawl knows of the next capture.
    pub(crate) fn expecting(self, hint: Option<Hint>) -> Self {
        Self { hint, ..self }
    }
    pub(crate) fn counts(&self) -> FrontierCounts {
        self.counts
    }

    fn learn(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        match (self.hint.take(), arrival.url()) {
            (Some(Hint::Page(number)), Some(url)) => self.learn_visit(url, number, arrival),
            (Some(Hint::Robots(sitemaps)), _) => Ok(self.frontier.found(&sitemaps, arrival.entry().at)?),
            (Some(_), _) => Ok(()),
            (None, None) => self.learn_note(arrival),
            (None, Some(url)) if url.target() == "/robots.txt" => self.learn_robots(url, arrival),
            (None, Some(url)) => self.learn_page(url, arrival),
        }
    }
    fn learn_note(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        let Some((kind, text)) = arrival.note()? else { return Ok(()) };
        self.counts.noted = play_note(self.frontier, kind, text, arrival.entry().at)?;
        Ok(())
    }
    fn learn_robots(&mut self, url: &PageUrl, arrival: &Arrival<'_>) -> Result<(), Error> {
        let entry = arrival.entry();
        let is_file = entry.status.is_some_and(|status| (200..300).contains(&status));
        let Some(content) = arrival.content()?.filter(|_| is_file) else { return Ok(()) };
        let rules = RobotsRules::for_agent(content, &self.options.agent);
        Ok(self.frontier.found(&sitemaps(&rules, url), entry.at)?)
    }
    /// Learns from a visit of the running crawl.
    fn learn_visit(&mut self, url: &PageUrl, page: Number, arrival: &Arrival<'_>) -> Result<(), Error> {
        let place = arrival.checkpoint().to_string();
        if let Some(evidence) = self.evidence(url, arrival, place)? {
            self.frontier.learn(&evidence.lesson(Some(page)))?;
        }
        Ok(())
    }
    /// Learns from a visit that the archive holds.
    fn learn_page(&mut self, url: &PageUrl, arrival: &Arrival<'_>) -> Result<(), Error> {
        let evidence = self.evidence(url, arrival, arrival.checkpoint().to_string())?;
        // If the record is damaged, the index still says which page it was. It can be visited again.
        self.make_known(url, arrival)?;
        let Some(evidence) = evidence else { return Ok(()) };
        let lesson = evidence.lesson(None);
        if self.frontier.learn(&lesson)? == LearnResult::Outdated {
            self.frontier.found(lesson.links, lesson.at)?;
            self.older.insert(evidence.url);
        }
        Ok(())
    }
    fn evidence(
        &self,
        url: &PageUrl,
        arrival: &Arrival<'_>,
        place: String,
    ) -> Result<Option<Evidence>, Error> {
        let Some(learned) = arrival.visit()?.cloned() else { return Ok(None) };
        let findings = match arrival.body()? {
            Some(body) => self.options.findings(url, arrival.head()?, Some(body)),
            None => crate::Findings::default(),
        };
        Ok(Some(Evidence { url: url.clone(), learned, findings, place }))
    }
    /// Ensures that a page is known. If no page led to it, it comes from an import, probably like others after it.
    fn make_known(&mut self, url: &PageUrl, arrival: &Arrival<'_>) -> Result<(), Error> {
        if self.frontier.knows(url)? {
            return Ok(());
        }
        self.frontier.know(&[])?;
        if self.frontier.knows(url)? {
            return Ok(());
        }
        let mut pages = vec![(url.clone(), arrival.entry().at)];
        for entry in arrival.following().filter(|entry| entry.is_visit()) {
            if let Ok(page) = PageUrl::parse(&entry.url)
                && !self.frontier.knows(&page)?
            {
                pages.push((page, entry.at));
            }
        }
        self.counts.foreign += pages.len() as u64;
        Ok(self.frontier.know(&pages)?)
    }

    /// Computes states of pages again from all of their captures (D4).
    fn refold_all(&mut self) -> Result<(), Error> {
        let Some(reader) = self.reader else { return Ok(()) };
        for url in std::mem::take(&mut self.older) {
            self.refold(reader, &url)?;
        }
        Ok(())
    }
    fn refold(&mut self, reader: &Reader, url: &PageUrl) -> Result<(), Error> {
        let (mut all, place) = (Vec::new(), self.frontier.place().to_owned());
        for entry in reader.newest_first(&url.key().into())? {
            // Damage was counted when the capture itself was taken.
            let arrival = Arrival::archived(entry?, reader, &self.parser);
            if let Some(url) = arrival.url() {
                all.extend(self.evidence(url, &arrival, place.clone())?);
            }
        }
        let lessons: Vec<Lesson<'_>> = all.iter().rev().map(|evidence| evidence.lesson(None)).collect();
        self.frontier.refold(&lessons)?;
        self.counts.refolded += 1;
        Ok(())
    }
    fn store(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.refold_all()?;
        self.frontier.pass(&checkpoint.to_string());
        Ok(self.frontier.commit(self.now)?)
    }
}

impl Stage for FrontierStage<'_> {
    fn name(&self) -> &'static str {
        NAME
    }
    fn checkpoint(&self) -> Result<Option<Checkpoint>, stage::Error> {
        stage::parse_checkpoint(NAME, self.frontier.place())
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), stage::Error> {
        self.learn(arrival)?;
        // Only now: commits on the way belong to the checkpoint before.
        self.frontier.pass(&arrival.checkpoint().to_string());
        Ok(())
    }
    fn commit(&mut self, checkpoint: &Checkpoint) -> Result<(), stage::Error> {
        Ok(self.store(checkpoint)?)
    }
    fn sync(&mut self) -> Result<(), stage::Error> {
        self.frontier.commit_durably(self.now).map_err(Error::from)?;
        Ok(())
    }
    /// The pages stay known, and are not visited again. A frontier that is opened asks the archive what was taken down.
    fn take_down(&mut self, target: &Target) -> Result<u64, stage::Error> {
        self.taken_down.push(target.clone());
        exclude(self.frontier, self.taken_down.clone());
        let holds = |key: &str| target.holds(&archive::Key::from_stored(key));
        Ok(self.frontier.count_pages(holds).map_err(Error::from)?)
    }
    fn clear(&mut self) -> Result<(), stage::Error> {
        let fresh = self.fresh.as_mut().ok_or(stage::Error::InUse { stage: NAME })?;
        *self.frontier = fresh()?;
        self.older.clear();
        Ok(())
    }
}

/// Makes the frontier leave out what was taken down (D13).
pub(crate) fn exclude(frontier: &mut Frontier, taken_down: Vec<Target>) {
    if !taken_down.is_empty() {
        frontier.exclude(Box::new(move |key| {
            let key = archive::Key::from_stored(key);
            taken_down.iter().any(|target| target.holds(&key))
        }));
    }
}
