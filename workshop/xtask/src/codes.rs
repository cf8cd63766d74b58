//! `cargo xtask codes`: whether every code such as (C7) or (H10) that is used is defined.
//!
//! A code is one of the letters of [`LETTERS`] and one or two digits, as a word of its own in a comment of the source or in a
//! document. It is defined by the first cell of a table row in one of [`DEFINITIONS`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Verdict;
use crate::workspace::Workspace;

/// The documents that define codes.
const DEFINITIONS: [&str; 2] = ["docs/requirements.md", "docs/hazards.md"];
/// The letters that codes begin with.
const LETTERS: &str = "ACDFHKMOPST";
/// The folders with sources and documents.
const FOLDERS: [&str; 4] = ["crates", "workshop", "docs", "."];

/// Check that every code such as C7 or H10 in comments and documents is defined.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask codes")]
pub(crate) struct Args {}

/// Runs the task.
pub(crate) fn run(_args: &Args) -> Result<Verdict> {
    let root = Workspace::load()?.root;
    let undefined = undefined(&root)?;
    for (code, places) in &undefined {
        println!("not defined: {code}, used in {}", places.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    println!("codes: {} not defined", undefined.len());
    Ok(Verdict::passed(undefined.is_empty()))
}

/// The codes that are used and not defined, with the files that use them.
pub(crate) fn undefined(root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut defined = BTreeSet::new();
    for document in DEFINITIONS {
        defined.extend(definitions(&read(&root.join(document))?));
    }
    let mut undefined = BTreeMap::<String, BTreeSet<String>>::new();
    for path in files(root)? {
        let text = read(&path)?;
        let is_source = path.extension().is_some_and(|end| end == "rs");
        let used = text.lines().flat_map(|line| codes(if is_source { comment(line) } else { line }));
        for code in used.filter(|code| !defined.contains(code)) {
            let place = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            undefined.entry(code).or_default().insert(place);
        }
    }
    Ok(undefined)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// Every source and document below the project's folders.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        gather(&root.join(folder), folder != ".", &mut files)?;
    }
    Ok(files)
}

fn gather(folder: &Path, is_deep: bool, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            let is_built = path.file_name().is_some_and(|name| name == "target");
            if is_deep && !is_built {
                gather(&path, true, files)?;
            }
        } else if path.extension().is_some_and(|end| end == "rs" || end == "md") {
            files.push(path);
        }
    }
    Ok(())
}

/// The codes in the first cells of the rows of tables.
fn definitions(text: &str) -> Vec<String> {
    let cells = text.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    cells
        .map(str::trim)
        .filter(|cell| codes(cell).first().is_some_and(|code| code == cell))
        .map(ToOwned::to_owned)
        .collect()
}

/// The text after `//` in a line of source.
fn comment(line: &str) -> &str {
    line.split_once("//").map_or("", |(_, comment)| comment)
}

/// The codes in a line.
fn codes(line: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = line.split(|c: char| !is_part(c)).filter(|word| is_code(word));
    let stands_free = |word: &&str| {
        let at = word.as_ptr() as usize - line.as_ptr() as usize;
        let before = line[..at].chars().next_back();
        before.is_none_or(|before| before.is_whitespace() || "(,/–".contains(before))
    };
    words.filter(stands_free).map(ToOwned::to_owned).collect()
}

fn is_code(word: &str) -> bool {
    let mut characters = word.chars();
    let starts = characters.next().is_some_and(|letter| LETTERS.contains(letter));
    starts && (2..=3).contains(&word.len()) && characters.all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        assert_eq!(codes(line), expected, "{line}");
    }

    #[test]
    fn codes_are_found_as_words() {
        check("waits for its turn (C7), as H10 says (D3, D16).", &["C7", "H10", "D3", "D16"]);
        check("`%A5` 2026-01-01T00:00:00Z U+00A0 P100 X1 SHA1 utf-A8", &[]);
    }

    #[test]
    fn only_comments_of_sources_count() {
        assert_eq!(comment("let a = 1; // why (C7)"), " why (C7)");
        assert_eq!(comment("let A5 = 1;"), "");
    }

    #[test]
    fn the_first_cells_of_tables_define() {
        assert_eq!(definitions("| code | x |\n|---|---|\n| C7 | two queues (D3) |\ntext H1"), ["C7"]);
    }

    #[test]
    fn every_code_in_this_project_is_defined() {
        let undefined = undefined(&Workspace::load().unwrap().root).unwrap();
        assert!(undefined.is_empty(), "{undefined:?}");
    }
}
