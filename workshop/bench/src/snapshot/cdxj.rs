//! A sorted CDXJ file, as pywb reads it, searched by bisection: what an index of text costs.

use anyhow::{Context, Result};
use archive::{Entry, Stored};
use serde_json::Value;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What is read at once.
const BLOCK_BYTES: u64 = 8192;

/// Writes the lines of entries that come in order, unless the file is there; it is complete once it has its name.
pub(super) fn ensure(path: &Path, entries: impl Iterator<Item = Entry>) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let unfinished = path.with_extension("tmp");
    let file =
        File::create(&unfinished).with_context(|| format!("cannot make `{}`", unfinished.display()))?;
    let mut output = BufWriter::with_capacity(1 << 20, file);
    entries.into_iter().try_for_each(|entry| write_line(&mut output, &entry))?;
    output.flush()?;
    std::fs::rename(&unfinished, path).with_context(|| format!("cannot rename `{}`", unfinished.display()))
}

/// One line, with the fields and the order that pywb's indexer gives them.
fn write_line(output: &mut impl Write, entry: &Entry) -> Result<()> {
    let stamp = entry.at.to_stamp();
    write!(
        output,
        "{} {} {{\"url\": {}",
        entry.key,
        stamp.get(..14).unwrap_or(&stamp),
        Value::from(entry.url.as_str())
    )?;
    let mime = match entry.kind {
        Stored::Revisit => "warc/revisit",
        Stored::Metadata => "application/warc-fields",
        _ => &entry.media_type,
    };
    write!(output, ", \"mime\": \"{mime}\"")?;
    if let Some(status) = entry.status {
        write!(output, ", \"status\": \"{status}\"")?;
    }
    if let Some(payload) = entry.payload {
        let digest = payload.to_string();
        write!(output, ", \"digest\": \"{}\"", digest.strip_prefix("sha1:").unwrap_or(&digest))?;
    }
    let (length, offset) = (entry.location.length, entry.location.offset);
    writeln!(
        output,
        ", \"length\": \"{length}\", \"offset\": \"{offset}\", \"filename\": \"{}\"}}",
        entry.location.file
    )?;
    Ok(())
}

/// A CDXJ file that is open.
#[derive(Debug)]
pub(super) struct Cdxj {
    file: File,
    bytes: u64,
}

impl Cdxj {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes })
    }
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The lines of a key, their fields read.
    pub(super) fn history(&self, key: &str) -> Result<Vec<Value>> {
        let wanted = format!("{key} ");
        let (mut from, mut to) = (0, self.bytes / BLOCK_BYTES);
        let mut block = Vec::new();
        // The last block whose first whole line stands before the key.
        while from < to {
            let middle = from + (to - from).div_ceil(2);
            self.read(middle, 1, &mut block)?;
            let is_before = first_whole_line(&block).is_some_and(|line| line < wanted.as_bytes());
            if is_before { from = middle } else { to = middle - 1 }
        }
        self.lines_from(from, &wanted)
    }

    fn lines_from(&self, block: u64, wanted: &str) -> Result<Vec<Value>> {
        let (mut found, mut bytes) = (Vec::new(), Vec::new());
        for blocks in (1..).map(|power| 1_u64 << power) {
            self.read(block, blocks, &mut bytes)?;
            let is_end = (block + blocks) * BLOCK_BYTES >= self.bytes;
            found.clear();
            let lines = bytes.split_inclusive(|byte| *byte == b'\n').skip(usize::from(block > 0));
            for line in lines.filter(|line| line.ends_with(b"\n")) {
                if line.starts_with(wanted.as_bytes()) {
                    let fields =
                        line.iter().position(|byte| *byte == b'{').and_then(|start| line.get(start..));
                    found.push(serde_json::from_slice(fields.unwrap_or_default())?);
                } else if line > wanted.as_bytes() {
                    return Ok(found);
                }
            }
            if is_end {
                break;
            }
        }
        Ok(found)
    }

    fn read(&self, block: u64, blocks: u64, buffer: &mut Vec<u8>) -> Result<()> {
        let offset = block * BLOCK_BYTES;
        let length = (blocks * BLOCK_BYTES).min(self.bytes.saturating_sub(offset));
        buffer.resize(usize::try_from(length)?, 0);
        Ok(self.file.read_exact_at(buffer, offset)?)
    }
}

fn first_whole_line(block: &[u8]) -> Option<&[u8]> {
    let end = block.iter().position(|byte| *byte == b'\n')?;
    block.get(end + 1..).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::synthetic::{Histories, Size};

    #[test]
    fn every_history_is_found() -> Result<()> {
        let directory = std::env::temp_dir().join(format!("utsushi-bench-cdxj-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let (path, size) = (directory.join("index.cdxj"), Size { pages: 300, versions: 2_000 });
        ensure(&path, Histories::new(size))?;
        let cdxj = Cdxj::open(&path)?;
        let entries: Vec<Entry> = Histories::new(size).collect();
        for page in entries.chunk_by(|one, other| one.key == other.key) {
            let found = cdxj.history(page[0].key.as_str())?;
            assert_eq!(found.len(), page.len(), "{}", page[0].key);
            for (line, entry) in found.iter().zip(page) {
                assert_eq!(line["offset"], entry.location.offset.to_string());
            }
        }
        assert!(cdxj.history("com,example)/nowhere")?.is_empty() && cdxj.history("zzz")?.is_empty());
        std::fs::remove_dir_all(&directory)?;
        Ok(())
    }
}
