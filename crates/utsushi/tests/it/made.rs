//! Archive files of someone else, made up for the tests.

use crate::program::on;
use base::Timestamp;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use warc::{Draft, Kind, Level, RecordId, WarcWriter};

/// A WARC file on its way.
pub(crate) struct Made {
    bytes: Vec<u8>,
    writer: WarcWriter,
    /// Where each record begins.
    pub(crate) offsets: Vec<u64>,
}

impl Made {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new(), writer: WarcWriter::new(Level::DEFAULT), offsets: Vec::new() }
    }

    /// Adds the answer that `url` gave at `at`.
    pub(crate) fn answer(&mut self, url: &str, at: &str, status: u16, body: &str) -> &mut Self {
        self.typed(url, at, status, "text/html", body)
    }

    /// The same with another media type.
    pub(crate) fn typed(
        &mut self,
        url: &str,
        at: &str,
        status: u16,
        media_type: &str,
        body: &str,
    ) -> &mut Self {
        let at: Timestamp = at.parse().unwrap();
        let head = format!(
            "HTTP/1.1 {status} Made\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let offset = self.bytes.len() as u64;
        self.offsets.push(offset);
        let id = RecordId::at("made.warc.gz", offset, at, &Kind::Response);
        let draft = Draft::new(&Kind::Response, &id, at).target(url);
        let block = [head.as_bytes(), body.as_bytes()];
        self.writer.append(draft, warc::HTTP_RESPONSE, &block, &mut self.bytes);
        self
    }

    /// Adds a record of another kind that names `url`.
    pub(crate) fn other(&mut self, kind: &Kind, url: &str, at: &str, block: &str) -> &mut Self {
        let at: Timestamp = at.parse().unwrap();
        let offset = self.bytes.len() as u64;
        self.offsets.push(offset);
        let id = RecordId::at("made.warc.gz", offset, at, kind);
        let draft = Draft::new(kind, &id, at).target(url);
        self.writer.append(draft, "text/plain", &[block.as_bytes()], &mut self.bytes);
        self
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the file.
    pub(crate) fn write(&self, path: &Path) -> PathBuf {
        std::fs::write(path, &self.bytes).unwrap();
        path.to_owned()
    }
}

/// The page that most tests look at: two contents, a time when it was gone, and the second content again.
pub(crate) const PAGE: &str = "http://example.org/news";

/// A small web of three servers: [`PAGE`] with its life, and pages beside it.
pub(crate) fn small_web() -> Made {
    let mut made = Made::new();
    made.answer(PAGE, "2026-03-01T00:00:00Z", 200, "first")
        .answer(PAGE, "2026-03-02T00:00:00Z", 200, "first")
        .answer(PAGE, "2026-03-03T00:00:00Z", 200, "second")
        .answer(PAGE, "2026-03-04T00:00:00Z", 404, "gone")
        .answer(PAGE, "2026-03-05T00:00:00Z", 200, "second")
        .answer("http://example.org/old", "2026-03-01T00:00:00Z", 200, "old")
        .answer("http://example.org/old", "2026-03-02T12:00:00Z", 410, "gone")
        .typed("https://www.example.org/style", "2026-03-02T00:00:00Z", 200, "text/css", "p{}")
        .answer("http://other.test/", "2026-03-03T00:00:00Z", 200, "second");
    made
}

/// A data directory into which a small web was imported.
pub(crate) fn imported(made: &Made) -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let file = made.write(&place.path().join("made.warc.gz"));
    on(&data, &["import", file.to_str().unwrap()]).done();
    (place, data)
}
