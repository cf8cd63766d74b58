//! Which addresses may be connected to (H1).
//!
//! Everything that is globally reachable may, and of the rest what the operator opened by name. This is written apart
//! from the crawler's own check and shares nothing with it: a mistake in one of them is not a mistake in both.
//!
//! **Invariant:** an address is judged by its bytes, together with every IPv4 address that hides inside it, and passes
//! only if all of them do.

mod table;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// What may be connected to.
#[derive(Clone, Debug, Default)]
pub struct AddressRules {
    /// Special addresses that are open all the same.
    pub opened: Vec<AddressBlock>,
}

/// Why an address may not be connected to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{address}` is not open: {why}")]
pub struct ForbiddenAddress {
    /// The address as it was asked for.
    pub address: IpAddr,
    /// The block it lies in.
    pub why: &'static str,
}

impl AddressRules {
    /// Whether `address` may be connected to.
    pub fn judge(&self, address: IpAddr) -> Result<(), ForbiddenAddress> {
        let refuse = |why| Err(ForbiddenAddress { address, why });
        let closed = readings(address).into_iter().flatten().find_map(|reading| self.closed(reading));
        closed.map_or(Ok(()), refuse)
    }

    /// Why one reading of an address is closed, if it is.
    fn closed(&self, reading: IpAddr) -> Option<&'static str> {
        let why = table::special(place(reading))?;
        (!self.opened.iter().any(|range| range.contains(reading))).then_some(why)
    }
}

/// The form of an address by which it is counted: an IPv4 address stays one inside its IPv6 clothes.
pub(crate) fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// Where an address stands in the table: IPv4 lies inside IPv6, at `::ffff:0:0/96`.
fn place(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address, and those that a gateway on the way may turn it into.
fn readings(address: IpAddr) -> [Option<IpAddr>; 3] {
    let address = canonical(address);
    let IpAddr::V6(outer) = address else { return [Some(address), None, None] };
    let [first, second] = hidden(outer).map(|inner| inner.map(IpAddr::V4));
    [Some(address), first, second]
}

const TEREDO: u128 = 0x2001_0000 << 96;
const SIX_TO_FOUR: u128 = 0x2002 << 112;
const NAT64: u128 = 0x0064_ff9b << 96;
const LOCAL_NAT64: u128 = 0x0064_ff9b_0001 << 80;
/// The upper half of an interface identifier of ISATAP, for private and for global addresses (RFC 5214).
const ISATAP: [u128; 2] = [0x0000_5efe, 0x0200_5efe];

/// The IPv4 addresses inside an IPv6 address.
fn hidden(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let bits = address.to_bits();
    let starts = |network: u128, length: u32| (bits ^ network) >> (128 - length) == 0;
    let at = |shift: u32| Some(Ipv4Addr::from_bits(low_half(bits >> shift)));
    if starts(TEREDO, 32) {
        // The server in the clear, the client with every bit turned (RFC 4380).
        return [at(64), Some(Ipv4Addr::from_bits(!low_half(bits)))];
    }
    if starts(SIX_TO_FOUR, 16) {
        return [at(80), None];
    }
    let is_isatap = ISATAP.contains(&((bits >> 32) & 0xffff_ffff));
    // The first two only look as if they held one.
    let is_compatible = starts(0, 96) && bits > 1;
    let holds = starts(NAT64, 96) || starts(LOCAL_NAT64, 48) || is_compatible || is_isatap;
    [if holds { at(0) } else { None }, None]
}

#[expect(clippy::cast_possible_truncation, reason = "the lower 32 bits are what is wanted")]
const fn low_half(bits: u128) -> u32 {
    bits as u32
}

/// A block of addresses, written `127.0.0.0/8` or `fd00::/8`; a bare address is a block of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressBlock {
    network: IpAddr,
    bits: u8,
}

impl AddressBlock {
    /// Whether `address` lies in the block. A block of IPv6 holds no IPv4 address, whatever its clothes.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.network.is_ipv4() && self.span().contains(&place(address))
    }

    fn span(&self) -> RangeInclusive<u128> {
        let free_bits = if self.network.is_ipv4() { 32 - self.bits } else { 128 - self.bits };
        let free = u128::MAX.checked_shr(128 - u32::from(free_bits)).unwrap_or(0);
        let first = place(self.network) & !free;
        first..=first | free
    }
}

impl std::fmt::Display for AddressBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.network, self.bits)
    }
}

/// Why a text is no block of addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no block of addresses; write a network and its bits, such as `127.0.0.0/8` or `fd00::/8`")]
pub struct BlockError(String);

impl FromStr for AddressBlock {
    type Err = BlockError;

    fn from_str(text: &str) -> Result<Self, BlockError> {
        let refuse = || BlockError(text.to_owned());
        let (network, bits) = text.split_once('/').map_or((text, None), |(n, bits)| (n, Some(bits)));
        let network: IpAddr = network.parse().map_err(|_| refuse())?;
        let most: u8 = if network.is_ipv4() { 32 } else { 128 };
        let digits = bits.is_none_or(|bits| !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit()));
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| refuse())?;
        if digits && bits <= most { Ok(Self { network, bits }) } else { Err(refuse()) }
    }
}

#[cfg(test)]
mod tests;
