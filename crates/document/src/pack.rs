//! Compressed blocks: a length, then one zstandard frame.

use base::bytes::{ByteReader, put_number};

/// Fast enough to keep up with a crawl, and near the best for blocks of this size.
const LEVEL: i32 = 3;
/// Maximum length of a block before it is compressed.
const RAW_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Appends `raw` in compressed form, and empties it.
pub(crate) fn pack(raw: &mut Vec<u8>, bytes: &mut Vec<u8>) {
    assert!(raw.len() <= RAW_BYTES_MAX, "a block is bounded");
    put_number(bytes, raw.len() as u64);
    let packed = zstd::bulk::compress(raw, LEVEL).expect("compression in memory does not fail");
    bytes.extend_from_slice(&packed);
    raw.clear();
}

/// What was packed; `None` if it is no block.
pub(crate) fn unpack(block: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = ByteReader(block);
    let length = bytes.count().filter(|length| *length <= RAW_BYTES_MAX)?;
    let raw = zstd::bulk::decompress(bytes.0, length).ok()?;
    (raw.len() == length).then_some(raw)
}

/// Appends `text` as the length that it shares with `before`, and the rest.
pub(crate) fn put_after(raw: &mut Vec<u8>, before: &[u8], text: &[u8]) {
    let shared = before.iter().zip(text).take_while(|(one, other)| one == other).count();
    put_number(raw, shared as u64);
    put_number(raw, (text.len() - shared) as u64);
    raw.extend_from_slice(text.get(shared..).unwrap_or_default());
}

/// Reads what [`put_after`] wrote into `last`, which holds the text before it.
pub(crate) fn read_after(raw: &mut ByteReader<'_>, last: &mut Vec<u8>) -> Option<()> {
    let (shared, rest) = (raw.count()?, raw.count()?);
    if shared > last.len() {
        return None;
    }
    last.truncate(shared);
    last.extend_from_slice(raw.take(rest)?);
    Some(())
}
