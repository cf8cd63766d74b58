//! The elements of a feed or sitemap in order, for any file (H9).
//!
//! Uses the tokenizer of pages in XML mode, which never fails: feeds with an unescaped `&` or `<br>` are common. There is
//! no stack, so depth costs nothing; declarations are skipped, so entities are never expanded.

use crate::reference::in_xml;
use crate::token::name::Attribute;
use crate::token::{Token, Tokenizer};
use std::borrow::Cow;

/// The next event in a file.
pub(crate) enum Event<'a> {
    /// An element begins.
    Start(Element<'a>),
    /// An element ends.
    End(Element<'a>),
    /// Text of the element that was opened last.
    Text(Cow<'a, str>),
}

/// The name of an element in two parts: `news` and `title`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) name: &'a str,
}

impl Element<'_> {
    /// Whether it has this name, in any case.
    pub(crate) fn is(self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// Reads a file from start to end.
pub(crate) struct Reader<'a> {
    tokens: Tokenizer<'a>,
    /// An element that was empty and ends next.
    empty: Option<Element<'a>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { tokens: Tokenizer::xml(text), empty: None }
    }

    pub(crate) fn next(&mut self) -> Option<Event<'a>> {
        if let Some(element) = self.empty.take() {
            return Some(Event::End(element));
        }
        Some(match self.tokens.next()? {
            Token::Text(text) => Event::Text(in_xml(text)),
            Token::Raw(text) => Event::Text(text.into()),
            Token::End(name) => Event::End(element(name.text)),
            Token::Start(name) => {
                let element = element(name.text);
                self.empty = name.is_empty.then_some(element);
                Event::Start(element)
            }
        })
    }

    /// The first element.
    pub(crate) fn root(&mut self) -> Option<Element<'a>> {
        loop {
            if let Event::Start(element) = self.next()? {
                return Some(element);
            }
        }
    }

    /// An attribute of the element that was opened last; empty if it is missing.
    pub(crate) fn attribute(&self, attribute: Attribute) -> Cow<'a, str> {
        in_xml(self.tokens.attribute(attribute).unwrap_or_default())
    }
}

fn element(name: &str) -> Element<'_> {
    let (prefix, name) = name.split_once(':').unwrap_or(("", name));
    Element { prefix, name }
}

/// Collects the text of one element at a time.
pub(crate) struct Field<T> {
    open: Option<T>,
    text: String,
}

/// The maximum number of bytes kept of the text of an element: a long URL, escaped.
const FIELD_BYTES_MAX: usize = 4 * base::limits::URL_BYTES_MAX;

impl<T> Field<T> {
    pub(crate) const NONE: Self = Self { open: None, text: String::new() };

    /// The text from here on is that of `field`.
    pub(crate) fn begin(&mut self, field: T) {
        self.open = Some(field);
        self.text.clear();
    }
    pub(crate) fn push(&mut self, text: &str) {
        if self.open.is_some() && self.text.len() + text.len() <= FIELD_BYTES_MAX {
            self.text.push_str(text);
        }
    }
    /// The field that ends and its text.
    pub(crate) fn end(&mut self) -> Option<(T, &str)> {
        self.open.take().map(|field| (field, self.text.trim()))
    }
}
