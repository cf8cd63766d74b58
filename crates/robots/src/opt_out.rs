//! The operator's opt-out list: servers and pages that are not visited, whatever other rules say (C8).
//!
//! ```
//! use base::PageUrl;
//! use robots::opt_out::OptOutList;
//!
//! let list = OptOutList::parse("# asked on 31 March\n.example.org\nexample.com/private/ # by letter\n192.0.2.0/24")?;
//! let refused = |url| list.refuses(&PageUrl::parse(url).unwrap()).map(ToString::to_string);
//! assert_eq!(refused("https://www.example.org/"), Some("line 2: `.example.org`".to_owned()));
//! assert_eq!(refused("http://EXAMPLE.com.:80/%70rivate//x"), Some("line 3: `example.com/private/`".to_owned()));
//! assert_eq!(refused("http://example.com/public"), None);
//! assert!(list.refuses_address("192.0.2.7".parse()?).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | a line | excludes |
//! |---|---|
//! | `example.org` | that host, on every port |
//! | `example.org:8080` | that server |
//! | `.example.org` or `*.example.org` | that domain and everything below it, on every port |
//! | `http://example.org/private/`, `example.org/private/` | URLs with this prefix, http and https alike (D6) |
//! | `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32` | every server with such an address, under any name |
//!
//! A `#` at the start of a word begins a comment.
//!
//! **Invariant:** a list is read completely or not at all: a line that cannot be parsed is an error and never skipped.
//!
//! **Invariant:** a URL is compared in the form of [`PageUrl`] and its key (H25), with every escape decoded and repeated
//! slashes merged, so no spelling of a page avoids the list. A query costs a few table look-ups, however long the list
//! is.

mod entry;

use base::PageUrl;
use entry::{Entry, Network};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::net::IpAddr;

/// The maximum number of lines of a list: far more than any operator needs, and few enough to keep in memory.
pub const LINES_MAX: usize = 10_000_000;
/// The maximum number of characters of a line shown in an error.
const SHOWN_CHARS_MAX: usize = 200;

/// The servers, pages and addresses that are not visited.
#[derive(Clone, Debug, Default)]
pub struct OptOutList {
    lines: Vec<OptOutLine>,
    /// Indexes into `lines` by host, by server with its port, and by domain.
    hosts: HashMap<Box<str>, usize>,
    servers: HashMap<Box<str>, usize>,
    domains: HashMap<Box<str>, usize>,
    /// Sorted prefixes, none of which is a prefix of another.
    prefixes: Vec<(Box<[u8]>, usize)>,
    networks: HashMap<Network, usize>,
    /// The prefix lengths of the networks.
    network_bits: BTreeSet<(bool, u8)>,
}

/// A line of the list that excludes something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptOutLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text, without comment.
    pub text: Box<str>,
}

impl fmt::Display for OptOutLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: `{}`", self.number, self.text)
    }
}

/// Why a list cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number} of the opt-out list: `{text}` {why}")]
pub struct Error {
    /// The number of the line, from 1.
    pub number: usize,
    /// Its text, made printable.
    pub text: String,
    why: entry::Why,
}

impl OptOutList {
    /// Reads a list.
    ///
    /// # Errors
    /// If a line cannot be parsed; the error names the line and what to do about it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut list = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (before, line) in text.lines().enumerate() {
            let (number, line) = (before + 1, without_comment(line));
            if line.is_empty() {
                continue;
            }
            let refuse = |why| Error { number, text: shown(line), why };
            if list.lines.len() >= LINES_MAX {
                return Err(refuse(entry::Why::TooMany));
            }
            let entry = Entry::read(line).map_err(refuse)?;
            list.enter(entry, OptOutLine { number, text: line.into() });
        }
        list.thin_prefixes();
        Ok(list)
    }

    /// If several lines have the same target, the first one is reported.
    fn enter(&mut self, entry: Entry, line: OptOutLine) {
        let place = self.lines.len();
        self.lines.push(line);
        match entry {
            Entry::Host(host) => _ = self.hosts.entry(host).or_insert(place),
            Entry::Server(server) => _ = self.servers.entry(server).or_insert(place),
            Entry::Domain(domain) => _ = self.domains.entry(domain).or_insert(place),
            Entry::Prefix(prefix) => self.prefixes.push((prefix, place)),
            Entry::Network(network) => {
                self.network_bits.insert(network.kind());
                self.networks.entry(network).or_insert(place);
            }
        }
    }

    /// Removes prefixes that start with another one: then only the predecessor of a URL in sort order can be its prefix.
    fn thin_prefixes(&mut self) {
        self.prefixes.sort_unstable();
        self.prefixes.dedup_by(|next, kept| next.0.starts_with(&kept.0));
        self.prefixes.shrink_to_fit();
    }

    /// The line that excludes a page.
    #[must_use]
    pub fn refuses(&self, url: &PageUrl) -> Option<&OptOutLine> {
        if self.lines.is_empty() {
            return None;
        }
        let server = url.server();
        let host = server.host();
        let place = self.hosts.get(host).or_else(|| self.servers.get(server.as_str()));
        let place = place.or_else(|| self.domain_of(host)).or_else(|| self.prefix_of(url)).copied();
        match place {
            Some(place) => self.lines.get(place),
            None => server.address().and_then(|address| self.refuses_address(address)),
        }
    }

    /// The line that excludes an address.
    #[must_use]
    pub fn refuses_address(&self, address: IpAddr) -> Option<&OptOutLine> {
        let networks = self.network_bits.iter().filter_map(|kind| Network::around(address, *kind));
        networks.filter_map(|network| self.networks.get(&network)).find_map(|place| self.lines.get(*place))
    }

    /// The number of lines that exclude something.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }
    /// Whether nothing is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn domain_of(&self, host: &str) -> Option<&usize> {
        let below = host.match_indices('.').filter_map(|(dot, _)| host.get(dot + 1..));
        std::iter::once(host).chain(below).find_map(|domain| self.domains.get(domain))
    }

    fn prefix_of(&self, url: &PageUrl) -> Option<&usize> {
        if self.prefixes.is_empty() {
            return None;
        }
        let plain = entry::plain(&url.key());
        let behind = self.prefixes.partition_point(|(prefix, _)| **prefix <= *plain);
        let (prefix, place) = self.prefixes.get(behind.checked_sub(1)?)?;
        plain.starts_with(prefix).then_some(place)
    }
}

/// A line up to a `#` at the beginning of a word, without the white space around it.
fn without_comment(line: &str) -> &str {
    let starts =
        |(at, _): &(usize, &str)| line.get(..*at).is_none_or(|b| b.is_empty() || b.ends_with([' ', '\t']));
    let end = line.match_indices('#').find(starts).map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or(line).trim()
}

fn shown(line: &str) -> String {
    base::printable(line).chars().take(SHOWN_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
