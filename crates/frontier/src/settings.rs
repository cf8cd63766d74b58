//! How a frontier behaves.

use crate::CrawlScope;
use base::{Interval, ServerName};
use robots::OptOutList;
use std::net::IpAddr;
use std::sync::Arc;

/// How a frontier behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What random choices are drawn from (D3).
    pub seed: u64,
    /// The product token that robots groups are matched with.
    pub agent: String,
    /// The time between two requests to one server, and to one address (C6).
    pub pause: Interval,
    /// Servers and addresses whose owners agreed to another rate (C18).
    pub agreed: Vec<AgreedRate>,
    /// What belongs to the crawl (C13).
    pub scope: CrawlScope,
    /// Whether requisites of pages in the scope are visited, wherever they are.
    pub requisites: bool,
    /// Servers and URLs that must not be visited.
    pub opt_out: Arc<OptOutList>,
    /// Other names of servers, and the names they are known by (C10).
    pub aliases: Vec<(ServerName, ServerName)>,
    /// Whether other names of servers are detected.
    pub detects_aliases: bool,
    /// Requests of the whole crawl in a day; `None`: no limit (D18).
    pub requests_per_day_max: Option<u64>,
    /// Bytes received by the whole crawl in a day (D18).
    pub bytes_per_day_max: Option<u64>,
    /// Requests to one server in a day (D18).
    pub server_requests_per_day_max: Option<u64>,
    /// Bytes received from one server in a day (D18).
    pub server_bytes_per_day_max: Option<u64>,
    /// Maximum number of pages of one server (H10).
    pub server_pages_max: u64,
    /// Whether pages that look like those of a trap are held back until similar pages bring something new (H10).
    pub detects_traps: bool,
    /// Whether gone pages of a directory whose pages are nearly all gone are looked for less often (C16).
    pub spares_dead: bool,
    /// Memory of the short-term queue (C7).
    pub queue_bytes_max: usize,
    /// Approximate number of recent links that are remembered; each takes 8 bytes.
    pub links_remembered: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            agent: "utsushi".to_owned(),
            pause: base::limits::SERVER_PAUSE_DEFAULT,
            agreed: Vec::new(),
            scope: CrawlScope::default(),
            requisites: true,
            opt_out: Arc::default(),
            aliases: Vec::new(),
            detects_aliases: true,
            requests_per_day_max: None,
            bytes_per_day_max: None,
            server_requests_per_day_max: None,
            server_bytes_per_day_max: None,
            server_pages_max: 1_000_000,
            detects_traps: true,
            spares_dead: true,
            queue_bytes_max: 128 << 20,
            links_remembered: 1 << 20,
        }
    }
}

/// A rate that the owner of a server or an address agreed to (C18).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreedRate {
    /// Who.
    pub party: AgreedParty,
    /// The time between two requests.
    pub pause: Interval,
    /// How many requests at once.
    pub width: u32,
}

/// A server or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgreedParty {
    /// A server by its name. If its name is an address and a port, it also means that address.
    Server(ServerName),
    /// An address.
    Address(IpAddr),
}

/// Why a text is not an agreed exception.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an agreed exception: {why}; write it as `www.example.jp pause=1s width=2`")]
pub struct AgreedRateError {
    text: String,
    why: &'static str,
}

impl std::str::FromStr for AgreedRate {
    type Err = AgreedRateError;

    /// Reads `server-or-address pause=TIME width=N`; either of the latter two may be left out, not both.
    fn from_str(text: &str) -> Result<Self, AgreedRateError> {
        let refuse = |why| AgreedRateError { text: text.to_owned(), why };
        let mut words = text.split_whitespace();
        let name = words.next().ok_or_else(|| refuse("it names no server or address"))?;
        let party = match name.parse() {
            Ok(address) => AgreedParty::Address(address),
            Err(_) => AgreedParty::Server(ServerName::parse(name).map_err(|_| refuse("it names no server"))?),
        };
        let (mut pause, mut width) = (None, None);
        for word in words {
            match word.split_once('=') {
                Some(("pause", time)) => {
                    pause = Some(time.parse().map_err(|_| refuse("its pause is not a length of time"))?);
                }
                Some(("width", number)) => {
                    let number = number.parse().ok().filter(|number| (1..=256).contains(number));
                    width = Some(number.ok_or_else(|| refuse("its width is not a number from 1 to 256"))?);
                }
                _ => return Err(refuse("only `pause=` and `width=` may follow the name")),
            }
        }
        if pause.is_none() && width.is_none() {
            return Err(refuse("it has neither `pause=` nor `width=`"));
        }
        let pause = pause.unwrap_or(base::limits::SERVER_PAUSE_DEFAULT);
        Ok(Self { party, pause, width: width.unwrap_or(1) })
    }
}
