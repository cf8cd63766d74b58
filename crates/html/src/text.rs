//! The visible text of a page: its length, a sample of it, and three digests (C3).
//!
//! Text is processed block by block; elements that break a line end a block. The *main* text is the part written for the
//! reader: blocks in `main`, else in `article`, else those of some length outside of navigation, adverts, notices,
//! headers and footers that are not mostly links. On a page that is mostly links, the links are the main text, and on a
//! page of a line or two, everything outside of frames. Dates and counters do not count; they are in short blocks, in
//! blocks of many digits, or after words such as "updated".
//!
//! **Invariant:** the digests of a page never change (they are stored); memory is bounded by
//! [`blocks::BLOCK_BYTES_MAX`] and the sample.

mod block;
mod blocks;
mod digest;
mod run;
mod sample;
mod steady;
mod whole;
mod words;
mod zone;

pub(crate) use run::is_plain;
pub use whole::visible_text;
pub use words::WORDS_MAX;

use crate::token::{Name, Tokenizer};
use block::{Block, Weight};
use blocks::Blocks;
use sample::Sample;
use steady::Steady;
use words::Words;
use zone::Zones;

/// Blocks with fewer letters are labels.
const LETTERS_MIN: usize = 20;
/// Blocks with more letters are not a line that says when the page was created or how often it was viewed.
const STAMP_LETTERS_MAX: usize = 120;
/// The maximum number of blocks of a page that are hashed.
pub const BLOCKS_MAX: usize = 64;
/// Blocks with fewer letters are not hashed.
const TOLD_LETTERS_MIN: usize = 12;
/// A part of the page with fewer letters is not its main text.
const MAIN_LETTERS_MIN: usize = 100;
/// A page with more letters has more than a line or two.
const FEW_LETTERS_MAX: usize = 400;

/// The visible text of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageText {
    /// The number of characters, white space folded.
    pub chars: usize,
    /// Pieces of the text from all over the page, at most 8 KiB, one per line: for language detection.
    pub sample: String,
    /// The digest of all visible text; 0 if there is none.
    pub digest: u64,
    /// The digest of the main text: it stays the same if only adverts, notices, dates, counters or navigation change.
    pub main: u64,
    /// The digest of all visible text without digits, addresses and months: equal for the pages of a calendar.
    pub skeleton: u64,
    /// Hashes of its blocks without digits, addresses and months, except labels and blocks that are mostly links: the readable
    /// content of the page in any order. The first [`BLOCKS_MAX`] at most.
    pub blocks: Vec<u32>,
    /// Hashes of the words of its title and of its text outside of navigation and links, each once; no numbers, dates or
    /// random identifiers. At most [`WORDS_MAX`].
    pub words: Vec<u32>,
    /// A hash of the words of its title in order; 0 if it has none.
    pub title: u32,
}

/// Collects the text of a page while it is read.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    blocks: Blocks,
    sums: Sums,
}

/// The results of the blocks of a page.
#[derive(Debug, Default)]
struct Sums {
    chars: usize,
    all: Part,
    skeleton: Part,
    /// A buffer for the skeleton of a block.
    bare: Vec<u8>,
    /// Text in `main`.
    main: Part,
    /// Text in `main` and `article`.
    core: Part,
    /// Text outside of frames that is not mostly links.
    body: Part,
    /// Text outside of frames.
    open: Part,
    /// All text that is long enough.
    broad: Part,
    /// Text outside of frames, however short, while there are few letters.
    few: Part,
    sample: Sample,
    blocks: Vec<u32>,
    words: Words,
    title: u32,
}

/// A part of the text.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    digest: u64,
    letters: usize,
}

impl Part {
    fn add(&mut self, digest: u64, letters: usize) {
        self.digest = digest::and(self.digest, digest);
        self.letters += letters;
    }
}

impl Gather {
    /// A tag opens an element.
    pub(crate) fn start(&mut self, name: Name<'_>, tag: &Tokenizer<'_>) {
        self.blocks.start(name, tag, |block, zones| self.sums.add_block(block, zones));
    }
    /// A tag closes an element.
    pub(crate) fn end(&mut self, name: Name<'_>) {
        self.blocks.end(name, |block, zones| self.sums.add_block(block, zones));
    }
    /// Text as written, with its character references.
    pub(crate) fn text(&mut self, text: &str) {
        self.blocks.text(text, |block, zones| self.sums.add_block(block, zones));
    }
    /// The text of an element without markup.
    pub(crate) fn raw(&mut self, element: u64, text: &str) {
        self.blocks.raw(element, text, |block, zones| self.sums.add_block(block, zones));
    }
    /// The title of the page: it is not part of the text, but its words count.
    pub(crate) fn title(&mut self, title: &str) {
        self.sums.words.add(title);
        self.sums.title = words::in_order(title);
    }
    /// Everything collected.
    pub(crate) fn finish(mut self) -> PageText {
        self.blocks.finish(|block, zones| self.sums.add_block(block, zones));
        self.sums.finish()
    }
}

impl Sums {
    fn add_block(&mut self, block: &Block, zones: &Zones) {
        let (weight, digest) = (block.weight(), block.digest());
        self.chars += weight.chars;
        self.all.add(digest, weight.letters);
        let is_bare = block.skeleton(weight, &mut self.bare);
        let bare =
            if is_bare { (!self.bare.is_empty()).then(|| digest::of(&self.bare)) } else { Some(digest) };
        if let Some(bare) = bare {
            self.skeleton.add(bare, 0);
            self.tell(block, weight, bare);
        }
        if !zones.is_frame() && !is_linked(block) {
            self.words.add(block.text());
        }
        self.sample.add(block.text());
        self.weigh(block, zones, weight, digest);
    }

    /// Hashes the block, if it has readable content.
    fn tell(&mut self, block: &Block, weight: Weight, bare: u64) {
        if weight.letters >= TOLD_LETTERS_MIN && !is_linked(block) && self.blocks.len() < BLOCKS_MAX {
            #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
            self.blocks.push(bare as u32);
        }
    }

    /// Adds the block to the parts it belongs to.
    fn weigh(&mut self, block: &Block, zones: &Zones, weight: Weight, digest: u64) {
        let Weight { letters, digits, .. } = weight;
        let is_label = letters < LETTERS_MIN || digits * 3 > letters;
        let is_frame = zones.is_frame();
        let is_core = zones.is_core() && !is_frame;
        if !is_frame && self.all.letters <= FEW_LETTERS_MAX {
            self.add_few(block, weight, digest);
        }
        if is_label && !is_core {
            return;
        }
        if is_frame || letters > STAMP_LETTERS_MAX {
            return self.add(block, zones, digest, letters);
        }
        let (text, has_digit) = (block.text(), block.has_digit(weight));
        let is_whole = !is_label && !steady::is_stamp(text, has_digit);
        match if is_whole { Steady::Whole } else { steady::write(text, has_digit, &mut self.bare) } {
            Steady::Whole => self.add(block, zones, digest, letters),
            Steady::Words => {
                self.add(block, zones, digest::of(&self.bare), block::letters(&self.bare));
            }
            Steady::Nothing => {}
        }
    }

    /// Adds the block to the text of a small page. A number counts, unless its line is one that changes by
    /// itself.
    fn add_few(&mut self, block: &Block, weight: Weight, digest: u64) {
        let (text, has_digit) = (block.text(), block.has_digit(weight));
        let is_whole = !steady::is_stamp(text, has_digit);
        match if is_whole { Steady::Whole } else { steady::write(text, has_digit, &mut self.bare) } {
            Steady::Whole => self.few.add(digest, weight.letters),
            Steady::Words => self.few.add(digest::of(&self.bare), weight.letters),
            Steady::Nothing => {}
        }
    }

    fn add(&mut self, block: &Block, zones: &Zones, digest: u64, letters: usize) {
        if zones.is_core() && !zones.is_frame() {
            self.core.add(digest, letters);
            if zones.is_main() {
                self.main.add(digest, letters);
            }
        }
        if letters < LETTERS_MIN {
            return;
        }
        self.broad.add(digest, letters);
        if zones.is_frame() {
            return;
        }
        self.open.add(digest, letters);
        if block.linked * 2 <= block.text().len() {
            self.body.add(digest, letters);
        }
    }

    fn finish(self) -> PageText {
        let main = self.part().digest;
        PageText {
            chars: self.chars,
            digest: self.all.digest,
            main,
            skeleton: self.skeleton.digest,
            sample: self.sample.finish(),
            blocks: self.blocks,
            words: self.words.finish(),
            title: self.title,
        }
    }

    /// The main text of the page.
    fn part(&self) -> Part {
        let is_share = |part: &Part| part.letters > 0 && part.letters * 8 >= self.all.letters;
        let is_enough = |part: &Part| part.letters >= MAIN_LETTERS_MIN && is_share(part);
        // The main text of a page that is mostly links is its links.
        let body = if self.body.letters * 3 >= self.open.letters { self.body } else { self.open };
        let is_small = self.all.letters <= FEW_LETTERS_MAX;
        match [self.main, self.core, body].into_iter().find(is_enough) {
            Some(part) => part,
            None if is_small && is_share(&self.few) => self.few,
            None if is_enough(&self.broad) => self.broad,
            None => self.all,
        }
    }
}

/// Whether more than half of a block is inside links.
fn is_linked(block: &Block) -> bool {
    block.linked * 2 > block.text().len()
}
