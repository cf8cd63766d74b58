//! URIs (RFC 3986), as far as their characters and their outer form go.

use std::fmt;

/// What keeps a text from being a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It is empty.
    Empty,
    /// It contains white space or a control character.
    Blank,
    /// It does not begin with a scheme and a colon.
    NoScheme,
    /// There is a scheme and nothing else.
    OnlyScheme,
    /// A character that must be escaped is not. Browsers and crawlers leave many of them as they are.
    Unescaped(char),
    /// A `%` is not followed by two hexadecimal digits.
    Escape,
    /// The host or the port is malformed.
    Authority,
}

impl Flaw {
    /// Whether crawlers that accept URLs like browsers write such ones.
    pub(super) fn is_usual(self) -> bool {
        matches!(self, Self::Unescaped(_) | Self::Escape | Self::Authority)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty; expected a URI"),
            Self::Blank => f.write_str("contains white space"),
            Self::NoScheme => f.write_str("has no scheme; expected a URI such as `https://example.org/`"),
            Self::OnlyScheme => f.write_str("is a scheme and nothing else; expected a URI"),
            Self::Unescaped(c) => write!(f, "has the character `{}` unescaped", c.escape_debug()),
            Self::Escape => f.write_str("has a `%` that is not followed by two hexadecimal digits"),
            Self::Authority => f.write_str("has a malformed host or port"),
        }
    }
}

/// Whether `uri` is one.
pub(super) fn check(uri: &str) -> Result<(), Flaw> {
    if uri.is_empty() {
        return Err(Flaw::Empty);
    }
    if uri.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Flaw::Blank);
    }
    let (scheme, rest) = uri.split_once(':').ok_or(Flaw::NoScheme)?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if !is_scheme {
        return Err(Flaw::NoScheme);
    }
    if rest.is_empty() {
        return Err(Flaw::OnlyScheme);
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(after) => after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len())),
        None => ("", rest),
    };
    check_authority(authority)?;
    check_characters(path)?;
    // The fragment begins at the first `#`; a second one must be escaped.
    if path.matches('#').nth(1).is_some() { Err(Flaw::Unescaped('#')) } else { Ok(()) }
}

fn check_authority(authority: &str) -> Result<(), Flaw> {
    let (user, host_and_port) = authority.rsplit_once('@').unwrap_or(("", authority));
    check_characters(user)?;
    let (host, port) = match host_and_port.strip_prefix('[') {
        Some(literal) => {
            let (address, after) = literal.split_once(']').ok_or(Flaw::Authority)?;
            let is_address = address.parse::<std::net::Ipv6Addr>().is_ok() || address.starts_with(['v', 'V']);
            let port = if after.is_empty() { Some("") } else { after.strip_prefix(':') };
            (if is_address { "" } else { return Err(Flaw::Authority) }, port.ok_or(Flaw::Authority)?)
        }
        None => host_and_port.split_once(':').unwrap_or((host_and_port, "")),
    };
    check_characters(host)?;
    if port.bytes().all(|b| b.is_ascii_digit()) { Ok(()) } else { Err(Flaw::Authority) }
}

fn check_characters(part: &str) -> Result<(), Flaw> {
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        match c {
            '%' => {
                let two = rest.as_str().get(..2).ok_or(Flaw::Escape)?;
                if !two.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(Flaw::Escape);
                }
            }
            c if c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@/?#".contains(c) => {}
            c => return Err(Flaw::Unescaped(c)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_every_kind_are_uris() {
        for uri in [
            "http://example.org",
            "https://user:secret@example.org:8443/a/b?c=d&e#f",
            "http://[2001:db8::1]:80/",
            "http://例え.example/".replace("例え", "xn--r8jz45g").as_str(),
            "urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39",
            "urn:X-wpull:log",
            "dns:www.archive.org",
            "ftp://ftp.example.org/%E6%97%A5",
            "mailto:a@example.org",
            "file:///var/www/x",
            "metadata://gnu.org/software/wget/warc/MANIFEST.txt",
            "screenshot:http://example.com/",
            "http://example.com?example=1",
            "http:/",
        ] {
            assert_eq!(check(uri), Ok(()), "{uri}");
        }
    }

    #[test]
    fn other_texts_give_the_flaw() {
        for (uri, flaw) in [
            ("", Flaw::Empty),
            ("http://example.org/a b", Flaw::Blank),
            ("http://example.org/\u{3000}", Flaw::Blank),
            ("www.example.org/", Flaw::NoScheme),
            ("/index.html", Flaw::NoScheme),
            ("1http://example.org/", Flaw::NoScheme),
            ("://example.org/", Flaw::NoScheme),
            ("ht tp://example.org/", Flaw::Blank),
            ("http:", Flaw::OnlyScheme),
            ("<http://example.org/>", Flaw::NoScheme),
            ("http://example.org/a|b", Flaw::Unescaped('|')),
            ("http://example.org/日", Flaw::Unescaped('日')),
            ("http://example.org/[a]", Flaw::Unescaped('[')),
            ("http://example.org/#a#b", Flaw::Unescaped('#')),
            ("http://example.org/%", Flaw::Escape),
            ("http://example.org/%4", Flaw::Escape),
            ("http://example.org/%zz", Flaw::Escape),
            ("http://example.org/%日", Flaw::Escape),
            ("http://[::1/", Flaw::Authority),
            ("http://[nonsense]/", Flaw::Authority),
            ("http://example.org:eighty/", Flaw::Authority),
            ("http://[::1]80/", Flaw::Authority),
        ] {
            assert_eq!(check(uri), Err(flaw), "{uri}");
        }
    }
}
