//! `cargo xtask train`: makes the syntax model of crate `japanese` from the treebanks.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;
use crate::{Verdict, process};

/// Names the directory with the shared material; the treebanks are in `data/nlp`.
const SHARED: &str = "UTSUSHI_SHARED";

/// Make the model for Japanese bunsetsu and dependencies from the treebanks UD Japanese GSD and WAC.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask train                 with the treebanks in `$UTSUSHI_SHARED/data/nlp`
  cargo xtask train --check         compare the file of the repository with a fresh one")]
pub(crate) struct Args {
    /// Directory of the treebanks
    #[arg(long)]
    treebanks: Option<PathBuf>,
    /// Change nothing; report whether the repository's file is what this command makes
    #[arg(long)]
    check: bool,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let treebanks = treebanks(args.treebanks.clone())?;
    let root = Workspace::load()?.root;
    let mut command = process::cargo();
    command.current_dir(&root).args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "treebank",
        "--",
        "--treebanks",
    ]);
    command.arg(treebanks).arg("--model").arg(root.join("crates/japanese/data/syntax.model"));
    if args.check {
        command.arg("--check");
    }
    let status = command.status().context("cannot start cargo")?;
    ensure!(matches!(status.code(), Some(0 | 1)), "training failed: {status}");
    Ok(Verdict::passed(status.success()))
}

fn treebanks(given: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(directory) = given {
        return Ok(std::path::absolute(directory)?);
    }
    let shared = std::env::var_os(SHARED).map(PathBuf::from);
    let shared = shared.with_context(|| format!("set `{SHARED}` or give `--treebanks`"))?;
    let treebanks = shared.join("data/nlp");
    anyhow::ensure!(treebanks.is_dir(), "no treebanks in `{}`", treebanks.display());
    Ok(treebanks)
}
