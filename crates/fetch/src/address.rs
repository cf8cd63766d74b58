//! Which addresses may be visited (H1).
//!
//! **Invariant:** an address is judged by its bytes, after every IPv4 address embedded in an IPv6 one is extracted, and
//! it passes only if *all* of its readings do. Nothing is allowed unless a policy says so.

mod readings;
mod special;

use base::AddressRange;

use readings::readings;
use special::why_not_public;
use std::net::IpAddr;

/// The reason for a public address that no range allows.
const IN_NO_RANGE: &str = "it lies in no allowed range";

/// The addresses that may be visited; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressPolicy {
    /// Whether the public web may be visited.
    pub public: bool,
    /// Ranges that may be visited even if they are not public: a private network, the simulated web on loopback.
    pub allowed: Vec<AddressRange>,
}

impl AddressPolicy {
    /// Only these ranges, public or not.
    #[must_use]
    pub fn only(allowed: Vec<AddressRange>) -> Self {
        Self { public: false, allowed }
    }
    /// Every public address and no other.
    #[must_use]
    pub fn public_web() -> Self {
        Self { public: true, allowed: Vec::new() }
    }

    /// Whether `address` may be visited.
    ///
    /// # Errors
    /// If one of its readings may not be visited, with the reason.
    pub fn judge(&self, address: IpAddr) -> Result<(), RefusedAddress> {
        match readings(address).find_map(|reading| self.why_not(reading)) {
            Some(why) => Err(RefusedAddress { address, why }),
            None => Ok(()),
        }
    }

    fn why_not(&self, reading: IpAddr) -> Option<&'static str> {
        if self.allowed.iter().any(|range| range.contains(reading)) {
            return None;
        }
        why_not_public(reading).or_else(|| (!self.public).then_some(IN_NO_RANGE))
    }
}

/// An address that may not be visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{address}` may not be visited: {why}")]
pub struct RefusedAddress {
    /// The address that was judged.
    pub address: IpAddr,
    /// Its special-purpose block, or that of an embedded address, with its RFC.
    pub why: &'static str,
}

/// Whether an address is public in all of its readings.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    readings(address).all(|reading| why_not_public(reading).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(texts: &[&str]) -> Vec<AddressRange> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[track_caller]
    fn check(policy: &AddressPolicy, address: &str, expected: Result<(), &'static str>) {
        let address = address.parse().unwrap();
        assert_eq!(policy.judge(address), expected.map_err(|why| RefusedAddress { address, why }));
    }

    #[test]
    fn nothing_may_be_visited_unless_the_policy_says_so() {
        for (address, why) in [
            ("127.0.0.1", "loopback (RFC 1122)"),
            ("169.254.169.254", "link local (RFC 3927)"),
            ("8.8.8.8", IN_NO_RANGE),
            ("2606:4700::1111", IN_NO_RANGE),
            ("::", "unspecified (RFC 4291)"),
        ] {
            check(&AddressPolicy::default(), address, Err(why));
        }
    }

    #[test]
    fn a_range_allows_what_is_in_it_and_nothing_else() {
        let loopback = AddressPolicy::only(vec![AddressRange::LOOPBACK]);
        check(&loopback, "127.255.255.255", Ok(()));
        check(&loopback, "8.8.8.8", Err(IN_NO_RANGE));
        check(&loopback, "10.0.0.1", Err("private use (RFC 1918)"));
        check(&loopback, "::1", Err("loopback (RFC 4291)"));
        check(&AddressPolicy::only(ranges(&["8.8.8.0/24"])), "8.8.8.8", Ok(()));
    }

    #[test]
    fn the_public_web_may_have_ranges_beside_it() {
        let web = AddressPolicy::public_web();
        check(&web, "8.8.8.8", Ok(()));
        check(&web, "2606:4700::1111", Ok(()));
        check(&web, "10.0.0.1", Err("private use (RFC 1918)"));
        let beside = AddressPolicy { allowed: ranges(&["10.1.0.0/16"]), ..web };
        check(&beside, "10.1.2.3", Ok(()));
        check(&beside, "10.2.0.0", Err("private use (RFC 1918)"));
        check(&beside, "8.8.8.8", Ok(()));
    }

    #[test]
    fn survives_h1_an_ipv4_address_hidden_inside_ipv6() {
        let (v6, all) =
            (AddressPolicy::only(ranges(&["::/0"])), AddressPolicy::only(ranges(&["::/0", "0.0.0.0/0"])));
        for hidden in [
            "64:ff9b::7f00:1",
            "64:ff9b:1::7f00:1",
            "2002:7f00:1::",
            "2001:0:7f00:1::",
            "2001:0:808:808:0:0:80ff:fffe",
            "2606:4700::5efe:7f00:1",
            "2606:4700::200:5efe:7f00:1",
            "::ffff:0:7f00:1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
        ] {
            assert!(AddressPolicy::public_web().judge(hidden.parse().unwrap()).is_err(), "{hidden}");
            assert!(v6.judge(hidden.parse().unwrap()).is_err(), "{hidden}");
            check(&all, hidden, Ok(()));
        }
        check(&AddressPolicy::public_web(), "64:ff9b::808:808", Ok(()));
        check(&AddressPolicy::public_web(), "64:ff9b::a00:1", Err("private use (RFC 1918)"));
        check(&AddressPolicy::public_web(), "::ffff:8.8.8.8", Ok(()));
        check(&AddressPolicy::public_web(), "2606:4700::5efe:a00:1", Err("private use (RFC 1918)"));
        check(&AddressPolicy::only(vec![AddressRange::LOOPBACK]), "::ffff:127.0.0.1", Ok(()));
    }

    #[test]
    fn public_is_what_the_policy_of_the_public_web_allows() {
        for address in ["8.8.8.8", "10.0.0.1", "::1", "64:ff9b::808:808", "64:ff9b::a00:1", "2606:4700::1111"]
        {
            let address = address.parse().unwrap();
            assert_eq!(is_public(address), AddressPolicy::public_web().judge(address).is_ok(), "{address}");
        }
    }
}
