//! `utsushi history`: the versions of a page, and every visit to it.

mod change;

use super::{Context, told};
use crate::exit::Exit;
use crate::when;
use crate::words::count_of;
use anyhow::Context as _;
use archive::{Asked, Entry, Flag, Key, Location, Reader, Stored, Unit};
use base::Period;
use change::Change;
use std::collections::{BTreeMap, HashMap};

const EXAMPLES: &str = "\
Examples:
  utsushi history https://example.org/
  utsushi history https://example.org/ --unit visit
  utsushi --json history https://example.org/ | jq -r 'select(.from) | .from'";

/// List the versions of a page, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL of the page
    #[arg(value_name = "URL")]
    url: String,
    /// What counts as one version: a `content`, extended by unchanged visits, or each answered `visit`
    #[arg(long, value_name = "UNIT", default_value = "content")]
    unit: Unit,
}

/// What is needed to compare texts.
const ADVICE: &str = "run a crawl or `utsushi rebuild derived` to read their text";

/// Prints every visit to the page, with the version that it started.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let (_, reader) = context.node.reader()?;
    let key = node::key_of(&args.url);
    let history = History::read(&reader, &key, args.unit).context("cannot read the history of the page")?;
    if history.entries.is_empty() {
        unknown(&args.url, &key, &reader, context)?;
        return Ok(Exit::Found);
    }
    if !context.output.json() {
        let (visits, versions) = (history.entries.len() as u64, history.validity.len() as u64);
        let counts = format!("{}, {}", count_of(visits, "visit"), count_of(versions, "version"));
        context.output.line(format!("{}: {counts}", history.entries[0].url));
    }
    let changes = change::of(&history.entries, &reader).context("cannot compare the versions of the page")?;
    let mut exit = Exit::Done;
    for (entry, change) in history.entries.iter().zip(&changes) {
        if !history.show(entry, *change, &reader, context) {
            exit = Exit::Found;
        }
    }
    let unread = changes.iter().filter(|change| **change == Some(Change::Unread)).count();
    if unread > 0 {
        context
            .output
            .note(format!("the changes of {} are unknown; {ADVICE}", count_of(unread as u64, "visit")));
    }
    Ok(exit)
}

/// Reports that the page is not archived, and lists similar pages.
pub(crate) fn unknown(url: &str, key: &Key, reader: &Reader, context: &Context) -> anyhow::Result<()> {
    let near = near(key, reader).context("cannot look for similar pages")?;
    context.output.complaint(format!("`{url}` is not archived"));
    if !near.is_empty() {
        context.output.note(format!("similar archived pages: {}", near.join(" ")));
    } else if key.as_str().starts_with('!') {
        context.output.note("it is not the URL of a page; write one such as `https://example.org/`");
    } else {
        context.output.note("no page of its server is archived");
    }
    Ok(())
}

/// The history of one page.
#[derive(Debug)]
pub(crate) struct History {
    /// Its captures, oldest first.
    pub(crate) entries: Vec<Entry>,
    /// The validity of the versions by the captures that started them.
    pub(crate) validity: HashMap<Location, Period>,
}

impl History {
    /// Reads it from the index.
    pub(crate) fn read(reader: &Reader, key: &Key, unit: Unit) -> Result<Self, archive::Error> {
        let mut entries = reader.newest_first(key)?.collect::<Result<Vec<Entry>, _>>()?;
        entries.reverse();
        // By visits, an error ends the version before it; by contents, errors are not versions.
        let flags = if unit == Unit::Visit { Flag::ALL.to_vec() } else { Vec::new() };
        let asked = Asked { during: Some(when::always()), unit: Some(unit), flags, ..Asked::default() };
        let choice = asked.check().expect("all of time is a sound question");
        let versions = reader.versions_of(key, &choice);
        let validity =
            versions.map(|version| version.map(|version| (version.payload.location, version.validity)));
        Ok(Self { entries, validity: validity.collect::<Result<_, _>>()? })
    }

    /// Prints a visit; returns false if its record cannot be read.
    fn show(&self, entry: &Entry, change: Option<Change>, reader: &Reader, context: &Context) -> bool {
        let validity = self.validity.get(&entry.location).copied();
        let why = match entry.kind {
            Stored::Metadata => reader.record(entry).map(|record| archive::why(&record)),
            _ => Ok(None),
        };
        let is_readable = why.is_ok();
        let why = why.unwrap_or_else(|error| {
            context.output.complaint(&error);
            Some(("damaged".to_owned(), None))
        });
        if context.output.json() {
            let mut object = node::views::capture(entry);
            object.extend(told::validity(validity));
            object.insert("target".to_owned(), target(entry, reader).into());
            object.insert("changed".to_owned(), change.map(Change::as_str).into());
            object.insert("why".to_owned(), why.as_ref().map(|(outcome, _)| outcome.as_str()).into());
            object.insert("cause".to_owned(), why.and_then(|(_, cause)| cause).into());
            context.output.object(&object);
        } else {
            let changed = change.map_or("", Change::in_words);
            let until = validity.map(when::until);
            let target = target(entry, reader).map(|target| format!("to {target}"));
            let truncated = entry.truncated.then(|| "truncated".to_owned());
            let remarks = [target, until.or_else(|| why.map(in_words)), truncated];
            let remark = remarks.into_iter().flatten().collect::<Vec<_>>().join("; ");
            context.output.line(format!("{}  {changed:<12}  {remark}", told::columns(entry)).trim_end());
        }
        is_readable
    }
}

/// The target of a redirect.
fn target(entry: &Entry, reader: &Reader) -> Option<String> {
    entry.status.filter(|status| (300..400).contains(status) && *status != 304)?;
    match reader.learned(entry).ok()??.ended {
        archive::Ended::Moved { target } => target.map(|target| target.as_str().to_owned()),
        _ => None,
    }
}

fn in_words((outcome, cause): (String, Option<String>)) -> String {
    cause.map_or_else(|| outcome.clone(), |cause| format!("{outcome}: {cause}"))
}

/// The maximum number of captures searched for similar pages, and of pages listed.
const LOOKED_AT_MAX: usize = 10_000;
const NEAR_SHOWN: usize = 3;

/// Archived pages in the same directory as an unknown one, or else in the nearest one above it, most similar first.
fn near(key: &Key, reader: &Reader) -> Result<Vec<String>, archive::Error> {
    let text = key.as_str();
    let Some(root) = text.find(")/").map(|at| at + 2) else { return Ok(Vec::new()) };
    let mut end = text.len();
    while let Some(slash) = text.get(root - 1..end).and_then(|path| path.rfind('/')) {
        end = root - 1 + slash;
        let mut found: BTreeMap<Key, String> = BTreeMap::new();
        for entry in reader.with_prefix(&text[..=end])?.take(LOOKED_AT_MAX) {
            let entry = entry?;
            found.entry(entry.key).or_insert(entry.url);
        }
        if !found.is_empty() {
            let mut found: Vec<(Key, String)> = found.into_iter().collect();
            found.sort_by_cached_key(|(other, _)| strsim::levenshtein(other.as_str(), text));
            return Ok(found.into_iter().take(NEAR_SHOWN).map(|(_, url)| url).collect());
        }
    }
    Ok(Vec::new())
}
