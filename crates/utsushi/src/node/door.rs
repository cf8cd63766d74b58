//! The door to the web as the configuration wants it.

use crate::config::Config;
use crate::exit::Advised;
use anyhow::Context as _;
use base::Interval;
use fetch::{Dns, Limits, Policy, Resolver, Settings, dns};
use std::path::PathBuf;

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
        addresses: Policy { public: true, allowed: fetch.allow_addresses },
        proxy: fetch.proxy,
        spool,
        limits: Limits {
            body_bytes_max: fetch.body_bytes_max,
            body_memory_bytes_max: fetch.body_memory_bytes_max,
            body_disk_bytes_max: fetch.body_disk_bytes_max,
            ..Limits::default()
        },
        ..Settings::default()
    })
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
