//! An open schedule of a data directory: frontier, archive and their readers.

use crate::config::{Config, SETTINGS, product_token};
use crate::directory::{DataDirectory, DirectoryWriter, WebKind};
use crate::door;
use crate::error::Error;
use crate::monitor::{Activity, Notice};
use crate::node::Node;
use ::crawl::{DerivedStage, Learning, Progress, ReadOptions};
use archive::{Archive, Entry, Key, Reader, Target};
use base::clock::{Clock as _, CrawlClock, RealClock, Start};
use base::disk::RealDisk;
use base::{Interval, PageUrl, Timestamp};
use frontier::{CrawlScope, Frontier, Mode, RevisitPolicy, Settings};
use std::path::Path;
use std::sync::Arc;

/// The kind of a note of settings in the archive (D3).
const SETTINGS_NOTE: &str = "settings";
/// The URL of notes of added pages.
const ADDED: &str = "urn:utsushi:note:add";
/// The revisit interval of the simulated web, which people watch for minutes only.
const SIMULATED_EVERY: Interval = Interval::from_minutes(8);

/// The open parts of a schedule.
#[derive(Debug)]
pub struct OpenSchedule {
    /// The archive, to write to.
    pub archive: Archive,
    /// The archive as it was when this was opened.
    pub reader: Reader,
    /// Where languages, titles and types are written; `None` if that table cannot be opened.
    pub derived: Option<DerivedStage>,
    /// The frontier, which chooses the next page.
    pub frontier: Frontier,
    /// How bodies are read.
    pub reads: ReadOptions,
    /// The clock of the schedule.
    pub clock: Arc<CrawlClock>,
    /// Number of damaged captures that were skipped while the schedule caught up with the archive.
    pub damaged: u64,
}

impl Node {
    /// Opens archive and schedule of a directory that this process writes to. Its time runs `pace` times as fast as real
    /// time. The schedule first processes the captures that arrived since it was closed.
    pub fn open_schedule(&self, writer: &DirectoryWriter, pace: u32) -> Result<OpenSchedule, Error> {
        let policy = policy(&self.config, writer.directory().format().web);
        let archive = self.archive(writer, RealClock::start().now())?;
        let reader = Reader::open(Arc::new(RealDisk), &writer.archive_path())
            .map_err(Error::archive("read the archive"))?;
        let data = writer.directory().path();
        let mut settings = settings(&self.config, writer.directory())?;
        noted_seeds(&reader, &mut settings.scope).map_err(Error::archive("read which pages were added"))?;
        let reads = reads(&self.config, writer.directory().format().web);
        let store = self.open_store(data)?;
        let clock = self.clock(writer.directory(), &reader, &store, pace)?;
        let taken_down = archive.taken_down().cloned().collect();
        let parts = (settings, policy);
        let mut derived = open_derived(&writer.archive_path());
        let stages = (store, derived.as_mut());
        let (frontier, learning) = self.learn(stages, (taken_down, &reader), parts, &reads, clock.now())?;
        self.monitor.notice(&Notice::Learned(&learning));
        let damaged = learning.damaged;
        Ok(OpenSchedule { archive, reader, derived, frontier, reads, clock, damaged })
    }

    /// The clock of a schedule, which continues where it stopped (D16). One with its own time may be ahead of ours, and never
    /// starts before its latest capture.
    pub fn clock(
        &self,
        directory: &DataDirectory,
        reader: &Reader,
        store: &sat::Store,
        pace: u32,
    ) -> Result<Arc<CrawlClock>, Error> {
        let web = directory.format().web;
        let captured = if web.has_own_time() {
            let last = reader.summary().map_err(Error::archive("read the archive"))?.last;
            last.map(|last| last.plus(Interval::from_micros(1)))
        } else {
            None
        };
        let told = (web != WebKind::Simulated).then(|| Frontier::latest(store)).flatten();
        let last = captured.max(told);
        let (clock, start) = CrawlClock::start(last, pace);
        match start {
            Start::WallBehind(by) if !web.has_own_time() => self.monitor.notice(&Notice::ClockBehind(by)),
            Start::WallBeyond(by) if !web.has_own_time() => self.monitor.notice(&Notice::ClockAhead(by)),
            _ => {}
        }
        Ok(clock)
    }

    /// Opens the store of the schedule below `data`; it is created if there is none.
    pub fn open_store(&self, data: &Path) -> Result<sat::Store, Error> {
        let options = self.store_options(RealClock::start().now());
        let store = sat::Store::open(Arc::new(RealDisk), &data.join(crawl::FRONTIER), options);
        store.map_err(|error| unopened(error.into()))
    }

    /// Opens the schedule over a store, and lets it, and the derived table if there is one, catch up with the archive.
    pub fn learn(
        &self,
        (store, derived): (sat::Store, Option<&mut DerivedStage>),
        (taken_down, reader): (Vec<Target>, &Reader),
        parts: (Settings, RevisitPolicy),
        reads: &ReadOptions,
        now: Timestamp,
    ) -> Result<(Frontier, Learning), Error> {
        let meter = self.monitor.begin(Activity::Learning, None);
        let told = |progress: &Progress| meter.set(progress.captures, None);
        let learned = crawl::open_frontier(
            store,
            parts,
            taken_down,
            crawl::CatchUp { reader, derived, options: reads, now },
            told,
        );
        let (mut frontier, learning) = learned.map_err(unopened)?;
        drop(meter);
        // Links found meanwhile become known pages now, so that a reader sees them too.
        frontier.settle(now).map_err(|error| unopened(error.into()))?;
        Ok((frontier, learning))
    }

    pub(crate) fn store_options(&self, now: Timestamp) -> sat::Options {
        let store = &self.config.store;
        let mut options = frontier::store_options(now);
        options.pool_bytes = store.pool_bytes;
        options.log_bytes = store.log_bytes;
        options.segment_bytes = store.segment_bytes;
        options
    }

    /// Writes the settings of the crawl to the archive if they differ from the last ones there. Derived values are written
    /// as they are in effect.
    pub fn note_settings(
        &self,
        archive: &mut Archive,
        reader: &Reader,
        web: WebKind,
        now: Timestamp,
    ) -> Result<(), Error> {
        let is_of_crawl = |key: &str| {
            key.starts_with("crawl.") || key.starts_with("filter.") || key == "fetch.allow_addresses"
        };
        let mut config = self.config.clone();
        config.crawl.every = policy(&self.config, web).every;
        let shown = SETTINGS.iter().filter(|setting| is_of_crawl(setting.key));
        let text: String =
            shown.map(|setting| format!("{} = {}\n", setting.key, (setting.show)(&config))).collect();
        let key = Key::of(&format!("urn:utsushi:note:{SETTINGS_NOTE}"));
        let mut note = || -> Result<(), archive::Error> {
            let last = reader.newest_first(&key)?.next().transpose()?;
            let last = last.map(|entry| sound_note(reader, &entry)).transpose()?.flatten();
            if last.is_none_or(|(_, before)| before != text) {
                archive.note(SETTINGS_NOTE, now, &text)?;
                archive.commit()?;
            }
            Ok(())
        };
        note().map_err(Error::archive("note the settings in the archive"))
    }
}

/// Opens the derived table. A crawl continues without it.
fn open_derived(archive: &Path) -> Option<DerivedStage> {
    let opened = DerivedStage::open(Arc::new(RealDisk), archive);
    let opened = opened.inspect_err(|error| tracing::warn!(%error, "languages and titles are not stored"));
    opened.ok().map(DerivedStage::optional)
}

/// The policy for a web, as the configuration names it.
pub fn policy(config: &Config, web: WebKind) -> RevisitPolicy {
    let every = match web {
        WebKind::Public | WebKind::Accelerated => config.crawl.every,
        WebKind::Simulated => config.crawl.every.min(SIMULATED_EVERY),
    };
    RevisitPolicy { every, counts_new: config.crawl.budget_counts_new, ..config.crawl.policy }
}

/// The frontier's settings from the configuration.
pub fn settings(config: &Config, directory: &DataDirectory) -> Result<Settings, Error> {
    let data = directory.path();
    // The simulated web is small: all of it belongs to the crawl.
    let mode = match directory.format().web {
        WebKind::Public | WebKind::Accelerated => config.crawl.scope,
        WebKind::Simulated => Mode::Any,
    };
    let crawl = &config.crawl;
    let limit = |most: u64| (most > 0).then_some(most);
    Ok(Settings {
        seed: crawl.seed,
        agent: product_token(&config.fetch.agent).to_owned(),
        pause: crawl.pause,
        agreed: crawl.agreed.iter().map(|agreement| agreement.agreed.clone()).collect(),
        scope: CrawlScope::new(mode, crawl.rules.clone()),
        requisites: crawl.requisites,
        opt_out: door::opt_out(config, data)?,
        aliases: crawl.aliases.iter().map(|alias| (alias.other.clone(), alias.server.clone())).collect(),
        detects_aliases: crawl.detect_aliases,
        requests_per_day_max: limit(crawl.requests_per_day_max),
        bytes_per_day_max: limit(crawl.bytes_per_day_max),
        server_requests_per_day_max: limit(crawl.server_requests_per_day_max),
        server_bytes_per_day_max: limit(crawl.server_bytes_per_day_max),
        server_pages_max: crawl.server_pages_max,
        detects_traps: crawl.detect_traps,
        spares_dead: crawl.spare_dead,
        queue_bytes_max: crawl.queue_bytes_max,
        ..Settings::default()
    })
}

/// The settings for reading bodies from the configuration. A crawl of the simulated web is short and fetches no requisites.
pub fn reads(config: &Config, web: WebKind) -> ReadOptions {
    let filter = &config.filter;
    let filter = crawl::Filter {
        languages: filter.languages.iter().map(|code| code.0).collect(),
        types: filter.types.iter().map(|range| range.prefix().to_owned()).collect(),
        size_max: Some(filter.size_max),
        no_adult: filter.drops_adult,
    };
    let agent = product_token(&config.fetch.agent).into();
    let requisites = config.crawl.requisites && web != WebKind::Simulated;
    ReadOptions { agent, requisites, filter: Arc::new(filter) }
}

/// Adds the pages that were added earlier to the seeds of the scope.
pub(crate) fn noted_seeds(reader: &Reader, scope: &mut CrawlScope) -> Result<(), archive::Error> {
    for entry in reader.newest_first(&Key::of(ADDED))? {
        let Some((_, text)) = sound_note(reader, &entry?)? else { continue };
        let urls = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2));
        urls.filter_map(|url| PageUrl::parse(url).ok()).for_each(|seed| scope.add_seed(&seed));
    }
    Ok(())
}

/// The kind and the text of a note; `None` if its record is damaged.
fn sound_note(reader: &Reader, entry: &Entry) -> Result<Option<(String, String)>, archive::Error> {
    match reader.note(entry) {
        Err(error @ archive::Error::Damaged { .. }) => {
            tracing::warn!(%error, "skipped a damaged note");
            Ok(None)
        }
        note => note,
    }
}

/// The schedule can be rebuilt from the archive, but not the archive from the schedule.
pub(crate) fn unopened(error: crawl::Error) -> Error {
    match error {
        crawl::Error::Archive(source) => {
            Error::Archive { action: "read the archive for the schedule", source }
        }
        source => Error::Schedule { action: "open the schedule", source },
    }
}
