//! What the simulated web is asked and what it answers, whichever way the question came: in process behind the
//! door, or as HTTP over loopback. Both forms send the bytes made here.

use base::Timestamp;
use base::url::Scheme;
use std::borrow::Cow;
use std::time::Duration;

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// http or https.
    pub scheme: Scheme,
    /// The host, lower case, without port.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Whether only the head is wanted.
    pub head_only: bool,
    /// `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<&'a str>,
    /// Whether `Accept-Encoding` names gzip.
    pub accepts_gzip: bool,
}

/// One answer, before it is sent in its [`Manner`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The fields in their order, without `Content-Length`, `Transfer-Encoding` and `Date`.
    pub fields: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How it is sent.
    pub manner: Manner,
}

/// An answer whose body may still have to be made: all that politeness wants to know, at a tenth of the cost.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// The fields in their order, as in [`Answer`].
    pub fields: Vec<(&'static str, String)>,
    /// How it is sent.
    pub manner: Manner,
    pub(crate) source: Source,
}

/// Where a body comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// It is made already.
    Made(Vec<u8>),
    /// It is that of a page at a second.
    Page { server: u32, page: u64, now: i64, compressed: bool },
    /// It is that of a server's feed at a second.
    Feed { server: u32, now: i64 },
    /// It is that of a part of a server's sitemap that lists pages, at a second.
    Sitemap { server: u32, part: u64, now: i64, compressed: bool },
}

impl Head {
    /// The value of a field, by its name as it is written.
    #[must_use]
    pub fn field(&self, wanted: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str())
    }
    /// Whether the body has yet to be made, so that somebody else may.
    #[must_use]
    pub fn has_body_to_make(&self) -> bool {
        !matches!(self.source, Source::Made(_))
    }
}

impl From<Answer> for Head {
    fn from(answer: Answer) -> Self {
        let Answer { status, fields, body, manner } = answer;
        Self { status, fields, manner, source: Source::Made(body) }
    }
}

/// How an answer is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// At once, with its length.
    Plain,
    /// At once, in chunks of about this many bytes.
    Chunked(usize),
    /// After a while.
    Late(Duration),
    /// A few bytes at a time, from the status line on: so many, then a wait.
    Drip(usize, Duration),
    /// The body again and again, for ever, without a length.
    Endless,
    /// With a `Content-Length` that is not the body's, then the connection is closed.
    WrongLength(u64),
    /// The body is the whole message, sent as it is, then the connection is closed.
    Raw,
    /// The body is a message without end: so many bytes of it are sent once, the rest again and again.
    RawEndless(usize),
    /// The request is read and never answered.
    Hang,
    /// The connection is closed without an answer.
    Close,
}

impl Answer {
    /// An answer that is sent at once.
    #[must_use]
    pub fn plain(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let fields = vec![("Content-Type", media_type.to_owned())];
        Self { status, fields, body: body.into(), manner: Manner::Plain }
    }

    /// The head as it goes over the wire: status line, `Date`, fields, the length as the manner gives it.
    #[must_use]
    pub fn head(&self, now: Timestamp) -> Vec<u8> {
        let mut head = Vec::with_capacity(512);
        for part in ["HTTP/1.1 ", &self.status.to_string(), " ", reason(self.status), "\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
        push_field(&mut head, "Date", &now.to_http_date());
        self.fields.iter().for_each(|(name, value)| push_field(&mut head, name, value));
        match self.manner {
            Manner::Endless => push_field(&mut head, "Connection", "close"),
            Manner::Chunked(_) => push_field(&mut head, "Transfer-Encoding", "chunked"),
            Manner::WrongLength(length) => push_field(&mut head, "Content-Length", &length.to_string()),
            _ if self.status == 304 => {}
            _ => push_field(&mut head, "Content-Length", &self.body.len().to_string()),
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// The body as it goes over the wire: with chunk framing where the manner says so. Whoever sends an answer to
    /// HEAD, or a 304, leaves it out.
    #[must_use]
    pub fn wire_body(&self) -> Cow<'_, [u8]> {
        match self.manner {
            Manner::Chunked(bytes) => Cow::Owned(in_chunks(&self.body, bytes.max(1))),
            _ => Cow::Borrowed(&self.body),
        }
    }
}

fn in_chunks(body: &[u8], bytes: usize) -> Vec<u8> {
    let mut wire = Vec::with_capacity(body.len() + (body.len() / bytes + 2) * 10);
    for chunk in body.chunks(bytes) {
        wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        wire.extend_from_slice(chunk);
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"0\r\n\r\n");
    wire
}

fn push_field(head: &mut Vec<u8>, name: &str, value: &str) {
    for part in [name, ": ", value, "\r\n"] {
        head.extend_from_slice(part.as_bytes());
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Answer",
    }
}
