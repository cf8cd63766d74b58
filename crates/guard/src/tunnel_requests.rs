//! What a client says inside a tunnel, and where in it the requests are (D12).
//!
//! A plain tunnel is read as HTTP/1.1: each request without a body is let through on a turn of its own, however many
//! stand in one burst. In a TLS tunnel only the outside of records can be seen. The handshake belongs to the first
//! request; from then on the application data that the client sends after an answer began is one more request.
//! Whether one burst of records holds one request or several cannot be seen.
//!
//! **Invariant:** no byte of a request leaves before its turn was given, and no turn is used twice. What is neither
//! HTTP nor TLS, or speaks of another server than the one the turn was given for, ends the tunnel.

mod plain;
mod tls;

use crate::gate::Answer;
use base::ServerName;
use tls::{Hello, Records};

/// The most bytes that are kept of a client that has not finished its sentence.
const INPUT_BYTES_MAX: usize = 64 * 1024;

/// Twice what the tickets of common servers take.
const TICKETS_BYTES_MAX: usize = 1_024;

/// What is to be done next with the words of the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// These bytes leave.
    Send(Vec<u8>),
    /// A request stands at the front and needs a turn.
    Ask,
    /// Nothing, until more comes.
    Listen,
    /// The tunnel ends.
    Cut(&'static str),
}

/// One side of a tunnel: what the client says.
#[derive(Debug)]
pub(crate) struct TunnelRequests {
    server: ServerName,
    input: Vec<u8>,
    language: Language,
    turn: Turn,
    /// What came back since the request left, while it may be no answer.
    doubtful_bytes: Option<usize>,
}

/// What is spoken.
#[derive(Debug)]
enum Language {
    /// Not a byte was heard.
    Unknown,
    Plain,
    Tls(Records),
    /// The one request was sent already; whatever the client says besides goes nowhere.
    Single,
}

/// How far the request is whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It may leave and has not.
    Given,
    /// It has left.
    Asked,
    /// Something came back.
    Answered,
    /// The client has said goodbye.
    Over,
}

impl TunnelRequests {
    /// In a tunnel to `server` whose first request has its turn.
    pub(crate) fn new(server: ServerName) -> Self {
        Self {
            server,
            input: Vec::new(),
            language: Language::Unknown,
            turn: Turn::Given,
            doubtful_bytes: None,
        }
    }
    /// In a tunnel whose one request is sent by the guard itself.
    pub(crate) fn single(server: ServerName) -> Self {
        Self {
            server,
            input: Vec::new(),
            language: Language::Single,
            turn: Turn::Asked,
            doubtful_bytes: None,
        }
    }

    /// The client said this.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !matches!(self.language, Language::Single) {
            self.input.extend_from_slice(bytes);
        }
    }
    /// The request at the front has its turn.
    pub(crate) fn give_turn(&mut self) {
        (self.turn, self.doubtful_bytes) = (Turn::Given, None);
    }
    /// The server sent this many bytes; returns whether they answer the pending request.
    ///
    /// After its handshake a server of TLS 1.3 sends session tickets, at once and unasked. Until more has come than
    /// they take, the first answer is in doubt.
    pub(crate) fn hear_server(&mut self, bytes: usize) -> Answer {
        let begins = self.turn == Turn::Asked;
        if begins {
            self.turn = Turn::Answered;
        }
        match self.doubtful_bytes {
            Some(before) if self.turn == Turn::Answered => {
                let heard = before + bytes;
                self.doubtful_bytes = (heard <= TICKETS_BYTES_MAX).then_some(heard);
                if heard <= TICKETS_BYTES_MAX { Answer::Doubtful } else { Answer::Yes }
            }
            _ if begins => Answer::Yes,
            _ => Answer::No,
        }
    }

    /// What to do next.
    pub(crate) fn next(&mut self) -> Step {
        let Some(first) = self.input.first() else { return Step::Listen };
        if matches!(self.language, Language::Unknown) {
            let is_tls = *first == tls::HANDSHAKE;
            self.language = if is_tls { Language::Tls(Records::default()) } else { Language::Plain };
        }
        let step = match self.language {
            Language::Plain => self.next_plain(),
            _ => self.next_tls(),
        };
        if step == Step::Listen && self.input.len() > INPUT_BYTES_MAX {
            return Step::Cut("the client said too much at once");
        }
        step
    }

    fn next_plain(&mut self) -> Step {
        match plain::request(&self.input, self.server.host()) {
            Err(why) => Step::Cut(why),
            Ok(None) => Step::Listen,
            Ok(Some(bytes)) if self.turn == Turn::Given => {
                self.turn = Turn::Asked;
                Step::Send(self.input.drain(..bytes).collect())
            }
            Ok(Some(_)) => Step::Ask,
        }
    }

    fn next_tls(&mut self) -> Step {
        let Language::Tls(records) = &mut self.language else { return Step::Listen };
        if !records.hello_seen {
            match tls::hello(&self.input) {
                Hello::Partial => return Step::Listen,
                Hello::Malformed => return Step::Cut("the client's hello is malformed"),
                Hello::For(Some(name)) if !is_same_host(&name, self.server.host()) => {
                    return Step::Cut("the TLS name is not that of the server");
                }
                Hello::For(_) => records.hello_seen = true,
            }
        }
        let piece = match records.piece(&self.input) {
            Err(why) => return Step::Cut(why),
            Ok(None) => return Step::Listen,
            Ok(Some(piece)) => piece,
        };
        self.turn = match (piece.kind, self.turn) {
            (_, Turn::Over) => return Step::Cut("the client went on after its last word"),
            (tls::Kind::Handshake, turn) => turn,
            (tls::Kind::Farewell, Turn::Answered) => Turn::Over,
            (tls::Kind::Application, Turn::Answered) if !piece.continues => return Step::Ask,
            (tls::Kind::Application, Turn::Answered) => Turn::Answered,
            (tls::Kind::Application | tls::Kind::Farewell, Turn::Given | Turn::Asked) => Turn::Asked,
        };
        if records.is_first_request(&piece) {
            self.doubtful_bytes = Some(0);
        }
        records.sent(&piece);
        Step::Send(self.input.drain(..piece.bytes).collect())
    }
}

/// Whether two texts name one host.
fn is_same_host(said: &str, host: &str) -> bool {
    ServerName::parse(said).is_ok_and(|said| said.host() == host)
}

#[cfg(test)]
mod tests;
