//! Sorts versions in bounded memory: by the location of their bytes, so that they are read in one sweep (A5), or by
//! key.
//!
//! What does not fit is spilled to files without a name; see [`ExternalSorter`].
//!
//! **Invariant:** the order does not depend on how much was spilled.

use crate::capture::entry::{Entry, Stored};
use crate::error::Error;
use crate::index::Files;
use crate::index::row::{Encoder, Row, Rows};
use crate::snapshot::versions::Version;
use base::bytes::{ByteReader, put_number, put_text};
use base::{Period, Timestamp};
use runs::{ExternalSorter, RowEncoder as _, Rows as _};
use std::io;
use std::path::{Path, PathBuf};

/// The order of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    /// By file and offset of the record that holds the bytes.
    Address,
    /// By key, then by the moment they are valid from.
    Key,
}

/// Takes versions in any order, then returns them sorted.
#[derive(Debug)]
pub struct Sorter {
    order: SortOrder,
    spool: PathBuf,
    items: ExternalSorter,
}

impl Sorter {
    /// A sorter that keeps about `memory_bytes` in memory and spills the rest into the directory `spool`.
    #[must_use]
    pub fn new(order: SortOrder, spool: &Path, memory_bytes: usize) -> Self {
        Self { order, spool: spool.to_owned(), items: ExternalSorter::new(spool, memory_bytes) }
    }
    /// Number of versions.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.items.count()
    }
    /// Takes a version.
    pub fn push(&mut self, version: &Version) -> Result<(), Error> {
        self.push_with(version, &[])
    }
    /// Takes a version, and bytes that stay with it.
    pub fn push_with(&mut self, version: &Version, beside: &[u8]) -> Result<(), Error> {
        let pushed = self.items.push(&sort_key(self.order, version), &encode(version, beside));
        pushed.map_err(|source| Error::io("spill sorted versions into", &self.spool, source))
    }
    /// Returns all of them.
    pub fn finish(self) -> Result<impl Iterator<Item = Result<Version, Error>>, Error> {
        Ok(self.finish_with()?.map(|sorted| sorted.map(|(version, _)| version)))
    }
    /// Returns all of them, each with its bytes.
    pub fn finish_with(self) -> Result<impl Iterator<Item = Result<(Version, Vec<u8>), Error>>, Error> {
        let failed = failed_to_read(&self.spool);
        let decoded = move |item: Result<Box<[u8]>, Error>| {
            decode(&item?).ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))
        };
        Ok(self.finish_encoded()?.map(decoded))
    }
    /// Returns all of them as [`Version::from_bytes`] reads them.
    pub fn finish_encoded(self) -> Result<impl Iterator<Item = Result<Box<[u8]>, Error>>, Error> {
        let failed = failed_to_read(&self.spool);
        let mut sorted = self.items.finish().map_err(&failed)?;
        Ok(std::iter::from_fn(move || {
            let next = sorted.next().map(|next| next.map(|(_, version)| Box::from(version)));
            next.map_err(&failed).transpose()
        }))
    }
}

fn failed_to_read(spool: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = spool.to_owned();
    move |source| Error::io("read back sorted versions in", &path, source)
}

fn sort_key(order: SortOrder, version: &Version) -> Vec<u8> {
    let entry = &version.payload;
    match order {
        SortOrder::Key => {
            let mut key = entry.key.as_str().as_bytes().to_vec();
            key.push(0);
            key.extend_from_slice(&version.validity.from().as_micros().to_be_bytes());
            key.extend_from_slice(&entry.location.offset.to_be_bytes());
            key
        }
        SortOrder::Address => {
            let bytes = match (&entry.kind, &entry.body) {
                (Stored::Revisit, Some(body)) => body,
                _ => &entry.location,
            };
            let mut key = bytes.file.as_bytes().to_vec();
            key.push(0);
            key.extend_from_slice(&bytes.offset.to_be_bytes());
            key.extend_from_slice(&version.validity.from().as_micros().to_be_bytes());
            key
        }
    }
}

impl Version {
    /// The version and the bytes that stay with it, to be stored elsewhere.
    #[must_use]
    pub fn to_bytes(&self, beside: &[u8]) -> Vec<u8> {
        encode(self, beside)
    }
    /// The bytes that [`Version::to_bytes`] stored with a version, without reading the version.
    #[must_use]
    pub fn beside(bytes: &[u8]) -> Option<&[u8]> {
        let mut bytes = ByteReader(bytes);
        let length = bytes.count()?;
        bytes.take(length)
    }
    /// Reads what [`Version::to_bytes`] wrote.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<(Self, Vec<u8>)> {
        decode(bytes)
    }
}

/// A version with everything it needs, so that it can be read back alone.
fn encode(version: &Version, beside: &[u8]) -> Vec<u8> {
    let mut files = Files::default();
    let row = Row::of(&version.payload, &mut files);
    let mut bytes = Vec::with_capacity(256 + beside.len());
    put_number(&mut bytes, beside.len() as u64);
    bytes.extend_from_slice(beside);
    put_number(&mut bytes, version.validity.to().as_micros().cast_unsigned());
    put_number(&mut bytes, version.validity.from().as_micros().cast_unsigned());
    let first = version.is_first.map_or(0, |is_first| 1 + u8::from(is_first));
    bytes.push(u8::from(version.is_error) | u8::from(version.ended_by_gone) << 1 | first << 2);
    put_number(&mut bytes, files.names().len() as u64);
    files.names().iter().for_each(|name| put_text(&mut bytes, name));
    let mut encoder = Encoder::default();
    encoder.push(version.payload.key.as_str().as_bytes(), &row, &mut |file| file);
    encoder.finish(&mut bytes);
    bytes
}

fn decode(bytes: &[u8]) -> Option<(Version, Vec<u8>)> {
    let mut bytes = ByteReader(bytes);
    let length = bytes.count()?;
    let beside = bytes.take(length)?.to_vec();
    let mut moment = || Timestamp::from_micros(bytes.number()?.cast_signed());
    let (to, from) = (moment()?, moment()?);
    let bits = bytes.byte()?;
    let mut files = Files::default();
    for _ in 0..bytes.number()? {
        files.number(bytes.text()?);
    }
    let numbers: Vec<u32> = (0..).take(files.names().len()).collect();
    let mut rows = Rows::default();
    rows.decode(bytes.0, &numbers)?;
    let payload: Entry = (rows.len() == 1).then(|| rows.row(0).entry(rows.key_text(0), &files))?;
    let version = Version {
        validity: Period::new(from, to)?,
        payload,
        is_error: bits & 1 != 0,
        ended_by_gone: bits & 2 != 0,
        is_first: match bits >> 2 {
            0 => None,
            first => Some(first == 2),
        },
    };
    Some((version, beside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::entry::{ContentKey, Flag, Key, Location};
    use base::{Chance, Sha1Digest};
    use std::sync::Arc;

    /// Versions of few keys, moments and places, so that ties are common.
    fn versions(count: u64, seed: u64) -> Vec<Version> {
        let mut chance = Chance::new(seed);
        (0..count).map(|_| version(&mut chance)).collect()
    }

    fn version(chance: &mut Chance) -> Version {
        let location = |chance: &mut Chance| Location {
            file: Arc::from(*chance.pick(&["a.warc.gz", "a.warc.gz2", "b.warc.gz"])),
            offset: *chance.pick(&[0, 7, 255, 256, 1 << 40]),
            length: chance.below(1 << 20),
        };
        let url = format!("https://example.org/{}", chance.pick(&["", "a", "a/b", "a!", "写し"]));
        let kind = *chance.pick(&[Stored::Response, Stored::Revisit, Stored::Metadata]);
        let from = Timestamp::from_micros(*chance.pick(&[0, 1, 300, 1_795_129_200_123_456])).unwrap();
        let place = location(chance);
        let payload = Entry {
            key: Key::of(&url),
            url,
            at: from,
            kind,
            flag: *chance.pick(&Flag::ALL),
            status: *chance.pick(&[None, Some(200), Some(404)]),
            media_type: Arc::from(*chance.pick(&["", "text/html"])),
            payload: chance.happens(0.5).then(|| Sha1Digest::of(&[&chance.bits().to_le_bytes()])),
            content: chance.happens(0.5).then(|| ContentKey::of(&chance.bits().to_le_bytes())),
            truncated: chance.happens(0.1),
            moves_within: chance.happens(0.1),
            group_bytes: place.length + chance.below(500),
            location: place,
            body: (kind == Stored::Revisit && chance.happens(0.7)).then(|| location(chance)),
            sum: u32::try_from(chance.below(1 << 32)).unwrap(),
        };
        Version {
            validity: Period::new(from, Timestamp::MAX).unwrap(),
            payload,
            is_error: chance.happens(0.2),
            ended_by_gone: chance.happens(0.2),
            is_first: *chance.pick(&[None, Some(false), Some(true)]),
        }
    }

    fn sorted(versions: &[Version], order: SortOrder, memory_bytes: usize) -> Vec<Version> {
        let spool = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(order, spool.path(), memory_bytes);
        versions.iter().for_each(|version| sorter.push(version).unwrap());
        assert_eq!(sorter.count(), versions.len() as u64);
        sorter.finish().unwrap().map(Result::unwrap).collect()
    }

    /// Where the bytes of a version are.
    fn address(version: &Version) -> (Arc<str>, u64) {
        let Entry { kind, location, body, .. } = &version.payload;
        let location = body.as_ref().filter(|_| *kind == Stored::Revisit).unwrap_or(location);
        (Arc::clone(&location.file), location.offset)
    }

    #[test]
    fn spilling_does_not_change_the_result() {
        let versions = versions(3_000, 1);
        for order in [SortOrder::Address, SortOrder::Key] {
            let whole = sorted(&versions, order, usize::MAX);
            assert_eq!(whole.len(), versions.len());
            for memory_bytes in [400_000, 20_000, 3_000] {
                assert_eq!(
                    sorted(&versions, order, memory_bytes),
                    whole,
                    "{order:?} with {memory_bytes} bytes"
                );
            }
        }
    }

    #[test]
    fn orders_are_those_of_a_plain_sort() {
        let versions = versions(2_000, 2);
        let mut by_address: Vec<_> = versions.iter().map(|one| (address(one), one.validity.from())).collect();
        by_address.sort();
        let found = sorted(&versions, SortOrder::Address, 50_000);
        assert!(found.iter().map(|one| (address(one), one.validity.from())).eq(by_address));
        let key = |one: &Version| (one.payload.key.clone(), one.validity.from());
        let mut by_key: Vec<_> = versions.iter().map(key).collect();
        by_key.sort();
        assert!(sorted(&versions, SortOrder::Key, 50_000).iter().map(key).eq(by_key));
    }

    #[test]
    fn exactly_what_was_pushed_is_returned() {
        let mut versions = versions(500, 3);
        let mut found = sorted(&versions, SortOrder::Address, 10_000);
        let text = |version: &Version| format!("{version:?}");
        versions.sort_by_key(text);
        found.sort_by_key(text);
        assert_eq!(found, versions);
        assert!(sorted(&[], SortOrder::Key, 10).is_empty());
    }

    #[test]
    fn a_missing_spool_directory_is_an_error() {
        let mut sorter = Sorter::new(SortOrder::Key, Path::new("/nowhere/at/all"), 1);
        let version = version(&mut Chance::new(4));
        sorter.push(&version).unwrap();
        let error = sorter.push(&version).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
