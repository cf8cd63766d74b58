//! Removes pages everywhere, for good, with a receipt (A7, D13).
//!
//! 1. It is found out which groups of records are concerned: the captures of the pages, and those captures of other pages
//!    that refer to bytes of them.
//! 2. The latter are written anew: one of them with the bytes, as an answer of its own page with its own date, the others
//!    as references to that. Behind them a *tombstone* is written, which says what is taken down and lists every group
//!    that must go. From the moment it is durable the takedown is decided: readers no longer see what it lists, imports
//!    and visits of such pages are turned away, and whoever opens the archive next finishes the work.
//! 3. Each file with such groups is written anew with a record of the same length in place of each, so that all other
//!    places stay what they were, synced, and put in the place of the old one; so are its sums.
//! 4. The index is written anew without them, and a note says that the work is done.
//!
//! **Invariant:** every step can be done twice. Until the note is durable the list in the tombstone is all that counts.

use crate::append::Archive;
use crate::describe::{self, field, split_answer};
use crate::entry::{ContentKey, Entry, Flag, Key, Location, Stored};
use crate::error::Error;
use crate::fetch_record;
use crate::file::sync_directory_of;
use crate::import::Written;
use crate::index::Index;
use crate::index::row::{Files, Row};
use crate::index::walk::KeyRange;
use crate::records::Original;
use crate::recover;
use crate::scope::{Scope, ScopeError};
use crate::sums::{self, Batch, Sum, SumsWriter};
use base::disk::{Disk, DiskFile, Open};
use base::http;
use base::{PageUrl, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warc::{Compression, Draft, Kind, Level, Record, ZstdLevel};

/// What the notes of takedowns are about.
const URN: &str = "urn:utsushi:takedown:";
const FIRST_LINE: &str = "utsushi-takedown 1";
const DONE: &str = ":done";
/// So many groups are listed in one record.
const GROUPS_A_PART: usize = 100_000;

/// What is taken down.
#[derive(Clone, Debug)]
pub struct Target {
    kind: TargetKind,
    text: String,
    scope: Scope,
    key: Option<Key>,
}

/// How much is taken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetKind {
    Url,
    Prefix,
    Server,
}

impl TargetKind {
    const ALL: [Self; 3] = [Self::Url, Self::Prefix, Self::Server];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Prefix => "prefix",
            Self::Server => "server",
        }
    }
}

impl Target {
    /// One page, however it is asked for.
    pub fn url(text: &str) -> Result<Self, ScopeError> {
        let page = PageUrl::parse(text.trim())?;
        let (text, key) = (page.as_str().to_owned(), Some(page.key().into()));
        Ok(Self { kind: TargetKind::Url, scope: Scope::Whole, text, key })
    }
    /// All pages whose URL begins so.
    pub fn prefix(text: &str) -> Result<Self, ScopeError> {
        let (text, scope) = (text.trim().to_owned(), Scope::prefix(text)?);
        Ok(Self { kind: TargetKind::Prefix, text, scope, key: None })
    }
    /// All pages of a server.
    pub fn server(text: &str) -> Result<Self, ScopeError> {
        let (text, scope) = (text.trim().to_owned(), Scope::server(text)?);
        Ok(Self { kind: TargetKind::Server, text, scope, key: None })
    }
    fn named(kind: &str, text: &str) -> Option<Self> {
        match TargetKind::ALL.into_iter().find(|known| known.as_str() == kind)? {
            TargetKind::Url => Self::url(text).ok(),
            TargetKind::Prefix => Self::prefix(text).ok(),
            TargetKind::Server => Self::server(text).ok(),
        }
    }

    /// Whether the page with this key is concerned.
    #[must_use]
    pub fn holds(&self, key: &Key) -> bool {
        match &self.key {
            Some(own) => own == key,
            None => self.scope.holds(key.as_str()),
        }
    }
    fn ranges(&self) -> Vec<KeyRange> {
        match &self.key {
            Some(key) => vec![KeyRange::one(key.as_str())],
            None => {
                let ranges = self.scope.key_ranges().into_iter();
                ranges
                    .map(|range| KeyRange { from: range.from.into(), to: range.to.map(String::into_bytes) })
                    .collect()
            }
        }
    }
}

/// `url`, `prefix` or `server` and what it is.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.text)
    }
}

/// What a takedown removed.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// What it is known by.
    pub id: String,
    /// What was taken down, as [`Target`] prints it.
    pub target: String,
    /// Why, as was given.
    pub reason: String,
    /// When.
    pub at: Timestamp,
    /// Pages of which something was removed.
    pub pages: u64,
    /// Captures that were removed.
    pub captures: u64,
    /// Bytes of archive files that were overwritten.
    pub bytes: u64,
    /// The archive files that were written anew, and how many groups of records were removed from each.
    pub files: BTreeMap<Arc<str>, u64>,
    /// Captures of other pages that were written anew because they referred to bytes that were removed.
    pub moved: Vec<Entry>,
}

/// A group of records that must go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Gone {
    file: Arc<str>,
    offset: u64,
    length: u64,
}

/// A takedown that is noted in the archive.
#[derive(Clone, Debug)]
pub(crate) struct Tombstone {
    id: String,
    at: Timestamp,
    target: Target,
    is_done: bool,
}

impl Archive {
    /// Whether the page was taken down: it is not to be visited again, nor imported.
    #[must_use]
    pub fn is_taken_down(&self, key: &Key) -> bool {
        self.tombstones.iter().any(|tombstone| tombstone.target.holds(key))
    }
    /// What was taken down and must not be visited again.
    pub fn taken_down(&self) -> impl Iterator<Item = &Target> {
        self.tombstones.iter().map(|tombstone| &tombstone.target)
    }

    /// Removes what `target` says from the archive, for good. It is decided, and durable, when this returns; when it
    /// fails before, nothing was removed.
    pub fn takedown(
        &mut self,
        target: &Target,
        reason: &str,
        at: Timestamp,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Receipt, Error> {
        self.check_running()?;
        self.settle()?;
        let plan = self.plan(target)?;
        let moved = self.move_dependents(&plan)?;
        let id = self.next_id(at)?;
        let gone: BTreeSet<Gone> = plan
            .gone
            .iter()
            .chain(plan.dependents.iter().map(|dependent| &dependent.gone))
            .cloned()
            .collect();
        let gone: Vec<Gone> = gone.into_iter().collect();
        self.write_tombstone(&id, target, reason, (at, &gone))?;
        self.settle()?;
        self.tombstones.push(Tombstone { id: id.clone(), at, target: target.clone(), is_done: false });
        let files = self.execute((&id, target), at, &gone, progress)?;
        if let Some(tombstone) = self.tombstones.last_mut() {
            tombstone.is_done = true;
        }
        Ok(Receipt {
            id,
            target: target.to_string(),
            reason: reason.to_owned(),
            at,
            pages: plan.pages,
            captures: plan.gone.len() as u64,
            bytes: plan.gone.iter().map(|gone| gone.length).sum(),
            files,
            moved,
        })
    }

    /// How many pages and captures a takedown would remove.
    pub fn would_take_down(&mut self, target: &Target) -> Result<(u64, u64), Error> {
        self.settle()?;
        let plan = self.plan(target)?;
        Ok((plan.pages, plan.gone.len() as u64))
    }

    /// Finishes takedowns whose work was cut off; how many.
    pub(crate) fn finish_takedowns(&mut self, at: Timestamp) -> Result<u64, Error> {
        let unfinished: Vec<Tombstone> =
            self.tombstones.iter().filter(|tombstone| !tombstone.is_done).cloned().collect();
        for tombstone in &unfinished {
            let gone = listed(self, &tombstone.id)?;
            self.execute((&tombstone.id, &tombstone.target), at.max(tombstone.at), &gone, &mut |_, _| {})?;
            tracing::warn!(target = %tombstone.target, "finished a takedown that was cut off");
        }
        self.tombstones.iter_mut().for_each(|tombstone| tombstone.is_done = true);
        Ok(unfinished.len() as u64)
    }

    /// Everything is in finished files and in runs.
    fn settle(&mut self) -> Result<(), Error> {
        self.finish_file()?;
        self.update_index()
    }

    /// Finds out what is concerned.
    fn plan(&self, target: &Target) -> Result<Plan, Error> {
        let files = self.index.files();
        let (mut plan, mut bodies, mut last_key) = (Plan::default(), HashSet::new(), None);
        let mut payloads = HashMap::new();
        for range in target.ranges() {
            self.index.walk(&range, &mut |key, row| {
                if !target.holds(&Key::from_stored(key)) {
                    return;
                }
                plan.pages += u64::from(last_key.as_deref() != Some(key));
                last_key = Some(key.to_owned());
                plan.gone.push(gone(row, files));
                if row.kind == Stored::Response {
                    bodies.insert((row.place.file, row.place.offset));
                    payloads.extend(row.payload.map(|payload| (payload, row.place)));
                }
            })?;
        }
        if !bodies.is_empty() {
            self.index.walk(&KeyRange::all(), &mut |key, row| {
                // Where nobody has found the bytes of a revisit yet, their digest tells.
                let unresolved = || row.payload.filter(|_| row.kind == Stored::Revisit);
                let body = match row.body {
                    Some(body) => Some(body).filter(|body| bodies.contains(&(body.file, body.offset))),
                    None => unresolved().and_then(|payload| payloads.get(&payload).copied()),
                };
                if let Some(body) = body.filter(|_| !target.holds(&Key::from_stored(key))) {
                    let (entry, gone) = (row.entry(key, files), gone(row, files));
                    plan.dependents.push(Dependent { entry, gone, body: body.location(files) });
                }
            })?;
        }
        plan.dependents.sort_by(|one, other| (&one.body, one.entry.at).cmp(&(&other.body, other.entry.at)));
        Ok(plan)
    }

    /// Writes the captures anew that refer to bytes which are about to go: the first with the bytes, the others as
    /// references to it.
    fn move_dependents(&mut self, plan: &Plan) -> Result<Vec<Entry>, Error> {
        let mut moved: Vec<Entry> = Vec::new();
        let mut home: Option<(Location, Original)> = None;
        for dependent in &plan.dependents {
            let records = self.group_records(&dependent.gone)?;
            let Some((main, companions)) = records.split_first() else { continue };
            let known = home.as_ref().filter(|(body, _)| *body == dependent.body);
            let entry = match known {
                Some((_, original)) => {
                    self.move_reference(main, companions, &dependent.entry, original.clone())?
                }
                None => {
                    let entry = self.move_home(main, companions, dependent)?;
                    let original = Original {
                        url: entry.url.clone(),
                        at: entry.at,
                        payload: entry.payload.unwrap_or_else(|| base::Sha1Digest::of(&[])),
                        content: entry.content,
                        location: entry.location.clone(),
                    };
                    home = Some((dependent.body.clone(), original));
                    entry
                }
            };
            moved.push(entry);
        }
        Ok(moved)
    }

    /// Writes a revisit as the answer that it stands for.
    fn move_home(
        &mut self,
        main: &Record,
        companions: &[Record],
        dependent: &Dependent,
    ) -> Result<Entry, Error> {
        let original = fetch_record::record(&*self.disk, &self.directory, &dependent.body, None)?;
        let block = answer(split_answer(&main.block).0, &original.block);
        let (head, body) = split_answer(&block);
        let facts = describe::Facts::of_answer(&dependent.entry.url, head, body, describe::framing(head));
        let entry = Entry {
            kind: Stored::Response,
            status: facts.status,
            media_type: facts.media_type,
            payload: Some(facts.payload),
            body: None,
            ..dependent.entry.clone()
        };
        // Its head no longer says that it is a revisit.
        let main = Record { fields: without_reference(&main.fields), ..main.clone() };
        self.make_way()?;
        self.write_group(Written { main: &main, companions, block: &block, original: None, entry })
    }

    fn move_reference(
        &mut self,
        main: &Record,
        companions: &[Record],
        entry: &Entry,
        original: Original,
    ) -> Result<Entry, Error> {
        self.make_way()?;
        let (block, entry) = (&main.block, entry.clone());
        self.write_group(Written { main, companions, block, original: Some(original), entry })
    }

    /// The records of a group, one after the other.
    fn group_records(&self, gone: &Gone) -> Result<Vec<Record>, Error> {
        let location = Location { file: Arc::clone(&gone.file), offset: gone.offset, length: gone.length };
        let bytes = fetch_record::member(&*self.disk, &self.directory, &location, None)?;
        let reader = warc::Reader::new(&*bytes, usize::MAX);
        let damaged = |_| Error::Damaged {
            path: self.directory.join(&*gone.file),
            offset: gone.offset,
            what: "it refers to bytes that are taken down, and cannot be read to be written anew",
        };
        reader.collect::<Result<_, _>>().map_err(damaged)
    }

    fn next_id(&self, at: Timestamp) -> Result<String, Error> {
        let stamp = at.as_micros();
        let is_taken = |id: &String| self.tombstones.iter().any(|tombstone| tombstone.id == *id);
        let ids = (0..u32::MAX).map(|count| format!("{stamp}-{count}"));
        Ok(ids.into_iter().find(|id| !is_taken(id)).unwrap_or_default())
    }

    /// Notes what is taken down, and every group that must go. The last part is what decides.
    fn write_tombstone(
        &mut self,
        id: &str,
        target: &Target,
        reason: &str,
        (at, gone): (Timestamp, &[Gone]),
    ) -> Result<(), Error> {
        let parts = gone.len().div_ceil(GROUPS_A_PART).max(1);
        for part in 0..parts {
            let groups = gone.iter().skip(part * GROUPS_A_PART).take(GROUPS_A_PART);
            let mut text = format!(
                "{FIRST_LINE}\nwhat {}\nscope {}\nreason {}\npart {} of {parts}\n",
                target.kind.as_str(),
                one_line(&target.text),
                one_line(reason),
                part + 1
            );
            groups.for_each(|gone| {
                text.push_str(&format!("group {} {} {}\n", gone.file, gone.offset, gone.length));
            });
            self.note(&format!("{URN}{id}:{part}"), at, text.as_bytes())?;
        }
        Ok(())
    }

    /// Does what the tombstone says, as often as it takes.
    fn execute(
        &mut self,
        (id, target): (&str, &Target),
        at: Timestamp,
        gone: &[Gone],
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BTreeMap<Arc<str>, u64>, Error> {
        let mut by_file: BTreeMap<Arc<str>, Vec<&Gone>> = BTreeMap::new();
        gone.iter().for_each(|gone| by_file.entry(Arc::clone(&gone.file)).or_default().push(gone));
        for (done, (file, gone)) in by_file.iter().enumerate() {
            progress(done as u64, by_file.len() as u64);
            let disk = Arc::clone(&self.disk);
            let rewritten = rewrite_file(&*disk, &self.directory, file, (gone, at), &mut self.index);
            self.stop_on_error(rewritten)?;
        }
        let places: HashSet<(&str, u64)> = gone.iter().map(|gone| (&*gone.file, gone.offset)).collect();
        let rewritten = self.index.rewrite(&mut |_, row, files: &mut Files| {
            !places.contains(&(&**files.name(row.place.file), row.place.offset))
        });
        self.stop_on_error(rewritten)?;
        self.forget_origins();
        let note = format!(
            "{FIRST_LINE}\nwhat {}\nscope {}\ndone {id}\n",
            target.kind.as_str(),
            one_line(&target.text)
        );
        self.note(&format!("{URN}{id}{DONE}"), at, note.as_bytes())?;
        self.settle()?;
        progress(by_file.len() as u64, by_file.len() as u64);
        Ok(by_file.into_iter().map(|(file, gone)| (file, gone.len() as u64)).collect())
    }

    /// Appends something that the archive notes of itself.
    fn note(&mut self, target: &str, at: Timestamp, block: &[u8]) -> Result<(), Error> {
        self.make_way()?;
        let mut file = self.take_file(at)?;
        let flag = Flag::Changed;
        let draft =
            |draft: Draft| draft.target(target).text(field::RECORDS, "1").text(field::FLAG, flag.as_str());
        let placed = file.put(&Kind::Metadata, at, draft, NOTE_TYPE, &[block]);
        let entry = Entry {
            key: Key::of(target),
            url: target.to_owned(),
            at,
            kind: Stored::Other,
            flag,
            status: None,
            media_type: describe::plain_media_type(NOTE_TYPE),
            payload: None,
            content: Some(ContentKey::of(block)),
            truncated: false,
            moves_within: false,
            location: Location { file: file.name(), offset: placed.offset, length: placed.length },
            group_bytes: placed.length,
            body: None,
            sum: placed.sum,
        };
        self.add(&entry, &mut file);
        self.give_file(file);
        Ok(())
    }
}

const NOTE_TYPE: &str = "text/plain;charset=utf-8";

/// What a takedown is about to do.
#[derive(Debug, Default)]
struct Plan {
    pages: u64,
    gone: Vec<Gone>,
    dependents: Vec<Dependent>,
}

/// A capture of another page that refers to bytes that are about to go.
#[derive(Debug)]
struct Dependent {
    entry: Entry,
    gone: Gone,
    /// Where the bytes are.
    body: Location,
}

fn gone(row: &Row, files: &Files) -> Gone {
    Gone { file: Arc::clone(files.name(row.place.file)), offset: row.place.offset, length: row.group_bytes }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The fields without those that make a record a revisit.
fn without_reference(fields: &warc::Fields) -> warc::Fields {
    use warc::header::name;
    let of_revisit = [
        name::TRUNCATED,
        name::PROFILE,
        name::REFERS_TO_TARGET_URI,
        name::REFERS_TO_DATE,
        "WARC-Refers-To",
        name::PAYLOAD_DIGEST,
    ];
    let is_kept = |field: &str| !of_revisit.iter().any(|left| left.eq_ignore_ascii_case(field));
    fields
        .iter()
        .filter(|(field, _)| is_kept(field))
        .fold(warc::Fields::new(), |fields, (name, value)| fields.foreign(name, value))
}

/// The answer that a revisit stands for: its own head and the bytes of the original, framed as the head says. A head that
/// says nothing but that nothing changed gives way to a plain one.
fn answer(head: &[u8], original: &[u8]) -> Vec<u8> {
    let (original_head, body) = split_answer(original);
    let payload = http::payload(body, describe::framing(original_head));
    let is_own = http::status(head).is_some_and(|status| status != 304);
    if !is_own {
        let media_type = http::field(original_head, "content-type").unwrap_or("application/octet-stream");
        let coding = http::field(original_head, "content-encoding");
        let coding = coding.map(|coding| format!("Content-Encoding: {coding}\r\n")).unwrap_or_default();
        let length = payload.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{coding}Content-Length: {length}\r\n\r\n"
        );
        return [head.as_bytes(), &payload].concat();
    }
    let is_chunked = describe::framing(head) == http::Framing::Chunked;
    let was_chunked = describe::framing(original_head) == http::Framing::Chunked;
    match (is_chunked, was_chunked) {
        (true, true) | (false, false) => [head, body].concat(),
        (false, true) => [head, &payload].concat(),
        (true, false) => {
            [head, format!("{:x}\r\n", payload.len()).as_bytes(), &payload, b"\r\n0\r\n\r\n"].concat()
        }
    }
}

/// The tombstones that the archive holds.
pub(crate) fn tombstones(archive: &Archive) -> Result<Vec<Tombstone>, Error> {
    let (disk, directory) = (&*archive.disk, &*archive.directory);
    let mut rows = Vec::new();
    archive.index.walk(&notes(), &mut |key, row| rows.push((key.to_owned(), row.clone())))?;
    read_tombstones(disk, directory, rows.iter().map(|(key, row)| (key.as_str(), row)), archive.index.files())
}

/// Where the notes of takedowns stand in the index.
pub(crate) fn notes() -> KeyRange {
    let from = format!("!{URN}").into_bytes();
    let to = crate::reader::end_of_prefix(&from);
    KeyRange { from, to }
}

/// The tombstones among the notes of takedowns. The note that one is done says what it was too, so that damage to a
/// tombstone lets nothing come back.
pub(crate) fn read_tombstones<'r>(
    disk: &dyn Disk,
    directory: &Path,
    rows: impl Iterator<Item = (&'r str, &'r Row)>,
    files: &Files,
) -> Result<Vec<Tombstone>, Error> {
    let mut found: BTreeMap<String, Told> = BTreeMap::new();
    for (key, row) in rows.filter(|(_, row)| row.kind == Stored::Other) {
        let Some((id, is_done)) = id_of(key) else { continue };
        let location = row.place.location(files);
        let told = found.entry(id.to_owned()).or_default();
        told.at = told.at.max(Some(row.at));
        match fetch_record::record(disk, directory, &location, Some(row.sum)) {
            // A record that was taken over from elsewhere says nothing here.
            Ok(record) if !record.belongs_to(&location.file) => {}
            Ok(record) => {
                let part = Part::read(&record.block).ok_or_else(|| unreadable(directory, &location))?;
                told.is_done |= is_done;
                told.seen += usize::from(!is_done);
                told.parts = told.parts.max(part.parts);
                told.target = Some(part.target);
            }
            Err(error @ Error::Damaged { .. }) => told.damage = Some(error),
            Err(error) => return Err(error),
        }
    }
    let mut tombstones = Vec::new();
    for (id, told) in found {
        match (told.target, told.at) {
            // One whose last part is not there was never decided, unless that part is damaged.
            (Some(target), Some(at)) if told.is_done || told.seen == told.parts => {
                tombstones.push(Tombstone { is_done: told.is_done, id, at, target });
            }
            _ => told.damage.map_or(Ok(()), Err)?,
        }
    }
    Ok(tombstones)
}

/// What the notes of one takedown say together.
#[derive(Default)]
struct Told {
    at: Option<Timestamp>,
    target: Option<Target>,
    parts: usize,
    seen: usize,
    is_done: bool,
    damage: Option<Error>,
}

/// Which takedown a note is about, and whether it says that it is done.
fn id_of(key: &str) -> Option<(&str, bool)> {
    let name = key.strip_prefix('!')?.strip_prefix(URN)?;
    match name.strip_suffix(DONE) {
        Some(id) => Some((id, true)),
        None => name.rsplit_once(':').map(|(id, _)| (id, false)),
    }
}

fn unreadable(directory: &Path, location: &Location) -> Error {
    let what = "it says that something was taken down, but not what";
    Error::Damaged { path: directory.join(&*location.file), offset: location.offset, what }
}

/// The groups that takedowns list which are decided and not done.
pub(crate) fn hidden(
    disk: &dyn Disk,
    directory: &Path,
    rows: &[(String, Row)],
    files: &Files,
) -> Result<HashSet<(Arc<str>, u64)>, Error> {
    let borrowed = || rows.iter().map(|(key, row)| (key.as_str(), row));
    let tombstones = read_tombstones(disk, directory, borrowed(), files)?;
    let mut hidden = HashSet::new();
    for tombstone in tombstones.iter().filter(|tombstone| !tombstone.is_done) {
        let gone = listed_in(disk, directory, borrowed(), files, &tombstone.id)?;
        hidden.extend(gone.into_iter().map(|gone| (gone.file, gone.offset)));
    }
    Ok(hidden)
}

fn listed(archive: &Archive, id: &str) -> Result<Vec<Gone>, Error> {
    let mut rows = Vec::new();
    archive.index.walk(&notes(), &mut |key, row| rows.push((key.to_owned(), row.clone())))?;
    let rows = rows.iter().map(|(key, row)| (key.as_str(), row));
    listed_in(&*archive.disk, &archive.directory, rows, archive.index.files(), id)
}

fn listed_in<'r>(
    disk: &dyn Disk,
    directory: &Path,
    rows: impl Iterator<Item = (&'r str, &'r Row)>,
    files: &Files,
    id: &str,
) -> Result<Vec<Gone>, Error> {
    let mut gone = Vec::new();
    for (key, row) in rows {
        if id_of(key) != Some((id, false)) {
            continue;
        }
        let record = fetch_record::record(disk, directory, &row.place.location(files), Some(row.sum))?;
        gone.extend(Part::read(&record.block).into_iter().flat_map(|part| part.gone));
    }
    gone.sort();
    Ok(gone)
}

/// One record of a tombstone.
struct Part {
    target: Target,
    parts: usize,
    gone: Vec<Gone>,
}

impl Part {
    fn read(block: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(block).ok()?.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let (mut what, mut scope, mut parts, mut gone) = ("", "", 0, Vec::new());
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "what" => what = rest,
                "scope" => scope = rest,
                "part" => parts = rest.split_once(" of ")?.1.parse().ok()?,
                "group" => {
                    let mut words = rest.split(' ');
                    let file = Arc::from(words.next()?);
                    gone.push(Gone {
                        file,
                        offset: words.next()?.parse().ok()?,
                        length: words.next()?.parse().ok()?,
                    });
                }
                _ => {}
            }
        }
        Some(Self { target: Target::named(what, scope)?, parts, gone })
    }
}

const REWRITE: &str = ".rewrite";

/// Writes a file anew with a record of the same length in place of each group, and its sums with it.
fn rewrite_file(
    disk: &dyn Disk,
    directory: &Path,
    file: &str,
    (gone, at): (&[&Gone], Timestamp),
    index: &mut Index,
) -> Result<(), Error> {
    let path = directory.join(file);
    let replaced = write_without(disk, &path, file, gone, at)?;
    let sums_path = sums::path_of(directory, file);
    let mut files = Files::default();
    let mut batches = Vec::new();
    let found = sums::read(disk, &sums_path, file, &mut files, |batch, _| batches.push(batch))?;
    let rename = |from: &Path, to: &Path| {
        disk.rename(from, to).map_err(|source| Error::writing(disk, "rename", from, source))
    };
    if !found.is_some_and(|found| found.is_finished) {
        // There are none to go by.
        rename(&with_rewrite(&path), &path)?;
        sync_directory_of(disk, &path)?;
        return recover::make_sums(disk, &path, file, index);
    }
    let new_sums = with_rewrite(&sums_path);
    let mut writer = SumsWriter::create(disk, &new_sums, file)?;
    for batch in batches {
        writer.append(disk, &without(batch, &replaced, file, &files), &files)?;
    }
    writer.finish(disk)?;
    rename(&with_rewrite(&path), &path)?;
    rename(&new_sums, &sums_path)?;
    sync_directory_of(disk, &path)
}

/// Whether a file is one that was to take the place of another.
pub(crate) fn is_unfinished(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(REWRITE))
}

/// The name of what is to take the place of a file.
pub(crate) fn with_rewrite(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(REWRITE);
    PathBuf::from(name)
}

/// A part of a file that was replaced: where it begins, how long it is, and the sum it has now.
type Replaced = BTreeMap<u64, (u64, u32)>;

fn write_without(
    disk: &dyn Disk,
    path: &Path,
    file: &str,
    gone: &[&Gone],
    at: Timestamp,
) -> Result<Replaced, Error> {
    let new_path = with_rewrite(path);
    match disk.remove(&new_path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &new_path, error));
        }
        _ => {}
    }
    let old = disk.open(path, Open::Read).map_err(|source| Error::io("open", path, source))?;
    let length = old.length().map_err(|source| Error::io("read", path, source))?;
    let failed = |source| Error::writing(disk, "write to", &new_path, source);
    let new = disk.open(&new_path, Open::CreateNew).map_err(failed)?;
    let compression = compression_of(file);
    let (mut replaced, mut position) = (Replaced::new(), 0);
    for gone in gone {
        copy(&*old, &*new, position, gone.offset).map_err(failed)?;
        let too_short = || Error::Damaged {
            path: path.to_owned(),
            offset: gone.offset,
            what: "it is too short to be replaced by a record that says it was removed",
        };
        let bytes = usize::try_from(gone.length)
            .ok()
            .and_then(|bytes| warc::removed(file, gone.offset, at, bytes, compression))
            .ok_or_else(too_short)?;
        new.write_at(gone.offset, &bytes).map_err(failed)?;
        replaced.insert(gone.offset, (gone.length, crc32c::crc32c(&bytes)));
        position = gone.offset + gone.length;
    }
    copy(&*old, &*new, position, length).map_err(failed)?;
    new.sync().map_err(|source| Error::io("sync", &new_path, source))?;
    Ok(replaced)
}

fn compression_of(file: &str) -> Compression {
    if file.ends_with(".zst") {
        Compression::Zstd(ZstdLevel::DEFAULT)
    } else {
        Compression::Gzip(Level::DEFAULT)
    }
}

const COPY_BYTES: usize = 1024 * 1024;

fn copy(old: &dyn DiskFile, new: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    let (mut offset, mut buffer) = (from, vec![0; COPY_BYTES]);
    while offset < to {
        let step = usize::try_from(to - offset).unwrap_or(usize::MAX).min(COPY_BYTES);
        let (piece, _) = buffer.split_at_mut(step);
        old.read_at(offset, piece)?;
        new.write_at(offset, piece)?;
        offset += step as u64;
    }
    Ok(())
}

/// What a batch holds when groups of it were replaced.
fn without(batch: Batch, replaced: &Replaced, file: &str, files: &Files) -> Batch {
    let within = |offset: u64| {
        let before = replaced.range(..=offset).next_back();
        before.filter(|(start, (length, _))| offset < *start + length).map(|(start, whole)| (*start, *whole))
    };
    let (mut records, mut offset) = (Vec::new(), batch.from);
    for record in &batch.records {
        match within(offset) {
            None => records.push(*record),
            Some((start, (length, sum))) if start == offset => records.push(Sum { length, sum }),
            Some(_) => {}
        }
        offset += record.length;
    }
    let is_here = |row: &Row| &**files.name(row.place.file) == file;
    let captures = batch.captures.into_iter();
    let captures = captures.filter(|(_, row)| !is_here(row) || within(row.place.offset).is_none()).collect();
    Batch { from: batch.from, records, captures }
}
