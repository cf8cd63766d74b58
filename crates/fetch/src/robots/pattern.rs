//! One path pattern: `*` stands for anything, `$` at the end for the end.
//!
//! A pattern is a row of literal pieces between stars. The first must begin the target; each later one is searched
//! for behind the one before, leftmost first, which is never worse than any later place. So a match needs no
//! backtracking, and 60 stars cost what one costs.

use memchr::memmem;

/// A pattern in both spellings.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    literal: Box<[u8]>,
    /// Absent when it is the same as the literal one, as nearly always.
    normalised: Option<Box<[u8]>>,
}

impl Pattern {
    pub(super) fn new(text: &[u8]) -> Self {
        let literal = escaped(text);
        let normalised = normalised_pattern(text);
        let differs = *literal != *normalised;
        Self { literal: literal.into(), normalised: differs.then(|| normalised.into()) }
    }

    /// How long the pattern is if it matches the target as given.
    pub(super) fn literal_weight(&self, target: &[u8], allows: bool) -> Option<usize> {
        weight(&self.literal, target, allows)
    }
    /// How long it is if it matches a target that was [`normalised_target`].
    pub(super) fn normalised_weight(&self, target: &[u8], allows: bool) -> Option<usize> {
        weight(self.normalised.as_deref().unwrap_or(&self.literal), target, allows)
    }
}

fn weight(pattern: &[u8], target: &[u8], allows: bool) -> Option<usize> {
    if matches(pattern, target) {
        return Some(pattern.len());
    }
    let directory = if allows { index_directory(pattern)? } else { return None };
    (directory == target).then_some(directory.len() + 1)
}

/// The directory whose index page a pattern names: `Allow: /a/index.html` allows `/a/` too, which is the same page.
fn index_directory(pattern: &[u8]) -> Option<&[u8]> {
    let slash = memchr::memrchr(b'/', pattern)?;
    pattern.get(slash..)?.starts_with(b"/index.htm").then(|| pattern.get(..=slash))?
}

fn matches(pattern: &[u8], target: &[u8]) -> bool {
    let (pattern, is_anchored) = pattern.strip_suffix(b"$").map_or((pattern, false), |bare| (bare, true));
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = target.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let Some(last) = pieces.next_back() else { return !is_anchored || rest.is_empty() };
    for piece in pieces {
        match behind(piece, rest) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    if is_anchored { rest.ends_with(last) } else { behind(last, rest).is_some() }
}

/// What follows the first place of `piece`.
fn behind<'a>(piece: &[u8], text: &'a [u8]) -> Option<&'a [u8]> {
    let at = memmem::find(text, piece)?;
    text.get(at + piece.len()..)
}

/// The spelling of the literal reading: bytes outside ASCII escaped, escapes in upper case.
fn escaped(text: &[u8]) -> Vec<u8> {
    respelt(text, |byte, was_escaped| was_escaped || !byte.is_ascii())
}

/// A pattern in the spelling of the normalised reading: as a target, but its stars and a `$` at its end keep their
/// meaning.
fn normalised_pattern(text: &[u8]) -> Vec<u8> {
    let (bare, anchor) = text.strip_suffix(b"$").map_or((text, None), |bare| (bare, Some(b'$')));
    let mut spelt = respelt(bare, |byte, was_escaped| is_special(byte) && (was_escaped || byte != b'*'));
    spelt.extend(anchor);
    spelt
}

/// A target in the spelling of the normalised reading: every escape undone, so that `%7E`, `%7e` and `~` are one (RFC
/// 9309 §2.2.2), except of the bytes that mean something in a pattern (§2.2.3).
pub(super) fn normalised_target(text: &[u8]) -> Vec<u8> {
    respelt(text, |byte, _| is_special(byte))
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'$' | b'%')
}

/// Spells `text` anew: `escape` says of each byte, and of whether it was escaped, whether it is to be.
fn respelt(text: &[u8], escape: impl Fn(u8, bool) -> bool) -> Vec<u8> {
    let mut spelt = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let unescaped = unescaped_start(rest);
        let byte = unescaped.unwrap_or(*first);
        if escape(byte, unescaped.is_some()) {
            spelt.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            spelt.push(byte);
        }
        rest = if unescaped.is_some() { rest.get(3..).unwrap_or_default() } else { after };
    }
    spelt
}

/// The byte that an escape at the start of `text` stands for.
fn unescaped_start(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let value = char::from(*high).to_digit(16)? * 16 + char::from(*low).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;

    /// The definition of a match, without any cleverness.
    fn matches_by_definition(pattern: &[u8], target: &[u8]) -> bool {
        match pattern {
            [] => true,
            b"$" => target.is_empty(),
            [b'*', rest @ ..] => (0..=target.len()).any(|from| matches_by_definition(rest, &target[from..])),
            [first, rest @ ..] => target.first() == Some(first) && matches_by_definition(rest, &target[1..]),
        }
    }

    #[test]
    fn model_matches_agree_with_the_definition() {
        let mut chance = Chance::new(3);
        let mut matched = 0;
        for _ in 0..50_000 {
            let mut text = |letters: &[u8]| -> Vec<u8> {
                let length = chance.index(8);
                (0..length).map(|_| *chance.pick(letters)).collect()
            };
            let (pattern, target) = (text(b"ab*$"), text(b"ab$"));
            let expected = matches_by_definition(&pattern, &target);
            let shown = (String::from_utf8_lossy(&pattern), String::from_utf8_lossy(&target));
            assert_eq!(matches(&pattern, &target), expected, "{shown:?}");
            matched += u32::from(expected);
        }
        assert!(matched > 1_000, "{matched}");
    }

    #[track_caller]
    fn check(pattern: &str, target: &str, literal: bool, normalised: bool) {
        let pattern = Pattern::new(pattern.as_bytes());
        let normalised_target = normalised_target(target.as_bytes());
        assert_eq!(pattern.literal_weight(target.as_bytes(), false).is_some(), literal, "literal");
        assert_eq!(pattern.normalised_weight(&normalised_target, false).is_some(), normalised, "normalised");
    }

    #[test]
    fn the_readings_differ_only_in_escapes() {
        check("/a", "/abc", true, true);
        check("/~a", "/%7Ea", false, true);
        check("/%7ea", "/~a", false, true);
        check("/%7ea", "/%7Ea", true, true);
        check("/%7ea", "/%7ea", false, true);
        check("/ツ", "/%E3%83%84", true, true);
        check("/a-%2A.html", "/a-*.html", false, true);
        check("/a-%2A.html", "/a-xx.html", false, false);
        check("/a%24", "/a$b", false, true);
        check("/a$", "/a%24", false, false);
        check("/a$b", "/a$b", true, true);
        check("/%zz", "/%zz", true, true);
        check("/?u=http://x", "/?u=http%3A%2F%2Fx", false, true);
    }
}
