//! What a program is sent and what it answers; documented in `docs/reference/scan-protocol.md`.
//!
//! ```
//! use std::io::Cursor;
//!
//! // A program: it says how long each document is.
//! let given = b"{\"document\":1,\"url\":\"http://a.example/\",\"length\":2}\nhi".to_vec();
//! let mut said = Vec::new();
//! scan::protocol::serve(Cursor::new(given), &mut said, |head, body| {
//!     assert_eq!(head.get("url").as_deref(), Some("http://a.example/"));
//!     body.len().to_string()
//! })?;
//! assert_eq!(said, b"2\n");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Given: a line of JSON, the *head*, and then the `length` bytes that it names; the next head follows at once. Answered: a
//! line of JSON, or a line `=N` and then N bytes of anything, for each document, in their order.
//!
//! **Invariant:** an answer is bounded, whole and well-formed, or it is garbage; there is nothing between.

use crate::document::ScanDocument;
use crate::wire::AnalysisAnswer;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::{self, BufWriter, Read, Write};

/// Writes the head of a document and a line feed. `coding` is one that could not be removed.
pub(crate) fn put_head(document: &ScanDocument<'_>, coding: Option<&str>, out: &mut Vec<u8>) {
    let _ = write!(out, "{{\"document\":{},{}", document.number, document.fields);
    if let Some(coding) = coding {
        out.extend_from_slice(b",\"coding\":");
        put_text(coding, out);
    }
    out.extend_from_slice(b",\"headers\":[");
    let mut comma: &[u8] = b"";
    for (name, value) in header_lines(document.http_head) {
        out.extend_from_slice(comma);
        out.push(b'[');
        put_bytes(name, out);
        out.push(b',');
        put_bytes(value, out);
        out.push(b']');
        comma = b",";
    }
    let _ = writeln!(out, "],\"length\":{}}}", document.body.len());
}

/// The fields of a head after its first line, names and values as they are, blanks around them removed.
fn header_lines(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at_checked(colon)?;
        Some((name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii()))
    })
}

/// Bytes that should be text; what is not UTF-8 is taken for Latin-1, as RFC 9110 does.
fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => put_text(text, out),
        Err(_) => put_text(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>(), out),
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, text).expect("a text can be written as JSON");
}

/// Takes what a program says apart into answers.
#[derive(Debug)]
pub(crate) struct Answers {
    buffer: Vec<u8>,
    /// Number of bytes of the buffer already used.
    taken: usize,
    /// Up to here there is no line feed.
    searched: usize,
    answer_bytes_max: usize,
}

/// What is no answer, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbage(pub(crate) String);

/// Maximum bytes of the head of a block: `=`, two numbers and a blank.
const BLOCK_HEAD_BYTES_MAX: usize = 64;

impl Answers {
    pub(crate) fn new(answer_bytes_max: usize) -> Self {
        Self { buffer: Vec::new(), taken: 0, searched: 0, answer_bytes_max }
    }

    /// Takes what was read.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.buffer.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }
    /// Whether something was said that is no whole answer yet.
    pub(crate) fn is_begun(&self) -> bool {
        self.taken < self.buffer.len()
    }

    /// The next answer, which must be to the document `number`; nothing while it is not whole.
    pub(crate) fn next(&mut self, number: u64) -> Result<Option<AnalysisAnswer>, Garbage> {
        let searched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(found) = searched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return self.check_length(self.buffer.len() - self.taken).map(|()| None);
        };
        let line_end = self.searched + found;
        let line = self.buffer.get(self.taken..line_end).unwrap_or_default();
        if let Some(b'=') = line.first() {
            return self.block(line_end, number);
        }
        self.check_length(line.len())?;
        let answer = json(line, number)?;
        (self.taken, self.searched) = (line_end + 1, line_end + 1);
        Ok(Some(answer))
    }

    /// The answer whose head ends at `line_end`. It is found again each time, until all of it is there.
    fn block(&mut self, line_end: usize, number: u64) -> Result<Option<AnalysisAnswer>, Garbage> {
        let line = self.buffer.get(self.taken + 1..line_end).unwrap_or_default();
        let length = block_length(line, number)?;
        self.check_length(length)?;
        let start = line_end + 1;
        let Some(block) = self.buffer.get(start..start + length) else {
            self.searched = line_end;
            return Ok(None);
        };
        let answer = AnalysisAnswer::of_block(block.to_vec());
        (self.taken, self.searched) = (start + length, start + length);
        Ok(Some(answer))
    }

    fn check_length(&self, length: usize) -> Result<(), Garbage> {
        let max = self.answer_bytes_max;
        if length > max { Err(Garbage(format!("it answered with more than `{max}` bytes"))) } else { Ok(()) }
    }
}

fn json(line: &[u8], number: u64) -> Result<AnalysisAnswer, Garbage> {
    let text = std::str::from_utf8(line).map_err(|_| garbage("a line that is not UTF-8", line))?;
    let text = text.trim();
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Err(garbage("a line that is no JSON", line));
    }
    if text.starts_with('{') && text.contains("\"document\"") {
        let said = serde_json::from_str::<Said>(text).ok().and_then(|said| said.document);
        said.map_or(Ok(()), |said| check_number(said, number))?;
    }
    Ok(AnalysisAnswer::Json(text.to_owned()))
}

/// What an answer may say of itself.
#[derive(Deserialize)]
struct Said {
    document: Option<u64>,
}

fn check_number(said: u64, number: u64) -> Result<(), Garbage> {
    let what = || Garbage(format!("it answered document `{said}` where `{number}` was next"));
    if said == number { Ok(()) } else { Err(what()) }
}

/// The length in `N` or `N DOCUMENT`.
fn block_length(line: &[u8], number: u64) -> Result<usize, Garbage> {
    let wrong = || garbage("a block without a length", line);
    let text =
        std::str::from_utf8(line).ok().filter(|text| text.len() <= BLOCK_HEAD_BYTES_MAX).ok_or_else(wrong)?;
    let mut parts = text.trim_end().split(' ');
    let length = parts.next().and_then(|length| length.parse().ok()).ok_or_else(wrong)?;
    match (parts.next(), parts.next()) {
        (None, _) => {}
        (Some(said), None) => check_number(said.parse().map_err(|_| wrong())?, number)?,
        _ => return Err(wrong()),
    }
    Ok(length)
}

fn garbage(what: &str, line: &[u8]) -> Garbage {
    let start = String::from_utf8_lossy(line.get(..60).unwrap_or(line)).into_owned();
    Garbage(format!("it answered with {what}: `{}`", base::printable(&start)))
}

/// The head of a document, as a program gets it.
#[derive(Clone, Copy, Debug)]
pub struct DocumentHead<'a> {
    line: &'a str,
    /// Its number in the job.
    pub document: u64,
}

impl<'a> DocumentHead<'a> {
    /// The whole line of JSON.
    #[must_use]
    pub fn as_str(&self) -> &'a str {
        self.line
    }
    /// What it says of `name`, if that is a text.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        let head: serde_json::Value = serde_json::from_str(self.line).ok()?;
        head.get(name)?.as_str().map(str::to_owned)
    }
}

/// What a program needs to find the body.
#[derive(Deserialize)]
struct Frame {
    document: u64,
    length: usize,
}

/// Maximum bytes of one read or write.
const BUFFER_BYTES: usize = 256 * 1024;

/// Reads documents from `input` until it ends and writes what `analyse` says of each, which must be one line of JSON, to
/// `output`. This is all there is to a program in Rust.
pub fn serve(
    input: impl Read,
    output: impl Write,
    mut analyse: impl FnMut(DocumentHead<'_>, &[u8]) -> String,
) -> io::Result<()> {
    serve_with(input, output, |head, body, output| {
        output.write_all(analyse(head, body).as_bytes())?;
        output.write_all(b"\n")
    })
}

/// The same for answers of any form.
pub(crate) fn serve_with(
    input: impl Read,
    output: impl Write,
    mut answer: impl FnMut(DocumentHead<'_>, &[u8], &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut input = Given { input, buffer: vec![0; BUFFER_BYTES], taken: 0, filled: 0 };
    let mut output = BufWriter::with_capacity(BUFFER_BYTES, output);
    loop {
        let Some(line_end) = input.line(&mut output)? else { return output.flush() };
        let frame: Frame = serde_json::from_slice(input.get(0..line_end))?;
        let length = line_end.saturating_add(frame.length);
        input.fill(length, &mut output)?;
        let line = std::str::from_utf8(input.get(0..line_end)).map_err(io::Error::other)?;
        let head = DocumentHead { line: line.trim_end(), document: frame.document };
        answer(head, input.get(line_end..length), &mut output)?;
        input.taken += length;
    }
}

/// What was given and is not answered, as it came: documents are handed on where they lie.
struct Given<R> {
    input: R,
    buffer: Vec<u8>,
    /// Number of bytes of the buffer already answered,
    taken: usize,
    /// and up to here there is something.
    filled: usize,
}

impl<R: Read> Given<R> {
    /// A part of what is not answered.
    fn get(&self, part: std::ops::Range<usize>) -> &[u8] {
        self.buffer.get(self.taken + part.start..self.taken + part.end).unwrap_or_default()
    }

    /// Where the next line ends, with its line feed; nothing at the end of the input.
    fn line(&mut self, output: &mut impl Write) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let unread = self.buffer.get(self.taken..self.filled).unwrap_or_default();
            if let Some(place) = memchr::memchr(b'\n', unread.get(searched..).unwrap_or_default()) {
                return Ok(Some(searched + place + 1));
            }
            searched = unread.len();
            if !self.read(searched + 1, output)? {
                return if searched == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        }
    }

    /// Reads until this many bytes are there.
    fn fill(&mut self, bytes: usize, output: &mut impl Write) -> io::Result<()> {
        while self.filled - self.taken < bytes {
            if !self.read(bytes, output)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Reads more, of `wanted` bytes in all; says whether there was more. Answers still in the buffer are sent first.
    fn read(&mut self, wanted: usize, output: &mut impl Write) -> io::Result<bool> {
        output.flush()?;
        self.buffer.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        // The room follows what came, not what was announced.
        let room = wanted.min(self.filled.saturating_mul(2)).max(BUFFER_BYTES).max(self.filled + 1);
        if self.buffer.len() < room || self.buffer.len() > 4 * room {
            self.buffer.resize(room, 0);
            self.buffer.shrink_to_fit();
        }
        let read = loop {
            match self.input.read(self.buffer.get_mut(self.filled..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.filled += read.as_ref().map_or(0, |read| *read);
        Ok(read? > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document<'a>(http_head: &'a [u8], body: &'a [u8]) -> ScanDocument<'a> {
        let fields = r#""url":"http://a.example/""#;
        ScanDocument {
            number: 3,
            url: "http://a.example/",
            fields,
            http_head,
            body,
            stored_bytes: 0,
            payload_bytes: 0,
        }
    }

    #[test]
    fn a_head_is_one_line_of_json_whatever_the_server_sent() {
        let http_head =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-\xe9: a\"\x00\xff\r\nnothing\r\n\r\n";
        let mut out = Vec::new();
        put_head(&document(http_head, b"hi"), Some("x-odd"), &mut out);
        assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
        let head: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let expected = serde_json::json!({
            "document": 3, "url": "http://a.example/", "coding": "x-odd", "length": 2,
            "headers": [["Content-Type", "text/html"], ["X-é", "a\"\u{0}ÿ"]],
        });
        assert_eq!(head, expected);
    }

    /// The result of `said` in one piece, and byte by byte: answers, and the garbage after them.
    #[track_caller]
    fn check(said: &[u8], expected: &[&str], garbage: Option<&str>) {
        for step in [1, 3, said.len().max(1)] {
            let mut answers = Answers::new(40);
            let (mut found, mut wrong) = (Vec::new(), None);
            'all: for piece in said.chunks(step) {
                answers.push(piece);
                loop {
                    match answers.next(7) {
                        Ok(Some(AnalysisAnswer::Json(text))) => found.push(text),
                        Ok(Some(AnalysisAnswer::Text(text))) => found.push(format!("text {text}")),
                        Ok(Some(AnalysisAnswer::Bytes(bytes))) => found.push(format!("bytes {bytes:?}")),
                        Ok(None) => break,
                        Err(Garbage(what)) => {
                            wrong = Some(what);
                            break 'all;
                        }
                    }
                }
            }
            assert_eq!(found, expected, "{step}");
            match garbage {
                None => assert_eq!(wrong, None, "{step}"),
                Some(part) => {
                    assert!(wrong.as_ref().is_some_and(|wrong| wrong.contains(part)), "{step}: {wrong:?}");
                }
            }
        }
    }

    #[test]
    fn answers_are_lines_of_json_and_counted_blocks() {
        check(b"1\n\"x\"\r\n{\"a\": [1]}\nnull\n", &["1", "\"x\"", "{\"a\": [1]}", "null"], None);
        check(b"=3\na\nb=0\n=2 7\n\xff\n[]\n", &["text a\nb", "text ", "bytes [255, 10]", "[]"], None);
        check(
            b"{\"document\":7}\n{\"document\":\"mine\"}\n",
            &["{\"document\":7}", "{\"document\":\"mine\"}"],
            None,
        );
        check(b"{\"a\":", &[], None);
    }

    #[test]
    fn anything_else_is_garbage() {
        check(b"1\nloading model...\n", &["1"], Some("no JSON"));
        check(b"\n", &[], Some("no JSON"));
        check(b"\"\xff\"\n", &[], Some("UTF-8"));
        check(b"=x\n", &[], Some("length"));
        check(b"=1 2 3\n", &[], Some("length"));
        check(b"=-1\n", &[], Some("length"));
        check(b"=41\n", &[], Some("more than `40`"));
        check(&[b'1'; 50], &[], Some("more than `40`"));
        check(b"=1 8\nx", &[], Some("where `7` was next"));
        check(b"{\"document\":8}\n", &[], Some("where `7` was next"));
    }

    #[test]
    fn served_documents_are_answered_in_order_however_they_arrive() {
        let mut given = Vec::new();
        for body in ["", "x\n{}", "写し"] {
            put_head(&document(b"", body.as_bytes()), None, &mut given);
            given.extend_from_slice(body.as_bytes());
        }
        let mut said = Vec::new();
        serve(&*given, &mut said, |head, body| format!("[{},{}]", head.document, body.len())).unwrap();
        assert_eq!(String::from_utf8(said).unwrap(), "[3,0]\n[3,4]\n[3,6]\n");
        let cut = given.len() - 1;
        assert!(serve(&given[..cut], io::sink(), |_, _| String::new()).is_err(), "half a document is none");
        let boast = b"{\"document\":1,\"length\":18446744073709551615}\nx";
        assert!(
            serve(&boast[..], io::sink(), |_, _| String::new()).is_err(),
            "nor is one that nobody can hold"
        );
    }
}
