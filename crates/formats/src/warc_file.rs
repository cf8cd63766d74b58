//! One WARC file of the picked records: a `warcinfo`, then the captures in disk order.
//!
//! Captures are copied in compressed form, so bytes, ids and digests stay the same. A request stays with its answer. A
//! resolved revisit is written as a response with its own date and a new id.
//!
//! **Invariant:** one kind of compression per file; the location of every copied record is returned for an index.

use crate::member::{self, Coding};
use crate::pick::{Line, Pick, Picks};
use crate::resolved::Resolved;
use crate::source::{self, Source};
use crate::{Error, Place};
use base::Timestamp;
use std::io::Write;
use std::sync::Arc;
use warc::{Draft, Fields, Kind, Level, RecordId, WARC_FIELDS, WarcWriter};

/// The description of a file.
#[derive(Clone, Debug)]
pub struct About {
    /// When it is made.
    pub created: Timestamp,
    /// By which program and version.
    pub software: String,
    /// What was chosen, in words.
    pub description: String,
}

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Captures that were chosen.
    pub captures: u64,
    /// Records that were not chosen but are needed by revisits.
    pub originals: u64,
    /// Revisits that were written as whole answers.
    pub resolved: u64,
    /// The length of the file.
    pub bytes: u64,
}

/// Writes a file called `name` of the picked records.
pub fn write(
    picks: Picks,
    source: &impl Source,
    name: &str,
    coding: Coding,
    about: &About,
    out: &mut impl Write,
) -> Result<Copied, Error> {
    let mut file = WarcFile::begin(name, coding, about, out)?;
    for pick in picks {
        file.copy(&pick?, source)?;
    }
    Ok(file.copied)
}

/// A file that is being written.
pub(crate) struct WarcFile<W> {
    out: W,
    name: Arc<str>,
    coding: Coding,
    buffer: Vec<u8>,
    pub(crate) copied: Copied,
}

impl<W: Write> WarcFile<W> {
    /// Writes the record that describes the file.
    pub(crate) fn begin(name: &str, coding: Coding, about: &About, out: W) -> Result<Self, Error> {
        let id = RecordId::at(name, 0, about.created, &Kind::Warcinfo);
        let draft = Draft::new(&Kind::Warcinfo, &id, about.created).text(warc::header::name::FILENAME, name);
        let fields = Fields::new()
            .text("software", &about.software)
            .text("format", "WARC File Format 1.1")
            .text("description", &about.description);
        let (mut block, mut member) = (Vec::new(), Vec::new());
        fields.write_to(&mut block);
        WarcWriter::new(Level::DEFAULT).append(draft, WARC_FIELDS, &[&block], &mut member);
        let copied = Copied::default();
        let mut file = Self { out, name: name.into(), coding, buffer: Vec::new(), copied };
        file.append(&member, 0)?;
        Ok(file)
    }

    /// Copies a picked record. Returns its new location, and its line, if there is anything to show.
    pub(crate) fn copy(
        &mut self,
        pick: &Pick,
        source: &impl Source,
    ) -> Result<Option<(Option<Line>, Place)>, Error> {
        let (from, line) = match pick {
            Pick::Chosen(place, line) => {
                self.copied.captures += 1;
                (place, line.clone())
            }
            Pick::Original(place, payload, title) => {
                self.copied.originals += 1;
                let line = Line::read(&source::record(source, place)?, *payload);
                (place, line.map(|line| Line { title: title.clone(), ..line }))
            }
            Pick::Also(..) => return Ok(None),
            Pick::Resolved(place, title) => {
                let (line, place) = self.resolve(place, source)?;
                return Ok(Some((line.map(|line| Line { title: title.clone(), ..line }), place)));
            }
        };
        let stored = source::stored(source, from)?;
        Ok(Some((line, self.put(&stored, from.record_bytes)?)))
    }

    /// Writes a revisit as a whole answer.
    fn resolve(&mut self, place: &Place, source: &impl Source) -> Result<(Option<Line>, Place), Error> {
        self.copied.captures += 1;
        self.copied.resolved += 1;
        let resolved = Resolved::read(place, source, &self.name, self.copied.bytes)?;
        let place = self.put(&resolved.members, resolved.first_bytes)?;
        Ok((resolved.line, place))
    }

    fn put(&mut self, members: &[u8], first_bytes: u64) -> Result<Place, Error> {
        let offset = self.copied.bytes;
        let record_bytes = self.append(members, first_bytes)?;
        let group_bytes = self.copied.bytes - offset;
        Ok(Place { file: self.name.clone(), offset, record_bytes, group_bytes, sum: None })
    }

    fn append(&mut self, stored: &[u8], first_bytes: u64) -> Result<u64, Error> {
        self.buffer.clear();
        let first_bytes = member::append(stored, first_bytes, self.coding, &mut self.buffer)
            .map_err(Error::io("recompress a record"))?;
        self.out.write_all(&self.buffer).map_err(Error::io("write the WARC file"))?;
        self.copied.bytes += self.buffer.len() as u64;
        Ok(first_bytes)
    }
}
