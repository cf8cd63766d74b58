//! The blocks of a page, and that each part of them is where it is said to be.

use crate::charsets::legacy_pages;
use encoding_rs::{CoderResult, Encoding};
use flate2::read::GzDecoder;
use html::{BlockKind, Outline, SourceRange, outline};
use std::io::Read;

fn read(html: &str) -> Outline {
    outline(None, Some("text/html; charset=utf-8"), html.as_bytes())
}

/// All blocks, one per line.
#[track_caller]
fn check(html: &str, expected: &str) {
    let blocks: Vec<_> = read(html).blocks().map(|block| block.text().to_owned()).collect();
    assert_eq!(blocks.join("|"), expected, "{html}");
}

#[test]
fn blocks_are_texts_between_tags_that_start_a_line() {
    check("", "");
    check("<title>no</title><p>One <b>two</b>\n  three<p>four", "One two three|four");
    check("a<script>no</script>b<style>no</style>c<!-- no -->d<template>no</template>e", "abcd|e");
    check("one<br>two<br><br>three", "one\ntwo|three");
    check("<pre>a\n  b &amp;\n\nc</pre>d\ne", "a\nb &\nc|d e");
    check("&#32;a&nbsp;&nbsp;b\u{3000}c&lt;&#x3042;&NotEqualTilde;", "a b c<あ≂̸");
    check("<ul><li>1<li><div>2</div><table><tr><td>3<td>4</table></ul>5", "1|2|3|4|5");
    check("<xmp>&amp;<b></xmp><plaintext>a<b>", "&amp;<b>|a<b>");
    check("</div></p></td><p>a</li>b", "a|b");
}

#[test]
fn blocks_know_what_they_are() {
    let page = read(
        "<h2>a</h2>b<p>c<ul><li><p>d</ul><table><td>e</table><pre>f</pre><blockquote>g</blockquote>\
         <dl><dt>h<dd>i</dl><figure><figcaption>j</figure>",
    );
    let kinds: Vec<_> = page.blocks().map(|block| block.kind()).collect();
    use BlockKind::*;
    assert_eq!(
        kinds,
        [
            Heading(2),
            Paragraph,
            Paragraph,
            ListItem,
            TableCell,
            Preformatted,
            Quote,
            Term,
            Description,
            Caption
        ]
    );
}

#[test]
fn a_title_is_where_it_is_written() {
    let html = b"<title>\n A &amp;\n b </title><title>c</title>";
    let page = outline(None, None, html);
    let title = page.title().unwrap();
    assert_eq!((title.text.as_str(), title.source), ("A & b", SourceRange { offset: 9, length: 10 }));
    assert_eq!(read("<title> </title>").title(), None);
}

#[test]
fn the_main_text_is_what_is_read() {
    let words =
        "The library opens at nine, and it closes at six in the evening, except on Mondays. ".repeat(4);
    let html = format!(
        "<header><a href=/>Home</a></header><nav><ul><li><a href=1>One page</a></ul></nav>\
         <div class=cookie-notice><p>{words}</div><div><h1>Hours</h1><p>{words}<ul><li>{words}</ul></div>\
         <div id=comments><p>{words}</div><footer><p>All rights reserved, by the library.</footer>"
    );
    let words = words.trim_end();
    assert_eq!(read(&html).main_text(), format!("Hours\n{words}\n{words}"));
}

#[test]
fn a_list_of_links_is_the_main_text_of_a_page_of_links() {
    let items: String =
        (0..30).map(|n| format!("<li><a href={n}>The title of story number {n}</a>")).collect();
    let page = read(&format!("<nav><a href=/>Home</a></nav><ul>{items}</ul><footer>2026</footer>"));
    assert_eq!(page.main_text().lines().count(), 30);
}

#[test]
fn any_part_of_a_text_is_found_in_any_charset() {
    let html =
        "<title>図書館</title><p>一つ目の文。<b>二つ</b>目の &amp; <!-- x -->文、\n three。</p>ｶﾅ é<p>最後";
    for name in ["utf-8", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "utf-16le", "utf-16be"] {
        let encoding = Encoding::for_label(name.as_bytes()).unwrap();
        let bytes: Vec<u8> = match name {
            "utf-16le" => html.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "utf-16be" => html.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            _ => encoding.encode(html).0.into_owned(),
        };
        let page = outline(None, Some(&format!("text/html; charset={name}")), &bytes);
        assert!(check_all(&page, encoding, &bytes, name) >= 8, "{name}");
        let title = page.title().unwrap();
        assert_eq!(shown(&decoded(encoding, &bytes, title.source)), title.text, "{name}");
    }
}

#[test]
fn what_is_broken_or_marked_is_found_too() {
    for (label, bytes) in [
        ("utf-8", &b"\xef\xbb\xbf<p>a \xe3\x81 b. \xe3\x81\xe3\x81\x82c\xff. d"[..]),
        ("shift_jis", b"<p>\x82\xa0\xff \x82. \x81\x41 \xfc\xfc. x\x82"),
        ("gb18030", b"<p>a\x81\x30\x41. \x81\x30\x81\x30. b"),
        ("iso-2022-jp", b"<p>\x1b$B?^=q\x1b(B. \x1b$B\x1b(B. \x80 c \x1b$B?"),
        ("big5", b"<p>\x88\x62 a. \x88\xa5b. \x88"),
        ("windows-1252", b"<p>caf\xe9. \x80 \x81. x"),
    ] {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        let page = outline(None, Some(&format!("text/html; charset={label}")), bytes);
        assert!(check_all(&page, encoding, bytes, label) > 0, "{label}");
    }
}

#[test]
fn every_sentence_of_the_shared_pages_is_where_it_is_said_to_be() {
    let Some(shared) = crate::shared("the places of sentences of real pages") else { return };
    let file = std::fs::File::open(shared.join("data/maintext/pages.jsonl.gz")).unwrap();
    let mut lines = String::new();
    GzDecoder::new(file).read_to_string(&mut lines).unwrap();
    let (mut pages, mut sentences) = (0, 0);
    for line in lines.lines() {
        let page: serde_json::Value = serde_json::from_str(line).unwrap();
        let html = page["html"].as_str().unwrap().as_bytes();
        let found = outline(None, Some("text/html; charset=utf-8"), html);
        sentences += check_all(&found, encoding_rs::UTF_8, html, &page["id"].to_string());
        pages += 1;
    }
    assert_eq!(pages, 596);
    println!("{sentences} sentences");
    assert!(sentences > 100_000);
}

#[test]
fn every_sentence_of_the_legacy_pages_is_where_it_is_said_to_be() {
    let Some(pages) = legacy_pages() else { return };
    let mut sentences = 0;
    for (name, _, bytes) in &pages {
        let charset = html::charset::find(None, bytes);
        sentences += check_all(&outline(None, None, bytes), charset.encoding, bytes, name);
    }
    println!("{sentences} sentences");
    assert!(sentences > 20_000);
}

#[test]
fn hostile_pages_have_blocks_in_bounded_time_and_space() {
    for (name, html) in crate::hostile::shapes() {
        let page = read(&html);
        let bytes: usize = page.blocks().map(|block| block.text().len()).sum();
        assert!(bytes <= html.len(), "{name}");
        assert!(page.main_text().len() <= html.len() + page.blocks().len(), "{name}");
    }
}

/// Compares each sentence with what is written where it is; returns how many there are.
#[track_caller]
fn check_all(page: &Outline, encoding: &'static Encoding, bytes: &[u8], name: &str) -> usize {
    // One decoder walks along the bytes, for a charset may have states.
    let mut reader = Reader { decoder: new_decoder(encoding, bytes), bytes, at: 0 };
    let mut count = 0;
    for block in page.blocks() {
        let mut start = 0;
        for sentence in block.text().split_inclusive(['.', '。', '！', '？', '!', '?', '\n', '、', ' ']) {
            let text = sentence.trim();
            let from = start + sentence.len() - sentence.trim_start().len();
            start += sentence.len();
            // What replaces an incomplete character appears only when the next one is read.
            if text.is_empty() || text.contains('\u{fffd}') {
                continue;
            }
            let source = block.source(from..from + text.len());
            let written = reader.read(source);
            let is_raw = written.contains('&') && text == folded(&written);
            assert!(
                is_raw || shown(&written) == folded(text),
                "{name}: `{text}` is not `{written}` {source:?}"
            );
            count += 1;
        }
    }
    count
}

struct Reader<'a> {
    decoder: encoding_rs::Decoder,
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The text of a range that is not before the last one.
    fn read(&mut self, range: SourceRange) -> String {
        self.decode_to(range.offset);
        self.decode_to(range.offset + range.length)
    }
    fn decode_to(&mut self, to: usize) -> String {
        let mut text = String::with_capacity(3 * (to - self.at) + 32);
        let is_last = to == self.bytes.len();
        let (result, _, _) = self.decoder.decode_to_string(&self.bytes[self.at..to], &mut text, is_last);
        assert_eq!(result, CoderResult::InputEmpty);
        self.at = to;
        if is_last {
            // A decoder that has ended reads nothing more.
            self.decoder = encoding_rs::UTF_8.new_decoder();
        }
        text
    }
}

fn new_decoder(encoding: &'static Encoding, bytes: &[u8]) -> encoding_rs::Decoder {
    match Encoding::for_bom(bytes) {
        Some(_) => encoding.new_decoder_with_bom_removal(),
        None => encoding.new_decoder_without_bom_handling(),
    }
}

fn decoded(encoding: &'static Encoding, bytes: &[u8], range: SourceRange) -> String {
    Reader { decoder: new_decoder(encoding, bytes), bytes, at: 0 }.read(range)
}

/// What is shown of written text, by another tokenizer: no tags, references resolved, white space folded.
fn shown(written: &str) -> String {
    let mut text = String::new();
    let mut skipped: Option<Vec<u8>> = None;
    for token in html5gum::Tokenizer::new(written).flatten() {
        match token {
            html5gum::Token::StartTag(tag) => {
                let name: &[u8] = &tag.name;
                if skipped.is_none() && [&b"script"[..], b"style", b"textarea", b"iframe"].contains(&name) {
                    skipped = Some(name.to_vec());
                }
                if name == b"br" {
                    text.push(' ');
                }
            }
            html5gum::Token::EndTag(tag) if skipped.as_deref() == Some(&*tag.name) => skipped = None,
            html5gum::Token::String(string) if skipped.is_none() => {
                text.push_str(&String::from_utf8_lossy(&string.value));
            }
            _ => {}
        }
    }
    folded(&text)
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
