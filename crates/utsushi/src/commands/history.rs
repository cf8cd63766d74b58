//! `utsushi history`: the versions of a page, and every visit that was made to it.

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
    /// The page
    #[arg(value_name = "URL")]
    url: String,
    /// What counts as one version: a `content`, which unchanged visits prolong, or each answered `visit`
    #[arg(long, value_name = "UNIT", default_value = "content")]
    unit: Unit,
}

/// What tells texts apart.
const ADVICE: &str = "a crawl, or `utsushi rebuild derived`, reads their text";

/// Prints every visit to the page, with the version that it began.
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
            .note(format!("of {} it is not known what changed; {ADVICE}", count_of(unread as u64, "visit")));
    }
    Ok(exit)
}

/// Says that nothing is known of the page, and what is known beside it.
pub(crate) fn unknown(url: &str, key: &Key, reader: &Reader, context: &Context) -> anyhow::Result<()> {
    let near = near(key, reader).context("cannot look for pages beside it")?;
    context.output.complaint(format!("nothing is archived of `{url}`"));
    if !near.is_empty() {
        context.output.note(format!("archived beside it: {}", near.join(" ")));
    } else if key.as_str().starts_with('!') {
        context.output.note("it is no URL of a page; write one such as `https://example.org/`");
    } else {
        context.output.note("nor of any page on its server");
    }
    Ok(())
}

/// All that is known of one page.
#[derive(Debug)]
pub(crate) struct History {
    /// Its captures, oldest first.
    pub(crate) entries: Vec<Entry>,
    /// When the versions are valid that captures began.
    pub(crate) validity: HashMap<Location, Period>,
}

impl History {
    /// Reads it from the index.
    pub(crate) fn read(reader: &Reader, key: &Key, unit: Unit) -> Result<Self, archive::Error> {
        let mut entries = reader.newest_first(key)?.collect::<Result<Vec<Entry>, _>>()?;
        entries.reverse();
        // In visits an error ends what was before it; among contents it stands beside them.
        let flags = if unit == Unit::Visit { Flag::ALL.to_vec() } else { Vec::new() };
        let asked = Asked { during: Some(when::always()), unit: Some(unit), flags, ..Asked::default() };
        let choice = asked.check().expect("all of time is a sound question");
        let versions = reader.versions_of(key, &choice);
        let validity =
            versions.map(|version| version.map(|version| (version.payload.location, version.validity)));
        Ok(Self { entries, validity: validity.collect::<Result<_, _>>()? })
    }

    /// Prints a visit; false if the record of it cannot be read.
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

/// Where a visit was sent by a redirect.
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

/// So many captures are looked at for pages beside an unknown one, and so many pages are named.
const LOOKED_AT_MAX: usize = 10_000;
const NEAR_SHOWN: usize = 3;

/// Archived pages in the same directory as an unknown one, or else in the nearest one above it, most alike first.
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
