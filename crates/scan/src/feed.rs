//! Reads the documents of a job, compressed as they are, and offers them to the dispatcher (P1).

use crate::error::Error;
use crate::journal::{DocumentResult, ScanRow, SettledSet};
use crate::pointers::{Pointer, PointerReader, Pointers};
use crate::settings::SupplyMode;
use crate::wire::{AnalysisFailure, FailureCause, Parcel};
use archive::derived::Facts;
use archive::{ContentSource, Reader, Sweep, Version};
use base::Timestamp;
use serde_json::Value;

/// Documents one after the other, in the order of the list.
#[derive(Debug)]
pub(crate) struct Feed<'a> {
    reader: &'a Reader,
    done: &'a SettledSet,
    lanes: Vec<ListPart>,
    /// Whether programs get the index fields.
    has_fields: bool,
    document_bytes_max: u64,
}

/// A stretch of the list, read in one sweep.
#[derive(Debug)]
struct ListPart {
    reading: PointerReader,
    sweep: Sweep,
    /// For bodies that stand elsewhere, so that the sweep stays where it is.
    others: Sweep,
    from: u64,
    to: u64,
    is_over: bool,
}

/// What the list had next.
#[derive(Debug)]
pub(crate) enum Fed {
    /// A document, on its way.
    Parcel(Parcel),
    /// One that cannot be read.
    Unfit(ScanRow),
}

impl<'a> Feed<'a> {
    /// One lane, or as many as there are workers where each has its part.
    pub(crate) fn new(
        reader: &'a Reader,
        pointers: &Pointers,
        done: &'a SettledSet,
        (supply, jobs): (SupplyMode, usize),
        (has_fields, document_bytes_max): (bool, u64),
    ) -> Result<Self, Error> {
        let stretches =
            if supply == SupplyMode::Static { split(pointers, jobs)? } else { vec![(0, u64::MAX)] };
        let lane = |(from, to)| {
            let (sweep, others) = (Sweep::new(reader), Sweep::new(reader));
            Ok(ListPart { reading: pointers.read()?, sweep, others, from, to, is_over: false })
        };
        let lanes = stretches.into_iter().map(lane).collect::<Result<_, Error>>()?;
        Ok(Self { reader, done, lanes, has_fields, document_bytes_max })
    }
    /// Whether a lane has come to its end.
    pub(crate) fn is_over(&self, lane: usize) -> bool {
        self.lanes.get(lane).is_none_or(|lane| lane.is_over)
    }

    /// The next document of a lane.
    pub(crate) fn next(&mut self, lane: usize) -> Result<Option<Fed>, Error> {
        let (done, has_fields, bytes_max) = (self.done, self.has_fields, self.document_bytes_max);
        let Some(lane) = self.lanes.get_mut(lane).filter(|lane| !lane.is_over) else { return Ok(None) };
        let (from, to) = (lane.from, lane.to);
        let pointer = lane.reading.next_but(|number| number < from || done.holds(number))?;
        let Some(pointer) = pointer.filter(|pointer| pointer.number < to) else {
            lane.is_over = true;
            return Ok(None);
        };
        let sweep = if pointer.own.is_some() { &mut lane.sweep } else { &mut lane.others };
        match parcel(self.reader, sweep, &pointer, (bytes_max, has_fields)) {
            Ok(Ok(parcel)) => Ok(Some(Fed::Parcel(parcel))),
            Ok(Err(what)) => Ok(Some(Fed::Unfit(unfit(pointer, what)))),
            Err(archive::Error::Damaged { path, offset, what }) => {
                let what = format!("`{}` is damaged at byte {offset}: {what}", path.display());
                Ok(Some(Fed::Unfit(unfit(pointer, what))))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Parts of the list with as many stored bytes each as one can make without cutting a document.
fn split(pointers: &Pointers, jobs: usize) -> Result<Vec<(u64, u64)>, Error> {
    let mut lengths = Vec::new();
    for pointer in pointers.read()? {
        lengths.push(pointer?.own.map_or(0, |own| own.location.length));
    }
    let (total, jobs) = (lengths.iter().sum::<u64>(), jobs.max(1) as u64);
    let (mut parts, mut from, mut seen) = (Vec::new(), 0, 0);
    for (number, length) in (0..).zip(lengths) {
        seen += length;
        let part = parts.len() as u64 + 1;
        if part < jobs && seen * jobs >= total * part {
            parts.push((from, number + 1));
            from = number + 1;
        }
    }
    parts.push((from, u64::MAX));
    parts.resize(usize::try_from(jobs).unwrap_or(1), (u64::MAX, u64::MAX));
    Ok(parts)
}

fn unfit(pointer: Pointer, what: String) -> ScanRow {
    let failure = AnalysisFailure { cause: FailureCause::Unfit, what, words: String::new() };
    ScanRow {
        number: pointer.number,
        url: pointer.url,
        at: pointer.at,
        result: DocumentResult::Quarantined(failure),
    }
}

/// The document of a pointer, or why it cannot be handed out.
fn parcel(
    reader: &Reader,
    sweep: &mut Sweep,
    pointer: &Pointer,
    (bytes_max, has_fields): (u64, bool),
) -> Result<Result<Parcel, String>, archive::Error> {
    let known = if has_fields || pointer.own.is_none() { pointer.version() } else { None };
    let (source, is_answer) = match (&pointer.own, &known) {
        (Some(own), _) => {
            let (location, sum) = (own.location.clone(), Some(own.sum));
            (Some(ContentSource { location, sum, head: None, payload: None }), own.is_answer)
        }
        (None, Some((version, _))) => (reader.source(&version.payload)?, true),
        (None, None) => return Ok(Err("the list of documents does not say what it is".to_owned())),
    };
    let Some(source) = source else {
        return Ok(Err("its bytes are not in the archive".to_owned()));
    };
    if source.location.length > bytes_max {
        return Ok(Err(format!(
            "it is longer than `{bytes_max}` bytes, the most that is handed to an analysis"
        )));
    }
    let file = sweep.file(&source.location)?;
    Ok(Ok(Parcel {
        number: pointer.number,
        at: pointer.at,
        location: source.location,
        file,
        sum: source.sum,
        is_answer,
        url: pointer.url.clone(),
        fields: known
            .filter(|_| has_fields)
            .map(|(version, facts)| fields(&version, &facts))
            .unwrap_or_default(),
        head: source.head,
        payload: source.payload,
    }))
}

/// What the index knows of a document, for programs.
fn fields(version: &Version, facts: &Facts) -> String {
    let (entry, validity) = (&version.payload, version.validity);
    let mut fields = Fields(String::with_capacity(512));
    fields.text("url", &entry.url);
    fields.text("at", &entry.at.to_rfc3339());
    fields.text("valid_from", &validity.from().to_rfc3339());
    if validity.to() != Timestamp::MAX {
        fields.text("valid_to", &validity.to().to_rfc3339());
    }
    entry.status.iter().for_each(|status| fields.number("status", u64::from(*status)));
    if !entry.media_type.is_empty() {
        fields.text("type", &entry.media_type);
    }
    fields.text("flag", entry.flag.as_str());
    entry.payload.iter().for_each(|digest| fields.text("digest", &digest.to_string()));
    if entry.truncated {
        fields.put("truncated", "true");
    }
    let words = [("language", &facts.language), ("type_found", &facts.media_type)];
    for (name, word) in words {
        word.iter().for_each(|word| fields.text(name, word));
    }
    facts.title.iter().for_each(|title| fields.text("title", title));
    facts.charset.iter().for_each(|(charset, _)| fields.text("charset", charset));
    fields.text("file", &entry.location.file);
    fields.number("offset", entry.location.offset);
    fields.0
}

/// Members of a JSON object on their way.
struct Fields(String);

impl Fields {
    fn text(&mut self, name: &str, text: &str) {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
        if text.bytes().all(is_plain) {
            self.begin(name);
            self.0.extend(["\"", text, "\""]);
        } else {
            self.put(name, &Value::from(text).to_string());
        }
    }
    fn number(&mut self, name: &str, number: u64) {
        self.put(name, &number.to_string());
    }
    fn put(&mut self, name: &str, value: &str) {
        self.begin(name);
        self.0.push_str(value);
    }
    fn begin(&mut self, name: &str) {
        let comma = if self.0.is_empty() { "\"" } else { ",\"" };
        self.0.extend([comma, name, "\":"]);
    }
}
