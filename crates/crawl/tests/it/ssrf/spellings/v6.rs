//! An IPv6 address as a host, and the IPv6 addresses that have an IPv4 one inside.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The address in every form.
pub(super) fn hosts(address: Ipv6Addr) -> Vec<String> {
    let segments = address.segments();
    let (short, [.., high, low]) = (address.to_string(), segments);
    let join = |parts: Vec<String>| parts.join(":");
    let full = join(segments.iter().map(|segment| format!("{segment:04x}")).collect());
    let bare = join(segments.iter().map(|segment| format!("{segment:x}")).collect());
    let tail = Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    let dotted =
        format!("{}:{tail}", join(segments[..6].iter().map(|segment| format!("{segment:X}")).collect()));
    [short, full.to_uppercase(), bare, dotted].map(|host| format!("[{host}]")).into()
}

/// The forms in which an IPv4 address stands inside.
pub(super) fn with_inside(address: Ipv4Addr) -> [Ipv6Addr; 10] {
    let whole = u128::from(u32::from(address));
    let [high, low] = [whole >> 16, whole & 0xffff];
    let at = |prefix: u128, rest: u128| Ipv6Addr::from_bits(prefix << 96 | rest);
    let public = 0x2606_4700;
    [
        // IPv4-mapped, IPv4-compatible, IPv4-translated.
        at(0, 0xffff << 32 | whole),
        at(0, whole),
        at(0, 0xffff << 48 | whole),
        // NAT64, and its local form.
        at(0x64_ff9b, whole),
        at(0x64_ff9b, 1 << 80 | whole),
        // 6to4.
        at(0x2002 << 16 | high, low << 80 | 1),
        // Teredo: as the server, as the client.
        at(0x2001 << 16, whole << 64 | 0x1234),
        at(0x2001 << 16, 0x0808_0808 << 64 | (!whole & 0xffff_ffff)),
        // ISATAP on a public network, by both marks.
        at(public, 0x5efe << 32 | whole),
        at(public, 0x0200_5efe << 32 | whole),
    ]
}
