//! Every setting: its key, how it is parsed and how it is shown.

use super::Config;
use super::value::{
    Entry, NameServer, Unfit, agent, bytes, contact, file, flag, header_text, interval, list, log_filter,
    log_form, optional_socket, policy, proxy, sentences, socket, whole, word,
};
use base::Interval;
use base::limits::{BODY_BYTES_MAX, DECODED_BYTES_MAX, REVISIT_INTERVAL_MAX, SERVER_PAUSE_MAX};
use fetch::{Certificates, Roots};
use frontier::Mode;
use std::ops::RangeInclusive;
use std::path::Path;
use toml::de::DeValue;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;
/// A thousand servers with one request every ten seconds need less than a hundredth of it.
const REQUESTS_PER_DAY_MAX: u64 = 1_000_000_000;

/// The minimum average time between two visits of a page.
const EVERY_MIN: Interval = Interval::from_minutes(1);

/// The settings in the order of `default.toml`.
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "crawl.pause",
        take: |c, v| interval(v, Interval::from_seconds(1)..=SERVER_PAUSE_MAX).map(|t| c.crawl.pause = t),
        show: |c| quoted(c.crawl.pause),
    },
    Setting {
        key: "crawl.connections_max",
        take: |c, v| whole(v, 1..=4096).map(|n| c.crawl.connections_max = n),
        show: |c| c.crawl.connections_max.to_string(),
    },
    Setting {
        key: "crawl.opt_out",
        take: |c, v| file(v).map(|f| c.crawl.opt_out = f),
        show: |c| quoted(c.crawl.opt_out.as_deref().unwrap_or(Path::new("")).display()),
    },
    Setting {
        key: "crawl.scope",
        take: |c, v| word(v, &Mode::ALL.map(|mode| (mode.as_str(), mode))).map(|m| c.crawl.scope = m),
        show: |c| quoted(c.crawl.scope),
    },
    Setting {
        key: "crawl.rules",
        take: |c, v| sentences(v, "sentences such as \"never visit ending .zip\"").map(|l| c.crawl.rules = l),
        show: |c| quoted_list(&c.crawl.rules),
    },
    Setting {
        key: "crawl.agreed",
        take: |c, v| {
            sentences(v, "exceptions such as \"www.example.jp pause=1s width=2\"").map(|l| c.crawl.agreed = l)
        },
        show: |c| quoted_list(&c.crawl.agreed),
    },
    Setting {
        key: "crawl.aliases",
        take: |c, v| {
            sentences(v, "names such as \"www.example.jp = example.jp\"").map(|l| c.crawl.aliases = l)
        },
        show: |c| quoted_list(&c.crawl.aliases),
    },
    Setting {
        key: "crawl.detect_aliases",
        take: |c, v| flag(v).map(|b| c.crawl.detect_aliases = b),
        show: |c| c.crawl.detect_aliases.to_string(),
    },
    Setting {
        key: "crawl.requisites",
        take: |c, v| flag(v).map(|b| c.crawl.requisites = b),
        show: |c| c.crawl.requisites.to_string(),
    },
    Setting {
        key: "crawl.policy",
        take: |c, v| policy(v).map(|p| c.crawl.policy = p),
        show: |c| quoted(c.crawl.policy),
    },
    Setting {
        key: "crawl.every",
        take: |c, v| interval(v, EVERY_MIN..=REVISIT_INTERVAL_MAX).map(|t| c.crawl.every = t),
        show: |c| quoted(c.crawl.every),
    },
    Setting {
        key: "crawl.budget_counts_new",
        take: |c, v| flag(v).map(|b| c.crawl.budget_counts_new = b),
        show: |c| c.crawl.budget_counts_new.to_string(),
    },
    Setting {
        key: "crawl.requests_per_day_max",
        take: |c, v| whole(v, 0..=REQUESTS_PER_DAY_MAX).map(|n| c.crawl.requests_per_day_max = n),
        show: |c| c.crawl.requests_per_day_max.to_string(),
    },
    Setting {
        key: "crawl.bytes_per_day_max",
        take: |c, v| bytes(v, 0..=64 * 1024 * GIB).map(|n| c.crawl.bytes_per_day_max = n),
        show: |c| c.crawl.bytes_per_day_max.to_string(),
    },
    Setting {
        key: "crawl.server_requests_per_day_max",
        take: |c, v| whole(v, 0..=REQUESTS_PER_DAY_MAX).map(|n| c.crawl.server_requests_per_day_max = n),
        show: |c| c.crawl.server_requests_per_day_max.to_string(),
    },
    Setting {
        key: "crawl.server_bytes_per_day_max",
        take: |c, v| bytes(v, 0..=64 * 1024 * GIB).map(|n| c.crawl.server_bytes_per_day_max = n),
        show: |c| c.crawl.server_bytes_per_day_max.to_string(),
    },
    Setting {
        key: "crawl.server_pages_max",
        take: |c, v| whole(v, 1..=1_000_000_000).map(|n| c.crawl.server_pages_max = n),
        show: |c| c.crawl.server_pages_max.to_string(),
    },
    Setting {
        key: "crawl.detect_traps",
        take: |c, v| flag(v).map(|b| c.crawl.detect_traps = b),
        show: |c| c.crawl.detect_traps.to_string(),
    },
    Setting {
        key: "crawl.spare_dead",
        take: |c, v| flag(v).map(|b| c.crawl.spare_dead = b),
        show: |c| c.crawl.spare_dead.to_string(),
    },
    Setting {
        key: "crawl.queue_bytes_max",
        take: |c, v| memory(v, MIB..=64 * GIB).map(|n| c.crawl.queue_bytes_max = n),
        show: |c| c.crawl.queue_bytes_max.to_string(),
    },
    Setting {
        key: "crawl.seed",
        take: |c, v| whole(v, 0..=i64::MAX.unsigned_abs()).map(|n| c.crawl.seed = n),
        show: |c| c.crawl.seed.to_string(),
    },
    Setting {
        key: "fetch.agent",
        take: |c, v| agent(v).map(|t| c.fetch.agent = t),
        show: |c| quoted(&c.fetch.agent),
    },
    Setting {
        key: "fetch.contact",
        take: |c, v| contact(v).map(|t| c.fetch.contact = t),
        show: |c| quoted(c.fetch.contact.as_deref().unwrap_or_default()),
    },
    Setting {
        key: "fetch.accept_language",
        take: |c, v| header_text(v).map(|t| c.fetch.accept_language = t),
        show: |c| quoted(&c.fetch.accept_language),
    },
    Setting {
        key: "fetch.allow_addresses",
        take: |c, v| list(v, "address ranges such as \"10.0.0.0/8\"").map(|l| c.fetch.allow_addresses = l),
        show: |c| quoted_list(&c.fetch.allow_addresses),
    },
    Setting {
        key: "fetch.dns_servers",
        take: |c, v| {
            let servers = list(v, "addresses such as \"192.0.2.53\" or \"192.0.2.53:5353\"")?;
            c.fetch.dns_servers = servers.into_iter().map(|NameServer(address)| address).collect();
            Ok(())
        },
        show: |c| quoted_list(&c.fetch.dns_servers),
    },
    Setting {
        key: "fetch.proxy",
        take: |c, v| proxy(v).map(|p| c.fetch.proxy = p),
        show: |c| quoted(c.fetch.proxy.as_ref().map(ToString::to_string).unwrap_or_default()),
    },
    Setting {
        key: "fetch.roots",
        take: |c, v| {
            word(v, &[("bundled", Roots::Bundled), ("system", Roots::System)]).map(|r| c.fetch.roots = r)
        },
        show: |c| quoted(if c.fetch.roots == Roots::System { "system" } else { "bundled" }),
    },
    Setting {
        key: "fetch.certificates",
        take: |c, v| {
            let words = [("strict", Certificates::Strict), ("marked", Certificates::Marked)];
            word(v, &words).map(|w| c.fetch.certificates = w)
        },
        show: |c| quoted(if c.fetch.certificates == Certificates::Marked { "marked" } else { "strict" }),
    },
    Setting {
        key: "fetch.body_bytes_max",
        take: |c, v| memory(v, MIB / 2..=BODY_BYTES_MAX as u64).map(|n| c.fetch.body_bytes_max = n),
        show: |c| c.fetch.body_bytes_max.to_string(),
    },
    Setting {
        key: "fetch.body_memory_bytes_max",
        take: |c, v| memory(v, MIB..=64 * GIB).map(|n| c.fetch.body_memory_bytes_max = n),
        show: |c| c.fetch.body_memory_bytes_max.to_string(),
    },
    Setting {
        key: "fetch.body_disk_bytes_max",
        take: |c, v| memory(v, MIB..=1024 * GIB).map(|n| c.fetch.body_disk_bytes_max = n),
        show: |c| c.fetch.body_disk_bytes_max.to_string(),
    },
    Setting {
        key: "filter.languages",
        take: |c, v| sentences(v, "language codes such as \"ja\"").map(|l| c.filter.languages = l),
        show: |c| quoted_list(&c.filter.languages),
    },
    Setting {
        key: "filter.adult",
        take: |c, v| word(v, &[("keep", false), ("drop", true)]).map(|drops| c.filter.drops_adult = drops),
        show: |c| quoted(if c.filter.drops_adult { "drop" } else { "keep" }),
    },
    Setting {
        key: "filter.types",
        take: |c, v| {
            sentences(v, "media types such as \"text/html\" or \"image/*\"").map(|l| c.filter.types = l)
        },
        show: |c| quoted_list(&c.filter.types),
    },
    Setting {
        key: "filter.size_max",
        take: |c, v| bytes(v, 1024..=BODY_BYTES_MAX as u64).map(|n| c.filter.size_max = n),
        show: |c| c.filter.size_max.to_string(),
    },
    Setting {
        key: "archive.file_bytes_max",
        take: |c, v| bytes(v, MIB..=64 * GIB).map(|n| c.archive.file_bytes_max = n),
        show: |c| c.archive.file_bytes_max.to_string(),
    },
    Setting {
        key: "archive.compression",
        take: |c, v| word(v, &[("gzip", false), ("zstd", true)]).map(|is_zstd| c.archive.is_zstd = is_zstd),
        show: |c| quoted(if c.archive.is_zstd { "zstd" } else { "gzip" }),
    },
    Setting {
        key: "archive.gzip_level",
        take: |c, v| whole(v, 1..=12).map(|n| c.archive.gzip_level = n),
        show: |c| c.archive.gzip_level.to_string(),
    },
    Setting {
        key: "archive.zstd_level",
        take: |c, v| whole(v, 1..=19).map(|n| c.archive.zstd_level = n),
        show: |c| c.archive.zstd_level.to_string(),
    },
    Setting {
        key: "archive.disk_free_bytes_min",
        take: |c, v| bytes(v, 0..=64 * 1024 * GIB).map(|n| c.archive.disk_free_bytes_min = n),
        show: |c| c.archive.disk_free_bytes_min.to_string(),
    },
    Setting {
        key: "archive.disk_free_percent_min",
        take: |c, v| whole(v, 0..=50).map(|n| c.archive.disk_free_percent_min = n),
        show: |c| c.archive.disk_free_percent_min.to_string(),
    },
    Setting {
        key: "store.pool_bytes",
        take: |c, v| memory(v, MIB..=64 * GIB).map(|n| c.store.pool_bytes = n),
        show: |c| c.store.pool_bytes.to_string(),
    },
    Setting {
        key: "store.log_bytes",
        take: |c, v| bytes(v, MIB..=4 * GIB).map(|n| c.store.log_bytes = n),
        show: |c| c.store.log_bytes.to_string(),
    },
    Setting {
        key: "store.segment_bytes",
        take: |c, v| {
            let number = bytes(v, MIB / 2..=GIB)?;
            c.store.segment_bytes = u32::try_from(number).unwrap_or(u32::MAX);
            Ok(())
        },
        show: |c| c.store.segment_bytes.to_string(),
    },
    Setting {
        key: "scan.jobs",
        take: |c, v| whole(v, 0..=1_024).map(|n| c.scan.jobs = n),
        show: |c| c.scan.jobs.to_string(),
    },
    Setting {
        key: "scan.progress_limit",
        take: |c, v| {
            interval(v, Interval::from_micros(100_000)..=Interval::from_days(1))
                .map(|t| c.scan.limits.progress = t.into())
        },
        show: |c| quoted(Interval::from(c.scan.limits.progress)),
    },
    Setting {
        key: "scan.document_limit",
        take: |c, v| {
            interval(v, Interval::from_micros(100_000)..=Interval::from_days(7))
                .map(|t| c.scan.limits.document = t.into())
        },
        show: |c| quoted(Interval::from(c.scan.limits.document)),
    },
    Setting {
        key: "scan.memory_bytes_max",
        take: |c, v| bytes(v, 16 * MIB..=1024 * GIB).map(|n| c.scan.limits.memory_bytes = n),
        show: |c| c.scan.limits.memory_bytes.to_string(),
    },
    Setting {
        key: "scan.processes_max",
        take: |c, v| whole(v, 1..=4_096).map(|n| c.scan.limits.processes = n),
        show: |c| c.scan.limits.processes.to_string(),
    },
    Setting {
        key: "scan.answer_bytes_max",
        take: |c, v| memory(v, 1024..=256 * MIB).map(|n| c.scan.limits.answer_bytes = n),
        show: |c| c.scan.limits.answer_bytes.to_string(),
    },
    Setting {
        key: "scan.document_bytes_max",
        take: |c, v| memory(v, 1024..=DECODED_BYTES_MAX as u64).map(|n| c.scan.limits.document_bytes = n),
        show: |c| c.scan.limits.document_bytes.to_string(),
    },
    Setting {
        key: "scan.scratch_bytes_max",
        take: |c, v| bytes(v, 0..=1024 * GIB).map(|n| c.scan.limits.file_bytes = n),
        show: |c| c.scan.limits.file_bytes.to_string(),
    },
    Setting {
        key: "scan.restart_every",
        take: |c, v| whole(v, 1..=1_000_000_000).map(|n| c.scan.restart_every = n),
        show: |c| c.scan.restart_every.to_string(),
    },
    Setting {
        key: "scan.strikes_max",
        take: |c, v| whole(v, 1..=100).map(|n| c.scan.strikes_max = n),
        show: |c| c.scan.strikes_max.to_string(),
    },
    Setting {
        key: "metrics.listen",
        take: |c, v| optional_socket(v).map(|at| c.metrics.listen = at),
        show: |c| quoted(c.metrics.listen.map(|at| at.to_string()).unwrap_or_default()),
    },
    Setting {
        key: "metrics.public",
        take: |c, v| flag(v).map(|is_so| c.metrics.is_public = is_so),
        show: |c| c.metrics.is_public.to_string(),
    },
    Setting {
        key: "guard.listen",
        take: |c, v| socket(v).map(|at| c.guard.listen = Some(at)),
        show: |c| quoted(c.guard.listen.map(|at| at.to_string()).unwrap_or_default()),
    },
    Setting {
        key: "guard.pause",
        take: |c, v| {
            interval(v, Interval::from_seconds(1)..=SERVER_PAUSE_MAX).map(|t| c.guard.limits.pause = t.into())
        },
        show: |c| quoted(Interval::from(c.guard.limits.pause)),
    },
    Setting {
        key: "guard.wait_max",
        take: |c, v| {
            interval(v, Interval::from_seconds(1)..=Interval::from_minutes(10))
                .map(|t| c.guard.limits.wait_max = t.into())
        },
        show: |c| quoted(Interval::from(c.guard.limits.wait_max)),
    },
    Setting {
        key: "guard.allow_addresses",
        take: |c, v| {
            list(v, "address ranges, such as [\"192.168.7.0/24\", \"fd00::/8\"]")
                .map(|blocks| c.guard.allow_addresses = blocks)
        },
        show: |c| {
            let blocks: Vec<String> = c.guard.allow_addresses.iter().map(quoted).collect();
            format!("[{}]", blocks.join(", "))
        },
    },
    Setting {
        key: "guard.server_requests_per_day",
        take: |c, v| whole(v, 1..=1_000_000).map(|n| c.guard.limits.server_requests_per_day = n),
        show: |c| c.guard.limits.server_requests_per_day.to_string(),
    },
    Setting {
        key: "guard.address_requests_per_day",
        take: |c, v| whole(v, 1..=1_000_000).map(|n| c.guard.limits.address_requests_per_day = n),
        show: |c| c.guard.limits.address_requests_per_day.to_string(),
    },
    Setting {
        key: "guard.address_bytes_per_day",
        take: |c, v| bytes(v, MIB..=64 * 1024 * GIB).map(|n| c.guard.limits.address_bytes_per_day = n),
        show: |c| c.guard.limits.address_bytes_per_day.to_string(),
    },
    Setting {
        key: "guard.bytes_per_day",
        take: |c, v| bytes(v, MIB..=64 * 1024 * GIB).map(|n| c.guard.limits.bytes_per_day = n),
        show: |c| c.guard.limits.bytes_per_day.to_string(),
    },
    Setting {
        key: "guard.clients_max",
        take: |c, v| whole(v, 1..=4096).map(|n| c.guard.limits.clients_max = n),
        show: |c| c.guard.limits.clients_max.to_string(),
    },
    Setting {
        key: "guard.tunnel_bytes_max",
        take: |c, v| bytes(v, MIB..=64 * GIB).map(|n| c.guard.limits.tunnel_bytes_max = n),
        show: |c| c.guard.limits.tunnel_bytes_max.to_string(),
    },
    Setting {
        key: "guard.tunnel_time_max",
        take: |c, v| {
            interval(v, Interval::from_seconds(10)..=Interval::from_days(1))
                .map(|t| c.guard.limits.tunnel_time_max = t.into())
        },
        show: |c| quoted(Interval::from(c.guard.limits.tunnel_time_max)),
    },
    Setting {
        key: "guard.tunnel_idle_max",
        take: |c, v| {
            interval(v, Interval::from_seconds(1)..=Interval::from_hours(1))
                .map(|t| c.guard.limits.tunnel_idle_max = t.into())
        },
        show: |c| quoted(Interval::from(c.guard.limits.tunnel_idle_max)),
    },
    Setting {
        key: "sim.pages",
        take: |c, v| whole(v, 1..=1_000_000_000).map(|n| c.sim.pages = n),
        show: |c| c.sim.pages.to_string(),
    },
    Setting {
        key: "sim.servers",
        take: |c, v| whole(v, 1..=1_000_000).map(|n| c.sim.servers = n),
        show: |c| c.sim.servers.to_string(),
    },
    Setting {
        key: "sim.seed",
        // The maximum that TOML can represent: its whole numbers are signed.
        take: |c, v| whole(v, 0..=i64::MAX.unsigned_abs()).map(|n| c.sim.seed = n),
        show: |c| c.sim.seed.to_string(),
    },
    Setting {
        key: "log.level",
        take: |c, v| log_filter(v).map(|f| c.log.level = f),
        show: |c| quoted(&c.log.level),
    },
    Setting {
        key: "log.format",
        take: |c, v| log_form(v).map(|f| c.log.format = f),
        show: |c| quoted(c.log.format),
    },
];

/// One setting.
pub struct Setting {
    /// Section and name, separated by a dot.
    pub key: &'static str,
    take: fn(&mut Config, &DeValue<'_>) -> Result<(), Unfit>,
    /// The value as TOML.
    pub show: fn(&Config) -> String,
}

impl Setting {
    /// Puts the value of `entry` into `config`; returns the key, or what is wrong with the value.
    pub(super) fn apply(&self, config: &mut Config, entry: &Entry<'_>) -> Result<&'static str, String> {
        let (key, given) = (self.key, &entry.source);
        (self.take)(config, entry.value.get_ref()).map(|()| key).map_err(|unfit| match unfit {
            Unfit::Type(allowed) => format!("`{key}` is {allowed}; `{given}` is {}", entry.type_name()),
            Unfit::Value(allowed) => format!("`{key}` cannot be `{given}`; it is {allowed}"),
            Unfit::Entry(why) => format!("`{key}`: {why}"),
        })
    }
}

#[cfg(test)]
impl Setting {
    /// What the value may be, in words.
    pub(super) fn allowed(&self) -> String {
        let wrong = toml::de::DeTable::parse("x = 1.5").unwrap();
        let unfit = (self.take)(&mut Config::default(), wrong.get_ref()["x"].get_ref()).unwrap_err();
        let (Unfit::Type(allowed) | Unfit::Value(allowed) | Unfit::Entry(allowed)) = unfit;
        allowed
    }
}

/// The setting with this key, or a sentence that names the nearest one.
pub(super) fn find(key: &str) -> Result<&'static Setting, String> {
    SETTINGS.iter().find(|setting| setting.key == key).ok_or_else(|| {
        let shown = base::printable(key);
        match nearest(key) {
            Some(near) => format!("there is no setting `{shown}`; did you mean `{near}`?"),
            None => format!("there is no setting `{shown}`"),
        }
    })
}

/// The known key most similar to `key`: as a whole, or by its name in another section.
fn nearest(key: &str) -> Option<&'static str> {
    let name = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let distance = |known: &str| {
        let whole = strsim::damerau_levenshtein(key, known);
        whole.min(strsim::damerau_levenshtein(&name(key), &name(known)) + 1)
    };
    let (steps, near) = SETTINGS.iter().map(|setting| (distance(setting.key), setting.key)).min()?;
    (steps * 2 <= key.chars().count()).then_some(near)
}

/// A number of bytes that fit into memory.
fn memory(value: &DeValue<'_>, range: RangeInclusive<u64>) -> Result<usize, Unfit> {
    bytes(value, range).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn quoted_list<T: std::fmt::Display>(values: &[T]) -> String {
    format!("[{}]", values.iter().map(quoted).collect::<Vec<_>>().join(", "))
}

fn quoted(value: impl std::fmt::Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}
