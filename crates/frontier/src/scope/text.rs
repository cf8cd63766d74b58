//! Paths compared with every escape undone, without a copy of either.

/// Whether `text` begins with `start`.
pub(super) fn begins(text: &str, start: &str) -> bool {
    text.starts_with(start) || (has_escape(text, start) && begins_slowly(text.as_bytes(), start.as_bytes()))
}

/// Whether `text` contains `piece`.
pub(super) fn contains(text: &str, piece: &str) -> bool {
    let slowly = || places(text.as_bytes()).any(|at| begins_slowly(at, piece.as_bytes()));
    text.contains(piece) || (has_escape(text, piece) && slowly())
}

/// Whether `text` ends with `end`; case is ignored.
pub(super) fn ends(text: &str, end: &str) -> bool {
    let tail = text.len().checked_sub(end.len()).and_then(|at| text.as_bytes().get(at..));
    let plainly = tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()));
    let same = |at: &[u8]| {
        let (left, right) = (Unescaped(at), Unescaped(end.as_bytes()));
        left.map(|byte| byte.to_ascii_lowercase()).eq(right.map(|byte| byte.to_ascii_lowercase()))
    };
    plainly || (has_escape(text, end) && places(text.as_bytes()).any(same))
}

fn has_escape(text: &str, other: &str) -> bool {
    text.contains('%') || other.contains('%') || !other.is_ascii()
}

fn begins_slowly(text: &[u8], start: &[u8]) -> bool {
    let mut text = Unescaped(text);
    Unescaped(start).all(|byte| text.next() == Some(byte))
}

/// The rest of the text at each of its letters.
fn places(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Unescaped(text);
    std::iter::from_fn(move || {
        let here = rest.0;
        rest.next().map(|_| here)
    })
}

/// Bytes with every escape undone.
struct Unescaped<'a>(&'a [u8]);

impl Iterator for Unescaped<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (byte, rest) = match self.0 {
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (digit(*high) << 4 | digit(*low), rest)
            }
            [byte, rest @ ..] => (*byte, rest),
            [] => return None,
        };
        self.0 = rest;
        Some(byte)
    }
}

/// The value of a hexadecimal digit.
const fn digit(letter: u8) -> u8 {
    match letter {
        b'0'..=b'9' => letter - b'0',
        _ => (letter | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_equals_its_character() {
        assert!(begins("/%70rivate/x", "/private/") && begins("/private/x", "/%70riv"));
        assert!(!begins("/priv", "/private/") && !begins("/%7", "/%70"));
        assert!(contains("/a/%63gi-bin/x", "/cgi-bin/") && contains("/%E6%97%A5/x", "日/"));
        assert!(!contains("/a/cgi-bin", "/cgi-bin/") && !contains("/%E6%97", "日"));
        assert!(ends("/a.ZIP", ".zip") && ends("/a%2Ezip", ".zip") && ends("/a.zi%70", ".zip"));
        assert!(!ends("/a.zip/", ".zip") && !ends("zip", ".zip") && !ends("/%E6%97%A5", "本"));
    }
}
