//! Requests to the simulated web and its responses. Both ways of reaching it, in process through the
//! door and as HTTP over loopback, send the bytes built here.

use base::Timestamp;
use base::url::Scheme;
use std::borrow::Cow;
use std::time::Duration;

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct WebRequest<'a> {
    /// http or https.
    pub scheme: Scheme,
    /// The host, lower case, without port.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Whether only the head is requested.
    pub head_only: bool,
    /// `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<&'a str>,
    /// Whether `Accept-Encoding` names gzip.
    pub accepts_gzip: bool,
}

/// One response, before it is sent by its [`DeliveryMode`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebResponse {
    /// The status code.
    pub status: u16,
    /// The fields in their order, without `Content-Length`, `Transfer-Encoding` and `Date`.
    pub fields: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How it is sent.
    pub delivery: DeliveryMode,
}

/// A response whose body may not be built yet: all that politeness needs, at a tenth of the cost.
#[derive(Clone, Debug)]
pub struct WebResponseHead {
    /// The status code.
    pub status: u16,
    /// The fields in their order, as in [`WebResponse`].
    pub fields: Vec<(&'static str, String)>,
    /// How it is sent.
    pub delivery: DeliveryMode,
    pub(crate) source: Source,
}

/// Where a body comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// It is built already.
    Made(Vec<u8>),
    /// A page at a time in seconds.
    Page { server: u32, page: u64, now: i64, compressed: bool },
    /// A server's feed at a time in seconds.
    Feed { server: u32, now: i64 },
    /// A part of a server's sitemap that lists pages, at a time in seconds.
    Sitemap { server: u32, part: u64, now: i64, compressed: bool },
}

impl WebResponseHead {
    /// The value of a field, by its exact name.
    #[must_use]
    pub fn field(&self, wanted: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str())
    }
    /// Whether the body is not built yet, so that another thread may build it.
    #[must_use]
    pub fn needs_body(&self) -> bool {
        !matches!(self.source, Source::Made(_))
    }
}

impl From<WebResponse> for WebResponseHead {
    fn from(answer: WebResponse) -> Self {
        let WebResponse { status, fields, body, delivery } = answer;
        Self { status, fields, delivery, source: Source::Made(body) }
    }
}

/// How a response is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryMode {
    /// At once, with its length.
    Plain,
    /// At once, in chunks of about this many bytes.
    Chunked(usize),
    /// After a while.
    Late(Duration),
    /// From the status line on, this many bytes at a time with this wait between them.
    Drip(usize, Duration),
    /// The body again and again, for ever, without a length.
    Endless,
    /// With a `Content-Length` that is not the body's, then the connection is closed.
    WrongLength(u64),
    /// The body is the whole message, sent as it is, then the connection is closed.
    Raw,
    /// The body is an endless message: the first bytes, as many as given, are sent once, the rest again and again.
    RawEndless(usize),
    /// The request is read and never answered.
    Hang,
    /// The connection is closed without a response.
    Close,
}

impl WebResponse {
    /// A response that is sent at once.
    #[must_use]
    pub fn plain(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let fields = vec![("Content-Type", media_type.to_owned())];
        Self { status, fields, body: body.into(), delivery: DeliveryMode::Plain }
    }

    /// The head as it goes over the wire: status line, `Date`, fields, the length by its delivery.
    #[must_use]
    pub fn head(&self, now: Timestamp) -> Vec<u8> {
        let mut head = Vec::with_capacity(512);
        for part in ["HTTP/1.1 ", &self.status.to_string(), " ", reason(self.status), "\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
        push_field(&mut head, "Date", &now.to_http_date());
        self.fields.iter().for_each(|(name, value)| push_field(&mut head, name, value));
        match self.delivery {
            DeliveryMode::Endless => push_field(&mut head, "Connection", "close"),
            DeliveryMode::Chunked(_) => push_field(&mut head, "Transfer-Encoding", "chunked"),
            DeliveryMode::WrongLength(length) => push_field(&mut head, "Content-Length", &length.to_string()),
            _ if self.status == 304 => {}
            _ => push_field(&mut head, "Content-Length", &self.body.len().to_string()),
        }
        head.extend_from_slice(b"\r\n");
        head
    }

    /// The body as it goes over the wire: with chunk framing if it is sent in chunks. The sender of a response to
    /// HEAD, or of a 304, leaves it out.
    #[must_use]
    pub fn wire_body(&self) -> Cow<'_, [u8]> {
        match self.delivery {
            DeliveryMode::Chunked(bytes) => Cow::Owned(in_chunks(&self.body, bytes.max(1))),
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
        _ => "WebResponse",
    }
}
