//! The door to the web as the configuration wants it.

use crate::config::Config;
use crate::exit::Advised;
use anyhow::Context as _;
use base::Interval;
use fetch::{AddressPolicy, Dns, ExchangeLimits, Resolver, Settings, dns};
use robots::OptOutList;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The list of who does not want to be visited, in a data directory.
pub(crate) const OPT_OUT: &str = "opt-out.txt";

/// The settings of a door to the public web, and to whatever else the configuration allows.
pub(crate) fn settings(config: &Config, spool: Option<PathBuf>) -> anyhow::Result<Settings> {
    let fetch = config.fetch.clone();
    let mut names = if fetch.dns_servers.is_empty() {
        dns::Settings::from_system().context("cannot read which name servers this system uses")?
    } else {
        dns::Settings::default()
    };
    if !fetch.dns_servers.is_empty() {
        names.servers = fetch.dns_servers;
    }
    Ok(Settings {
        user_agent: fetch.agent,
        contact: fetch.contact,
        accept_language: fetch.accept_language,
        roots: fetch.roots,
        certificates: fetch.certificates,
        resolver: Resolver::network(Dns::new(names)),
        addresses: AddressPolicy { public: true, allowed: fetch.allow_addresses },
        proxy: fetch.proxy,
        spool,
        limits: ExchangeLimits {
            body_bytes_max: fetch.body_bytes_max,
            body_memory_bytes_max: fetch.body_memory_bytes_max,
            body_disk_bytes_max: fetch.body_disk_bytes_max,
            ..ExchangeLimits::default()
        },
        ..Settings::default()
    })
}

/// The list of who does not want to be visited: the one that the configuration names, else the one in the data directory
/// if there is one. A list that cannot be read is never taken for an empty one.
pub(crate) fn opt_out(config: &Config, data: &Path) -> anyhow::Result<Arc<OptOutList>> {
    let named = config.crawl.opt_out.as_ref().map(|file| data.join(file));
    let path = named.clone().unwrap_or_else(|| data.join(OPT_OUT));
    let advice = "correct the list, or leave it out by `opt_out` under `[crawl]` in the configuration";
    let refuse = |error: anyhow::Error| {
        Advised::new(format!("cannot use the opt-out list `{}`", path.display()), advice, error)
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Arc::new(OptOutList::parse(&text).map_err(|error| refuse(error.into()))?)),
        Err(error) if named.is_none() && is_absent(&error) => Ok(Arc::default()),
        Err(error) => Err(refuse(error.into()).into()),
    }
}

/// What decides whether a page may be asked for, in one text: when it differs, refusals are judged again.
pub(crate) fn access(config: &Config, data: &Path) -> String {
    let fetch = &config.fetch;
    let allowed: Vec<String> = fetch.allow_addresses.iter().map(ToString::to_string).collect();
    let list = data.join(config.crawl.opt_out.as_deref().unwrap_or(Path::new(OPT_OUT)));
    let list = std::fs::read(list).map_or(0, |bytes| base::chance::hash_bytes(1, &bytes));
    let proxy = fetch.proxy.as_ref().map(ToString::to_string).unwrap_or_default();
    let contact = if fetch.contact.is_some() { "yes" } else { "no" };
    format!("addresses {} contact {contact} proxy {proxy} opt-out {list:016x}", allowed.join(","))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The word before the slash: what robots groups are matched with.
pub(crate) fn product_token(agent: &str) -> &str {
    agent.split(['/', ' ']).next().unwrap_or(agent)
}

/// Reads a contact that was given with a flag.
pub(crate) fn contact(text: &str) -> Result<String, String> {
    let refuse = || "write the URL of a page that says who visits and why, or an address of mail".to_owned();
    crate::config::parse_contact(text).ok_or_else(refuse)
}

/// What to do about a visit that was refused for want of a contact.
pub(crate) fn no_contact_advice() -> &'static str {
    "say whom the owner of the server may turn to: `--contact PAGE`, or `contact` under `[fetch]` in the configuration"
}

/// A pause that was given with a flag: none is shorter than a second.
pub(crate) fn pause(text: &str) -> Result<Interval, String> {
    let pause: Interval = text.parse().map_err(|error| format!("{error}"))?;
    let range = Interval::from_seconds(1)..=base::limits::SERVER_PAUSE_MAX;
    if range.contains(&pause) {
        Ok(pause)
    } else {
        Err(format!("it is a length of time from {} to {}", range.start(), range.end()))
    }
}

/// Why the door cannot be built, with what to do.
pub(crate) fn unfit(error: fetch::client::SettingsError) -> Advised {
    let advice =
        "correct the section `[fetch]` of the configuration; `utsushi config` shows what is in effect";
    Advised::new("cannot open the door to the web", advice, error)
}
