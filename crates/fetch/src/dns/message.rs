//! The messages of the name system: one question out, one answer in (RFC 1035, EDNS 6891).
//!
//! **Invariant:** reading is total and linear: any bytes are an answer, a stranger's, or a broken one, and nothing is
//! read twice but a name that others point to, whose hops and length are bounded.
//!
//! **Invariant:** only what answers the question is believed: addresses of the asked name, or of a name its aliases
//! in this very message lead to. Whatever else a message holds is passed over and never kept (H3).

mod reader;

use super::name::Name;
use reader::{Data, Reader, Record};
use std::net::IpAddr;

/// How long an answer over UDP may be: what passes every network unfragmented (DNS flag day 2020).
const PAYLOAD_BYTES: u16 = 1_232;
/// As many records of an answer as are read: a hundred times what any name of the web has.
const RECORDS_MAX: u16 = 256;
/// As many addresses as are kept of a name, of each kind.
pub(super) const ADDRESSES_MAX: usize = 16;
/// The most aliases from a name to its addresses.
pub(super) const ALIASES_MAX: usize = 8;

const CLASS_INTERNET: u16 = 1;
const TYPE_OPTIONS: u16 = 41;
const HEAD_BYTES: usize = 12;

/// What is asked for.
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

/// One question as it is sent, and what its answer is compared with.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// What nobody else can know.
    pub(super) id: u16,
    /// The name in wire form; the case of its letters is at random unless the server cannot keep it.
    pub(super) name: Vec<u8>,
    pub(super) kind: Kind,
    /// Whether a longer answer than 512 bytes is asked for.
    pub(super) extended: bool,
}

impl Query {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.name.len() + 16);
        // Flags: a plain query, recursion desired. Counts: one question, and the options behind it.
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

/// What bytes are to the one who asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// No answer to this question: another id, another question, no answer at all.
    Stray,
    /// An answer, but for the case of the letters, which someone changed.
    OtherCase,
    /// The answer does not fit; it is to be asked for over TCP.
    Truncated,
    /// The server does not answer, with its code.
    Refusal(u8),
    /// The answer cannot be read.
    Broken(&'static str),
    /// The answer.
    Reply(Reply),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Addresses, never none; what is known is known for `seconds`.
    Addresses { addresses: Vec<IpAddr>, seconds: u32 },
    /// None of this kind, or not even the name.
    Nothing { exists: bool, seconds: u32 },
    /// The name is another's alias, `links` aliases away, of which this message says nothing.
    Alias { to: Vec<u8>, links: usize, seconds: u32 },
}

/// Reads what came as an answer to `query`.
pub(super) fn read(bytes: &[u8], query: &Query) -> Message {
    let mut reader = Reader::new(bytes);
    let Some(head) = reader.words::<6>() else { return Message::Stray };
    let [id, flags, questions, answers, authorities, _] = head;
    let (is_answer, opcode) = (flags & 0x8000 != 0, flags >> 11 & 0xf);
    let code = (flags & 0xf) as u8;
    if id != query.id || !is_answer || opcode != 0 {
        return Message::Stray;
    }
    // A server that cannot read a question may leave it out. Only its refusal is believed then.
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
/// The code of a server that cannot read the question, such as one older than its options.
pub(super) const FORMAT_ERROR: u8 = 1;

/// What an answer says the question was.
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
    // Behind an answer that is not read to its end nothing can be found.
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

/// What an answer without addresses means: it depends on who vouches for there being none.
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

/// The way from the asked name over its aliases, as far as one message shows it.
struct Chain {
    end: Vec<u8>,
    links: usize,
    seconds: u32,
    kind: Kind,
}

impl Chain {
    /// Nothing when there are too many aliases, or they go in circles.
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

/// Gives every letter of a name in wire form the case that a random bit says. Lengths are no letters: none exceeds 63.
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
