//! The possible destinations of an address: itself, and IPv4 addresses embedded in IPv6 ones (H1).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Every address that a packet to `address` may arrive at.
///
/// The kernel connects `::ffff:a.b.c.d` by IPv4, so that is its only reading. The other forms are sent as IPv6 and
/// unwrapped by a gateway: there both the address and the embedded one must be allowed.
pub(super) fn readings(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let (outer, inner) = match address {
        IpAddr::V4(_) => (address, [None, None]),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => (IpAddr::V4(v4), [None, None]),
            None => (address, embedded(v6)),
        },
    };
    std::iter::once(outer).chain(inner.into_iter().flatten().map(IpAddr::V4))
}

/// The IPv4 addresses inside an IPv6 address, by the forms that carry one.
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let join = |high: u16, low: u16| Some(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)));
    if address.is_unspecified() || address.is_loopback() {
        // These only look like the IPv4-compatible form.
        return [None, None];
    }
    match address.segments() {
        // Teredo (RFC 4380): the server, and the client with inverted bits.
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            [join(high, low), join(!client_high, !client_low)]
        }
        // 6to4 (RFC 3056); the host after it may have an ISATAP address of its own.
        [0x2002, high, low, _, 0 | 0x200, 0x5efe, inner_high, inner_low] => {
            [join(high, low), join(inner_high, inner_low)]
        }
        [0x2002, high, low, ..]
        // NAT64 (RFC 6052) and its local form (RFC 8215) as translators usually write it.
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        // ISATAP (RFC 5214).
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low]
        // The old IPv4-compatible (RFC 4291) and IPv4-translated (RFC 2765) forms.
        | [0, 0, 0, 0, 0 | 0xffff, 0, high, low] => [join(high, low), None],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: &[&str]) {
        let expected = expected.iter().map(|reading| reading.parse().unwrap());
        let found = readings(address.parse().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<IpAddr>>());
    }

    #[test]
    fn survives_h1_an_ipv4_address_hidden_inside_ipv6() {
        check("10.0.0.1", &["10.0.0.1"]);
        check("::ffff:10.0.0.1", &["10.0.0.1"]);
        check("::ffff:0:10.0.0.1", &["::ffff:0:a00:1", "10.0.0.1"]);
        check("::10.0.0.1", &["::10.0.0.1", "10.0.0.1"]);
        check("64:ff9b::a00:1", &["64:ff9b::a00:1", "10.0.0.1"]);
        check("64:ff9b:1:fffe::a00:1", &["64:ff9b:1:fffe::a00:1", "10.0.0.1"]);
        check("2002:a00:1::1", &["2002:a00:1::1", "10.0.0.1"]);
        check("2002:808:808::5efe:a00:1", &["2002:808:808:0:0:5efe:a00:1", "8.8.8.8", "10.0.0.1"]);
        check("2001:0:808:808::f5ff:fffe", &["2001:0:808:808::f5ff:fffe", "8.8.8.8", "10.0.0.1"]);
        check("2606:4700::5efe:a00:1", &["2606:4700::5efe:a00:1", "10.0.0.1"]);
        check("2606:4700::200:5efe:a00:1", &["2606:4700::200:5efe:a00:1", "10.0.0.1"]);
    }

    #[test]
    fn an_address_with_nothing_inside_is_read_as_itself() {
        for address in ["::", "::1", "2606:4700::1111", "fe80::1", "64:ff9b:2::a00:1"] {
            check(address, &[address]);
        }
    }
}
