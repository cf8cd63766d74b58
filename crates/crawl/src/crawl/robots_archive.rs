//! Robots files that the archive has, so that they need not be fetched again after a restart (D3).

use super::error::Error;
use crate::note::is_robots;
use crate::recall::recall_robots;
use archive::Reader;
use base::{PageUrl, Timestamp};
use robots::{Need, Standing};
use std::collections::HashSet;
use std::sync::Arc;

pub(super) struct RobotsArchive {
    /// The archive as it was when the crawl began.
    reader: Reader,
    agent: Arc<str>,
    /// Robots files that were looked for. Each is looked for once.
    asked: HashSet<PageUrl>,
}

impl RobotsArchive {
    pub(super) fn new(reader: Reader, agent: Arc<str>) -> Self {
        Self { reader, agent, asked: HashSet::new() }
    }

    /// What the archive knows of a robots file, if that makes the request unnecessary.
    pub(super) fn find(&mut self, url: &PageUrl, now: Timestamp) -> Result<Option<Standing>, Error> {
        if !is_robots(url) || !self.asked.insert(url.clone()) {
            return Ok(None);
        }
        let known = recall_robots(&self.reader, &self.agent, [url.clone()])?;
        let standing = known.into_iter().next().map(|(_, standing)| standing);
        Ok(standing.filter(|standing| match standing.needs(now) {
            // It may be available by now.
            Need::Unreachable(_) => false,
            // A redirect that is known is not requested again, only its target.
            Need::Ask(place) => place != *url,
            _ => true,
        }))
    }
}
