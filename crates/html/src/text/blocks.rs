//! The blocks of a page, built from its tags and texts in order.
//!
//! **Invariant:** a block passed on is not empty, has at most [`BLOCK_BYTES_MAX`] bytes and contains nothing hidden.

use super::block::Block;
use super::zone::Zones;
use crate::token::name::{Attribute, element};
use crate::token::{Name, Tokenizer};

/// Longer blocks are cut.
pub(super) const BLOCK_BYTES_MAX: usize = 64 * 1024;

/// The open state in the middle of a page. Every function passes finished blocks to `done`.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    zones: Zones,
    block: Block,
    in_link: bool,
}

impl Blocks {
    /// A tag opens an element.
    pub(super) fn start(&mut self, name: Name<'_>, tag: &Tokenizer<'_>, done: impl FnMut(&Block, &Zones)) {
        match name.key {
            // Without a target it is an anchor name.
            element::A => self.in_link = tag.attribute(Attribute::Href).is_some(),
            element::BR => self.block.part(),
            _ => {
                if breaks(name) {
                    self.finish(done);
                }
                self.zones.start(name, tag);
            }
        }
    }

    /// A tag closes an element.
    pub(super) fn end(&mut self, name: Name<'_>, done: impl FnMut(&Block, &Zones)) {
        if breaks(name) {
            self.finish(done);
        } else if name.key == element::A {
            self.in_link = false;
        }
        self.zones.end(name.key);
    }

    /// Text as written, with its character references.
    pub(super) fn text(&mut self, text: &str, mut done: impl FnMut(&Block, &Zones)) {
        if self.zones.is_hidden() {
            return;
        }
        let mut rest = text;
        while rest.len() > BLOCK_BYTES_MAX {
            // Between words, so that no character reference is cut.
            let most = rest.floor_char_boundary(BLOCK_BYTES_MAX);
            let piece = rest.get(..most).and_then(|piece| piece.rfind(' ')).map_or(most, |blank| blank + 1);
            let (now, later) = rest.split_at(piece);
            self.push(now, &mut done);
            rest = later;
        }
        self.push(rest, done);
    }

    /// The text of an element without markup: examples are visible, scripts and styles are not.
    pub(super) fn raw(&mut self, element: u64, text: &str, done: impl FnMut(&Block, &Zones)) {
        if matches!(element, element::XMP | 0) {
            // Ampersands here are not references, so they are escaped.
            self.text(&text.replace('&', "&amp;"), done);
        }
    }

    /// Ends the open block.
    pub(super) fn finish(&mut self, mut done: impl FnMut(&Block, &Zones)) {
        if !self.block.is_empty() {
            done(&self.block, &self.zones);
        }
        self.block.clear();
    }

    fn push(&mut self, text: &str, done: impl FnMut(&Block, &Zones)) {
        self.block.push(text, self.in_link);
        if self.block.text().len() > BLOCK_BYTES_MAX {
            // Cut by the folded text, so that white space does not matter.
            let tail = self.block.split_off(BLOCK_BYTES_MAX);
            self.finish(done);
            self.block = tail;
        }
    }
}

/// Whether an element starts a new line.
fn breaks(name: Name<'_>) -> bool {
    use element::*;
    match name.key {
        ADDRESS | ARTICLE | ASIDE | BODY | CENTER | DD | DETAILS | DIALOG | DIR | DIV | DL | DT
        | FIELDSET | FIGURE | FOOTER | FORM | FRAME | H1 | H2 | H3 | H4 | H5 | H6 | HEAD | HEADER | HR
        | HTML | IFRAME | LEGEND | LI | LISTING | MAIN | MENU | NAV | NOFRAMES | NOSCRIPT | OL | OPTION
        | P | PRE | SECTION | SELECT | SUMMARY | TABLE | TBODY | TD | TFOOT | TH | THEAD | TITLE | TR
        | UL | XMP => true,
        0 => ["blockquote", "figcaption", "plaintext"]
            .iter()
            .any(|known| name.text.eq_ignore_ascii_case(known)),
        _ => false,
    }
}
