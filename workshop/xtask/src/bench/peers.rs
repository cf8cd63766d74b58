//! The peer stores, which are built from source: `workshop/peers`.
//!
//! They have their own workspace, because `RocksDB` alone takes longer to compile than all our code. A machine on which
//! they cannot be built still runs the benchmark, without them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::tools::{self, debian};
use crate::workspace::Workspace;

/// The benchmarks that compare with them.
pub(super) const BENCHES: &[&str] = &["sat", "register"];

/// The variable with the path of the built program.
const VARIABLE: &str = "UTSUSHI_PEERS";

/// The package that reads `RocksDB`'s header at build time.
const LIBCLANG: &str = "libclang-dev";
/// Berkeley DB, linked into the program.
const BERKELEY_DB: &str = "libdb5.3-dev";

/// The Debian packages that are unpacked to build them.
pub(super) const PACKAGES: &[&str] = &[LIBCLANG, BERKELEY_DB];

/// Builds the peers and passes their paths to `bench`; returns the reason if that fails.
pub(super) fn lead_to(workspace: &Workspace, bench: &mut Command) {
    match build_as_many_as_possible(workspace) {
        Ok(program) => {
            bench.env(VARIABLE, program);
        }
        Err(error) => eprintln!("the peers cannot be built, and the benchmark runs WITHOUT THEM: {error:#}"),
    }
}

/// Builds all of them, or all but `RocksDB`, which needs the most.
fn build_as_many_as_possible(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("peers");
    let mut environment = vec![("CARGO_TARGET_DIR", target.clone().into_os_string())];
    environment.extend(berkeley_db(workspace));
    let all = rocksdb(workspace).and_then(|more| {
        let environment = environment.iter().cloned().chain(more);
        process::must_succeed(build(workspace).envs(environment))
    });
    if let Err(error) = all {
        eprintln!("RocksDB cannot be built, and is LEFT OUT: {error:#}");
        process::must_succeed(build(workspace).arg("--no-default-features").envs(environment))?;
    }
    Ok(target.join("release/peers"))
}

/// The build, started in the directory of its settings.
fn build(workspace: &Workspace) -> Command {
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--locked"]).current_dir(workspace.root.join("workshop/peers"));
    cargo
}

/// What the build needs to find Berkeley DB; `None` if it is not available.
fn berkeley_db(workspace: &Workspace) -> Option<(&'static str, OsString)> {
    match debian::tree(workspace, "libdb", &[BERKELEY_DB]) {
        Ok(tree) => Some(("UTSUSHI_BERKELEY_DB", tree.join("usr").into_os_string())),
        Err(error) => {
            eprintln!("Berkeley DB is not available, and is LEFT OUT: {error:#}");
            None
        }
    }
}

/// What the build needs for `RocksDB`; a machine without Debian packages may have it anyway.
fn rocksdb(workspace: &Workspace) -> Result<Vec<(&'static str, OsString)>> {
    tools::ensure(&[&tools::CXX_COMPILER])?;
    match debian::tree(workspace, "libclang", &[LIBCLANG]) {
        Ok(tree) => libclang(&tree),
        Err(error) => {
            eprintln!("`{LIBCLANG}` cannot be unpacked, trying the system's: {error:#}");
            Ok(Vec::new())
        }
    }
}

/// How libclang is found in `tree`. One that the system has already is not in there, and is found without help.
fn libclang(tree: &Path) -> Result<Vec<(&'static str, OsString)>> {
    let Some(library) = below(tree, "usr/lib", "llvm-").map(|llvm| llvm.join("lib")) else {
        return Ok(Vec::new());
    };
    if !library.join("libclang.so.1").exists() {
        return Ok(Vec::new());
    }
    let mut environment = vec![("LIBCLANG_PATH", library.clone().into_os_string())];
    // It looks for its own headers beside the target of a link, where they are not.
    if let Some(resources) = below(&library, "clang", "") {
        let mut argument = OsString::from("-resource-dir=");
        argument.push(resources);
        environment.push(("BINDGEN_EXTRA_CLANG_ARGS", argument));
    }
    let libraries =
        std::env::join_paths(debian::library_directories(tree)).context("a path holds a colon")?;
    environment.push(("LD_LIBRARY_PATH", libraries));
    Ok(environment)
}

/// An entry of `directory` below `root` whose name starts with `start`.
fn below(root: &Path, directory: &str, start: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(root.join(directory)).ok()?;
    entries
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(start))
        .map(|entry| entry.path())
}
