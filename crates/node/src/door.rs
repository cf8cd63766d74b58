//! The door to the web, built from the configuration.

use crate::config::Config;
use crate::directory::OPT_OUT;
use crate::{Error, config};
use base::Interval;
use base::url::Origin;
use fetch::{AddressPolicy, Dns, ExchangeLimits, Resolver, Settings, dns};
use robots::OptOutList;
use std::io;
use std::net::Ipv4Addr;
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

/// The settings of a door to this machine alone, for a crawl whose time runs faster than real time (D16): the allowed ranges
/// and nothing else, no name server and no proxy.
pub fn loopback_settings(config: &Config, spool: Option<PathBuf>) -> Result<Settings, Error> {
    check_loopback(config)?;
    let mut config = config.clone();
    // The name servers of the system are not read, because none is asked.
    config.fetch.dns_servers = vec![(Ipv4Addr::LOCALHOST, 53).into()];
    let allowed = config.fetch.allow_addresses.clone();
    let this_machine = |origin: &Origin| {
        let (host, port) = (origin.server.host(), origin.server.port_for(origin.scheme));
        (host == "localhost" || host.ends_with(".localhost")).then(|| (Ipv4Addr::LOCALHOST, port).into())
    };
    Ok(Settings {
        addresses: AddressPolicy::only(allowed),
        resolver: Resolver::new(this_machine),
        ..settings(&config, spool)?
    })
}

/// An accelerated crawl must not reach another machine.
pub fn check_loopback(config: &Config) -> Result<(), Error> {
    let ranges = &config.fetch.allow_addresses;
    let other = ranges.iter().find(|range| !range.is_loopback());
    let why = match (other, &config.fetch.proxy) {
        (Some(range), _) => format!("`{range}` is allowed, which holds addresses of other machines"),
        (None, _) if ranges.is_empty() => "no range of loopback addresses is allowed".to_owned(),
        (None, Some(proxy)) => format!("the proxy `{proxy}` could lead to other machines"),
        (None, None) => return Ok(()),
    };
    Err(Error::NotLoopback { why })
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

#[cfg(test)]
mod tests {
    use super::*;
    use base::PageUrl;

    fn allowing(ranges: &[&str]) -> Config {
        let mut config = Config::compiled_in();
        config.fetch.allow_addresses = ranges.iter().map(|range| range.parse().unwrap()).collect();
        config
    }

    #[test]
    fn an_accelerated_crawl_reaches_this_machine_and_no_other() {
        for other in [&[][..], &["10.0.0.0/8"], &["127.0.0.0/8", "::1/127"], &["126.0.0.0/7"], &["0.0.0.0/0"]]
        {
            assert!(matches!(check_loopback(&allowing(other)), Err(Error::NotLoopback { .. })), "{other:?}");
        }
        let config = allowing(&["127.3.0.0/16", "::1"]);
        let settings = loopback_settings(&config, None).unwrap();
        for (address, may_be) in [
            ("127.3.9.9", true),
            ("127.4.0.1", false),
            ("::1", true),
            ("8.8.8.8", false),
            ("2606:4700::1111", false),
        ] {
            assert_eq!(settings.addresses.judge(address.parse().unwrap()).is_ok(), may_be, "{address}");
        }
        let find = |url: &str| settings.resolver.address(&PageUrl::parse(url).unwrap().origin());
        assert_eq!(find("http://a.localhost:81/"), Some(([127, 0, 0, 1], 81).into()));
        assert_eq!(find("http://a.example/"), None, "no name server is asked");
    }
}
