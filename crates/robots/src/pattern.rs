//! One path pattern: `*` stands for anything, `$` at the end for the end.
//!
//! A pattern is a sequence of literal pieces between stars. The first must match the start of the target; each later one
//! is searched for after the previous one, leftmost first, which is never worse than a later match. So matching needs no
//! backtracking, and 60 stars cost as much as one.
//!
//! A file may contain 30,000 patterns, all built to be expensive. So a pattern is searched for only if the target is long
//! enough and contains all of its bytes, which two comparisons check; and the searches of one verdict share the budget of
//! a [`Purse`].

use memchr::memmem;
use std::borrow::Cow;

/// A pattern in both spellings.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    literal: Spelling,
    /// `None` if it equals the literal spelling, which is nearly always the case.
    normalised: Option<Box<Spelling>>,
}

/// A pattern in the form in which it is compared, with precomputed facts.
#[derive(Clone, Debug)]
struct Spelling {
    /// Without `$` at the end, and with one star in place of several.
    text: Box<[u8]>,
    is_anchored: bool,
    /// Its length as written.
    weight: usize,
    /// The minimum length of a target, and the bytes it must contain.
    bytes_min: usize,
    needs: ByteSet,
    /// The length of the directory whose index page it names.
    directory: Option<usize>,
}

/// A target in one spelling, and the set of its bytes.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    text: Cow<'a, [u8]>,
    has: ByteSet,
}

impl<'a> Target<'a> {
    /// As given.
    pub(crate) fn literal(text: &'a [u8]) -> Self {
        Self { text: text.into(), has: ByteSet::of(text) }
    }
    /// With every escape decoded, so that `%7E`, `%7e` and `~` are equal (RFC 9309 §2.2.2), except bytes that have a meaning
    /// in a pattern (§2.2.3).
    pub(crate) fn normalised(text: &'a [u8]) -> Self {
        let plain = !text.iter().any(|byte| is_special(*byte));
        let text: Cow<'_, [u8]> =
            if plain { text.into() } else { respelt(text, |byte, _| is_special(byte)).into() };
        Self { has: ByteSet::of(&text), text }
    }
    /// Whether both spellings are equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// The budget for searching a target for the pieces of patterns, in units of one to two nanoseconds.
///
/// **Invariant:** the cost of a verdict is bounded by this budget and a few comparisons per rule, for any file and target.
#[derive(Debug)]
pub(crate) struct Purse(u64);

/// Enough for 2,000 patterns of several words against the longest URL, or for 30,000 against an ordinary one. The most
/// expensive of 4,231 real files needs half of it for the longest URL.
const PURSE: u64 = 5_000_000;

impl Purse {
    pub(crate) fn full() -> Self {
        Self(PURSE)
    }
    /// Whether the budget is exceeded.
    pub(crate) fn is_empty(&self) -> bool {
        self.0 == 0
    }
    /// Pays for one search through this many bytes: sixteen per unit for a single byte, and a fixed cost for a searcher.
    fn pay(&mut self, piece: &[u8], bytes: usize) {
        let price = if piece.len() == 1 { 16 + bytes / 16 } else { 64 + bytes };
        self.0 = self.0.saturating_sub(price as u64);
    }
}

/// A set of bytes, in which bytes with equal last six bits are one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByteSet(u64);

impl ByteSet {
    fn of(bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(0, |set, byte| set | 1 << (byte & 63)))
    }
    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    fn holds(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

impl Pattern {
    pub(crate) fn new(text: &[u8]) -> Self {
        let is_same = |byte: &u8| byte.is_ascii() && !matches!(byte, b'%' | b'$');
        if text.strip_suffix(b"$").unwrap_or(text).iter().all(is_same) {
            return Self { literal: Spelling::new(text), normalised: None };
        }
        let (literal, normalised) = (escaped(text), normalised_pattern(text));
        let differs = literal != normalised;
        let normalised = differs.then(|| Box::new(Spelling::new(&normalised)));
        Self { literal: Spelling::new(&literal), normalised }
    }

    /// The length of the pattern if it matches the target as given.
    pub(crate) fn literal_weight(
        &self,
        target: &Target<'_>,
        allows: bool,
        purse: &mut Purse,
    ) -> Option<usize> {
        self.literal.weight(target, allows, purse)
    }
    /// The length of the pattern if it matches a target that was [`Target::normalised`].
    pub(crate) fn normalised_weight(
        &self,
        target: &Target<'_>,
        allows: bool,
        purse: &mut Purse,
    ) -> Option<usize> {
        self.normalised.as_deref().unwrap_or(&self.literal).weight(target, allows, purse)
    }
    /// Whether both readings compare the same spelling.
    pub(crate) fn is_plain(&self) -> bool {
        self.normalised.is_none()
    }
}

impl Spelling {
    fn new(written: &[u8]) -> Self {
        let (bare, is_anchored) = written.strip_suffix(b"$").map_or((written, false), |bare| (bare, true));
        let mut text = bare.to_vec();
        text.dedup_by(|next, last| (*next, *last) == (b'*', b'*'));
        let stars = text.iter().filter(|byte| **byte == b'*').count();
        Self {
            is_anchored,
            weight: written.len(),
            bytes_min: text.len() - stars,
            needs: text.split(|byte| *byte == b'*').map(ByteSet::of).fold(ByteSet(0), ByteSet::and),
            directory: index_directory(written).map(<[u8]>::len),
            text: text.into(),
        }
    }

    fn weight(&self, target: &Target<'_>, allows: bool, purse: &mut Purse) -> Option<usize> {
        let may_match = self.bytes_min <= target.text.len() && target.has.holds(self.needs);
        if may_match && self.matches(&target.text, purse) {
            return Some(self.weight);
        }
        let directory = self.directory.filter(|_| allows)?;
        (self.text.get(..directory) == Some(&*target.text)).then_some(directory + 1)
    }

    fn matches(&self, target: &[u8], purse: &mut Purse) -> bool {
        let mut pieces = self.text.split(|byte| *byte == b'*');
        let Some(mut rest) = target.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
        let Some(last) = pieces.next_back() else { return !self.is_anchored || rest.is_empty() };
        for piece in pieces {
            match behind(piece, rest, purse) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        if self.is_anchored { rest.ends_with(last) } else { behind(last, rest, purse).is_some() }
    }
}

/// The directory whose index page a pattern names: `Allow: /a/index.html` allows `/a/` too, which is the same page.
fn index_directory(pattern: &[u8]) -> Option<&[u8]> {
    let slash = memchr::memrchr(b'/', pattern)?;
    pattern.get(slash..)?.starts_with(b"/index.htm").then(|| pattern.get(..=slash))?
}

/// What follows the first occurrence of `piece`.
fn behind<'a>(piece: &[u8], text: &'a [u8], purse: &mut Purse) -> Option<&'a [u8]> {
    if purse.is_empty() {
        return None;
    }
    let found = match piece {
        [] => Some(0),
        // Most pieces of a pattern full of stars are one byte long and need no searcher.
        [byte] => memchr::memchr(*byte, text),
        _ => memmem::find(text, piece),
    };
    purse.pay(piece, found.unwrap_or(text.len()));
    text.get(found? + piece.len()..)
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

fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'$' | b'%')
}

/// Rewrites `text`: `escape` decides for each byte, given whether it was escaped, whether to escape it.
fn respelt(text: &[u8], escape: impl Fn(u8, bool) -> bool) -> Vec<u8> {
    let mut spelt = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let unescaped = unescaped_start(rest);
        let byte = unescaped.unwrap_or(*first);
        if escape(byte, unescaped.is_some()) {
            spelt.extend_from_slice(&[b'%', hex_digit(byte >> 4), hex_digit(byte & 15)]);
        } else {
            spelt.push(byte);
        }
        rest = if unescaped.is_some() { rest.get(3..).unwrap_or_default() } else { after };
    }
    spelt
}

fn hex_digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'A' + value - 10 }
}

/// The byte encoded by an escape at the start of `text`.
fn unescaped_start(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let value = char::from(*high).to_digit(16)? * 16 + char::from(*low).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;

    /// The definition of a match, without optimisation.
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
            let (spelling, purse) = (Spelling::new(&pattern), &mut Purse::full());
            let matched_now = spelling.weight(&Target::literal(&target), false, purse).is_some();
            assert_eq!(matched_now, expected, "{shown:?}");
            matched += u32::from(expected);
        }
        assert!(matched > 1_000, "{matched}");
    }

    #[track_caller]
    fn check(pattern: &str, target: &str, literal: bool, normalised: bool) {
        let pattern = Pattern::new(pattern.as_bytes());
        let (as_given, plain) = (Target::literal(target.as_bytes()), Target::normalised(target.as_bytes()));
        assert_eq!(
            pattern.literal_weight(&as_given, false, &mut Purse::full()).is_some(),
            literal,
            "literal"
        );
        assert_eq!(
            pattern.normalised_weight(&plain, false, &mut Purse::full()).is_some(),
            normalised,
            "normalised"
        );
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
