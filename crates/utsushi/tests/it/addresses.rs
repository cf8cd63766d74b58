//! The crawler's table of addresses and the guard's, written apart and sharing nothing, agree (H1, D12).

use base::chance::hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The facts of the registries, for their borders.
const REGISTRY: &str = include_str!("../../../fetch/tests/it/registry/special-purpose.tsv");
/// What other registries and RFCs say is special.
const BEYOND: [&str; 8] = [
    "224.0.0.0/4",
    "::/96",
    "::ffff:0:0:0/96",
    "fec0::/10",
    "ff00::/8",
    "2000::/3",
    "64:ff9b::/32",
    "fe00::/9",
];
/// Where the crawler is the stricter one: anycast services that the registries call globally reachable, which have no
/// web pages. The guard, which cannot know their use, allows them.
const ONLY_THE_GUARD_OPENS: [&str; 4] =
    ["192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "2620:4f:8000::/48"];

/// Compares both on an address; the block they differ in, if it is one of those known.
#[track_caller]
fn compare(address: IpAddr) -> Option<&'static str> {
    let (crawler, guard) =
        (::fetch::address::is_public(address), guard::AddressRules::default().judge(address).is_ok());
    if crawler == guard {
        return None;
    }
    let known = ONLY_THE_GUARD_OPENS.into_iter().find(|block| {
        let (first, last) = ends(block);
        [address, tail(address)].iter().any(|reading| (first..=last).contains(reading))
    });
    assert!(
        known.is_some() && guard,
        "`{address}`: public for the crawler: {crawler}, open for the guard: {guard}"
    );
    known
}

/// The last four bytes.
fn tail(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv4Addr::from_octets(*v6.octets().last_chunk().unwrap()).into(),
    }
}

/// The first and the last address of a block.
fn ends(block: &str) -> (IpAddr, IpAddr) {
    let (network, bits) = block.split_once('/').unwrap();
    let (first, bits): (IpAddr, u32) = (network.parse().unwrap(), bits.parse().unwrap());
    let last = match first {
        IpAddr::V4(v4) => IpAddr::V4((v4.to_bits() | u32::MAX.checked_shr(bits).unwrap_or(0)).into()),
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() | u128::MAX.checked_shr(bits).unwrap_or(0)).into()),
    };
    (first, last)
}

/// An address, its neighbours, and the forms of an IPv4 address inside an IPv6 one.
fn around(address: IpAddr) -> Vec<IpAddr> {
    match address {
        IpAddr::V4(v4) => {
            let near = [-1, 0, 1].map(|step| Ipv4Addr::from_bits(v4.to_bits().wrapping_add_signed(step)));
            near.into_iter()
                .flat_map(|near| inside(near).into_iter().map(IpAddr::V6).chain([near.into()]))
                .collect()
        }
        IpAddr::V6(v6) => {
            let near = [-1, 0, 1].map(|step| Ipv6Addr::from_bits(v6.to_bits().wrapping_add_signed(step)));
            near.map(IpAddr::V6).into()
        }
    }
}

fn inside(address: Ipv4Addr) -> [Ipv6Addr; 8] {
    let whole = u128::from(address.to_bits());
    [
        0xffff << 32 | whole,
        whole,
        0x64_ff9b << 96 | whole,
        0x64_ff9b_0001 << 80 | whole,
        0x2002 << 112 | whole << 80,
        0x2001 << 112 | whole << 64,
        0x2606_4700 << 96 | 0x5efe << 32 | whole,
        0x2606_4700 << 96 | 0x0200_5efe << 32 | whole,
    ]
    .map(Ipv6Addr::from_bits)
}

#[test]
fn both_tables_agree_at_every_border() {
    let rows = REGISTRY.lines().filter(|line| !line.starts_with('#'));
    let blocks: Vec<&str> = rows.map(|row| row.split('\t').next().unwrap()).chain(BEYOND).collect();
    assert!(blocks.len() > 50, "{}", blocks.len());
    let mut known: Vec<&str> = Vec::new();
    for block in blocks {
        let (first, last) = ends(block);
        for border in around(first).into_iter().chain(around(last)) {
            known.extend(compare(border));
        }
    }
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), ONLY_THE_GUARD_OPENS.len(), "a difference that is none any more: {known:?}");
}

#[test]
fn both_tables_agree_in_all_blocks_of_16_bits_and_at_100_000_addresses_at_random() {
    for high in 0..=u16::MAX {
        for low in [0, 0x8000, 0xffff] {
            compare(Ipv4Addr::from_bits(u32::from(high) << 16 | low).into());
        }
        let (begin, rest) = (u128::from(high) << 112, (1 << 112) - 1);
        for low in [0, 1, rest] {
            compare(Ipv6Addr::from_bits(begin | low).into());
        }
    }
    for n in 0..100_000 {
        let bits = u128::from(hash(&[n, 1])) << 64 | u128::from(hash(&[n, 2]));
        let v4 = Ipv4Addr::from_bits(u32::try_from(bits >> 96).unwrap());
        compare(v4.into());
        for v6 in inside(v4) {
            compare(v6.into());
        }
        // Anywhere; in global unicast; in its first assignments; in the block of protocol assignments.
        for (block, shift) in [(0, 0), (0x2000, 3), (0x2001, 16), (0x2001, 23)] {
            compare(Ipv6Addr::from_bits(block << 112 | bits >> shift).into());
        }
    }
}
