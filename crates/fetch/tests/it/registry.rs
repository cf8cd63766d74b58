//! The table of addresses against the registries it follows, read here a second time and in another way (H1).
//!
//! The reading here knows nothing of the product's: blocks are pairs of numbers, the narrowest block that holds an
//! address counts, and what the product refuses beyond the registries must stand in the two lists below.

use base::chance::hash;
use fetch::AddressPolicy;
use fetch::address::{RefusedAddress, is_public};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What no special-purpose registry lists and is refused all the same.
const BEYOND: [(&str, u16); 6] = [
    ("224.0.0.0/4", 5771),
    ("::/96", 4291),
    ("::ffff:0:0:0/96", 2765),
    ("fec0::/10", 3879),
    ("ff00::/8", 4291),
    // Whatever is outside global unicast; the registries' own rows are narrower.
    ("::/0", 4291),
];

/// Globally reachable by the registries, and refused: services that the nearest machine answers, and identifiers.
const REFUSED_ALL_THE_SAME: [&str; 13] = [
    "192.0.0.9/32",
    "192.0.0.10/32",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.175.48.0/24",
    "2001:1::1/128",
    "2001:1::2/128",
    "2001:1::3/128",
    "2001:3::/32",
    "2001:4:112::/48",
    "2001:20::/28",
    "2001:30::/28",
    "2620:4f:8000::/48",
];

/// A block as two numbers, and what is said of it.
#[derive(Debug)]
struct Block {
    text: &'static str,
    is_v4: bool,
    first: u128,
    last: u128,
    rfcs: Vec<u16>,
    public: bool,
}

impl Block {
    fn new(text: &'static str, rfcs: Vec<u16>, public: bool) -> Self {
        let (network, bits) = text.split_once('/').unwrap();
        let (is_v4, first) = number(network.parse().unwrap());
        let width = if is_v4 { 32 } else { 128 };
        let size_bits = width - bits.parse::<u32>().unwrap();
        let span = if size_bits == 128 { u128::MAX } else { (1_u128 << size_bits) - 1 };
        assert_eq!(first & span, 0, "`{text}` begins at a border");
        Self { text, is_v4, first, last: first + span, rfcs, public }
    }
    fn holds(&self, (is_v4, number): (bool, u128)) -> bool {
        self.is_v4 == is_v4 && (self.first..=self.last).contains(&number)
    }
}

fn number(address: IpAddr) -> (bool, u128) {
    match address {
        IpAddr::V4(v4) => (true, u128::from(u32::from(v4))),
        IpAddr::V6(v6) => (false, u128::from(v6)),
    }
}

fn address((is_v4, number): (bool, u128)) -> IpAddr {
    if is_v4 { Ipv4Addr::from(u32::try_from(number).unwrap()).into() } else { Ipv6Addr::from(number).into() }
}

/// The registries alone.
fn registered() -> Vec<Block> {
    let lines = include_str!("registry/special-purpose.tsv").lines().filter(|line| !line.starts_with('#'));
    let block = |line: &'static str| {
        let [text, _name, rfcs, reachable] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        assert!(["True", "False", "N/A", "-"].contains(&reachable), "{line}");
        let rfcs = rfcs.split(' ').map(|rfc| rfc.parse().unwrap()).collect();
        Block::new(text, rfcs, reachable == "True")
    };
    lines.map(block).collect()
}

/// The registries with what the product adds to them.
fn expected() -> Vec<Block> {
    let mut blocks = registered();
    for block in &mut blocks {
        block.public &= !REFUSED_ALL_THE_SAME.contains(&block.text);
    }
    blocks.extend(BEYOND.map(|(text, rfc)| Block::new(text, vec![rfc], false)));
    blocks.push(Block::new("2000::/3", vec![4291], true));
    blocks
}

/// The narrowest block that holds an address; none for most of IPv4.
fn narrowest(blocks: &[Block], address: IpAddr) -> Option<&Block> {
    let number = number(address);
    blocks.iter().filter(|block| block.holds(number)).min_by_key(|block| block.last - block.first)
}

/// Whether the second reading calls an address public. Three forms are read by the IPv4 address in their last bytes.
fn public_by(blocks: &[Block], address: IpAddr) -> bool {
    let alone = |address| narrowest(blocks, address).is_none_or(|block| block.public);
    let IpAddr::V6(v6) = address else { return alone(address) };
    let [.., a, b, c, d] = v6.octets();
    let tail = IpAddr::from([a, b, c, d]);
    let isatap = matches!(v6.octets(), [_, _, _, _, _, _, _, _, 0 | 2, 0, 0x5e, 0xfe, ..]);
    if v6.octets().starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) {
        alone(tail)
    } else if v6.octets().starts_with(&[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]) || isatap {
        alone(address) && alone(tail)
    } else {
        alone(address)
    }
}

/// First, last and one inside of every block, and the neighbours outside.
fn borders(blocks: &[Block]) -> Vec<IpAddr> {
    let around = |block: &Block| {
        let max = if block.is_v4 { u128::from(u32::MAX) } else { u128::MAX };
        let is_v4 = block.is_v4;
        let before = block.first.checked_sub(1);
        let after = block.last.checked_add(1).filter(|number| *number <= max);
        let inside = block.first + (block.last - block.first) / 16;
        let all = [before, Some(block.first), Some(inside), Some(block.last), after];
        all.into_iter().flatten().map(move |number| address((is_v4, number))).collect::<Vec<_>>()
    };
    blocks.iter().flat_map(around).collect()
}

#[track_caller]
fn check(blocks: &[Block], address: IpAddr) {
    assert_eq!(
        is_public(address),
        public_by(blocks, address),
        "{address} by {:?}",
        narrowest(blocks, address)
    );
    assert_eq!(AddressPolicy::public_web().judge(address).is_ok(), is_public(address), "{address}");
    assert!(AddressPolicy::default().judge(address).is_err(), "{address}");
}

#[test]
fn survives_h1_at_every_border_of_the_registries() {
    let blocks = expected();
    assert_eq!((registered().len(), registered().iter().filter(|block| block.is_v4).count()), (51, 26));
    let borders = borders(&blocks);
    assert!(borders.len() > 250, "{}", borders.len());
    borders.into_iter().for_each(|address| check(&blocks, address));
}

#[test]
fn survives_h1_in_all_blocks_of_65_536_ipv4_addresses() {
    let blocks = expected();
    for high in 0..=u16::MAX {
        for low in [0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff] {
            check(&blocks, Ipv4Addr::from_bits(u32::from(high) << 16 | low).into());
        }
    }
}

#[test]
fn survives_h1_in_all_ipv6_blocks_of_16_bits_and_at_random() {
    let blocks = expected();
    for high in 0..=u16::MAX {
        let (begin, rest) = (u128::from(high) << 112, (1_u128 << 112) - 1);
        for low in [0, 1, rest / 2, rest] {
            check(&blocks, Ipv6Addr::from_bits(begin | low).into());
        }
    }
    for n in 0..20_000 {
        let bits = u128::from(hash(&[n, 1])) << 64 | u128::from(hash(&[n, 2]));
        // Anywhere; in global unicast; in its first assignments; in the block of protocol assignments; as NAT64.
        let block = [0, 0x2000 << 112, 0x2001 << 112, 0x2001 << 112, 0x64_ff9b << 96];
        for (block, shift) in block.into_iter().zip([0, 3, 16, 23, 96]) {
            check(&blocks, Ipv6Addr::from_bits(block | bits >> shift).into());
        }
    }
}

#[test]
fn whatever_the_registries_call_unreachable_is_refused_with_their_rfc() {
    let (registered, blocks) = (registered(), expected());
    for block in &registered {
        // An address for which this is the narrowest block.
        let own = [block.first, block.last].map(|number| address((block.is_v4, number)));
        let own = own.into_iter().find(|own| narrowest(&blocks, *own).unwrap().text == block.text).unwrap();
        match AddressPolicy::public_web().judge(own) {
            Ok(()) => assert!(block.public, "{own} of {block:?} passes"),
            // The kernel reads it as IPv4, NAT64 is judged by what is inside.
            Err(_) if ["::ffff:0:0/96", "64:ff9b::/96"].contains(&block.text) => {}
            Err(RefusedAddress { why, .. }) => {
                let told = block.rfcs.iter().any(|rfc| why.ends_with(&format!("(RFC {rfc})")));
                assert!(told, "{own} of {block:?}: {why}");
            }
        }
    }
}

#[test]
fn what_is_refused_beyond_the_registries_is_listed_and_no_more() {
    let reachable = |text: &str| registered().iter().any(|block| block.text == text && block.public);
    for text in REFUSED_ALL_THE_SAME {
        assert!(reachable(text), "{text}");
        let (network, _) = text.split_once('/').unwrap();
        assert!(!is_public(network.parse().unwrap()), "{text}");
    }
    let visited: Vec<_> =
        registered().into_iter().filter(|block| block.public).map(|block| block.text).collect();
    assert_eq!(visited.len() - REFUSED_ALL_THE_SAME.len(), 1, "NAT64 alone is visited: {visited:?}");
}

#[test]
fn a_table_with_a_row_missing_is_found_out() {
    let all = expected();
    for missing in 0..all.len() {
        let mut blocks = expected();
        let gone = blocks.remove(missing);
        let found_out = borders(&all).into_iter().any(|at| is_public(at) != public_by(&blocks, at));
        // A row inside of a wider one that is refused as well gives only the reason.
        let holds =
            |wider: &&Block| [gone.first, gone.last].iter().all(|end| wider.holds((gone.is_v4, *end)));
        let wider = blocks.iter().filter(holds).min_by_key(|block| block.last - block.first);
        assert_eq!(found_out, wider.is_none_or(|wider| wider.public) != gone.public, "{}", gone.text);
    }
}
