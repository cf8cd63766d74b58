//! Makes the table from a clone of the RustSec advisory database.
//!
//! An advisory is a Markdown file `crates/PACKAGE/ID.md` that opens with a block of TOML. All are read from the newest
//! commit, so a bare clone serves as well as a checkout.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::range::Range;
use super::table::{Advisory, Kind, Table};
use crate::process;

/// The block of TOML at the head of an advisory, as far as it is read.
#[derive(Deserialize)]
struct Front {
    advisory: Meta,
    #[serde(default)]
    versions: Versions,
}

#[derive(Deserialize)]
struct Meta {
    id: String,
    package: String,
    informational: Option<String>,
    withdrawn: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct Versions {
    #[serde(default)]
    patched: Vec<String>,
    #[serde(default)]
    unaffected: Vec<String>,
}

/// The table of all advisories on crates in the clone at `directory`.
pub(super) fn table(directory: &Path) -> Result<Table> {
    let checkout = directory.join(".git");
    let repository = if checkout.exists() { checkout } else { directory.to_owned() };
    let date = process::output(git(&repository).args(["log", "-1", "--format=%cs"]))?;
    let listing = process::output(git(&repository).args(["ls-tree", "-r", "HEAD", "crates/"]))?;
    let files = blobs(&repository, &object_names(&listing))?;
    ensure!(!files.is_empty(), "`{}` holds no advisories below `crates/`", directory.display());
    let mut advisories = Vec::new();
    for file in &files {
        advisories.extend(advisory(file)?);
    }
    advisories.sort_by(|a, b| (&a.package, &a.id).cmp(&(&b.package, &b.id)));
    Ok(Table { date: date.trim().to_owned(), advisories })
}

fn git(repository: &PathBuf) -> Command {
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(repository);
    git
}

/// The object names of the Markdown files in a listing of `MODE TYPE NAME\tPATH` lines.
fn object_names(listing: &str) -> Vec<&str> {
    let files = listing.lines().filter_map(|line| line.split_once('\t'));
    files
        .filter(|(_, path)| path.ends_with(".md"))
        .filter_map(|(object, _)| object.split(' ').nth(2))
        .collect()
}

/// The contents of the objects called `names`, by one git process for all.
fn blobs(repository: &PathBuf, names: &[&str]) -> Result<Vec<String>> {
    let mut git = git(repository);
    let mut child = git.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut questions = child.stdin.take().context("git takes no questions")?;
    let mut answers = BufReader::new(child.stdout.take().context("git gives no answers")?);
    // Written from another thread: git stops reading while its output is not read.
    let blobs = thread::scope(|scope| {
        scope.spawn(move || names.iter().try_for_each(|name| writeln!(questions, "{name}")));
        names.iter().map(|_| next_blob(&mut answers)).collect()
    });
    ensure!(child.wait()?.success(), "`git cat-file` failed");
    blobs
}

/// The next answer: a line `NAME blob SIZE`, the contents, a line break.
fn next_blob(answers: &mut impl BufRead) -> Result<String> {
    let mut head = String::new();
    answers.read_line(&mut head)?;
    let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
    let size: usize = size.with_context(|| format!("git answered `{}`", head.trim_end()))?;
    let mut contents = vec![0; size + 1];
    answers.read_exact(&mut contents)?;
    contents.pop();
    String::from_utf8(contents).context("an advisory is not UTF-8")
}

/// The advisory in `file`, unless it was withdrawn.
fn advisory(file: &str) -> Result<Option<Advisory>> {
    let front = front_block(file).context("an advisory has no block of TOML")?;
    let Front { advisory: meta, versions } =
        toml::from_str(front).with_context(|| format!("cannot read the advisory that begins\n{front}"))?;
    if meta.withdrawn.is_some() {
        return Ok(None);
    }
    let kind = Kind::from_name(meta.informational.as_deref().unwrap_or(Kind::Vulnerability.name()));
    let context = || format!("in advisory `{}`", meta.id);
    Ok(Some(Advisory {
        patched: ranges(&versions.patched).with_context(context)?,
        unaffected: ranges(&versions.unaffected).with_context(context)?,
        kind: kind.with_context(context)?,
        id: meta.id,
        package: meta.package,
    }))
}

fn front_block(file: &str) -> Option<&str> {
    let (_, rest) = file.split_once("```toml\n")?;
    rest.split_once("\n```").map(|(front, _)| front)
}

fn ranges(texts: &[String]) -> Result<Vec<Range>> {
    let parse = |text: &String| text.parse().with_context(|| format!("`{text}` is no range of versions"));
    texts.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::{advisory, next_blob, object_names};

    const FILE: &str = "```toml\n[advisory]\nid = \"X-1\"\npackage = \"p\"\ndate = \"2026-01-01\"\n\
                        [versions]\npatched = [\">= 1.2\"]\n```\n\n# Title\n";

    #[test]
    fn an_advisory_is_read_from_its_first_block() {
        let read = advisory(FILE).unwrap().unwrap();
        assert_eq!(
            (read.id.as_str(), read.package.as_str(), read.kind.name()),
            ("X-1", "p", "vulnerability")
        );
        assert_eq!(read.remedy(), "use `>=1.2`");
        assert!(read.unaffected.is_empty());
    }

    #[test]
    fn a_withdrawn_advisory_is_left_out() {
        let withdrawn = FILE.replace("date =", "withdrawn =");
        assert_eq!(advisory(&withdrawn).unwrap(), None);
    }

    #[test]
    fn a_file_that_is_no_advisory_is_refused() {
        for text in ["", "# Title\n", "```toml\n[advisory]\n```\n"] {
            assert!(advisory(text).is_err(), "{text}");
        }
        assert!(advisory(&FILE.replace(">= 1.2", "newer")).is_err());
    }

    #[test]
    fn git_is_understood() {
        let listing = "100644 blob aa\tcrates/p/X-1.md\n100644 blob bb\tcrates/p/.keep\n";
        assert_eq!(object_names(listing), ["aa"]);
        let mut answers = &b"aa blob 4\none\n\nbb blob 0\n\ncc missing\n"[..];
        assert_eq!(next_blob(&mut answers).unwrap(), "one\n");
        assert_eq!(next_blob(&mut answers).unwrap(), "");
        assert!(next_blob(&mut answers).is_err());
    }
}
