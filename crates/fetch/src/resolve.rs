//! From an origin to its addresses: fixed names first, then the name servers.
//!
//! **Invariant:** an origin whose host is an address has that address or none; no table and no name server can change
//! it.

use crate::Dns;
use base::Interval;
use base::door::{Cause, Found};
use base::url::Origin;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// How long the address of a fixed name may be used before it is looked up again.
const FIXED_LIFETIME: Interval = Interval::from_days(1);

type Table = dyn Fn(&Origin) -> Option<SocketAddr> + Send + Sync;

/// The addresses of servers: those with fixed names, such as those of the simulated web, and those that are resolved.
#[derive(Clone)]
pub struct Resolver {
    table: Arc<Table>,
    names_only: bool,
    dns: Option<Dns>,
}

impl Resolver {
    /// Looks every name up in `table`.
    pub fn new(table: impl Fn(&Origin) -> Option<SocketAddr> + Send + Sync + 'static) -> Self {
        Self { table: Arc::new(table), names_only: false, dns: None }
    }
    /// Resolves every name by the name servers.
    #[must_use]
    pub fn network(dns: Dns) -> Self {
        Self { dns: Some(dns), ..Self::default() }
    }
    /// The same, but an origin whose host is an address is not found: the simulated web must not lead to
    /// other services on this machine.
    #[must_use]
    pub fn names_only(self) -> Self {
        Self { names_only: true, ..self }
    }
    /// The address of `origin`, and its lifetime.
    ///
    /// # Errors
    /// If the name is unknown, or the name servers do not answer.
    pub async fn find(&self, origin: &Origin) -> Result<Found, Cause> {
        if let Some(address) = self.address(origin) {
            return Ok(Found { addresses: vec![address], lifetime: FIXED_LIFETIME });
        }
        let dns = self.dns.as_ref().filter(|_| origin.server.address().is_none());
        if dns.is_some() && is_this_machine(origin.server.host()) {
            let port = origin.server.port_for(origin.scheme);
            let address = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
            return Ok(Found { addresses: vec![address], lifetime: FIXED_LIFETIME });
        }
        let answer = dns.ok_or(Cause::NoSuchName)?.look_up(origin.server.host()).await?;
        let port = origin.server.port_for(origin.scheme);
        let addresses = answer.addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect();
        Ok(Found { addresses, lifetime: answer.lifetime })
    }
    /// The address of `origin`, if it is fixed.
    #[must_use]
    pub fn address(&self, origin: &Origin) -> Option<SocketAddr> {
        match origin.server.address() {
            Some(_) if self.names_only => None,
            Some(address) => Some(SocketAddr::new(address, origin.server.port_for(origin.scheme))),
            None => (self.table)(origin),
        }
    }
}

/// Names of this machine, which are never resolved by a server (RFC 6761). Whether it may be visited is decided elsewhere.
fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// Contains no name.
impl Default for Resolver {
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PageUrl;

    #[track_caller]
    fn check(url: &str, expected: Option<&str>) {
        let resolver = Resolver::new(|origin| {
            (origin.server.host() == "known.example").then(|| SocketAddr::from(([127, 0, 0, 7], 8080)))
        });
        let origin = PageUrl::parse(url).unwrap().origin();
        assert_eq!(resolver.address(&origin), expected.map(|address| address.parse().unwrap()));
    }

    #[test]
    fn names_are_found_in_the_table_and_addresses_at_themselves() {
        check("http://known.example/", Some("127.0.0.7:8080"));
        check("https://known.example:444/", Some("127.0.0.7:8080"));
        check("http://unknown.example/", None);
        check("http://127.0.0.9/", Some("127.0.0.9:80"));
        check("https://127.0.0.9/", Some("127.0.0.9:443"));
        check("https://[::1]:81/", Some("[::1]:81"));
        let names = Resolver::new(|_| Some(SocketAddr::from(([127, 0, 0, 7], 80)))).names_only();
        assert_eq!(names.address(&PageUrl::parse("http://127.0.0.1:8080/").unwrap().origin()), None);
        assert_eq!(Resolver::default().address(&PageUrl::parse("http://a.example/").unwrap().origin()), None);
    }
}
