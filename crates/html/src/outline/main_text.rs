//! Which blocks are the main text.
//!
//! Each step passes over all nodes or blocks a fixed number of times:
//! 1. What its name, role or class calls a frame (navigation, notices, adverts) is left out, unless most of the page's
//!    prose is in it: then it is the page that has the name. Comments are left out if there is a text they are about.
//! 2. The smallest element that holds most of the rest is the scope: an article, a part of `main`, or any other.
//! 3. In the scope, parts that are mostly links are left out, unless they are what the page consists of.
//! 4. What follows a label such as "Related articles" is left out, and a heading goes with what follows it.
//!
//! Prose is text in sentences: long, with punctuation, and not linked. It counts most, other text less, links least.

use super::evidence::Evidence;
use super::further;
use super::tree::{BLOCKQUOTE, Node, is_heading};
use super::{BlockKind, Outline, Record};
use crate::token::name::element;
use std::collections::HashMap;
use std::ops::Range;

/// A node that holds this share of the page's prose is not a frame because a class says so, in percent.
const NAMED_FRAME_MAX: u64 = 40;
/// The same for elements that are frames by their own name.
const FRAME_MAX: u64 = 60;
/// The scope holds this share of the weight that is left, in percent.
const SCOPE_MIN: u64 = 80;
/// The same for `main` and for articles, which the page itself names.
const MARKED_SCOPE_MIN: u64 = 50;
/// A block with fewer bytes is not prose.
const PROSE_BYTES_MIN: usize = 60;
/// Less is not enough text to choose by.
const ENOUGH_BYTES: u64 = 200;
/// A part is mostly links if they are more of it, in percent.
const LINKED_MAX: u64 = 50;
/// A part with more prose holds a text, and only the parts inside it are judged, in percent.
const LINKED_PROSE_MAX: u64 = 20;
/// A scope that consists of more links is a list of links, in percent.
const LISTING_LINKED_MIN: u64 = 50;
/// It is nothing else if less of it is prose, in percent.
const LISTING_PROSE_MAX: u64 = 12;
/// Siblings that look the same are a list from this many on,
const ENTRIES_MIN: u64 = 3;
/// if they hold this share of the text, in percent,
const ENTRIES_SHARE: u64 = 30;
/// and this many bytes on average: shorter ones are a menu.
const ENTRY_BYTES_MIN: u64 = 40;
/// More than this share of a header is prose if it holds the content, in percent.
const HEADER_PROSE: u64 = 30;
/// The same for what has a name that says little.
const WEAK_FRAME_PROSE: u64 = 50;
/// What follows a label of further reading holds at most this share of the text without links, in percent.
const FURTHER_MAX: u64 = 30;
/// Less prose is not a text that comments are about.
const COMMENTED_BYTES_MIN: u64 = 400;
/// Comments that are this many times longer than the rest are the text.
const COMMENTS_MAX: u64 = 20;

/// What is in a node, its descendants included.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    bytes: u64,
    linked: u64,
    prose: u64,
    blocks: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.linked += other.linked;
        self.prose += other.prose;
        self.blocks += other.blocks;
    }
    fn unlinked(self) -> u64 {
        self.bytes.saturating_sub(self.linked)
    }
    /// How much the text counts: prose fully, other text a quarter, links a sixteenth.
    fn weight(self) -> u64 {
        self.prose * 16 + self.bytes.saturating_sub(self.linked + self.prose) * 4 + self.linked
    }
}

/// A page while its main text is chosen.
struct Choice<'a> {
    nodes: &'a [Node],
    /// What each block contains.
    blocks: Vec<Sum>,
    /// What is left of each node.
    sums: Vec<Sum>,
    /// The nodes that are left out.
    is_out: Vec<bool>,
}

/// Marks the blocks of the main text.
pub(super) fn choose(outline: &mut Outline, nodes: &[Node]) {
    let blocks: Vec<Sum> = outline.blocks().map(|block| sum_of(block.text(), block.record)).collect();
    let mut choice = Choice { nodes, blocks, sums: Vec::new(), is_out: vec![false; nodes.len()] };
    choice.add_up(&outline.records);
    choice.leave_frames_out();
    choice.add_up(&outline.records);
    choice.leave_comments_out();
    choice.add_up(&outline.records);
    let scope = choice.scope();
    choice.restrict(scope);
    choice.add_up(&outline.records);
    choice.leave_links_out(scope);
    for record in &mut outline.records {
        record.is_main = !choice.is_out(record.node);
    }
    choice.leave_further_reading_out(outline);
    leave_bare_headings_out(&mut outline.records);
}

fn sum_of(text: &str, record: &Record) -> Sum {
    let (bytes, linked) = (text.len() as u64, u64::from(record.linked).min(text.len() as u64));
    let is_prose = record.kind == BlockKind::Preformatted
        || text.len() >= PROSE_BYTES_MIN && linked * 2 < bytes && has_sentence(text);
    Sum { bytes, linked, prose: if is_prose { bytes - linked } else { 0 }, blocks: 1 }
}

/// Whether there is punctuation as in a sentence.
fn has_sentence(text: &str) -> bool {
    let ends =
        |last: char| matches!(last, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '」' | ':' | '"' | '”');
    text.ends_with(ends) || text.contains(", ") || text.contains(". ") || text.contains(['、', '。'])
}

impl Choice<'_> {
    fn is_out(&self, node: u32) -> bool {
        self.is_out.get(node as usize).is_some_and(|out| *out)
    }
    fn sum(&self, node: usize) -> Sum {
        self.sums.get(node).copied().unwrap_or_default()
    }
    fn total(&self) -> Sum {
        self.sum(0)
    }

    /// Adds up what is left, from the leaves to the root.
    fn add_up(&mut self, records: &[Record]) {
        let mut sums = vec![Sum::default(); self.nodes.len()];
        for (record, sum) in records.iter().zip(&self.blocks) {
            if !self.is_out(record.node)
                && let Some(slot) = sums.get_mut(record.node as usize)
            {
                slot.add(*sum);
            }
        }
        for (place, node) in self.nodes.iter().enumerate().skip(1).rev() {
            let sum = sums.get(place).copied().unwrap_or_default();
            if let Some(slot) = sums.get_mut(node.parent as usize) {
                slot.add(sum);
            }
        }
        self.sums = sums;
    }

    /// Leaves out each node of which `is_out` holds, with everything in it.
    fn leave_out(&mut self, is_out: impl Fn(&Self, usize, &Node) -> bool) {
        let mut left_out = vec![false; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let is_inside = left_out.get(node.parent as usize).is_some_and(|out| *out);
            let is_out = is_inside || is_out(self, place, node);
            if let (Some(here), Some(out)) = (left_out.get_mut(place), self.is_out.get_mut(place)) {
                *here = is_out;
                *out |= is_out;
            }
        }
    }

    fn leave_frames_out(&mut self) {
        let inside = self.marked();
        let total = self.total();
        self.leave_out(|choice, place, node| {
            let (evidence, sum) = (node.evidence, choice.sum(place));
            let holds = |share: u64| sum.prose * 100 > total.prose * share && total.prose > ENOUGH_BYTES;
            let is_prose = |share: u64| sum.prose * 100 > sum.bytes * share;
            if evidence.has(Evidence::NOTICE) {
                return true;
            }
            if evidence.has(Evidence::MAIN) {
                return false;
            }
            evidence.has(Evidence::FRAME.and(Evidence::CONTROL)) && !holds(FRAME_MAX)
                || evidence.has(Evidence::NAMED_FRAME.and(Evidence::HIDDEN)) && !holds(NAMED_FRAME_MAX)
                || evidence.has(Evidence::WEAK_FRAME)
                    && !is_prose(WEAK_FRAME_PROSE)
                    && !holds(NAMED_FRAME_MAX)
                || evidence.has(Evidence::HEADER)
                    && !inside.get(place).is_some_and(|inside| *inside)
                    && !is_prose(HEADER_PROSE)
        });
    }

    /// What readers wrote is left out where it is about a text, and stays where it is the text.
    fn leave_comments_out(&mut self) {
        let mut inside = vec![false; self.nodes.len()];
        let mut comments = Sum::default();
        for (place, node) in self.nodes.iter().enumerate() {
            let is_inside = inside.get(node.parent as usize).is_some_and(|inside| *inside);
            let is_comment = node.evidence.has(Evidence::COMMENT);
            if is_comment && !is_inside {
                comments.add(self.sum(place));
            }
            if let Some(slot) = inside.get_mut(place) {
                *slot = is_comment || is_inside;
            }
        }
        let rest = self.total().prose.saturating_sub(comments.prose);
        let is_about_text = rest > COMMENTED_BYTES_MIN && rest * COMMENTS_MAX > comments.prose;
        if is_about_text {
            self.leave_out(|_, _, node| node.evidence.has(Evidence::COMMENT));
        }
    }

    /// Which nodes are inside `main` or an article.
    fn marked(&self) -> Vec<bool> {
        let mut inside = vec![false; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let is_marked = node.evidence.has(Evidence::MAIN.and(Evidence::ARTICLE))
                || inside.get(node.parent as usize).is_some_and(|inside| *inside);
            if let Some(slot) = inside.get_mut(place) {
                *slot = is_marked;
            }
        }
        inside
    }

    /// The smallest node that holds most of what is left.
    fn scope(&self) -> usize {
        let total = self.total().weight();
        let holds = |place: usize, share: u64| self.sum(place).weight() * 100 >= total * share;
        let best = |evidence: Evidence| {
            let marked = self.nodes.iter().enumerate().filter(|(_, node)| node.evidence.has(evidence));
            marked.map(|(place, _)| place).filter(|place| holds(*place, MARKED_SCOPE_MIN)).next_back()
        };
        if total == 0 {
            return 0;
        }
        let start = best(Evidence::MAIN).unwrap_or(0);
        if let Some(article) = best(Evidence::ARTICLE) {
            return article;
        }
        // A node comes after its parent, and at most one of several siblings holds more than half.
        let inner = self.sum(start).weight();
        let fits = |(place, node): &(usize, &Node)| {
            can_hold_blocks(node.key) && self.sum(*place).weight() * 100 >= inner * SCOPE_MIN
        };
        let found = self.nodes.iter().enumerate().skip(start).filter(fits).next_back();
        found.map_or(start, |(place, _)| place)
    }

    /// Leaves out everything outside of the scope.
    fn restrict(&mut self, scope: usize) {
        let mut inside = vec![false; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let is_inside = place == scope || inside.get(node.parent as usize).is_some_and(|inside| *inside);
            if let (Some(slot), Some(out)) = (inside.get_mut(place), self.is_out.get_mut(place)) {
                *slot = is_inside;
                *out |= !is_inside;
            }
        }
    }

    /// Leaves out parts of the scope that are mostly links.
    fn leave_links_out(&mut self, scope: usize) {
        let whole = self.sum(scope);
        let is_listing = whole.linked * 100 > whole.bytes * LISTING_LINKED_MIN;
        let is_bare = whole.prose * 100 < whole.bytes * LISTING_PROSE_MAX;
        let is_entry = self.entries(whole, is_bare);
        if is_listing && (is_bare || is_entry.contains(&true)) {
            return;
        }
        self.leave_out(|choice, place, _| {
            let sum = choice.sum(place);
            let has_prose = sum.prose * 100 > sum.bytes * LINKED_PROSE_MAX;
            let is_linked = sum.linked * 100 > sum.bytes * LINKED_MAX && !has_prose;
            place > scope && is_linked && !is_entry.get(place).is_some_and(|entry| *entry)
        });
    }

    /// Leaves out what follows a label such as "Related articles", as far as its part of the page goes.
    fn leave_further_reading_out(&self, outline: &mut Outline) {
        let labels: Vec<usize> = outline
            .blocks()
            .enumerate()
            .filter(|(_, block)| block.is_main() && further::is_label(block.text()))
            .map(|(at, _)| at)
            .collect();
        if labels.is_empty() {
            return;
        }
        let ends = self.ends();
        let total = self.total_of(&outline.records, 0..outline.records.len());
        for label in labels {
            let end = self.end_of_part(&outline.records, label, &ends);
            let part = self.total_of(&outline.records, label + 1..end);
            let is_less = |part: u64, total: u64| part * 100 <= total * FURTHER_MAX;
            if is_less(part.prose, total.prose) && is_less(part.unlinked(), total.unlinked()) {
                outline.records.iter_mut().take(end).skip(label).for_each(|record| record.is_main = false);
            }
        }
    }

    /// The number of the block after the part of the page that a label opens.
    fn end_of_part(&self, records: &[Record], label: usize, ends: &[u32]) -> usize {
        let Some(record) = records.get(label) else { return label };
        let own = self.blocks.get(label).copied().unwrap_or_default();
        let mut part = record.node;
        while part != 0 && self.sum(part as usize).bytes <= own.bytes {
            part = self.nodes.get(part as usize).map_or(0, |node| node.parent);
        }
        let end_node = ends.get(part as usize).copied().unwrap_or(0);
        let level = if let BlockKind::Heading(level) = record.kind { level } else { 7 };
        let rest = records.iter().enumerate().skip(label + 1);
        let is_end = |record: &Record| {
            record.node >= end_node
                || matches!(record.kind, BlockKind::Heading(other) if other <= level && level < 7)
        };
        rest.into_iter().find(|(_, record)| is_end(record)).map_or(records.len(), |(at, _)| at)
    }

    /// The number of the node after the last descendant of each node.
    fn ends(&self) -> Vec<u32> {
        let mut ends: Vec<u32> = (1..).take(self.nodes.len()).collect();
        for (place, node) in self.nodes.iter().enumerate().skip(1).rev() {
            let end = ends.get(place).copied().unwrap_or(0);
            if let Some(slot) = ends.get_mut(node.parent as usize) {
                *slot = (*slot).max(end);
            }
        }
        ends
    }

    /// What the blocks of the main text in a range contain.
    fn total_of(&self, records: &[Record], range: Range<usize>) -> Sum {
        let mut total = Sum::default();
        let blocks = records.iter().zip(&self.blocks).take(range.end).skip(range.start);
        blocks.filter(|(record, _)| record.is_main).for_each(|(_, sum)| total.add(*sum));
        total
    }

    /// Which nodes are entries of the list that the page consists of, or inside one: siblings that look the same and together hold
    /// much of the text. There are none if the prose is elsewhere.
    fn entries(&self, whole: Sum, is_bare: bool) -> Vec<bool> {
        let mut groups: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let bytes = self.sum(place).bytes;
            if bytes > 0 {
                let group = groups.entry((node.parent, node.look)).or_default();
                *group = (group.0 + 1, group.1 + bytes);
            }
        }
        let mut prose = 0;
        let mut is_entry = vec![false; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            let is_inside = is_entry.get(node.parent as usize).is_some_and(|entry| *entry);
            let group = groups.get(&(node.parent, node.look));
            let is_own = group.is_some_and(|(count, bytes)| {
                *count >= ENTRIES_MIN
                    && bytes * 100 >= whole.bytes * ENTRIES_SHARE
                    && *bytes >= count * ENTRY_BYTES_MIN
            });
            if is_own && !is_inside {
                prose += self.sum(place).prose;
            }
            if let Some(slot) = is_entry.get_mut(place) {
                *slot = is_inside || is_own;
            }
        }
        if !is_bare && prose * 2 < whole.prose {
            return Vec::new();
        }
        is_entry
    }
}

/// Whether an element is made to hold several blocks.
fn can_hold_blocks(key: u64) -> bool {
    use element::{DD, DT, LI, P, PRE};
    !(is_heading(key) || matches!(key, DD | DT | LI | P | PRE | BLOCKQUOTE))
}

/// A heading is left out if everything that follows it up to the next one was.
fn leave_bare_headings_out(records: &mut [Record]) {
    let (mut kept, mut dropped, mut next_level) = (false, false, 0);
    for record in records.iter_mut().rev() {
        let BlockKind::Heading(level) = record.kind else {
            kept |= record.is_main;
            dropped |= !record.is_main;
            continue;
        };
        record.is_main &= kept || !dropped || next_level > level;
        if record.is_main {
            (kept, dropped, next_level) = (false, false, level);
        }
    }
}
