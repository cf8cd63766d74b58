//! The requests of one visit, one after the other, with politeness delays.
//!
//! **Invariant:** between the end of a request and the next one to the same server or address is the delay, or the
//! `Crawl-delay` of the robots file if that is longer (C6); addresses of this machine need none.

use crate::output::Output;
use base::clock::{Clock, RealClock};
use base::door::{Door, Exchange, Failure, Found, Request, Times};
use base::{Interval, Outcome, PageUrl, Refusal};
use fetch::{Decoded, Read, WebDoor};
use robots::OptOutList;
use robots::{Need, RobotsAnswer, RobotsRules, Standing};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// One request, or the attempt at one.
#[derive(Debug)]
pub(super) struct Leg {
    /// The URL.
    pub(super) url: PageUrl,
    /// Whether it is a robots file.
    pub(super) is_robots: bool,
    /// The address, if it was resolved.
    pub(super) found: Option<Found>,
    /// How long resolving took.
    pub(super) look_up: Duration,
    /// The politeness delay.
    pub(super) waited: Duration,
    /// The phases of the exchange.
    pub(super) times: Times,
    /// Its outcome.
    pub(super) outcome: Outcome,
    /// The response.
    pub(super) exchange: Option<Exchange>,
    /// Its content.
    pub(super) content: Option<Content>,
    /// The failure, if there was no response.
    pub(super) failure: Option<Failure>,
}

impl Leg {
    /// A request before it is sent.
    fn before(url: &PageUrl, is_robots: bool) -> Self {
        Self {
            url: url.clone(),
            is_robots,
            found: None,
            look_up: Duration::ZERO,
            waited: Duration::ZERO,
            times: Times::default(),
            outcome: Outcome::NotModified,
            exchange: None,
            content: None,
            failure: None,
        }
    }
}

/// The facts shown about a content.
#[derive(Debug)]
pub(super) struct Content {
    /// Its decoded length, or why it is unknown.
    pub(super) decoded: Result<usize, String>,
    /// Its text, if it is a robots file.
    pub(super) robots: Option<Vec<u8>>,
}

/// The result of the robots fetch.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Its rules.
    Rules(Arc<RobotsRules>, PageUrl),
    /// It is unreachable, so no page may be visited.
    Unreachable,
    /// The page is the robots file itself, or cannot have one.
    None,
}

impl Verdict {
    pub(super) fn is_allowed(&self) -> bool {
        match self {
            Self::Rules(rules, url) => rules.judge(url.target()).allowed,
            Self::Unreachable => false,
            Self::None => true,
        }
    }
}

/// A running visit.
pub(super) struct Trip<'a> {
    door: WebDoor,
    opt_out: Arc<OptOutList>,
    agent: String,
    pause: Interval,
    output: &'a Output,
    legs: Vec<Leg>,
    /// The end of each request so far.
    ends: Vec<(String, IpAddr, Instant)>,
}

impl<'a> Trip<'a> {
    pub(super) fn new(
        door: WebDoor,
        opt_out: Arc<OptOutList>,
        agent: String,
        pause: Interval,
        output: &'a Output,
    ) -> Self {
        Self { door, opt_out, agent, pause, output, legs: Vec::new(), ends: Vec::new() }
    }

    pub(super) fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Fetches the robots file of the page's origin, following redirects, and parses it.
    pub(super) async fn ask_robots(&mut self, url: &PageUrl) -> Verdict {
        let Some(home) = robots::home(&url.origin()).filter(|home| home != url) else {
            return Verdict::None;
        };
        let clock = RealClock::start();
        let mut standing = Standing::new(home);
        loop {
            let at = match standing.needs(clock.now()) {
                Need::Ask(at) => at,
                Need::Known(rules) => {
                    self.pause = self.pause.max(rules.crawl_delay().unwrap_or(Interval::ZERO));
                    return Verdict::Rules(rules, url.clone());
                }
                Need::Unreachable(_) => return Verdict::Unreachable,
            };
            let leg = self.go(&Request::get(at), true).await;
            let text = leg.content.as_ref().and_then(|content| content.robots.as_deref());
            standing.learn(&RobotsAnswer::read(&leg.outcome, text, &self.agent), clock.now());
            self.legs.push(leg);
        }
    }

    /// Visits the page.
    pub(super) async fn visit(&mut self, url: &PageUrl, head_only: bool) {
        let leg = self.go(&Request { head_only, ..Request::get(url.clone()) }, false).await;
        self.legs.push(leg);
    }

    async fn go(&mut self, request: &Request, is_robots: bool) -> Leg {
        let mut leg = Leg::before(&request.url, is_robots);
        if let Some(line) = self.opt_out.refuses(&request.url) {
            leg.outcome = Outcome::Refused(Refusal::OptOut(line.to_string()));
            return leg;
        }
        let begun = Instant::now();
        let found = self.door.look_up(&request.url.origin()).await;
        leg.look_up = begun.elapsed();
        let address = found.as_ref().ok().and_then(|found| found.addresses.first());
        if let Some(line) = address.and_then(|address| self.opt_out.refuses_address(address.ip())) {
            leg.outcome = Outcome::Refused(Refusal::OptOut(line.to_string()));
            return leg;
        }
        let result = match found {
            Ok(found) => {
                let to = *found.addresses.first().expect("a look-up that succeeds finds an address");
                leg.waited = self.rest(request.url.server().as_str(), to.ip()).await;
                leg.found = Some(found);
                let result = self.door.exchange(to, request).await;
                self.ends.push((request.url.server().to_string(), to.ip(), Instant::now()));
                result
            }
            Err(failure) => Err(failure),
        };
        leg.failure = result.as_ref().err().cloned();
        leg.times = result.as_ref().map_or_else(|_| Times::default(), |exchange| exchange.times);
        let learn = move |_: &Exchange, content: &Decoded<'_>| told(content, is_robots);
        let Read { outcome, learned, exchange } = fetch::read(&request.url, result, learn).await;
        (leg.outcome, leg.content, leg.exchange) = (outcome, learned, exchange);
        leg
    }

    /// Waits for the delay of server and address.
    async fn rest(&self, server: &str, address: IpAddr) -> Duration {
        let same = self.ends.iter().filter(|(asked, at, _)| asked == server || *at == address);
        let Some(last) = same.map(|(.., end)| *end).max().filter(|_| !address.is_loopback()) else {
            return Duration::ZERO;
        };
        let wait = Duration::from(self.pause).saturating_sub(last.elapsed());
        if !wait.is_zero() {
            self.output.note(format!("waiting {} before the next request to {server}", Interval::from(wait)));
        }
        sleep(wait).await;
        wait
    }
}

fn told(content: &Decoded<'_>, is_robots: bool) -> Content {
    let decoded = match content {
        Decoded::Whole(bytes) => Ok(bytes.len()),
        Decoded::Capped(_) => Err("too large when decoded".to_owned()),
        Decoded::Unknown(coding) => Err(format!("in the unknown coding `{coding}`")),
        Decoded::Broken { got } => Err(format!("broken after {} decoded bytes", got.len())),
    };
    let text = || fetch::robots_text_of(content).map(<[u8]>::to_vec);
    Content { decoded, robots: is_robots.then(text).flatten() }
}

/// Why no request was sent, in words.
pub(super) fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Robots(line) => format!("the robots file forbids it: {line}"),
        Refusal::RobotsUnreachable => {
            "its robots file cannot be fetched, so no page may be visited".to_owned()
        }
        Refusal::Address(why) => why.clone(),
        Refusal::OptOut(line) => format!("the opt-out list forbids it: {line}"),
        Refusal::NoContact => "public addresses are not visited without a contact".to_owned(),
        Refusal::Proxy { reason, .. } => format!("the proxy refuses: {reason}"),
        other => format!("{other:?}"),
    }
}
