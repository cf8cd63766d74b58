//! The schedule of a data directory, opened: frontier, archive and what they are read with.

use super::directory::{Directory, Web, Writer};
use super::door::{self, product_token};
use crate::commands::Context;
use crate::config::{Config, SETTINGS};
use crate::exit::Advised;
use crate::words::count_of;
use ::crawl::{DerivedStage, Learning, Progress, ReadOptions};
use anyhow::Context as _;
use archive::{Archive, Entry, Key, Reader, Target};
use base::clock::{Clock as _, CrawlClock, RealClock, Start};
use base::disk::RealDisk;
use base::{Interval, PageUrl, Timestamp};
use frontier::{Frontier, Mode, Policy, Scope, Settings};
use std::path::Path;
use std::sync::Arc;

/// What a note of settings is called in the archive (D3).
const SETTINGS_NOTE: &str = "settings";
/// What notes of added pages are about.
const ADDED: &str = "urn:utsushi:note:add";
/// How often a page of the simulated web is seen: one looks at it for minutes.
const SIMULATED_EVERY: Interval = Interval::from_minutes(8);

/// What a crawl, or a question to one, works with.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The archive, to write to.
    pub(crate) archive: Archive,
    /// The archive as it was when this was opened.
    pub(crate) reader: Reader,
    /// Where languages, titles and the like are noted.
    pub(crate) derived: Option<DerivedStage>,
    /// Which page comes next.
    pub(crate) frontier: Frontier,
    /// How bodies are read.
    pub(crate) reads: ReadOptions,
    /// What tells the time of the schedule.
    pub(crate) clock: Arc<CrawlClock>,
    /// How many damaged captures were passed over while the schedule caught up with the archive.
    pub(crate) damaged: u64,
}

impl Context {
    /// Opens archive and schedule of a directory that this process writes to, whose time runs `pace` times as fast as the
    /// world's. What arrived since is learned first.
    pub(crate) fn open_schedule(&self, writer: &Writer, pace: u32) -> anyhow::Result<Opened> {
        let policy = policy(&self.config, writer.directory().format().web);
        let archive = self.archive(writer, RealClock::start().now())?;
        let reader =
            Reader::open(Arc::new(RealDisk), &writer.archive_path()).context("cannot read the archive")?;
        let data = writer.directory().path();
        let mut settings = settings(&self.config, writer.directory())?;
        noted_seeds(&reader, &mut settings.scope).context("cannot read which pages were added")?;
        let reads = reads(&self.config, writer.directory().format().web);
        let store = self.open_store(data)?;
        let clock = self.clock(writer.directory(), &reader, &store, pace)?;
        let taken_down = archive.taken_down().cloned().collect();
        let parts = (settings, policy);
        let mut derived = open_derived(&writer.archive_path());
        let stages = (store, derived.as_mut());
        let (frontier, learning) = self.learn(stages, (taken_down, &reader), parts, &reads, clock.now())?;
        self.tell_learned(&learning);
        let damaged = learning.damaged;
        Ok(Opened { archive, reader, derived, frontier, reads, clock, damaged })
    }

    /// The time of a schedule goes on where it was (D16). That of the simulated web may lie ahead of ours.
    pub(crate) fn clock(
        &self,
        directory: &Directory,
        reader: &Reader,
        store: &sat::Store,
        pace: u32,
    ) -> anyhow::Result<Arc<CrawlClock>> {
        let is_public = directory.format().web == Web::Public;
        let last = if is_public {
            Frontier::latest(store)
        } else {
            let last = reader.summary().context("cannot read the archive")?.last;
            last.map(|last| last.plus(Interval::from_micros(1)))
        };
        let (clock, start) = CrawlClock::start(last, pace);
        match start {
            Start::WallBehind(by) if is_public => self.output.complaint(format!(
                "the clock of this machine lies {by} before the crawl's last moment; the crawl keeps its own time"
            )),
            Start::WallBeyond(by) if is_public => self.output.complaint(format!(
                "the clock of this machine lies {by} after the crawl's last moment, which is not believed; the crawl keeps its own time"
            )),
            _ => {}
        }
        Ok(clock)
    }

    /// Opens the store of the schedule below `data`, which is made if there is none.
    pub(crate) fn open_store(&self, data: &Path) -> anyhow::Result<sat::Store> {
        let options = self.store_options(RealClock::start().now());
        let store = sat::Store::open(Arc::new(RealDisk), &data.join(crawl::FRONTIER), options);
        store.map_err(|error| unopened(error.into()))
    }

    /// Opens the schedule over a store, and lets it, and the derived table if there is one, catch up with the archive.
    pub(crate) fn learn(
        &self,
        (store, derived): (sat::Store, Option<&mut DerivedStage>),
        (taken_down, reader): (Vec<Target>, &Reader),
        parts: (Settings, Policy),
        reads: &ReadOptions,
        now: Timestamp,
    ) -> anyhow::Result<(Frontier, Learning)> {
        let progress = self.output.progress("captures learned from", None);
        let told = |learning: &Progress| progress.set(learning.captures, "");
        let catch_up = crawl::CatchUp { reader, derived, options: reads, now };
        let learned = crawl::open_frontier(store, parts, taken_down, catch_up, told);
        let (mut frontier, learning) = learned.map_err(unopened)?;
        drop(progress);
        // What was found on the way is known from here on, also to whoever only asks.
        frontier.settle(now).map_err(|error| unopened(error.into()))?;
        Ok((frontier, learning))
    }

    /// Says from how many captures a schedule has learned, and how many were damaged.
    pub(crate) fn tell_learned(&self, learning: &Learning) {
        if learning.captures > 0 {
            self.output.note(format!("the schedule learned from {}", count_of(learning.captures, "capture")));
        }
        if learning.damaged > 0 {
            self.output.complaint(format!(
                "{} passed over; `utsushi verify` lists the damage, and `utsushi rebuild index --deep` removes damaged records \
                 from the index",
                count_of(learning.damaged, "damaged capture")
            ));
        }
    }

    pub(super) fn store_options(&self, now: Timestamp) -> sat::Options {
        let store = &self.config.store;
        let mut options = frontier::store_options(now);
        options.pool_bytes = store.pool_bytes;
        options.log_bytes = store.log_bytes;
        options.segment_bytes = store.segment_bytes;
        options
    }

    /// Notes the settings of the crawl in the archive, if they differ from those of last time. What follows from them is
    /// noted as it is in effect.
    pub(crate) fn note_settings(
        &self,
        archive: &mut Archive,
        reader: &Reader,
        web: Web,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let is_of_crawl = |key: &str| {
            key.starts_with("crawl.") || key.starts_with("filter.") || key == "fetch.allow_addresses"
        };
        let mut config = self.config.clone();
        config.crawl.every = policy(&self.config, web).every;
        let shown = SETTINGS.iter().filter(|setting| is_of_crawl(setting.key));
        let text: String =
            shown.map(|setting| format!("{} = {}\n", setting.key, (setting.show)(&config))).collect();
        let key = Key::of(&format!("urn:utsushi:note:{SETTINGS_NOTE}"));
        let last = reader.newest_first(&key)?.next().transpose()?;
        let last = last.map(|entry| sound_note(reader, &entry)).transpose()?.flatten();
        if last.is_none_or(|(_, before)| before != text) {
            archive.note(SETTINGS_NOTE, now, &text)?;
            archive.commit()?;
        }
        Ok(())
    }
}

/// Opens the derived table. A crawl goes on without it.
fn open_derived(archive: &Path) -> Option<DerivedStage> {
    let opened = DerivedStage::open(Arc::new(RealDisk), archive);
    let opened = opened.inspect_err(|error| tracing::warn!(%error, "languages and titles are not stored"));
    opened.ok().map(DerivedStage::optional)
}

/// The policy for a web, as the configuration names it.
pub(crate) fn policy(config: &Config, web: Web) -> Policy {
    let every = match web {
        Web::Public => config.crawl.every,
        Web::Simulated => config.crawl.every.min(SIMULATED_EVERY),
    };
    Policy { every, counts_new: config.crawl.budget_counts_new, ..config.crawl.policy }
}

/// How the frontier behaves by the configuration.
pub(crate) fn settings(config: &Config, directory: &Directory) -> anyhow::Result<Settings> {
    let data = directory.path();
    // The simulated web is small, and all of it belongs to the crawl, whatever asks about it.
    let mode = match directory.format().web {
        Web::Public => config.crawl.scope,
        Web::Simulated => Mode::Any,
    };
    let crawl = &config.crawl;
    let limit = |most: u64| (most > 0).then_some(most);
    Ok(Settings {
        seed: crawl.seed,
        agent: product_token(&config.fetch.agent).to_owned(),
        pause: crawl.pause,
        agreed: crawl.agreed.iter().map(|agreement| agreement.agreed.clone()).collect(),
        scope: Scope::new(mode, crawl.rules.clone()),
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

/// How bodies are read by the configuration. The simulated web is looked at for minutes, which are for its pages.
pub(crate) fn reads(config: &Config, web: Web) -> ReadOptions {
    let filter = &config.filter;
    let filter = crawl::Filter {
        languages: filter.languages.iter().map(|code| code.0).collect(),
        types: filter.types.iter().map(|range| range.prefix().to_owned()).collect(),
        size_max: Some(filter.size_max),
        no_adult: filter.drops_adult,
    };
    let agent = product_token(&config.fetch.agent).into();
    let requisites = config.crawl.requisites && web == Web::Public;
    ReadOptions { agent, requisites, filter: Arc::new(filter) }
}

/// What lies around pages that were added earlier belongs to the crawl, too.
pub(super) fn noted_seeds(reader: &Reader, scope: &mut Scope) -> Result<(), archive::Error> {
    for entry in reader.newest_first(&Key::of(ADDED))? {
        let Some((_, text)) = sound_note(reader, &entry?)? else { continue };
        let urls = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2));
        urls.filter_map(|url| PageUrl::parse(url).ok()).for_each(|seed| scope.add_seed(&seed));
    }
    Ok(())
}

/// The kind and the text of a note; nothing when its record is damaged.
fn sound_note(reader: &Reader, entry: &Entry) -> Result<Option<(String, String)>, archive::Error> {
    match reader.note(entry) {
        Err(error @ archive::Error::Damaged { .. }) => {
            tracing::warn!(%error, "a damaged note is passed over");
            Ok(None)
        }
        note => note,
    }
}

/// The schedule can be rebuilt from the archive, but not the archive from the schedule.
pub(super) fn unopened(error: crawl::Error) -> anyhow::Error {
    match error {
        crawl::Error::Archive(error) => {
            anyhow::Error::new(error).context("cannot read the archive for the schedule")
        }
        error => {
            let advice =
                "run `utsushi rebuild frontier`, which rebuilds it from the archive; nothing is lost";
            Advised::new("cannot open the schedule", advice, error).into()
        }
    }
}
