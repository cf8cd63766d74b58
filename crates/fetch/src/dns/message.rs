//! DNS messages: one question out, one answer in (RFC 1035, EDNS 6891).
//!
//! **Invariant:** parsing is total and linear: any bytes are an answer, a foreign message or a malformed one, and nothing
//! is read twice except a name that others point to, whose hops and length are bounded.
//!
//! **Invariant:** only records that answer the question are accepted: addresses of the requested name, or of a name that
//! its aliases in this message lead to. All other records are skipped and never stored (H3).

mod reader;

use super::name::Name;
use reader::{Data, Reader, Record};
use std::net::IpAddr;

/// The maximum length of an answer over UDP: passes every network without fragmentation (DNS flag day 2020).
const PAYLOAD_BYTES: u16 = 1_232;
/// The maximum number of records read of an answer: a hundred times what any name of the web has.
const RECORDS_MAX: u16 = 256;
/// The maximum number of addresses kept of a name, per family.
pub(super) const ADDRESSES_MAX: usize = 16;
/// The maximum number of aliases from a name to its addresses.
pub(super) const ALIASES_MAX: usize = 8;

const CLASS_INTERNET: u16 = 1;
const TYPE_OPTIONS: u16 = 41;
const HEAD_BYTES: usize = 12;

/// The requested record type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// IPv4 addresses.
    A,
    /// IPv6 addresses.
    Aaaa,
}

impl Kind {
    const fn code(self) -> u16 {
        match self {
            Self::A => 1,
            Self::Aaaa => 28,
        }
    }
}

/// A question as sent, to which its answer is compared.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// A random number that an attacker cannot know.
    pub(super) id: u16,
    /// The name in wire form; its letters have random case unless the server does not preserve it.
    pub(super) name: Vec<u8>,
    pub(super) kind: Kind,
    /// Whether answers longer than 512 bytes are allowed.
    pub(super) extended: bool,
}

impl Query {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.name.len() + 16);
        // Flags: a plain query, recursion desired. Counts: one question, and the options after it.
        for word in [self.id, 0x0100, 1, 0, 0, u16::from(self.extended)] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(&self.name);
        bytes.extend(self.kind.code().to_be_bytes());
        bytes.extend(CLASS_INTERNET.to_be_bytes());
        if self.extended {
            bytes.push(0);
            for word in [TYPE_OPTIONS, PAYLOAD_BYTES, 0, 0, 0] {
                bytes.extend(word.to_be_bytes());
            }
        }
        bytes
    }
}

/// How bytes relate to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// Not an answer to this question: another id, another question, or not an answer.
    Stray,
    /// An answer, except that the case of the letters was changed.
    OtherCase,
    /// The answer does not fit; retry over TCP.
    Truncated,
    /// The server refuses, with its code.
    Refusal(u8),
    /// The answer is malformed.
    Broken(&'static str),
    /// The answer.
    Reply(Reply),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Addresses, at least one; valid for `seconds`.
    Addresses { addresses: Vec<IpAddr>, seconds: u32 },
    /// No address of this family, or no such name.
    Nothing { exists: bool, seconds: u32 },
    /// The name is an alias, `links` aliases away, of a name without records in this message.
    Alias { to: Vec<u8>, links: usize, seconds: u32 },
}

/// Parses a message received for `query`.
pub(super) fn read(bytes: &[u8], query: &Query) -> Message {
    let mut reader = Reader::new(bytes);
    let Some(head) = reader.words::<6>() else { return Message::Stray };
    let [id, flags, questions, answers, authorities, _] = head;
    let (is_answer, opcode) = (flags & 0x8000 != 0, flags >> 11 & 0xf);
    let code = (flags & 0xf) as u8;
    if id != query.id || !is_answer || opcode != 0 {
        return Message::Stray;
    }
    // A server that cannot parse a question may omit it. Only its refusal is accepted then.
    if questions == 0 && !matches!(code, NO_ERROR | NO_SUCH_NAME) {
        return Message::Refusal(code);
    }
    match echo(&mut reader, questions, query) {
        Echo::Other => return Message::Stray,
        Echo::OtherCase => return Message::OtherCase,
        Echo::Same => {}
    }
    if !matches!(code, NO_ERROR | NO_SUCH_NAME) {
        return Message::Refusal(code);
    }
    if flags & 0x0200 != 0 {
        return Message::Truncated;
    }
    reply(&mut reader, [answers, authorities], query, code == NO_ERROR)
}

const NO_ERROR: u8 = 0;
const NO_SUCH_NAME: u8 = 3;
/// The code of a server that cannot parse the question, such as one that predates its options.
pub(super) const FORMAT_ERROR: u8 = 1;

/// The question repeated in an answer.
enum Echo {
    Same,
    OtherCase,
    Other,
}

fn echo(reader: &mut Reader<'_>, questions: u16, query: &Query) -> Echo {
    let name = (questions == 1).then(|| reader.name().ok()).flatten();
    let Some(name) = name else { return Echo::Other };
    if reader.words() != Some([query.kind.code(), CLASS_INTERNET]) || !name.eq_ignore_ascii_case(&query.name)
    {
        Echo::Other
    } else if name == query.name {
        Echo::Same
    } else {
        Echo::OtherCase
    }
}

fn reply(reader: &mut Reader<'_>, counts: [u16; 2], query: &Query, exists: bool) -> Message {
    let [answers, authorities] = counts;
    let read = records(reader, answers);
    let Ok(answer) = read else { return Message::Broken("it ends in the middle of a record") };
    // After a record that cannot be read, nothing can be found.
    let authority = if answers > RECORDS_MAX { Ok(Vec::new()) } else { records(reader, authorities) };
    let Ok(authority) = authority else { return Message::Broken("it ends in the middle of a record") };
    let Some(chain) = Chain::follow(&answer, query) else {
        return Message::Broken("its aliases lead too far or in circles");
    };
    let addresses = chain.addresses(&answer);
    if !addresses.is_empty() && exists {
        let seconds = addresses.iter().map(|(_, seconds)| *seconds).fold(chain.seconds, u32::min);
        let addresses = addresses.into_iter().map(|(address, _)| address).collect();
        return Message::Reply(Reply::Addresses { addresses, seconds });
    }
    nothing(chain, &authority, exists)
}

/// The meaning of an answer without addresses: it depends on who asserts that there are none.
fn nothing(chain: Chain, authority: &[Record], exists: bool) -> Message {
    let start = authority.iter().find_map(|record| match record.data {
        Data::Start { minimum } => Some(minimum.min(record.seconds)),
        _ => None,
    });
    let is_referral = authority.iter().any(|record| matches!(record.data, Data::NameServer));
    match start {
        Some(seconds) => Message::Reply(Reply::Nothing { exists, seconds: seconds.min(chain.seconds) }),
        None if !exists => Message::Reply(Reply::Nothing { exists, seconds: 0 }),
        None if chain.links > 0 => {
            let Chain { end, links, seconds, .. } = chain;
            Message::Reply(Reply::Alias { to: end, links, seconds })
        }
        None if is_referral => Message::Broken("it only names other servers: it looks nothing up for others"),
        None => Message::Reply(Reply::Nothing { exists, seconds: 0 }),
    }
}

fn records(reader: &mut Reader<'_>, count: u16) -> Result<Vec<Record>, reader::Broken> {
    (0..count.min(RECORDS_MAX)).map(|_| reader.record()).collect()
}

/// The chain from the requested name over its aliases, as far as one message shows it.
struct Chain {
    end: Vec<u8>,
    links: usize,
    seconds: u32,
    kind: Kind,
}

impl Chain {
    /// `None` if there are too many aliases, or they form a cycle.
    fn follow(answer: &[Record], query: &Query) -> Option<Self> {
        let mut chain =
            Self { end: query.name.to_ascii_lowercase(), links: 0, seconds: u32::MAX, kind: query.kind };
        while let Some((to, seconds)) = alias(answer, &chain.end) {
            chain.links += 1;
            chain.seconds = chain.seconds.min(seconds);
            chain.end = to.to_ascii_lowercase();
            if chain.links > ALIASES_MAX {
                return None;
            }
        }
        Some(chain)
    }

    fn addresses(&self, answer: &[Record]) -> Vec<(IpAddr, u32)> {
        let mut addresses: Vec<(IpAddr, u32)> = Vec::new();
        for record in answer.iter().filter(|record| record.name.eq_ignore_ascii_case(&self.end)) {
            let Data::Address(address) = record.data else { continue };
            let is_new = addresses.iter().all(|(known, _)| *known != address);
            if is_new && address.is_ipv4() == (self.kind == Kind::A) && addresses.len() < ADDRESSES_MAX {
                addresses.push((address, record.seconds));
            }
        }
        addresses
    }
}

fn alias<'a>(answer: &'a [Record], name: &[u8]) -> Option<(&'a [u8], u32)> {
    answer.iter().find_map(|record| match &record.data {
        Data::Alias(to) if record.name.eq_ignore_ascii_case(name) => Some((to.as_slice(), record.seconds)),
        _ => None,
    })
}

/// Sets the case of every letter of a name in wire form by a random bit. Lengths are not letters: none exceeds 63.
pub(super) fn mix_case(name: &Name, random: &[u8]) -> Vec<u8> {
    let mut wire = name.to_wire();
    for (place, byte) in wire.iter_mut().enumerate() {
        let bits = random.get(place / 8).copied().unwrap_or(0);
        if bits >> (place % 8) & 1 == 1 {
            byte.make_ascii_uppercase();
        }
    }
    wire
}

#[cfg(test)]
mod tests;
