//! What is stored of a document: nothing but what its page says.

use crate::sentence::{is_japanese, split};
use base::bytes::{ByteReader, put_number, put_signed, put_text};
use html::{BlockKind, Outline, Page};
use std::ops::Range;

/// The version of the bytes.
const VERSION: u8 = 1;

/// A document as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDocument {
    /// The URL under which it was first seen.
    pub url: String,
    /// The encoding of its page.
    pub charset: String,
    /// The language of most of its text, if it is known.
    pub language: Option<String>,
    /// The length of its page, with every coding removed.
    pub bytes: u64,
    /// Its title, if it has one.
    pub title: Option<SourceText>,
    /// Its main text, one block per line.
    pub text: String,
    /// The blocks of the main text in order. A line break follows each but the last.
    pub blocks: Vec<TextBlock>,
    /// The sentences of the main text.
    pub sentences: Vec<Sentence>,
}

/// A text, and where it stands in the bytes of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// The text.
    pub text: String,
    /// The position of its first byte.
    pub offset: u64,
    /// Its length in bytes there.
    pub length: u64,
}

/// A block of the main text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBlock {
    /// What it is.
    pub kind: BlockKind,
    /// Its place in the main text.
    pub range: Range<usize>,
}

/// A sentence of the main text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its place in the main text.
    pub range: Range<usize>,
    /// Its position in the bytes of the page.
    pub offset: u64,
    /// Its length there.
    pub length: u64,
    /// Whether it is Japanese.
    pub is_japanese: bool,
}

/// Every kind of block, in the order of their codes on disk.
const KINDS: [BlockKind; 14] = [
    BlockKind::Heading(1),
    BlockKind::Heading(2),
    BlockKind::Heading(3),
    BlockKind::Heading(4),
    BlockKind::Heading(5),
    BlockKind::Heading(6),
    BlockKind::Paragraph,
    BlockKind::ListItem,
    BlockKind::TableCell,
    BlockKind::Term,
    BlockKind::Description,
    BlockKind::Preformatted,
    BlockKind::Quote,
    BlockKind::Caption,
];
/// The code of a kind that is not known here.
const PARAGRAPH: u8 = 6;

impl StoredDocument {
    /// The document that a page is.
    #[must_use]
    pub fn of(url: &str, bytes: u64, page: &Page, language: Option<&str>, outline: &Outline) -> Self {
        let title = outline.title().map(|title| SourceText {
            text: title.text.clone(),
            offset: title.source.offset as u64,
            length: title.source.length as u64,
        });
        let mut document = Self {
            url: url.to_owned(),
            charset: page.charset.encoding.name().to_owned(),
            language: language.map(str::to_owned),
            bytes,
            title,
            ..Self::default()
        };
        for block in outline.blocks().filter(html::OutlineBlock::is_main) {
            document.add(&block);
        }
        document
    }

    fn add(&mut self, block: &html::OutlineBlock<'_>) {
        if !self.blocks.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        self.text.push_str(block.text());
        self.blocks.push(TextBlock { kind: block.kind(), range: start..self.text.len() });
        for range in split(block.text()) {
            let source = block.source(range.clone());
            let sentence = block.text().get(range.clone()).unwrap_or_default();
            self.sentences.push(Sentence {
                is_japanese: is_japanese(sentence, self.language.as_deref()),
                range: start + range.start..start + range.end,
                offset: source.offset as u64,
                length: source.length as u64,
            });
        }
    }

    /// The text of a sentence.
    #[must_use]
    pub fn text_of(&self, sentence: &Sentence) -> &str {
        self.text.get(sentence.range.clone()).unwrap_or_default()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        let title = self.title.clone().unwrap_or_default();
        for text in [&self.url, &self.charset, self.language.as_ref().unwrap_or(&String::new()), &title.text]
        {
            put_text(&mut bytes, text);
        }
        [title.offset, title.length, self.bytes].into_iter().for_each(|n| put_number(&mut bytes, n));
        put_text(&mut bytes, &self.text);
        put_number(&mut bytes, self.blocks.len() as u64);
        for block in &self.blocks {
            let code =
                KINDS.iter().position(|kind| *kind == block.kind).and_then(|code| u8::try_from(code).ok());
            bytes.push(code.unwrap_or(PARAGRAPH));
            put_number(&mut bytes, block.range.len() as u64);
        }
        put_number(&mut bytes, self.sentences.len() as u64);
        let (mut end, mut source_end) = (0, 0_u64);
        for sentence in &self.sentences {
            put_number(&mut bytes, (sentence.range.start - end) as u64);
            put_number(&mut bytes, (sentence.range.len() as u64) << 1 | u64::from(sentence.is_japanese));
            put_signed(&mut bytes, sentence.offset.cast_signed().wrapping_sub(source_end.cast_signed()));
            put_number(&mut bytes, sentence.length);
            (end, source_end) = (sentence.range.end, sentence.offset.wrapping_add(sentence.length));
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = ByteReader(bytes);
        if bytes.byte()? != VERSION {
            return None;
        }
        let mut text = || bytes.text().map(str::to_owned);
        let (url, charset, language, title) = (text()?, text()?, text()?, text()?);
        let (offset, length, page_bytes) = (bytes.number()?, bytes.number()?, bytes.number()?);
        let title = (!title.is_empty()).then_some(SourceText { text: title, offset, length });
        let text = bytes.text()?.to_owned();
        let language = (!language.is_empty()).then_some(language);
        let mut document = Self { url, charset, language, bytes: page_bytes, title, text, ..Self::default() };
        let mut start = 0;
        for _ in 0..bytes.count()? {
            let kind = *KINDS.get(usize::from(bytes.byte()?))?;
            let range = start..bytes.count()?.checked_add(start)?;
            document.text.get(range.clone())?;
            start = range.end + 1;
            document.blocks.push(TextBlock { kind, range });
        }
        document.read_sentences(&mut bytes)?;
        bytes.is_empty().then_some(document)
    }

    fn read_sentences(&mut self, bytes: &mut ByteReader<'_>) -> Option<()> {
        let (mut end, mut source_end) = (0_usize, 0_u64);
        for _ in 0..bytes.count()? {
            let start = end.checked_add(bytes.count()?)?;
            let length_and_flag = bytes.number()?;
            end = start.checked_add(usize::try_from(length_and_flag >> 1).ok()?)?;
            self.text.get(start..end)?;
            let offset = source_end.wrapping_add(bytes.signed()?.cast_unsigned());
            let length = bytes.number()?;
            source_end = offset.wrapping_add(length);
            let is_japanese = length_and_flag & 1 == 1;
            self.sentences.push(Sentence { range: start..end, offset, length, is_japanese });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PageUrl;

    fn document(html: &[u8]) -> StoredDocument {
        let url = PageUrl::parse("http://a.example/").unwrap();
        let (page, outline) =
            html::read_with_outline(&url, Some("text/html; charset=utf-8"), html, "utsushi");
        StoredDocument::of(url.as_str(), html.len() as u64, &page, Some("ja"), &outline)
    }

    #[test]
    fn a_document_comes_back_and_a_cut_one_does_not() {
        let html = "<title>写し &amp; copy</title><h1>見出し</h1><p>一つ目。<b>二つ</b>目！<ul><li>A. b<li>Second one. Third.</ul>";
        let document = document(html.as_bytes());
        assert_eq!(document.title.as_ref().map(|title| &*title.text), Some("写し & copy"));
        assert!(document.sentences.len() > 4 && document.blocks.len() == 4, "{document:?}");
        let bytes = document.encode();
        assert_eq!(StoredDocument::decode(&bytes), Some(document));
        for end in 0..bytes.len() {
            assert_eq!(StoredDocument::decode(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn offsets_of_sentences_point_at_their_sources() {
        let html = "<p>Open from 9 &ndash; <b>18</b>. Closed on   Mondays.";
        let document = document(html.as_bytes());
        let found: Vec<(&str, &str)> = document
            .sentences
            .iter()
            .map(|sentence| {
                let from = usize::try_from(sentence.offset).unwrap();
                let to = from + usize::try_from(sentence.length).unwrap();
                (document.text_of(sentence), &html[from..to])
            })
            .collect();
        assert_eq!(
            found,
            [
                ("Open from 9 – 18.", "Open from 9 &ndash; <b>18</b>."),
                ("Closed on Mondays.", "Closed on   Mondays."),
            ]
        );
    }
}
