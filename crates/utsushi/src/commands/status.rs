//! `utsushi status`: what a data directory holds, and who writes to it now.

use super::Context;
use crate::exit::Exit;
use crate::node::directory::{Directory, Owner};
use anyhow::Context as _;
use archive::{Reader, Summary};
use base::Timestamp;
use base::disk::RealDisk;
use serde_json::{Value, json};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  utsushi status
  utsushi --data ~/web status --json";

/// What a data directory holds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

/// Prints what the directory holds.
pub(crate) fn run(_: &Args, context: &Context) -> anyhow::Result<Exit> {
    let held = Held::read(context)?;
    context.output.result(&held.to_json(), || held.to_text());
    Ok(Exit::Done)
}

struct Held {
    directory: Directory,
    owner: Option<Owner>,
    archive: Summary,
}

impl Held {
    fn read(context: &Context) -> anyhow::Result<Self> {
        let directory = Directory::open_reader(&context.data)?;
        let owner = directory.owner().context("cannot ask who writes to the data directory")?;
        let _progress = context.output.progress("reading the archive", None);
        let archive = match directory.archive_path() {
            path if path.is_dir() => {
                let reader = Reader::open(Arc::new(RealDisk), &path);
                reader.and_then(|reader| reader.summary()).context("cannot read the archive")?
            }
            // A start that was cut off may have left none.
            _ => Summary::default(),
        };
        Ok(Self { directory, owner, archive })
    }

    fn to_json(&self) -> Value {
        let (format, archive) = (self.directory.format(), &self.archive);
        json!({
            "data": self.directory.path().to_string_lossy(),
            "format": format.version,
            "created": format.created.to_rfc3339(),
            "web": format.web,
            "writer": self.owner,
            "archive": {
                "files": archive.files,
                "bytes": archive.bytes,
                "captures": archive.captures(),
                "responses": archive.responses,
                "revisits": archive.revisits,
                "unanswered": archive.unanswered,
                "pages": archive.pages,
                "index_bytes": archive.index_bytes,
                "first": archive.first.map(Timestamp::to_rfc3339),
                "last": archive.last.map(Timestamp::to_rfc3339),
            },
        })
    }

    fn to_text(&self) -> String {
        let (format, archive) = (self.directory.format(), &self.archive);
        let writer = self.owner.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
        let mut lines = vec![
            format!("data directory  {}", self.directory.path().display()),
            format!("format          {}, made {}", format.version, format.created),
            format!("web             {}", format.web),
            format!("writer          {writer}"),
            format!("archive         {} files, {} bytes", archive.files, archive.bytes),
            format!("captures        {}", captures(archive)),
            format!("pages           {}", archive.pages),
        ];
        if let (Some(first), Some(last)) = (archive.first, archive.last) {
            lines.push(format!("from            {first}\nto              {last}"));
        }
        lines.join("\n")
    }
}

fn captures(archive: &Summary) -> String {
    let Summary { responses, revisits, unanswered, .. } = archive;
    let all = archive.captures();
    format!("{all}: {responses} with their answer, {revisits} unchanged, {unanswered} without an answer")
}
