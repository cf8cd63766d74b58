//! Which addresses may be visited (H1).
//!
//! **Invariant:** an address is judged by its bytes, after every IPv4 address that hides inside an IPv6 one has been
//! taken out, and it passes only if *all* of its readings lie in an allowed range. No range, no visit.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A block of addresses, written `127.0.0.0/8` or `fd00::/8`; a bare address is a block of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    network: IpAddr,
    prefix_bits: u8,
}

impl Range {
    /// The addresses of this machine alone, where the simulated web lives (D19).
    pub const LOOPBACK: Self = Self { network: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), prefix_bits: 8 };

    /// Whether `address` lies in the block, taken as it stands.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => same_prefix(
                u128::from(network.to_bits()) << 96,
                u128::from(address.to_bits()) << 96,
                self.prefix_bits,
            ),
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                same_prefix(network.to_bits(), address.to_bits(), self.prefix_bits)
            }
            _ => false,
        }
    }
}

/// Whether the first `bits` of two numbers agree; the shift by 128 bits, for no bits at all, leaves nothing to differ.
fn same_prefix(a: u128, b: u128, bits: u8) -> bool {
    (a ^ b).checked_shr(128 - u32::from(bits)).unwrap_or(0) == 0
}

/// Why a text is no range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no range of addresses; write a network and its bits, such as `127.0.0.0/8` or `fd00::/8`")]
pub struct RangeError(String);

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let refuse = || RangeError(text.to_owned());
        let (network, bits) =
            text.split_once('/').map_or((text, None), |(network, bits)| (network, Some(bits)));
        let network: IpAddr = network.parse().map_err(|_| refuse())?;
        let bits_max = if network.is_ipv4() { 32 } else { 128 };
        let prefix_bits = bits.map_or(Ok(bits_max), str::parse).map_err(|_| refuse())?;
        if prefix_bits > bits_max { Err(refuse()) } else { Ok(Self { network, prefix_bits }) }
    }
}

/// Whether `address` may be visited when only `allowed` may.
#[must_use]
pub fn may_visit(address: IpAddr, allowed: &[Range]) -> bool {
    readings(address).all(|reading| allowed.iter().any(|range| range.contains(reading)))
}

/// Every address that a packet to `address` may end up at.
///
/// The kernel connects `::ffff:a.b.c.d` by IPv4, so that is its only reading. The other forms leave as IPv6 and are
/// unwrapped by a gateway somewhere: there both the address and what is inside it must be fit to visit.
fn readings(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let (outer, inner) = match address {
        IpAddr::V4(_) => (Some(address), [None, None]),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => (Some(IpAddr::V4(v4)), [None, None]),
            None => (Some(address), embedded(v6)),
        },
    };
    outer.into_iter().chain(inner.into_iter().flatten().map(IpAddr::V4))
}

/// The IPv4 addresses inside an IPv6 address, by the forms that carry one.
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let join = |high: u16, low: u16| Some(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)));
    if address.is_unspecified() || address.is_loopback() {
        // They only look like the IPv4-compatible form.
        return [None, None];
    }
    match address.segments() {
        // Teredo (RFC 4380): the server, and the client with its bits turned.
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            [join(high, low), join(!client_high, !client_low)]
        }
        // NAT64 (RFC 6052), 6to4 (RFC 3056), ISATAP (RFC 5214), the old IPv4-compatible form (RFC 4291).
        [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low]
        | [0, 0, 0, 0, 0, 0, high, low] => [join(high, low), None],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allowed: &[&str], address: &str, expected: bool) {
        let allowed: Vec<Range> = allowed.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(may_visit(address.parse().unwrap(), &allowed), expected, "{address} in {allowed:?}");
    }

    #[test]
    fn nothing_may_be_visited_unless_a_range_allows_it() {
        for address in ["127.0.0.1", "8.8.8.8", "10.0.0.1", "169.254.169.254", "::1", "2606:4700::1111", "::"]
        {
            check(&[], address, false);
        }
        for address in ["8.8.8.8", "10.0.0.1", "126.255.255.255", "128.0.0.0", "0.0.0.0", "::1", "fe80::1"] {
            check(&["127.0.0.0/8"], address, false);
        }
    }

    #[test]
    fn a_range_allows_its_own_addresses() {
        check(&["127.0.0.0/8"], "127.0.0.0", true);
        check(&["127.0.0.0/8"], "127.255.255.255", true);
        check(&["10.1.2.3"], "10.1.2.3", true);
        check(&["10.1.2.3"], "10.1.2.2", false);
        check(&["10.1.2.3/31"], "10.1.2.2", true);
        check(&["::1"], "::1", true);
        check(&["::1"], "127.0.0.1", false);
        check(&["fd00::/8"], "fdff::1", true);
        check(&["0.0.0.0/0"], "203.0.113.9", true);
        check(&["0.0.0.0/0"], "2001:db8::1", false);
        assert!(Range::LOOPBACK.contains(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        assert_eq!("127.0.0.0/8".parse(), Ok(Range::LOOPBACK));
    }

    #[test]
    fn survives_h1_an_ipv4_address_hidden_inside_ipv6() {
        check(&["127.0.0.0/8"], "::ffff:127.0.0.1", true);
        check(&["::/0"], "::ffff:127.0.0.1", false);
        check(&["::/0"], "::ffff:8.8.8.8", false);
        for hidden in [
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:0:7f00:1::",
            "2001:0:808:808:0:0:80ff:fffe",
            "2001:db8::5efe:7f00:1",
            "2001:db8::200:5efe:7f00:1",
            "::127.0.0.1",
        ] {
            check(&["::/0"], hidden, false);
            check(&["127.0.0.0/8"], hidden, false);
            check(&["::/0", "0.0.0.0/0"], hidden, true);
        }
        check(&["::/0"], "2606:4700::1111", true);
    }

    #[test]
    fn nonsense_is_no_range() {
        for text in
            ["", "127.0.0.0/33", "::/129", "127.0.0.0/", "127.0.0.0/-1", "127/8", "localhost", "::1/8/8"]
        {
            assert!(text.parse::<Range>().is_err(), "{text}");
        }
    }
}
