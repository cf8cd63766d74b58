//! The rooms of a crate: the modules that its root declares, except `error`, tests and hidden ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::table::Row;

/// Modules that every crate may have without naming them in the table.
const COMMON: [&str; 2] = ["error", "tests"];

/// Every difference between the room column and the modules of the crates below `crates`.
pub(super) fn faults(rows: &[Row], crates: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for row in rows {
        let src = crates.join(&row.name).join("src");
        if src.is_dir() {
            faults.extend(fault(&row.name, &row.rooms, &declared(&root_text(&src)?)));
        }
    }
    Ok(faults)
}

fn root_text(src: &Path) -> Result<String> {
    for name in ["lib.rs", "main.rs"] {
        let path = src.join(name);
        if path.is_file() {
            return fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()));
        }
    }
    bail!("`{}` has neither lib.rs nor main.rs", src.display())
}

/// The modules that the root of a crate declares for others to read.
fn declared(root: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    let mut is_hidden = false;
    for line in root.lines() {
        if line.starts_with("#[") {
            is_hidden |= line == "#[doc(hidden)]" || line.starts_with("#[cfg(") && line.contains("test");
        } else {
            rooms.extend(module(line).filter(|_| !is_hidden));
            is_hidden = false;
        }
    }
    rooms
}

/// The module that a line declares, unless every crate may have it.
fn module(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
    let name = rest.strip_prefix("mod ")?.trim_end_matches([';', '{', ' ']);
    (!COMMON.contains(&name)).then(|| name.to_owned())
}

/// How the rooms of one crate differ from its modules.
fn fault(name: &str, rooms: &[String], declared: &BTreeSet<String>) -> Option<String> {
    let named: BTreeSet<String> = rooms.iter().cloned().collect();
    if named == *declared {
        return None;
    }
    let missing: Vec<&str> = declared.difference(&named).map(String::as_str).collect();
    let extra: Vec<&str> = named.difference(declared).map(String::as_str).collect();
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("the table lacks {}", missing.join(", ")));
    }
    if !extra.is_empty() {
        parts.push(format!("the crate lacks {}", extra.join(", ")));
    }
    Some(format!("rooms of `{name}`: {}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "//! mod not;\nmod b;\npub mod a;\npub(crate) mod c;\nmod error;\n#[doc(hidden)]\npub mod fuzzing;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod rig;\n\
                        #[cfg(test)]\nmod tests {\n    mod inner;\n}\npub use a::A;\n";

    #[track_caller]
    fn check(rooms: &[&str], expected: Option<&str>) {
        let rooms: Vec<String> = rooms.iter().map(|room| (*room).to_owned()).collect();
        assert_eq!(fault("x", &rooms, &declared(ROOT)).as_deref(), expected);
    }

    #[test]
    fn rooms_are_the_modules_of_the_root() {
        check(&["a", "b", "c"], None);
        check(&["c", "a", "b"], None);
    }

    #[test]
    fn a_difference_is_found() {
        check(&["a", "b", "d"], Some("rooms of `x`: the table lacks c; the crate lacks d"));
        check(&["a", "b"], Some("rooms of `x`: the table lacks c"));
    }
}
