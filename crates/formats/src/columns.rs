//! The columns of a Parquet file, filled row by row and written group by group.
//!
//! **Invariant:** values are exact, whatever they hold (H20). A row group is written when it has [`ROWS_MAX`] rows or
//! [`GROUP_BYTES_MAX`] bytes of text, so memory is bounded by that.

use crate::Error;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::ColumnPath;
use bytes::Bytes;
use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

/// The rows of a group.
pub const ROWS_MAX: usize = 100_000;
/// The text of a group, in bytes: long URLs make smaller groups.
pub const GROUP_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Number of values passed to a column at once.
const BATCH_VALUES: usize = 8_192;
/// Fast, and what is repeated in a column is found at any level.
const ZSTD_LEVEL: i32 = 3;

/// The name of a column, its type, and whether a row may have none.
pub(crate) type Declared = (&'static str, Type, bool);

/// Writes rows to a file.
pub(crate) struct Columns<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
}

impl<W: Write + Send> Columns<W> {
    /// Begins a file of rows of this name, with `software` as its creator.
    pub(crate) fn new(out: W, software: &str, name: &str, declared: &[Declared]) -> Result<Self, Error> {
        let schema = Arc::new(parse_message_type(&schema(name, declared))?);
        let mut properties = WriterProperties::builder()
            .set_created_by(software.to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?));
        for (name, kind, _) in declared {
            let path = ColumnPath::from(*name);
            properties = properties.set_column_dictionary_enabled(path, *kind == Type::Word);
        }
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
        let columns =
            declared.iter().map(|(_, kind, is_optional)| Column::new(*kind, *is_optional)).collect();
        Ok(Self { file, columns, rows: 0 })
    }

    /// Adds a row: a cell a column, in their order.
    pub(crate) fn push<'a, const N: usize>(&mut self, cells: [Cell<'a>; N]) -> Result<(), Error> {
        assert_eq!(N, self.columns.len(), "a row has a cell in every column");
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.rows += 1;
        let bytes: usize = self.columns.iter().map(Column::text_bytes).sum();
        if self.rows == ROWS_MAX || bytes >= GROUP_BYTES_MAX { self.write_group() } else { Ok(()) }
    }

    /// Writes the rest and the end of the file, and returns the output.
    pub(crate) fn finish(mut self) -> Result<W, Error> {
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

impl<W: Write + Send> std::fmt::Debug for Columns<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Columns").field("rows", &self.rows).finish_non_exhaustive()
    }
}

fn schema(name: &str, declared: &[Declared]) -> String {
    let columns = declared.iter().map(|(name, kind, is_optional)| {
        let repetition = if *is_optional { "OPTIONAL" } else { "REQUIRED" };
        let (physical, logical) = kind.as_str();
        format!("{repetition} {physical} {name} {logical};")
    });
    format!("message {name} {{ {} }}", columns.collect::<String>())
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Text that differs from row to row.
    Text,
    /// Text that is often the same; kept as a dictionary inside the file.
    Word,
    /// A number of 32 bits.
    Small,
    /// A number of 64 bits.
    Large,
    /// A moment, in microseconds.
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

/// The value of a column in a row.
pub(crate) enum Cell<'a> {
    None,
    Text(Cow<'a, str>),
    Number(i64),
}

impl<'a> Cell<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }
    pub(crate) fn text_if(text: Option<impl Into<Cow<'a, str>>>) -> Self {
        text.map_or(Self::None, Self::text)
    }
    pub(crate) fn number_if(number: Option<impl Into<i64>>) -> Self {
        number.map_or(Self::None, |number| Self::Number(number.into()))
    }
    /// A count or a place; no file is longer than these numbers go.
    pub(crate) fn count(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
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

    fn push(&mut self, cell: Cell<'_>) {
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

    /// Writes and removes all values.
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
