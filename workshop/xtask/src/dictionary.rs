//! `cargo xtask dictionary`: packs IPADIC into the file that crate `japanese` is built with.
//!
//! The connection id of an entry decides its part of speech, so the columns compress well. The layout is described in
//! `docs/formats/japanese.md`.

mod columns;
mod source;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Verdict;
use crate::workspace::Workspace;

/// Where Debian's package `mecab-ipadic` puts the dictionary's source.
const SOURCE: &str = "/usr/share/mecab/dic/ipadic";
/// Where it puts the licence.
const LICENCE: &str = "/usr/share/doc/mecab-ipadic/copyright";
/// Brotli's strongest level, and the widest window that every decoder takes.
const QUALITY: u32 = 11;
const WINDOW: u32 = 24;

/// Pack the Japanese dictionary IPADIC, from Debian's package `mecab-ipadic`, into crate `japanese`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask dictionary            after `apt-get install mecab-ipadic`
  cargo xtask dictionary --check    compare the file of the repository with a fresh one")]
pub(crate) struct Args {
    /// Directory with the `.csv` and `.def` files
    #[arg(long, default_value = SOURCE)]
    source: PathBuf,
    /// Change nothing; report whether the repository's file is what this command makes
    #[arg(long)]
    check: bool,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let target = Workspace::load()?.root.join("crates/japanese/data");
    let source = source::read(&args.source).context("install Debian's package `mecab-ipadic`")?;
    let packed = compress(&columns::pack(&source)?)?;
    let path = target.join("ipadic.br");
    if args.check {
        return check(&path, &packed);
    }
    write(&path, &packed)?;
    let licence = fs::read(LICENCE).with_context(|| format!("cannot read `{LICENCE}`"))?;
    write(&target.join("ipadic.COPYING"), &licence)?;
    println!("dictionary: {} entries, {} bytes", source.entries.len(), packed.len());
    Ok(Verdict::Clean)
}

fn check(path: &Path, packed: &[u8]) -> Result<Verdict> {
    let kept = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let same = kept == packed;
    println!("dictionary: `{}` {}", path.display(), if same { "is up to date" } else { "differs" });
    Ok(Verdict::passed(same))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Compresses what a build script will unpack.
pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = Vec::new();
    {
        let mut writer = brotli::CompressorWriter::new(&mut packed, 1 << 16, QUALITY, WINDOW);
        writer.write_all(bytes).context("cannot compress")?;
    }
    Ok(packed)
}
