//! Traps: endless URLs that lead to nothing new (H10).
//!
//! Pages are judged by what comes back. The *shape* of a URL is its form without its values:
//! `/calendar/2026/01/02?view=week` is `a/0/0/0?view`. Every shape of a server has a credit, and so has the server. A
//! first visit that brings nothing new costs one; one that brings something new pays for [`NEW_PAYS`]. New is a page
//! with a word or a block of text that the server has not shown before, or, where there is no text, with new content.
//! While a credit is used up, the pages wait, and a few of them are visited every day anyway: if these bring something
//! new, the others are released.
//!
//! A URL that is very deep, repeats its own directories or has very many parameters has its own shape for that reason,
//! with less initial credit.
//!
//! **Invariant:** memory is bounded: a server has at most [`SHAPES_MAX`] shapes; the rest share one.

use crate::codec::{Fields, put};
use crate::held_back::HoldReason;
use crate::novelty::Novelty;
use crate::sketch::Sketch;
use base::chance;
use base::limits::{URL_PARAMETERS_MAX, URL_SEGMENT_REPEATS_MAX, URL_SEGMENTS_MAX};

/// The initial and maximum credit of a shape.
const SHAPE_CREDIT: u32 = 150;
/// The initial credit of an unusual shape.
const ODD_CREDIT: u32 = 32;
/// The initial and maximum credit of a server: combinations of many parameters have many shapes.
const SERVER_CREDIT: u32 = 400;
/// Number of visits without anything new that one with something new pays for.
const NEW_PAYS: u32 = 20;
/// The first pages of a server that are not judged: most servers do not have more.
const PAGES_UNJUDGED: u32 = 64;
/// Maximum number of distinct shapes of one server.
pub(crate) const SHAPES_MAX: usize = 48;
/// Waiting pages that are visited as a sample in a day: the initial and the minimum number. Every day without anything
/// new halves it.
pub(crate) const SAMPLE_MAX: u32 = 32;
const SAMPLE_MIN: u32 = 4;
const FORM: u8 = 1;

/// The form of a URL without its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UrlShape {
    hash: u32,
    /// The reason for which it is suspected, if it is unusual.
    pub odd: Option<HoldReason>,
}

impl UrlShape {
    /// The shape of the part of a key after its `)`: digits, letters and mixtures by segment, and the names of
    /// parameters.
    pub(crate) fn of(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if let Some(reason) = oddity(path, query) {
            return Self { hash: hash(reason.as_str().as_bytes()), odd: Some(reason) };
        }
        let mut text = Vec::with_capacity(32);
        for segment in path.split('/').skip(1) {
            text.push(b'/');
            text.push(class(segment));
        }
        let mut names: Vec<&str> = query
            .split('&')
            .filter_map(|pair| pair.split('=').next())
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        for name in names {
            text.push(b'?');
            text.extend_from_slice(name.as_bytes());
        }
        Self { hash: hash(&text), odd: None }
    }
}

fn hash(text: &[u8]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    let hash = chance::hash_bytes(0x5348_4150, text) as u32;
    hash
}

/// What few ordinary URLs have.
fn oddity(path: &str, query: &str) -> Option<HoldReason> {
    let mut segments = [""; URL_SEGMENTS_MAX];
    let mut count = 0;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let Some(slot) = segments.get_mut(count) else { return Some(HoldReason::Deep) };
        *slot = segment;
        count += 1;
    }
    let segments = &segments[..count];
    let repeats = |segment: &&str| segments.iter().filter(|other| *other == segment).count();
    if segments.iter().any(|segment| repeats(segment) > URL_SEGMENT_REPEATS_MAX) {
        return Some(HoldReason::Echo);
    }
    let parameters = if query.is_empty() { 0 } else { query.split('&').count() };
    (parameters > URL_PARAMETERS_MAX).then_some(HoldReason::Parameters)
}

fn class(segment: &str) -> u8 {
    let digits = segment.bytes().any(|byte| byte.is_ascii_digit());
    let others = segment.bytes().any(|byte| !byte.is_ascii_digit());
    match (digits, others) {
        (false, false) => b'-',
        (true, false) => b'0',
        (false, true) => b'a',
        (true, true) => b'm',
    }
}

/// What the pages of a server brought, by shape and in total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shapes {
    each: Vec<Shape>,
    /// First visits that brought a page.
    visited: u32,
    credit: u32,
    sample: Sample,
    /// Links that were not accepted, by reason: too long, and of a server with too many pages.
    left_out: [Option<Box<Sketch>>; 2],
    /// The features that the pages have shown; stored separately.
    pub novelty: Novelty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    hash: u32,
    credit: u32,
}

/// How many waiting pages were visited as a sample, and how many may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    day: u32,
    taken: u32,
    a_day: u32,
}

impl Default for Shapes {
    fn default() -> Self {
        Self {
            each: Vec::new(),
            visited: 0,
            credit: SERVER_CREDIT,
            sample: Sample { day: 0, taken: 0, a_day: SAMPLE_MAX },
            left_out: [None, None],
            novelty: Novelty::default(),
        }
    }
}

impl Shapes {
    /// Why a new page of this shape waits, if it does.
    pub(crate) fn suspects(&self, shape: UrlShape) -> Option<HoldReason> {
        let credit = self.find(shape.hash).map_or_else(|| first_credit(shape), |at| self.each[at].credit);
        let reason = match (credit, self.credit) {
            (0, _) => HoldReason::Shape,
            (_, 0) => HoldReason::Server,
            _ => return None,
        };
        Some(shape.odd.unwrap_or(reason))
    }
    /// Counts a first visit with these features. Returns whether one was new.
    pub(crate) fn visited(&mut self, shape: UrlShape, features: &[u32]) -> bool {
        self.visited = self.visited.saturating_add(1);
        if self.visited <= PAGES_UNJUDGED {
            return true;
        }
        let is_new = self.saw(features);
        self.credit = paid(self.credit, is_new, SERVER_CREDIT);
        let shape = self.of(shape);
        shape.credit = paid(shape.credit, is_new, SHAPE_CREDIT);
        if is_new {
            self.sample.a_day = SAMPLE_MAX;
        }
        is_new
    }
    /// Adds the features of a page. Returns whether one was new.
    pub(crate) fn saw(&mut self, features: &[u32]) -> bool {
        self.visited >= PAGES_UNJUDGED
            && features.iter().fold(false, |any, feature| self.novelty.add(*feature) | any)
    }
    /// How many pages that wait may still be visited on a day.
    pub(crate) fn samples_left(&mut self, day: u32) -> u32 {
        if self.sample.day != day {
            // The first day that is seen follows no other.
            let is_next = self.sample.day != 0;
            let a_day = if is_next { (self.sample.a_day / 2).max(SAMPLE_MIN) } else { self.sample.a_day };
            self.sample = Sample { day, taken: 0, a_day };
        }
        self.sample.a_day.checked_sub(self.sample.taken).expect("no more samples than a day allows")
    }
    /// One of them is visited.
    pub(crate) fn sampled(&mut self) {
        self.sample.taken += 1;
    }
    /// Counts a link that was not accepted.
    pub(crate) fn leave_out(&mut self, reason: HoldReason, link: u32) {
        let place = usize::from(reason == HoldReason::ServerFull);
        self.left_out[place].get_or_insert_default().add(link);
    }
    /// Approximate number of links that were not accepted for this reason.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    pub(crate) fn left_out(&self, reason: HoldReason) -> u64 {
        let sketch = &self.left_out[usize::from(reason == HoldReason::ServerFull)];
        sketch.as_ref().map_or(0, |sketch| sketch.count().round() as u64)
    }

    fn find(&self, hash: u32) -> Option<usize> {
        let known = self.each.iter().position(|shape| shape.hash == hash);
        known.or_else(|| (self.each.len() >= SHAPES_MAX).then_some(SHAPES_MAX - 1))
    }
    fn of(&mut self, shape: UrlShape) -> &mut Shape {
        let at = self.find(shape.hash).unwrap_or_else(|| {
            self.each.push(Shape { hash: shape.hash, credit: first_credit(shape) });
            self.each.len() - 1
        });
        &mut self.each[at]
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(FORM);
        for number in [self.visited, self.credit, self.sample.day, self.sample.taken, self.sample.a_day] {
            put(bytes, number.into());
        }
        put(bytes, self.each.len() as u64);
        for shape in &self.each {
            bytes.extend_from_slice(&shape.hash.to_le_bytes());
            put(bytes, shape.credit.into());
        }
        for sketch in &self.left_out {
            bytes.push(u8::from(sketch.is_some()));
            sketch.iter().for_each(|sketch| bytes.extend_from_slice(sketch.as_bytes()));
        }
    }
    /// Reads what was written; an unknown encoding counts as empty.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let Some((&FORM, rest)) = bytes.split_first() else { return Self::default() };
        let mut fields = Fields(rest);
        let number = |fields: &mut Fields<'_>| fields.small(u32::MAX);
        let (visited, credit) = (number(&mut fields), number(&mut fields).min(SERVER_CREDIT));
        let (day, taken, a_day) =
            (number(&mut fields), number(&mut fields), number(&mut fields).min(SAMPLE_MAX));
        let shapes = usize::try_from(fields.number()).unwrap_or(0).min(SHAPES_MAX);
        let shape = |_| Shape {
            hash: u32::from_le_bytes(fields.array()),
            credit: number(&mut fields).min(SHAPE_CREDIT),
        };
        let each = (0..shapes).map(shape).collect();
        let left_out = [(); 2].map(|()| {
            let [is_there] = fields.array();
            (is_there != 0).then(|| Box::new(Sketch::from_bytes(fields.array())))
        });
        let sample = Sample { day, taken: taken.min(a_day), a_day };
        Self { each, visited, credit, sample, left_out, novelty: Novelty::default() }
    }
}

fn first_credit(shape: UrlShape) -> u32 {
    if shape.odd.is_some() { ODD_CREDIT } else { SHAPE_CREDIT }
}
fn paid(credit: u32, is_new: bool, most: u32) -> u32 {
    if is_new { (credit + NEW_PAYS).min(most) } else { credit.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: UrlShape = UrlShape { hash: 1, odd: None };

    #[track_caller]
    fn check(target: &str, expected: Option<HoldReason>) {
        assert_eq!(UrlShape::of(target).odd, expected, "{target}");
    }

    #[test]
    fn unusual_urls_have_their_reason_as_shape() {
        check("/a/b/c.html?x=1&y=2", None);
        check(&"/x".repeat(3), Some(HoldReason::Echo));
        check("/a/b/a/b/a", Some(HoldReason::Echo));
        check("/a/b/a/b", None);
        let deep: String = (0..21).map(|n| format!("/{n}")).collect();
        check(&deep, Some(HoldReason::Deep));
        check(&format!("/?{}", "a=1&".repeat(31)), Some(HoldReason::Parameters));
    }

    #[test]
    fn urls_that_differ_in_numbers_and_order_have_one_shape() {
        let shape = UrlShape::of;
        assert_eq!(shape("/calendar/2026/01/02?view=week"), shape("/calendar/1999/12/31?view=day"));
        assert_eq!(shape("/shop?colour=red&size=3"), shape("/shop?size=9&colour=blue"));
        assert_ne!(shape("/shop?size=3"), shape("/shop"));
        assert_ne!(shape("/a/1"), shape("/a/b"));
        assert_eq!(shape("/x/x/x"), shape("/y/y/y/y/1"), "one shape for all that echo");
    }

    /// Number of 20,000 pages of one shape that are visited without a sample, each with these features.
    fn visited(shape: UrlShape, features: impl Fn(u32) -> Vec<u32>) -> u32 {
        let mut shapes = Shapes::default();
        let mut count = 0;
        while count < 20_000 && shapes.suspects(shape).is_none() {
            shapes.visited(shape, &features(count));
            count += 1;
        }
        let (mut bytes, novelty) = (Vec::new(), std::mem::take(&mut shapes.novelty));
        shapes.write(&mut bytes);
        assert_eq!(Shapes::read(&bytes), shapes);
        drop(novelty);
        count
    }

    #[test]
    fn a_trap_ends_soon_and_a_site_is_covered() {
        let own = |page: u32| page.wrapping_mul(0x9E37_79B1);
        assert!(visited(SHAPE, |_| vec![7]) <= 64 + 151, "a calendar");
        assert!(visited(SHAPE, |page| vec![page % 30, page % 7]) < 300, "thirty products in every order");
        assert!(visited(SHAPE, |page| vec![page.min(1_000)]) < 1_200, "paging that runs dry");
        assert_eq!(visited(SHAPE, |page| vec![7, own(page)]), 20_000, "a site");
        assert_eq!(
            visited(SHAPE, |page| vec![7, own(page / 8)]),
            20_000,
            "a site with one new page in eight"
        );
        let odd = UrlShape { hash: 1, odd: Some(HoldReason::Echo) };
        assert!(visited(odd, |_| vec![7]) < 64 + 60, "an echo");
        assert_eq!(visited(odd, |page| vec![7, own(page)]), 20_000, "an honest site whose paths echo");
    }

    #[test]
    fn a_sample_with_something_new_releases_others() {
        let mut shapes = Shapes::default();
        while shapes.suspects(SHAPE).is_none() {
            shapes.visited(SHAPE, &[7]);
        }
        assert_eq!(shapes.suspects(SHAPE), Some(HoldReason::Shape));
        assert!(!shapes.visited(SHAPE, &[7]) && shapes.suspects(SHAPE).is_some());
        assert!(shapes.visited(SHAPE, &[8]) && shapes.suspects(SHAPE).is_none());
    }

    #[test]
    fn samples_are_bounded_by_day_and_become_fewer() {
        let mut shapes = Shapes::default();
        let mut taken = Vec::new();
        for day in 10..18 {
            let before = taken.len();
            while shapes.samples_left(day) > 0 {
                shapes.sampled();
                taken.push(day);
            }
            assert!(taken.len() > before);
        }
        assert_eq!(taken.len(), 32 + 16 + 8 + 5 * 4);
    }

    #[test]
    fn a_server_of_many_shapes_is_suspected_as_a_whole() {
        let mut shapes = Shapes::default();
        let shape = |hash| UrlShape { hash, odd: None };
        let mut visits = 0;
        for hash in 0..1_000 {
            while shapes.suspects(shape(hash)).is_none() && visits < 10_000 {
                shapes.visited(shape(hash), &[7]);
                visits += 1;
            }
        }
        assert_eq!(shapes.suspects(shape(5_000)), Some(HoldReason::Server));
        assert!(visits < 600, "{visits}");
        assert!(shapes.each.len() <= SHAPES_MAX);
    }

    #[test]
    fn an_unknown_encoding_counts_as_empty() {
        assert_eq!(Shapes::read(&[]), Shapes::default());
        assert_eq!(Shapes::read(&[9, 1, 2]), Shapes::default());
    }
}
