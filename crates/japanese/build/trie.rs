//! A trie over the characters of all surfaces, as a double array.
//!
//! A node is a base and the node it belongs to: the child by a character of code `c` is at `base + c` if that node
//! belongs to this one. Code 0 leads to the surface that ends here; a surface that nothing continues is a leaf itself.

use std::collections::HashMap;
use std::ops::Range;

/// Set in the base of a leaf; the rest is its first entry.
const LEAF: u32 = 1 << 31;
/// The owner of a free node.
const FREE: u32 = u32::MAX;
/// How far before the last place found the next search begins: more makes the array denser and the build slower.
const SEARCH_BACK_WORDS: usize = 256;

/// The trie.
pub(crate) struct Trie {
    /// By character of the basic plane: its code (u16), 0 for none.
    pub(crate) codes: Vec<u8>,
    /// Base and owner of every node (u32 each).
    pub(crate) nodes: Vec<u8>,
}

/// Builds it from sorted surfaces, whose positions are the entries; of equal ones the first counts.
pub(crate) fn build(surfaces: &[String]) -> Trie {
    let codes = codes(surfaces);
    let mut words: Vec<(Vec<u32>, u32)> = Vec::new();
    for (at, surface) in surfaces.iter().enumerate() {
        if at == 0 || surfaces[at - 1] != *surface {
            words.push((surface.chars().map(|c| codes[&c]).collect(), at as u32));
        }
    }
    words.sort();
    let mut array = Array::new();
    let mut pending = vec![(0, 0, 0..words.len())];
    while let Some((node, depth, range)) = pending.pop() {
        let children = children(&words, depth, range);
        let base = array.place(node, &children.iter().map(|child| child.0).collect::<Vec<_>>());
        for (code, range) in children {
            let child = base + code as usize;
            let (word, entry) = &words[range.start];
            if code == 0 || (range.len() == 1 && word.len() == depth + 1) {
                array.nodes[child].0 = LEAF | entry;
            } else {
                pending.push((child, depth + 1, range));
            }
        }
    }
    Trie { codes: code_table(&codes), nodes: array.bytes() }
}

/// Frequent characters get small codes, which keeps the array dense.
fn codes(surfaces: &[String]) -> HashMap<char, u32> {
    let mut counts: HashMap<char, u32> = HashMap::new();
    for character in surfaces.iter().flat_map(|surface| surface.chars()) {
        *counts.entry(character).or_default() += 1;
    }
    let mut order: Vec<(u32, char)> = counts.into_iter().map(|(c, count)| (u32::MAX - count, c)).collect();
    order.sort_unstable();
    order.into_iter().zip(1..).map(|((_, c), code)| (c, code)).collect()
}

fn code_table(codes: &HashMap<char, u32>) -> Vec<u8> {
    let mut table = vec![0; 1 << 17];
    for (character, code) in codes {
        let at = usize::try_from(u32::from(*character)).unwrap() * 2;
        table[at..at + 2].copy_from_slice(&u16::try_from(*code).unwrap().to_le_bytes());
    }
    table
}

/// The codes at `depth` with the words that have them.
fn children(words: &[(Vec<u32>, u32)], depth: usize, range: Range<usize>) -> Vec<(u32, Range<usize>)> {
    let mut children: Vec<(u32, Range<usize>)> = Vec::new();
    for at in range {
        let code = words[at].0.get(depth).copied().unwrap_or(0);
        match children.last_mut() {
            Some((same, range)) if *same == code => range.end = at + 1,
            _ => children.push((code, at..at + 1)),
        }
    }
    children
}

/// The nodes while they are placed.
struct Array {
    nodes: Vec<(u32, u32)>,
    /// A bit for each free place; places after the last word are free.
    free: Vec<u64>,
    /// By size of a family of children, rounded to a power of two: where the search begins.
    starts: [usize; 16],
}

impl Array {
    /// Only the root.
    fn new() -> Self {
        Self { nodes: vec![(0, 0)], free: vec![!1], starts: [0; 16] }
    }

    /// Finds room for a node's children and gives it to them; returns the base.
    fn place(&mut self, node: usize, children: &[u32]) -> usize {
        let base = self.room(children);
        self.nodes[node].0 = base as u32;
        for code in children {
            let at = base + *code as usize;
            self.nodes.resize(self.nodes.len().max(at + 1), (0, FREE));
            self.nodes[at].1 = node as u32;
            self.free.resize(self.free.len().max(at / 64 + 1), u64::MAX);
            self.free[at / 64] &= !(1 << (at % 64));
        }
        base
    }

    /// The first base where all children are free, a little before where the last family of this size was placed.
    fn room(&mut self, children: &[u32]) -> usize {
        let size = children.len().ilog2() as usize;
        let mut word = self.starts[size];
        loop {
            let fitting = children.iter().fold(u64::MAX, |bits, code| match bits {
                0 => 0,
                _ => bits & self.free_from(word * 64 + *code as usize),
            });
            if fitting != 0 {
                self.starts[size] = word.saturating_sub(SEARCH_BACK_WORDS).max(self.starts[size]);
                return word * 64 + fitting.trailing_zeros() as usize;
            }
            word += 1;
        }
    }

    /// Whether each of the 64 places from here is free.
    fn free_from(&self, at: usize) -> u64 {
        let word = |at| self.free.get(at).copied().unwrap_or(u64::MAX);
        match at % 64 {
            0 => word(at / 64),
            shift => word(at / 64) >> shift | word(at / 64 + 1) << (64 - shift),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.nodes
            .iter()
            .flat_map(|(base, owner)| [base.to_le_bytes(), owner.to_le_bytes()])
            .flatten()
            .collect()
    }
}
