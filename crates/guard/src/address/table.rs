//! Every address that is not globally reachable, in order.
//!
//! Made from the IANA registries of special-purpose addresses (IPv4 and IPv6, with RFC 6890, 8190 and 9780), of
//! multicast and of the IPv6 address space, of which `2000::/3` alone is global unicast. Where a registry calls a
//! small block inside a closed one reachable (the anycast addresses of PCP and TURN, some of ORCHID), it stays closed: these
//! lead into the network one is in, or to no server at all.
//!
//! **Invariant:** the spans are in order and do not overlap; that is proved when this file is compiled.

/// A span of addresses and what it is for.
struct Span {
    first: u128,
    last: u128,
    why: &'static str,
}

/// What the address at `place` is set aside for; nothing if it is globally reachable.
pub(super) fn special(place: u128) -> Option<&'static str> {
    let after = SPECIAL.partition_point(|span| span.first <= place);
    let span = after.checked_sub(1).and_then(|index| SPECIAL.get(index))?;
    (place <= span.last).then_some(span.why)
}

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u32, why: &'static str) -> Span {
    let first = std::net::Ipv4Addr::new(a, b, c, d).to_ipv6_mapped().to_bits();
    Span { first, last: first + ((1 << (32 - bits)) - 1), why }
}

/// A block of IPv6 by its first three groups; no block here needs more.
const fn v6(a: u16, b: u16, c: u16, bits: u32, why: &'static str) -> Span {
    let first = at(a, b, c, 0, 0);
    Span { first, last: first | (u128::MAX >> bits), why }
}

/// What lies between two blocks.
const fn between(first: u128, after: u128, why: &'static str) -> Span {
    Span { first, last: after - 1, why }
}

/// An address by its first three groups and its fourth and sixth.
const fn at(a: u16, b: u16, c: u16, d: u16, f: u16) -> u128 {
    std::net::Ipv6Addr::new(a, b, c, d, 0, f, 0, 0).to_bits()
}

const RESERVED: &str = "reserved by IETF (RFC 4291)";
const NOT_UNICAST: &str = "outside the global unicast space (RFC 4291)";
const PROTOCOL: &str = "IETF protocol assignments (RFC 2928)";
const MAPPED_FIRST: u128 = std::net::Ipv4Addr::UNSPECIFIED.to_ipv6_mapped().to_bits();
const MAPPED_AFTER: u128 = std::net::Ipv4Addr::BROADCAST.to_ipv6_mapped().to_bits() + 1;

const SPECIAL: &[Span] = &[
    Span { first: 0, last: 0, why: "the unspecified address (RFC 4291)" },
    Span { first: 1, last: 1, why: "loopback (RFC 4291)" },
    between(2, 1 << 32, "IPv4-compatible (RFC 4291, deprecated)"),
    between(1 << 32, MAPPED_FIRST, RESERVED),
    v4(0, 0, 0, 0, 8, "this network (RFC 791)"),
    v4(10, 0, 0, 0, 8, "private use (RFC 1918)"),
    v4(100, 64, 0, 0, 10, "shared address space (RFC 6598)"),
    v4(127, 0, 0, 0, 8, "loopback (RFC 1122)"),
    v4(169, 254, 0, 0, 16, "link-local (RFC 3927)"),
    v4(172, 16, 0, 0, 12, "private use (RFC 1918)"),
    v4(192, 0, 0, 0, 24, "IETF protocol assignments (RFC 6890)"),
    v4(192, 0, 2, 0, 24, "documentation (RFC 5737)"),
    v4(192, 88, 99, 0, 24, "6to4 relay anycast (RFC 7526, deprecated)"),
    v4(192, 168, 0, 0, 16, "private use (RFC 1918)"),
    v4(198, 18, 0, 0, 15, "benchmarking (RFC 2544)"),
    v4(198, 51, 100, 0, 24, "documentation (RFC 5737)"),
    v4(203, 0, 113, 0, 24, "documentation (RFC 5737)"),
    v4(224, 0, 0, 0, 4, "multicast (RFC 5771)"),
    v4(240, 0, 0, 0, 4, "reserved (RFC 1112) and broadcast (RFC 919)"),
    between(MAPPED_AFTER, at(0x64, 0xff9b, 0, 0, 0), RESERVED),
    // 64:ff9b::/96 leads to the IPv4 address inside it, which is judged instead (RFC 6052).
    between(at(0x64, 0xff9b, 0, 0, 1), at(0x64, 0xff9b, 1, 0, 0), RESERVED),
    v6(0x64, 0xff9b, 1, 48, "local-use IPv4/IPv6 translation (RFC 8215)"),
    between(at(0x64, 0xff9b, 2, 0, 0), at(0x100, 0, 0, 0, 0), RESERVED),
    v6(0x100, 0, 0, 64, "discard-only (RFC 6666)"),
    between(at(0x100, 0, 0, 1, 0), at(0x100, 0, 0, 2, 0), "dummy prefix (RFC 9780)"),
    between(at(0x100, 0, 0, 2, 0), at(0x2000, 0, 0, 0, 0), NOT_UNICAST),
    v6(0x2001, 0, 0, 32, "Teredo (RFC 4380)"),
    v6(0x2001, 1, 0, 32, PROTOCOL),
    v6(0x2001, 2, 0, 48, "benchmarking (RFC 5180)"),
    between(at(0x2001, 2, 1, 0, 0), at(0x2001, 0x10, 0, 0, 0), PROTOCOL),
    v6(0x2001, 0x10, 0, 28, "ORCHID (RFC 4843, deprecated)"),
    v6(0x2001, 0x20, 0, 28, "ORCHIDv2 (RFC 7343)"),
    v6(0x2001, 0x30, 0, 28, "drone remote identification (RFC 9374)"),
    between(at(0x2001, 0x40, 0, 0, 0), at(0x2001, 0x200, 0, 0, 0), PROTOCOL),
    v6(0x2001, 0xdb8, 0, 32, "documentation (RFC 3849)"),
    v6(0x2002, 0, 0, 16, "6to4 (RFC 3056)"),
    v6(0x3fff, 0, 0, 20, "documentation (RFC 9637)"),
    between(at(0x4000, 0, 0, 0, 0), at(0x5f00, 0, 0, 0, 0), NOT_UNICAST),
    v6(0x5f00, 0, 0, 16, "segment routing identifiers (RFC 9602)"),
    between(at(0x5f01, 0, 0, 0, 0), at(0xfc00, 0, 0, 0, 0), NOT_UNICAST),
    v6(0xfc00, 0, 0, 7, "unique local (RFC 4193)"),
    v6(0xfe00, 0, 0, 9, RESERVED),
    v6(0xfe80, 0, 0, 10, "link-local (RFC 4291)"),
    v6(0xfec0, 0, 0, 10, "site-local (RFC 3879, deprecated)"),
    v6(0xff00, 0, 0, 8, "multicast (RFC 4291)"),
];

const _: () = {
    let mut rest = SPECIAL;
    while let [span, after @ ..] = rest {
        assert!(span.first <= span.last);
        if let [next, ..] = after {
            assert!(span.last < next.first);
        }
        rest = after;
    }
};
