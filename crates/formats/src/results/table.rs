//! Results as a table of Parquet.

use super::ResultRow;
use crate::Error;
use crate::columns::{Cell, Columns, Declared, Type};
use std::io::Write;

const COLUMNS: [Declared; 5] = [
    ("document", Type::Large, false),
    ("url", Type::Text, false),
    ("fetch_time", Type::Time, false),
    ("kind", Type::Word, false),
    ("result", Type::Text, false),
];

/// Begins a table.
pub(super) fn begin<W: Write + Send>(out: W, software: &str) -> Result<Columns<W>, Error> {
    Columns::new(out, software, "results", &COLUMNS)
}

/// The cells of a row.
pub(super) fn cells<'a>(row: &ResultRow<'a>) -> [Cell<'a>; COLUMNS.len()] {
    let shown = row.result.shown();
    [
        Cell::count(row.document),
        Cell::text(row.url),
        Cell::Number(row.at.as_micros()),
        Cell::text(shown.kind),
        Cell::text(shown.text),
    ]
}
