//! Sets up a crawl: door, schedule, stored settings, and what a changed configuration asks for.

use super::CrawlStart;
use crate::directory::{DirectoryWriter, WebKind};
use crate::door;
use crate::error::Error;
use crate::monitor::{Activity, Notice};
use crate::node::Node;
use crate::schedule::OpenSchedule;
use ::crawl::{Added, Progress, ReadOptions, Settings};
use base::PageUrl;
use base::clock::Clock as _;
use fetch::WebDoor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of captures between their visit and their sync, and of bytes of their bodies.
const CAPTURES_MAX: usize = 1_024;
const BYTES_MAX: u64 = 128 * 1024 * 1024;

/// A crawl as an operator asks for it. The rest is in the configuration.
#[derive(Clone, Debug, Default)]
pub struct CrawlPlan {
    /// Pages to begin with.
    pub seeds: Vec<PageUrl>,
    /// Number of archived pages after which it ends.
    pub pages_max: Option<u64>,
    /// Whether it ends when nothing new is left.
    pub once: bool,
    /// How many times as fast as real time its schedule runs, for servers of this machine alone (D16).
    pub accelerate: Option<u32>,
    /// The configuration file that was named, whose settings are stored.
    pub config_file: Option<PathBuf>,
}

/// A crawl that is set up.
#[derive(Debug)]
pub struct PreparedCrawl {
    /// What it begins with.
    pub start: CrawlStart<WebDoor>,
    /// How it goes.
    pub settings: Settings,
    /// Number of damaged captures that were skipped.
    pub damaged: u64,
}

impl CrawlPlan {
    /// The settings of the crawl.
    #[must_use]
    pub fn settings(&self, node: &Node, reads: ReadOptions) -> Settings {
        let connections_max = node.config.crawl.connections_max;
        Settings {
            reads,
            seeds: self.seeds.iter().cloned().map(Added::page).collect(),
            connections_max,
            captures_max: CAPTURES_MAX.max(2 * connections_max),
            bytes_max: BYTES_MAX,
            pages_max: self.pages_max,
            once: self.once,
        }
    }
}

impl Node {
    /// Checks what needs no data directory: without a contact only allowed addresses can be visited (D18), and metrics are not
    /// exposed by accident.
    pub fn check_crawl(&self) -> Result<(), Error> {
        let fetch = &self.config.fetch;
        if fetch.contact.is_none() && fetch.allow_addresses.is_empty() {
            return Err(Error::NoContact);
        }
        super::listen(self).map(drop)
    }

    /// The web that a crawl is of. A directory of an accelerated crawl never becomes one of the public web: its time is ahead.
    pub fn crawled_web(&self, accelerate: Option<u32>) -> Result<WebKind, Error> {
        let is_continued = self.web().is_ok_and(|web| web == WebKind::Accelerated);
        if accelerate.is_none() && !is_continued {
            return Ok(WebKind::Public);
        }
        door::check_loopback(&self.config)?;
        Ok(WebKind::Accelerated)
    }

    /// Sets up a crawl, stores the settings that define it, and notes them in the archive.
    pub fn prepare_crawl(
        &self,
        writer: &Arc<DirectoryWriter>,
        plan: &CrawlPlan,
    ) -> Result<PreparedCrawl, Error> {
        let (data, web) = (writer.directory().path(), writer.directory().format().web);
        let (door, pace) = (self.door(web, data)?, plan.accelerate.unwrap_or(1));
        let mut opened = self.open_schedule(writer, pace)?;
        if web == WebKind::Accelerated {
            self.monitor.notice(&Notice::OwnTime { now: opened.clock.now(), accelerate: plan.accelerate });
        }
        if plan.seeds.is_empty() && opened.frontier.pages() == 0 {
            return Err(Error::NoSeeds);
        }
        self.store_settings(plan.config_file.as_deref())?;
        let now = opened.clock.now();
        self.note_settings(&mut opened.archive, &opened.reader, web, now)?;
        self.judge_again(data, &mut opened)?;
        let (overview, pause) = (opened.frontier.overview(), self.config.crawl.pause);
        self.monitor.notice(&Notice::CrawlReady { overview: &overview, seeds: plan.seeds.len(), pause });
        let (settings, damaged) = (plan.settings(self, opened.reads.clone()), opened.damaged);
        let start = CrawlStart { writer: Arc::clone(writer), door, opened, pace };
        Ok(PreparedCrawl { start, settings, damaged })
    }

    /// The door to a web.
    fn door(&self, web: WebKind, data: &Path) -> Result<WebDoor, Error> {
        let settings = if web == WebKind::Accelerated { door::loopback_settings } else { door::settings };
        WebDoor::new(settings(&self.config, Some(data.to_owned()))?).map_err(Error::Door)
    }

    /// Stores the settings of this run in the data directory.
    fn store_settings(&self, named: Option<&Path>) -> Result<(), Error> {
        let stored = self.config.keep(&self.data, named);
        if let Some(path) = stored.map_err(Error::io("store the settings in", &self.data))? {
            self.monitor.notice(&Notice::SettingsStored(&path));
        }
        for (key, origin) in self.config.overridden() {
            self.monitor.notice(&Notice::SettingOverridden { key, origin });
        }
        Ok(())
    }

    /// Checks refused pages again whose reason may no longer hold, and links that were out of scope.
    fn judge_again(&self, data: &Path, opened: &mut OpenSchedule) -> Result<(), Error> {
        let fail = |action| move |source: frontier::Error| Error::Schedule { action, source: source.into() };
        let (frontier, now) = (&mut opened.frontier, opened.clock.now());
        let access = door::access(&self.config, data);
        let again = frontier.judge_again(&access, now).map_err(fail("check refused pages again"))?;
        if again > 0 {
            self.monitor.notice(&Notice::JudgedAgain(again));
        }
        if frontier.widens_scope().map_err(fail("store the scope"))? {
            let meter = self.monitor.begin(Activity::SearchingLinks, None);
            let told = |progress: &Progress| meter.set(progress.captures, None);
            let found = ::crawl::rediscover(frontier, &opened.reader, &opened.reads, now, told);
            let add = |source| Error::Schedule { action: "add links that are now in scope", source };
            found.map_err(add)?;
        }
        Ok(())
    }
}
