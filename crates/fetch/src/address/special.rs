//! The table of addresses that are not public.
//!
//! It follows the IANA IPv4 and IPv6 Special-Purpose Address Registries of 2026-09-15, with blocks that other
//! registries and RFCs exclude from the web: multicast, addresses outside global unicast, deprecated forms.
//! The standard library's own classification is unstable and gives no reasons.
//!
//! The registries call some special blocks globally reachable. Of these only NAT64's is visited, judged by the embedded
//! address: on a network without IPv4 it is how the IPv4 web is reached. The others are refused. The anycast addresses
//! have no web pages, and the nearest machine answers there, which may be one of our own network; overlay identifiers are
//! not addresses that packets are routed to.
//!
//! **Invariant:** every address is in some row, and the first row that contains it applies.

use super::AddressRange;
use std::net::IpAddr;

/// Why an address is not public; `None` if it is. Embedded addresses are not judged here.
pub(super) fn why_not_public(address: IpAddr) -> Option<&'static str> {
    let row = TABLE.iter().find(|(range, _)| range.contains(address));
    row.expect("the last row of each family holds all of it").1
}

/// Blocks, each before those that contain it, and why they are not public.
const TABLE: &[(AddressRange, Option<&str>)] = &[
    (AddressRange::v4([0, 0, 0, 0], 32), Some("this host on this network (RFC 1122)")),
    (AddressRange::v4([0, 0, 0, 0], 8), Some("this network (RFC 791)")),
    (AddressRange::v4([10, 0, 0, 0], 8), Some("private use (RFC 1918)")),
    (AddressRange::v4([100, 64, 0, 0], 10), Some("shared address space (RFC 6598)")),
    (AddressRange::v4([127, 0, 0, 0], 8), Some("loopback (RFC 1122)")),
    (AddressRange::v4([169, 254, 0, 0], 16), Some("link local (RFC 3927)")),
    (AddressRange::v4([172, 16, 0, 0], 12), Some("private use (RFC 1918)")),
    (AddressRange::v4([192, 0, 0, 0], 29), Some("IPv4 service continuity (RFC 7335)")),
    (AddressRange::v4([192, 0, 0, 8], 32), Some("IPv4 dummy address (RFC 7600)")),
    (AddressRange::v4([192, 0, 0, 9], 32), Some("port control protocol anycast (RFC 7723)")),
    (AddressRange::v4([192, 0, 0, 10], 32), Some("TURN anycast (RFC 8155)")),
    (AddressRange::v4([192, 0, 0, 170], 31), Some("NAT64 discovery (RFC 7050)")),
    (AddressRange::v4([192, 0, 0, 0], 24), Some("IETF protocol assignments (RFC 6890)")),
    (AddressRange::v4([192, 0, 2, 0], 24), Some("documentation (RFC 5737)")),
    (AddressRange::v4([192, 31, 196, 0], 24), Some("AS112 anycast (RFC 7535)")),
    (AddressRange::v4([192, 52, 193, 0], 24), Some("multicast tunnelling anycast (RFC 7450)")),
    (AddressRange::v4([192, 88, 99, 2], 32), Some("6a44 relay anycast (RFC 6751)")),
    (AddressRange::v4([192, 88, 99, 0], 24), Some("deprecated 6to4 relay anycast (RFC 7526)")),
    (AddressRange::v4([192, 168, 0, 0], 16), Some("private use (RFC 1918)")),
    (AddressRange::v4([192, 175, 48, 0], 24), Some("AS112 anycast (RFC 7534)")),
    (AddressRange::v4([198, 18, 0, 0], 15), Some("benchmarking (RFC 2544)")),
    (AddressRange::v4([198, 51, 100, 0], 24), Some("documentation (RFC 5737)")),
    (AddressRange::v4([203, 0, 113, 0], 24), Some("documentation (RFC 5737)")),
    (AddressRange::v4([224, 0, 0, 0], 4), Some("multicast (RFC 5771)")),
    (AddressRange::v4([255, 255, 255, 255], 32), Some("limited broadcast (RFC 919)")),
    (AddressRange::v4([240, 0, 0, 0], 4), Some("reserved (RFC 1112)")),
    (AddressRange::v4([0, 0, 0, 0], 0), None),
    (AddressRange::v6([0, 0, 0, 0, 0, 0, 0, 1], 128), Some("loopback (RFC 4291)")),
    (AddressRange::v6([0, 0, 0, 0, 0, 0, 0, 0], 128), Some("unspecified (RFC 4291)")),
    (AddressRange::v6([0, 0, 0, 0, 0, 0, 0, 0], 96), Some("deprecated IPv4-compatible address (RFC 4291)")),
    (AddressRange::v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), Some("IPv4-mapped address (RFC 4291)")),
    (AddressRange::v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), Some("IPv4-translated address (RFC 2765)")),
    // Judged by the embedded address; the readings of an address include it.
    (AddressRange::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), None),
    (AddressRange::v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), Some("local IPv4/IPv6 translation (RFC 8215)")),
    (AddressRange::v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), Some("discard only (RFC 6666)")),
    (AddressRange::v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64), Some("dummy prefix (RFC 9780)")),
    (AddressRange::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), Some("Teredo (RFC 4380)")),
    (AddressRange::v6([0x2001, 1, 0, 0, 0, 0, 0, 1], 128), Some("port control protocol anycast (RFC 7723)")),
    (AddressRange::v6([0x2001, 1, 0, 0, 0, 0, 0, 2], 128), Some("TURN anycast (RFC 8155)")),
    (AddressRange::v6([0x2001, 1, 0, 0, 0, 0, 0, 3], 128), Some("service registration anycast (RFC 9665)")),
    (AddressRange::v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), Some("benchmarking (RFC 5180)")),
    (AddressRange::v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32), Some("multicast tunnelling anycast (RFC 7450)")),
    (AddressRange::v6([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48), Some("AS112 anycast (RFC 7535)")),
    (AddressRange::v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28), Some("deprecated ORCHID (RFC 4843)")),
    (AddressRange::v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28), Some("ORCHIDv2 overlay identifier (RFC 7343)")),
    (AddressRange::v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28), Some("drone entity tag (RFC 9374)")),
    (AddressRange::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), Some("IETF protocol assignments (RFC 2928)")),
    (AddressRange::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), Some("documentation (RFC 3849)")),
    // Its relays were deprecated by RFC 7526: the route of such a packet is undefined.
    (AddressRange::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), Some("6to4 (RFC 3056)")),
    (AddressRange::v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), Some("AS112 anycast (RFC 7534)")),
    (AddressRange::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), Some("documentation (RFC 9637)")),
    (AddressRange::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3), None),
    (AddressRange::v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), Some("segment routing identifier (RFC 9602)")),
    (AddressRange::v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), Some("unique local (RFC 4193)")),
    (AddressRange::v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), Some("link local (RFC 4291)")),
    (AddressRange::v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), Some("deprecated site local (RFC 3879)")),
    (AddressRange::v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), Some("multicast (RFC 4291)")),
    (AddressRange::v6([0, 0, 0, 0, 0, 0, 0, 0], 0), Some("not global unicast (RFC 4291)")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Option<&str>) {
        assert_eq!(why_not_public(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn the_narrowest_block_gives_the_reason() {
        check("0.0.0.0", Some("this host on this network (RFC 1122)"));
        check("0.0.0.1", Some("this network (RFC 791)"));
        check("192.0.0.9", Some("port control protocol anycast (RFC 7723)"));
        check("192.0.0.11", Some("IETF protocol assignments (RFC 6890)"));
        check("255.255.255.255", Some("limited broadcast (RFC 919)"));
        check("::1", Some("loopback (RFC 4291)"));
        check("::2", Some("deprecated IPv4-compatible address (RFC 4291)"));
        check("2001:1::4", Some("IETF protocol assignments (RFC 2928)"));
        check("4000::", Some("not global unicast (RFC 4291)"));
    }

    #[test]
    fn no_row_hides_behind_one_before_it() {
        for (place, (range, _)) in TABLE.iter().enumerate() {
            let (first, last) = ends(*range);
            let hides = |before: &AddressRange| before.contains(first) && before.contains(last);
            assert!(!TABLE[..place].iter().any(|(before, _)| hides(before)), "{range}");
        }
    }

    fn ends(range: AddressRange) -> (IpAddr, IpAddr) {
        let text = range.to_string();
        let (network, bits) = text.split_once('/').unwrap();
        let bits: u32 = bits.parse().unwrap();
        let first = network.parse().unwrap();
        let last = match first {
            IpAddr::V4(v4) => IpAddr::V4((v4.to_bits() | u32::MAX.checked_shr(bits).unwrap_or(0)).into()),
            IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() | u128::MAX.checked_shr(bits).unwrap_or(0)).into()),
        };
        (first, last)
    }
}
