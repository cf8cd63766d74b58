//! Traps: URLs without end that lead to nothing new (H10).
//!
//! Shapes that no honest URL has are turned away ([`fit`]). The pages of a server are then counted by the *shape* of their
//! URLs: `/calendar/2026/01/02?view=week` is `a/0/0/0?view`. So many pages of a shape are taken up without question; from
//! then on only twice as many more as different blocks of text were found on those that were visited; and the same over all shapes of the server. A calendar without end has
//! one block on all its pages, a shop whose facets are combined in every way the blocks of its thirty products, and each stops soon; a
//! site with something new on every page is covered whole.
//!
//! **Invariant:** memory is bounded: a server has at most [`SHAPES_MAX`] shapes, and what is beyond them shares one.

use crate::codec::{Fields, put};
use crate::sketch::Sketch;
use base::PageUrl;
use base::chance;
use base::limits::{URL_PARAMETERS_MAX, URL_SEGMENT_REPEATS_MAX, URL_SEGMENTS_MAX};

/// So many pages of one shape are taken up before anything is known of them.
const SHAPE_PAGES_FREE: u32 = 150;
/// So many pages of one server, over all its shapes: what combines many parameters has many shapes.
const SERVER_PAGES_FREE: u32 = 400;
/// So many more for every different block of text that was found on pages of the shape, or of the server.
const PAGES_A_BLOCK: f64 = 2.0;
/// So many shapes of one server are told apart.
pub(crate) const SHAPES_MAX: usize = 48;

/// Why a URL is not visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unfit {
    /// Its path is too deep.
    Deep,
    /// One segment stands in it again and again.
    Echo,
    /// It has too many parameters.
    Parameters,
}

impl Unfit {
    /// The reason as a sentence.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deep => "its path is deeper than that of any honest page",
            Self::Echo => "one part of its path stands in it again and again",
            Self::Parameters => "it has more parameters than any honest page",
        }
    }
}

/// Whether a URL has a shape worth visiting.
///
/// # Errors
/// When it has that of a trap.
pub fn fit(url: &PageUrl) -> Result<(), Unfit> {
    let mut segments = [""; URL_SEGMENTS_MAX];
    let mut count = 0;
    for segment in url.path().split('/').filter(|segment| !segment.is_empty()) {
        let Some(slot) = segments.get_mut(count) else { return Err(Unfit::Deep) };
        *slot = segment;
        count += 1;
    }
    let segments = &segments[..count];
    let repeats = |segment: &&str| segments.iter().filter(|other| *other == segment).count();
    if segments.iter().any(|segment| repeats(segment) > URL_SEGMENT_REPEATS_MAX) {
        return Err(Unfit::Echo);
    }
    let parameters = url.as_url().query().map_or(0, |query| query.split('&').count());
    if parameters > URL_PARAMETERS_MAX { Err(Unfit::Parameters) } else { Ok(()) }
}

/// The pages of a server by shape, and all of them together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shapes {
    each: Vec<Shape>,
    count: Count,
    blocks: Sketch,
}

/// How many new pages were visited, which is kept, and how many are in hand, which is not: after a restart they come again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    visited: u32,
    in_hand: u32,
}

impl Count {
    fn take(&mut self) {
        self.in_hand = self.in_hand.saturating_add(1);
    }
    fn give_back(&mut self) {
        self.in_hand = self.in_hand.saturating_sub(1);
    }
    fn visit(&mut self) {
        self.give_back();
        self.visited = self.visited.saturating_add(1);
    }
    fn all(self) -> u32 {
        self.visited.saturating_add(self.in_hand)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    hash: u32,
    count: Count,
    blocks: Sketch,
}

impl Shapes {
    /// Whether one more page of this shape is worth taking up.
    pub(crate) fn takes(&self, hash: u32) -> bool {
        let takes = |shape: usize| self.each.get(shape).is_none_or(Shape::takes);
        is_worth(self.count.all(), SERVER_PAGES_FREE, &self.blocks) && self.find(hash).is_none_or(takes)
    }
    /// A new page was taken in hand.
    pub(crate) fn took(&mut self, hash: u32) {
        self.count.take();
        self.of(hash).count.take();
    }
    /// A new page went back unvisited.
    pub(crate) fn gave_back(&mut self, hash: u32) {
        self.count.give_back();
        self.of(hash).count.give_back();
    }
    /// A page was visited for the first time.
    pub(crate) fn visited(&mut self, hash: u32) {
        self.count.visit();
        self.of(hash).count.visit();
    }
    /// A page was visited and had these blocks; whether any was new.
    pub(crate) fn saw(&mut self, hash: u32, blocks: &[u32]) -> bool {
        let of_server = blocks.iter().fold(false, |any, block| self.blocks.add(*block) | any);
        let shape = self.of(hash);
        blocks.iter().fold(of_server, |any, block| shape.blocks.add(*block) | any)
    }

    fn find(&self, hash: u32) -> Option<usize> {
        let known = self.each.iter().position(|shape| shape.hash == hash);
        known.or_else(|| (self.each.len() >= SHAPES_MAX).then_some(SHAPES_MAX - 1))
    }
    fn of(&mut self, hash: u32) -> &mut Shape {
        let at = self.find(hash).unwrap_or_else(|| {
            self.each.push(Shape { hash, count: Count::default(), blocks: Sketch::default() });
            self.each.len() - 1
        });
        &mut self.each[at]
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.count.visited.into());
        bytes.extend_from_slice(self.blocks.as_bytes());
        put(bytes, self.each.len() as u64);
        for shape in &self.each {
            bytes.extend_from_slice(&shape.hash.to_le_bytes());
            put(bytes, shape.count.visited.into());
            bytes.extend_from_slice(shape.blocks.as_bytes());
        }
    }
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let count = Count { visited: fields.small(u32::MAX), in_hand: 0 };
        let number = |fields: &mut Fields<'_>| usize::try_from(fields.number()).unwrap_or(0).min(SHAPES_MAX);
        let blocks = Sketch::from_bytes(fields.array());
        let shapes = number(fields);
        let shape = |_| Shape {
            hash: u32::from_le_bytes(fields.array()),
            count: Count { visited: fields.small(u32::MAX), in_hand: 0 },
            blocks: Sketch::from_bytes(fields.array()),
        };
        Self { count, blocks, each: (0..shapes).map(shape).collect() }
    }
}

/// Whether so many pages with so many blocks on them are worth one more.
fn is_worth(pages: u32, free: u32, blocks: &Sketch) -> bool {
    pages < free || f64::from(pages) < f64::from(free) + PAGES_A_BLOCK * blocks.count()
}

impl Shape {
    fn takes(&self) -> bool {
        is_worth(self.count.all(), SHAPE_PAGES_FREE, &self.blocks)
    }
}

/// The shape of what stands behind the `)` of a key: digits, letters and mixtures by segment, and the names of parameters.
pub(crate) fn shape(target: &str) -> u32 {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut text = Vec::with_capacity(32);
    for segment in path.split('/').skip(1) {
        text.push(b'/');
        text.push(class(segment));
    }
    let mut names: Vec<&str> =
        query.split('&').filter_map(|pair| pair.split('=').next()).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    for name in names {
        text.push(b'?');
        text.extend_from_slice(name.as_bytes());
    }
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    let hash = chance::hash_bytes(0x5348_4150, &text) as u32;
    hash
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Result<(), Unfit>) {
        let url = PageUrl::parse(&format!("http://a.example{path}")).unwrap();
        assert_eq!(fit(&url), expected, "{path}");
    }

    #[test]
    fn the_shapes_of_traps_are_refused() {
        check("/a/b/c.html?x=1&y=2", Ok(()));
        check(&"/x".repeat(3), Err(Unfit::Echo));
        check("/a/b/a/b/a", Err(Unfit::Echo));
        check("/a/b/a/b", Ok(()));
        let deep: String = (0..21).map(|n| format!("/{n}")).collect();
        check(&deep, Err(Unfit::Deep));
        check(&format!("/?{}", "a=1&".repeat(31)), Err(Unfit::Parameters));
    }

    #[test]
    fn urls_that_differ_in_numbers_and_order_have_one_shape() {
        assert_eq!(shape("/calendar/2026/01/02?view=week"), shape("/calendar/1999/12/31?view=day"));
        assert_eq!(shape("/shop?colour=red&size=3"), shape("/shop?size=9&colour=blue"));
        assert_ne!(shape("/shop?size=3"), shape("/shop"));
        assert_ne!(shape("/a/1"), shape("/a/b"));
    }

    /// How many of a million pages of one shape are visited, each with these blocks.
    fn visited(blocks: impl Fn(u32) -> Vec<u32>) -> u32 {
        let mut shapes = Shapes::default();
        let mut count = 0;
        while count < 20_000 && shapes.takes(1) {
            shapes.took(1);
            shapes.visited(1);
            shapes.saw(1, &blocks(count));
            count += 1;
        }
        let mut bytes = Vec::new();
        shapes.write(&mut bytes);
        assert_eq!(Shapes::read(&mut Fields(&bytes)), shapes);
        count
    }

    #[test]
    fn a_trap_ends_soon_and_a_site_is_covered_whole() {
        assert!(visited(|_| vec![7]) < 200, "a calendar");
        assert!(visited(|page| vec![page % 30, page % 7]) < 300, "thirty products in every order");
        assert!(visited(|page| (0..page.max(40)).take(1).collect()) < 300, "paging that runs dry");
        assert_eq!(visited(|page| vec![7, page.wrapping_mul(0x9E37_79B1)]), 20_000, "a site");
    }

    #[test]
    fn shapes_beyond_the_most_share_one() {
        let mut shapes = Shapes::default();
        (0..1_000).for_each(|hash| shapes.visited(hash));
        assert_eq!(shapes.each.len(), SHAPES_MAX);
        assert!(!shapes.takes(5_000), "they are taken for a trap together");
    }
}
