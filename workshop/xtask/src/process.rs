//! Running other programs, visibly.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::{env, path::PathBuf};

use anyhow::{Context, Result, ensure};

/// The cargo that runs this task.
///
/// Variables about the package `xtask` are not passed on: a build script that watches such a variable
/// would be run again at every change between `cargo xtask test` and plain `cargo test`.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os().filter(|(name, _)| speaks_of_this_package(name)) {
        cargo.env_remove(name);
    }
    cargo
}

/// Whether `name` is a variable by which cargo describes the package it runs.
fn speaks_of_this_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Prints `command`, runs it and returns whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Result<bool> {
    eprintln!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    Ok(status.success())
}

/// Prints `command` and runs it; an error if it fails.
pub(crate) fn must_succeed(command: &mut Command) -> Result<()> {
    let succeeded = succeeds(command)?;
    ensure!(succeeded, "`{}` failed: its output above says why", shown(command));
    Ok(())
}

/// Runs `command` silently and returns whether it succeeded; false if it cannot be started.
pub(crate) fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// What `command` prints to its standard output; an error if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{line}`"))?;
    ensure!(output.status.success(), "`{line}` failed: its output above says why");
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed something that is not UTF-8"))
}

/// The path of `program`, if one of the directories of `PATH` holds it.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(program))
        .find(|path| path.is_file())
}

/// `command` as one would type it, with the program's name alone.
fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let words = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
}
