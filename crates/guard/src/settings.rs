//! The settings of a guard: where it listens, what it allows, and where its log is.

use crate::address::AddressRules;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a guard.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens; port 0 for any that is free.
    pub listen: SocketAddr,
    /// Whether it may listen where other machines can reach it. Any client that reaches it can send requests through it.
    pub public_listen: bool,
    /// The directory of its log, made if there is none.
    pub directory: PathBuf,
    /// The addresses that may be connected to.
    pub addresses: AddressRules,
    /// How much is let through.
    pub limits: TrafficLimits,
}

/// How much is let through.
#[derive(Clone, Copy, Debug)]
pub struct TrafficLimits {
    /// Between the end of one request and the next, for each server and each address.
    pub pause: Duration,
    /// How long a request is held up before it is refused instead.
    pub wait_max: Duration,
    /// Requests to one server a day.
    pub server_requests_per_day: u64,
    /// Requests to one address a day.
    pub address_requests_per_day: u64,
    /// Bytes to and from one address a day.
    pub address_bytes_per_day: u64,
    /// Bytes to and from all addresses a day.
    pub bytes_per_day: u64,
    /// Servers and addresses that are remembered at once; above it, unknown ones are refused.
    pub parties_max: usize,
    /// Connections of clients at once.
    pub clients_max: usize,
    /// Bytes through one tunnel.
    pub tunnel_bytes_max: u64,
    /// How long a tunnel may stand.
    pub tunnel_time_max: Duration,
    /// How long a tunnel may stand without a byte.
    pub tunnel_idle_max: Duration,
    /// How long a server is given that may have sent no answer yet but only what TLS 1.3 sends after its handshake.
    pub doubt_time_max: Duration,
    /// How long a client may take to say what it wants.
    pub head_time_max: Duration,
    /// How long connecting, and looking up a name, may take.
    pub connect_time_max: Duration,
}

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

impl Default for TrafficLimits {
    fn default() -> Self {
        Self {
            pause: base::limits::SERVER_PAUSE_DEFAULT.into(),
            wait_max: Duration::from_secs(30),
            // More than half of what the delay alone would allow.
            server_requests_per_day: 5_000,
            address_requests_per_day: 8_000,
            address_bytes_per_day: 8 * GIB,
            bytes_per_day: 256 * GIB,
            // Some 40 MB of memory when it is full; a day of 17 new servers a second.
            parties_max: 200_000,
            clients_max: 1_024,
            // Four of the largest bodies that a crawler keeps.
            tunnel_bytes_max: 256 * MIB,
            tunnel_time_max: Duration::from_secs(30 * 60),
            // Longer than a crawler waits for the first byte.
            tunnel_idle_max: Duration::from_secs(60),
            doubt_time_max: base::limits::FIRST_BYTE_TIME_MAX,
            head_time_max: Duration::from_secs(10),
            connect_time_max: base::limits::CONNECT_TIME_MAX,
        }
    }
}
