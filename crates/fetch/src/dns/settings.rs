//! The name servers, timeouts, retries and cache sizes.
//!
//! The settings of the system are read from `/etc/resolv.conf`: `nameserver` lines and the options `timeout` and
//! `attempts`. `search` and `ndots` are ignored on purpose: a crawled name is absolute, and `www.example.jp` must never
//! become `www.example.jp.office.example`.

use super::message::Kind;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use std::time::Duration;

const PATH: &str = "/etc/resolv.conf";
/// The maximum number of bytes read of the file, which has a few lines.
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// The maximum number of servers: with more, the time of a look-up ends before the last one is reached.
pub(super) const SERVERS_MAX: usize = 8;
/// The port of name servers.
const PORT: u16 = 53;
/// The bounds of every time.
const TIME_MIN: Duration = Duration::from_millis(1);
const TIME_MAX: Duration = Duration::from_secs(5 * 60);
/// The bounds that resolv.conf(5) sets for its own options.
const TIMEOUT_SECONDS_MAX: u64 = 30;
const ATTEMPTS_MAX: u32 = 5;

/// How names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name servers, queried in this order; the first eight are used. They must be recursive: this
    /// resolver does not start from the root.
    pub servers: Vec<SocketAddr>,
    /// Which address families are queried, and which come first.
    pub families: Families,
    /// How long to wait for one server at the first attempt; every further attempt waits twice as long.
    pub try_time: Duration,
    /// How often every server is queried before the look-up fails.
    pub attempts: u32,
    /// The maximum time of a look-up, of which at most half is spent waiting for a slot.
    pub look_up_time_max: Duration,
    /// The maximum number of running queries for one registrable domain (H27).
    pub zone_queries_max: usize,
    /// The maximum number of waiting look-ups of one registrable domain; further ones are refused at once.
    pub zone_waiting_max: usize,
    /// The maximum number of running queries in total: each is a socket.
    pub queries_max: usize,
    /// The maximum number of running or waiting look-ups in total; further ones are refused at once.
    pub look_ups_max: usize,
    /// The maximum number of cached answers.
    pub cache_entries_max: usize,
}

/// Which address families are queried, and which come first in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Families {
    /// Both, IPv4 first: every server of the web has it.
    #[default]
    Ipv4ThenIpv6,
    /// Both, IPv6 first.
    Ipv6ThenIpv4,
    /// Only IPv4.
    Ipv4,
    /// Only IPv6.
    Ipv6,
}

impl Families {
    pub(super) const fn kinds(self) -> (Kind, Option<Kind>) {
        match self {
            Self::Ipv4ThenIpv6 => (Kind::A, Some(Kind::Aaaa)),
            Self::Ipv6ThenIpv4 => (Kind::Aaaa, Some(Kind::A)),
            Self::Ipv4 => (Kind::A, None),
            Self::Ipv6 => (Kind::Aaaa, None),
        }
    }
    /// The number of simultaneous queries of a look-up.
    pub(super) const fn queries(self) -> u32 {
        match self {
            Self::Ipv4 | Self::Ipv6 => 1,
            Self::Ipv4ThenIpv6 | Self::Ipv6ThenIpv4 => 2,
        }
    }
}

/// Uses the name server of this machine.
impl Default for Settings {
    fn default() -> Self {
        Self {
            servers: vec![SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT)],
            families: Families::default(),
            try_time: Duration::from_secs(2),
            attempts: 3,
            look_up_time_max: Duration::from_secs(10),
            zone_queries_max: 8,
            zone_waiting_max: 64,
            queries_max: 256,
            look_ups_max: 8_192,
            cache_entries_max: 65_536,
        }
    }
}

impl Settings {
    /// The settings of this system, from `/etc/resolv.conf`; without the file, the name server of this machine.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    pub fn from_system() -> io::Result<Self> {
        let mut text = Vec::new();
        match std::fs::File::open(PATH) {
            Ok(file) => file.take(FILE_BYTES_MAX).read_to_end(&mut text).map(drop)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(Self::parse(&String::from_utf8_lossy(&text)))
    }

    /// The settings in the text of a `resolv.conf`. Irrelevant lines are ignored, as in
    /// resolv.conf(5); without any server, that of this machine is used.
    ///
    /// ```
    /// let settings = fetch::dns::Settings::parse("nameserver 192.0.2.1\nsearch office.example\n");
    /// assert_eq!(settings.servers, ["192.0.2.1:53".parse().unwrap()]);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut settings = Self { servers: Vec::new(), ..Self::default() };
        for line in text.lines().filter(|line| !line.starts_with(['#', ';'])) {
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("nameserver") => settings.servers.extend(words.next().and_then(server)),
                Some("options") => words.for_each(|option| settings.take_option(option)),
                _ => {}
            }
        }
        settings.servers.truncate(SERVERS_MAX);
        if settings.servers.is_empty() {
            settings.servers = Self::default().servers;
        }
        settings
    }

    /// The same with times within bounds.
    pub(super) fn within_reason(mut self) -> Self {
        self.look_up_time_max = self.look_up_time_max.clamp(TIME_MIN, TIME_MAX);
        self.try_time = self.try_time.clamp(TIME_MIN, TIME_MAX);
        self
    }

    fn take_option(&mut self, option: &str) {
        let Some((name, value)) = option.split_once(':') else { return };
        match (name, value.parse::<u32>()) {
            ("timeout", Ok(seconds)) => {
                self.try_time = Duration::from_secs(u64::from(seconds).clamp(1, TIMEOUT_SECONDS_MAX));
            }
            ("attempts", Ok(attempts)) => self.attempts = attempts.clamp(1, ATTEMPTS_MAX),
            _ => {}
        }
    }
}

/// One server as written in the file. The scope of a link-local address is kept if it is a number; the name of an
/// interface is ignored, and the system chooses the route.
fn server(text: &str) -> Option<SocketAddr> {
    let (address, scope) = text.split_once('%').unwrap_or((text, ""));
    match address.parse().ok()? {
        IpAddr::V4(_) if !scope.is_empty() => None,
        IpAddr::V4(address) => Some((address, PORT).into()),
        IpAddr::V6(address) => Some(SocketAddrV6::new(address, PORT, 0, scope.parse().unwrap_or(0)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, servers: &[&str], seconds: u64, attempts: u32) {
        let settings = Settings::parse(text);
        let expected: Vec<SocketAddr> = servers.iter().map(|server| server.parse().unwrap()).collect();
        assert_eq!((settings.servers, settings.try_time.as_secs()), (expected, seconds), "{text}");
        assert_eq!(settings.attempts, attempts, "{text}");
    }

    #[test]
    fn the_file_of_the_system_is_read_as_its_manual_says() {
        check("nameserver 192.0.2.1\n", &["192.0.2.1:53"], 2, 3);
        check("nameserver\t192.0.2.1 # first\nnameserver ::1", &["192.0.2.1:53", "[::1]:53"], 2, 3);
        check("nameserver fe80::1%3\nnameserver fe80::2%eth0", &["[fe80::1%3]:53", "[fe80::2]:53"], 2, 3);
        check("#nameserver 192.0.2.9\n;nameserver 192.0.2.8\nnameserver 192.0.2.1", &["192.0.2.1:53"], 2, 3);
        check("options timeout:1 attempts:4 rotate edns0\nnameserver 192.0.2.1", &["192.0.2.1:53"], 1, 4);
        check("options timeout:0 attempts:99\nnameserver 192.0.2.1\n", &["192.0.2.1:53"], 1, 5);
        check("options timeout:9999 attempts:x\nnameserver 192.0.2.1\r\n", &["192.0.2.1:53"], 30, 3);
        check("search a.example b.example\noptions ndots:5\nnameserver 192.0.2.1", &["192.0.2.1:53"], 2, 3);
    }

    #[test]
    fn without_a_server_the_machine_itself_is_asked() {
        for text in
            ["", "\n\n", "search example", "nameserver", "nameserver nonsense", "nameserver 1.2.3.4%1"]
        {
            check(text, &["127.0.0.1:53"], 2, 3);
        }
        let many = "nameserver 192.0.2.1\n".repeat(100_000);
        assert_eq!(Settings::parse(&many).servers.len(), SERVERS_MAX);
    }

    #[test]
    fn the_file_of_this_system_can_be_read() {
        assert!(!Settings::from_system().unwrap().servers.is_empty());
    }
}
