//! Makes the syntax model of crate `japanese`, or checks the one that is there. Run as `cargo xtask train`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program speaks by printing")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser as _;
use japanese::{Parser, Style};
use treebank::score::{Task, score};
use treebank::{gold, recipe};

/// Make the syntax model
#[derive(clap::Parser)]
struct Args {
    /// Directory of the treebanks
    #[arg(long)]
    treebanks: PathBuf,
    /// The model file
    #[arg(long)]
    model: PathBuf,
    /// Change nothing; report whether the file is what this command makes
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<bool> {
    let made = recipe::train(&args.treebanks)?;
    if args.check {
        let kept =
            fs::read(&args.model).with_context(|| format!("cannot read `{}`", args.model.display()))?;
        let same = kept == made;
        println!("train: `{}` {}", args.model.display(), if same { "is up to date" } else { "differs" });
        return Ok(same);
    }
    fs::write(&args.model, &made).with_context(|| format!("cannot write `{}`", args.model.display()))?;
    println!("train: `{}`, {} bytes", args.model.display(), made.len());
    for style in [Style::Web, Style::Encyclopedia] {
        report(&Parser::from_model(&made, style)?, style, &args.treebanks)?;
    }
    Ok(true)
}

/// Prints the figures on the development part of the style's treebank.
fn report(parser: &Parser, style: Style, treebanks: &Path) -> Result<()> {
    let name = gold::file_name(style, "dev");
    let sentences = gold::read(&treebanks.join(&name))?;
    let found = score(parser, &sentences, Task::EndToEnd);
    let heads = score(parser, &sentences, Task::GoldBunsetsu);
    println!(
        "  {name}: span F {:.2}, dependencies on gold bunsetsu {:.2}, end to end F {:.2}, labels {}/{}",
        found.spans.f(),
        heads.dependencies.recall(),
        found.dependencies.f(),
        heads.labels.1,
        heads.labels.0
    );
    Ok(())
}
