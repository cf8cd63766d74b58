//! `utsushi get`: one version of a page, as bytes.

use super::destination::Destination;
use super::{Context, history, told};
use crate::exit::{Advised, Exit};
use crate::when::{self, Said};
use anyhow::Context as _;
use archive::{Asked, Choice, Document, Key, Reader, Version};
use base::Timestamp;
use coding::{Cap, Decoded};
use std::borrow::Cow;
use std::io::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  utsushi get https://example.org/ > page.html
  utsushi get https://example.org/ --at 2026-03-31 --head
  utsushi get https://example.org/logo.png --at '3d ago' -o logo.png";

/// Print one version of a page
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL of the page
    #[arg(value_name = "URL")]
    url: String,
    /// Select the version valid at this moment; default: the latest version
    #[arg(long, value_name = "T", value_parser = Said::moment)]
    at: Option<Said<Timestamp>>,
    /// Print the HTTP message as archived, head and body, without decoding
    #[arg(long, conflicts_with = "head")]
    raw: bool,
    /// Print only the head of the HTTP message
    #[arg(long)]
    head: bool,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Prints the bytes.
pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<Exit> {
    let (_, reader) = context.node.reader()?;
    let key = node::key_of(&args.url);
    let at = args.at.as_ref().map(|at| at.read(context)).transpose()?.unwrap_or_else(when::latest);
    let choice = Choice::as_of(at).context("cannot use `--at`")?;
    let Some(version) = reader.versions_of(&key, &choice).next() else {
        tell_nearest(args, at, &key, &reader, context)?;
        return Ok(Exit::Found);
    };
    let version = version.context("cannot find the version")?;
    let document = reader.document(&version.payload).context("cannot get the version")?;
    let bytes = wanted(args, &document)?;
    if version.payload.truncated {
        context.output.note("only a part of the page was received");
    }
    hand_out(args, &version, &bytes, context)
}

/// The requested part of a document.
fn wanted<'a>(args: &Args, document: &'a Document) -> anyhow::Result<Cow<'a, [u8]>> {
    if args.head {
        return Ok(Cow::Borrowed(&document.head));
    }
    if args.raw {
        return Ok(Cow::Owned([document.head.as_slice(), &document.body].concat()));
    }
    let why = match document.content() {
        Decoded::Whole(content) => return Ok(content),
        Decoded::Unknown(coding) => format!("the coding `{coding}` is not supported"),
        Decoded::Broken { .. } => "it is truncated, or not in the coding that its head declares".to_owned(),
        Decoded::Capped(Cap::Layers) => "it has too many layers of coding".to_owned(),
        Decoded::Capped(_) => "it would become too large".to_owned(),
    };
    let advice = "`--raw` prints the bytes as received";
    Err(Advised::new("cannot decode the content", advice, anyhow::anyhow!(why)).into())
}

fn hand_out(args: &Args, version: &Version, bytes: &[u8], context: &Context) -> anyhow::Result<Exit> {
    let output = &context.output;
    let file = args.output.as_deref();
    if output.json() && file.is_none() {
        let advice = "write the bytes to a file with `-o FILE`, or omit `--json`";
        let why = anyhow::anyhow!("the bytes of a page are not JSON");
        return Err(Advised::new("cannot print the version", advice, why).into());
    }
    if file.is_none() && output.is_watched() {
        String::from_utf8_lossy(bytes).lines().for_each(|line| output.line(line));
        output.note("control characters are shown as escapes; use `-o FILE` or a pipe for the exact bytes");
        return Ok(Exit::Done);
    }
    let mut destination = Destination::open(output, file)?;
    destination.write_all(bytes).context("cannot write the version")?;
    destination.finish()?;
    if let Some(file) = file {
        let mut object = told::version(version);
        object.insert("output".to_owned(), file.to_string_lossy().into());
        object.insert("output_bytes".to_owned(), bytes.len().into());
        let Version { payload, validity, .. } = version;
        let text =
            format!("{} of {}, {}: {} bytes", payload.url, payload.at, when::until(*validity), bytes.len());
        output.result(&object, || text);
    }
    Ok(Exit::Done)
}

/// Reports that no version was valid at that moment, and which ones are nearest.
fn tell_nearest(
    args: &Args,
    at: Timestamp,
    key: &Key,
    reader: &Reader,
    context: &Context,
) -> anyhow::Result<()> {
    let (before, after) = nearest(at, key, reader).context("cannot look for other versions")?;
    if before.is_none() && after.is_none() {
        return match reader.newest_first(key)?.next() {
            None => history::unknown(&args.url, key, reader, context),
            Some(_) => {
                context.output.complaint(format!("no visit to `{}` returned any content", args.url));
                context.output.note("`utsushi history` shows the visits");
                Ok(())
            }
        };
    }
    let moment = args.at.as_ref().map_or_else(|| "now: it is gone".to_owned(), |_| format!("at {at}"));
    context.output.complaint(format!("no version of `{}` is valid {moment}", args.url));
    if let Some(Version { validity, .. }) = before {
        context.output.complaint(format!(
            "the previous version is valid from {} until {}",
            validity.from(),
            validity.to()
        ));
    }
    if let Some(Version { validity, .. }) = after {
        context.output.complaint(format!(
            "the next version is valid from {}, {}",
            validity.from(),
            when::until(validity)
        ));
    }
    Ok(())
}

/// The last version that ended before the moment, and the first that started after it.
fn nearest(
    at: Timestamp,
    key: &Key,
    reader: &Reader,
) -> Result<(Option<Version>, Option<Version>), archive::Error> {
    let choice = Asked { during: Some(when::always()), ..Asked::default() }.check();
    let mut after = None;
    for version in reader.versions_of(key, &choice.expect("all of time is a sound question")) {
        let version = version?;
        if version.validity.from() <= at {
            return Ok((Some(version), after));
        }
        after = Some(version);
    }
    Ok((None, after))
}
