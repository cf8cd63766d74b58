//! Maps servers to names and addresses, and names back to servers, without a table.
//!
//! Servers are grouped in blocks of four. By the draw of its block a server has its own registrable domain or shares
//! one with its neighbours under another label (`www.sakura-12.example`, `blog.sakura-12.example`). The domain
//! contains the number of its first server, so a name is resolved by building the few candidates and comparing.
//!
//! **Invariant:** names are unique; two servers have one address exactly if they share one by [`Names::address`]'s
//! groups.

use crate::draw::{draw, happens, index, push_number};
use crate::hostile::{self, HostileKind};
use crate::text::TextLanguage;
use std::net::Ipv4Addr;

/// The names of a web's servers.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    seed: u64,
    servers: u32,
    hostile: u32,
}

/// The server that a host name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An honest server, and whether this is its other name.
    Honest { number: u32, alias: bool },
    /// A hostile one.
    Hostile(u32),
}

const BLOCK: u32 = 4;
const LABELS: [&str; 4] = ["www.", "blog.", "shop.", "news."];
const ZONE: &str = ".example";
const JAPANESE: [&str; 24] = [
    "sakura", "midori", "hoshi", "kawa", "yama", "hikari", "tsubasa", "kaze", "umi", "mori", "asahi", "yuki",
    "hana", "sora", "tanuki", "matsu", "take", "ume", "nagi", "kumo", "ishi", "izumi", "komachi", "tabi",
];
const ENGLISH: [&str; 24] = [
    "maple", "harbour", "river", "meadow", "lantern", "granite", "willow", "beacon", "orchard", "summit",
    "cedar", "compass", "heron", "juniper", "kestrel", "lagoon", "marble", "nimbus", "otter", "prairie",
    "quill", "saffron", "thistle", "walnut",
];

// Salts of the draws for blocks, domains, servers and address groups.
const LAYOUT: u64 = 0x6e61_6d65_0001;
const LANGUAGE: u64 = 0x6e61_6d65_0002;
const WORD: u64 = 0x6e61_6d65_0003;
const WWW: u64 = 0x6e61_6d65_0004;
const ALIAS: u64 = 0x6e61_6d65_0005;
const SHARED: u64 = 0x6e61_6d65_0006;
const MEMBERS: u64 = 0x6e61_6d65_0007;

impl Names {
    pub(crate) fn new(seed: u64, servers: u32, hostile: u32) -> Self {
        assert!(u64::from(servers) + u64::from(hostile) < ADDRESSES, "there are only {ADDRESSES} addresses");
        Self { seed, servers, hostile }
    }

    fn draw(&self, question: u64, number: u32) -> u64 {
        draw(draw(self.seed, question), u64::from(number))
    }

    /// The host name of server `number`.
    pub(crate) fn host(&self, number: u32) -> String {
        let mut host = String::new();
        self.push_host(&mut host, number);
        host
    }
    /// Appends the host name of server `number`.
    pub(crate) fn push_host(&self, out: &mut String, number: u32) {
        self.push_labelled(out, number, self.label(number));
    }

    /// The part before the registrable domain, with its dot; empty if there is none.
    pub(crate) fn label(&self, number: u32) -> &'static str {
        let first = number / BLOCK * BLOCK;
        match (self.draw(LAYOUT, first), number - first) {
            (layout, place) if shares(layout, place) => LABELS[place as usize % LABELS.len()],
            _ if happens(self.draw(WWW, number), 500) => "www.",
            _ => "",
        }
    }

    /// The other name of server `number`, if it has one: without `www.`, or with it.
    pub(crate) fn alias(&self, number: u32) -> Option<String> {
        let other = match self.label(number) {
            "" => "www.",
            "www." => "",
            _ => return None,
        };
        happens(self.draw(ALIAS, number), 70).then(|| {
            let mut host = String::new();
            self.push_labelled(&mut host, number, other);
            host
        })
    }

    /// The language of a server's domain.
    pub(crate) fn language(&self, number: u32) -> TextLanguage {
        let japanese = happens(self.draw(LANGUAGE, self.domain(number)), 600);
        if japanese { TextLanguage::Japanese } else { TextLanguage::English }
    }

    /// The first server of the registrable domain that server `number` is in.
    fn domain(&self, number: u32) -> u32 {
        let first = number / BLOCK * BLOCK;
        if shares(self.draw(LAYOUT, first), number - first) { first } else { number }
    }

    fn push_labelled(&self, out: &mut String, number: u32, label: &str) {
        let domain = self.domain(number);
        let words = if self.language(number) == TextLanguage::Japanese { &JAPANESE } else { &ENGLISH };
        out.push_str(label);
        out.push_str(words[index(self.draw(WORD, domain), words.len())]);
        out.push('-');
        push_number(out, u64::from(domain));
        out.push_str(ZONE);
    }

    /// The server that `host` belongs to.
    pub(crate) fn owner(&self, host: &str) -> Option<Owner> {
        if let Some(number) = hostile::number(host, self.hostile) {
            return Some(Owner::Hostile(number));
        }
        let (_, digits) = host.strip_suffix(ZONE)?.rsplit_once('-')?;
        let domain: u32 = digits.parse().ok()?;
        let last = domain.saturating_add(BLOCK).min(self.servers);
        (domain..last).find_map(|number| self.honest(host, number))
    }

    fn honest(&self, host: &str, number: u32) -> Option<Owner> {
        let mut name = String::with_capacity(40);
        self.push_host(&mut name, number);
        if name == host {
            return Some(Owner::Honest { number, alias: false });
        }
        self.alias(number).filter(|alias| alias == host).map(|_| Owner::Honest { number, alias: true })
    }

    /// The address of a server.
    ///
    /// Servers form groups of up to ten of very different size. In half of the groups the first two to ten share the first
    /// one's address, which is three servers in ten. Hostile servers have one each; the servers of a crowd share one.
    pub(crate) fn address(&self, owner: Owner) -> Ipv4Addr {
        match owner {
            Owner::Honest { number, .. } => nth_address(u64::from(self.address_group(number))),
            Owner::Hostile(number) => {
                nth_address(u64::from(self.servers) + u64::from(hostile_address_group(number)))
            }
        }
    }

    fn address_group(&self, number: u32) -> u32 {
        let groups = self.servers.div_ceil(10).max(1);
        let (first, place) = (number % groups, u64::from(number / groups));
        let members = 2 + crate::draw::below(self.draw(MEMBERS, first), 9);
        if happens(self.draw(SHARED, first), 500) && place < members { first } else { number }
    }
}

/// Whether the server at `place` of a block with this draw shares the domain of the block's first server.
fn shares(layout: u64, place: u32) -> bool {
    match crate::draw::below(layout, 10) {
        0..5 => false,
        5..8 => place < 2,
        _ => true,
    }
}

/// All servers of a crowd have the address of the first.
fn hostile_address_group(number: u32) -> u32 {
    let crowd = HostileKind::ALL
        .iter()
        .position(|kind| *kind == HostileKind::Crowd)
        .and_then(|place| u32::try_from(place).ok());
    if hostile::kind(number) == HostileKind::Crowd { crowd.unwrap_or(number) } else { number }
}

/// From 127.1.0.0 to 127.254.255.254.
const ADDRESSES: u64 = 254 * 65_536 - 1;
/// Without a common divisor with [`ADDRESSES`], so that consecutive numbers lie far apart and no two are equal.
const STRIDE: u64 = 6_364_139;
const _: () = assert!(common_divisor(ADDRESSES, STRIDE) == 1);

const fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn nth_address(number: u64) -> Ipv4Addr {
    let offset = u32::try_from(number * STRIDE % ADDRESSES).unwrap_or_default();
    Ipv4Addr::from_bits(Ipv4Addr::new(127, 1, 0, 0).to_bits() + offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    fn host(names: &Names, number: u32) -> String {
        let mut host = String::new();
        names.push_host(&mut host, number);
        host
    }

    #[test]
    fn names_are_unique_and_lead_back() {
        let names = Names::new(7, 20_000, 500);
        let mut seen = HashSet::new();
        for number in 0..20_000 {
            let name = host(&names, number);
            assert_eq!(names.owner(&name), Some(Owner::Honest { number, alias: false }), "{name}");
            assert!(seen.insert(name));
            if let Some(alias) = names.alias(number) {
                assert_eq!(names.owner(&alias), Some(Owner::Honest { number, alias: true }));
                assert!(seen.insert(alias));
            }
        }
        let aliases = seen.len() - 20_000;
        assert!((700..1_300).contains(&aliases), "{aliases}");
        assert_eq!(names.owner(&hostile::host(499)), Some(Owner::Hostile(499)));
        for unknown in [
            "",
            "example",
            ".example",
            "sakura.example",
            "www.sakura-x.example",
            "nobody-3.example",
            "hang-00501.example",
        ] {
            assert_eq!(names.owner(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn domains_are_shared() {
        let names = Names::new(7, 20_000, 0);
        let alone = (0..20_000).filter(|n| names.domain(*n) == *n).count();
        assert!((14_000..18_000).contains(&alone), "{alone}");
    }

    #[test]
    fn addresses_are_shared_by_groups_and_by_nobody_else() {
        let names = Names::new(7, 20_000, 360);
        let mut tenants: HashMap<Ipv4Addr, Vec<u32>> = HashMap::new();
        for number in 0..20_000 {
            let address = names.address(Owner::Honest { number, alias: false });
            tenants.entry(address).or_default().push(number);
        }
        let sharing = tenants.values().filter(|all| all.len() > 1).map(Vec::len).sum::<usize>();
        assert!((5_000..7_000).contains(&sharing), "{sharing}");
        assert!(tenants.values().all(|all| all.len() <= 10));
        let groups =
            tenants.values().all(|all| all.iter().all(|n| n % 2_000 == all[0] % 2_000) || all.len() == 1);
        assert!(groups, "a shared address is a group's");
        let hostile: HashSet<Ipv4Addr> = (0..360).map(|n| names.address(Owner::Hostile(n))).collect();
        assert_eq!(hostile.len(), 340 + 1);
        assert!(hostile.iter().all(|address| !tenants.contains_key(address)));
    }

    #[test]
    fn addresses_stay_in_their_range() {
        for number in [0, 1, 2, 1_000, ADDRESSES - 1] {
            let bits = nth_address(number).to_bits();
            assert!((0x7f01_0000..=0x7ffe_fffe).contains(&bits), "{bits:x}");
        }
    }
}
