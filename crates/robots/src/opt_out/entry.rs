//! The meaning of one line of an opt-out list.

use base::AddressRange;
use base::url::UrlError;
use base::{PageUrl, ServerName, UrlKey};
use std::net::IpAddr;

/// What a line excludes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A host, on every port.
    Host(Box<str>),
    /// A server on a port of its own.
    Server(Box<str>),
    /// A domain and everything below.
    Domain(Box<str>),
    /// Pages whose [`plain`] key has this prefix.
    Prefix(Box<[u8]>),
    /// Addresses.
    Network(Network),
}

/// Why a line has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Why {
    #[error("is more than one word; write one entry a line, and `#` before a comment")]
    Words,
    #[error(
        "has a `*`, which stands only at the beginning (`*.example.org`); write the beginning of the URL"
    )]
    Star,
    #[error("is no server, domain, URL or range of addresses: {0}")]
    Url(UrlError),
    #[error(
        "is no range of addresses; write a network and its bits, such as `192.0.2.0/24` or `2001:db8::/32`"
    )]
    AddressRange,
    #[error(
        "is no domain, which has neither port nor address; write it without the dot, or without the port"
    )]
    Domain,
    #[error("is one line too many; a list has at most {} entries", super::LINES_MAX)]
    TooMany,
}

impl Entry {
    pub(super) fn read(text: &str) -> Result<Self, Why> {
        if text.contains(char::is_whitespace) {
            return Err(Why::Words);
        }
        let below = text.strip_prefix("*.").or_else(|| text.strip_prefix('.'));
        if below.unwrap_or(text).contains('*') {
            return Err(Why::Star);
        }
        match below {
            Some(domain) => Self::domain(domain),
            None if is_range(text) => Network::read(text).map(Self::Network),
            None => Self::page(text),
        }
    }

    fn domain(text: &str) -> Result<Self, Why> {
        let name = ServerName::parse(text).map_err(Why::Url)?;
        // `.192.0.2.1` and `.example.org:80` are not domains.
        if name.port().is_some() || name.address().is_some() || text.contains(':') {
            return Err(Why::Domain);
        }
        Ok(Self::Domain(name.host().into()))
    }

    /// A server or the prefix of a URL, with or without its scheme.
    fn page(text: &str) -> Result<Self, Why> {
        let url = with_any_scheme(text).map_err(Why::Url)?;
        if url.target() != "/" {
            return Ok(Self::Prefix(plain(&url.key()).into()));
        }
        let server = url.server();
        Ok(match (server.port(), server.address()) {
            (Some(_), _) => Self::Server(server.as_str().into()),
            (None, Some(address)) => Self::Network(Network::of(address, u8::MAX)),
            (None, None) => Self::Host(server.host().into()),
        })
    }
}

/// Parses a URL that may lack its scheme; the default port of https then means https.
fn with_any_scheme(text: &str) -> Result<PageUrl, UrlError> {
    if text.contains("://") {
        return PageUrl::parse(text);
    }
    let url = PageUrl::parse(&format!("http://{text}"))?;
    if url.server().port() == Some(443) { PageUrl::parse(&format!("https://{text}")) } else { Ok(url) }
}

/// A bare address, or an address followed by a slash and a number of bits.
fn is_range(text: &str) -> bool {
    let network = text.split_once('/').map_or(text, |(network, _)| network);
    let bits = text.split_once('/').map_or("", |(_, bits)| bits);
    network.parse::<IpAddr>().is_ok() && bits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Addresses whose first bits are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Network {
    is_v6: bool,
    bits: u8,
    start: u128,
}

impl Network {
    fn read(text: &str) -> Result<Self, Why> {
        // Parsed like every other address range.
        text.parse::<AddressRange>().map_err(|_| Why::AddressRange)?;
        let (network, bits) = text.split_once('/').unwrap_or((text, ""));
        let address: IpAddr = network.parse().map_err(|_| Why::AddressRange)?;
        let bits = if bits.is_empty() { Ok(u8::MAX) } else { bits.parse() };
        Ok(Self::of(address, bits.map_err(|_| Why::AddressRange)?))
    }

    /// The network of this many bits around an address, at most as many as the address has. IPv4 inside IPv6 is IPv4.
    fn of(address: IpAddr, bits: u8) -> Self {
        let shortened = if address.is_ipv6() && address.to_canonical().is_ipv4() && bits <= 128 {
            bits.saturating_sub(96)
        } else {
            bits
        };
        match address.to_canonical() {
            IpAddr::V4(v4) => Self::masked(false, u128::from(v4.to_bits()) << 96, shortened.min(32)),
            IpAddr::V6(v6) => Self::masked(true, v6.to_bits(), shortened.min(128)),
        }
    }
    fn masked(is_v6: bool, address: u128, bits: u8) -> Self {
        let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
        Self { is_v6, bits, start: address & mask }
    }

    /// Networks with an equal value share one look-up of an address.
    pub(super) fn kind(&self) -> (bool, u8) {
        (self.is_v6, self.bits)
    }
    /// The network of this kind that contains an address, if one can.
    pub(super) fn around(address: IpAddr, (is_v6, bits): (bool, u8)) -> Option<Self> {
        let address = address.to_canonical();
        (address.is_ipv6() == is_v6).then(|| Self::of(address, bits))
    }
}

/// A key with every escape decoded and repeated slashes merged: the form in which prefixes are compared.
pub(super) fn plain(key: &UrlKey) -> Vec<u8> {
    let mut plain: Vec<u8> = Vec::with_capacity(key.as_str().len());
    let mut rest = key.as_str().as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, behind) = match rest {
            [b'%', high, low, behind @ ..] => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high * 16 + low, behind),
                _ => (b'%', after),
            },
            _ => (*first, after),
        };
        if byte != b'/' || plain.last() != Some(&b'/') {
            plain.push(byte);
        }
        rest = behind;
    }
    plain
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
