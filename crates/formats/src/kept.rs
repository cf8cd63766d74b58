//! The archive as a source of records.

use crate::{Place, Row, Source, SourceError};
use archive::derived::Facts;
use archive::{Entry, Flag, Key, Location, Reader, Stored, Version};
use base::Timestamp;
use warc::Kind;

impl Row {
    /// The same with the known facts about its content.
    #[must_use]
    pub fn with(self, facts: &Facts) -> Self {
        let (detected_type, language) = (facts.media_type.clone(), facts.language.clone());
        Self { detected_type, language, title: facts.title.clone(), ..self }
    }
    /// The row of a chosen version. The body of a revisit is looked up if the index does not have its location.
    pub fn of(version: &Version, reader: &Reader) -> Result<Self, archive::Error> {
        let entry = &version.payload;
        let body = if entry.kind == Stored::Revisit { reader.body_of(entry)? } else { None };
        Ok(Self {
            url: entry.url.clone(),
            at: entry.at,
            valid_from: version.validity.from(),
            valid_to: version.validity.to(),
            kind: Kind::from(entry.kind.as_str()),
            flag: entry.flag.as_str(),
            status: entry.status,
            media_type: entry.media_type.clone(),
            detected_type: None,
            title: None,
            language: None,
            payload: entry.payload,
            is_truncated: entry.truncated,
            place: Place::of(entry),
            body: body.map(|body| Place::of_record(body.file, body.offset, body.length)),
        })
    }
}

impl Place {
    /// Where the records of a capture are.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        Self {
            file: entry.location.file.clone(),
            offset: entry.location.offset,
            record_bytes: entry.location.length,
            group_bytes: entry.group_bytes,
            sum: Some(entry.sum),
        }
    }
    fn location(&self) -> Location {
        Location { file: self.file.clone(), offset: self.offset, length: self.record_bytes }
    }
}

/// Bytes are checked before they are returned: by the checksum in the index, and companions by their digests.
impl Source for Reader {
    fn stored(&self, place: &Place) -> Result<Vec<u8>, SourceError> {
        Ok(match place.sum {
            Some(sum) => self.group(&bare_entry(place, sum))?,
            None => self.member(&find(self, place)?)?,
        })
    }
    fn record(&self, place: &Place) -> Result<warc::Record, SourceError> {
        Ok(self.record_at(&place.location())?)
    }
    fn answer(&self, place: &Place) -> Result<Vec<u8>, SourceError> {
        Ok(self.document(&find(self, place)?)?.answer())
    }
}

/// An entry with only the location of its records.
fn bare_entry(place: &Place, sum: u32) -> Entry {
    Entry {
        key: Key::from_stored(""),
        url: String::new(),
        at: Timestamp::MIN,
        kind: Stored::Other,
        flag: Flag::Changed,
        status: None,
        media_type: "".into(),
        payload: None,
        content: None,
        truncated: false,
        moves_within: false,
        location: place.location(),
        group_bytes: place.group_bytes,
        body: None,
        sum,
    }
}

/// The entry of a record of which only the place is known.
fn find(reader: &Reader, place: &Place) -> Result<Entry, SourceError> {
    let record = reader.record_at(&place.location())?;
    let (target, at) = record.target().zip(record.date()).ok_or("it has no target or no date")?;
    for entry in reader.newest_first(&Key::of(target))? {
        let entry = entry?;
        if entry.location == place.location() {
            return Ok(entry);
        }
        if entry.at < at {
            break;
        }
    }
    Err("it is not in the index".into())
}
