//! Where the bytes of records come from.

use crate::{Error, Place};

/// Why a source cannot return bytes.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// A store of records, such as the archive.
pub trait Source {
    /// All bytes of the group at `place` as in the file, one member per record.
    fn stored(&self, place: &Place) -> Result<Vec<u8>, SourceError>;
    /// The first record at `place`; the beginning of its block is enough.
    fn record(&self, place: &Place) -> Result<warc::Record, SourceError>;
    /// The whole HTTP answer for the revisit at `place`: its head, or for a 304 the head of the previous answer, and
    /// the body.
    fn answer(&self, place: &Place) -> Result<Vec<u8>, SourceError>;
}

pub(crate) fn answer(source: &impl Source, place: &Place) -> Result<Vec<u8>, Error> {
    source.answer(place).map_err(|source| at(place, source))
}

pub(crate) fn stored(source: &impl Source, place: &Place) -> Result<Vec<u8>, Error> {
    source.stored(place).map_err(|source| at(place, source))
}

pub(crate) fn record(source: &impl Source, place: &Place) -> Result<warc::Record, Error> {
    source.record(place).map_err(|source| at(place, source))
}

fn at(place: &Place, source: SourceError) -> Error {
    Error::Source { file: place.file.to_string(), offset: place.offset, source }
}
