//! A snapshot as a table: Parquet with the column names of Common Crawl's index, and four of ours.
//!
//! What is not known is null: the detected type and the language are learned by parsing, perhaps later (D11).
//!
//! **Invariant:** values are exact, whatever they hold (H20). A row group is written when it has [`ROWS_MAX`] rows or
//! [`GROUP_BYTES_MAX`] bytes of text, so memory is bounded by that.

use crate::cdxj::surt;
use crate::{Error, Row};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::ColumnPath;
use base::Timestamp;
use bytes::Bytes;
use std::io::Write;
use std::sync::Arc;

/// The rows of a group.
pub const ROWS_MAX: usize = 100_000;
/// The text of a group, in bytes: long URLs make smaller groups.
pub const GROUP_BYTES_MAX: usize = 64 * 1024 * 1024;
/// As many values as are handed to a column at once.
const BATCH_VALUES: usize = 8_192;
/// Fast, and what is repeated in a column is found at any level.
const ZSTD_LEVEL: i32 = 3;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    /// Text that differs from row to row.
    Text,
    /// Text that is often the same; kept as a dictionary inside the file.
    Word,
    Small,
    Large,
    Time,
}

impl Type {
    fn as_str(self) -> (&'static str, &'static str) {
        match self {
            Self::Text | Self::Word => ("BYTE_ARRAY", "(UTF8)"),
            Self::Small => ("INT32", ""),
            Self::Large => ("INT64", ""),
            Self::Time => ("INT64", "(TIMESTAMP(MICROS,true))"),
        }
    }
}

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
pub struct Table<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

impl<W: Write + Send> Table<W> {
    /// Begins a table; the file names `software` as what made it.
    pub fn new(out: W, software: &str) -> Result<Self, Error> {
        let schema = Arc::new(parse_message_type(&schema())?);
        let mut properties = WriterProperties::builder()
            .set_created_by(software.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?));
        for (name, kind, _) in COLUMNS {
            let path = ColumnPath::from(name);
            properties = properties.set_column_dictionary_enabled(path, kind == Type::Word);
        }
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
        let columns = COLUMNS.iter().map(|(_, kind, is_optional)| Column::new(*kind, *is_optional)).collect();
        Ok(Self { file, columns, rows: 0 })
    }

    /// Adds a row.
    pub fn push(&mut self, row: &Row) -> Result<(), Error> {
        for (column, cell) in self.columns.iter_mut().zip(cells(row)) {
            column.push(cell);
        }
        self.rows += 1;
        let bytes: usize = self.columns.iter().map(Column::text_bytes).sum();
        if self.rows == ROWS_MAX || bytes >= GROUP_BYTES_MAX { self.write_group() } else { Ok(()) }
    }

    /// Writes what is left and the end of the file, and gives back where it went.
    pub fn finish(mut self) -> Result<W, Error> {
        if self.rows > 0 {
            self.write_group()?;
        }
        Ok(self.file.into_inner()?)
    }

    fn write_group(&mut self) -> Result<(), Error> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let mut writer =
                group.next_column()?.ok_or_else(|| ParquetError::EOF("a column is missing".into()))?;
            column.write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl<W: Write + Send> std::fmt::Debug for Table<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("rows", &self.rows).finish_non_exhaustive()
    }
}

fn schema() -> String {
    let columns = COLUMNS.map(|(name, kind, is_optional)| {
        let repetition = if is_optional { "OPTIONAL" } else { "REQUIRED" };
        let (physical, logical) = kind.as_str();
        format!("{repetition} {physical} {name} {logical};")
    });
    format!("message snapshot {{ {} }}", columns.concat())
}

/// The value of a column in a row.
enum Cell {
    None,
    Text(String),
    Number(i64),
}

impl Cell {
    fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::None, |text| Self::Text(text.into()))
    }
    fn number(number: Option<impl Into<i64>>) -> Self {
        number.map_or(Self::None, |number| Self::Number(number.into()))
    }
}

/// The cells of a row in the order of [`COLUMNS`].
fn cells(row: &Row) -> [Cell; COLUMNS.len()] {
    let url = base::url::read(&row.url, None).ok();
    let host = url.as_ref().and_then(|url| url.host_str());
    // No file is longer.
    let position = |bytes: u64| Cell::Number(i64::try_from(bytes).unwrap_or(i64::MAX));
    let media_type = Some(&*row.media_type).filter(|media_type| !media_type.is_empty());
    [
        Cell::Text(surt(&row.url)),
        Cell::Text(row.url.clone()),
        Cell::text(host),
        Cell::text(host.and_then(base::server::registrable_domain)),
        Cell::text(url.as_ref().map(url::Url::scheme)),
        Cell::number(url.as_ref().and_then(url::Url::port)),
        Cell::text(url.as_ref().map(url::Url::path)),
        Cell::text(url.as_ref().and_then(|url| url.query())),
        Cell::Number(row.at.as_micros()),
        Cell::number(row.status),
        Cell::text(row.payload.map(|payload| payload.to_string().replacen("sha1:", "", 1))),
        Cell::text(media_type),
        Cell::text(row.detected_type.as_deref()),
        Cell::text(row.language.as_deref()),
        Cell::text(row.is_truncated.then_some("unspecified")),
        Cell::Text(row.place.file.to_string()),
        position(row.place.offset),
        position(row.place.record_bytes),
        Cell::Number(row.valid_from.as_micros()),
        Cell::number((row.valid_to != Timestamp::MAX).then(|| row.valid_to.as_micros())),
        Cell::Text(row.flag.to_owned()),
        Cell::Text(row.kind.as_str().to_owned()),
    ]
}

/// The values of a column that wait for their group.
struct Column {
    is_optional: bool,
    /// 1 for a value and 0 for none, row by row.
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    /// All texts one after the other, and where each ends.
    Texts(Vec<u8>, Vec<usize>),
    Small(Vec<i32>),
    Large(Vec<i64>),
}

impl Column {
    fn new(kind: Type, is_optional: bool) -> Self {
        let values = match kind {
            Type::Text | Type::Word => Values::Texts(Vec::new(), Vec::new()),
            Type::Small => Values::Small(Vec::new()),
            Type::Large | Type::Time => Values::Large(Vec::new()),
        };
        Self { is_optional, levels: Vec::new(), values }
    }

    fn push(&mut self, cell: Cell) {
        let level = !matches!(cell, Cell::None);
        assert!(level || self.is_optional, "a column that is required has a value in every row");
        self.levels.push(level.into());
        match (&mut self.values, cell) {
            (_, Cell::None) => {}
            (Values::Texts(bytes, ends), Cell::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
            }
            (Values::Small(values), Cell::Number(number)) => {
                values.push(i32::try_from(number).expect("a status or a port is a small number"));
            }
            (Values::Large(values), Cell::Number(number)) => values.push(number),
            _ => unreachable!("a cell is of its column's type"),
        }
    }

    fn text_bytes(&self) -> usize {
        if let Values::Texts(bytes, _) = &self.values { bytes.len() } else { 0 }
    }

    /// Writes all values and forgets them.
    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = std::mem::take(&mut self.levels);
        let levels = self.is_optional.then_some(levels.as_slice());
        match &mut self.values {
            Values::Texts(bytes, ends) => {
                write_texts(std::mem::take(bytes), std::mem::take(ends), levels, writer)
            }
            Values::Small(values) => write_numbers::<Int32Type>(&std::mem::take(values), levels, writer),
            Values::Large(values) => write_numbers::<Int64Type>(&std::mem::take(values), levels, writer),
        }
    }
}

fn write_numbers<T: DataType>(
    values: &[T::T],
    levels: Option<&[i16]>,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    writer.typed::<T>().write_batch(values, levels, None).map(drop)
}

/// Writes texts batch by batch, so that only a batch of them has handles at a time.
fn write_texts(
    bytes: Vec<u8>,
    ends: Vec<usize>,
    levels: Option<&[i16]>,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let bytes = Bytes::from(bytes);
    let mut start = 0;
    let mut next =
        ends.into_iter().map(|end| ByteArray::from(bytes.slice(std::mem::replace(&mut start, end)..end)));
    let writer = writer.typed::<ByteArrayType>();
    match levels {
        Some(levels) => {
            for levels in levels.chunks(BATCH_VALUES) {
                let present = levels.iter().filter(|level| **level == 1).count();
                let batch: Vec<ByteArray> = next.by_ref().take(present).collect();
                writer.write_batch(&batch, Some(levels), None)?;
            }
        }
        None => loop {
            let batch: Vec<ByteArray> = next.by_ref().take(BATCH_VALUES).collect();
            if batch.is_empty() {
                break;
            }
            writer.write_batch(&batch, None, None)?;
        },
    }
    Ok(())
}
