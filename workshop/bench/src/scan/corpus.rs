//! The archive that is scanned: real pages, imported by our program, the longest ones last.
//!
//! The pages are those of `bench warc`, the HTML of documentation packages in several languages, repeated under other
//! URLs up to the requested number, ordered by length. So the work is as uneven as possible: equal parts of the bytes
//! are unequal parts of the documents, and the longest documents come at the end, where all workers should finish
//! together.

use crate::warc_pages::{self, Layout, cannot};
use anyhow::{Context, Result, ensure};
use archive::{Choice, Reader, SortOrder, Sorter};
use base::Timestamp;
use base::disk::RealDisk;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The archive, and what is known about it.
#[derive(Debug)]
pub(super) struct Corpus {
    /// Where results go.
    pub(super) directory: PathBuf,
    pub(super) documents: u64,
    pub(super) jobs: usize,
    /// The URL of the longest document.
    pub(super) longest: String,
}

/// The variables with the paths of our program and of the pages.
const PROGRAM: &str = "UTSUSHI_PROGRAM";
const PAGES: &str = "UTSUSHI_PAGES";
/// Length of an archive file: short enough that whole files can be distributed evenly.
const FILE_BYTES_MAX: &str = "16MiB";
const SORTER_BYTES: usize = 64 << 20;

impl Corpus {
    /// Makes the archive unless it is there.
    pub(super) fn ensure(directory: &Path, documents: usize, jobs: usize) -> Result<Self> {
        let directory = directory.join(documents.to_string());
        let note = directory.join("made-of.txt");
        let made_of = format!("corpus 4, {documents} documents, files of {FILE_BYTES_MAX}\n");
        if !fs::read_to_string(&note).is_ok_and(|text| text == made_of) {
            make(&directory, documents)?;
            fs::write(&note, made_of).with_context(|| cannot("write", &note))?;
        }
        let longest =
            fs::read_to_string(directory.join("longest.txt")).context("cannot read what is longest")?;
        Ok(Self { directory, documents: documents as u64, jobs, longest })
    }

    pub(super) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
    /// Where each document is, in the order in which they lie on disk: for the bare loop.
    pub(super) fn members(&self) -> PathBuf {
        self.directory.join("members.tsv")
    }
    /// Our program with the path of the archive.
    pub(super) fn utsushi(&self) -> Result<Command> {
        utsushi(&self.data())
    }
    /// Files of the archive, in order.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>> {
        let directory = self.data().join("archive");
        let found = fs::read_dir(&directory).with_context(|| cannot("list", &directory))?;
        let mut files: Vec<PathBuf> = found.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.to_string_lossy().ends_with(".warc.gz"));
        files.sort();
        Ok(files)
    }
}

fn utsushi(data: &Path) -> Result<Command> {
    let program = std::env::var_os(PROGRAM).context("run this through `cargo xtask bench scan`")?;
    let mut command = Command::new(program);
    command.arg("--quiet").arg("--data").arg(data);
    Ok(command)
}

fn make(directory: &Path, documents: usize) -> Result<()> {
    let tree = std::env::var_os(PAGES).context("run this through `cargo xtask bench scan`")?;
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| cannot("remove", directory))?;
    }
    fs::create_dir_all(directory.join("data")).with_context(|| cannot("make", directory))?;
    eprintln!("making an archive of {documents} documents in `{}`", directory.display());
    let (pages, file, data) =
        (directory.join("pages"), directory.join("pages.warc.gz"), directory.join("data"));
    warc_pages::gather(Path::new(&tree), documents, &pages, Layout::LongestLast)?;
    let written = warc_pages::write(&pages, &file, warc::Compression::Gzip(warc::Level::DEFAULT))?;
    ensure!(written == documents as u64, "`{}` has {written} records", file.display());
    let settings = format!("[archive]\nfile_bytes_max = \"{FILE_BYTES_MAX}\"\n");
    fs::write(data.join("utsushi.toml"), settings).with_context(|| cannot("write into", &data))?;
    let status = utsushi(&data)?.arg("import").arg(&file).status().context("cannot start our program")?;
    ensure!(status.success(), "the pages cannot be imported: {status}");
    for path in [&pages, &file] {
        fs::remove_file(path).with_context(|| cannot("remove", path))?;
    }
    list_members(directory, documents)
}

/// Writes down where every document is, and which one is the longest.
fn list_members(directory: &Path, documents: usize) -> Result<()> {
    let reader = Reader::open(Arc::new(RealDisk), &directory.join("data/archive"))?;
    let now: Timestamp = "2100-01-01T00:00:00Z".parse()?;
    let mut sorter = Sorter::new(SortOrder::Address, directory, SORTER_BYTES);
    reader.snapshot(&Choice::as_of(now)?)?.try_for_each(|version| sorter.push(&version?))?;
    let (mut list, mut count, mut longest) = (Vec::new(), 0, (0, String::new()));
    for version in sorter.finish()? {
        let entry = version?.payload;
        writeln!(list, "{}\t{}\t{}", entry.location.file, entry.location.offset, entry.location.length)?;
        if entry.location.length > longest.0 {
            longest = (entry.location.length, entry.url.clone());
        }
        count += 1;
    }
    ensure!(count == documents, "the archive has {count} documents");
    fs::write(directory.join("members.tsv"), list).context("cannot write the list of members")?;
    fs::write(directory.join("longest.txt"), longest.1).context("cannot write what is longest")
}
