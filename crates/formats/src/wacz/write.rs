//! Writes a package in one pass over the records; index and pages wait in files without a name.

use super::{MANIFEST, MANIFEST_DIGEST};
use crate::Error;
use crate::cdxj::{Lines, halves};
use crate::json::Object;
use crate::member::Coding;
use crate::pick::{Pick, Picks};
use crate::sort::Sorted;
use crate::source::Source;
use crate::warc_file::{About, Copied, WarcFile};
use crate::zip::write::{Entry, ZipWriter, hex};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use std::io::{self, Seek, Write};
use std::path::Path;
use tempfile::SpooledTempFile;

const WARC_NAME: &str = "data.warc.gz";
const INDEX_NAME: &str = "index.cdx.gz";
const WARC: &str = "archive/data.warc.gz";
const INDEX: &str = "indexes/index.cdx.gz";
const BLOCKS: &str = "indexes/index.idx";
const PAGES: &str = "pages/pages.jsonl";

/// The lines of a compressed block: a reader fetches one block to find a page.
const BLOCK_LINES: usize = 1_024;
/// Maximum bytes of the lists of blocks and of pages in memory.
const SPOOL_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Writes a package of the picked records; `out` is at its beginning. What does not fit into memory is spooled to
/// `directory`.
pub fn write<W: Write + Seek>(
    picks: Picks,
    source: &impl Source,
    directory: &Path,
    about: &About,
    out: W,
) -> Result<Copied, Error> {
    let mut zip = ZipWriter::new(out, about.created);
    let mut lines = Lines::new(directory);
    let copied = zip.entry(WARC, |entry| write_records(picks, source, about, &mut lines, entry))?;
    let mut lists = Lists::new(directory);
    let mut sorted = lines.finish()?;
    zip.entry(INDEX, |entry| write_index(&mut sorted, &mut lists, entry))?;
    zip.entry(BLOCKS, |entry| copy_spool(&mut lists.blocks, entry))?;
    zip.entry(PAGES, |entry| copy_spool(&mut lists.pages, entry))?;
    let manifest = manifest(about, zip.entries());
    zip.entry(MANIFEST, |entry| put(entry, manifest.as_bytes()))?;
    let digest = format!("sha256:{}", hex(&Sha256::digest(manifest.as_bytes())));
    let digest = Object::default().text("path", MANIFEST).text("hash", &digest).finish();
    zip.entry(MANIFEST_DIGEST, |entry| put(entry, digest.as_bytes()))?;
    zip.finish()?;
    Ok(copied)
}

fn write_records(
    picks: Picks,
    source: &impl Source,
    about: &About,
    lines: &mut Lines,
    entry: &mut impl Write,
) -> Result<Copied, Error> {
    let mut file = WarcFile::begin(WARC_NAME, Coding::Gzip, about, entry)?;
    for pick in picks {
        let pick = pick?;
        let copied = file.copy(&pick, source)?;
        match (copied, pick) {
            (Some((line, place)), _) => lines.record(line, place)?,
            (None, Pick::Also(url, at)) => lines.also(url, at)?,
            (None, _) => {}
        }
    }
    Ok(file.copied)
}

/// Collected while the index is written, and written after it.
struct Lists {
    blocks: SpooledTempFile,
    pages: SpooledTempFile,
}

impl Lists {
    fn new(directory: &Path) -> Self {
        let spool = || tempfile::spooled_tempfile_in(SPOOL_BYTES_MAX, directory);
        Self { blocks: spool(), pages: spool() }
    }
}

fn write_index(sorted: &mut Sorted, lists: &mut Lists, entry: &mut impl Write) -> Result<(), Error> {
    let meta = Object::default().text("format", "cdxj-gzip-1.0").text("filename", INDEX_NAME);
    put(&mut lists.blocks, format!("!meta 0 {}\n", meta.finish()).as_bytes())?;
    let pages =
        Object::default().text("format", "json-pages-1.0").text("id", "pages").text("title", "All Pages");
    put(&mut lists.pages, format!("{}\n", pages.finish()).as_bytes())?;
    let (mut block, mut offset) = (Block::default(), 0);
    while let Some(item) = sorted.next()? {
        let (line, page) = halves(item);
        block.push(line);
        if !page.is_empty() {
            put(&mut lists.pages, &[page, b"\n"].concat())?;
        }
        if block.lines == BLOCK_LINES {
            offset = std::mem::take(&mut block).write(offset, lists, entry)?;
        }
    }
    if block.lines > 0 {
        block.write(offset, lists, entry)?;
    }
    Ok(())
}

/// Lines that are compressed together.
#[derive(Default)]
struct Block {
    /// Key and stamp of the first line.
    first: Vec<u8>,
    lines: usize,
    text: Vec<u8>,
}

impl Block {
    fn push(&mut self, line: &[u8]) {
        if self.lines == 0 {
            self.first = line.splitn(3, |b| *b == b' ').take(2).collect::<Vec<_>>().join(&b' ');
        }
        self.lines += 1;
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
    }

    /// Writes the block, which begins at `offset` of the index. Returns where the next one begins.
    fn write(self, offset: u64, lists: &mut Lists, entry: &mut impl Write) -> Result<u64, Error> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let compressed = encoder.write_all(&self.text).and_then(|()| encoder.finish());
        let compressed = compressed.map_err(Error::io("compress the index"))?;
        let length = compressed.len() as u64;
        let digest = format!("sha256:{}", hex(&Sha256::digest(&compressed)));
        let place =
            Object::default().number("offset", offset).number("length", length).text("digest", &digest);
        put(&mut lists.blocks, &[&self.first, &b" "[..], place.finish().as_bytes(), b"\n"].concat())?;
        put(entry, &compressed)?;
        Ok(offset + length)
    }
}

fn copy_spool(spool: &mut SpooledTempFile, entry: &mut impl Write) -> Result<(), Error> {
    let copied = spool.rewind().and_then(|()| io::copy(spool, entry));
    copied.map(drop).map_err(Error::io("write the package"))
}

fn put(out: &mut impl Write, bytes: &[u8]) -> Result<(), Error> {
    out.write_all(bytes).map_err(Error::io("write the package"))
}

fn manifest(about: &About, entries: &[Entry]) -> String {
    let resource = |entry: &Entry| {
        Object::default()
            .text("name", entry.name.rsplit('/').next().unwrap_or_default())
            .text("path", entry.name)
            .text("hash", &format!("sha256:{}", entry.sha256))
            .number("bytes", entry.bytes)
            .finish()
    };
    Object::default()
        .text("profile", "data-package")
        .text("wacz_version", "1.1.1")
        .text("title", &about.description)
        .text("created", &about.created.to_rfc3339())
        .text("software", &about.software)
        .list("resources", entries.iter().map(resource))
        .finish()
}
