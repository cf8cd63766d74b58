//! Programs of others, in the Python environment that `cargo xtask test` makes; `UTSUSHI_PYTHON` names its Python.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

const VARIABLE: &str = "UTSUSHI_PYTHON";

/// A program of the environment; without one, says that `what` is not tested. Not by `eprintln!`, whose output is shown
/// only for failed tests.
pub(crate) fn tool(name: &str, what: &str) -> Option<Command> {
    let Some(python) = std::env::var_os(VARIABLE).filter(|python| !python.is_empty()) else {
        let _ = writeln!(
            std::io::stderr(),
            "NOT TESTED: {what}, because `{VARIABLE}` does not say where Python is"
        );
        return None;
    };
    let mut command = Command::new(PathBuf::from(python).with_file_name(name));
    // No network access, and the same output everywhere.
    command.env("PYTHONUTF8", "1").env("PYTHONDONTWRITEBYTECODE", "1").env_remove("HTTP_PROXY");
    Some(command)
}

/// Runs a program that must succeed; what it printed.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}
