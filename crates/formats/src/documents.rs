//! Documents as a table: Parquet with one row per document (F4). What has parts is JSON text.

use crate::Error;
use crate::columns::{Cell, Columns, Type};
use base::Timestamp;
use std::io::Write;

/// Name, type, and whether a row may have none.
const COLUMNS: [(&str, Type, bool); 11] = [
    ("id", Type::Text, false),
    ("url", Type::Text, false),
    ("time", Type::Time, false),
    ("until", Type::Time, true),
    ("encoding", Type::Word, false),
    ("language", Type::Word, true),
    ("title", Type::Text, true),
    ("text", Type::Text, false),
    ("sentences", Type::Text, false),
    ("out_links", Type::Text, false),
    ("in_links", Type::Text, false),
];

/// The cells of one document.
#[derive(Clone, Copy, Debug)]
pub struct DocumentCells<'a> {
    /// What the document is known by.
    pub id: &'a str,
    /// The URL of its page.
    pub url: &'a str,
    /// Since when its page had it.
    pub time: Timestamp,
    /// Until when, if it has it no more.
    pub until: Option<Timestamp>,
    /// The encoding of the page.
    pub encoding: &'a str,
    /// Its language, if it is known.
    pub language: Option<&'a str>,
    /// Its title, if it has one.
    pub title: Option<&'a str>,
    /// Its main text.
    pub text: &'a str,
    /// Its sentences, as JSON.
    pub sentences: &'a str,
    /// Its links, as JSON.
    pub out_links: &'a str,
    /// The links to it, as JSON.
    pub in_links: &'a str,
}

/// Writes documents to a table.
#[derive(Debug)]
pub struct DocumentTable<W: Write + Send>(Columns<W>);

impl<W: Write + Send> DocumentTable<W> {
    /// Begins a table; the file names `software` as what made it.
    pub fn new(out: W, software: &str) -> Result<Self, Error> {
        Columns::new(out, software, "document", &COLUMNS).map(Self)
    }
    /// Adds a document.
    pub fn push(&mut self, document: &DocumentCells<'_>) -> Result<(), Error> {
        self.0.push([
            Cell::text(document.id),
            Cell::text(document.url),
            Cell::Number(document.time.as_micros()),
            document.until.map_or(Cell::None, |until| Cell::Number(until.as_micros())),
            Cell::text(document.encoding),
            Cell::text_if(document.language),
            Cell::text_if(document.title),
            Cell::text(document.text),
            Cell::text(document.sentences),
            Cell::text(document.out_links),
            Cell::text(document.in_links),
        ])
    }
    /// Writes what is left and the end of the file, and gives back where it went.
    pub fn finish(self) -> Result<W, Error> {
        self.0.finish()
    }
}
