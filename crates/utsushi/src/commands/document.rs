//! `utsushi document`: what a page says, at any moment, in the standard form (F2).

use super::Context;
use crate::exit::Exit;
use crate::when::{self, Said};
use crate::words::count_of;
use anyhow::Context as _;
use base::clock::{Clock as _, RealClock};
use base::{Timestamp, printable};
use clap::ValueEnum;
use document::standard::{Library, StandardDocument, to_json, to_text, to_xml};
use document::{DocumentId, Moment, ValidDocument};
use node::documents::captures_since;

const EXAMPLES: &str = "\
Examples:
  utsushi document https://example.org/
  utsushi document https://example.org/ --at 2026-03-31 --format xml
  utsushi --json document https://example.org/ | jq -r '.sentences[].text'

Exit codes: 0 there is a document, 1 there is none.";

/// Show what a page says, sentence by sentence, with its links
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL of the page, or the id of a document
    #[arg(value_name = "URL|ID")]
    page: String,
    /// Select the document and the links of this moment; default: the latest
    #[arg(long, value_name = "T", value_parser = Said::moment)]
    at: Option<Said<Timestamp>>,
    /// Choose the output format; `--json` means `json`
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// The formats of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for people
    Text,
    /// The standard form
    Xml,
    /// One object
    Json,
}

/// Prints the document.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let library = context.node.library()?;
    let at = args.at.as_ref().map(|at| at.read(context)).transpose()?.unwrap_or_else(when::latest);
    let moment = Moment::new(at).context("cannot use `--at`")?;
    let valid = match args.page.parse::<DocumentId>() {
        Ok(id) => library.last(id)?,
        Err(_) => moment.document(library.archive(), &node::key_of(&args.page))?,
    };
    // The links of a document that was asked for by its id are those of its own time.
    let moment = match (&valid, args.at.is_some()) {
        (Some(valid), false) => {
            Moment::new(last_moment(valid)).context("cannot use the time of the document")?
        }
        _ => moment,
    };
    let formed = RealClock::start().now();
    let form = valid.map(|valid| library.form(&valid, &moment, formed)).transpose()?.flatten();
    let Some(form) = form else {
        context.output.complaint(format!("`{}` has no document at that moment", printable(&args.page)));
        tell_lag(&library, context)?;
        return Ok(Exit::Found);
    };
    show(&form, args.format, context);
    tell_lag(&library, context)?;
    Ok(Exit::Done)
}

/// The last moment of its validity.
fn last_moment(valid: &ValidDocument) -> Timestamp {
    let end = valid.validity.to().minus(base::Interval::from_micros(1));
    end.max(valid.validity.from()).min(when::latest())
}

fn show(form: &StandardDocument, format: Format, context: &Context) {
    match format {
        _ if context.output.json() => context.output.object(&to_json(form)),
        Format::Json => context.output.object(&to_json(form)),
        // Every character that could control a terminal is written as a reference.
        Format::Xml => context.output.own_text(&to_xml(form)),
        Format::Text => to_text(form).lines().for_each(|line| context.output.line(line)),
    }
}

/// Reports captures that are not read yet.
pub(super) fn tell_lag(library: &Library, context: &Context) -> anyhow::Result<()> {
    let lag = captures_since(library.archive(), library.documents().checkpoint())?;
    if lag > 0 {
        let captures = count_of(lag, "capture");
        context.output.note(format!(
            "the documents of {captures} are not known yet; a crawl reads them, or `utsushi rebuild documents`"
        ));
    }
    Ok(())
}
