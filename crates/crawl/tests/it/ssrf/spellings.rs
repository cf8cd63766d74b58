//! Ways to write a forbidden address as a URL, made systematically: every address in every form.

mod tricks;
mod v4;
mod v6;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

/// Forbidden addresses of IPv4, one of each kind and those that clouds answer at.
const V4: [[u8; 4]; 24] = [
    [127, 0, 0, 1],
    [127, 0, 0, 53],
    [127, 255, 255, 254],
    [0, 0, 0, 0],
    [0, 1, 2, 3],
    [10, 0, 0, 1],
    [10, 255, 255, 254],
    [100, 64, 0, 1],
    [100, 100, 100, 200],
    [169, 254, 0, 1],
    [169, 254, 169, 254],
    [172, 16, 0, 1],
    [172, 31, 255, 254],
    [192, 0, 0, 192],
    [192, 0, 2, 1],
    [192, 88, 99, 1],
    [192, 168, 0, 1],
    [192, 168, 1, 1],
    [198, 18, 0, 1],
    [198, 51, 100, 1],
    [203, 0, 113, 1],
    [224, 0, 0, 1],
    [240, 0, 0, 1],
    [255, 255, 255, 255],
];
/// Forbidden addresses of IPv6 that have no IPv4 address inside.
const V6: [&str; 17] = [
    "::1",
    "::",
    "fd00::1",
    "fd00:ec2::254",
    "fc00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "3fff::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:1::1",
    "100::1",
    "5f00::1",
    "4000::1",
];

/// Hosts around which the rest of a URL is made hard to read.
const TRICKED: [&str; 10] = [
    "127.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "0x7f.1",
    "[::1]",
    "[fd00::1]",
    "[fe80::1]",
    "[::ffff:169.254.169.254]",
];

/// One way to write one address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spelling {
    /// A whole URL, or a reference to be read on an http page.
    pub(crate) text: Vec<u8>,
    /// Whether an IPv4 address stands inside an IPv6 one.
    pub(crate) is_v4_in_v6: bool,
}

impl Spelling {
    fn new(text: impl Into<Vec<u8>>, is_v4_in_v6: bool) -> Self {
        Self { text: text.into(), is_v4_in_v6 }
    }
    /// Whether it can stand in a header field.
    pub(crate) fn is_one_line(&self) -> bool {
        !self.text.iter().any(|byte| b"\r\n\0".contains(byte))
    }
}

/// All of them, each once.
pub(crate) fn all() -> Vec<Spelling> {
    let v4 = V4.map(Ipv4Addr::from);
    let hosts =
        v4.into_iter().flat_map(v4::hosts).chain(V6.iter().flat_map(|v6| v6::hosts(v6.parse().unwrap())));
    let inside = v4.into_iter().flat_map(v6::with_inside).flat_map(v6::hosts);
    let whole = |host: String| format!("http://{host}/");
    let plain = hosts.chain(tricks::NAMES.map(str::to_owned)).map(|host| Spelling::new(whole(host), false));
    let tricky = TRICKED.into_iter().flat_map(tricks::around).map(|text| Spelling::new(text, false));
    let inside = inside.map(|host| Spelling::new(whole(host), true));
    plain.chain(tricky).chain(inside).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Every forbidden address itself, with those of IPv6 that have one of IPv4 inside.
pub(crate) fn addresses() -> Vec<IpAddr> {
    let v4 = V4.map(Ipv4Addr::from);
    let inside = v4.into_iter().flat_map(|address| v6::with_inside(address).map(IpAddr::V6));
    let v6 = V6.iter().map(|text| text.parse().unwrap());
    v4.map(IpAddr::V4).into_iter().chain(inside).chain(v6).collect::<BTreeSet<_>>().into_iter().collect()
}
