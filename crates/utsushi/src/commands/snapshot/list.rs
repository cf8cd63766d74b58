//! A snapshot as a list, by key: a table for people, one object a line for programs.

use super::Sink;
use super::forms::Written;
use crate::commands::told;
use crate::output::json_line;
use crate::when;
use archive::{Order, Sorter, Version};
use base::printable;
use std::io::{self, Write};

/// So much of the list is held in memory; the rest waits on disk.
pub(super) const SORT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Sorts the versions and writes a line of each.
pub(super) fn write(
    versions: impl Iterator<Item = anyhow::Result<Version>>,
    sink: &Sink<'_>,
    out: &mut impl Write,
) -> anyhow::Result<Written> {
    let mut sorter = Sorter::new(Order::Key, &sink.spool, SORT_BYTES_MAX);
    for version in versions {
        sorter.push(&version?)?;
    }
    let (count, json) = (sorter.count(), sink.context.output.json());
    for version in sorter.finish()? {
        let version = version?;
        let line = if json { json_line(&told::version(&version)) } else { Ok(text_line(&version)) };
        line.and_then(|line| out.write_all(line.as_bytes())).map_err(cannot_write)?;
    }
    Ok(Written { versions: count, originals: 0 })
}

fn cannot_write(error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("cannot write the list")
}

fn text_line(version: &Version) -> String {
    let entry = &version.payload;
    let (from, until, status) =
        (version.validity.from().to_rfc3339(), when::until(version.validity), told::status(entry));
    let (flag, media_type) = (entry.flag.as_str(), &entry.media_type);
    let line = format!("{from:<27}  {until:<33}  {status}  {flag:<9}  {media_type:<20}  {}", entry.url);
    format!("{}\n", printable(&line))
}
