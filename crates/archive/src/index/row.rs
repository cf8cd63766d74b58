//! Rows: entries as they are stored in blocks of index files.
//!
//! A row leaves out what it shares with the row before it: a part of the key, or the key, status and type, digest. The
//! URL is left out where the key and the scheme give it. A block can be read without any other. `docs/formats/index.md`
//! shows the bytes.
//!
//! **Invariant:** decoding what was encoded gives the same rows; decoding anything else gives rows or an error, and
//! never takes more memory than a fixed multiple of the bytes.

use crate::capture::entry::{ContentKey, Entry, Flag, Key, Location, Stored, url_of_key};
use crate::index::Files;
use crate::index::body::Body;
use base::bytes::{ByteReader, put_number, put_signed, put_text};
use base::{Sha1Digest, Timestamp};
use runs::RowEncoder;
use std::cmp::Ordering;
use std::sync::Arc;

/// A record by the number of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl Place {
    pub(crate) fn location(self, files: &Files) -> Location {
        Location { file: Arc::clone(files.name(self.file)), offset: self.offset, length: self.length }
    }
}

/// An entry without its key, which it shares with its neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) at: Timestamp,
    pub(crate) place: Place,
    pub(crate) group_bytes: u64,
    pub(crate) sum: u32,
    /// 0 when there was no answer.
    pub(crate) status: u16,
    pub(crate) kind: Stored,
    pub(crate) flag: Flag,
    pub(crate) truncated: bool,
    pub(crate) moves_within: bool,
    pub(crate) is_https: bool,
    pub(crate) payload: Option<Sha1Digest>,
    pub(crate) content: Option<ContentKey>,
    pub(crate) body: Option<Place>,
    pub(crate) media_type: Arc<str>,
    /// The URL, where the key does not give it.
    pub(crate) url: Option<Box<str>>,
}

impl Row {
    /// The row of an entry.
    pub(crate) fn of(entry: &Entry, files: &mut Files) -> Self {
        let is_https = entry.url.starts_with("https:");
        let is_plain = url_of_key(entry.key.as_str(), is_https).as_deref() == Some(entry.url.as_str());
        let mut place = |location: &Location| Place {
            file: files.number(&location.file),
            offset: location.offset,
            length: location.length,
        };
        Self {
            at: entry.at,
            place: place(&entry.location),
            group_bytes: entry.group_bytes,
            sum: entry.sum,
            status: entry.status.unwrap_or(0),
            kind: entry.kind,
            flag: entry.flag,
            truncated: entry.truncated,
            moves_within: entry.moves_within,
            is_https,
            payload: entry.payload,
            content: entry.content,
            body: entry.body.as_ref().map(place),
            media_type: Arc::clone(&entry.media_type),
            url: (!is_plain).then(|| entry.url.as_str().into()),
        }
    }
    /// The entry of a row.
    pub(crate) fn entry(&self, key: &str, files: &Files) -> Entry {
        self.entry_of(Key::from_stored(key), files)
    }
    /// The entry of a row with this key.
    #[inline]
    pub(crate) fn entry_of(&self, key: Key, files: &Files) -> Entry {
        Entry {
            url: self.url(key.as_str()),
            key,
            at: self.at,
            kind: self.kind,
            flag: self.flag,
            status: (self.status != 0).then_some(self.status),
            media_type: Arc::clone(&self.media_type),
            payload: self.payload,
            content: self.content,
            truncated: self.truncated,
            moves_within: self.moves_within,
            location: self.place.location(files),
            group_bytes: self.group_bytes,
            body: self.body.map(|place| place.location(files)),
            sum: self.sum,
        }
    }
    /// The requested URL.
    pub(crate) fn url(&self, key: &str) -> String {
        match &self.url {
            Some(url) => url.to_string(),
            None => url_of_key(key, self.is_https).unwrap_or_default(),
        }
    }
    /// Whether it is the whole answer that a revisit refers to.
    pub(crate) fn holds_bytes_of(&self, revisit: &Self) -> bool {
        let is_whole = self.kind == Stored::Response && !self.truncated && self.payload == revisit.payload;
        is_whole && (revisit.content.is_none() || self.content == revisit.content)
    }
    /// The order of rows of one key: by moment, then by arrival.
    pub(crate) fn order(&self, other: &Self, files: &Files) -> Ordering {
        let arrival = || {
            let name = |row: &Self| files.name(row.place.file);
            name(self).cmp(name(other)).then_with(|| self.place.offset.cmp(&other.place.offset))
        };
        self.at.cmp(&other.at).then_with(arrival)
    }
}

const SAME_KEY: u8 = 1;
const HAS_URL: u8 = 1 << 1;
const IS_HTTPS: u8 = 1 << 2;
const KIND_SHIFT: u8 = 3;
const TRUNCATED: u8 = 1 << 6;
const MOVES_WITHIN: u8 = 1 << 7;

const FLAG_BITS: u8 = 0b11;
const HAS_PAYLOAD: u8 = 1 << 2;
const SAME_PAYLOAD: u8 = 1 << 3;
const HAS_CONTENT: u8 = 1 << 4;
const SAME_CONTENT: u8 = 1 << 5;
const HAS_BODY: u8 = 1 << 6;
const SAME_ANSWER: u8 = 1 << 7;

/// The longest key: URLs and the fields of a record's head are bounded.
const KEY_BYTES_MAX: usize = 64 * 1024;

/// Gathers rows into a block.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    rows: Vec<u8>,
    count: u64,
    types: Vec<Arc<str>>,
    key: Vec<u8>,
    last: Option<Row>,
}

impl RowEncoder for Encoder {
    type Row = Row;

    /// The length of the block without its types.
    fn bytes(&self) -> usize {
        self.rows.len()
    }
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a row. `file` translates the numbers of files into those that the block's reader will know.
    fn push(&mut self, key: &[u8], row: &Row, file: &mut dyn FnMut(u32) -> u32) {
        let before = self.last.take();
        let last = before.as_ref();
        let same_key = last.is_some() && self.key == key;
        let media_type = self.type_number(&row.media_type);
        let same_answer = last.is_some_and(|l| l.status == row.status && l.media_type == row.media_type);
        let same_payload = row.payload.is_some() && last.is_some_and(|last| last.payload == row.payload);
        let same_content = row.content.is_some() && last.is_some_and(|last| last.content == row.content);
        let bit = |bit: u8, is_set: bool| if is_set { bit } else { 0 };
        let kind = Stored::ALL.iter().position(|kind| *kind == row.kind).unwrap_or_default();
        let flag = Flag::ALL.iter().position(|flag| *flag == row.flag).unwrap_or_default();
        let small = |number: usize| u8::try_from(number).expect("there are few of them");
        self.rows.push(
            bit(SAME_KEY, same_key)
                | bit(HAS_URL, row.url.is_some())
                | bit(IS_HTTPS, row.is_https)
                | small(kind) << KIND_SHIFT
                | bit(TRUNCATED, row.truncated)
                | bit(MOVES_WITHIN, row.moves_within),
        );
        self.rows.push(
            small(flag)
                | bit(HAS_PAYLOAD, row.payload.is_some())
                | bit(SAME_PAYLOAD, same_payload)
                | bit(HAS_CONTENT, row.content.is_some())
                | bit(SAME_CONTENT, same_content)
                | bit(HAS_BODY, row.body.is_some())
                | bit(SAME_ANSWER, same_answer),
        );
        if !same_key {
            self.put_key(key);
        }
        put_signed(&mut self.rows, row.at.as_micros() - last.map_or(0, |last| last.at.as_micros()));
        if let Some(url) = &row.url {
            put_text(&mut self.rows, url);
        }
        if !same_answer {
            put_number(&mut self.rows, u64::from(row.status));
            put_number(&mut self.rows, media_type as u64);
        }
        self.put_place(row.place, file);
        put_number(&mut self.rows, row.group_bytes.saturating_sub(row.place.length));
        self.rows.extend_from_slice(&row.sum.to_le_bytes());
        if let Some(payload) = row.payload.filter(|_| !same_payload) {
            self.rows.extend_from_slice(payload.as_bytes());
        }
        if let Some(content) = row.content.filter(|_| !same_content) {
            self.rows.extend_from_slice(&content.0);
        }
        if let Some(body) = row.body {
            self.put_place(body, file);
        }
        self.count += 1;
        self.last = Some(row.clone());
    }

    /// Appends the block to `bytes` and begins the next one.
    fn finish(&mut self, bytes: &mut Vec<u8>) {
        put_number(bytes, self.types.len() as u64);
        self.types.drain(..).for_each(|media_type| put_text(bytes, &media_type));
        put_number(bytes, self.count);
        bytes.append(&mut self.rows);
        self.count = 0;
        self.key.clear();
        self.last = None;
    }
}

impl Encoder {
    fn put_key(&mut self, key: &[u8]) {
        let shared = shared_bytes(&self.key, key);
        put_number(&mut self.rows, shared as u64);
        put_number(&mut self.rows, (key.len() - shared) as u64);
        self.rows.extend_from_slice(&key[shared..]);
        self.key.clear();
        self.key.extend_from_slice(key);
    }
    fn put_place(&mut self, place: Place, file: &mut dyn FnMut(u32) -> u32) {
        put_number(&mut self.rows, u64::from(file(place.file)));
        put_number(&mut self.rows, place.offset);
        put_number(&mut self.rows, place.length);
    }
    fn type_number(&mut self, media_type: &Arc<str>) -> usize {
        let known = self.types.iter().position(|known| known == media_type);
        known.unwrap_or_else(|| {
            self.types.push(Arc::clone(media_type));
            self.types.len() - 1
        })
    }
}

fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    let most = one.len().min(other.len());
    one.iter().zip(other).take(most).take_while(|(a, b)| a == b).count()
}

/// The rows of a block, decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    keys: Vec<u8>,
    rows: Vec<(u32, u32, Row)>,
    types: Vec<Arc<str>>,
}

impl runs::Rows for Rows {
    const MAGIC: &'static [u8; 8] = b"UTSURUN1";
    const GENERATION: &'static str = "utsushi-index 1";
    type Row = Row;
    type Encoder = Encoder;
    type Secondary = Body;

    fn len(&self) -> usize {
        self.rows.len()
    }
    #[inline]
    fn row(&self, number: usize) -> &Row {
        &self.rows[number].2
    }
    /// The key of a row. It is valid UTF-8, which was checked when it was decoded.
    #[inline]
    fn key(&self, number: usize) -> &[u8] {
        let (start, end, _) = &self.rows[number];
        &self.keys[*start as usize..*end as usize]
    }
    /// Replaces the rows by those of the block in `bytes`. `files` translates its numbers of files.
    fn decode(&mut self, bytes: &[u8], files: &[u32]) -> Option<()> {
        self.keys.clear();
        self.rows.clear();
        self.types.clear();
        self.try_decode(ByteReader(bytes), files)
    }
    fn order(one: &Row, other: &Row, files: &Files) -> Ordering {
        one.order(other, files)
    }
    fn first_of_key(&self, number: usize) -> usize {
        let (start, end, _) = &self.rows[number];
        // Rows of one key in one block share one copy of it.
        self.rows[..number]
            .iter()
            .rposition(|row| (row.0, row.1) != (*start, *end))
            .map_or(0, |before| before + 1)
    }
}

impl Rows {
    /// The key of a row as text.
    pub(crate) fn key_text(&self, number: usize) -> &str {
        std::str::from_utf8(runs::Rows::key(self, number)).unwrap_or_default()
    }

    /// Rows that are in the order of the index already.
    pub(crate) fn of_sorted<'r>(sorted: impl Iterator<Item = (&'r str, &'r Row)>) -> Self {
        let mut rows = Self::default();
        for (key, row) in sorted {
            let is_same = rows
                .rows
                .last()
                .is_some_and(|last| &rows.keys[last.0 as usize..last.1 as usize] == key.as_bytes());
            if !is_same {
                rows.keys.extend_from_slice(key.as_bytes());
            }
            let end = u32::try_from(rows.keys.len()).expect("what is in memory is bounded");
            let start = end - u32::try_from(key.len()).expect("a key is short");
            rows.rows.push((start, end, row.clone()));
        }
        rows
    }

    fn try_decode(&mut self, mut bytes: ByteReader<'_>, files: &[u32]) -> Option<()> {
        for _ in 0..bytes.number()? {
            self.types.push(Arc::from(bytes.text()?));
        }
        let count = bytes.count()?;
        // A row takes at least eleven bytes.
        if count > bytes.0.len() / 11 {
            return None;
        }
        self.rows.reserve(count);
        for _ in 0..count {
            let row = self.decode_row(&mut bytes, files)?;
            self.rows.push(row);
        }
        std::str::from_utf8(&self.keys).ok()?;
        bytes.is_empty().then_some(())
    }

    #[inline]
    fn decode_row(&mut self, bytes: &mut ByteReader<'_>, files: &[u32]) -> Option<(u32, u32, Row)> {
        let [first, second] = bytes.array::<2>()?;
        let (key_start, key_end) = if first & SAME_KEY == 0 {
            self.decode_key(bytes)?
        } else {
            self.rows.last().map(|r| (r.0, r.1))?
        };
        let last = self.rows.last().map(|(_, _, last)| last);
        let at = last.map_or(0, |last| last.at.as_micros()).checked_add(bytes.signed()?)?;
        let url = if first & HAS_URL == 0 { None } else { Some(Box::from(bytes.text()?)) };
        let (status, media_type) = if second & SAME_ANSWER == 0 {
            let status = u16::try_from(bytes.number()?).ok()?;
            (status, Arc::clone(self.types.get(bytes.count()?)?))
        } else {
            (last?.status, Arc::clone(&last?.media_type))
        };
        let place = decode_place(bytes, files)?;
        let group_bytes = place.length.checked_add(bytes.number()?)?;
        let sum = bytes.u32()?;
        let payload = match second & (HAS_PAYLOAD | SAME_PAYLOAD) {
            0 => None,
            HAS_PAYLOAD => Some(Sha1Digest::from_bytes(bytes.array()?)),
            _ => last?.payload,
        };
        let content = match second & (HAS_CONTENT | SAME_CONTENT) {
            0 => None,
            HAS_CONTENT => Some(ContentKey(bytes.array()?)),
            _ => last?.content,
        };
        let body = if second & HAS_BODY == 0 { None } else { Some(decode_place(bytes, files)?) };
        let row = Row {
            at: Timestamp::from_micros(at)?,
            place,
            group_bytes,
            sum,
            status,
            kind: *Stored::ALL.get(usize::from(first >> KIND_SHIFT & 0b111))?,
            flag: *Flag::ALL.get(usize::from(second & FLAG_BITS))?,
            truncated: first & TRUNCATED != 0,
            moves_within: first & MOVES_WITHIN != 0,
            is_https: first & IS_HTTPS != 0,
            payload,
            content,
            body,
            media_type,
            url,
        };
        Some((key_start, key_end, row))
    }

    /// The key that begins with `shared` bytes of the last one; where it stands in the buffer of keys.
    fn decode_key(&mut self, bytes: &mut ByteReader<'_>) -> Option<(u32, u32)> {
        let shared = bytes.count()?;
        let length = bytes.count()?;
        let rest = bytes.take(length)?;
        let (start, end) = self.rows.last().map_or((0, 0), |row| (row.0 as usize, row.1 as usize));
        if shared > end - start || shared + length > KEY_BYTES_MAX {
            return None;
        }
        let new_start = self.keys.len();
        self.keys.extend_from_within(start..start + shared);
        self.keys.extend_from_slice(rest);
        // A key is a URL of bounded length, or a URI of a record's head, which is bounded too.
        let end = u32::try_from(self.keys.len()).ok()?;
        Some((u32::try_from(new_start).ok()?, end))
    }
}

#[inline]
fn decode_place(bytes: &mut ByteReader<'_>, files: &[u32]) -> Option<Place> {
    let file = *files.get(bytes.count()?)?;
    Some(Place { file, offset: bytes.number()?, length: bytes.number()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Chance;
    use runs::Rows as _;

    pub(crate) fn row(chance: &mut Chance) -> Row {
        let place = |chance: &mut Chance| Place {
            file: u32::try_from(chance.below(3)).unwrap(),
            offset: chance.below(1 << 40),
            length: chance.below(1 << 20),
        };
        let at = place(chance);
        let is = |chance: &mut Chance| chance.below(2) == 0;
        let digest = [u8::try_from(chance.below(3)).unwrap(); 20];
        Row {
            at: Timestamp::from_micros(i64::try_from(chance.below(1 << 50)).unwrap()).unwrap(),
            place: at,
            group_bytes: at.length + chance.below(1000),
            sum: u32::try_from(chance.below(1 << 32)).unwrap(),
            status: *chance.pick(&[0, 200, 304, 404, 599]),
            kind: *chance.pick(&Stored::ALL),
            flag: *chance.pick(&Flag::ALL),
            truncated: is(chance),
            moves_within: is(chance),
            is_https: is(chance),
            payload: is(chance).then(|| Sha1Digest::from_bytes(digest)),
            content: is(chance).then(|| ContentKey([digest[0]; 16])),
            body: is(chance).then(|| place(chance)),
            media_type: Arc::from(*chance.pick(&["", "text/html", "image/png"])),
            url: is(chance).then(|| "http://example.org/x".into()),
        }
    }

    #[test]
    fn rows_are_decoded_as_they_were_encoded() {
        let mut chance = Chance::new(1);
        let mut encoder = Encoder::default();
        let keys = ["", "a", "ab", "ab", "abc", "z", "写", "写し", "写し"];
        let rows: Vec<Row> = keys.iter().map(|_| row(&mut chance)).collect();
        keys.iter().zip(&rows).for_each(|(key, row)| encoder.push(key.as_bytes(), row, &mut |file| 2 - file));
        let mut bytes = Vec::new();
        encoder.finish(&mut bytes);
        let mut decoded = Rows::default();
        decoded.decode(&bytes, &[2, 1, 0]).unwrap();
        for (number, (key, row)) in keys.iter().zip(&rows).enumerate() {
            assert_eq!((decoded.key_text(number), decoded.row(number)), (*key, row));
        }
        assert_eq!((decoded.first_of_key(3), decoded.first_of_key(8), decoded.first_of_key(0)), (2, 7, 0));
        assert_eq!((decoded.lower_bound(b"ab"), decoded.lower_bound(b"zz")), (2, 6));
    }

    #[test]
    fn other_bytes_give_an_error_or_rows_but_no_panic() {
        let mut chance = Chance::new(2);
        let mut encoder = Encoder::default();
        for number in 0..50 {
            let key = format!("com,example)/{}", number / 3);
            encoder.push(key.as_bytes(), &row(&mut chance), &mut |file| file);
        }
        let mut bytes = Vec::new();
        encoder.finish(&mut bytes);
        let mut rows = Rows::default();
        for _ in 0..20_000 {
            let mut wrong = bytes.clone();
            for _ in 0..=chance.below(3) {
                let place = usize::try_from(chance.below(wrong.len() as u64)).unwrap();
                wrong[place] = chance.bits().to_le_bytes()[0];
            }
            wrong.truncate(usize::try_from(chance.below(wrong.len() as u64 * 4)).unwrap().max(1));
            let _ = rows.decode(&wrong, &[0, 1, 2]);
        }
    }
}
