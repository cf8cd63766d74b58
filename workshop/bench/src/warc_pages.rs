//! The pages that the comparison of WARC readers and writers works on, and the files made of them.
//!
//! The pages are the HTML of documentation packages, in an order that is always the same and mixes the packages, or goes by
//! length. When
//! there are fewer than records asked for, all of them come again under other URLs: every record is compressed on its
//! own, so that a page that comes again costs what it cost the first time.

use anyhow::{Context, Result, ensure};
use base::{PageUrl, Sha1Digest, Timestamp};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use warc::{Compression, Draft, HTTP_RESPONSE, Kind, RecordId, WarcReader, WarcWriter};

/// One answer to be archived.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) url: String,
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// In which order pages come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Without any: a run with few records has pages of every package.
    Mixed,
    /// By their lengths, those that come again beside each other, with a remark at the end that makes each another.
    LongestLast,
}

/// Puts `records` pages from below `directory` into the file `to`, one after the other.
pub(crate) fn gather(directory: &Path, records: usize, to: &Path, layout: Layout) -> Result<()> {
    let mut paths = Vec::new();
    find_html(directory, &mut paths)?;
    paths.sort_by_cached_key(|path| {
        let name = path.strip_prefix(directory).unwrap_or(path);
        Sha1Digest::of(&[name.as_os_str().as_encoded_bytes()]).to_string()
    });
    paths.truncate(records);
    if layout == Layout::LongestLast {
        paths.sort_by_cached_key(|path| fs::metadata(path).map_or(0, |file| file.len()));
    }
    ensure!(!paths.is_empty(), "no HTML below `{}`", directory.display());
    let bodies = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>().context("cannot read a page")?;
    let mut file = BufWriter::new(File::create(to).with_context(|| cannot("make", to))?);
    for number in 0..records {
        let (copy, place) = match layout {
            Layout::Mixed => (number / paths.len(), number % paths.len()),
            Layout::LongestLast => {
                let place = number * paths.len() / records;
                (number - (place * records).div_ceil(paths.len()), place)
            }
        };
        let (Some(path), Some(body)) = (paths.get(place), bodies.get(place)) else { continue };
        let path = path.strip_prefix(directory)?.to_string_lossy();
        let url = PageUrl::parse(&format!("https://docs-{copy}.example.org/{path}"))?;
        // An archive keeps the same content once, so that a page which comes again has to be another.
        let remark = match (layout, copy) {
            (Layout::Mixed, _) | (_, 0) => String::new(),
            (Layout::LongestLast, copy) => format!("<!-- {copy} -->"),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nDate: Mon, 16 Nov 2026 09:00:00 GMT\r\nServer: Apache\r\n\
             Content-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
            body.len() + remark.len()
        );
        for piece in [&[url.as_str().as_bytes()][..], &[head.as_bytes()], &[body, remark.as_bytes()]] {
            let length: usize = piece.iter().map(|part| part.len()).sum();
            file.write_all(&u32::try_from(length)?.to_le_bytes())?;
            piece.iter().try_for_each(|part| file.write_all(part))?;
        }
    }
    file.flush().with_context(|| cannot("write", to))
}

/// The HTML below `directory`.
pub(crate) fn find_html(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).with_context(|| cannot("list", directory))? {
        let entry = entry.with_context(|| cannot("list", directory))?;
        // What a link leads to is found where it lies.
        let kind = entry.file_type().with_context(|| cannot("look at", directory))?;
        if kind.is_dir() {
            find_html(&entry.path(), found)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "html") {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Reads what [`gather`] wrote.
#[derive(Debug)]
pub(crate) struct Pages(BufReader<File>);

impl Pages {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| cannot("open", path))?;
        Ok(Self(BufReader::with_capacity(1 << 20, file)))
    }
    /// Reads the next page into `page`; false at the end.
    pub(crate) fn read(&mut self, page: &mut Page) -> Result<bool> {
        let mut url = std::mem::take(&mut page.url).into_bytes();
        let is_one = self.read_piece(&mut url)?;
        page.url = String::from_utf8(url)?;
        Ok(is_one && self.read_piece(&mut page.head)? && self.read_piece(&mut page.body)?)
    }

    fn read_piece(&mut self, piece: &mut Vec<u8>) -> Result<bool> {
        let mut length = [0; 4];
        match self.0.read_exact(&mut length) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            result => result?,
        }
        piece.resize(u32::from_le_bytes(length) as usize, 0);
        self.0.read_exact(piece)?;
        Ok(true)
    }
}

/// Writes all pages as records of `to`; says how many there are.
pub(crate) fn write(pages: &Path, to: &Path, compression: Compression) -> Result<u64> {
    let at: Timestamp = "2026-11-16T09:00:00.000001Z".parse()?;
    let mut pages = Pages::open(pages)?;
    let mut file = File::create(to).with_context(|| cannot("make", to))?;
    let mut writer = WarcWriter::new(compression);
    let (mut page, mut pending, mut written, mut records) = (Page::default(), Vec::new(), 0, 0);
    while pages.read(&mut page)? {
        let offset = written + pending.len() as u64;
        let id = RecordId::at("pages.warc", offset, at, &Kind::Response);
        let draft = Draft::new(&Kind::Response, &id, at).target(&page.url);
        let draft = draft.payload_digest(Sha1Digest::of(&[&page.body]));
        writer.append(draft, HTTP_RESPONSE, &[&page.head, &page.body], &mut pending);
        records += 1;
        if pending.len() > 1 << 20 {
            file.write_all(&pending)?;
            written += pending.len() as u64;
            pending.clear();
        }
    }
    file.write_all(&pending).with_context(|| cannot("write", to))?;
    Ok(records)
}

/// Writes down how long every record of `file` is, for a loop that knows nothing of records.
pub(crate) fn write_lengths(file: &Path, to: &Path) -> Result<()> {
    let mut reader = WarcReader::new(File::open(file).with_context(|| cannot("open", file))?, 0);
    let mut lengths = Vec::new();
    while let Some(record) = reader.advance() {
        lengths.extend_from_slice(&u32::try_from(record?.length)?.to_le_bytes());
    }
    fs::write(to, lengths).with_context(|| cannot("write", to))
}

pub(crate) fn cannot(action: &str, path: &Path) -> String {
    format!("cannot {action} `{}`", path.display())
}
