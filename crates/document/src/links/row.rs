//! The rows of the link graph.
//!
//! Under `>`, the key of a page, a zero byte and a document's id stand its URL as number 0, then its links in their order
//! on the page. Under `<` and the key of a page stand the links to it, by the URL of the page they are on.

use crate::id::DocumentId;
use crate::pack::{pack, put_after, read_after, unpack};
use archive::Key;
use base::bytes::{ByteReader, put_number, put_text};
use html::LinkKind;
use runs::{Names, RowEncoder, Rows};
use std::cmp::Ordering;
use std::sync::Arc;

/// A block is compressed to about half or less of this share of its length.
const PACKED_SHARE: usize = 2;

/// A row of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRow {
    /// The document that has the link.
    pub(crate) document: DocumentId,
    /// Its number on the page, from 1; 0 for the document itself.
    pub(crate) number: u32,
    /// Its purpose; `None` for the document itself.
    pub(crate) kind: Option<LinkKind>,
    /// Whether its author asks not to follow it.
    pub(crate) nofollow: bool,
    /// Under its document the target, under its target the page that has it.
    pub(crate) url: Box<str>,
    /// Its text.
    pub(crate) text: Box<str>,
}

/// Every kind of link, in the order of their codes on disk. Requisites are no links between documents.
const KINDS: [LinkKind; 7] = [
    LinkKind::Anchor,
    LinkKind::Frame,
    LinkKind::Feed,
    LinkKind::Canonical,
    LinkKind::Language,
    LinkKind::Alternate,
    LinkKind::Refresh,
];
/// The code of a document itself.
const NO_KIND: u8 = 15;
const NOFOLLOW: u8 = 16;

/// Whether a link of this kind is part of the graph.
pub(crate) fn is_kept(kind: LinkKind) -> bool {
    KINDS.contains(&kind)
}

/// The key of the links of a document.
pub(crate) fn out_key(page: &Key, document: DocumentId) -> Vec<u8> {
    [b">", page.as_str().as_bytes(), &[0], document.as_bytes()].concat()
}
/// The key of the links to a page.
pub(crate) fn in_key(target: &Key) -> Vec<u8> {
    [b"<", target.as_str().as_bytes()].concat()
}
/// The page of the document that [`out_key`] names; `None` for another key.
pub(crate) fn page_of(key: &[u8]) -> Option<Key> {
    let rest = key.strip_prefix(b">")?;
    let page = rest.get(..rest.len().checked_sub(DocumentId::BYTES + 1)?)?;
    std::str::from_utf8(page).ok().map(Key::from_stored)
}
fn document_of(key: &[u8]) -> Option<DocumentId> {
    key.strip_prefix(b">")?;
    key.last_chunk().map(|bytes| DocumentId::from_bytes(*bytes))
}

/// The rows of one block.
#[derive(Clone, Debug, Default)]
pub struct LinkRows(Vec<(Arc<[u8]>, LinkRow)>);

impl Rows for LinkRows {
    const MAGIC: &'static [u8; 8] = b"UTSLNK01";
    const GENERATION: &'static str = "utsushi links 1";
    type Row = LinkRow;
    type Encoder = LinkEncoder;
    type Secondary = std::convert::Infallible;

    fn len(&self) -> usize {
        self.0.len()
    }
    fn key(&self, number: usize) -> &[u8] {
        &self.0[number].0
    }
    fn row(&self, number: usize) -> &LinkRow {
        &self.0[number].1
    }
    fn decode(&mut self, block: &[u8], _: &[u32]) -> Option<()> {
        self.0.clear();
        let raw = unpack(block)?;
        let mut raw = ByteReader(&raw);
        let (mut key, mut url, mut shared): (Vec<u8>, Vec<u8>, Arc<[u8]>) =
            (Vec::new(), Vec::new(), Arc::from([]));
        while !raw.is_empty() {
            read_after(&mut raw, &mut key)?;
            if *shared != *key {
                shared = Arc::from(&*key);
            }
            let row = read_row(&mut raw, &key, &mut url)?;
            self.0.push((Arc::clone(&shared), row));
        }
        Some(())
    }
    /// The least last, because walks go backwards.
    fn order(one: &LinkRow, other: &LinkRow, _: &Names) -> Ordering {
        match one.document == other.document {
            true => other.number.cmp(&one.number),
            false => (&other.url, other.document).cmp(&(&one.url, one.document)),
        }
    }
}

fn read_row(raw: &mut ByteReader<'_>, key: &[u8], url: &mut Vec<u8>) -> Option<LinkRow> {
    let document = match document_of(key) {
        Some(document) => document,
        None => DocumentId::from_bytes(raw.array()?),
    };
    let (number, flags) = (u32::try_from(raw.number()?).ok()?, raw.byte()?);
    let kind = match flags & 15 {
        NO_KIND => None,
        code => Some(*KINDS.get(usize::from(code))?),
    };
    read_after(raw, url)?;
    Some(LinkRow {
        document,
        number,
        kind,
        nofollow: flags & NOFOLLOW != 0,
        url: std::str::from_utf8(url).ok()?.into(),
        text: raw.text()?.into(),
    })
}

/// Gathers rows into a block.
#[derive(Debug, Default)]
pub struct LinkEncoder {
    raw: Vec<u8>,
    key: Vec<u8>,
    url: Vec<u8>,
}

impl RowEncoder for LinkEncoder {
    type Row = LinkRow;

    fn bytes(&self) -> usize {
        self.raw.len() / PACKED_SHARE
    }
    fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
    fn push(&mut self, key: &[u8], row: &LinkRow, _: &mut dyn FnMut(u32) -> u32) {
        put_after(&mut self.raw, &self.key, key);
        if document_of(key).is_none() {
            self.raw.extend_from_slice(row.document.as_bytes());
        }
        put_number(&mut self.raw, u64::from(row.number));
        let code = row.kind.and_then(|kind| KINDS.iter().position(|known| *known == kind));
        let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(NO_KIND);
        self.raw.push(code | if row.nofollow { NOFOLLOW } else { 0 });
        put_after(&mut self.raw, &self.url, row.url.as_bytes());
        put_text(&mut self.raw, &row.text);
        self.key.clear();
        self.key.extend_from_slice(key);
        self.url.clear();
        self.url.extend_from_slice(row.url.as_bytes());
    }
    fn finish(&mut self, bytes: &mut Vec<u8>) {
        pack(&mut self.raw, bytes);
        self.key.clear();
        self.url.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use archive::ContentKey;
    use base::Chance;

    #[test]
    fn rows_come_back_and_a_cut_block_does_not() {
        let mut chance = Chance::new(1);
        let mut rows = Vec::new();
        for number in 0..300_u32 {
            let page = Key::of(&format!("http://a.example/{}", chance.below(9)));
            let document = DocumentId::of(&page, ContentKey::of(&number.to_le_bytes()));
            let is_out = chance.below(2) == 0;
            let kind = (!is_out || chance.below(3) > 0).then(|| *chance.pick(&KINDS));
            let row = LinkRow {
                document,
                number,
                kind,
                nofollow: chance.below(2) == 0,
                url: format!("http://b.example/{}", chance.below(99)).into(),
                text: "写し".repeat(chance.index(4)).into(),
            };
            rows.push((if is_out { out_key(&page, document) } else { in_key(&page) }, row));
        }
        let (mut encoder, mut block, mut read) = (LinkEncoder::default(), Vec::new(), LinkRows::default());
        rows.iter().for_each(|(key, row)| encoder.push(key, row, &mut |name| name));
        encoder.finish(&mut block);
        assert!(encoder.is_empty());
        read.decode(&block, &[]).unwrap();
        let found: Vec<_> = read.0.iter().map(|(key, row)| (key.to_vec(), row.clone())).collect();
        assert_eq!(found, rows);
        for end in 0..block.len() {
            assert_eq!(LinkRows::default().decode(&block[..end], &[]), None, "{end}");
        }
    }

    #[test]
    fn the_key_of_a_document_names_its_page() {
        let page = Key::of("http://a.example/x");
        let key = out_key(&page, DocumentId::of(&page, ContentKey::of(b"x")));
        assert_eq!(page_of(&key), Some(page.clone()));
        assert_eq!(page_of(&in_key(&page)), None);
        assert_eq!(page_of(b">"), None);
    }
}
