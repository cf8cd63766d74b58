//! An IPv4 address as a host: numbers of any base and count, digits of any script that means the same.

use std::net::Ipv4Addr;

/// The address in every form.
pub(super) fn hosts(address: Ipv4Addr) -> Vec<String> {
    let dotted = address.to_string();
    let mut hosts = numbers(address);
    hosts.extend([format!("{dotted}."), format!("{dotted}.."), format!("{}.", u32::from(address))]);
    hosts.extend(scripts(&dotted));
    hosts
        .extend(["\u{3002}", "\u{ff0e}", "\u{ff61}", "%2e", "%E3%80%82"].map(|dot| dotted.replace('.', dot)));
    hosts.extend(escaped(&dotted));
    hosts.extend(["\u{ad}", "\u{200b}", "\u{2060}", "\u{fe0f}", "\t", "\n", "\r\n", "%C2%AD"].map(
        |nothing| {
            // What counts as not there, in the middle.
            dotted.replacen('.', &format!("{nothing}.{nothing}"), 2)
        },
    ));
    hosts
}

/// In one, two, three and four parts, in bases eight, ten and sixteen.
fn numbers(address: Ipv4Addr) -> Vec<String> {
    let ([a, b, c, d], whole) = (address.octets(), u32::from(address));
    let (low24, low16) = (whole & 0xff_ffff, whole & 0xffff);
    vec![
        address.to_string(),
        format!("{whole}"),
        format!("{whole:#x}"),
        format!("0X{whole:X}"),
        format!("0{whole:o}"),
        format!("0x{whole:020x}"),
        format!("{whole:0>24o}"),
        format!("{a}.{low24}"),
        format!("{a:#x}.{low24:#x}"),
        format!("0{a:o}.0{low24:o}"),
        format!("{a}.{b}.{low16}"),
        format!("{a:#x}.{b:#x}.{low16:#x}"),
        format!("0{a:o}.0{b:o}.0{low16:o}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0x{a:04x}.0x{b:04X}.0x{c:04x}.0X{d:04x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.000{b:o}.000{c:o}.000{d:o}"),
        format!("{a:#x}.{b}.0{c:o}.{d}"),
        format!("0{a:o}.{b:#x}.{c}.{d}"),
        format!("{a}.{b:#x}.0{low16:o}"),
    ]
}

/// In digits that are only another way to write the plain ones.
fn scripts(dotted: &str) -> Vec<String> {
    // Full-width, bold, double-struck, sans-serif, monospace: ten in a row each, from the zero.
    let rows = [0xff10, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7f6, 0x1fbf0]
        .map(|zero| move |digit: u32| char::from_u32(zero + digit));
    let in_rows = rows.iter().map(|row| replaced(dotted, row));
    let circled = replaced(dotted, &|digit| char::from_u32(if digit == 0 { 0x24ea } else { 0x245f + digit }));
    let raised = replaced(dotted, &|digit| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize));
    let lowered = replaced(dotted, &|digit| char::from_u32(0x2080 + digit));
    let mixed = dotted.replacen('1', "①", 1).replacen('2', "２", 1).replacen('0', "𝟎", 1);
    in_rows.chain([circled, raised, lowered, mixed]).collect()
}

fn replaced(dotted: &str, row: &dyn Fn(u32) -> Option<char>) -> String {
    dotted.chars().map(|c| c.to_digit(10).and_then(row).unwrap_or(c)).collect()
}

/// With the characters escaped: all, the first, and the bytes of full-width ones.
fn escaped(dotted: &str) -> Vec<String> {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let wide = replaced(dotted, &|digit| char::from_u32(0xff10 + digit));
    vec![escape(dotted), format!("{}{}", escape(&dotted[..1]), &dotted[1..]), escape(&wide)]
}
