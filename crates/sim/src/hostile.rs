//! Servers that misbehave, each in one way, all known by name (`hang-00012.example`).
//!
//! Each has an honest home page that links to its bad pages, so that a crawler finds them, and a
//! robots file that disallows `/private/`, unless its fault is the robots file.
//!
//! **Invariant:** a response is a pure function of seed, number, request and time, including how it is sent
//! ([`DeliveryMode`]). No response takes more than a few megabytes of memory.

mod body;
mod bomb;
mod charset;
mod framing;
mod head;
mod maze;
mod refuse;
mod slow;
mod trap;

use crate::response::{DeliveryMode, WebRequest, WebResponse};
use base::{Chance, Timestamp, chance};

/// Number of extra names of a crowd server, all on one address.
pub const CROWD_NAMES: u32 = 20;

/// The ways in which a server can misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostileKind {
    /// Answers a few bytes at a time.
    Slow,
    /// Never answers.
    Hang,
    /// Bodies that never end.
    Endless,
    /// `Content-Length` is wrong, too long or too short.
    WrongLength,
    /// Redirects in loops and without end.
    RedirectLoop,
    /// A calendar without end.
    Calendar,
    /// Every link carries a new session id.
    SessionIds,
    /// 429 and 503 with `Retry-After`.
    TooMany,
    /// robots.txt answers 5xx.
    RobotsBroken,
    /// Compression bombs.
    Bomb,
    /// Japanese text under a wrong charset label.
    WrongCharset,
    /// Heads of megabytes.
    HugeHead,
    /// Malformed framing: duplicate lengths, bad chunks, bare line feeds, garbage.
    Malformed,
    /// Many names on one address.
    Crowd,
    /// Relative links that repeat directories: `/docs/guide/docs/guide/`.
    PathEcho,
    /// Filters over the same products, in every combination and order.
    Facets,
    /// Paging that goes on after the last entry.
    Paging,
    /// A new name for the same page on every visit.
    Listing,
}

impl HostileKind {
    /// All of them; hostile server `n` is of kind `n % ALL.len()`.
    pub const ALL: [Self; 18] = [
        Self::Slow,
        Self::Hang,
        Self::Endless,
        Self::WrongLength,
        Self::RedirectLoop,
        Self::Calendar,
        Self::SessionIds,
        Self::TooMany,
        Self::RobotsBroken,
        Self::Bomb,
        Self::WrongCharset,
        Self::HugeHead,
        Self::Malformed,
        Self::Crowd,
        Self::PathEcho,
        Self::Facets,
        Self::Paging,
        Self::Listing,
    ];

    /// The word that names begin with.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Hang => "hang",
            Self::Endless => "endless",
            Self::WrongLength => "wrong-length",
            Self::RedirectLoop => "redirect-loop",
            Self::Calendar => "calendar",
            Self::SessionIds => "session-ids",
            Self::TooMany => "too-many",
            Self::RobotsBroken => "robots-broken",
            Self::Bomb => "bomb",
            Self::WrongCharset => "wrong-charset",
            Self::HugeHead => "huge-head",
            Self::Malformed => "malformed",
            Self::Crowd => "crowd",
            Self::PathEcho => "path-echo",
            Self::Facets => "facets",
            Self::Paging => "paging",
            Self::Listing => "listing",
        }
    }

    /// Number of different pages of a trap, home included, under its endless URLs; none for kinds that are
    /// not traps. Two pages that differ only in links or a date count as one.
    #[must_use]
    pub const fn pages(self) -> Option<u64> {
        match self {
            Self::Calendar | Self::Listing => Some(2),
            Self::SessionIds => Some(1 + trap::PAGES),
            Self::PathEcho => Some(1 + maze::ECHOES.len() as u64),
            Self::Facets => Some(2 + maze::PRODUCTS),
            Self::Paging => Some(1 + maze::FULL_PAGES + maze::FULL_PAGES * maze::ENTRIES),
            _ => None,
        }
    }
}

/// The kind of hostile server `number`.
#[must_use]
pub fn kind(number: u32) -> HostileKind {
    HostileKind::ALL[number as usize % HostileKind::ALL.len()]
}

/// The host of hostile server `number`.
#[must_use]
pub fn host(number: u32) -> String {
    format!("{}-{number:05}.example", kind(number).word())
}

/// One of the further names of a crowd, `crowd-00013-07.example`; all of them are on one address.
#[must_use]
pub fn crowd_host(number: u32, member: u32) -> String {
    format!("{}-{number:05}-{member:02}.example", HostileKind::Crowd.word())
}

/// The number of the hostile server called `host`, if there is such a one among `count`.
#[must_use]
pub fn number(host: &str, count: u32) -> Option<u32> {
    let (front, digits) = host.strip_suffix(".example")?.rsplit_once('-')?;
    let known = |digits: &str| digits.parse().ok().filter(|number| *number < count);
    if let Some(found) = known(digits).filter(|found| self::host(*found) == host) {
        return Some(found);
    }
    let member = digits.parse().ok().filter(|member| *member < CROWD_NAMES)?;
    let found = known(front.rsplit_once('-')?.1).filter(|found| kind(*found) == HostileKind::Crowd)?;
    (crowd_host(found, member) == host).then_some(found)
}

/// Whether the robots file of hostile server `number` allows `target`. If the file returns
/// 5xx, everything is disallowed (RFC 9309).
#[must_use]
pub fn robots_allows(number: u32, target: &str) -> bool {
    kind(number) != HostileKind::RobotsBroken && !target.starts_with("/private/")
}

/// The response of hostile server `number`.
#[must_use]
pub fn answer(seed: u64, number: u32, request: &WebRequest<'_>, now: Timestamp) -> WebResponse {
    let place = Place { seed, number, request, now };
    let path = place.path();
    if path == "/robots.txt" && place.kind() != HostileKind::RobotsBroken {
        return WebResponse::plain(200, "text/plain; charset=utf-8", "User-agent: *\nDisallow: /private/\n");
    }
    if path == "/private/" {
        return place.page("Not for robots", "<p>Whoever reads this has not read robots.txt.</p>");
    }
    match place.kind() {
        HostileKind::Slow => slow::answer(&place),
        HostileKind::Hang => slow::hang(&place),
        HostileKind::Endless => body::endless(&place),
        HostileKind::WrongLength => body::wrong_length(&place),
        HostileKind::RedirectLoop => trap::redirects(&place),
        HostileKind::Calendar => trap::calendar(&place),
        HostileKind::SessionIds => trap::sessions(&place),
        HostileKind::TooMany => refuse::too_many(&place),
        HostileKind::RobotsBroken => refuse::robots_broken(&place),
        HostileKind::Bomb => bomb::answer(&place),
        HostileKind::WrongCharset => charset::answer(&place),
        HostileKind::HugeHead => head::answer(&place),
        HostileKind::Malformed => framing::answer(&place),
        HostileKind::Crowd => refuse::crowd(&place),
        HostileKind::PathEcho => maze::echo(&place),
        HostileKind::Facets => maze::facets(&place),
        HostileKind::Paging => maze::paging(&place),
        HostileKind::Listing => maze::listing(&place),
    }
}

/// A request to a hostile server: its target and time.
struct Place<'a> {
    seed: u64,
    number: u32,
    request: &'a WebRequest<'a>,
    now: Timestamp,
}

impl Place<'_> {
    fn kind(&self) -> HostileKind {
        kind(self.number)
    }
    fn path(&self) -> &str {
        self.request.target.split('?').next().unwrap_or_default()
    }
    /// What follows `prefix` in the path, as a number.
    fn numbered(&self, prefix: &str) -> Option<u64> {
        self.path().strip_prefix(prefix)?.parse().ok()
    }
    /// A number that depends on this server and on `what`.
    fn hash(&self, what: u64) -> u64 {
        chance::hash(&[self.seed, u64::from(self.number), what])
    }
    /// An honest page.
    fn page(&self, title: &str, body: &str) -> WebResponse {
        let host = host(self.number);
        let text = format!(
            "<!doctype html><html lang=en><head><meta charset=utf-8><title>{title} - {host}</title></head>\
             <body><h1>{title}</h1>{body}<p><a href=\"/\">{host}</a></p></body></html>\n"
        );
        WebResponse::plain(200, "text/html; charset=utf-8", text)
    }
    /// The home page: an honest list of all bad pages, and of the disallowed ones.
    fn home(&self, links: &[&str]) -> WebResponse {
        let mut list = String::from("<ul>");
        for link in links.iter().chain(&["/private/"]) {
            list.push_str(&format!("<li><a href=\"{link}\">{link}</a></li>"));
        }
        list.push_str("</ul>");
        let about = format!("<p>A server of the kind <em>{}</em>.</p>", self.kind().word());
        self.page("Home", &format!("{about}{list}"))
    }
    fn missing(&self) -> WebResponse {
        WebResponse::plain(404, "text/plain; charset=utf-8", "there is nothing here\n")
    }
    /// Some text of about `bytes`, the same at every moment.
    fn filler(&self, bytes: usize) -> String {
        let mut chance = Chance::of(&[self.seed, u64::from(self.number), 0xf111]);
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            let word: &&str = chance.pick(&WORDS);
            text.push_str(word);
            text.push(' ');
        }
        format!("<p>{text}</p>")
    }
}

const WORDS: [&str; 16] = [
    "river", "stone", "window", "letter", "garden", "winter", "paper", "silver", "harbour", "bridge",
    "evening", "market", "mountain", "signal", "orchard", "thread",
];

impl WebResponse {
    fn sent(mut self, delivery: DeliveryMode) -> Self {
        self.delivery = delivery;
        self
    }
    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}

#[cfg(test)]
mod tests;
