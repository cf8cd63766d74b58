//! Blocks of addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A block of addresses, written `127.0.0.0/8` or `fd00::/8`; a bare address is a block of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressRange {
    network: IpAddr,
    prefix_bits: u8,
}

impl AddressRange {
    /// The addresses of this machine alone, where the simulated web lives (D19).
    pub const LOOPBACK: Self = Self::v4([127, 0, 0, 0], 8);

    /// A block of IPv4 addresses, for tables in the program.
    #[must_use]
    pub const fn v4(network: [u8; 4], prefix_bits: u8) -> Self {
        assert!(prefix_bits <= 32, "an IPv4 address has 32 bits");
        let [a, b, c, d] = network;
        Self { network: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix_bits }
    }
    /// A block of IPv6 addresses, for tables in the program.
    #[must_use]
    pub const fn v6(network: [u16; 8], prefix_bits: u8) -> Self {
        assert!(prefix_bits <= 128, "an IPv6 address has 128 bits");
        let [a, b, c, d, e, f, g, h] = network;
        Self { network: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), prefix_bits }
    }

    /// Whether every address of the block belongs to this machine: in 127/8, or `::1`.
    #[must_use]
    pub fn is_loopback(self) -> bool {
        match self.network {
            IpAddr::V4(_) => self.prefix_bits >= 8 && Self::LOOPBACK.contains(self.network),
            IpAddr::V6(network) => self.prefix_bits == 128 && network == Ipv6Addr::LOCALHOST,
        }
    }
    /// Whether `address` lies in the block. IPv4-mapped addresses are not converted.
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

/// Whether the first `bits` of two numbers agree. A shift by all 128 bits gives `None`, which means that none are
/// compared.
fn same_prefix(a: u128, b: u128, bits: u8) -> bool {
    (a ^ b).checked_shr(128 - u32::from(bits)).unwrap_or(0) == 0
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix_bits)
    }
}

/// Why a text is not a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a range of addresses; write a network and its bits, such as `127.0.0.0/8` or `fd00::/8`"
)]
pub struct AddressRangeError(String);

impl FromStr for AddressRange {
    type Err = AddressRangeError;

    fn from_str(text: &str) -> Result<Self, AddressRangeError> {
        let refuse = || AddressRangeError(text.to_owned());
        let (network, bits) =
            text.split_once('/').map_or((text, None), |(network, bits)| (network, Some(bits)));
        let network: IpAddr = network.parse().map_err(|_| refuse())?;
        let bits_max = if network.is_ipv4() { 32 } else { 128 };
        let prefix_bits = bits.map_or(Ok(bits_max), str::parse).map_err(|_| refuse())?;
        if prefix_bits > bits_max { Err(refuse()) } else { Ok(Self { network, prefix_bits }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(range: &str, address: &str, expected: bool) {
        let range: AddressRange = range.parse().unwrap();
        assert_eq!(range.contains(address.parse().unwrap()), expected, "{address} in {range}");
    }

    #[test]
    fn a_range_contains_exactly_its_addresses() {
        check("127.0.0.0/8", "127.0.0.0", true);
        check("127.0.0.0/8", "127.255.255.255", true);
        check("127.0.0.0/8", "126.255.255.255", false);
        check("127.0.0.0/8", "128.0.0.0", false);
        check("10.1.2.3", "10.1.2.3", true);
        check("10.1.2.3", "10.1.2.2", false);
        check("10.1.2.3/31", "10.1.2.2", true);
        check("fd00::/8", "fdff::1", true);
        check("fd00::/8", "fc00::1", false);
        check("0.0.0.0/0", "203.0.113.9", true);
        check("0.0.0.0/0", "2001:db8::1", false);
        check("::/0", "2001:db8::1", true);
        check("::/0", "203.0.113.9", false);
        check("::1", "127.0.0.1", false);
        check("::ffff:0:0/96", "127.0.0.1", false);
        assert_eq!("127.0.0.0/8".parse(), Ok(AddressRange::LOOPBACK));
        assert_eq!(AddressRange::LOOPBACK.to_string(), "127.0.0.0/8");
    }

    #[test]
    fn other_texts_are_not_ranges() {
        for text in
            ["", "127.0.0.0/33", "::/129", "127.0.0.0/", "127.0.0.0/-1", "127/8", "localhost", "::1/8/8"]
        {
            assert!(text.parse::<AddressRange>().is_err(), "{text}");
        }
    }
}
