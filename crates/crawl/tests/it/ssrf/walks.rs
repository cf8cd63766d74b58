//! Walks every case of a route by the product's own queue, steps and door, and counts who was reached.

use super::cases::{Case, Route, cases};
use super::names::Names;
use super::web::{Hit, PROXY, Web};
use crate::rig;
use base::clock::SimulatedClock;
use base::door::{Door, Exchange, Failure, Found, Phase, Request};
use base::url::Origin;
use base::{Clock, Interval, Outcome, PageUrl, Refusal, Timestamp};
use fetch::{AddressPolicy, Dns, Resolver, Settings, WebDoor};
use frontier::{Next, Step};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Where the guard listens.
pub(crate) const GUARD: &str = "127.0.0.1:3129";

/// How the crawler reaches the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As it does.
    Plain,
    /// Through a proxy that connects to whatever it is asked for.
    Proxy,
    /// Through the egress guard.
    Guard,
    /// With look-ups that judge nothing: only the door's check before connecting is left.
    Blind,
}

impl Way {
    fn proxy(self) -> Option<&'static str> {
        match self {
            Self::Proxy => Some(PROXY),
            Self::Guard => Some(GUARD),
            Self::Plain | Self::Blind => None,
        }
    }
}

/// The result of all walks of a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Different spellings, or names with different answers.
    pub(crate) spellings: usize,
    /// Those that lead to some page at all.
    pub(crate) walked: usize,
    /// Those of which it is recorded that their address is forbidden, here or by the proxy.
    pub(crate) refused: BTreeSet<String>,
    /// Those by which a canary was reached.
    pub(crate) led_in: BTreeSet<String>,
    /// Connections that canaries saw, and the addresses at which they did.
    pub(crate) canary_hits: usize,
    pub(crate) canaries: BTreeSet<IpAddr>,
    /// Requests that the honest server saw.
    pub(crate) honest_requests: usize,
}

/// Walks every case of a route through a door with this policy.
pub(crate) async fn walk_all(route: Route, door: &AnyDoor, web: &Web, names: &Names) -> Tally {
    let (spellings, cases) = cases(route);
    let mut tally = Tally { spellings, walked: cases.len(), ..Tally::default() };
    web.settle().await;
    web.seen();
    for Case { text, seed, stage, name } in cases {
        web.set(stage);
        if let Some((name, answers)) = name {
            names.set(&name, answers);
        }
        let outcomes = walk(door, seed, route.time(), route.pause()).await;
        tally.count(&text, &outcomes, &web.seen());
    }
    web.settle().await;
    tally.count("what was seen too late to know", &[], &web.seen());
    tally
}

impl Tally {
    fn count(&mut self, text: &str, outcomes: &[Outcome], hits: &[Hit]) {
        let refused = |outcome: &Outcome| {
            matches!(outcome, Outcome::Refused(Refusal::Address(_) | Refusal::Proxy { .. }))
        };
        if outcomes.iter().any(refused) {
            self.refused.insert(text.to_owned());
        }
        for hit in hits.iter().filter(|hit| !hit.is_honest() && hit.asked.is_none()) {
            self.canary_hits += 1;
            self.canaries.insert(hit.to.ip());
            self.led_in.insert(text.to_owned());
        }
        self.honest_requests += hits.iter().filter(|hit| hit.is_honest() && hit.asked.is_some()).count();
    }
}

/// The product's door, or one whose look-ups judge nothing.
pub(crate) struct AnyDoor {
    door: WebDoor,
    blind: Option<Resolver>,
}

impl AnyDoor {
    pub(crate) fn new(way: Way, policy: AddressPolicy) -> Self {
        let dns = fetch::dns::Settings { servers: Names::servers(), ..fetch::dns::Settings::default() };
        let resolver = Resolver::network(Dns::new(dns));
        let settings = Settings {
            contact: Some("https://good.example/contact".to_owned()),
            addresses: policy,
            resolver: resolver.clone(),
            proxy: way.proxy().map(|address| format!("http://{address}").parse().unwrap()),
            ..Settings::default()
        };
        Self { door: WebDoor::new(settings).unwrap(), blind: (way == Way::Blind).then_some(resolver) }
    }
}

impl Door for AnyDoor {
    async fn look_up(&self, origin: &Origin) -> Result<Found, Failure> {
        let Some(resolver) = &self.blind else { return self.door.look_up(origin).await };
        let found = resolver.find(origin).await;
        found.map_err(|cause| Failure::new(Phase::LookUp, cause, Duration::ZERO))
    }

    async fn exchange(&self, to: SocketAddr, request: &Request) -> Result<Exchange, Failure> {
        self.door.exchange(to, request).await
    }
}

/// Walks from a seed for so long, with this pause between requests. After a day pages are visited again.
pub(crate) async fn walk(door: &impl Door, seed: PageUrl, time: Interval, pause: Interval) -> Vec<Outcome> {
    let start = Timestamp::from_seconds(1_790_000_000).unwrap();
    let clock = SimulatedClock::new(start);
    let every = frontier::RevisitPolicy::fixed(Interval::from_days(1));
    let mut queue = rig::frontier(rig::settings(pause), every, start);
    rig::seed(&mut queue, &seed, start);
    let mut outcomes = Vec::new();
    loop {
        match rig::next(&mut queue, clock.now()) {
            Next::Do(task) => {
                let ended = rig::step(door, &clock, &task).await;
                let is_asked = !matches!(task.step, Step::Refuse(..));
                outcomes.extend(ended.capture.as_ref().filter(|_| is_asked).map(|it| it.outcome.clone()));
                rig::finish(&mut queue, &task, ended, clock.now());
            }
            Next::Wait(at) if at < start.plus(time) => wait(&clock, at).await,
            Next::Wait(_) | Next::Idle => return outcomes,
        }
    }
}

/// Moves both clocks on: the crawler's, and the one by which answers of name servers grow old.
async fn wait(clock: &SimulatedClock, at: Timestamp) {
    tokio::time::pause();
    tokio::time::advance(at.since(clock.now()).into()).await;
    tokio::time::resume();
    clock.advance_to(at);
}
