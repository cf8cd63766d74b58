//! The outside of TLS: records, and the name in the first of them.
//!
//! TLS 1.3 hides the end of its handshake among application data. It is known by its length there, for nothing else
//! of the client comes before it; without that, the request that follows it would count as a second one whenever the
//! server said something in between.

/// The first byte of a handshake, and so of every TLS connection.
pub(super) const HANDSHAKE: u8 = 22;
const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const APPLICATION: u8 = 23;
const HEADER_BYTES: usize = 5;
/// The longest record (RFC 8446, 5.2, and what TLS 1.2 allows above it).
const RECORD_BYTES_MAX: usize = (1 << 14) + 2_048;
/// The longest hello: a record holds it, however many keys it offers.
const HELLO_BYTES_MAX: usize = 1 << 14;
/// Records of a client besides application data: a handshake takes six, with a certificate and a second hello.
const OTHER_RECORDS_MAX: u32 = 32;
/// A record of TLS 1.3 that holds an alert (2 bytes) or a change of keys (5), its kind (1) and its seal (16). The
/// shortest request has more.
const FAREWELL_BYTES_MAX: usize = 22;
/// The end of the handshake of TLS 1.3: header (4), SHA-256 or SHA-384, kind (1), seal (16).
const FINISHED_BYTES: [usize; 2] = [4 + 32 + 17, 4 + 48 + 17];

/// What a hello says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hello {
    Partial,
    Malformed,
    /// The server's name, if it is said.
    For(Option<String>),
}

/// Reads the hello at the beginning of a connection.
pub(super) fn hello(input: &[u8]) -> Hello {
    let (message, whole) = match message(input) {
        Ok(found) => found,
        Err(NotWhole::Partial) if input.len() < 2 * HELLO_BYTES_MAX => return Hello::Partial,
        Err(_) => return Hello::Malformed,
    };
    debug_assert!(whole <= message.len());
    let body = message.get(4..whole).unwrap_or_default();
    match server_name(&mut Reader(body)) {
        Some(name) => Hello::For(name),
        None => Hello::Malformed,
    }
}

enum NotWhole {
    Partial,
    Malformed,
}

/// The first handshake message, put together from its records, and its length.
fn message(input: &[u8]) -> Result<(Vec<u8>, usize), NotWhole> {
    let mut message = Vec::new();
    let mut rest = input;
    loop {
        if let [kind, a, b, c, ..] = *message.as_slice() {
            let whole = 4 + usize::from(a) * 65_536 + usize::from(b) * 256 + usize::from(c);
            if kind != 1 || whole > HELLO_BYTES_MAX {
                return Err(NotWhole::Malformed);
            }
            if message.len() >= whole {
                return Ok((message, whole));
            }
        }
        let Some((header, after)) = rest.split_at_checked(HEADER_BYTES) else {
            return Err(NotWhole::Partial);
        };
        let [kind, major, _, high, low] = *header else { return Err(NotWhole::Malformed) };
        let length = usize::from(high) * 256 + usize::from(low);
        if kind != HANDSHAKE || major != 3 || length == 0 || length > RECORD_BYTES_MAX {
            return Err(NotWhole::Malformed);
        }
        let Some((fragment, next)) = after.split_at_checked(length) else { return Err(NotWhole::Partial) };
        message.extend_from_slice(fragment);
        rest = next;
    }
}

/// The name in a hello; `None` when it is malformed.
fn server_name(hello: &mut Reader<'_>) -> Option<Option<String>> {
    hello.take(2 + 32)?;
    hello.block(1)?;
    hello.block(2)?;
    hello.block(1)?;
    if hello.0.is_empty() {
        return Some(None);
    }
    let mut extensions = Reader(hello.block(2)?);
    let mut name = None;
    while !extensions.0.is_empty() {
        let kind = extensions.take(2)?;
        let value = extensions.block(2)?;
        if kind == [0, 0] {
            let mut list = Reader(Reader(value).block(2)?);
            if name.is_some() || list.take(1)? != [0] {
                return None;
            }
            name = Some(String::from_utf8(list.block(2)?.to_vec()).ok()?);
            if !list.0.is_empty() {
                return None;
            }
        }
    }
    Some(name)
}

/// What is left to read.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }
    /// A block after its length, which takes `bytes` bytes.
    fn block(&mut self, length_bytes: usize) -> Option<&'b [u8]> {
        let length = self.take(length_bytes)?.iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte));
        self.take(length)
    }
}

/// What a record means to the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It belongs to the connection.
    Handshake,
    /// It may hold a request.
    Application,
    /// It is too short for a request: the client says goodbye.
    Farewell,
}

/// A record, or as much of it as is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// The length of the piece.
    pub(super) bytes: usize,
    /// Whether it is the rest of a record whose beginning has left.
    pub(super) continues: bool,
    rest: usize,
    is_application: bool,
    is_old_handshake: bool,
}

/// Where in the records of a client one is.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) hello_seen: bool,
    /// Number of bytes of a record that have not arrived yet.
    rest: usize,
    kind: Option<Kind>,
    other_records: u32,
    /// A handshake message other than a hello came in the open: it is not TLS 1.3.
    is_old: bool,
    application_seen: bool,
    request_seen: bool,
}

impl Records {
    /// What stands at the front of `input`; nothing while its header is not there in full.
    pub(super) fn piece(&self, input: &[u8]) -> Result<Option<Piece>, &'static str> {
        if let (Some(kind), 1..) = (self.kind, self.rest) {
            let bytes = self.rest.min(input.len());
            let rest = self.rest - bytes;
            return Ok((bytes > 0).then_some(Piece {
                kind,
                bytes,
                continues: true,
                rest,
                is_application: false,
                is_old_handshake: false,
            }));
        }
        let [content, major, _, high, low, first, ..] = *input else { return Ok(None) };
        let length = usize::from(high) * 256 + usize::from(low);
        if major != 3 || length == 0 || length > RECORD_BYTES_MAX {
            return Err("what the client says is no TLS record");
        }
        let kind = self.kind_of(content, length)?;
        let bytes = (HEADER_BYTES + length).min(input.len());
        if kind == Kind::Farewell && bytes < HEADER_BYTES + length {
            return Ok(None);
        }
        Ok(Some(Piece {
            kind,
            bytes,
            continues: false,
            rest: HEADER_BYTES + length - bytes,
            is_application: content == APPLICATION,
            is_old_handshake: content == HANDSHAKE && self.hello_seen && self.kind.is_some() && first != 1,
        }))
    }

    fn kind_of(&self, content: u8, length: usize) -> Result<Kind, &'static str> {
        let is_finished = !self.application_seen && !self.is_old && FINISHED_BYTES.contains(&length);
        match content {
            HANDSHAKE | CHANGE_CIPHER_SPEC | ALERT if self.other_records < OTHER_RECORDS_MAX => {
                Ok(Kind::Handshake)
            }
            APPLICATION if is_finished => Ok(Kind::Handshake),
            APPLICATION if length <= FAREWELL_BYTES_MAX => Ok(Kind::Farewell),
            APPLICATION => Ok(Kind::Application),
            _ => Err("what the client says is no TLS record"),
        }
    }

    /// Whether a piece begins what TLS 1.3 asks first, or the handshake's end that is hidden before it.
    pub(super) fn is_first_request(&self, piece: &Piece) -> bool {
        piece.kind == Kind::Application && !self.is_old && !self.request_seen
    }

    /// A piece has left.
    pub(super) fn sent(&mut self, piece: &Piece) {
        self.rest = piece.rest;
        self.kind = Some(piece.kind);
        if !piece.continues {
            self.is_old |= piece.is_old_handshake;
            self.application_seen |= piece.is_application;
            self.request_seen |= piece.kind == Kind::Application;
            self.other_records += u32::from(!piece.is_application);
        }
    }
}
