//! The rows of the documents: their bytes in pieces, and the page of each id.

use crate::id::DocumentId;
use crate::pack::{pack, put_after, read_after, unpack};
use archive::Key;
use base::bytes::{ByteReader, put_number};
use runs::{Names, RowEncoder, Rows};
use std::cmp::Ordering;

/// A block is compressed to about this share of its length.
const PACKED_SHARE: usize = 3;
/// Maximum length of a piece.
pub(crate) const PIECE_BYTES_MAX: usize = 256 * 1024;

/// A piece of a document, or the key of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRow {
    pub(crate) number: u32,
    pub(crate) bytes: Box<[u8]>,
}

/// The key under which a document stands: by page, so that its versions are together.
pub(crate) fn text_key(page: &Key, document: DocumentId) -> Vec<u8> {
    [b"@", page.as_str().as_bytes(), &[0], document.as_bytes()].concat()
}
/// The key under which the page of a document stands.
pub(crate) fn id_key(document: DocumentId) -> Vec<u8> {
    [b"#", &document.as_bytes()[..]].concat()
}
/// The page of a row.
pub(crate) fn page_of(key: &[u8], row: &DocumentRow) -> Option<Key> {
    let page = match key.strip_prefix(b"@") {
        Some(rest) => rest.get(..rest.len().checked_sub(DocumentId::BYTES + 1)?)?,
        None => &row.bytes,
    };
    std::str::from_utf8(page).ok().map(Key::from_stored)
}

/// The rows of one block.
#[derive(Clone, Debug, Default)]
pub struct DocumentRows(Vec<(Box<[u8]>, DocumentRow)>);

impl Rows for DocumentRows {
    const MAGIC: &'static [u8; 8] = b"UTSDOC01";
    const GENERATION: &'static str = "utsushi documents 1";
    type Row = DocumentRow;
    type Encoder = DocumentEncoder;
    type Secondary = std::convert::Infallible;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn key(&self, number: usize) -> &[u8] {
        &self.0[number].0
    }
    fn row(&self, number: usize) -> &DocumentRow {
        &self.0[number].1
    }
    fn decode(&mut self, block: &[u8], _: &[u32]) -> Option<()> {
        self.0.clear();
        let raw = unpack(block)?;
        let (mut raw, mut key) = (ByteReader(&raw), Vec::new());
        while !raw.is_empty() {
            read_after(&mut raw, &mut key)?;
            let (number, length) = (u32::try_from(raw.number()?).ok()?, raw.count()?);
            let bytes = raw.take(length)?.into();
            self.0.push((key.as_slice().into(), DocumentRow { number, bytes }));
        }
        Some(())
    }
    /// The first piece last, because walks go backwards.
    fn order(one: &DocumentRow, other: &DocumentRow, _: &Names) -> Ordering {
        other.number.cmp(&one.number)
    }
}

/// Gathers rows into a block.
#[derive(Debug, Default)]
pub struct DocumentEncoder {
    raw: Vec<u8>,
    key: Vec<u8>,
}

impl RowEncoder for DocumentEncoder {
    type Row = DocumentRow;

    fn bytes(&self) -> usize {
        self.raw.len() / PACKED_SHARE
    }
    fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
    fn push(&mut self, key: &[u8], row: &DocumentRow, _: &mut dyn FnMut(u32) -> u32) {
        put_after(&mut self.raw, &self.key, key);
        put_number(&mut self.raw, u64::from(row.number));
        put_number(&mut self.raw, row.bytes.len() as u64);
        self.raw.extend_from_slice(&row.bytes);
        self.key.clear();
        self.key.extend_from_slice(key);
    }
    fn finish(&mut self, bytes: &mut Vec<u8>) {
        pack(&mut self.raw, bytes);
        self.key.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use archive::ContentKey;

    #[test]
    fn rows_come_back_and_a_cut_block_does_not() {
        let page = Key::of("http://a.example/x");
        let id = DocumentId::of(&page, ContentKey::of(b"x"));
        let row = |number: u32, bytes: &[u8]| DocumentRow { number, bytes: bytes.into() };
        let rows = [
            (id_key(id), row(0, page.as_str().as_bytes())),
            (text_key(&page, id), row(1, "あ".repeat(2_000).as_bytes())),
            (text_key(&page, id), row(0, b"")),
        ];
        assert!(rows.iter().all(|(key, row)| row.number == 0 && row.bytes.is_empty()
            || row.number == 1
            || page_of(key, row) == Some(page.clone())));
        assert_eq!(page_of(&rows[1].0, &rows[1].1), Some(page));
        let (mut encoder, mut block, mut read) =
            (DocumentEncoder::default(), Vec::new(), DocumentRows::default());
        rows.iter().for_each(|(key, row)| encoder.push(key, row, &mut |name| name));
        encoder.finish(&mut block);
        read.decode(&block, &[]).unwrap();
        let found: Vec<_> = read.0.iter().map(|(key, row)| (key.to_vec(), row.clone())).collect();
        assert_eq!(found, rows);
        for end in 0..block.len() {
            assert_eq!(DocumentRows::default().decode(&block[..end], &[]), None, "{end}");
        }
    }
}
