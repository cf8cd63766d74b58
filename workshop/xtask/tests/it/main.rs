//! Runs the task runner as a person would.
#![cfg(test)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// What `cargo xtask` gives in `directory`.
fn xtask(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).current_dir(directory).output().unwrap()
}

/// Fails unless `output` ended with `code`, and returns what it printed.
#[track_caller]
fn check(output: &Output, code: i32) -> String {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_workspace_keeps_its_layers() {
    check(&xtask(&workspace_root(), &["layers"]), 0);
}

/// The control to the test above: a workspace of two crates whose lower one uses the upper one.
#[test]
fn a_workspace_that_breaks_its_layers_is_found_out() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layers");
    let table = "| layer | crate | one line | rooms | may use |\n|---|---|---|---|---|\n\
                 | 0 | `low` | a | – | – |\n| 1 | `high` | b | attic | `low` |\n";
    write(&root.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n");
    write(&root.join("ARCHITECTURE.md"), table);
    write_crate(&root, "low", "[dependencies]\nhigh = { path = \"../high\" }\n");
    write_crate(&root, "high", "[dev-dependencies]\nlow = { path = \"../low\" }\n");
    let text = check(&xtask(&root, &["layers"]), 1);
    assert_eq!(
        text,
        "not allowed: `low` uses `high`, which the table does not allow\n\
         not allowed: rooms of `high`: the crate lacks attic\n\
         layers: 2 crates, 2 faults\n"
    );
}

fn write_crate(root: &Path, name: &str, dependencies: &str) {
    let directory = root.join("crates").join(name);
    write(
        &directory.join("Cargo.toml"),
        &format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{dependencies}"),
    );
    write(&directory.join("src/lib.rs"), "");
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn an_unknown_torture_is_refused_with_the_known_names() {
    let text = check(&xtask(&workspace_root(), &["torture", "feather"]), 2);
    assert!(
        text.contains(
            "`archive-oracle`, `crawl-kill`, `disk`, `fetch-hostile`, `guard`, `guard-model`, `kill`"
        ),
        "{text}"
    );
}

#[test]
fn a_task_without_its_name_is_refused() {
    for task in ["bench", "torture"] {
        check(&xtask(&workspace_root(), &[task]), 2);
    }
}
