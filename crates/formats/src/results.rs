//! Writes the results of a scan, one row per document: JSON lines, CSV or Parquet.
//!
//! ```
//! use formats::results::{ResultValue, Form, ResultRow, ResultWriter};
//!
//! let mut writer = ResultWriter::new(Form::Jsonl, Vec::new(), "utsushi/0.1.0")?;
//! let at = "2026-03-31T09:00:00Z".parse()?;
//! writer.push(&ResultRow { document: 1, url: "http://a.example/", at, result: ResultValue::Json("[1,2]") })?;
//! writer.push(&ResultRow { document: 2, url: "http://b.example/", at, result: ResultValue::Bytes(b"\xff") })?;
//! assert_eq!(
//!     String::from_utf8(writer.finish()?)?,
//!     r#"{"document":1,"url":"http://a.example/","at":"2026-03-31T09:00:00Z","result":[1,2]}
//! {"document":2,"url":"http://b.example/","at":"2026-03-31T09:00:00Z","base64":"/w=="}
//! "#
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rows are written in the order in which they come; [`InOrder`] sorts results by document.
//!
//! **Invariant:** no document and no result can end a line or leave its cell (H16), and no cell of a CSV file is read
//! as a formula (H20). Memory does not grow with the rows.

mod base64;
mod csv;
mod jsonl;
mod order;
mod table;

pub use order::{InOrder, Ordered};

use crate::Error;
use crate::columns::Columns;
use base::Timestamp;
use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::path::Path;

/// The result of an analysis for one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultRow<'a> {
    /// The number of the document in the scan.
    pub document: u64,
    /// What was requested.
    pub url: &'a str,
    /// When.
    pub at: Timestamp,
    /// The result.
    pub result: ResultValue<'a>,
}

/// The result of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultValue<'a> {
    /// A JSON value on one line.
    Json(&'a str),
    /// A text.
    Text(&'a str),
    /// Anything; if it is UTF-8 it is a text.
    Bytes(&'a [u8]),
}

/// The text of a cell, and its kind: `json`, `text` or `base64`.
struct Shown<'a> {
    kind: &'static str,
    text: Cow<'a, str>,
}

impl Shown<'_> {
    /// The same with a JSON string as its text.
    fn plain(self) -> Self {
        let is_string = self.kind == JSON && self.text.starts_with('"');
        match serde_json::from_str::<String>(&self.text) {
            Ok(text) if is_string => Self { kind: TEXT, text: text.into() },
            _ => self,
        }
    }
}

impl<'a> ResultValue<'a> {
    fn shown(self) -> Shown<'a> {
        match self {
            Self::Json(json) => Shown { kind: JSON, text: json.into() },
            Self::Text(text) => Shown { kind: TEXT, text: text.into() },
            Self::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Shown { kind: TEXT, text: text.into() },
                Err(_) => Shown { kind: BASE64, text: base64::encoded(bytes).into() },
            },
        }
    }
}

const JSON: &str = "json";
const TEXT: &str = "text";
const BASE64: &str = "base64";

/// The form of a file of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One JSON object a line.
    Jsonl,
    /// RFC 4180, with a header.
    Csv,
    /// A table for databases.
    Parquet,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Jsonl, Self::Csv, Self::Parquet];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
    /// The form of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == name)
    }
    /// The form that the name of a file asks for by its extension, in any case.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" | "json" => Some(Self::Jsonl),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Writes rows in a form.
#[derive(Debug)]
pub struct ResultWriter<W: Write + Send>(Inner<W>);

#[derive(Debug)]
enum Inner<W: Write + Send> {
    Lines { out: W, bytes: Vec<u8>, line: fn(&mut Vec<u8>, &ResultRow<'_>) },
    Table(Columns<W>),
}

/// Bytes collected before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

impl<W: Write + Send> ResultWriter<W> {
    /// Begins a file; a Parquet file names `software` as its creator.
    pub fn new(form: Form, out: W, software: &str) -> Result<Self, Error> {
        Ok(Self(match form {
            Form::Jsonl => Inner::Lines { out, bytes: Vec::new(), line: jsonl::line },
            Form::Csv => Inner::Lines { out, bytes: csv::HEADER.to_vec(), line: csv::line },
            Form::Parquet => Inner::Table(table::begin(out, software)?),
        }))
    }

    /// Adds a row.
    pub fn push(&mut self, row: &ResultRow<'_>) -> Result<(), Error> {
        match &mut self.0 {
            Inner::Table(columns) => columns.push(table::cells(row)),
            Inner::Lines { out, bytes, line } => {
                line(bytes, row);
                if bytes.len() < BUFFER_BYTES {
                    return Ok(());
                }
                let written = out.write_all(bytes).map_err(Error::io(WRITE));
                bytes.clear();
                // One long row must not keep its memory.
                bytes.shrink_to(2 * BUFFER_BYTES);
                written
            }
        }
    }

    /// Writes the collected rows, so that they can be read soon. A table keeps them until it has a group.
    pub fn flush(&mut self) -> Result<(), Error> {
        match &mut self.0 {
            Inner::Table(_) => Ok(()),
            Inner::Lines { out, bytes, .. } => {
                let written = out.write_all(bytes).and_then(|()| out.flush()).map_err(Error::io(WRITE));
                bytes.clear();
                written
            }
        }
    }

    /// Writes the rest and the end of the file, and returns the output.
    pub fn finish(self) -> Result<W, Error> {
        match self.0 {
            Inner::Table(columns) => columns.finish(),
            Inner::Lines { mut out, bytes, .. } => {
                out.write_all(&bytes).and_then(|()| out.flush()).map_err(Error::io(WRITE))?;
                Ok(out)
            }
        }
    }
}

const WRITE: &str = "write the results";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_known_by_their_names_and_by_those_of_files() {
        for form in Form::ALL {
            assert_eq!(Form::named(form.as_str()), Some(form));
            assert_eq!(Form::of_name(Path::new(&format!("a.b/out.{form}"))), Some(form));
        }
        assert_eq!(Form::named("CSV"), None);
        let check = |name: &str, form| assert_eq!(Form::of_name(Path::new(name)), form, "{name}");
        check("out.ndjson", Some(Form::Jsonl));
        check("OUT.JSON", Some(Form::Jsonl));
        check("out.csv.gz", None);
        check("csv", None);
        check(".csv", None);
        check("", None);
    }

    #[test]
    fn long_rows_are_written_at_once_and_short_ones_together() {
        /// Counts how often it is written to.
        #[derive(Default)]
        struct Calls(usize, usize);
        impl Write for Calls {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                (self.0, self.1) = (self.0 + 1, self.1 + bytes.len());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let long = "x".repeat(1 << 20);
        let mut writer = ResultWriter::new(Form::Csv, Calls::default(), "").unwrap();
        for result in std::iter::repeat_n("x", 10_000).chain([long.as_str()]) {
            let row =
                ResultRow { document: 1, url: "u", at: Timestamp::MIN, result: ResultValue::Text(result) };
            writer.push(&row).unwrap();
        }
        let Inner::Lines { bytes, .. } = &writer.0 else { unreachable!() };
        assert!(bytes.capacity() <= 2 * BUFFER_BYTES);
        let Calls(calls, bytes) = writer.finish().unwrap();
        assert!(calls < 12 && bytes > 1_300_000, "{calls} {bytes}");
    }
}
