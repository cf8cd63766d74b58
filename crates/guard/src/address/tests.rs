use super::*;

fn judge(address: &str, opened: &[&str]) -> Result<(), &'static str> {
    let opened = opened.iter().map(|text| text.parse().unwrap()).collect();
    AddressRules { opened }.judge(address.parse().unwrap()).map_err(|forbidden| forbidden.why)
}

/// The addresses of a block are closed, from its first to its last, whatever the neighbours are.
#[track_caller]
fn closed(block: &str, why: &str) {
    let range: AddressBlock = block.parse().unwrap();
    let (first, last) = range.span().into_inner();
    for bits in [first, last, first + (last - first) / 2] {
        let address = IpAddr::V6(bits.into()).to_canonical();
        let said = judge(&address.to_string(), &[]).expect_err(block);
        assert!(said.contains(why), "{address} of {block}: {said}");
    }
}

#[track_caller]
fn open(address: &str) {
    assert_eq!(judge(address, &[]), Ok(()), "{address}");
}

/// The IANA IPv4 Special-Purpose Address Registry, the multicast space and what is reserved.
#[test]
fn survives_h1_every_special_block_of_ipv4_is_closed_to_its_edges() {
    closed("0.0.0.0/8", "this network");
    closed("0.0.0.0/32", "this network");
    closed("10.0.0.0/8", "private use");
    closed("100.64.0.0/10", "shared");
    closed("127.0.0.0/8", "loopback");
    closed("169.254.0.0/16", "link-local");
    closed("172.16.0.0/12", "private use");
    for small in ["192.0.0.0/24", "192.0.0.0/29", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170/31"] {
        closed(small, "IETF protocol assignments");
    }
    closed("192.0.2.0/24", "documentation");
    closed("192.88.99.0/24", "6to4 relay");
    closed("192.168.0.0/16", "private use");
    closed("198.18.0.0/15", "benchmarking");
    closed("198.51.100.0/24", "documentation");
    closed("203.0.113.0/24", "documentation");
    closed("224.0.0.0/4", "multicast");
    closed("240.0.0.0/4", "reserved");
    closed("255.255.255.255", "broadcast");
}

#[test]
fn the_neighbours_of_special_blocks_of_ipv4_are_open() {
    for edge in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.1.255",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "8.8.8.8",
        // In the registry, and globally reachable by it: AS112 and AMT.
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
    ] {
        open(edge);
    }
}

/// The IANA IPv6 Special-Purpose Address Registry, and the rest of the address space.
#[test]
fn survives_h1_every_special_block_of_ipv6_is_closed_to_its_edges() {
    closed("::1/128", "loopback");
    closed("::/128", "unspecified");
    closed("64:ff9b:1::/48", "local-use");
    closed("100::/64", "discard");
    closed("100:0:0:1::/64", "dummy");
    closed("2001::/32", "Teredo");
    for small in [
        "2001:1::/32",
        "2001:1::1",
        "2001:1::2",
        "2001:1::3",
        "2001:3::/32",
        "2001:4:112::/48",
        "2001:1ff::/32",
    ] {
        closed(small, "IETF protocol assignments");
    }
    closed("2001:2::/48", "benchmarking");
    closed("2001:10::/28", "ORCHID");
    closed("2001:20::/28", "ORCHIDv2");
    closed("2001:30::/28", "drone");
    closed("2001:db8::/32", "documentation");
    closed("2002::/16", "6to4");
    closed("3fff::/20", "documentation");
    closed("5f00::/16", "segment routing");
    closed("fc00::/7", "unique local");
    closed("fe80::/10", "link-local");
    closed("fec0::/10", "site-local");
    closed("ff00::/8", "multicast");
    for unused in [
        "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/4", "6000::/3", "8000::/3", "a000::/3",
        "c000::/3", "e000::/4", "f000::/5", "f800::/6",
    ] {
        closed(unused, "outside the global unicast space");
    }
    for reserved in [
        "::1:0:0/96",
        "0:0:0:1::/64",
        "64::/32",
        "64:ff9b:0:0:0:1::/96",
        "64:ff9b:2::/48",
        "ff::/16",
        "fe00::/9",
    ] {
        closed(reserved, "reserved");
    }
}

#[test]
fn the_neighbours_of_special_blocks_of_ipv6_are_open() {
    for edge in [
        "2000::",
        "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::",
        "2001:db7:ffff::1",
        "2001:db9::",
        "2001:ffff:ffff:ffff::1",
        "2003::",
        "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff:1000::",
        "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2606:4700::1111",
        "2620:4f:8000::1",
    ] {
        open(edge);
    }
}

#[test]
fn survives_h1_an_ipv4_address_inside_ipv6_is_judged_too() {
    for inside in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.9", "255.255.255.255"] {
        let v4: Ipv4Addr = inside.parse().unwrap();
        let [high, low] = [v4.to_bits() >> 16, v4.to_bits() & 0xffff];
        for outer in [
            format!("::ffff:{inside}"),
            format!("64:ff9b::{inside}"),
            format!("64:ff9b:1::{inside}"),
            format!("::{inside}"),
            format!("2002:{high:x}:{low:x}::1"),
            format!("2001:0:{high:x}:{low:x}::1"),
            format!("2001:0:808:808::{:x}:{:x}", !high & 0xffff, !low & 0xffff),
            format!("2606:4700::5efe:{high:x}:{low:x}"),
            format!("2606:4700::200:5efe:{high:x}:{low:x}"),
        ] {
            assert!(judge(&outer, &[]).is_err(), "{outer}");
            // Opening what is around it does not open what is inside it.
            assert!(judge(&outer, &["::/0"]).is_err(), "{outer}");
            assert_eq!(judge(&outer, &["::/0", "0.0.0.0/0"]), Ok(()), "{outer}");
        }
    }
    for outer in ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::5efe:808:808"] {
        open(outer);
    }
}

#[test]
fn an_opened_block_opens_its_own_addresses_and_no_others() {
    assert_eq!(judge("127.9.9.9", &["127.0.0.0/8"]), Ok(()));
    assert_eq!(judge("::ffff:127.9.9.9", &["127.0.0.0/8"]), Ok(()));
    assert!(judge("10.0.0.1", &["127.0.0.0/8"]).is_err());
    assert!(judge("::1", &["127.0.0.0/8"]).is_err());
    assert!(judge("127.0.0.1", &["::/0"]).is_err(), "a block of IPv6 holds no IPv4");
    assert_eq!(judge("::1", &["::1"]), Ok(()));
    assert_eq!(judge("10.1.2.2", &["10.1.2.3/31"]), Ok(()));
    assert!(judge("10.1.2.4", &["10.1.2.3/31"]).is_err());
    assert_eq!(judge("fd12::1", &["fd00::/8"]), Ok(()));
    assert_eq!(judge("8.8.8.8", &["127.0.0.0/8"]), Ok(()), "what is reachable stays open");
}

#[test]
fn nonsense_is_no_block() {
    for text in [
        "",
        "127.0.0.0/33",
        "::/129",
        "127.0.0.0/",
        "127.0.0.0/-1",
        "127.0.0.0/+8",
        "127/8",
        "localhost",
        "::1/8/8",
        "fe80::1%lo",
    ] {
        assert!(text.parse::<AddressBlock>().is_err(), "{text}");
    }
}
