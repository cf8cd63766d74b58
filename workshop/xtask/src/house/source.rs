//! Reads the sources of the product's crates.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// One source file, without its tests.
pub(super) struct Source {
    /// The crate that it belongs to.
    pub(super) crate_name: String,
    /// The names of the modules that lead to it; empty for the root.
    pub(super) module: Vec<String>,
    /// Lines before the tests.
    pub(super) lines: usize,
    /// Lines of each function.
    pub(super) functions: Vec<usize>,
    /// Names of public structs, enums, traits and aliases.
    pub(super) types: Vec<String>,
    /// Paths within the crate that it mentions, without `crate::`.
    pub(super) uses: Vec<Vec<String>>,
}

impl Source {
    /// Crate and modules, as in a path.
    pub(super) fn module_path(&self) -> String {
        std::iter::once(&self.crate_name).chain(&self.module).cloned().collect::<Vec<_>>().join("::")
    }

    fn parse(crate_name: &str, module: Vec<String>, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).collect();
        Self {
            crate_name: crate_name.to_owned(),
            lines: lines.len(),
            functions: functions(&lines),
            types: lines.iter().filter_map(|line| public_type(line)).collect(),
            uses: lines.iter().flat_map(|line| paths(line, &module)).collect(),
            module,
        }
    }
}

/// Every source file below `crates/*/src`, test modules aside.
pub(super) fn read_all(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for folder in list(&root.join("crates"))? {
        let name = file_name(&folder);
        let src = folder.join("src");
        for path in files_below(&src, "rs")? {
            let module = module_of(path.strip_prefix(&src).unwrap_or(&path));
            if module.last().is_some_and(|last| last == "tests") || module.iter().any(|part| part == "tests")
            {
                continue;
            }
            sources.push(Source::parse(&name, module, &read(&path)?));
        }
    }
    Ok(sources)
}

/// The Markdown files of the project.
pub(super) fn documents(root: &Path) -> Result<Vec<PathBuf>> {
    let mut documents = files_below(&root.join("docs"), "md")?;
    documents.extend(files_below(&root.join("crates"), "md")?);
    documents.extend(list(root)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md")));
    Ok(documents)
}

/// Words in the Markdown files of the project.
pub(super) fn document_words(root: &Path) -> Result<usize> {
    let mut words = 0;
    for path in documents(root)? {
        words += read(&path)?.split_whitespace().count();
    }
    Ok(words)
}

/// The modules of a path below `src`.
fn module_of(path: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        path.with_extension("").components().map(|part| part.as_os_str().to_string_lossy().into()).collect();
    if parts.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// The lengths of the functions in formatted lines.
fn functions(lines: &[&str]) -> Vec<usize> {
    let mut lengths = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if !begins_function(line.trim_start()) {
            continue;
        }
        let is_end = |line: &&str| {
            line.len() > indent
                && line.is_char_boundary(indent)
                && line[..indent] == lines[at][..indent]
                && line[indent..].starts_with('}')
        };
        if line.ends_with(';') || line.ends_with('}') {
            lengths.push(1);
        } else if let Some(end) =
            lines[at + 1..].iter().position(|line| is_end(line) || is_declaration_end(line, indent))
        {
            lengths.push(end + 2);
        }
    }
    lengths
}

/// Whether a line ends a declaration without a body, as in a trait.
fn is_declaration_end(line: &str, indent: usize) -> bool {
    line.len() > indent
        && line.is_char_boundary(indent)
        && line[indent..].starts_with(')')
        && line.ends_with(';')
}

fn begins_function(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        ["const", "async", "unsafe", "extern", "\"C\""].contains(word) || word.starts_with("pub")
    });
    words.next() == Some("fn")
}

/// The name of the public type that a line declares.
fn public_type(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pub ")?;
    let (kind, rest) = rest.split_once(' ')?;
    if !["struct", "enum", "trait", "type", "union"].contains(&kind) {
        return None;
    }
    Some(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

/// The paths within the crate in a line, whatever they are relative to.
fn paths(line: &str, module: &[String]) -> Vec<Vec<String>> {
    let code = line.split("//").next().unwrap_or_default();
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != '$') {
            paths.extend(parts(&code[at + "crate::".len()..], &[]));
        }
    }
    if let Some(at) = code.find("super::") {
        let supers = code[at..].matches("super::").count();
        let base = &module[..module.len().saturating_sub(supers)];
        paths.extend(parts(code[at..].trim_start_matches("super::"), base));
    }
    paths
}

/// `a::b::{c, d}` as the paths that it names, after `base`.
fn parts(text: &str, base: &[String]) -> Vec<Vec<String>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let head: String = text.chars().take_while(|c| is_name(*c)).collect();
    let named = |text: &str| -> Vec<String> {
        text.split("::").filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect()
    };
    let first = [base, &named(&head)].concat();
    let Some(group) = text[head.len()..].strip_prefix('{') else { return vec![first] };
    let inner = group.split('}').next().unwrap_or_default();
    inner.split(',').map(|item| [&first[..], &named(item.trim())].concat()).collect()
}

fn files_below(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in list(folder)? {
        if path.is_dir() && file_name(&path) != "target" {
            files.extend(files_below(&path, end)?);
        } else if path.extension().is_some_and(|other| other == end) {
            files.push(path);
        }
    }
    Ok(files)
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
use crate::a::{b, c};
use super::d;
pub struct One;
pub(crate) struct Hidden;
pub fn two() -> u8 {
    crate::e::f()
}
trait T {
    fn three(&self);
}
#[cfg(test)]
mod tests {}
";

    #[test]
    fn a_source_is_measured_before_its_tests() {
        let source = Source::parse("x", vec!["m".to_owned(), "n".to_owned()], TEXT);
        assert_eq!(source.lines, 10);
        assert_eq!(source.functions, [3, 1]);
        assert_eq!(source.types, ["One"]);
        assert_eq!(
            source.uses.iter().map(|path| path.join("::")).collect::<Vec<_>>(),
            ["a::b", "a::c", "m::d", "e::f"]
        );
        assert_eq!(source.module_path(), "x::m::n");
    }
}
