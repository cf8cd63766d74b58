//! A snapshot as a table: Parquet with the column names of Common Crawl's index, and four of ours.
//!
//! Unknown values are null: detected type and language are found by parsing, perhaps later (D11).

use crate::cdxj::surt;
use crate::columns::{Cell, Columns, Type};
use crate::{Error, Row};
use base::Timestamp;
use std::io::Write;

pub use crate::columns::{GROUP_BYTES_MAX, ROWS_MAX};

/// Name, type, and whether a row may have none.
const COLUMNS: [(&str, Type, bool); 22] = [
    ("url_surtkey", Type::Text, false),
    ("url", Type::Text, false),
    ("url_host_name", Type::Word, true),
    ("url_host_registered_domain", Type::Word, true),
    ("url_protocol", Type::Word, true),
    ("url_port", Type::Small, true),
    ("url_path", Type::Text, true),
    ("url_query", Type::Text, true),
    ("fetch_time", Type::Time, false),
    ("fetch_status", Type::Small, true),
    ("content_digest", Type::Text, true),
    ("content_mime_type", Type::Word, true),
    ("content_mime_detected", Type::Word, true),
    ("content_languages", Type::Word, true),
    ("content_truncated", Type::Word, true),
    ("warc_filename", Type::Word, false),
    ("warc_record_offset", Type::Large, false),
    ("warc_record_length", Type::Large, false),
    ("valid_from", Type::Time, false),
    ("valid_to", Type::Time, true),
    ("flag", Type::Word, false),
    ("kind", Type::Word, false),
];

/// Writes rows to a table.
#[derive(Debug)]
pub struct Table<W: Write + Send>(Columns<W>);

impl<W: Write + Send> Table<W> {
    /// Begins a table; the file names `software` as its creator.
    pub fn new(out: W, software: &str) -> Result<Self, Error> {
        Columns::new(out, software, "snapshot", &COLUMNS).map(Self)
    }
    /// Adds a row.
    pub fn push(&mut self, row: &Row) -> Result<(), Error> {
        let url = base::url::read(&row.url, None).ok();
        self.0.push(cells(row, url.as_ref()))
    }
    /// Writes the rest and the end of the file, and returns the output.
    pub fn finish(self) -> Result<W, Error> {
        self.0.finish()
    }
}

/// The cells of a row in the order of [`COLUMNS`].
fn cells<'a>(row: &'a Row, url: Option<&'a url::Url>) -> [Cell<'a>; COLUMNS.len()] {
    let host = url.and_then(url::Url::host_str);
    let media_type = Some(&*row.media_type).filter(|media_type| !media_type.is_empty());
    [
        Cell::text(surt(&row.url)),
        Cell::text(&row.url),
        Cell::text_if(host),
        Cell::text_if(host.and_then(base::server::registrable_domain)),
        Cell::text_if(url.map(url::Url::scheme)),
        Cell::number_if(url.and_then(url::Url::port)),
        Cell::text_if(url.map(url::Url::path)),
        Cell::text_if(url.and_then(url::Url::query)),
        Cell::Number(row.at.as_micros()),
        Cell::number_if(row.status),
        Cell::text_if(row.payload.map(|payload| payload.to_string().replacen("sha1:", "", 1))),
        Cell::text_if(media_type),
        Cell::text_if(row.detected_type.as_deref()),
        Cell::text_if(row.language.as_deref()),
        Cell::text_if(row.is_truncated.then_some("unspecified")),
        Cell::text(&*row.place.file),
        Cell::count(row.place.offset),
        Cell::count(row.place.record_bytes),
        Cell::Number(row.valid_from.as_micros()),
        Cell::number_if((row.valid_to != Timestamp::MAX).then(|| row.valid_to.as_micros())),
        Cell::text(row.flag),
        Cell::text(row.kind.as_str()),
    ]
}
