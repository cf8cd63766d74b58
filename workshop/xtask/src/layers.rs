//! `cargo xtask layers`: compares the crates, what they use and their modules with the table in ARCHITECTURE.md.

mod rooms;
mod table;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

use self::table::{Row, Uses};
use crate::Verdict;
use crate::workspace::{Package, Workspace};

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Check that the crates and their modules match the table of layers in ARCHITECTURE.md.
///
/// A crate uses another if its manifest names it as a dependency for running or building. Dependencies of tests are
/// not checked. The rooms of a crate are the modules that its root declares, except `error`, tests and hidden ones.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask layers")]
pub(crate) struct Args {}

/// The crates of the product, each with the workspace crates that it uses.
type Crates = BTreeMap<String, Vec<String>>;

/// Runs the task.
pub(crate) fn run(_args: &Args) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let path = workspace.root.join(ARCHITECTURE);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let rows = table::parse(&text).with_context(|| format!("cannot read the layers in `{ARCHITECTURE}`"))?;
    let crates = product_crates(&workspace);
    let mut faults = faults(&rows, &crates);
    faults.extend(rooms::faults(&rows, &workspace.root.join("crates"))?);
    for fault in &faults {
        println!("not allowed: {fault}");
    }
    println!("layers: {} crates, {} faults", crates.len(), faults.len());
    Ok(Verdict::passed(faults.is_empty()))
}

/// The packages below `crates/`. The workshop may use all of them.
fn product_crates(workspace: &Workspace) -> Crates {
    let product = workspace.root.join("crates");
    let packages = workspace.packages.iter().filter(|package| package.manifest_path.starts_with(&product));
    packages.map(|package| (package.name.clone(), used_by(package))).collect()
}

/// The workspace's crates that `package` uses.
fn used_by(package: &Package) -> Vec<String> {
    let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    ours.filter(|dependency| dependency.kind.as_deref() != Some("dev"))
        .map(|used| used.name.clone())
        .collect()
}

/// Every difference between the table and the crates.
fn faults(rows: &[Row], crates: &Crates) -> Vec<String> {
    let row_of = |name: &str| rows.iter().find(|row| row.name == name);
    let mut faults: Vec<String> = rows.iter().flat_map(|row| row_faults(row, crates, row_of)).collect();
    for (name, used) in crates {
        let Some(row) = row_of(name) else {
            faults.push(format!("crate `{name}` is missing in the table"));
            continue;
        };
        faults.extend(used.iter().filter_map(|used| use_fault(row, used, row_of(used))));
    }
    faults
}

/// Faults of the table itself.
fn row_faults<'a>(row: &Row, crates: &Crates, row_of: impl Fn(&str) -> Option<&'a Row>) -> Vec<String> {
    let mut faults = Vec::new();
    if !crates.contains_key(&row.name) {
        faults.push(format!("the table names crate `{}`, which does not exist", row.name));
    }
    let Uses::These(allowed) = &row.may_use else { return faults };
    for name in allowed {
        match row_of(name) {
            None => faults.push(format!("the table lets `{}` use `{name}`, which is not in it", row.name)),
            Some(used) => faults.extend(order_fault(row, used)),
        }
    }
    faults
}

/// The fault if the crate of `row` may not use `used`.
fn use_fault(row: &Row, used: &str, used_row: Option<&Row>) -> Option<String> {
    let Some(used_row) = used_row else {
        return Some(format!("`{}` uses `{used}`, which is not in the table", row.name));
    };
    match &row.may_use {
        Uses::These(allowed) if !allowed.iter().any(|name| name == used) => {
            Some(format!("`{}` uses `{used}`, which the table does not allow", row.name))
        }
        // `row_faults` checks the layers of these.
        Uses::These(_) => None,
        Uses::All => order_fault(row, used_row),
    }
}

/// A crate uses crates of lower layers only.
fn order_fault(row: &Row, used: &Row) -> Option<String> {
    let Row { name, layer, .. } = row;
    (used.layer >= *layer)
        .then(|| format!("`{name}` of layer {layer} may not use `{}` of layer {}", used.name, used.layer))
}

#[cfg(test)]
mod tests {
    use super::{Crates, faults, table};

    const HEAD: &str = "| layer | crate | one line | rooms | may use |\n|---|---|---|---|---|\n";

    /// Compares a table of `layer crate may-use` rows with crates written `name: used used`.
    #[track_caller]
    fn check(rows: &[(u32, &str, &str)], crates: &[&str], expected: &[&str]) {
        let rows =
            rows.iter().map(|(layer, name, uses)| format!("| {layer} | `{name}` | … | … | {uses} |\n"));
        let rows = table::parse(&format!("{HEAD}{}", rows.collect::<String>())).unwrap();
        let crates: Crates = crates
            .iter()
            .map(|line| line.split_once(':').unwrap())
            .map(|(name, used)| (name.to_owned(), used.split_whitespace().map(str::to_owned).collect()))
            .collect();
        assert_eq!(faults(&rows, &crates), expected);
    }

    const ROWS: &[(u32, &str, &str)] =
        &[(0, "base", "–"), (1, "warc", "`base`"), (2, "archive", "`base`, `warc`"), (5, "program", "all")];

    #[test]
    fn crates_that_keep_to_the_table_pass() {
        check(ROWS, &["base:", "warc: base", "archive: base warc", "program: base warc archive"], &[]);
        check(ROWS, &["base:", "warc:", "archive: warc", "program:"], &[]);
    }

    #[test]
    fn a_use_that_is_not_allowed_is_found() {
        check(
            ROWS,
            &["base: warc", "warc:", "archive:", "program:"],
            &["`base` uses `warc`, which the table does not allow"],
        );
    }

    #[test]
    fn table_and_crates_name_the_same() {
        check(
            ROWS,
            &["base:", "warc:", "extra: base", "program:"],
            &[
                "the table names crate `archive`, which does not exist",
                "crate `extra` is missing in the table",
            ],
        );
        check(
            ROWS,
            &["base:", "warc:", "archive:", "program: bench"],
            &["`program` uses `bench`, which is not in the table"],
        );
    }

    #[test]
    fn only_lower_layers_are_used() {
        check(
            &[(1, "left", "–"), (1, "right", "`left`"), (0, "low", "all")],
            &["left:", "right:", "low: left"],
            &[
                "`right` of layer 1 may not use `left` of layer 1",
                "`low` of layer 0 may not use `left` of layer 1",
            ],
        );
    }

    #[test]
    fn the_table_lets_use_what_it_holds() {
        check(
            &[(1, "left", "`gone`")],
            &["left:"],
            &["the table lets `left` use `gone`, which is not in it"],
        );
    }
}
