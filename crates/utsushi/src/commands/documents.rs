//! `utsushi documents`: a set of pages in the standard form (F2, F4).

mod selected;

use super::Context;
use super::destination::Destination;
use super::document::tell_lag;
use super::snapshot::Choices;
use crate::exit::{Advised, Exit};
use crate::signals;
use crate::words::count_of;
use anyhow::Context as _;
use archive::Version;
use base::clock::{Clock as _, RealClock};
use base::{Interval, Period};
use clap::ValueEnum;
use document::selection::Thresholds;
use document::standard::{StandardDocument, XML_END, XML_START, to_json, to_xml};
use document::{DocumentId, Moment, ValidDocument};
use formats::documents::{DocumentCells, DocumentTable};
use selected::Selection;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  utsushi documents --at now --format json -o pages.jsonl
  utsushi documents --at 2026-03-31 --site example.org --format xml -o pages.xml
  utsushi documents --during 2026-03-01..2026-04-01 --language ja --format parquet -o march.parquet

With `--at`, links are those of that moment; with a period, those of the last moment in it at which the page had the
document.";

/// Write what pages said at a moment or during a period, with their links
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    choices: Choices,
    /// Leave out copies and near copies, short pages that no other server links to, very long texts, long queries and deep
    /// paths; the number left out by each rule is reported
    #[arg(long)]
    selected: bool,
    /// Choose the output format
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: Format,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The formats of a set of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One object per line
    Json,
    /// One file with all of them
    Xml,
    /// A table
    Parquet,
}

/// How often progress is reported.
const TOLD_EVERY: u64 = 100;

/// Writes the documents.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let choice = args.choices.check(context)?;
    let library = context.node.library()?;
    let stop = signals::listen(&context.output).context("cannot listen for signals")?;
    let spool = context.node.spool(args.output.as_deref());
    let selection = match args.selected {
        true => {
            let _progress = context.output.progress("choosing documents", None);
            Selection::of(&library, &choice, (&Thresholds::default(), &spool), &stop)?
        }
        false => Selection::default(),
    };
    selection.tell(context);
    let mut sink = Sink::begin(args, context)?;
    let progress = context.output.progress("writing documents", None);
    let formed = RealClock::start().now();
    let (mut written, mut passed) = (0, 0);
    for (version, number) in library.archive().snapshot(&choice).context("cannot read the index")?.zip(0..) {
        stop.check().context("cannot write the documents")?;
        let version = version.context("cannot read the index")?;
        if selection.drops(number) {
            continue;
        }
        let Some((valid, moment)) = in_period(version, choice.period())? else { continue };
        match library.form(&valid, &moment, formed)? {
            Some(form) if args.choices.languages().is_empty() || is_in(&form, args.choices.languages()) => {
                sink.push(&form)?;
                written += 1;
            }
            _ => passed += 1,
        }
        if (written + passed) % TOLD_EVERY == 0 {
            progress.set(written, "documents");
        }
    }
    drop(progress);
    tell_lag(&library, context)?;
    if written == 0 {
        context.output.note("no document matches; nothing is written");
        return Ok(Exit::Found);
    }
    sink.finish()?;
    tell(args, written, &selection, context);
    Ok(Exit::Done)
}

/// The document of a version, and the last moment of it in the period; `None` for what is no whole page.
fn in_period(version: Version, period: Period) -> anyhow::Result<Option<(ValidDocument, Moment)>> {
    let Some(id) = DocumentId::of_entry(&version.payload) else { return Ok(None) };
    let end = version.validity.to().min(period.to()).minus(Interval::from_micros(1));
    let moment = Moment::new(end.max(version.validity.from())).context("cannot use the time of a version")?;
    Ok(Some((ValidDocument { id, entry: version.payload, validity: version.validity }, moment)))
}

/// Whether a document is in one of the languages, or in a kind of it.
fn is_in(form: &StandardDocument, languages: &[String]) -> bool {
    let language = form.content.language.as_deref().unwrap_or_default();
    let is_kind = |asked: &String| {
        language.strip_prefix(asked.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    languages.iter().any(is_kind)
}

fn tell(args: &Args, written: u64, selection: &Selection, context: &Context) {
    let text = count_of(written, "document");
    match &args.output {
        None => context.output.note(text),
        Some(path) => {
            let output = path.to_string_lossy();
            context.output.result(
                &json!({ "output": output, "documents": written, "left_out": selection.counts() }),
                || format!("{output}: {text}"),
            );
        }
    }
}

/// Where documents go.
enum Sink<'a> {
    Json(Destination<'a>),
    Xml(Destination<'a>),
    Table(Box<DocumentTable<Destination<'a>>>),
}

impl<'a> Sink<'a> {
    fn begin(args: &Args, context: &'a Context) -> anyhow::Result<Self> {
        if args.format == Format::Parquet && args.output.is_none() {
            let why = anyhow::anyhow!("a table needs a file");
            return Err(Advised::new("cannot write documents", "add `-o FILE`", why).into());
        }
        let output = args.output.as_deref();
        Ok(match args.format {
            Format::Json => Self::Json(Destination::open_text(&context.output, output)?),
            Format::Xml => {
                let mut out = Destination::open_text(&context.output, output)?;
                out.write_all(XML_START.as_bytes()).context("cannot write the documents")?;
                Self::Xml(out)
            }
            Format::Parquet => {
                let out = Destination::open(&context.output, output)?;
                let software = concat!("utsushi/", env!("CARGO_PKG_VERSION"));
                let table = DocumentTable::new(out, software).context("cannot begin the table")?;
                Self::Table(Box::new(table))
            }
        })
    }

    fn push(&mut self, form: &StandardDocument) -> anyhow::Result<()> {
        match self {
            Self::Json(out) => {
                let line = node::json_line(&to_json(form)).context("cannot write a document")?;
                out.write_all(line.as_bytes()).context("cannot write the documents")
            }
            Self::Xml(out) => out.write_all(to_xml(form).as_bytes()).context("cannot write the documents"),
            Self::Table(table) => push_row(table, form),
        }
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Json(out) => out.finish(),
            Self::Xml(mut out) => {
                out.write_all(XML_END.as_bytes()).context("cannot write the documents")?;
                out.finish()
            }
            Self::Table(table) => table.finish().context("cannot finish the table")?.finish(),
        }
    }
}

fn push_row(table: &mut DocumentTable<Destination<'_>>, form: &StandardDocument) -> anyhow::Result<()> {
    let json = to_json(form);
    let nested = |name: &str| json.get(name).map(Value::to_string).unwrap_or_default();
    let content = &form.content;
    let cells = DocumentCells {
        id: &form.id.to_string(),
        url: &form.url,
        time: form.validity.from(),
        until: form.until(),
        encoding: &content.charset,
        language: content.language.as_deref(),
        title: content.title.as_ref().map(|title| title.text.as_str()),
        text: &content.text,
        sentences: &nested("sentences"),
        out_links: &nested("out_links"),
        in_links: &nested("in_links"),
    };
    table.push(&cells).context("cannot write the table")
}
