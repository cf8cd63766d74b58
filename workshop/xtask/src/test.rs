//! `cargo xtask test`: provides what the tests need, then runs them.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::tools::{self, C_COMPILER, MECAB, MOUNT, Need, python, samples};
use crate::workspace::Workspace;
use crate::{Verdict, process};

/// The variable with the path of the shared data: data sets are in its directory `data`.
const SHARED: &str = "UTSUSHI_SHARED";
/// The variable with the path of the `warcio` program.
pub(crate) const WARCIO: &str = "UTSUSHI_WARCIO";
/// The variable with the path of the environment's Python; other programs are beside it.
const PYTHON: &str = "UTSUSHI_PYTHON";
/// The variable with the path of archives and robots files that others wrote.
const SAMPLES: &str = "UTSUSHI_SAMPLES";
/// The variable with the path of the `fastwarc` program.
pub(crate) const FASTWARC: &str = "UTSUSHI_FASTWARC";
const NEEDS: [&Need; 3] = [&C_COMPILER, &MOUNT, &MECAB];

/// Make sure of what the tests need, then run them all.
///
/// The tests need a C compiler, `mount`, and programs in Python that read what ours writes (`warcio`, `fastwarc`, `pywb`, `wacz`,
/// `duckdb`, `pyarrow`) or what it reads (`protego`), which are put into a virtual environment below the target directory,
/// once; so are archives and robots files that others wrote. On Debian, root gets missing packages installed; everyone else is told which to install.
/// Shared data is looked for in `$UTSUSHI_SHARED`, then in `../shared`; without it the tests that read it are skipped.
///
/// What follows `--` goes to `cargo test`, which is given `--workspace` unless that names packages of its own.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask test                               every test
  cargo xtask test -- --release                  every test, optimised
  cargo xtask test -- -p archive                 the tests of one crate
  cargo xtask test -- -p archive -- survives_    those whose name contains `survives_`")]
pub(crate) struct Args {
    /// Arguments for `cargo test`.
    #[arg(last = true, value_name = "ARGS")]
    passed_on: Vec<String>,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    tools::ensure(&NEEDS)?;
    let warcio = python::warcio(&workspace)?;
    let shared = shared_directory(&workspace.root);
    warn_without(shared.as_deref());

    let mut test = process::cargo();
    test.arg("test").args(cargo_test_arguments(&args.passed_on)).env(WARCIO, &warcio);
    let python = python::python(&workspace)?;
    test.env(SAMPLES, samples::samples(&workspace, &python)?).env(PYTHON, python);
    test.env(FASTWARC, python::fastwarc(&workspace)?);
    match &shared {
        Some(shared) => test.env(SHARED, shared),
        None => test.env_remove(SHARED),
    };
    let passed = process::succeeds(&mut test)?;

    print_needs(&warcio, shared.as_deref());
    println!("tests: {}", if passed { "passed" } else { "FAILED" });
    Ok(Verdict::passed(passed))
}

/// The shared directory, if there is one with data in it.
fn shared_directory(root: &Path) -> Option<PathBuf> {
    let given = env::var_os(SHARED).filter(|given| !given.is_empty()).map(PathBuf::from);
    let directory = given.unwrap_or_else(|| root.join("../shared"));
    directory.join("data").is_dir().then(|| directory.canonicalize().unwrap_or(directory))
}

fn warn_without(shared: Option<&Path>) {
    if shared.is_none() {
        eprintln!(
            "*** NO SHARED DATA: every test that reads it WILL BE SKIPPED (set `{SHARED}` to its directory) ***"
        );
    }
}

/// `passed_on`, for the whole workspace unless it names packages.
fn cargo_test_arguments(passed_on: &[String]) -> Vec<String> {
    let for_cargo = passed_on.split(|argument| argument == "--").next().unwrap_or_default();
    let names_packages = for_cargo.iter().any(|argument| {
        argument.starts_with("-p")
            || ["--package", "--workspace", "--manifest-path"].iter().any(|o| argument.starts_with(o))
    });
    let workspace = (!names_packages).then(|| "--workspace".to_owned());
    workspace.into_iter().chain(passed_on.iter().cloned()).collect()
}

fn print_needs(warcio: &Path, shared: Option<&Path>) {
    println!("\nneeds of the tests:");
    for need in NEEDS {
        print_need(need.name, (need.find)().as_deref());
    }
    for package in python::WANTED {
        print_need(package, warcio.parent());
    }
    print_need("shared data", shared);
    warn_without(shared);
}

fn print_need(name: &str, found: Option<&Path>) {
    let found = found.map_or("MISSING".into(), |path| path.display().to_string());
    println!("  {name:<16} {found}");
}

#[cfg(test)]
mod tests {
    use super::cargo_test_arguments;

    #[track_caller]
    fn check(passed_on: &str, expected: &str) {
        let words: Vec<String> = passed_on.split_whitespace().map(str::to_owned).collect();
        assert_eq!(cargo_test_arguments(&words).join(" "), expected);
    }

    #[test]
    fn the_whole_workspace_is_tested_unless_packages_are_named() {
        check("", "--workspace");
        check("--release", "--workspace --release");
        check("-p base", "-p base");
        check("-pbase", "-pbase");
        check("--package=base", "--package=base");
        check("--workspace --exclude bench", "--workspace --exclude bench");
    }

    #[test]
    fn what_goes_to_the_test_programs_names_no_packages() {
        check("-- -p", "--workspace -- -p");
        check("-p base -- survives_", "-p base -- survives_");
    }
}
