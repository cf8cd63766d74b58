//! `cargo xtask licences`: whether the licences of all dependencies are allowed.

mod spdx;

use std::collections::BTreeMap;

use anyhow::Result;

use crate::Verdict;
use crate::workspace::{Package, Workspace};

/// The licence of every crate of ours.
const OURS: &str = "MIT OR Apache-2.0";

/// Licences that are allowed.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// A licence that is allowed for one package although it is not in [`ALLOWED`].
struct Exception {
    package: &'static str,
    licence: &'static str,
    reason: &'static str,
}

/// MPL-2.0 asks for the source of changed files only, so an unchanged package under it may be noted here.
const EXCEPTIONS: &[Exception] = &[];

/// Check the licence of every dependency.
///
/// Every licence expression must be satisfiable by licences on the list of allowed ones, and our own crates must be
/// under MIT OR Apache-2.0.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask licences")]
pub(crate) struct Args {}

/// Runs the task.
pub(crate) fn run(_args: &Args) -> Result<Verdict> {
    let workspace = Workspace::load_with_dependencies()?;
    print_counts(&workspace.packages);
    print_exceptions(&workspace.packages);
    let offences: Vec<String> = workspace.packages.iter().filter_map(offence).collect();
    for offence in &offences {
        println!("not allowed: {offence}");
    }
    println!("licences: {} packages, {} not allowed", workspace.packages.len(), offences.len());
    Ok(Verdict::passed(offences.is_empty()))
}

fn print_counts(packages: &[Package]) {
    let mut counts = BTreeMap::<&str, usize>::new();
    for package in packages {
        *counts.entry(package.license.as_deref().unwrap_or("(none stated)")).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    for (licence, count) in counts {
        println!("  {count:>4}  {licence}");
    }
}

/// Notes the exceptions that are in use, and those that could be removed.
fn print_exceptions(packages: &[Package]) {
    for Exception { package, licence, reason } in EXCEPTIONS {
        let used = packages.iter().any(|candidate| candidate.name == *package);
        let state = if used { "excepted" } else { "exception no longer used" };
        println!("note: {state}: `{package}` under `{licence}`: {reason}");
    }
}

/// The fault of the licence of `package`, if there is one.
fn offence(package: &Package) -> Option<String> {
    let Package { name, version, license, source, .. } = package;
    let Some(licence) = license else { return Some(format!("`{name}` {version} states no licence")) };
    if source.is_none() {
        return (licence != OURS)
            .then(|| format!("`{name}` is ours, but under `{licence}` instead of `{OURS}`"));
    }
    match spdx::is_satisfied(licence, |one| is_allowed(name, one)) {
        Ok(true) => None,
        Ok(false) => Some(format!("`{name}` {version} under `{licence}`")),
        Err(error) => Some(format!("`{name}` {version}: `{licence}` cannot be read: {error}")),
    }
}

fn is_allowed(package: &str, licence: &str) -> bool {
    ALLOWED.contains(&licence)
        || EXCEPTIONS.iter().any(|exception| exception.package == package && exception.licence == licence)
}

#[cfg(test)]
mod tests {
    use super::offence;
    use crate::workspace::Package;

    #[track_caller]
    fn check(source: Option<&str>, license: Option<&str>, expected: Option<&str>) {
        let package = Package {
            name: "p".to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            source: source.map(str::to_owned),
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
        };
        assert_eq!(offence(&package).as_deref(), expected);
    }

    #[test]
    fn a_foreign_package_needs_a_licence_we_allow() {
        let foreign = Some("registry");
        check(foreign, Some("Apache-2.0 AND ISC"), None);
        check(foreign, Some("GPL-3.0 OR MIT"), None);
        check(foreign, Some("GPL-3.0"), Some("`p` 1.0.0 under `GPL-3.0`"));
        check(foreign, Some("MPL-2.0"), Some("`p` 1.0.0 under `MPL-2.0`"));
        check(
            foreign,
            Some("MIT AND"),
            Some("`p` 1.0.0: `MIT AND` cannot be read: a licence is missing at the end"),
        );
        check(foreign, None, Some("`p` 1.0.0 states no licence"));
    }

    #[test]
    fn our_own_packages_have_our_licence() {
        check(None, Some("MIT OR Apache-2.0"), None);
        check(None, Some("MIT"), Some("`p` is ours, but under `MIT` instead of `MIT OR Apache-2.0`"));
    }
}
