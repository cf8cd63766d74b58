//! A snapshot in standard formats: CDXJ, WARC, WACZ, Parquet.

use super::{Sink, list};
use crate::commands::destination::Destination;
use crate::progress::Progress;
use crate::signals::Stop;
use anyhow::Context as _;
use archive::derived::Facts;
use archive::{Reader, Stored, Version};
use formats::warc_file::About;
use formats::{Coding, Picker, Picks, Place, Row, Source, SourceError};
use node::describe::DescribedVersion;
use std::cell::Cell;
use std::io::{self, Seek as _, Write};
use std::path::Path;
use warc::{Kind, Record};

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Selected versions.
    pub(super) versions: u64,
    /// Records that were not selected but are needed by selected ones.
    pub(super) originals: u64,
}

/// The archive as a source of records, which stops on request.
pub(super) struct Kept<'a> {
    pub(super) reader: &'a Reader,
    pub(super) stop: &'a Stop,
    pub(super) progress: &'a Progress,
    pub(super) copied: Cell<u64>,
}

impl Source for Kept<'_> {
    fn stored(&self, place: &Place) -> Result<Vec<u8>, SourceError> {
        self.stop.check()?;
        self.copied.set(self.copied.get() + 1);
        self.progress.set(self.copied.get(), "captures copied");
        Source::stored(self.reader, place)
    }
    fn record(&self, place: &Place) -> Result<Record, SourceError> {
        self.stop.check()?;
        Source::record(self.reader, place)
    }
    fn answer(&self, place: &Place) -> Result<Vec<u8>, SourceError> {
        self.stop.check()?;
        Source::answer(self.reader, place)
    }
}

/// One line per version, sorted, as replay programs read it.
pub(super) fn write_cdxj(
    versions: impl Iterator<Item = anyhow::Result<Version>>,
    kept: &Kept<'_>,
    sink: &Sink<'_>,
    out: &mut impl Write,
) -> anyhow::Result<Written> {
    let (picks, versions) = pick(versions, kept, sink)?;
    formats::cdxj::write(picks, kept, &sink.spool, out).context("cannot write the CDXJ")?;
    Ok(Written { versions, originals: 0 })
}

/// One WARC file with the captures as they are stored.
pub(super) fn write_warc(
    versions: impl Iterator<Item = anyhow::Result<Version>>,
    kept: &Kept<'_>,
    sink: &Sink<'_>,
    about: &About,
    out: &mut impl Write,
) -> anyhow::Result<Written> {
    let (picks, versions) = pick(versions, kept, sink)?;
    let name = sink.output.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_else(|| "snapshot.warc.gz".to_owned());
    let coding = if name.ends_with(".zst") { Coding::Zstd } else { Coding::Gzip };
    let copied = formats::warc_file::write(picks, kept, &name, coding, about, out);
    Ok(Written { versions, originals: copied.context("cannot write the WARC file")?.originals })
}

/// A package with captures, index and list of pages. An output without random access is copied from an unnamed temporary
/// file.
pub(super) fn write_wacz(
    versions: impl Iterator<Item = anyhow::Result<DescribedVersion>>,
    kept: &Kept<'_>,
    sink: &Sink<'_>,
    about: &About,
    out: &mut Destination<'_>,
) -> anyhow::Result<Written> {
    let (picks, versions) = pick_described(versions, kept, sink)?;
    let copied = match out.seekable() {
        Some(file) => formats::wacz::write(picks, kept, &sink.spool, about, file),
        None => {
            let mut spooled = tempfile::tempfile_in(&sink.spool).context("cannot spool the package")?;
            let copied = formats::wacz::write(picks, kept, &sink.spool, about, &mut spooled);
            let copy = spooled.rewind().and_then(|()| io::copy(&mut spooled, out));
            copied.and_then(|copied| {
                let cannot = |source| formats::Error::Io { action: "write the package", source };
                copy.map(|_| copied).map_err(cannot)
            })
        }
    };
    Ok(Written { versions, originals: copied.context("cannot write the package")?.originals })
}

/// A table, sorted by key.
pub(super) fn write_parquet(
    versions: impl Iterator<Item = anyhow::Result<DescribedVersion>>,
    kept: &Kept<'_>,
    sink: &Sink<'_>,
    about: &About,
    out: &mut (impl Write + Send),
) -> anyhow::Result<Written> {
    let sorter = list::sorted(versions, sink)?;
    let count = sorter.count();
    let mut table = formats::parquet::Table::new(out, &about.software)?;
    for version in sorter.finish_with()? {
        let (version, facts) = version?;
        let facts = Facts::from_bytes(&facts).unwrap_or_default();
        table.push(&row(&version, kept.reader)?.with(&facts))?;
    }
    table.finish()?;
    Ok(Written { versions: count, originals: 0 })
}

/// The records of the versions by their location on disk, and the number of versions.
fn pick(
    versions: impl Iterator<Item = anyhow::Result<Version>>,
    kept: &Kept<'_>,
    sink: &Sink<'_>,
) -> anyhow::Result<(Picks, u64)> {
    pick_described(versions.map(|version| version.map(DescribedVersion::from)), kept, sink)
}

/// The same with the derived data of the versions.
fn pick_described(
    versions: impl Iterator<Item = anyhow::Result<DescribedVersion>>,
    kept: &Kept<'_>,
    sink: &Sink<'_>,
) -> anyhow::Result<(Picks, u64)> {
    let picker = if sink.resolves { Picker::resolving } else { Picker::new };
    let (mut picker, mut count) = (picker(&sink.spool), 0);
    for described in versions {
        let DescribedVersion { version, facts } = described?;
        picker.add(&row(&version, kept.reader)?.with(&facts))?;
        count += 1;
    }
    Ok((picker.finish()?, count))
}

/// A version as a row. A record that is neither a response nor a resource is copied but not listed, like
/// metadata.
fn row(version: &Version, reader: &Reader) -> anyhow::Result<Row> {
    let row = Row::of(version, reader).context("cannot find the original of a revisit")?;
    let is_other = version.payload.kind == Stored::Other;
    Ok(Row { kind: if is_other { Kind::Metadata } else { row.kind }, ..row })
}
