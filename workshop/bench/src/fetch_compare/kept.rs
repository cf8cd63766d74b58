//! Checks that a client wrote everything that it fetched.

use crate::fetch_pages::List;
use crate::warc_pages::cannot;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use warc::check::{Check, Severity};
use warc::{Kind, WarcReader};

/// The output of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// WARC files without faults by the standard, with a response for every page.
    Checked,
    /// WARC files with a response for every page.
    Records,
    /// A file for every page.
    Files,
}

/// Maximum length of a block.
const BLOCK_BYTES_MAX: usize = 64 << 20;

impl Kept {
    /// Checks that every page of the list is below `directory`.
    pub(super) fn check(self, directory: &Path, list: &List) -> Result<()> {
        let mut files = Vec::new();
        files_below(directory, &mut files)?;
        let (mut pages, mut bytes) = (0, 0);
        match self {
            Self::Files => {
                pages = files.len();
                bytes = bytes_below(directory)?;
            }
            Self::Checked | Self::Records => {
                for file in files.iter().filter(|file| is_warc(file)) {
                    if self == Self::Checked {
                        check(file)?;
                    }
                    let (more_pages, more_bytes) = responses(file)?;
                    pages += more_pages;
                    bytes += more_bytes;
                }
            }
        }
        ensure!(pages == list.urls.len(), "it kept {pages} of {} pages", list.urls.len());
        ensure!(bytes >= list.body_bytes, "it kept {bytes} of {} bytes", list.body_bytes);
        Ok(())
    }
}

pub(crate) fn is_warc(path: &Path) -> bool {
    let ends = [".warc", ".warc.gz", ".warc.zst"];
    path.to_str().is_some_and(|path| ends.iter().any(|end| path.ends_with(end)))
}

/// No clause of the standard may be broken.
pub(crate) fn check(file: &Path) -> Result<()> {
    let mut check = Check::new(File::open(file).with_context(|| cannot("open", file))?);
    for finding in check.by_ref() {
        let finding = finding.with_context(|| cannot("read", file))?;
        ensure!(finding.severity != Severity::Error, "`{}`: {finding:?}", file.display());
    }
    Ok(())
}

/// Number of responses in a file, and the length of their blocks.
pub(crate) fn responses(file: &Path) -> Result<(usize, u64)> {
    let mut reader =
        WarcReader::new(File::open(file).with_context(|| cannot("open", file))?, BLOCK_BYTES_MAX);
    let (mut pages, mut bytes) = (0, 0);
    while let Some(record) = reader.advance() {
        let record = record.with_context(|| cannot("read", file))?;
        if record.kind() == Kind::Response {
            pages += 1;
            bytes += record.block.len() as u64;
        }
    }
    Ok((pages, bytes))
}

/// Total length of all files below `directory`.
pub(crate) fn bytes_below(directory: &Path) -> Result<u64> {
    let mut files = Vec::new();
    files_below(directory, &mut files)?;
    let length = |file: &PathBuf| Ok(fs::metadata(file).with_context(|| cannot("look at", file))?.len());
    files.iter().map(length).sum()
}

pub(crate) fn files_below(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).with_context(|| cannot("list", directory))? {
        let entry = entry.with_context(|| cannot("list", directory))?;
        if entry.file_type().with_context(|| cannot("look at", directory))?.is_dir() {
            files_below(&entry.path(), found)?;
        } else {
            found.push(entry.path());
        }
    }
    Ok(())
}
