//! Sends one question to the name servers: over UDP, again after silence, to the next server after a refusal, over TCP if
//! the answer does not fit.
//!
//! Protection against forged answers: a new socket for every try, whose port the kernel chooses at random and whose peer
//! is checked; a random id; and letters of random case, which a server sends back unchanged. An answer that fails any of
//! these checks is skipped, and the right one is awaited. Some servers change the case of the letters: then the try times
//! out, and the same server is queried once more in lower case; a server that did so [`CASE_LOSSES_MAX`] times without
//! preserving the case in between is queried in lower case from then on.
//! If so many datagrams arrive that they may be guesses, the question is repeated over TCP, where guessing does not help.
//!
//! **Invariant:** every wait ends with its try and with the look-up, and a question has one socket at a time.

use super::message::{self, FORMAT_ERROR, Kind, Message, Query, Reply};
use super::name::Name;
use super::settings::{SERVERS_MAX, Settings};
use super::stats::Counts;
use rustls::crypto::SecureRandom;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, timeout_at};

/// The maximum length of a datagram: more than requested, because some servers ignore the request.
const DATAGRAM_BYTES_MAX: usize = 4_096;
/// The maximum number of unrelated datagrams in one try.
const STRAYS_MAX: usize = 64;
/// How often a server may change the case of letters before it is queried in lower case.
const CASE_LOSSES_MAX: u32 = 3;
/// The maximum number of times that the time of a try doubles.
const DOUBLINGS_MAX: u32 = 4;

/// The servers and their learned properties.
#[derive(Debug)]
pub(super) struct Servers {
    servers: Vec<Server>,
    /// The server that answered last. It is queried first, so that a dead one costs one try and not one per look-up.
    first: AtomicUsize,
    try_time: Duration,
    attempts: u32,
    random: &'static dyn SecureRandom,
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Server {
    address: SocketAddr,
    case_losses: AtomicU32,
    /// Whether it answers only questions without options.
    is_old: AtomicBool,
}

/// How a question is sent to a server.
#[derive(Clone, Copy)]
struct Manner {
    mixed_case: bool,
    extended: bool,
}

/// Why a try failed.
#[derive(Debug)]
enum Trouble {
    Silence,
    /// No answer except one with changed case.
    OtherCase,
    Truncated,
    Strays,
    Refusal(u8),
    Broken(&'static str),
    Network(io::Error),
    NoRandomness,
}

impl Trouble {
    /// Whether querying the same server again may help.
    const fn may_pass(&self) -> bool {
        matches!(self, Self::Silence | Self::OtherCase)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Network(error)
    }
}

impl Servers {
    pub(super) fn new(settings: &Settings, counts: Arc<Counts>) -> Self {
        let server =
            |address| Server { address, case_losses: AtomicU32::default(), is_old: AtomicBool::default() };
        Self {
            servers: settings.servers.iter().take(SERVERS_MAX).copied().map(server).collect(),
            first: AtomicUsize::default(),
            try_time: settings.try_time,
            attempts: settings.attempts.max(1),
            random: rustls::crypto::ring::default_provider().secure_random,
            counts,
        }
    }

    /// The first answer of any server before `ends`, or else the failure of each.
    pub(super) async fn ask(&self, name: &Name, kind: Kind, ends: Instant) -> Result<Reply, String> {
        let mut troubles = BTreeMap::new();
        for attempt in 0..self.attempts {
            let try_time = self.try_time * 2_u32.pow(attempt.min(DOUBLINGS_MAX));
            let mut may_pass = false;
            for (place, server) in self.in_order() {
                match self.ask_one(server, (name, kind), try_time, ends).await {
                    Ok(reply) => {
                        self.first.store(place, Ordering::Relaxed);
                        return Ok(reply);
                    }
                    Err(trouble) => {
                        may_pass |= trouble.may_pass();
                        troubles.insert(place, (server.address, trouble));
                    }
                }
            }
            if !may_pass || Instant::now() >= ends {
                break;
            }
        }
        Err(describe(troubles.values()))
    }

    fn in_order(&self) -> impl Iterator<Item = (usize, &Server)> {
        let first = self.first.load(Ordering::Relaxed);
        self.servers.iter().enumerate().cycle().skip(first).take(self.servers.len())
    }

    /// One try. A server that changed the case or could not parse the options is queried once more without them.
    async fn ask_one(
        &self,
        server: &Server,
        (name, kind): (&Name, Kind),
        try_time: Duration,
        ends: Instant,
    ) -> Result<Reply, Trouble> {
        let mut manner = server.manner();
        loop {
            let try_ends = ends.min(Instant::now() + try_time);
            let query = self.query(name, kind, manner)?;
            match self.ask_udp(server.address, &query, try_ends).await {
                Err(Trouble::OtherCase) if manner.mixed_case => {
                    server.case_losses.fetch_add(1, Ordering::Relaxed);
                    manner.mixed_case = false;
                }
                Err(Trouble::Refusal(FORMAT_ERROR)) if manner.extended => manner.extended = false,
                Err(Trouble::Truncated | Trouble::Strays) => {
                    let query = self.query(name, kind, Manner { mixed_case: false, ..manner })?;
                    let asking = self.ask_tcp(server.address, &query);
                    return timeout_at(try_ends, asking).await.unwrap_or(Err(Trouble::Silence));
                }
                Ok(reply) => {
                    server.learn(manner);
                    return Ok(reply);
                }
                other => return other,
            }
        }
    }

    fn query(&self, name: &Name, kind: Kind, manner: Manner) -> Result<Query, Trouble> {
        let mut random = [0; 34];
        self.random.fill(&mut random).map_err(|_| Trouble::NoRandomness)?;
        let [high, low, case @ ..] = random;
        let name = if manner.mixed_case { message::mix_case(name, &case) } else { name.to_wire() };
        Ok(Query { id: u16::from_be_bytes([high, low]), name, kind, extended: manner.extended })
    }

    async fn ask_udp(&self, server: SocketAddr, query: &Query, ends: Instant) -> Result<Reply, Trouble> {
        let socket = UdpSocket::bind(any_port(server)).await?;
        socket.connect(server).await?;
        self.counts.queries.add();
        socket.send(&query.encode()).await?;
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        let mut silence = Trouble::Silence;
        for _ in 0..STRAYS_MAX {
            let Ok(received) = timeout_at(ends, socket.recv_from(&mut buffer)).await else {
                return Err(silence);
            };
            let (length, from) = received?;
            // The kernel passes on only datagrams from the server, except before the socket was connected.
            let is_from_server = (from.ip(), from.port()) == (server.ip(), server.port());
            match message::read(buffer.get(..length).unwrap_or_default(), query) {
                _ if !is_from_server => {}
                Message::Stray => {}
                Message::OtherCase => silence = Trouble::OtherCase,
                message => return reply(message),
            }
            self.counts.strays.add();
        }
        Err(Trouble::Strays)
    }

    /// Each message is preceded by its length.
    async fn ask_tcp(&self, server: SocketAddr, query: &Query) -> Result<Reply, Trouble> {
        let mut stream = TcpStream::connect(server).await?;
        let question = query.encode();
        let length = u16::try_from(question.len()).expect("a question has fewer than 300 bytes");
        self.counts.queries.add();
        stream.write_all(&[&length.to_be_bytes()[..], &question].concat()).await?;
        let mut answer = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut answer).await?;
        reply(message::read(&answer, query))
    }
}

impl Server {
    fn manner(&self) -> Manner {
        Manner {
            mixed_case: self.case_losses.load(Ordering::Relaxed) < CASE_LOSSES_MAX,
            extended: !self.is_old.load(Ordering::Relaxed),
        }
    }

    /// What an answer to a question in this form shows about the server.
    fn learn(&self, manner: Manner) {
        if manner.mixed_case {
            self.case_losses.store(0, Ordering::Relaxed);
        }
        self.is_old.store(!manner.extended, Ordering::Relaxed);
    }
}

fn reply(message: Message) -> Result<Reply, Trouble> {
    Err(match message {
        Message::Reply(reply) => return Ok(reply),
        Message::Truncated => Trouble::Truncated,
        Message::Refusal(code) => Trouble::Refusal(code),
        Message::Broken(why) => Trouble::Broken(why),
        Message::Stray | Message::OtherCase => Trouble::Broken("it is not about the question"),
    })
}

/// The kernel chooses a random port.
fn any_port(server: SocketAddr) -> SocketAddr {
    match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

fn describe<'a>(troubles: impl Iterator<Item = &'a (SocketAddr, Trouble)>) -> String {
    let each: Vec<_> =
        troubles.map(|(server, trouble)| format!("name server `{server}` {trouble}")).collect();
    if each.is_empty() { "no name server is configured; name one".to_owned() } else { each.join("; ") }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence => f.write_str("does not answer"),
            Self::OtherCase => f.write_str("answers in other letters than it was asked in"),
            Self::Truncated => f.write_str("has a longer answer than it sends"),
            Self::Strays => f.write_str("is drowned out by wrong answers"),
            Self::Refusal(code) => match code_name(*code) {
                Some(name) => write!(f, "says {name}"),
                None => write!(f, "says error {code}"),
            },
            Self::Broken(why) => write!(f, "sent an answer that cannot be used: {why}"),
            Self::Network(error) => write!(f, "cannot be reached: {error}"),
            Self::NoRandomness => f.write_str("cannot be asked: the system gives no random numbers"),
        }
    }
}

const fn code_name(code: u8) -> Option<&'static str> {
    match code {
        1 => Some("FORMERR"),
        2 => Some("SERVFAIL"),
        4 => Some("NOTIMP"),
        5 => Some("REFUSED"),
        _ => None,
    }
}
