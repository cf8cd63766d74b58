//! Tags, texts and comments in order, as the tokenizer of the HTML standard finds them.
//!
//! The text of the page is borrowed, never copied: long stretches are skipped by `memchr`, and only the attributes in
//! [`Attribute`] are stored. Scripts, styles and titles are read as by a browser without scripting, so the content of
//! `noscript` is markup.
//!
//! **Invariant:** every step advances, so reading takes time linear in any page (H8); memory does not grow with the
//! page.
//!
//! Not here: errors (there are none), the tree, foreign elements: an `svg` is read as if it were HTML.

pub(crate) mod name;

use memchr::{memchr, memchr2, memmem};
use name::{ATTRIBUTES, Attribute, KEY_BYTES_MAX, element};

/// The next token of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// Text with its character references as written.
    Text(&'a str),
    /// The content of an element whose text is not markup, such as `script` and `title`.
    Raw(&'a str),
    /// A tag that opens an element; [`Tokenizer::attribute`] returns its attributes.
    Start(Name<'a>),
    /// A tag that closes an element.
    End(Name<'a>),
}

/// The name of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// As written.
    pub(crate) text: &'a str,
    /// See [`name::key`].
    pub(crate) key: u64,
    /// The tag ends in `/>`, which matters only in XML.
    pub(crate) is_empty: bool,
}

/// The language of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Html,
    Xml,
}

/// Reads a page from start to end.
pub(crate) struct Tokenizer<'a> {
    text: &'a str,
    at: usize,
    /// Where the last tag that opens an element begins.
    tag_at: usize,
    dialect: Dialect,
    /// The element whose raw text comes next.
    raw: Option<Name<'a>>,
    values: [&'a str; ATTRIBUTES],
    /// One bit for each attribute that has a value.
    given: u32,
    /// The number of bytes read, counting repeated reads: for the tests of linearity.
    pub(crate) work: usize,
}

impl<'a> Tokenizer<'a> {
    /// Reads `text` as HTML.
    pub(crate) fn html(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            tag_at: 0,
            dialect: Dialect::Html,
            raw: None,
            values: [""; ATTRIBUTES],
            given: 0,
            work: 0,
        }
    }
    /// Reads `text` as XML, tolerantly: no element has raw text, and CDATA sections are text.
    pub(crate) fn xml(text: &'a str) -> Self {
        Self { dialect: Dialect::Xml, ..Self::html(text) }
    }

    /// The value of an attribute of the last tag, with its character references as written.
    pub(crate) fn attribute(&self, attribute: Attribute) -> Option<&'a str> {
        let place = attribute as usize;
        self.values.get(place).filter(|_| self.given >> place & 1 == 1).copied()
    }

    /// Where the last tag that opens an element begins.
    pub(crate) fn tag_at(&self) -> usize {
        self.tag_at
    }
    /// How much of the text is read.
    pub(crate) fn place(&self) -> usize {
        self.at
    }
    /// Whether all of the text is read; the last token may then be incomplete.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The next token.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            if self.raw.is_some()
                && let Some(name) = self.raw.take()
                && let Some(text) = self.raw_text(name)
            {
                return Some(Token::Raw(text));
            }
            let start = self.at;
            let less = if self.is_markup(start) { start } else { self.markup_from(start) };
            if less > start {
                self.at = less;
                return Some(Token::Text(self.slice(start, less)));
            }
            if less >= self.text.len() {
                return None;
            }
            if let Some(token) = self.markup(less) {
                return Some(token);
            }
        }
    }

    /// The position of the next markup at or after `from`.
    fn markup_from(&mut self, mut from: usize) -> usize {
        while let Some(less) = self.find(from, b'<') {
            if self.is_markup(less) {
                return less;
            }
            from = less + 1;
        }
        self.text.len()
    }

    /// Whether markup begins here. A `<` before anything else is text.
    fn is_markup(&self, at: usize) -> bool {
        match self.rest(at) {
            [b'<', b'/', _, ..] => true,
            [b'<', next, ..] => next.is_ascii_alphabetic() || matches!(next, b'!' | b'?'),
            _ => false,
        }
    }

    /// Reads the markup at `less` and moves past it.
    #[inline]
    fn markup(&mut self, less: usize) -> Option<Token<'a>> {
        match (self.byte(less + 1), self.byte(less + 2)) {
            (Some(b'!'), _) => self.declaration(less + 2),
            (Some(b'/'), Some(b'>')) => self.go_to(less + 3),
            (Some(b'/'), Some(byte)) if byte.is_ascii_alphabetic() => self.tag(less + 2).map(Token::End),
            (Some(b'/' | b'?'), _) => self.go_behind(less + 2, b'>'),
            _ => {
                let name = self.tag(less + 1)?;
                self.tag_at = less;
                self.raw = (self.dialect == Dialect::Html && has_raw_text(name)).then_some(name);
                Some(Token::Start(name))
            }
        }
    }

    /// The text after `<!`: a comment, a CDATA section, or something that ends at the next `>`.
    fn declaration(&mut self, at: usize) -> Option<Token<'a>> {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        if rest.starts_with(b"--") {
            return self.comment(at + 2);
        }
        if self.dialect == Dialect::Xml && rest.starts_with(b"[CDATA[") {
            let start = at + b"[CDATA[".len();
            let end = memmem::find(rest, b"]]>").map_or(self.text.len(), |found| at + found);
            self.at = (end + 3).min(self.text.len());
            return Some(Token::Raw(self.slice(start, end)));
        }
        self.go_behind(at, b'>')
    }

    /// A comment ends at `-->` or `--!>`, and immediately at `>` and `->`.
    fn comment(&mut self, start: usize) -> Option<Token<'a>> {
        let mut from = start;
        while let Some(end) = self.find(from, b'>') {
            let inside = self.text.as_bytes().get(start..end).unwrap_or_default();
            if matches!(inside, b"" | b"-") || inside.ends_with(b"--") || inside.ends_with(b"--!") {
                return self.go_to(end + 1);
            }
            from = end + 1;
        }
        self.go_to(self.text.len())
    }

    /// The name of the tag at `start`; its attributes are stored. A tag without an end is text.
    fn tag(&mut self, start: usize) -> Option<Name<'a>> {
        let (end, key) = self.name_at(start, &TAG_NAME);
        let (mut at, mut is_empty) = (end, false);
        self.given = 0;
        self.at = self.text.len();
        loop {
            match self.byte(at)? {
                b'>' => break,
                b'/' => is_empty = self.byte(at + 1) == Some(b'>'),
                byte if is_space(byte) => {}
                _ => {
                    at = self.attribute_at(at)?;
                    continue;
                }
            }
            self.work += 1;
            at += 1;
        }
        self.at = at + 1;
        Some(Name { text: self.slice(start, end), key, is_empty })
    }

    /// Where the name at `start` ends, and its key.
    fn name_at(&mut self, start: usize, letters: &[u8; 256]) -> (usize, u64) {
        let (mut key, mut length) = (0, 0);
        for byte in self.rest(start) {
            let letter = letters.get(usize::from(*byte)).copied().unwrap_or(0);
            if letter == 0 {
                break;
            }
            key = key << 8 | u64::from(letter);
            length += 1;
        }
        self.work += length + 1;
        (start + length, if length > KEY_BYTES_MAX { 0 } else { key })
    }

    /// Stores the attribute at `start` and returns the position after it; `None` if the page ends in its value.
    fn attribute_at(&mut self, start: usize) -> Option<usize> {
        let (end, key) = match self.byte(start)? {
            // An equals sign where a name begins is part of the name, and no name that matters has one.
            b'=' => (self.name_at(start + 1, &ATTRIBUTE_NAME).0, 0),
            _ => self.name_at(start, &ATTRIBUTE_NAME),
        };
        let attribute = Attribute::named(self.text.as_bytes().get(start..end).unwrap_or_default(), key);
        let equals = self.behind_space(end);
        if self.byte(equals) != Some(b'=') {
            self.keep(attribute, end, end);
            return Some(end);
        }
        let value = self.behind_space(equals + 1);
        let (from, to, behind) = match self.byte(value)? {
            quote @ (b'"' | b'\'') => {
                let close = self.find(value + 1, quote)?;
                (value + 1, close, close + 1)
            }
            _ => {
                let close = self.end_of(value, |byte| byte <= b'>' && (is_space(byte) || byte == b'>'));
                (value, close, close)
            }
        };
        self.keep(attribute, from, to);
        Some(behind)
    }

    /// Of a repeated attribute the first counts.
    fn keep(&mut self, attribute: Option<Attribute>, from: usize, to: usize) {
        let Some(attribute) = attribute else { return };
        let value = self.slice(from, to);
        let bit = 1 << attribute as u32;
        if self.given & bit == 0
            && let Some(slot) = self.values.get_mut(attribute as usize)
        {
            *slot = value;
            self.given |= bit;
        }
    }

    /// The text of an element without markup; `None` if it is empty.
    fn raw_text(&mut self, name: Name<'a>) -> Option<&'a str> {
        let start = self.at;
        self.at = match name.key {
            0 => self.text.len(),
            element::SCRIPT => self.end_of_script(start),
            _ => self.end_of_raw(start, name.text.as_bytes()),
        };
        Some(self.slice(start, self.at)).filter(|text| !text.is_empty())
    }

    fn end_of_raw(&mut self, mut from: usize, name: &[u8]) -> usize {
        while let Some(less) = self.find(from, b'<') {
            if self.byte(less + 1) == Some(b'/') && self.is_name_at(less + 2, name) {
                return less;
            }
            from = less + 1;
        }
        self.text.len()
    }

    /// A script ends at its end tag, unless the tag is inside a script within a comment.
    fn end_of_script(&mut self, mut from: usize) -> usize {
        // The start of the dashes that hide the script, and whether it has a script inside.
        let (mut hidden, mut is_double) = (None, false);
        while let Some(found) = memchr2(b'<', b'>', self.rest(from)).map(|found| from + found) {
            self.work += found + 1 - from;
            from = found + 1;
            if self.byte(found) == Some(b'>') {
                let dashes = hidden.and_then(|start| self.text.as_bytes().get(start..found));
                if dashes.is_some_and(|inside| inside.ends_with(b"--")) {
                    (hidden, is_double) = (None, false);
                }
            } else if self.byte(from) == Some(b'/') && self.is_name_at(found + 2, b"script") {
                if !is_double {
                    return found;
                }
                is_double = false;
            } else if hidden.is_none() && self.rest(from).starts_with(b"!--") {
                hidden = Some(found + 2);
            } else if hidden.is_some() && self.is_name_at(from, b"script") {
                is_double = true;
            }
        }
        self.text.len()
    }

    /// Whether the whole name at `at` is `name`, in any case.
    fn is_name_at(&self, at: usize, name: &[u8]) -> bool {
        let found = self.text.as_bytes().get(at..at + name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name))
            && self.byte(at + name.len()).is_some_and(|byte| is_space(byte) || matches!(byte, b'/' | b'>'))
    }

    fn go_behind(&mut self, from: usize, byte: u8) -> Option<Token<'a>> {
        let end = self.find(from, byte).map_or(self.text.len(), |found| found + 1);
        self.go_to(end)
    }
    fn go_to(&mut self, at: usize) -> Option<Token<'a>> {
        self.at = at;
        None
    }
    fn rest(&self, from: usize) -> &'a [u8] {
        self.text.as_bytes().get(from..).unwrap_or_default()
    }
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }
    fn find(&mut self, from: usize, byte: u8) -> Option<usize> {
        let rest = self.rest(from);
        let found = memchr(byte, rest);
        self.work += found.unwrap_or(rest.len()) + 1;
        found.map(|found| from + found)
    }
    fn end_of(&mut self, from: usize, ends: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest(from);
        let length = rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len());
        self.work += length + 1;
        from + length
    }
    fn behind_space(&self, mut from: usize) -> usize {
        while self.byte(from).is_some_and(is_space) {
            from += 1;
        }
        from
    }
    /// All positions where the text is cut are next to an ASCII character.
    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }
}

fn has_raw_text(name: Name<'_>) -> bool {
    use element::{IFRAME, NOEMBED, NOFRAMES, SCRIPT, STYLE, TEXTAREA, TITLE, XMP};
    matches!(name.key, IFRAME | NOEMBED | NOFRAMES | SCRIPT | STYLE | TEXTAREA | TITLE | XMP)
        || name.key == 0 && name.text.eq_ignore_ascii_case("plaintext")
}

/// What each byte adds to the key of a name; 0 for what ends it.
static TAG_NAME: [u8; 256] = letters(b" \t\n\r\x0c/>");
static ATTRIBUTE_NAME: [u8; 256] = letters(b" \t\n\r\x0c/>=");

#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "a byte has 256 values")]
const fn letters(ends: &[u8]) -> [u8; 256] {
    let (mut table, mut byte) = ([0; 256], 0);
    while byte < 256 {
        table[byte] = name::letter(byte as u8);
        byte += 1;
    }
    let mut rest = ends;
    while let [end, others @ ..] = rest {
        table[*end as usize] = 0;
        rest = others;
    }
    table
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}
