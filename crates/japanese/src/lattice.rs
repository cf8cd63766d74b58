//! The cheapest path through all words that a text can be cut into.
//!
//! **Invariant:** words, costs and the choice between equal costs are MeCab's, so its output for the same dictionary is
//! the same. Word lists are therefore read from the last word to the first.

use crate::dictionary::{self, Class, Entry};

/// Longer sequences of one class are not tried as one word.
const GROUP_CHARACTERS_MAX: usize = 25;
/// No node.
const NONE: u32 = u32::MAX;
/// Connection id of the two ends of a text.
const EDGE: u16 = 0;

/// A word on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) id: u16,
    /// None for an unknown word.
    pub(crate) entry: Option<Entry>,
    /// An unknown word of symbols.
    pub(crate) symbol: bool,
}

#[derive(Clone, Copy)]
struct Node {
    word: Word,
    /// Of the path from the start to the end of this word.
    cost: i32,
    /// The word before on the cheapest path.
    before: u32,
    /// The next one in the list of words that end here.
    next: u32,
}

/// A way to reach a position: the id and cost of the word that ends there.
struct Arrival {
    id: u16,
    cost: i32,
    node: u32,
}

/// Working memory for one text after the other.
#[derive(Default)]
pub(crate) struct Lattice {
    nodes: Vec<Node>,
    /// By byte position: the first of the words that end there.
    ends: Vec<u32>,
    arrivals: Vec<Arrival>,
    /// Words found at one position, in the order in which MeCab finds them, with their own cost.
    found: Vec<(Word, i16)>,
    /// At one position: the cheapest arrival for a connection id.
    best: Vec<(u16, i32, u32)>,
}

impl Lattice {
    /// Appends the words of the text to `path`.
    pub(crate) fn cut(&mut self, text: &str, path: &mut Vec<Word>) {
        self.nodes.clear();
        self.ends.clear();
        self.ends.resize(text.len() + 1, NONE);
        let edge = Word { start: 0, end: 0, id: EDGE, entry: None, symbol: false };
        self.add(0, Node { word: edge, cost: 0, before: NONE, next: NONE });
        for (at, _) in text.char_indices() {
            if self.ends[at] != NONE {
                self.find(text, at);
                self.connect(at);
            }
        }
        let last = (0..=text.len()).rev().find(|at| self.ends[*at] != NONE).unwrap_or(0);
        self.arrive(last);
        let (_, end) = self.cheapest(EDGE);
        self.collect(end, path);
    }

    /// Fills `found` with all words that begin at `at`, or after the spaces there.
    fn find(&mut self, text: &str, at: usize) {
        self.found.clear();
        let space = dictionary::class_of(' ');
        let start = at + seek(&text[at..], space, usize::MAX).0;
        let rest = &text[start..];
        let Some(first) = rest.chars().next() else { return };
        let class = dictionary::class_of(first);
        let found = &mut self.found;
        let word = |length: usize, id, entry| Word {
            start: position(start),
            end: position(start + length),
            id,
            entry,
            symbol: entry.is_none() && class.symbol,
        };
        dictionary::prefixes(rest, |length, entry| {
            found.extend(
                dictionary::entries(entry).map(|(entry, id, cost)| (word(length, id, Some(entry)), cost)),
            );
        });
        if !found.is_empty() && !class.invoke {
            return;
        }
        let known = !found.is_empty();
        let mut add =
            |length| found.extend(class.unknown.iter().map(|(id, cost)| (word(length, *id, None), *cost)));
        unknown_lengths(rest, first.len_utf8(), class, known, &mut add);
    }

    /// Joins the words found to those that end at `at`.
    fn connect(&mut self, at: usize) {
        self.arrive(at);
        while let Some((word, cost)) = self.found.pop() {
            let (before_cost, before) = self.cheapest(word.id);
            let node = Node { word, cost: before_cost + i32::from(cost), before, next: NONE };
            self.add(word.end as usize, node);
        }
    }

    /// Fills `arrivals` with the words that end at `at`.
    fn arrive(&mut self, at: usize) {
        self.arrivals.clear();
        self.best.clear();
        let mut next = self.ends[at];
        while let Some(node) = self.nodes.get(next as usize) {
            self.arrivals.push(Arrival { id: node.word.id, cost: node.cost, node: next });
            next = node.next;
        }
    }

    /// Cost and node of the cheapest arrival for a word of this id; of equal ones the first.
    fn cheapest(&mut self, id: u16) -> (i32, u32) {
        if let Some((_, cost, node)) = self.best.iter().find(|best| best.0 == id) {
            return (*cost, *node);
        }
        let connections = dictionary::connections(id);
        let (mut cheapest, mut before) = (i32::MAX, NONE);
        for arrival in &self.arrivals {
            let connection = dictionary::u16_at(connections, usize::from(arrival.id)).cast_signed();
            let cost = arrival.cost + i32::from(connection);
            if cost < cheapest {
                (cheapest, before) = (cost, arrival.node);
            }
        }
        self.best.push((id, cheapest, before));
        (cheapest, before)
    }

    fn add(&mut self, end: usize, mut node: Node) {
        node.next = self.ends[end];
        self.ends[end] = position(self.nodes.len());
        self.nodes.push(node);
    }

    fn collect(&self, end: u32, path: &mut Vec<Word>) {
        let first = path.len();
        let mut at = end;
        while let Some(node) = self.nodes.get(at as usize).filter(|node| node.before != NONE) {
            path.push(node.word);
            at = node.before;
        }
        path[first..].reverse();
    }
}

/// Calls `add` with the length of every unknown word to try at the start of `rest`.
fn unknown_lengths(rest: &str, first: usize, class: &Class, known: bool, add: &mut impl FnMut(usize)) {
    let mut added = known;
    let mut group = None;
    if class.group {
        let (length, characters) = seek(&rest[first..], class, GROUP_CHARACTERS_MAX);
        if characters < GROUP_CHARACTERS_MAX {
            add(first + length);
            added = true;
        }
        group = Some(first + length);
    }
    let mut length = first;
    for _ in 0..class.length {
        if Some(length) == group {
            break;
        }
        add(length);
        added = true;
        let Some(next) = rest[length..].chars().next() else { break };
        if class.kinds & dictionary::class_of(next).kinds == 0 {
            break;
        }
        length += next.len_utf8();
    }
    if !added {
        add(first);
    }
}

/// Length in bytes and characters of the beginning of `text` whose characters are each of a kind with the one before.
fn seek(text: &str, class: &Class, characters_max: usize) -> (usize, usize) {
    let mut kinds = class.kinds;
    let (mut length, mut characters) = (0, 0);
    for next in text.chars().take(characters_max) {
        let class = dictionary::class_of(next);
        if kinds & class.kinds == 0 {
            break;
        }
        kinds = class.kinds;
        length += next.len_utf8();
        characters += 1;
    }
    (length, characters)
}

fn position(at: usize) -> u32 {
    u32::try_from(at).expect("a piece is short")
}
