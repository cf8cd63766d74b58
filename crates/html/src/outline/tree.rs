//! The open elements of a page, and a node for every element that starts a line.
//!
//! Only what places the text is built: a tag that closes nothing is passed over, and paragraphs, items and cells end where
//! the HTML standard says. Formatting elements are not part of it.
//!
//! **Invariant:** at most [`DEPTH_MAX`] elements are open and at most [`NODES_MAX`] nodes exist (H8); what is deeper or
//! later belongs to the last node. A node comes after its parent.

use super::evidence::{self, Evidence};
use super::fold::short;
use crate::token::name::{element, key};
use crate::token::{Name, Tokenizer};

/// The maximum number of open elements.
const DEPTH_MAX: usize = 512;
/// The maximum number of nodes.
const NODES_MAX: usize = 1 << 18;

/// Keys of elements whose names are longer than a key; no element has these names.
pub(super) const BLOCKQUOTE: u64 = key(b"blockquo");
pub(super) const FIGCAPTION: u64 = key(b"figcapti");

/// An element that starts a line.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its parent; the root is its own.
    pub(super) parent: u32,
    /// The key of its name.
    pub(super) key: u64,
    /// The element that says what its text is: a heading, a list item, a cell …; 0 if there is none.
    pub(super) role: u64,
    /// What its name and attributes say.
    pub(super) evidence: Evidence,
    /// It or an element around it is never shown.
    pub(super) is_hidden: bool,
    /// A hash of its name and class: equal for the entries of a list.
    pub(super) look: u32,
}

/// The tree so far.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    open: Vec<(u64, u32)>,
    /// Elements that were too deep.
    too_deep: usize,
    /// The number of open elements whose keys fall into a slot, so that most tags that close nothing cost one look.
    counts: [u16; SLOTS],
}

const SLOTS: usize = 64;

fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
}

impl Tree {
    pub(super) fn new() -> Self {
        let root =
            Node { parent: 0, key: 0, role: 0, evidence: Evidence::default(), is_hidden: false, look: 0 };
        Self { nodes: vec![root], open: vec![(0, 0)], too_deep: 0, counts: [0; SLOTS] }
    }

    /// The innermost open node.
    pub(super) fn current(&self) -> u32 {
        self.open.last().map_or(0, |(_, node)| *node)
    }
    pub(super) fn node(&self, node: u32) -> Option<&Node> {
        self.nodes.get(node as usize)
    }

    /// Opens an element that starts a line.
    pub(super) fn start(&mut self, key: u64, tag: &Tokenizer<'_>) {
        self.close_implied(key);
        if key == element::HR {
            return;
        }
        if self.open.len() >= DEPTH_MAX || self.nodes.len() >= NODES_MAX {
            self.too_deep += 1;
            return;
        }
        let parent = self.current();
        let role = self.node(parent).map_or(0, |parent| parent.role);
        let evidence = evidence::of(key, tag);
        let is_hidden =
            self.node(parent).is_some_and(|parent| parent.is_hidden) || evidence.has(Evidence::NEVER);
        let look = evidence::look(key, tag);
        self.open.push((key, short(self.nodes.len())));
        self.count(key, 1);
        self.nodes.push(Node { parent, key, role: role_in(role, key), evidence, is_hidden, look });
    }

    /// Closes the innermost element of this name, and those inside it.
    pub(super) fn end(&mut self, key: u64) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let is_of_table = is_of_table(key);
        let found =
            self.is_counted(key).then(|| self.nearest(|open| open == key, |open| is_end(open, is_of_table)));
        if let Some(Some(depth)) = found {
            self.close_to(depth);
        }
    }

    /// The number of open elements outside of the innermost that is looked for, not past one that ends the search.
    fn nearest(&self, is_it: impl Fn(u64) -> bool, is_end: impl Fn(u64) -> bool) -> Option<usize> {
        for (depth, (open, _)) in self.open.iter().enumerate().rev() {
            if is_it(*open) {
                return Some(depth);
            }
            if is_end(*open) {
                return None;
            }
        }
        None
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth.max(1) {
            if let Some((key, _)) = self.open.pop() {
                self.count(key, -1);
            }
        }
    }
    fn count(&mut self, key: u64, by: i16) {
        if let Some(count) = self.counts.get_mut(slot(key)) {
            *count = count.wrapping_add_signed(by);
        }
    }
    fn is_counted(&self, key: u64) -> bool {
        self.counts.get(slot(key)).is_some_and(|count| *count > 0)
    }

    /// Closes what ends where an element of this name begins.
    fn close_implied(&mut self, key: u64) {
        use element::*;
        let top = self.open.last().map_or(0, |(top, _)| *top);
        if top == P || is_heading(top) && is_heading(key) {
            self.close_to(self.open.len() - 1);
        }
        let depth = match key {
            LI => self.nearest(|open| open == LI, |open| !matches!(open, DIV | P | ADDRESS)),
            DT | DD => {
                self.nearest(|open| matches!(open, DT | DD), |open| !matches!(open, DIV | P | ADDRESS))
            }
            TD | TH => self.nearest(|open| matches!(open, TD | TH), |open| matches!(open, TR | TABLE)),
            TR => self.nearest(|open| open == TR, |open| open == TABLE),
            TBODY | THEAD | TFOOT => {
                self.nearest(|open| matches!(open, TBODY | THEAD | TFOOT), |open| open == TABLE)
            }
            OPTION => self.nearest(|open| open == OPTION, |open| open != OPTION),
            BODY => self.nearest(|open| open == HEAD, |_| false),
            _ => None,
        };
        if let Some(depth) = depth {
            self.close_to(depth);
        }
    }
}

/// Whether a search for the element that a tag closes stops at an open element.
fn is_end(open: u64, is_of_table: bool) -> bool {
    match open {
        element::TABLE | element::TEMPLATE => true,
        element::TD | element::TH => !is_of_table,
        _ => false,
    }
}
fn is_of_table(key: u64) -> bool {
    use element::{TABLE, TBODY, TD, TFOOT, TH, THEAD, TR};
    matches!(key, TABLE | TBODY | TD | TFOOT | TH | THEAD | TR)
}
pub(super) fn is_heading(key: u64) -> bool {
    use element::{H1, H2, H3, H4, H5, H6};
    matches!(key, H1 | H2 | H3 | H4 | H5 | H6)
}

/// The role of the text in an element inside one with this role.
fn role_in(outer: u64, key: u64) -> u64 {
    use element::*;
    match key {
        H1 | H2 | H3 | H4 | H5 | H6 | LI | TD | TH | DT | DD | PRE | LISTING | XMP | BLOCKQUOTE
        | FIGCAPTION => key,
        P if outer == 0 => P,
        ARTICLE | ASIDE | BODY | FOOTER | HEADER | MAIN | NAV | SECTION => 0,
        _ => outer,
    }
}

/// The key of an element that starts a line; `None` for other elements.
pub(super) fn breaking(name: Name<'_>) -> Option<u64> {
    use element::*;
    match name.key {
        ADDRESS | ARTICLE | ASIDE | BODY | BUTTON | CENTER | DD | DETAILS | DIALOG | DIR | DIV | DL | DT
        | FIELDSET | FIGURE | FOOTER | FORM | FRAME | H1 | H2 | H3 | H4 | H5 | H6 | HEAD | HEADER | HR
        | HTML | IFRAME | LEGEND | LI | LISTING | MAIN | MENU | NAV | NOFRAMES | NOSCRIPT | OL | OPTION
        | P | PRE | SECTION | SELECT | SUMMARY | TABLE | TBODY | TD | TEMPLATE | TFOOT | TH | THEAD
        | TITLE | TR | UL | XMP => Some(name.key),
        0 => long(name.text),
        _ => None,
    }
}

fn long(name: &str) -> Option<u64> {
    match name.len() {
        9 if name.eq_ignore_ascii_case("plaintext") => Some(element::XMP),
        10 if name.eq_ignore_ascii_case("blockquote") => Some(BLOCKQUOTE),
        10 if name.eq_ignore_ascii_case("figcaption") => Some(FIGCAPTION),
        // Elements that a page defines are used like `div`.
        _ => name.contains('-').then_some(element::DIV),
    }
}
