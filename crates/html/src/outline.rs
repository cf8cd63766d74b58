//! The text of a page, block by block, where each part of it is in the bytes of the page, and which blocks are its main text.
//!
//! ```
//! let html = b"<title>Opening hours</title><nav><a href=/>Home</a></nav><h1>Hours</h1><p>Open from 9 &ndash; <b>18</b>.";
//! let outline = html::outline(None, None, html);
//! assert_eq!(outline.title().map(|title| title.source.offset), Some(7));
//! let main: Vec<_> = outline.blocks().filter(|block| block.is_main()).collect();
//! assert_eq!((main[0].kind(), main[0].text()), (html::BlockKind::Heading(1), "Hours"));
//! assert_eq!(main[1].text(), "Open from 9 – 18.");
//! // Where `9 – 18` is written in the page.
//! let source = main[1].source(10..18);
//! assert_eq!(&html[source.offset..source.offset + source.length], b"9 &ndash; <b>18");
//! ```
//!
//! Offsets count bytes of the page as it was before its character set was decoded; in a charset with states, such as
//! ISO-2022-JP, bytes are decoded from the state there.
//!
//! **Invariant:** the bytes of a range of a block, decoded, without tags, references resolved and white space folded, are its
//! text. Takes time linear in the page, without recursion (H8).

mod evidence;
mod fold;
mod further;
mod main_text;
mod tree;

use crate::source::{SourceMap, SourceRange};
use crate::token::name::{Attribute, element};
use crate::token::{Name, Token, Tokenizer};
use crate::{TEXT_BYTES_MAX, charset, title};
use fold::{Fold, short};
use std::ops::Range;
use tree::{BLOCKQUOTE, FIGCAPTION, Tree};

/// The blocks of a page in order.
///
/// A block is the text between two tags that start a line, without what is hidden. Its white space is folded: a space, or a
/// line break for a `br` and for the lines of preformatted text.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    title: Option<OutlineTitle>,
    fold: Fold,
    records: Vec<Record>,
    source: SourceMap,
}

/// The title of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineTitle {
    /// As it is shown, white space folded.
    pub text: String,
    /// Where the text is written, without its tags.
    pub source: SourceRange,
}

/// What is known of a block.
#[derive(Clone, Debug)]
struct Record {
    text: Range<u32>,
    node: u32,
    /// The number of its bytes inside links.
    linked: u32,
    kind: BlockKind,
    is_main: bool,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// A heading of this level, 1 to 6.
    Heading(u8),
    /// A paragraph, or text that is in nothing else.
    Paragraph,
    /// An item of a list.
    ListItem,
    /// A cell of a table.
    TableCell,
    /// A term that is explained.
    Term,
    /// The explanation of a term.
    Description,
    /// Text whose line breaks count, such as a program.
    Preformatted,
    /// A quotation.
    Quote,
    /// The caption of a figure.
    Caption,
}

/// A block of a page.
#[derive(Clone, Copy, Debug)]
pub struct OutlineBlock<'a> {
    outline: &'a Outline,
    record: &'a Record,
}

impl<'a> OutlineBlock<'a> {
    /// Its text, white space folded; never empty.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.outline.fold.text(self.record.text.clone())
    }
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> BlockKind {
        self.record.kind
    }
    /// Whether it belongs to the main text.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.record.is_main
    }
    /// The number of bytes of its text that are inside links.
    #[must_use]
    pub fn linked_bytes(&self) -> usize {
        self.record.linked as usize
    }
    /// Where a part of its text, given in bytes, is in the bytes of the page. A range beyond the text ends with it.
    #[must_use]
    pub fn source(&self, range: Range<usize>) -> SourceRange {
        let text = &self.record.text;
        let at = |position: usize| text.start.saturating_add(short(position)).min(text.end);
        let page = self.outline.fold.in_page(at(range.start)..at(range.end).max(at(range.start)));
        self.outline.in_source(page)
    }
}

impl Outline {
    /// The first title, if there is one with text.
    #[must_use]
    pub fn title(&self) -> Option<&OutlineTitle> {
        self.title.as_ref()
    }
    /// The blocks in order.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = OutlineBlock<'_>> {
        self.records.iter().map(|record| OutlineBlock { outline: self, record })
    }
    /// The main text, one block per line.
    #[must_use]
    pub fn main_text(&self) -> String {
        let mut text = String::new();
        for block in self.blocks().filter(OutlineBlock::is_main) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(block.text());
        }
        text
    }
    /// The position in the bytes of the page of a position in its decoded text, such as [`crate::Link::offset`].
    #[must_use]
    pub fn source_offset(&self, decoded: usize) -> usize {
        self.source.offset(decoded)
    }
    fn in_source(&self, page: Range<usize>) -> SourceRange {
        let offset = self.source.offset(page.start);
        SourceRange { offset, length: self.source.offset(page.end).saturating_sub(offset) }
    }
}

/// The blocks of a page from a host under this top-level domain.
#[must_use]
pub fn outline(domain: Option<&str>, content_type: Option<&str>, bytes: &[u8]) -> Outline {
    let charset = charset::find_from(domain, content_type, bytes);
    let text = charset::text(charset, bytes);
    let mut tag = Tokenizer::html(&text);
    let mut builder = Builder::default();
    while let Some(token) = tag.next() {
        builder.step(token, &tag);
    }
    builder.finish(SourceMap::new(charset, bytes, &text))
}

/// Builds an outline while a page is read.
#[derive(Debug)]
pub(crate) struct Builder {
    tree: Tree,
    outline: Outline,
    in_link: bool,
    /// The number of bytes of the open block inside links.
    linked: usize,
    /// A line has ended and nothing followed it yet.
    is_line_end: bool,
    /// The element whose raw text comes next.
    raw: u64,
    /// The title in the decoded text.
    title: Option<(String, Range<usize>)>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            tree: Tree::new(),
            outline: Outline::default(),
            in_link: false,
            linked: 0,
            is_line_end: false,
            raw: 0,
            title: None,
        }
    }
}

impl Builder {
    /// The next token of the page.
    pub(crate) fn step(&mut self, token: Token<'_>, tag: &Tokenizer<'_>) {
        match token {
            Token::Text(text) => self.text(text, tag.place() - text.len()),
            Token::Raw(text) => self.raw_text(text, tag.place() - text.len()),
            Token::Start(name) => self.start(name, tag),
            Token::End(name) => self.end(name),
        }
    }

    fn start(&mut self, name: Name<'_>, tag: &Tokenizer<'_>) {
        self.raw = name.key;
        match name.key {
            element::A => self.in_link = tag.attribute(Attribute::Href).is_some(),
            element::BR => self.end_line(),
            _ => {
                if let Some(key) = tree::breaking(name) {
                    self.end_block();
                    self.tree.start(key, tag);
                }
            }
        }
    }

    fn end(&mut self, name: Name<'_>) {
        if name.key == element::A {
            self.in_link = false;
        } else if let Some(key) = tree::breaking(name) {
            self.end_block();
            self.tree.end(key);
        }
    }

    /// Two line ends in a row are the end of a paragraph.
    fn end_line(&mut self) {
        if self.is_line_end {
            self.end_block();
        }
        self.is_line_end = self.outline.fold.is_open();
        self.outline.fold.end_line();
    }

    fn text(&mut self, text: &str, at: usize) {
        self.push(text, |fold, keeps_lines| fold.push(text, at, keeps_lines));
    }

    /// The text of an element without markup: examples are visible, scripts and styles are not.
    fn raw_text(&mut self, text: &str, at: usize) {
        match self.raw {
            element::XMP | 0 => self.push(text, |fold, keeps_lines| fold.words(text, at, keeps_lines)),
            element::TITLE if self.title.is_none() => {
                let start = at + text.len() - text.trim_start().len();
                self.title = Some((title::shown(text), start..start + text.trim().len()));
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str, add: impl Fn(&mut Fold, bool)) {
        let Some(node) = self.tree.node(self.tree.current()) else { return };
        let before = self.outline.fold.len();
        if node.is_hidden || before + text.len() > TEXT_BYTES_MAX {
            return;
        }
        let keeps_lines = matches!(node.role, element::PRE | element::LISTING | element::XMP);
        add(&mut self.outline.fold, keeps_lines);
        let added = self.outline.fold.len() - before;
        self.is_line_end &= added == 0;
        if self.in_link {
            self.linked += added;
        }
    }

    fn end_block(&mut self) {
        self.is_line_end = false;
        let linked = std::mem::take(&mut self.linked);
        let Some(text) = self.outline.fold.end_block() else { return };
        let node = self.tree.current();
        let kind = kind(self.tree.node(node).map_or(0, |node| node.role));
        self.outline.records.push(Record { text, node, linked: short(linked), kind, is_main: false });
    }

    /// Ends the page.
    pub(crate) fn finish(mut self, source: SourceMap) -> Outline {
        self.end_block();
        self.outline.source = source;
        let title = self.title.take().filter(|(text, _)| !text.is_empty());
        self.outline.title =
            title.map(|(text, page)| OutlineTitle { text, source: self.outline.in_source(page) });
        main_text::choose(&mut self.outline, &self.tree.nodes);
        self.outline
    }
}

/// What text with a role is.
fn kind(role: u64) -> BlockKind {
    use element::{DD, DT, H1, H2, H3, H4, H5, H6, LI, LISTING, PRE, TD, TH, XMP};
    match role {
        H1 => BlockKind::Heading(1),
        H2 => BlockKind::Heading(2),
        H3 => BlockKind::Heading(3),
        H4 => BlockKind::Heading(4),
        H5 => BlockKind::Heading(5),
        H6 => BlockKind::Heading(6),
        LI => BlockKind::ListItem,
        TD | TH => BlockKind::TableCell,
        DT => BlockKind::Term,
        DD => BlockKind::Description,
        PRE | LISTING | XMP => BlockKind::Preformatted,
        BLOCKQUOTE => BlockKind::Quote,
        FIGCAPTION => BlockKind::Caption,
        _ => BlockKind::Paragraph,
    }
}
