//! `utsushi snapshot`: the web as it was at a moment or during a period (A3, A4).

mod choices;
mod forms;
mod list;

pub(crate) use choices::Choices;

use super::Context;
use super::destination::Destination;
use crate::exit::{Advised, Exit};
use crate::output::Output;
use crate::progress::Progress;
use crate::signals::{self, Stop};
use crate::when;
use crate::words::count_of;
use anyhow::Context as _;
use archive::{Choice, Reader, Version};
use base::clock::{Clock as _, RealClock};
use clap::ValueEnum;
use formats::warc_file::About;
use forms::{Kept, Written};
use node::describe::{DescribedVersion, Describer};
use serde_json::json;
use std::cell::Cell;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  utsushi snapshot --at 2026-03-31
  utsushi snapshot --during 2026-03-01..2026-04-01 --recipe changed-within --site example.org
  utsushi snapshot --at '1d ago' --prefix https://example.org/docs/ --format wacz -o docs.wacz
  utsushi snapshot --at now --language ja,en
  utsushi --json snapshot --during 2026-03-01.. --relation starts,during --type text/html";

/// Write the versions of pages that were valid at a moment or during a period
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    choices: Choices,
    /// Choose the output format
    #[arg(long, value_name = "FORMAT", default_value = "list")]
    format: Format,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The formats of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One line for each version, by page
    List,
    /// An index that replay programs read
    Cdxj,
    /// One WARC file; zstandard if its name ends in `.zst`, else gzip
    Warc,
    /// A package with its index and a list of its pages
    Wacz,
    /// A table
    Parquet,
}

impl Format {
    const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Cdxj => "cdxj",
            Self::Warc => "warc",
            Self::Wacz => "wacz",
            Self::Parquet => "parquet",
        }
    }
    /// Whether it contains data that requires parsing.
    const fn tells(self) -> bool {
        matches!(self, Self::List | Self::Parquet | Self::Wacz)
    }
    /// Whether it may be shown on a terminal: its contents are printable.
    const fn is_text(self) -> bool {
        matches!(self, Self::List | Self::Cdxj)
    }
}

/// Writes the snapshot.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let choice = args.choices.check(context)?;
    let (_, reader) = context.node.reader()?;
    let sink = Sink::new(context, &reader, (args.format, args.output.as_deref()), &args.choices)?;
    sink.write(sink.chosen(&choice)?, &in_words(&choice))
}

/// A description of the selection, stored in the file.
pub(crate) fn in_words(choice: &Choice) -> String {
    let q = choice.period();
    format!("the web from {} {}; a version is a {}", q.from(), when::until(q), choice.unit())
}

/// How often progress is reported.
const TOLD_EVERY: u64 = 1_000;

/// The destination and format of a snapshot.
pub(crate) struct Sink<'a> {
    context: &'a Context,
    reader: &'a Reader,
    stop: Stop,
    format: Format,
    output: Option<&'a Path>,
    spool: PathBuf,
    progress: Progress,
    describer: Describer<'a>,
    /// Whether revisits are written as full responses.
    resolves: bool,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(
        context: &'a Context,
        reader: &'a Reader,
        (format, output): (Format, Option<&'a Path>),
        choices: &'a Choices,
    ) -> anyhow::Result<Self> {
        let describer = Describer::new(reader, choices.languages())?;
        let stop = signals::listen(&context.output).context("cannot listen for signals")?;
        let (spool, progress) =
            (context.node.spool(output), context.output.progress("making the snapshot", None));
        Ok(Self { context, reader, stop, format, output, spool, progress, describer, resolves: false })
    }

    /// The same with revisits written as full responses.
    pub(crate) fn resolving(self) -> anyhow::Result<Self> {
        if matches!(self.format, Format::Warc | Format::Wacz) {
            return Ok(Self { resolves: true, ..self });
        }
        let why = anyhow::anyhow!("the format `{}` has no records", self.format.as_str());
        let advice = "leave `--resolve-revisits` out, or write `--format warc` or `--format wacz`";
        Err(Advised::new("cannot resolve revisits", advice, why).into())
    }

    /// The selected versions, by key from the last to the first.
    pub(crate) fn chosen(
        &self,
        choice: &Choice,
    ) -> anyhow::Result<impl Iterator<Item = anyhow::Result<Version>>> {
        let versions = self.reader.snapshot(choice).context("cannot read the index")?;
        Ok(self.watched(versions))
    }

    /// The same versions, with progress, until a stop is requested.
    pub(crate) fn watched(
        &self,
        versions: impl Iterator<Item = Result<Version, archive::Error>>,
    ) -> impl Iterator<Item = anyhow::Result<Version>> {
        let mut count = 0;
        versions.map(move |version| {
            self.stop.check().context("cannot make the snapshot")?;
            count += 1;
            if count % TOLD_EVERY == 0 {
                self.progress.set(count, "versions chosen");
            }
            version.context("cannot read the index")
        })
    }

    /// Writes versions in any order; writes nothing if there are none.
    pub(crate) fn write(
        &self,
        versions: impl Iterator<Item = anyhow::Result<Version>>,
        description: &str,
    ) -> anyhow::Result<Exit> {
        let mut versions = self.describer.describe(versions, self.format.tells(), &self.spool)?.peekable();
        if versions.peek().is_none() {
            self.context.output.note("no version matches; nothing is written");
            self.tell_left_out();
            return Ok(Exit::Found);
        }
        let mut destination = if self.format.is_text() {
            Destination::open_text(&self.context.output, self.output)?
        } else {
            Destination::open(&self.context.output, self.output)?
        };
        let written = self.write_to(&mut destination, versions, description)?;
        destination.finish()?;
        self.tell(&written);
        Ok(if self.tell_left_out() { Exit::Found } else { Exit::Done })
    }

    /// Reports what was left out, if anything.
    fn tell_left_out(&self) -> bool {
        let left_out = self.describer.left_out();
        tell_left_out(&self.context.output, left_out);
        left_out > 0
    }

    fn write_to(
        &self,
        out: &mut Destination<'_>,
        versions: impl Iterator<Item = anyhow::Result<DescribedVersion>>,
        description: &str,
    ) -> anyhow::Result<Written> {
        let about = About {
            created: RealClock::start().now(),
            software: concat!("utsushi/", env!("CARGO_PKG_VERSION")).to_owned(),
            description: description.to_owned(),
        };
        let kept =
            Kept { reader: self.reader, stop: &self.stop, progress: &self.progress, copied: Cell::new(0) };
        match self.format {
            Format::List => list::write(versions, self, out),
            Format::Cdxj => forms::write_cdxj(plain(versions), &kept, self, out),
            Format::Warc => forms::write_warc(plain(versions), &kept, self, &about, out),
            Format::Wacz => forms::write_wacz(versions, &kept, self, &about, out),
            Format::Parquet => forms::write_parquet(versions, &kept, self, &about, out),
        }
    }

    /// Reports what was written, if the result is not on standard output.
    fn tell(&self, written: &Written) {
        let Written { versions, originals } = *written;
        let beside = match originals {
            0 => String::new(),
            _ => format!(", and {} that they refer to", count_of(originals, "record")),
        };
        let text = format!("{}{beside}", count_of(versions, "version"));
        match self.output {
            None => self.context.output.note(text),
            Some(path) => {
                let output = path.to_string_lossy();
                let object = json!({ "output": output, "format": self.format.as_str(), "versions": versions, "originals": originals });
                self.context.output.result(&object, || format!("{output}: {text}"));
            }
        }
    }
}

/// Reports the number of versions that were left out, if any.
pub(super) fn tell_left_out(output: &Output, count: u64) {
    if count > 0 {
        let versions = count_of(count, "version");
        output.note(format!(
            "{versions} left out because the language is not known yet; run a crawl or `utsushi rebuild derived` to detect it"
        ));
    }
}

/// Versions alone, for formats without other fields.
fn plain(
    versions: impl Iterator<Item = anyhow::Result<DescribedVersion>>,
) -> impl Iterator<Item = anyhow::Result<Version>> {
    versions.map(|described| described.map(|described| described.version))
}
