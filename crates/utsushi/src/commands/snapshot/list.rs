//! A snapshot as a list, by key: a table for people, one object per line for programs.

use super::Sink;
use super::forms::Written;
use crate::commands::told;
use crate::output::json_line;
use crate::when;
use archive::derived::Facts;
use archive::{SortOrder, Sorter, Version};
use base::printable;
use node::describe::{DescribedVersion, SORT_BYTES_MAX};
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Sorts the versions and writes one line for each.
pub(super) fn write(
    versions: impl Iterator<Item = anyhow::Result<DescribedVersion>>,
    sink: &Sink<'_>,
    out: &mut impl Write,
) -> anyhow::Result<Written> {
    let sorter = sorted(versions, sink)?;
    let (count, json) = (sorter.count(), sink.context.output.json());
    for version in sorter.finish_with()? {
        let (version, facts) = version?;
        let facts = Facts::from_bytes(&facts).unwrap_or_default();
        let line = if json { json_line(&object(&version, &facts)) } else { Ok(text_line(&version, &facts)) };
        line.and_then(|line| out.write_all(line.as_bytes())).map_err(cannot_write)?;
    }
    Ok(Written { versions: count, originals: 0 })
}

/// The versions by key, with their derived data.
pub(super) fn sorted(
    versions: impl Iterator<Item = anyhow::Result<DescribedVersion>>,
    sink: &Sink<'_>,
) -> anyhow::Result<Sorter> {
    let mut sorter = Sorter::new(SortOrder::Key, &sink.spool, SORT_BYTES_MAX);
    for described in versions {
        let DescribedVersion { version, facts } = described?;
        sorter.push_with(&version, &facts.to_bytes())?;
    }
    Ok(sorter)
}

fn object(version: &Version, facts: &Facts) -> Map<String, Value> {
    let mut object = told::version(version);
    object.insert("language".to_owned(), facts.language.as_deref().into());
    object.insert("title".to_owned(), facts.title.as_deref().into());
    object
}

fn cannot_write(error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("cannot write the list")
}

fn text_line(version: &Version, facts: &Facts) -> String {
    let entry = &version.payload;
    let (from, until, status) =
        (version.validity.from().to_rfc3339(), when::until(version.validity), told::status(entry));
    let (flag, media_type) = (entry.flag.as_str(), &entry.media_type);
    let mut line = format!("{from:<27}  {until:<33}  {status}  {flag:<9}  {media_type:<20}  {}", entry.url);
    for known in [facts.language.as_deref(), facts.title.as_deref()].into_iter().flatten() {
        line.push_str("  ");
        line.push_str(known);
    }
    format!("{}\n", printable(&line))
}
