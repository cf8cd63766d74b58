//! The title of a page, found without reading the whole page.
//!
//! Nearly every page has its title near its start, so a page is decoded and tokenized only up to the end of its first
//! title. A search of the bytes for `<title` bounds this part, and shows at once if there is no title. A `<title` in a
//! comment or a script is not a title; only the tokenizer can tell, so it then continues, four times as far each time.
//!
//! **Invariant:** this is the title that [`crate::read`] finds, for any page: a title in the decoded part counts if it
//! ends there, or if all of it that is kept is there. The bytes are read at most three times.

use crate::reference::in_text;
use crate::token::name::element;
use crate::token::{Token, Tokenizer};
use crate::{TITLE_BYTES_MAX, charset};
use encoding_rs::{CoderResult, Decoder, Encoding};

/// The maximum number of bytes read of a title as written; its character references expand to less.
const WRITTEN_BYTES_MAX: usize = 4 * TITLE_BYTES_MAX;
/// How far to read after a possible start of a title; few are longer.
const MARGIN_BYTES: usize = 1_024;
/// Where reading first stops in an encoding whose bytes cannot be searched, in margins.
const START_MARGINS: usize = 4;
/// The factor by which the limit grows each time.
const GROWTH: usize = 4;

/// The title of a page from a host under this top-level domain, its white space folded; empty if there is none.
///
/// ```
/// assert_eq!(html::title(None, None, b"<!-- <title>no</title> --><title>\n Hi &amp; ho</title>"), "Hi & ho");
/// ```
#[must_use]
pub fn title(domain: Option<&str>, content_type: Option<&str>, bytes: &[u8]) -> String {
    let encoding = charset::find_from(domain, content_type, bytes).encoding;
    first(encoding, bytes, MARGIN_BYTES)
}

fn first(encoding: &'static Encoding, bytes: &[u8], margin_bytes: usize) -> String {
    // In these encodings `<title` is exactly those bytes. The bytes of its letters may be the ends of other characters, but
    // that of `<` never is, so decoding restarts after it; and no longer sequence encodes an ASCII letter.
    let is_searched = encoding.is_ascii_compatible();
    let first = if is_searched {
        tag_from(bytes, 0).map(|at| at + margin_bytes)
    } else {
        Some(START_MARGINS * margin_bytes)
    };
    let Some(mut stop) = first else { return String::new() };
    let mut front = Front::of(encoding, bytes);
    loop {
        stop = stop.min(bytes.len());
        front.decode_to(stop);
        let is_whole = stop == bytes.len();
        let looked = look(&front.text);
        match looked {
            Looked::Title(found) => return shown(found),
            Looked::Open(found) if is_whole => return shown(found),
            _ if is_whole => return String::new(),
            _ => {}
        }
        // The tag may have been cut off.
        let next = if is_searched { tag_from(bytes, stop.saturating_sub(TAG.len())) } else { Some(stop) };
        stop = match (next, looked) {
            (Some(at), _) => (at + margin_bytes).max(GROWTH * stop),
            (None, Looked::Nothing) => return String::new(),
            (None, _) => GROWTH * stop,
        };
    }
}

/// A title as it is shown, from the text between its tags.
pub(crate) fn shown(written: &str) -> String {
    let start = written.get(..written.floor_char_boundary(WRITTEN_BYTES_MAX)).unwrap_or_default();
    let mut title = in_text(start).replace('\0', "\u{fffd}");
    title.truncate(title.floor_char_boundary(TITLE_BYTES_MAX));
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the start of a page contains.
#[derive(Clone, Copy)]
enum Looked<'a> {
    /// The first title as written, which nothing that follows can change.
    Title(&'a str),
    /// A title, or something that may be one, continues after the part; its text so far.
    Open(&'a str),
    /// No title, and nothing that could become one: the open element contains what looks like one.
    Nothing,
}

fn look(front: &str) -> Looked<'_> {
    let (mut tokens, mut in_title, mut read) = (Tokenizer::html(front), false, 0);
    while let Some(token) = tokens.next() {
        match token {
            Token::Start(name) if name.key == element::TITLE => {
                // Its text may begin after this part.
                in_title = true;
                continue;
            }
            Token::Raw(text) if in_title => {
                // A character may be cut off, so a few more bytes are needed.
                let is_enough = text.len() >= WRITTEN_BYTES_MAX + 4;
                return if is_enough || !tokens.is_at_end() {
                    Looked::Title(text)
                } else {
                    Looked::Open(text)
                };
            }
            _ => in_title = false,
        }
        read = tokens.place();
    }
    if tag_from(front.as_bytes(), read).is_some() { Looked::Open("") } else { Looked::Nothing }
}

/// The text of the start of a page.
struct Front<'a> {
    decoder: Decoder,
    /// What is not decoded yet.
    rest: &'a [u8],
    decoded_bytes: usize,
    text: String,
}

impl<'a> Front<'a> {
    fn of(encoding: &'static Encoding, bytes: &'a [u8]) -> Self {
        Self { decoder: encoding.new_decoder(), rest: bytes, decoded_bytes: 0, text: String::new() }
    }

    /// Decodes up to `stop`, which is after the last stop.
    fn decode_to(&mut self, stop: usize) {
        let (mut now, later) =
            self.rest.split_at_checked(stop - self.decoded_bytes).unwrap_or((self.rest, b""));
        (self.rest, self.decoded_bytes) = (later, stop);
        loop {
            // Most text is as long as its bytes; longer text takes another iteration.
            self.text.reserve(now.len() + CHARACTER_BYTES_MAX);
            let (result, read, _) = self.decoder.decode_to_string(now, &mut self.text, later.is_empty());
            now = now.get(read..).unwrap_or_default();
            if result == CoderResult::InputEmpty {
                return;
            }
        }
    }
}

/// Enough space for a decoder to make progress.
const CHARACTER_BYTES_MAX: usize = 16;

const TAG: &[u8] = b"<title";
/// The number of positions tested in one step.
const STEP: usize = 64;

/// Where a title may begin at or after `from`.
fn tag_from(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(window) = bytes.get(at..).and_then(<[u8]>::first_chunk::<{ STEP + 2 }>) {
        if begins_in(window)
            && let Some(found) = tag_within(bytes, at, at + STEP)
        {
            return Some(found);
        }
        at += STEP;
    }
    tag_within(bytes, at, bytes.len())
}

/// Whether `<ti` occurs, in any case. It has no branches, so that the compiler can vectorise it.
fn begins_in(window: &[u8; STEP + 2]) -> bool {
    let [places @ .., _, _] = window;
    let [_, seconds @ .., _] = window;
    let [_, _, thirds @ ..] = window;
    let hits = places.iter().zip(seconds).zip(thirds).map(|((first, second), third)| {
        u8::from(*first == b'<') & u8::from(second | 0x20 == b't') & u8::from(third | 0x20 == b'i')
    });
    hits.fold(0, |any, hit| any | hit) != 0
}

/// Where the tag begins between two places.
fn tag_within(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    let is_tag =
        |at: &usize| bytes.get(*at..*at + TAG.len()).is_some_and(|found| found.eq_ignore_ascii_case(TAG));
    (from..to).find(is_tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PageUrl;

    /// The title equals that of the whole page.
    #[track_caller]
    fn check_same(content_type: Option<&str>, bytes: &[u8]) -> String {
        let url = PageUrl::parse("http://a.example/").unwrap();
        let found = title(Some("example"), content_type, bytes);
        let start = String::from_utf8_lossy(bytes.get(..300).unwrap_or(bytes));
        let page = crate::read(&url, content_type, bytes, "u");
        assert_eq!(found, page.title, "{start}");
        // However early reading stops, it continues when it must.
        for margin_bytes in [1, 7, 20] {
            assert_eq!(
                first(page.charset.encoding, bytes, margin_bytes),
                page.title,
                "{margin_bytes}: {start}"
            );
        }
        found
    }

    #[track_caller]
    fn check(html: &str, expected: &str) {
        assert_eq!(check_same(None, html.as_bytes()), expected);
    }

    #[test]
    fn the_first_title_that_says_something_counts() {
        check("", "");
        check("<p>no title", "");
        check("<TITLE>a</TITLE><title>b</title>", "a");
        check("<title></title><title>b</title>", "b");
        check("<title> </title><title>b</title>", "");
        check(
            "<!--<title>a</title>--><script>'<title>b</title>'</script><p x='<title>c'><tItLe\n>d</title\n>",
            "d",
        );
        check("<titles>a</titles><title/>b</title>", "b");
        check("<svg><title>a</title></svg>", "a");
        check("<title>a", "a");
        check("<title>a</titl", "a</titl");
        check("<title>a &lt; b &copy\0", "a < b ©\u{fffd}");
        check("<plaintext><title>a</title>", "");
    }

    #[test]
    fn a_title_may_stand_anywhere_and_be_cut_off_anywhere() {
        for before in [0, 1, 61, 63, 64, 65, 1_000, 1_100, 5_000, 70_000] {
            for (name, end) in
                [("a title", "</title>"), ("漢字", "</title x=y>"), ("<b>", ""), ("", "</title>")]
            {
                let behind = "z".repeat(30_000);
                check_same(None, format!("{}<title>{name}{end}{behind}", " ".repeat(before)).as_bytes());
                check_same(
                    None,
                    format!("<!--<title>{}--><title>{name}{end}", "y".repeat(before)).as_bytes(),
                );
                check_same(None, format!("<title x='{}'>{name}{end}{behind}", "y".repeat(before)).as_bytes());
                check_same(None, format!("<title>{}{name}{end}{behind}", "漢".repeat(before)).as_bytes());
            }
        }
        for length in MARGIN_BYTES - 20..MARGIN_BYTES + 20 {
            for name in ["a", "漢", "", "<"] {
                check_same(None, format!("<title x='{}'>{name}</title>", "y".repeat(length)).as_bytes());
                check_same(None, format!("<title>{}</title>{name}", "y".repeat(length)).as_bytes());
                check_same(None, format!("<title></title>{}<title>a{name}", "y".repeat(length)).as_bytes());
            }
        }
        let html = "<script>/*<title>*/</script><title>a &amp; 漢</title>".as_bytes();
        (0..=html.len()).for_each(|end| drop(check_same(Some("text/html; charset=utf-8"), &html[..end])));
    }

    #[test]
    fn a_title_is_found_in_every_encoding() {
        let html = format!("<p>{}<title>図書館の title</title><p>本", "本".repeat(3_000));
        for encoding in [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::ISO_2022_JP] {
            let label = format!("text/html; charset={}", encoding.name());
            assert_eq!(check_same(Some(&label), &encoding.encode(&html).0), "図書館の title");
        }
        let units: Vec<u8> = html.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(check_same(None, &[b"\xff\xfe", units.as_slice()].concat()), "図書館の title");
        assert_eq!(check_same(Some("text/html; charset=utf-16le"), &units), "図書館の title");
        assert_eq!(check_same(None, &[b"\xef\xbb\xbf", html.as_bytes()].concat()), "図書館の title");
        // Escapes may stand between the letters of a tag.
        check_same(Some("text/html; charset=iso-2022-jp"), b"<ti\x1b(Btle>a</title>");
        check_same(Some("text/html; charset=hz-gb-2312"), b"<title>a</title>");
    }

    /// Those in which bytes of ASCII are parts of other characters, and some in which they are not.
    const SEARCHED: [&Encoding; 10] = [
        encoding_rs::SHIFT_JIS,
        encoding_rs::GBK,
        encoding_rs::GB18030,
        encoding_rs::BIG5,
        encoding_rs::EUC_KR,
        encoding_rs::EUC_JP,
        encoding_rs::UTF_8,
        encoding_rs::WINDOWS_1252,
        encoding_rs::IBM866,
        encoding_rs::X_USER_DEFINED,
    ];

    #[test]
    fn a_letter_is_its_byte_and_the_beginning_of_a_tag_always_stands_alone() {
        let is_kept = |sign: &char| sign.is_ascii_alphabetic() || *sign == '<';
        for encoding in SEARCHED {
            assert!(encoding.is_ascii_compatible(), "{}", encoding.name());
            for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
                let text = encoding.decode_without_bom_handling(&pair).0;
                let written: String = pair.map(char::from).into_iter().filter(is_kept).collect();
                let read: String = text.chars().filter(is_kept).collect();
                // The second letter may be the end of another character.
                assert!(read == written || read.is_empty(), "{} {pair:x?}", encoding.name());
                assert_eq!(written.contains('<'), read.contains('<'), "{} {pair:x?}", encoding.name());
            }
        }
    }

    #[test]
    fn model_a_tag_is_found_where_the_text_has_one() {
        let mut chance = base::Chance::new(5);
        for _ in 0..30_000 {
            let mut bytes = b"<p>\x81\x30\x81<title>\x83\x5c</title>".to_vec();
            for _ in 0..chance.index(4) {
                let (at, byte) = (chance.index(bytes.len()), u8::try_from(chance.below(256)).unwrap());
                if chance.below(2) == 0 { bytes.insert(at, byte) } else { bytes[at] = byte }
            }
            for encoding in SEARCHED {
                let text = encoding.decode_without_bom_handling(&bytes).0.to_ascii_lowercase();
                let is_found = tag_from(&bytes, 0).is_some();
                assert_eq!(is_found, text.contains("<title"), "{} {bytes:x?}", encoding.name());
            }
        }
    }

    #[test]
    fn survives_h8_hostile_shapes_as_the_reader_does() {
        for (name, html) in crate::hostile::shapes() {
            for page in [html.clone(), format!("{html}<title>{name}</title>"), format!("<title>{html}")] {
                check_same(Some("text/html; charset=utf-8"), page.as_bytes());
            }
        }
    }
}
