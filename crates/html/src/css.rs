//! The files that a style sheet refers to: `@import "a.css"`, `url(b.png)`, `image-set("c.png" 2x)`.
//!
//! A small tokenizer after CSS Syntax Level 3: comments, strings, identifiers, `url()` and escapes. Text in a comment or
//! in any other string is not a reference, and neither is the name of a namespace.
//!
//! **Invariant:** it is total, and every step advances, so reading takes time linear in the sheet (H8).

use crate::links::{Link, LinkKind, Links};
use base::PageUrl;
use std::borrow::Cow;

/// The maximum length of a reference; an image inside the sheet (`data:`) is longer.
const REFERENCE_BYTES_MAX: usize = base::limits::URL_BYTES_MAX;

/// The files that the style sheet at `url` refers to, each once.
///
/// ```
/// let url = base::PageUrl::parse("http://a.example/css/main.css")?;
/// let links = html::style_sheet_links(&url, None, b"@import 'more.css'; body { background: url(../bg.png) }");
/// let found: Vec<&str> = links.iter().map(|link| link.url.as_str()).collect();
/// assert_eq!(found, ["http://a.example/css/more.css", "http://a.example/bg.png"]);
/// # Ok::<(), base::url::UrlError>(())
/// ```
#[must_use]
pub fn style_sheet_links(url: &PageUrl, content_type: Option<&str>, bytes: &[u8]) -> Vec<Link> {
    let mut links = Links::of(url);
    add_references(&text(content_type, bytes), &mut links);
    links.finish()
}

/// Adds the references of a style sheet or of the value of a `style` attribute.
pub(crate) fn add_references(text: &str, links: &mut Links) {
    let mut scanner = Scanner::new(text);
    while let Some(reference) = scanner.next() {
        links.add(&reference, LinkKind::Embed, false);
    }
}

/// The text of a style sheet: by its byte order mark, its `Content-Type`, its `@charset`, otherwise UTF-8.
fn text<'a>(content_type: Option<&str>, bytes: &'a [u8]) -> Cow<'a, str> {
    let named = |text: &str, mark: &str| {
        let (_, behind) = text.split_once(mark)?;
        let label = behind.trim_start_matches(['"', '\'']).split(['"', '\'', ';', ' ']).next()?;
        encoding_rs::Encoding::for_label(label.as_bytes())
    };
    let start = String::from_utf8_lossy(bytes.get(..64).unwrap_or(bytes));
    let lower = content_type.unwrap_or_default().to_ascii_lowercase();
    let encoding = named(&lower, "charset=").or_else(|| named(&start, "@charset "));
    // `decode` looks for a byte order mark first.
    encoding.unwrap_or(encoding_rs::UTF_8).decode(bytes).0
}

/// The meaning of a string by its position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    /// Irrelevant.
    Plain,
    /// The file of an `@import`.
    Import,
    /// An image of the `image-set()` at this depth of parentheses.
    ImageSet(usize),
    /// Irrelevant, like `url()`, until the rule ends: an `@namespace`.
    Ignored,
}

/// Reads a style sheet from start to end.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    strings: Strings,
    /// The number of open parentheses.
    depth: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, strings: Strings::Plain, depth: 0 }
    }

    /// The next reference, with its escapes resolved.
    pub(crate) fn next(&mut self) -> Option<Cow<'a, str>> {
        while let Some(byte) = self.byte(self.at) {
            let found = match byte {
                b'/' if self.byte(self.at + 1) == Some(b'*') => self.comment(),
                b'"' | b'\'' => self.string_here(byte),
                b'@' => self.at_rule(),
                _ if starts_name(byte) => self.identifier(),
                _ => self.punctuation(byte),
            };
            let usable = found.filter(|found| !found.is_empty() && found.len() <= REFERENCE_BYTES_MAX);
            if usable.is_some() {
                return usable;
            }
        }
        None
    }

    fn comment(&mut self) -> Option<Cow<'a, str>> {
        let behind = self.text.as_bytes().get(self.at + 2..).unwrap_or_default();
        let end = memchr::memmem::find(behind, b"*/");
        self.at = end.map_or(self.text.len(), |end| self.at + 2 + end + 2);
        None
    }

    /// A string, which is a reference only in some positions.
    fn string_here(&mut self, quote: u8) -> Option<Cow<'a, str>> {
        let string = self.string(quote);
        match self.strings {
            Strings::Import => {
                self.strings = Strings::Plain;
                Some(string)
            }
            Strings::ImageSet(depth) if depth == self.depth => Some(string),
            _ => None,
        }
    }

    fn at_rule(&mut self) -> Option<Cow<'a, str>> {
        self.at += 1;
        let name = self.name();
        self.strings = match &*name {
            name if name.eq_ignore_ascii_case("import") => Strings::Import,
            name if name.eq_ignore_ascii_case("namespace") => Strings::Ignored,
            _ => Strings::Plain,
        };
        None
    }

    /// An identifier, or a function if a parenthesis follows.
    fn identifier(&mut self) -> Option<Cow<'a, str>> {
        let name = self.name();
        if self.byte(self.at) != Some(b'(') {
            return None;
        }
        self.at += 1;
        if name.eq_ignore_ascii_case("url") {
            return self.url_function().filter(|_| self.takes_url());
        }
        self.depth += 1;
        let is_set = name.eq_ignore_ascii_case("image-set") || name.eq_ignore_ascii_case("-webkit-image-set");
        if is_set && self.strings == Strings::Plain {
            self.strings = Strings::ImageSet(self.depth);
        }
        None
    }

    /// Whether a `url()` counts here. It ends the wait for the string of an `@import`.
    fn takes_url(&mut self) -> bool {
        if self.strings == Strings::Import {
            self.strings = Strings::Plain;
        }
        self.strings != Strings::Ignored
    }

    fn punctuation(&mut self, byte: u8) -> Option<Cow<'a, str>> {
        self.at += 1;
        match byte {
            b'(' => self.depth += 1,
            b')' => {
                if self.strings == Strings::ImageSet(self.depth) {
                    self.strings = Strings::Plain;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            // A rule ends, and with it everything left open.
            b';' | b'{' | b'}' => (self.strings, self.depth) = (Strings::Plain, 0),
            _ => {}
        }
        None
    }

    /// The text after `url(`, up to and including its `)`.
    fn url_function(&mut self) -> Option<Cow<'a, str>> {
        self.pass_space();
        match self.byte(self.at)? {
            quote @ (b'"' | b'\'') => {
                let string = self.string(quote);
                self.pass_to_parenthesis();
                Some(string)
            }
            _ => self.unquoted(),
        }
    }

    /// A URL without quotes. An unescaped quote, parenthesis or space makes it invalid.
    fn unquoted(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        let (mut end, mut is_url) = (start, true);
        while let Some(byte) = self.byte(self.at).filter(|byte| *byte != b')') {
            let is_gap = is_space(byte);
            is_url &= !matches!(byte, b'"' | b'\'' | b'(') && (is_gap || end == self.at);
            self.at += if byte == b'\\' { self.escape_bytes(self.at) } else { 1 };
            end = if is_gap { end } else { self.at.min(self.text.len()) };
        }
        self.at = (self.at + 1).min(self.text.len());
        let text = self.slice(start, end);
        (is_url && text.len() <= REFERENCE_BYTES_MAX).then(|| unescaped(text))
    }

    fn pass_to_parenthesis(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at = memchr::memchr(b')', rest).map_or(self.text.len(), |found| self.at + found + 1);
    }

    /// The string at a quote; it ends at the next one, or at the end of the line if it is not closed.
    fn string(&mut self, quote: u8) -> Cow<'a, str> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.byte(at) {
                Some(b'\\') => at += self.escape_bytes(at),
                Some(byte) if byte == quote => {
                    self.at = at + 1;
                    break;
                }
                Some(b'\n' | b'\r' | b'\x0c') | None => {
                    self.at = at.min(self.text.len());
                    break;
                }
                Some(_) => at += 1,
            }
        }
        let text = self.slice(start, at.min(self.text.len()));
        if text.len() > REFERENCE_BYTES_MAX { "".into() } else { unescaped(text) }
    }

    /// The name that begins here, with its escapes resolved.
    fn name(&mut self) -> Cow<'a, str> {
        let start = self.at;
        while let Some(byte) = self.byte(self.at) {
            match byte {
                b'\\' => self.at += self.escape_bytes(self.at),
                _ if goes_on_name(byte) => self.at += 1,
                _ => break,
            }
        }
        let name = self.slice(start, self.at);
        if name.len() > NAME_BYTES_MAX { "".into() } else { unescaped(name) }
    }

    /// The length of the escape at a backslash, with the space that ends it.
    fn escape_bytes(&self, at: usize) -> usize {
        1 + escaped(self.text.get(at + 1..).unwrap_or_default()).1
    }
    fn pass_space(&mut self) {
        while self.byte(self.at).is_some_and(is_space) {
            self.at += 1;
        }
    }
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }
    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }
}

/// The maximum length of a name that is compared, written with escapes.
const NAME_BYTES_MAX: usize = 128;

/// A text with its escapes resolved: `\26 ` is `&`, `\(` is `(`, and a line that ends in `\` continues.
fn unescaped(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return text.into();
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let (character, length) = escaped(behind);
        out.extend(character);
        rest = behind.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out.into()
}

/// What an escape expands to, and its length after the backslash.
fn escaped(behind: &str) -> (Option<char>, usize) {
    let digits = behind.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
    if digits > 0 {
        let number = behind.get(..digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let character = number.filter(|number| *number != 0).and_then(char::from_u32).unwrap_or('\u{fffd}');
        let space = match behind.as_bytes().get(digits..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([byte, ..]) if is_space(*byte) => 1,
            _ => 0,
        };
        return (Some(character), digits + space);
    }
    match behind.chars().next() {
        Some('\r') if behind.starts_with("\r\n") => (None, 2),
        Some('\n' | '\r' | '\x0c') => (None, 1),
        Some(character) => (Some(character), character.len_utf8()),
        None => (None, 0),
    }
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'\\') || !byte.is_ascii()
}
fn goes_on_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || !byte.is_ascii()
}
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LINKS_MAX;

    #[track_caller]
    fn check(css: &str, expected: &[&str]) {
        let mut scanner = Scanner::new(css);
        let found: Vec<String> = std::iter::from_fn(|| scanner.next()).map(Cow::into_owned).collect();
        assert_eq!(found, expected, "{css}");
    }

    #[test]
    fn imports_are_found_in_every_form() {
        check("@import 'a.css';@IMPORT \"b.css\" screen;", &["a.css", "b.css"]);
        check("@import url(c.css) print;@import url('d.css') layer(x);", &["c.css", "d.css"]);
        check("@import/* x */'e.css' supports(font-format('woff'));", &["e.css"]);
        check("@import url( \"f.css\" ) ; p { content: 'no.css' }", &["f.css"]);
    }

    #[test]
    fn urls_are_found_wherever_they_stand() {
        check("a{background:url(a.png) no-repeat,URL( 'b.png' )}", &["a.png", "b.png"]);
        check(
            "@font-face{src:url(f.eot);src:url(f.eot?#iefix) format('embedded-opentype'),url(f.woff2)format(\"woff2\")}",
            &["f.eot", "f.eot?#iefix", "f.woff2"],
        );
        check("@media print{@supports(display:grid){b{cursor:url(c.cur),auto}}}", &["c.cur"]);
        check("a{mask:url(m.svg#id);filter:url(#blur)}", &["m.svg#id", "#blur"]);
        check("--x:url(x.png);a{list-style:square url(\n\ty.gif\n)}", &["x.png", "y.gif"]);
        check("background:url(style.png)", &["style.png"]);
    }

    #[test]
    fn the_strings_of_an_image_set_are_pictures() {
        check(
            "a{background-image:image-set('a.png' 1x,\"b.avif\" type(\"image/avif\") 2x,url(c.png) 3x);content:'d'}",
            &["a.png", "b.avif", "c.png"],
        );
        check(
            "a{background:-webkit-image-set(url(a.png) 1x, 'b.png' 2x)}p{quotes:'x' 'y'}",
            &["a.png", "b.png"],
        );
    }

    #[test]
    fn escapes_are_resolved() {
        check(r"a{background:url(a\ b\(1\).png)}", &["a b(1).png"]);
        check(r"a{background:url('it\'s.png')}", &["it's.png"]);
        check(r"a{background:u\72 l(\61\00062 c.png)}", &["abc.png"]);
        check("@import 'a\\\nb.css';", &["ab.css"]);
        check(r"@\69mport 'a.css'", &["a.css"]);
        check(r"a{background:url(\110000 \0 x)}", &["\u{fffd}\u{fffd}x"]);
    }

    #[test]
    fn what_is_no_reference_is_left() {
        check("/* url(a.png) @import 'b.css' */ a { content: \"url(c.png)\"; x: my-url(d.png) }", &[]);
        check("@namespace svg url(http://www.w3.org/2000/svg);@namespace 'http://x/';a{b:url(y)}", &["y"]);
        check("a{background:url()}b{background:url('')}", &[]);
        check("a{background:url(a b.png)}c{background:url(d\"e.png)}f{background:url(g.png)}", &["g.png"]);
        check("url(unclosed", &["unclosed"]);
        check("a{content:'open\nb:url(x.png)}", &["x.png"]);
        check("/* open url(x)", &[]);
        check(&format!("a{{b:url(data:image/png;base64,{})}}c{{d:url(e)}}", "A".repeat(9_000)), &["e"]);
    }

    #[test]
    fn a_sheet_is_read_by_its_charset_and_against_its_own_url() {
        let url = PageUrl::parse("http://a.example/css/x.css").unwrap();
        let read = |content_type, bytes: &[u8]| {
            let links = style_sheet_links(&url, content_type, bytes);
            links.iter().map(|link| link.url.as_str().to_owned()).collect::<Vec<_>>()
        };
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("@charset \"shift_jis\";a{b:url(本.png)}");
        let expected = ["http://a.example/css/%E6%9C%AC.png"];
        assert_eq!(read(None, &japanese), expected);
        assert_eq!(read(Some("text/css; charset=UTF-8"), "a{b:url(本.png)}".as_bytes()), expected);
        assert_eq!(
            read(None, b"a{b:url(//b.example/i.png);c:url(#x);d:url(javascript:1)}"),
            ["http://b.example/i.png"]
        );
    }

    #[test]
    fn survives_h8_any_bytes_in_linear_time() {
        let url = PageUrl::parse("http://a.example/x.css").unwrap();
        let alphabet: [&[u8]; 20] = [
            b"url(",
            b"@import",
            b"'",
            b"\"",
            b"\\",
            b")",
            b"(",
            b"/*",
            b"*/",
            b";",
            b"{",
            b"}",
            b" ",
            b"\n",
            b"image-set(",
            "写".as_bytes(),
            b"\xff",
            b"a",
            b"\\61",
            b"@namespace",
        ];
        let mut chance = base::Chance::new(7);
        for _ in 0..3_000 {
            let length = chance.bits() % 60;
            let pieces = (0..length).flat_map(|_| alphabet[usize::try_from(chance.bits() % 20).unwrap()]);
            let bytes: Vec<u8> = pieces.copied().collect();
            assert!(style_sheet_links(&url, None, &bytes).len() <= LINKS_MAX);
            let random: Vec<u8> = (0..length).map(|_| chance.bits().to_le_bytes()[0]).collect();
            assert!(style_sheet_links(&url, None, &random).len() <= LINKS_MAX);
        }
        for piece in
            ["url(", "@import'", "\\", "(", "/*", "'", "image-set(", "a{b:url(x)}", "url(\"", "@", "-"]
        {
            let links = style_sheet_links(&url, None, piece.repeat(1_000_000 / piece.len()).as_bytes());
            assert!(links.len() <= LINKS_MAX, "{piece}");
        }
    }
}
