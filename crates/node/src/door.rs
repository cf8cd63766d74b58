//! The door to the web, built from the configuration.

use crate::config::Config;
use crate::directory::OPT_OUT;
use crate::{Error, config};
use base::Interval;
use fetch::{AddressPolicy, Dns, ExchangeLimits, Resolver, Settings, dns};
use robots::OptOutList;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The settings of a door to the public web and to the other addresses that the configuration allows.
pub fn settings(config: &Config, spool: Option<PathBuf>) -> Result<Settings, Error> {
    let fetch = config.fetch.clone();
    let mut names = if fetch.dns_servers.is_empty() {
        dns::Settings::from_system().map_err(no_name_servers)?
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

/// The opt-out list: the one that the configuration names, else the one in the data directory if it exists. A list that
/// cannot be read is never treated as empty.
pub fn opt_out(config: &Config, data: &Path) -> Result<Arc<OptOutList>, Error> {
    let named = config.crawl.opt_out.as_ref().map(|file| data.join(file));
    let path = named.clone().unwrap_or_else(|| data.join(OPT_OUT));
    let refuse =
        |source: Box<dyn std::error::Error + Send + Sync>| Error::OptOut { path: path.clone(), source };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Arc::new(OptOutList::parse(&text).map_err(|error| refuse(error.into()))?)),
        Err(error) if named.is_none() && is_absent(&error) => Ok(Arc::default()),
        Err(error) => Err(refuse(error.into())),
    }
}

/// Everything that decides whether a page may be requested, as one text: if it changes, refusals are checked again.
pub fn access(config: &Config, data: &Path) -> String {
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

/// Parses a contact given by a flag.
pub fn contact(text: &str) -> Result<String, String> {
    let refuse = || "write the URL of a page that describes the crawler, or an email address".to_owned();
    config::parse_contact(text).ok_or_else(refuse)
}

/// What to do about a visit that was refused because there is no contact.
pub fn no_contact_advice() -> &'static str {
    "give a contact for the owners of servers: `--contact PAGE`, or `contact` under `[fetch]` in the configuration"
}

/// Parses a delay given by a flag: at least one second.
pub fn pause(text: &str) -> Result<Interval, String> {
    let pause: Interval = text.parse().map_err(|error| format!("{error}"))?;
    let range = Interval::from_seconds(1)..=base::limits::SERVER_PAUSE_MAX;
    if range.contains(&pause) {
        Ok(pause)
    } else {
        Err(format!("it is a length of time from {} to {}", range.start(), range.end()))
    }
}

fn no_name_servers(source: io::Error) -> Error {
    Error::System { action: "read which name servers this system uses", source }
}
