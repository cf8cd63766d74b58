//! The parties of a request, and the state of each.

use super::{Moment, TunnelNumber, WishNumber};
use crate::settings::TrafficLimits;
use base::ServerName;
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

/// An address or a server: what the limits are kept for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Party {
    /// All servers on an address.
    Address(IpAddr),
    /// Whatever answers to a name.
    Server(ServerName),
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Server(server) => server.fmt(f),
        }
    }
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    address: IpAddr,
    server: ServerName,
}

impl Target {
    /// A server at an address, which is counted the same whether it comes as IPv4 or inside IPv6.
    pub(crate) fn new(address: IpAddr, server: ServerName) -> Self {
        Self { address: crate::address::canonical(address), server }
    }
    /// The address.
    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }
    /// The server.
    pub(crate) fn server(&self) -> &ServerName {
        &self.server
    }
    /// Both parties, the address first.
    pub(crate) fn parties(&self) -> [Party; 2] {
        [Party::Address(self.address), Party::Server(self.server.clone())]
    }
}

/// What bytes of a server mean for the request that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing: they belong to the connection, or to an answer that has begun before.
    No,
    /// They may be an answer, or only belong to the connection.
    Doubtful,
    /// They are an answer.
    Yes,
}

/// How far the last request to a party is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    /// It is answered, or its tunnel has ended.
    #[default]
    Over,
    /// Nothing came back yet.
    Open,
    /// What came back may not be the answer.
    Doubtful,
}

/// What is known of a party. What is not, is as if it had been heard of when the guard was started.
#[derive(Debug, Default)]
pub(super) struct State {
    progress: Progress,
    /// The tunnel whose request was let through last.
    holder: Option<TunnelNumber>,
    /// When the last byte came, or the last request ended.
    pub(super) quiet_since: Moment,
    /// Who waits, in the order in which they came.
    pub(super) waiting: BTreeSet<WishNumber>,
    pub(super) today: Today,
}

/// What a party got today.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Today {
    pub(super) requests: u64,
    pub(super) bytes: u64,
}

impl Today {
    pub(super) fn add(&mut self, requests: u64, bytes: u64) {
        self.requests = self.requests.saturating_add(requests);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl State {
    /// `tunnel` wants to send a request. Who goes on in the tunnel of a doubtful answer has had the answer.
    pub(super) fn enter(&mut self, wish: WishNumber, tunnel: TunnelNumber) {
        self.waiting.insert(wish);
        if self.progress == Progress::Doubtful && self.holder == Some(tunnel) {
            self.progress = Progress::Over;
        }
    }

    /// From when on `tunnel` may send a request; nothing while an answer is awaited. A doubtful one is given time.
    pub(super) fn free_at(&self, tunnel: TunnelNumber, limits: &TrafficLimits) -> Option<Moment> {
        match self.progress {
            Progress::Open => None,
            Progress::Doubtful if self.holder != Some(tunnel) => {
                Some(self.quiet_since + limits.pause.max(limits.doubt_time_max))
            }
            Progress::Doubtful | Progress::Over => Some(self.quiet_since + limits.pause),
        }
    }

    /// A request of `tunnel` leaves.
    pub(super) fn pass(&mut self, wish: WishNumber, tunnel: TunnelNumber) {
        self.waiting.remove(&wish);
        (self.progress, self.holder) = (Progress::Open, Some(tunnel));
        self.today.add(1, 0);
    }

    /// Bytes came through `tunnel`; whether it is the one whose turn it is.
    pub(super) fn heard(&mut self, tunnel: TunnelNumber, answer: Answer, now: Moment) -> bool {
        self.quiet_since = self.quiet_since.max(now);
        let in_turn = self.holder == Some(tunnel);
        match answer {
            Answer::Yes if in_turn => self.progress = Progress::Over,
            Answer::Doubtful if in_turn => self.progress = Progress::Doubtful,
            _ => {}
        }
        in_turn
    }

    /// `tunnel` is closed.
    pub(super) fn ended(&mut self, tunnel: TunnelNumber, now: Moment) {
        if self.holder == Some(tunnel) {
            (self.progress, self.holder) = (Progress::Over, None);
            self.quiet_since = self.quiet_since.max(now);
        }
    }

    /// Whether the state can be dropped once the delay has passed. The last tunnel matters while it is open.
    pub(super) fn is_blank(&self) -> bool {
        let Today { requests, bytes } = self.today;
        self.holder.is_none() && self.waiting.is_empty() && requests == 0 && bytes == 0
    }
}
