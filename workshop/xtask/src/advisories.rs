//! `cargo xtask advisories`: whether a dependency has a known fault.
//!
//! The check needs no network: it reads a dated table that is checked in and rebuilt with `--refresh`.

mod range;
mod refresh;
mod table;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use semver::Version;
use serde::Deserialize;

use self::table::{Advisory, Kind, Table};
use crate::workspace::Workspace;
use crate::{Verdict, clock};

const TABLE_PATH: &str = "workshop/advisories.tsv";

/// The age above which the table counts as old.
const TABLE_AGE_DAYS_MAX: i64 = 400;

/// An advisory that does not affect us although we use the version it names.
struct Allowed {
    id: &'static str,
    reason: &'static str,
}

const ALLOWED: &[Allowed] = &[];

/// Check the locked dependencies against the table of known advisories.
///
/// A vulnerable or unsound version is a failure unless it is excepted with a reason; an unmaintained package or a
/// notice is a note.
#[derive(Default, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask advisories
  git clone https://github.com/RustSec/advisory-db
  cargo xtask advisories --refresh advisory-db")]
pub(crate) struct Args {
    /// Rebuild the table from a clone of the RustSec advisory database, bare or not.
    #[arg(long, value_name = "DIR")]
    refresh: Option<PathBuf>,
}

/// A package of the lock file.
#[derive(Deserialize)]
struct Locked {
    name: String,
    version: Version,
    /// Its registry; `None` for our own packages.
    source: Option<String>,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let path = workspace.root.join(TABLE_PATH);
    if let Some(directory) = &args.refresh {
        let table = refresh::table(directory)?;
        fs::write(&path, table.render()).with_context(|| format!("cannot write `{}`", path.display()))?;
        println!("wrote {} advisories of {} to `{TABLE_PATH}`", table.advisories.len(), table.date);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let table = Table::parse(&text).with_context(|| format!("cannot read `{TABLE_PATH}`"))?;
    print_age(&table)?;
    report(&table, &locked_packages(&workspace)?)
}

/// The packages of the lock file from the registry that the advisories cover.
fn locked_packages(workspace: &Workspace) -> Result<Vec<Locked>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Locked>,
    }
    let path = workspace.root.join("Cargo.lock");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let lock: Lock = toml::from_str(&text).context("cannot read `Cargo.lock`")?;
    Ok(lock.package.into_iter().filter(|package| package.source.is_some()).collect())
}

fn print_age(table: &Table) -> Result<()> {
    let age_days = clock::today()? - clock::day(&table.date)?;
    if age_days > TABLE_AGE_DAYS_MAX {
        println!(
            "note: the table is {age_days} days old: rebuild it with `cargo xtask advisories --refresh DIR`"
        );
    }
    Ok(())
}

/// Prints the advisories on `packages`.
fn report(table: &Table, packages: &[Locked]) -> Result<Verdict> {
    let mut failures = 0;
    for (package, advisory) in matches(table, packages) {
        let (failed, line) = judge(package, advisory);
        failures += usize::from(failed);
        println!("{line}");
    }
    for unused in ALLOWED.iter().filter(|allowed| !matches(table, packages).any(|(_, a)| a.id == allowed.id))
    {
        println!("note: {} is excepted, but no package is affected by it any more", unused.id);
    }
    let (known, date) = (table.advisories.len(), &table.date);
    println!("advisories: {} packages, {known} advisories of {date}, {failures} failures", packages.len());
    Ok(Verdict::passed(failures == 0))
}

fn matches<'a>(table: &'a Table, packages: &'a [Locked]) -> impl Iterator<Item = (&'a Locked, &'a Advisory)> {
    packages.iter().flat_map(|package| {
        let touching = |advisory: &&Advisory| advisory.touches(&package.name, &package.version);
        table.advisories.iter().filter(touching).map(move |advisory| (package, advisory))
    })
}

/// Whether `advisory` fails the check, and the line to print.
fn judge(package: &Locked, advisory: &Advisory) -> (bool, String) {
    let what = format!("{} `{}` {}: {}", advisory.id, package.name, package.version, advisory.kind.name());
    if let Some(allowed) = ALLOWED.iter().find(|allowed| allowed.id == advisory.id) {
        return (false, format!("note: {what}, excepted: {}", allowed.reason));
    }
    match advisory.kind {
        Kind::Unmaintained | Kind::Notice => (false, format!("note: {what}")),
        Kind::Vulnerability | Kind::Unsound => (true, format!("FAILED: {what}; {}", advisory.remedy())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Locked, Table, judge, matches};

    const TABLE: &str = "# date: 2026-01-01\n\
        X-1\tleaky\t>=1.2.4 || >=1.1.9, <1.2.0\t<1.1.0\tvulnerability\n\
        X-2\tdusty\t-\t-\tunmaintained\n\
        X-3\tshaky\t-\t-\tunsound\n";

    /// Checks what the table above says about one locked package.
    #[track_caller]
    fn check(name: &str, version: &str, expected: Option<(bool, &str)>) {
        let locked = Locked { name: name.to_owned(), version: version.parse().unwrap(), source: None };
        let table = Table::parse(TABLE).unwrap();
        let found = matches(&table, &[locked]).map(|(package, advisory)| judge(package, advisory)).next();
        assert_eq!(found.as_ref().map(|(failed, line)| (*failed, line.as_str())), expected);
    }

    #[test]
    fn a_vulnerable_version_fails_with_its_remedy() {
        let remedy = "vulnerability; use `>=1.2.4` or `>=1.1.9, <1.2.0`";
        check("leaky", "1.2.3", Some((true, &format!("FAILED: X-1 `leaky` 1.2.3: {remedy}"))));
        check("leaky", "1.1.8", Some((true, &format!("FAILED: X-1 `leaky` 1.1.8: {remedy}"))));
    }

    #[test]
    fn patched_unaffected_and_other_packages_are_let_be() {
        check("leaky", "1.2.4", None);
        check("leaky", "1.1.10", None);
        check("leaky", "1.0.0", None);
        check("sound", "1.2.3", None);
    }

    #[test]
    fn the_unsound_fails_and_the_unmaintained_is_noted() {
        let line = "FAILED: X-3 `shaky` 1.0.0: unsound; no version is free of it";
        check("shaky", "1.0.0", Some((true, line)));
        check("dusty", "1.0.0", Some((false, "note: X-2 `dusty` 1.0.0: unmaintained")));
    }
}
