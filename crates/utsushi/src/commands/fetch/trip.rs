//! The requests of one visit, one after the other and politely.
//!
//! **Invariant:** between the end of a request and the next one to the same server or address lies the pause, or the
//! `Crawl-delay` of the robots file if that is longer (C6); this machine's own addresses need none.

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
    /// What was asked for.
    pub(super) url: PageUrl,
    /// Whether that was a robots file.
    pub(super) is_robots: bool,
    /// Where it is to be had, if that was found.
    pub(super) found: Option<Found>,
    /// How long that took.
    pub(super) look_up: Duration,
    /// How long politeness made us wait.
    pub(super) waited: Duration,
    /// The phases of the exchange.
    pub(super) times: Times,
    /// How it ended.
    pub(super) outcome: Outcome,
    /// The answer.
    pub(super) exchange: Option<Exchange>,
    /// What its content is.
    pub(super) content: Option<Content>,
    /// The failure, if there was no answer.
    pub(super) failure: Option<Failure>,
}

impl Leg {
    /// A request that has not been made.
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

/// What is told of a content.
#[derive(Debug)]
pub(super) struct Content {
    /// Its length without any coding, or why that is not known.
    pub(super) decoded: Result<usize, String>,
    /// Its text, if it is a robots file.
    pub(super) robots: Option<Vec<u8>>,
}

/// What the robots file says.
#[derive(Debug)]
pub(super) enum Verdict {
    /// These are the rules.
    Rules(Arc<RobotsRules>, PageUrl),
    /// It cannot be had, so nothing may be visited.
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

/// A visit under way.
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

    /// Asks for the robots file of the page's origin, wherever it leads, and reads what it says.
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

    /// Waits until server and address have rested.
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

/// Why we did not ask, in words.
pub(super) fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Robots(line) => format!("the robots file forbids it: {line}"),
        Refusal::RobotsUnreachable => "its robots file cannot be had, so nothing may be visited".to_owned(),
        Refusal::Address(why) => why.clone(),
        Refusal::OptOut(line) => format!("the opt-out list forbids it: {line}"),
        Refusal::NoContact => "no public address is visited without a contact".to_owned(),
        Refusal::Proxy { reason, .. } => format!("the proxy refuses: {reason}"),
        other => format!("{other:?}"),
    }
}
