//! Valid host names.
//!
//! **Invariant:** a [`Name`] is lower case, without a trailing dot, at most 253 bytes of labels of 1 to 63 letters,
//! digits, hyphens and underscores, and not an address: a query is never malformed, and one name has one form.

use base::server::registrable_domain;
use std::sync::Arc;

/// The longest name, as text without its trailing dot (RFC 1035).
const NAME_BYTES_MAX: usize = 253;
/// The longest label.
pub(super) const LABEL_BYTES_MAX: usize = 63;

/// These names, and names below them, do not exist on the public web (RFC 6761, 6762, 7686). They are never sent:
/// a query for them leaks information, and any answer would be wrong. `test` and `example` are left to the server, which
/// knows what they are in its network.
const NEVER_ASKED: [&str; 4] = ["localhost", "invalid", "onion", "local"];

/// A name that can be sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name(Arc<str>);

impl Name {
    /// Parses a host; `None` if it is an address or cannot be a name of the web.
    pub(super) fn parse(host: &str) -> Option<Self> {
        let bare = host.strip_suffix('.').unwrap_or(host);
        let is_name = (1..=NAME_BYTES_MAX).contains(&bare.len()) && bare.split('.').all(is_label);
        // A host that ends in a number is an address, or meant to be one (WHATWG URL).
        let last = bare.rsplit('.').next().unwrap_or_default();
        (is_name && !is_number(last)).then(|| Self(bare.to_ascii_lowercase().into()))
    }

    /// Parses the name in a message, each label preceded by its length.
    pub(super) fn from_wire(wire: &[u8]) -> Option<Self> {
        let mut text = String::with_capacity(wire.len());
        let mut rest = wire;
        while let Some((length, after)) = rest.split_first().filter(|(length, _)| **length != 0) {
            let (label, behind) = after.split_at_checked(usize::from(*length))?;
            text.push_str(std::str::from_utf8(label).ok().filter(|label| !label.contains('.'))?);
            text.push('.');
            rest = behind;
        }
        Self::parse(&text)
    }

    /// The name in wire form.
    pub(super) fn to_wire(&self) -> Vec<u8> {
        let mut wire = Vec::with_capacity(self.0.len() + 2);
        for label in self.0.split('.') {
            wire.push(u8::try_from(label.len()).expect("a label has at most 63 bytes"));
            wire.extend_from_slice(label.as_bytes());
        }
        wire.push(0);
        wire
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The unit of limits: the registrable domain; a name above those is its own unit.
    pub(super) fn zone(&self) -> &str {
        registrable_domain(&self.0).unwrap_or(&self.0)
    }

    /// Whether the name must not be sent to a server.
    pub(super) fn is_never_asked(&self) -> bool {
        NEVER_ASKED.contains(&self.0.rsplit('.').next().unwrap_or_default())
    }
}

fn is_label(label: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=LABEL_BYTES_MAX).contains(&label.len()) && label.bytes().all(is_fine)
}

fn is_number(label: &str) -> bool {
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    label.bytes().all(|byte| byte.is_ascii_digit()) || hex.is_some_and(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, expected: Option<&str>) {
        let name = Name::parse(host);
        assert_eq!(name.as_ref().map(Name::as_str), expected, "{host}");
        if let Some(name) = name {
            assert_eq!(Name::from_wire(&name.to_wire()), Some(name), "{host}");
        }
    }

    #[test]
    fn a_name_has_one_form() {
        check("www.example.jp", Some("www.example.jp"));
        check("WWW.Example.JP.", Some("www.example.jp"));
        check("_dmarc.a-b.xn--wgv71a119e.jp", Some("_dmarc.a-b.xn--wgv71a119e.jp"));
        check("-odd-.example", Some("-odd-.example"));
        check("jp", Some("jp"));
        check(&format!("{}.jp", "a".repeat(63)), Some(&format!("{}.jp", "a".repeat(63))));
        let longest = format!("{}aa.jp", "a.".repeat(124));
        assert_eq!(longest.len(), NAME_BYTES_MAX);
        check(&longest, Some(&longest));
        check(&format!("{longest}."), Some(&longest));
    }

    #[test]
    fn what_cannot_be_a_name_is_none() {
        for host in ["", ".", "..", ".a", "a..b", "a..", "a b", "a\0b", "ä.example", "a/b", "a:80", "*.a"] {
            check(host, None);
        }
        check(&format!("{}.jp", "a".repeat(64)), None);
        check(&format!("{}aaa.jp", "a.".repeat(124)), None);
        check(&"a".repeat(1 << 20), None);
    }

    #[test]
    fn an_address_is_no_name() {
        for host in [
            "127.0.0.1",
            "127.0.0.1.",
            "1",
            "0x7f.1",
            "a.0x7F",
            "a.0X7f",
            "a.0x",
            "[::1]",
            "::1",
            "1.2.3.4.5",
        ] {
            check(host, None);
        }
        check("1.2.3.a", Some("1.2.3.a"));
        check("0x7g", Some("0x7g"));
    }

    #[test]
    fn names_from_messages_are_judged_alike() {
        let check = |wire: &[u8], expected: Option<&str>| {
            assert_eq!(Name::from_wire(wire).as_ref().map(Name::as_str), expected, "{wire:?}");
        };
        check(b"\x03WwW\x02jp\0", Some("www.jp"));
        check(b"\x04a.bc\x02jp\0", None);
        check(b"\x02a\0\x02jp\0", None);
        check(b"\x02\xff\xfe\x02jp\0", None);
        check(b"\x09short", None);
        check(&[&b"\x02jp\x40"[..], &[b'a'; 64], b"\0"].concat(), None);
        check(b"\0", None);
        check(b"", None);
    }

    #[test]
    fn some_names_are_never_asked_for() {
        let never = |host: &str| Name::parse(host).unwrap().is_never_asked();
        for host in ["localhost", "LocalHost.", "a.localhost", "x.invalid", "abc.onion", "printer.local"] {
            assert!(never(host), "{host}");
        }
        for host in ["localhost.example", "a.test", "a.example", "onion.jp", "mylocal", "notlocalhost"] {
            assert!(!never(host), "{host}");
        }
    }

    #[test]
    fn a_zone_is_what_one_owner_registered() {
        let zone = |host: &str| Name::parse(host).unwrap().zone().to_owned();
        assert_eq!(zone("a.b.example.co.jp"), "example.co.jp");
        assert_eq!(zone("example.co.jp"), "example.co.jp");
        assert_eq!(zone("co.jp"), "co.jp");
        assert_eq!(zone("host"), "host");
    }
}
