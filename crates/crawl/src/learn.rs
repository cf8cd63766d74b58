//! Runs the stages of a crawl over the archive: after a crash, after an import, or from the beginning.

use crate::Error;
use crate::derived_stage::DerivedStage;
use crate::evidence::visit_result;
use crate::findings::ReadOptions;
use crate::frontier_stage::FrontierStage;
use archive::{Checkpoint, Reader, Target};
use base::Timestamp;
use frontier::{FoundUrl, Frontier, VisitResult};
use stage::{Arrival, Progress, Runner, Stage};

/// What a frontier learned from an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learning {
    /// Captures that were processed.
    pub captures: u64,
    /// Pages that no page of ours had led to.
    pub foreign: u64,
    /// Pages whose state was computed again.
    pub refolded: u64,
    /// Captures whose record, or whose body, is damaged. They are passed over.
    pub damaged: u64,
}

/// Lets a frontier, and the derived table if there is one, process everything that arrived after their checkpoints. `tell`
/// gets the progress now and then.
///
/// # Errors
/// When the archive or a checkpoint cannot be read, or a store cannot be written.
pub fn learn_all(
    frontier: &mut Frontier,
    derived: Option<&mut DerivedStage>,
    reader: &Reader,
    options: &ReadOptions,
    now: Timestamp,
    tell: impl FnMut(&Progress),
) -> Result<Learning, Error> {
    let mut learner = FrontierStage::new(frontier, options, now).over(reader);
    let runner = Runner::new(reader.clone(), options.parser());
    let progress = match derived {
        Some(derived) => runner.catch_up(&mut [&mut learner, derived], tell)?,
        None => runner.catch_up(&mut [&mut learner], tell)?,
    };
    let (captures, damaged) = (progress.captures, progress.damaged);
    let counts = learner.counts();
    Ok(Learning { captures, foreign: counts.foreign, refolded: counts.refolded, damaged })
}

/// Rebuilds the derived table from the archive (D11). `tell` gets the progress now and then.
///
/// # Errors
/// When the archive cannot be read, or the table cannot be written.
pub fn rebuild_derived(
    table: &mut DerivedStage,
    reader: &Reader,
    options: &ReadOptions,
    tell: impl FnMut(&Progress),
) -> Result<Progress, Error> {
    Ok(Runner::new(reader.clone(), options.parser()).rebuild(&mut [table], tell)?)
}

/// Takes up links of archived pages again, for a crawl that goes further than before. `tell` gets the progress now and then.
///
/// # Errors
/// When the archive cannot be read, or the frontier's store cannot be written.
pub fn rediscover(
    frontier: &mut Frontier,
    reader: &Reader,
    options: &ReadOptions,
    now: Timestamp,
    tell: impl FnMut(&Progress),
) -> Result<Progress, Error> {
    let mut links = Rediscovery { frontier, options, now };
    Ok(Runner::new(reader.clone(), options.parser()).catch_up(&mut [&mut links], tell)?)
}

/// Offers the links of all archived pages to a frontier once. It has no checkpoint: every run begins at the beginning.
struct Rediscovery<'a> {
    frontier: &'a mut Frontier,
    options: &'a ReadOptions,
    now: Timestamp,
}

impl Rediscovery<'_> {
    fn offer(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        let Some(url) = arrival.url().filter(|url| url.target() != "/robots.txt") else { return Ok(()) };
        let Some(learned) = arrival.visit()? else { return Ok(()) };
        if let Some(body) = arrival.body()? {
            let findings = self.options.findings(url, arrival.head()?, Some(body));
            self.frontier.found(&findings.links, learned.at)?;
        }
        if let VisitResult::Moved { target: Some(target), .. } = visit_result(learned) {
            self.frontier.found(&[FoundUrl::page(target.clone())], learned.at)?;
        }
        Ok(())
    }
    fn settle(&mut self) -> Result<(), Error> {
        self.frontier.settle(self.now)?;
        Ok(self.frontier.commit(self.now)?)
    }
}

impl Stage for Rediscovery<'_> {
    fn name(&self) -> &'static str {
        "links"
    }
    fn checkpoint(&self) -> Result<Option<Checkpoint>, stage::Error> {
        Ok(None)
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), stage::Error> {
        Ok(self.offer(arrival)?)
    }
    fn commit(&mut self, _: &Checkpoint) -> Result<(), stage::Error> {
        self.frontier.commit(self.now).map_err(Error::from)?;
        Ok(())
    }
    fn sync(&mut self) -> Result<(), stage::Error> {
        Ok(self.settle()?)
    }
    fn take_down(&mut self, _: &Target) -> Result<u64, stage::Error> {
        Ok(0)
    }
    fn clear(&mut self) -> Result<(), stage::Error> {
        Ok(())
    }
}
