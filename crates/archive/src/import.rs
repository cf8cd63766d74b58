//! Imports captures that others archived, with their own dates (A6, C17).
//!
//! A record keeps its id, its date, every field that does not concern its position in a file, and its block, byte for
//! byte; its head is rewritten as WARC 1.1. The records of one exchange are grouped, because a capture is one group of
//! records. A body that is stored already becomes a revisit, as after a visit.
//!
//! **Invariant:** importing twice changes nothing (D4), and what was taken down is not imported (D13).

mod fit;
mod known;

use crate::capture::describe::{self, Facts, field, split_answer};
use crate::capture::entry::{ContentKey, Entry, Key, Location, Stored};
use crate::error::Error;
use crate::index::row::Place;
use crate::writing::append::Archive;
use crate::writing::file::GrowingFile;
use crate::writing::records::Original;
use base::door::Truncation;
use base::{Sha1Digest, Timestamp};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use warc::header::name;
use warc::{Draft, Fields, Kind, Profile, Record, RecordId};

/// The records of one exchange.
#[derive(Clone, Debug)]
pub struct Group {
    /// What was captured.
    pub main: Record,
    /// Its other records: the request, metadata.
    pub companions: Vec<Record>,
}

/// The result of importing a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It was added.
    Added(Entry),
    /// The archive has it already.
    Known(Entry),
    /// It was taken down and is not imported.
    TakenDown,
    /// It cannot be imported; the reason.
    Unfit(&'static str),
}

impl Group {
    /// An answer that was archived without a record of its own, as in an ARC file.
    #[must_use]
    pub fn of_answer(url: &str, address: Option<IpAddr>, at: Timestamp, block: Vec<u8>) -> Self {
        let is_http = block.starts_with(b"HTTP/");
        let (kind, content_type) = if is_http {
            (Kind::Response, warc::HTTP_RESPONSE)
        } else {
            (Kind::Resource, "application/octet-stream")
        };
        let fields = Fields::new()
            .text(name::TYPE, kind.as_str())
            .text(name::DATE, &at.to_rfc3339())
            .uri(name::TARGET_URI, url);
        let fields = address
            .into_iter()
            .fold(fields, |fields, address| fields.text(name::IP_ADDRESS, &address.to_string()))
            .text(name::CONTENT_TYPE, content_type);
        Self { main: Record::new(fields, block), companions: Vec::new() }
    }

    /// A record of an ARC file, with the line that described it; `None` if it has no date. The record that describes
    /// the file itself becomes metadata about its `filedesc:` URL.
    #[must_use]
    pub fn of_arc(arc: warc::ArcRecord) -> Option<Self> {
        let (at, is_header) = (arc.date?, arc.is_file_header());
        let mut main = if is_header {
            let fields = Fields::new()
                .text(name::TYPE, Kind::Metadata.as_str())
                .text(name::DATE, &at.to_rfc3339())
                .uri(name::TARGET_URI, &arc.url)
                .text(name::CONTENT_TYPE, "text/plain");
            Record::new(fields, arc.block)
        } else {
            Self::of_answer(&arc.url, arc.address, at, arc.block).main
        };
        main.fields = main.fields.foreign(field::ARC_LINE, &arc.line);
        (main.offset, main.block_bytes) = (arc.offset, arc.block_bytes);
        Some(Self { main, companions: Vec::new() })
    }
}

/// Fields of a head that concern its position in a file, or are rewritten.
const NOT_CARRIED: [&str; 14] = [
    field::REMOVED,
    name::TYPE,
    name::RECORD_ID,
    name::DATE,
    name::TARGET_URI,
    name::BLOCK_DIGEST,
    name::CONTENT_TYPE,
    name::CONTENT_LENGTH,
    name::SEGMENT_NUMBER,
    name::SEGMENT_TOTAL_LENGTH,
    field::PLACE,
    field::RECORDS,
    field::FLAG,
    field::CONTENT,
];
/// Fields that make a record a revisit.
pub(crate) const OF_REVISIT: [&str; 6] = [
    name::TRUNCATED,
    name::PROFILE,
    name::REFERS_TO_TARGET_URI,
    name::REFERS_TO_DATE,
    "WARC-Refers-To",
    name::PAYLOAD_DIGEST,
];
/// Maximum number of fields carried over from an imported head; leaves room for ours.
const CARRIED_MAX: usize = 200;
/// Maximum number of records in one capture besides its main record.
const COMPANIONS_MAX: usize = 64;

/// A capture to write.
pub(crate) struct Written<'a> {
    /// Its first record as it was read.
    pub(crate) main: &'a Record,
    pub(crate) companions: &'a [Record],
    /// Its block.
    pub(crate) block: &'a [u8],
    /// The record with its body, if that is elsewhere.
    pub(crate) original: Option<Original>,
    /// The entry without its location.
    pub(crate) entry: Entry,
}

impl Archive {
    /// Imports a capture, unless the archive has it already. It is durable after the next commit.
    ///
    /// If this fails for lack of room, nothing was imported, and it can be repeated.
    pub fn import(&mut self, group: &Group) -> Result<Imported, Error> {
        self.with_sound_index(|archive| archive.try_import(group))
    }

    fn try_import(&mut self, group: &Group) -> Result<Imported, Error> {
        self.check_running()?;
        self.make_way()?;
        let main = &group.main;
        if let Some(why) = fit::unfit(group) {
            return Ok(Imported::Unfit(why));
        }
        let Some(entry) = describe::entry(main, &Arc::from("")) else {
            return Ok(Imported::Unfit("it has no date or no target"));
        };
        if self.is_taken_down(&entry.key) {
            return Ok(Imported::TakenDown);
        }
        if let Some(known) = self.known(group, &entry)? {
            return Ok(Imported::Known(known));
        }
        let (entry, original) = self.compare(main, entry)?;
        let block = match &original {
            Some(_) if entry.kind == Stored::Revisit => split_answer(&main.block).0,
            _ => &main.block,
        };
        let written = Written { main, companions: &group.companions, block, original, entry };
        self.write_group(written).map(Imported::Added)
    }

    /// What the capture saw, compared with the versions before it, and where its body is if that is stored already.
    fn compare(&mut self, main: &Record, entry: Entry) -> Result<(Entry, Option<Original>), Error> {
        match entry.kind {
            Stored::Response => self.compare_response(main, entry),
            Stored::Revisit => self.compare_revisit(main, entry),
            _ => Ok((entry, None)),
        }
    }

    fn compare_response(&mut self, main: &Record, entry: Entry) -> Result<(Entry, Option<Original>), Error> {
        let (head, body) = split_answer(&main.block);
        let facts = Facts::of_answer(&entry.url, head, body, describe::framing(head));
        let is_stated = main.fields.get(field::FLAG).is_some();
        let latest = self.latest(&entry.key, entry.at)?;
        let flag = if is_stated { entry.flag } else { describe::judge(&facts, latest.content) };
        let entry = Entry { flag, ..entry };
        if entry.truncated || !facts.has_payload {
            return Ok((entry, None));
        }
        let Some(place) = self.index.find_body(facts.payload, facts.content)? else {
            return Ok((entry, None));
        };
        let location = place.location(self.index.files());
        let Some((url, at)) = self.origin(&location)? else { return Ok((entry, None)) };
        let (payload, content) = (facts.payload, Some(facts.content));
        let original = Original { url, at, payload, content, location };
        Ok((Entry { kind: Stored::Revisit, ..entry }, Some(original)))
    }

    /// Finds the body of a revisit by the reference that it states, then by digest.
    fn compare_revisit(&mut self, main: &Record, entry: Entry) -> Result<(Entry, Option<Original>), Error> {
        let fields = &main.fields;
        let uri = fields.get(name::REFERS_TO_TARGET_URI).map(|uri| uri.trim_matches(['<', '>']));
        let moment = fields.get(name::REFERS_TO_DATE).and_then(warc::moment);
        let stored = match (uri.zip(moment), entry.payload) {
            (Some((uri, at)), _) => self.stored_at(&Key::of(uri), at)?,
            (None, None) => self.latest(&entry.key, entry.at)?.stored,
            (None, Some(_)) => None,
        };
        let stored = match (stored, entry.payload) {
            (None, Some(payload)) => self.index.find_payload(payload)?.map(|place| (place, payload, None)),
            (stored, _) => stored,
        };
        let Some((place, payload, content)) = stored else { return Ok((entry, None)) };
        let location = place.location(self.index.files());
        let content = content.or(entry.content);
        let entry = Entry { payload: Some(payload), content, body: Some(location.clone()), ..entry };
        // It is written with the digest and the reference that find the body again.
        let original =
            self.origin(&location)?.map(|(url, at)| Original { url, at, payload, content, location });
        Ok((entry, original))
    }

    /// The body that a page was stored with at a moment.
    fn stored_at(
        &self,
        key: &Key,
        at: Timestamp,
    ) -> Result<Option<(Place, Sha1Digest, Option<ContentKey>)>, Error> {
        let mut stored = None;
        self.index.newest_first(key, |row| {
            if let Some(payload) = row.payload.filter(|_| row.at == at && stored.is_none()) {
                let place = if row.kind == Stored::Response { Some(row.place) } else { row.body };
                stored = place.map(|place| (place, payload, row.content));
            }
            row.at < at
        })?;
        Ok(stored)
    }

    /// Writes a capture: its first record, then the others.
    pub(crate) fn write_group(&mut self, written: Written<'_>) -> Result<Entry, Error> {
        let Written { main, companions, block, original, entry } = written;
        let mut file = self.take_file(entry.at)?;
        let kind = match entry.kind {
            Stored::Response => Kind::Response,
            Stored::Revisit => Kind::Revisit,
            _ => main.kind(),
        };
        let count = companions.len().min(COMPANIONS_MAX) + 1;
        let ours = |draft: Draft| {
            let draft = draft.text(field::FLAG, entry.flag.as_str()).text(field::RECORDS, &count.to_string());
            let content = entry.content.filter(|_| matches!(entry.kind, Stored::Response | Stored::Revisit));
            content.into_iter().fold(draft, |draft, content| draft.text(field::CONTENT, &content.to_string()))
        };
        let draft = |draft: Draft| {
            let draft = carried(with_target(as_dated(draft, main), main), main, original.is_some());
            ours(match &original {
                Some(original) => referring(draft, main.profile(), original),
                None => with_payload_digest(draft, main, &entry),
            })
        };
        let id = main.fields.get(name::RECORD_ID).and_then(RecordId::stated);
        let first = file.put_as(id, (&kind, entry.at), draft, content_type(main), &[block]);
        let mut group_bytes = first.length;
        for companion in companions.iter().take(COMPANIONS_MAX) {
            group_bytes += write_companion(companion, &first.id, entry.at, &mut file);
        }
        let location = Location { file: file.name(), offset: first.offset, length: first.length };
        let body = original.map(|original| original.location).or(entry.body);
        let entry = Entry { location, group_bytes, body, sum: first.sum, ..entry };
        self.add(&entry, &mut file);
        self.give_file(file);
        Ok(entry)
    }
}

/// A revisit of `original`; a 304 stays a 304.
fn referring(draft: Draft, profile: Option<Profile>, original: &Original) -> Draft {
    let profile = profile.unwrap_or(Profile::IdenticalPayloadDigest);
    let draft = draft.refers_to(profile, &original.url, original.at).payload_digest(original.payload);
    match profile {
        Profile::IdenticalPayloadDigest => draft.truncated(Truncation::Length),
        Profile::ServerNotModified => draft,
    }
}

/// The payload digest of an answer that has none yet (D8).
fn with_payload_digest(draft: Draft, main: &Record, entry: &Entry) -> Draft {
    let has_one = main.fields.get(name::PAYLOAD_DIGEST).is_some();
    match entry.payload.filter(|_| entry.kind == Stored::Response && !has_one) {
        Some(payload) => draft.payload_digest(payload),
        None => draft,
    }
}

/// A date that is less precise than a second is written as it was given.
fn as_dated(draft: Draft, record: &Record) -> Draft {
    match record.reduced_date() {
        Some(date) => draft.dated(date),
        None => draft,
    }
}

fn with_target(draft: Draft, record: &Record) -> Draft {
    match record.target() {
        Some(target) => draft.target(target),
        None => draft,
    }
}

/// Whether a field has one of these names.
pub(crate) fn is_one_of(field: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(field))
}

/// The fields that are carried over.
fn carried(draft: Draft, record: &Record, becomes_revisit: bool) -> Draft {
    let mut draft = draft;
    for (field, value) in record.fields.iter().take(CARRIED_MAX) {
        if is_one_of(field, &NOT_CARRIED) || (becomes_revisit && is_one_of(field, &OF_REVISIT)) {
            continue;
        }
        let profile = Profile::named(value).filter(|_| field.eq_ignore_ascii_case(name::PROFILE));
        draft = match profile {
            Some(profile) => draft.foreign(field, profile.as_str()),
            None if field.eq_ignore_ascii_case(crate::files::scan::SYNCED_BYTES) => draft,
            None => draft.foreign(field, unbracketed(field, value)),
        };
    }
    match fit::wrong_digest(record) {
        Some(stated) => draft.foreign(field::STATED_DIGEST, stated),
        None => draft,
    }
}

/// A URI that some writers put in angle brackets and WARC 1.1 wants bare.
fn unbracketed<'v>(field: &str, value: &'v str) -> &'v str {
    let is_bare =
        field.eq_ignore_ascii_case(name::REFERS_TO_TARGET_URI) || field.eq_ignore_ascii_case(name::PROFILE);
    if is_bare {
        value.strip_prefix('<').and_then(|value| value.strip_suffix('>')).unwrap_or(value)
    } else {
        value
    }
}

fn content_type(record: &Record) -> &str {
    record.fields.get(name::CONTENT_TYPE).unwrap_or("application/octet-stream")
}

fn write_companion(record: &Record, first: &RecordId, at: Timestamp, file: &mut GrowingFile) -> u64 {
    let names_first = record.fields.all(name::CONCURRENT_TO).any(|id| id == first.as_str());
    let draft = |draft: Draft| {
        let draft = carried(with_target(as_dated(draft, record), record), record, false);
        if names_first { draft } else { draft.concurrent_to(first) }
    };
    let id = record.fields.get(name::RECORD_ID).and_then(RecordId::stated);
    let at = record.date().unwrap_or(at);
    file.put_as(id, (&record.kind(), at), draft, content_type(record), &[&record.block]).length
}

/// Groups the records of one exchange, which others write in any order, in bounded memory.
#[derive(Debug, Default)]
pub struct Grouper {
    open: VecDeque<Group>,
    /// Requests and other records whose capture has not come yet.
    waiting: VecDeque<Record>,
    bytes: usize,
}

/// Maximum number of captures that wait for further records, and maximum of their bytes.
const OPEN_MAX: usize = 64;
const OPEN_BYTES_MAX: usize = 64 * 1024 * 1024;

impl Grouper {
    /// An empty grouper.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a record and returns the groups that are complete.
    pub fn push(&mut self, record: Record) -> Vec<Group> {
        self.bytes += record.block.len();
        match record.kind() {
            Kind::Response | Kind::Revisit | Kind::Resource => self.open_group(record),
            Kind::Request => self.accompany(record),
            Kind::Metadata if !describe::is_visit(&record) => self.accompany(record),
            _ => self.open.push_back(Group { main: record, companions: Vec::new() }),
        }
        let mut complete = Vec::new();
        while self.open.len() > OPEN_MAX || (self.bytes > OPEN_BYTES_MAX && !self.open.is_empty()) {
            complete.extend(self.close_first());
        }
        while self.waiting.len() > OPEN_MAX || (self.bytes > OPEN_BYTES_MAX && !self.waiting.is_empty()) {
            complete.extend(self.give_up_waiting());
        }
        complete
    }
    /// Returns the remaining groups.
    pub fn finish(&mut self) -> Vec<Group> {
        let mut complete = Vec::new();
        while let Some(group) = self.close_first() {
            complete.push(group);
        }
        while let Some(group) = self.give_up_waiting() {
            complete.push(group);
        }
        complete
    }

    fn open_group(&mut self, main: Record) {
        let mut room = COMPANIONS_MAX;
        let mut belongs_to = |other: &Record| {
            let belongs = room > 0 && go_together(&main, other);
            room -= usize::from(belongs);
            belongs
        };
        let (belongs, waits) = self.waiting.drain(..).partition(|other| belongs_to(other));
        self.waiting = waits;
        let belongs: VecDeque<Record> = belongs;
        self.open.push_back(Group { main, companions: belongs.into() });
    }
    fn accompany(&mut self, record: Record) {
        let has_room = |group: &&mut Group| group.companions.len() < COMPANIONS_MAX;
        let mut groups = self.open.iter_mut().rev().filter(has_room);
        match groups.find(|group| go_together(&group.main, &record)) {
            Some(group) => group.companions.push(record),
            None => self.waiting.push_back(record),
        }
    }
    fn close_first(&mut self) -> Option<Group> {
        let group = self.open.pop_front()?;
        let companions: usize = group.companions.iter().map(|record| record.block.len()).sum();
        self.bytes = self.bytes.saturating_sub(group.main.block.len() + companions);
        Some(group)
    }
    fn give_up_waiting(&mut self) -> Option<Group> {
        let main = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(main.block.len());
        Some(Group { main, companions: Vec::new() })
    }
}

/// Whether a record belongs to a capture: one refers to the other, or neither refers to any and they have the same page
/// and moment.
fn go_together(main: &Record, other: &Record) -> bool {
    let id = |record: &Record| record.fields.get(name::RECORD_ID).map(str::to_owned);
    let names = |one: &Record, other: &Record| {
        let id = id(other);
        one.fields
            .all(name::CONCURRENT_TO)
            .chain(one.fields.all("WARC-Refers-To"))
            .any(|named| Some(named) == id.as_deref())
    };
    let names_none = |record: &Record| record.fields.get(name::CONCURRENT_TO).is_none();
    let is_same =
        || main.target() == other.target() && main.target().is_some() && main.date() == other.date();
    names(other, main) || names(main, other) || (names_none(main) && names_none(other) && is_same())
}
