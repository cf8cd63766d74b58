//! Links between documents, and names of files in ARCHITECTURE.md.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::source;

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Links that lead to no file or heading, and files that ARCHITECTURE.md names and that do not exist.
pub(super) fn broken(root: &Path) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    for document in source::documents(root)? {
        let text = source::read(&document)?;
        let shown = document.strip_prefix(root).unwrap_or(&document).display().to_string();
        for link in links(&text) {
            if !leads_somewhere(&document, &text, link)? {
                broken.push(format!("{shown}: {link}"));
            }
        }
        if document == root.join(ARCHITECTURE) {
            let missing = files(&text).into_iter().filter(|name| !exists(root, name));
            broken.extend(missing.map(|name| format!("{shown}: {name}")));
        }
    }
    Ok(broken)
}

/// The targets of links within the project.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).collect()
}

fn leads_somewhere(document: &Path, text: &str, link: &str) -> Result<bool> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    if file.is_empty() {
        return Ok(anchors(text).contains(anchor));
    }
    let target: PathBuf = document.parent().unwrap_or(Path::new("")).join(file);
    if anchor.is_empty() || !target.is_file() {
        return Ok(target.exists());
    }
    Ok(anchors(&source::read(&target)?).contains(anchor))
}

/// The anchors of a document: its headings and what it names by `<a id="…">`.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let named = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name);
    headings.map(slug).chain(named.map(ToOwned::to_owned)).collect()
}

/// The anchor that a heading gets.
fn slug(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Words in backticks that are names of source files.
fn files(text: &str) -> Vec<&str> {
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_file = |name: &&str| {
        name.contains('/')
            && [".rs", ".md", ".toml"].iter().any(|end| name.ends_with(end))
            && !name.contains(' ')
    };
    quoted.filter(is_file).collect()
}

/// Whether a file exists below the root or below `crates`.
fn exists(root: &Path, name: &str) -> bool {
    root.join(name).is_file() || root.join("crates").join(name).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn links_anchors_and_files_are_found() {
        let text =
            "# The `a`: b\n[x](y.md#z) [w](https://w.example/) <a id=\"named\"></a> `a/b.rs` `a b/c.rs` `c`";
        assert_eq!(links(text), ["y.md#z"]);
        assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["named", "the-a-b"]);
        assert_eq!(files(text), ["a/b.rs"]);
    }

    #[test]
    fn a_link_to_nothing_is_broken() {
        let here = Path::new("here.md");
        assert!(leads_somewhere(here, "# One\n", "#one").unwrap());
        assert!(!leads_somewhere(here, "# One\n", "#two").unwrap());
        assert!(!leads_somewhere(here, "", "no/such/file.md").unwrap());
    }

    #[test]
    fn every_link_of_this_project_leads_somewhere() {
        let broken = broken(&Workspace::load().unwrap().root).unwrap();
        assert!(broken.is_empty(), "{broken:#?}");
    }
}
