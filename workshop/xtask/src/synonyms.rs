//! `cargo xtask synonyms`: makes the table of synonyms that crate `japanese` is built with.
//!
//! A line for each headword in form NFKC and lower case, sorted: the headword, a tab, and its groups, separated by
//! spaces: `v` for a verb or adjective, `n` for others, `t` if the headword is only found from others (expansion class
//! 1), and the number. Headwords of class 2, which must never be used, are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

use crate::Verdict;
use crate::dictionary::compress;
use crate::workspace::Workspace;

/// The package of the table in the repository.
const PACKAGE: &str = "sudachi-synonyms-dictionary@18.0.0";
const TABLE: &str = "package/sudachi-synonyms-dictionary.json";
const LICENCE: &str = "package/LICENSE";

/// Make the table of Japanese synonyms from the npm package of SudachiDict's synonyms.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask synonyms                      fetch the package with `npm pack`
  cargo xtask synonyms --package FILE.tgz   read a package that is here already")]
pub(crate) struct Args {
    /// The package; fetched if not given
    #[arg(long, value_name = "FILE")]
    package: Option<PathBuf>,
}

/// The words that mean the same.
#[derive(Deserialize)]
struct Group {
    id: String,
    items: Vec<Item>,
}

/// One headword of a group.
#[derive(Deserialize)]
struct Item {
    #[serde(rename = "taigenYogen")]
    kind: String,
    #[serde(rename = "expandControl")]
    expansion: u8,
    #[serde(rename = "midashi")]
    headword: String,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let package = match &args.package {
        Some(package) => package.clone(),
        None => fetch(&workspace.target)?,
    };
    let groups: Vec<Group> =
        serde_json::from_slice(&member(&package, TABLE)?).context("the table has another form")?;
    let table = table(&groups)?;
    let data = workspace.root.join("crates/japanese/data");
    let packed = compress(table.as_bytes())?;
    fs::write(data.join("synonyms.br"), &packed).context("cannot write the table")?;
    fs::write(data.join("synonyms.COPYING"), notice(&package)?).context("cannot write the notice")?;
    println!(
        "synonyms: {} groups, {} headwords, {} bytes",
        groups.len(),
        table.lines().count(),
        packed.len()
    );
    Ok(Verdict::Clean)
}

fn fetch(target: &Path) -> Result<PathBuf> {
    let directory = target.join("synonyms");
    fs::create_dir_all(&directory).context("cannot make a directory for the package")?;
    let name = output(Command::new("npm").args(["pack", "--silent", PACKAGE]).current_dir(&directory))?;
    Ok(directory.join(String::from_utf8(name)?.trim()))
}

fn member(package: &Path, name: &str) -> Result<Vec<u8>> {
    output(Command::new("tar").args([OsStr::new("-xzOf"), package.as_os_str(), OsStr::new(name)]))
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

fn table(groups: &[Group]) -> Result<String> {
    let mut headwords: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for group in groups {
        let number: u32 = group.id.parse().with_context(|| format!("group `{}` has no number", group.id))?;
        for item in group.items.iter().filter(|item| item.expansion < 2) {
            let headword = item.headword.nfkc().collect::<String>().to_lowercase();
            let kind = if item.kind == "用言" { "v" } else { "n" };
            let target = if item.expansion == 1 { "t" } else { "" };
            headwords.entry(headword).or_default().insert(format!("{kind}{target}{number}"));
        }
    }
    let line = |(headword, groups): (&String, &BTreeSet<String>)| {
        format!("{headword}\t{}\n", groups.iter().cloned().collect::<Vec<_>>().join(" "))
    };
    Ok(headwords.iter().map(line).collect())
}

fn notice(package: &Path) -> Result<String> {
    let licence = String::from_utf8(member(package, LICENCE)?)?;
    Ok(format!(
        "Synonyms of SudachiDict, https://github.com/WorksApplications/SudachiDict\n\
         Copyright (c) 2017 Works Applications Co., Ltd.\n\
         Taken from the npm package {PACKAGE} and reduced to headword, kind, expansion class and group.\n\
         Licensed under the Apache License, Version 2.0:\n\n{licence}"
    ))
}

#[cfg(test)]
mod tests {
    use super::{Group, Item, table};

    fn item(kind: &str, expansion: u8, headword: &str) -> Item {
        Item { kind: kind.to_owned(), expansion, headword: headword.to_owned() }
    }

    #[test]
    fn classes_and_spellings_are_kept_in_the_table() {
        let items = vec![
            item("体言", 0, "ＴＶ"),
            item("体言", 1, "ﾃﾚﾋﾞ"),
            item("体言", 2, "弊害語"),
            item("用言", 0, "見る"),
        ];
        let groups = [Group { id: "000012".to_owned(), items }];
        assert_eq!(table(&groups).unwrap(), "tv\tn12\nテレビ\tnt12\n見る\tv12\n");
    }
}
