//! Debian packages, installed or only unpacked.
//!
//! A package that brings a service is never installed, since installing starts the service. [`tree`] unpacks it
//! into a directory of ours instead, and the system stays as it was.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// Written last into a tree: the packages it was made of.
const STAMP: &str = ".packages";
/// Names the archives that a tree was unpacked from.
const VERSIONS: &str = ".versions";
/// What a failed look-up of packages most likely means.
const UNKNOWN: &str = "apt knows no such package: run `apt-get update` as root, then try again";

/// Whether packages may be installed here: as root, on a Debian-like system.
pub(crate) fn may_install() -> bool {
    is_root() && Path::new("/etc/debian_version").exists() && process::find("apt-get").is_some()
}

/// Installs `packages` on the system.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    process::must_succeed(apt_get().arg("update"))?;
    process::must_succeed(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(packages))
}

/// A directory with `packages` and those of their dependencies that the system lacks, unpacked but not installed.
///
/// It is made once and kept as `tools/debian/NAME` beside the builds.
pub(crate) fn tree(workspace: &Workspace, name: &str, packages: &[&str]) -> Result<PathBuf> {
    kept_tree(workspace, name, packages, with_dependencies)
}

/// The same with only those dependencies that are documentation; programs to read it are not needed.
///
/// Its file `.versions` names what was unpacked.
pub(crate) fn documentation(workspace: &Workspace, name: &str, packages: &[&str]) -> Result<PathBuf> {
    kept_tree(workspace, name, packages, with_documentation)
}

fn kept_tree(
    workspace: &Workspace,
    name: &str,
    packages: &[&str],
    resolve: fn(&[&str]) -> Result<BTreeSet<String>>,
) -> Result<PathBuf> {
    let directory = workspace.tools().join("debian");
    let tree = directory.join(name);
    if fs::read_to_string(tree.join(STAMP)).is_ok_and(|made_of| made_of == packages.join("\n")) {
        return Ok(tree);
    }
    let archives = directory.join(format!("{name}.archives"));
    make_empty(&archives)?;
    make_empty(&tree)?;
    if may_install() {
        // An old list names versions that the mirror no longer has.
        process::must_succeed(apt_get().arg("update"))?;
    }
    download(&resolve(packages)?, &archives)?;
    unpack(&archives, &tree)?;
    write_versions(&archives, &tree)?;
    fs::write(tree.join(STAMP), packages.join("\n")).with_context(|| cannot("write into", &tree))?;
    fs::remove_dir_all(&archives).with_context(|| cannot("remove", &archives))?;
    Ok(tree)
}

/// The directories of `tree` in which its programs look for libraries.
pub(crate) fn library_directories(tree: &Path) -> Vec<PathBuf> {
    let places = ["lib", "usr/lib"].map(|directory| tree.join(directory));
    let below = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    let of_machine = below
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && path.to_string_lossy().contains("-linux-gnu"));
    of_machine.chain(places.iter().filter(|place| holds_libraries(place)).cloned()).collect()
}

/// Whether libraries lie in `directory` itself, where a few old packages put them.
fn holds_libraries(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().contains(".so."))
}

/// `packages` and their dependencies that are not installed, as apt would choose them.
fn with_dependencies(packages: &[&str]) -> Result<BTreeSet<String>> {
    let mut plan = apt_get();
    plan.args(["install", "--simulate", "--no-install-recommends"]).args(packages);
    let plan = process::output(&mut plan).context(UNKNOWN)?;
    Ok(packages.iter().map(ToString::to_string).chain(planned(&plan)).collect())
}

/// `packages` and the documentation packages that they depend on.
fn with_documentation(packages: &[&str]) -> Result<BTreeSet<String>> {
    let mut depends = Command::new("apt-cache");
    depends.env("LC_ALL", "C").args(["depends", "--important"]).args(packages);
    let depends = process::output(&mut depends).context(UNKNOWN)?;
    Ok(packages.iter().map(ToString::to_string).chain(documentation_of(&depends)).collect())
}

/// The documentation packages among those named by the `Depends` lines of `apt-cache depends`.
fn documentation_of(depends: &str) -> impl Iterator<Item = String> {
    let names = depends.lines().filter_map(|line| line.trim_start().strip_prefix("Depends: "));
    names.filter(|name| name.contains("-doc") || name.contains("-help")).map(str::to_owned)
}

/// The packages named by the `Inst` lines of a simulated installation.
fn planned(plan: &str) -> impl Iterator<Item = String> {
    plan.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next()).map(str::to_owned)
}

fn download(packages: &BTreeSet<String>, into: &Path) -> Result<()> {
    let mut command = apt_get();
    if is_root() {
        // Otherwise apt switches to a user who may not write here, and warns.
        command.args(["-o", "APT::Sandbox::User=root"]);
    }
    process::must_succeed(command.arg("download").args(packages).current_dir(into))
}

fn unpack(archives: &Path, tree: &Path) -> Result<()> {
    for entry in fs::read_dir(archives).with_context(|| cannot("list", archives))? {
        let archive = entry.with_context(|| cannot("list", archives))?.path();
        process::must_succeed(Command::new("dpkg").arg("--extract").args([&archive, tree]))?;
    }
    Ok(())
}

/// Writes the names of the archives, which hold their versions, into the tree.
fn write_versions(archives: &Path, tree: &Path) -> Result<()> {
    let entries = fs::read_dir(archives).with_context(|| cannot("list", archives))?.flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    fs::write(tree.join(VERSIONS), names.join("\n")).with_context(|| cannot("write into", tree))
}

fn make_empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| cannot("remove", directory))?;
    }
    fs::create_dir_all(directory).with_context(|| cannot("make", directory))
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C").stdin(std::process::Stdio::null());
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn cannot(action: &str, path: &Path) -> String {
    format!("cannot {action} `{}`", path.display())
}

#[cfg(test)]
mod tests {
    use super::{documentation_of, planned};

    #[test]
    fn a_plan_names_what_would_be_installed() {
        let plan = "The following NEW packages will be installed:\n  b a\n\
                    Inst a (1.0 Debian:12/stable [all])\nInst b [0.9] (1.0 Debian:12/stable [amd64])\n\
                    Conf a (1.0 Debian:12/stable [all])\n";
        assert_eq!(planned(plan).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn only_dependencies_that_are_documentation_are_taken() {
        let depends = "libreoffice-help-ja\n  Depends: libreoffice-common\n  Depends: libreoffice-help-common\n\
                       python3-doc\n  Depends: python3.11-doc\n  Suggests: python3-examples\n |Depends: lynx\n";
        assert_eq!(
            documentation_of(depends).collect::<Vec<_>>(),
            ["libreoffice-help-common", "python3.11-doc"]
        );
    }
}
