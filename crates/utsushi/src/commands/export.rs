//! `utsushi export`: exports the whole archive, or a part of it.

use super::Context;
use super::snapshot::{Choices, Format, Sink, in_words};
use crate::exit::Exit;
use anyhow::Context as _;
use archive::{Entry, Key, Stored, Version};
use base::{Interval, Period, Timestamp};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  utsushi --data ~/web export -o everything.warc.gz
  utsushi --data ~/web export --format wacz --site example.org -o example.wacz
  utsushi --data ~/web export --resolve-revisits -o for-replay.warc.gz
  utsushi --data ~/web export --during 2026-03-01..2026-04-01 -o march.warc.zst";

/// The prefix of the archive's own notes, which have no meaning elsewhere.
const OWN_NOTES: &str = "!urn:utsushi:";

/// Export the whole archive, or part of it, as WARC or in another format
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    choices: Choices,
    /// Choose the output format
    #[arg(long, value_name = "FORMAT", default_value = "warc")]
    format: Format,
    /// Write every unchanged visit as a full response with its own date, for tools that do not resolve revisits; `warc` and
    /// `wacz` only
    #[arg(long)]
    resolve_revisits: bool,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes everything or a selection; by default all visits.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let (_, reader) = context.node.reader()?;
    let sink = Sink::new(context, &reader, (args.format, args.output.as_deref()), &args.choices)?;
    let sink = if args.resolve_revisits { sink.resolving()? } else { sink };
    if args.choices.is_empty() {
        let entries = reader.all().context("cannot read the index")?;
        return sink.write(sink.watched(visits(entries)), "the whole archive");
    }
    let choice = args.choices.or_all_visits(context)?;
    sink.write(sink.chosen(&choice)?, &in_words(&choice))
}

/// Every capture, answered or not, valid until the next answer. They come newest first, page by page.
fn visits(
    entries: impl Iterator<Item = Result<Entry, archive::Error>>,
) -> impl Iterator<Item = Result<Version, archive::Error>> {
    let mut newer: Option<(Key, Timestamp)> = None;
    let of_others = entries
        .filter(|entry| entry.as_ref().map_or(true, |entry| !entry.key.as_str().starts_with(OWN_NOTES)));
    of_others.map(move |entry| {
        let entry = entry?;
        let end = newer.as_ref().filter(|(key, _)| *key == entry.key).map_or(Timestamp::MAX, |(_, at)| *at);
        if matches!(entry.kind, Stored::Response | Stored::Revisit | Stored::Resource) && !entry.moves_within
        {
            newer = Some((entry.key.clone(), entry.at));
        }
        // Of two at the same time, the older one has no validity; it is passed on anyway.
        let instant = || Period::new(entry.at, entry.at.plus(Interval::from_micros(1)));
        let validity = Period::new(entry.at, end)
            .or_else(instant)
            .or_else(|| Period::new(Timestamp::MIN, Timestamp::MAX));
        let validity = validity.expect("all of time is a period");
        Ok(Version { validity, payload: entry, is_error: false, ended_by_gone: false, is_first: None })
    })
}
