//! Requests, and the answers of the simulated web. Nothing waits: an answer is a flight that ends at a moment.

use super::super::reader::AGENT;
use super::{Driver, Ended, Flight, coming};
use base::door::{Cause, Exchange, Failure, Found as Address, Phase, Request};
use base::{Interval, Outcome, Timestamp};
use frontier::{Step, Task};
use sim::StartedExchange;
use std::cmp::Reverse;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// How long a look-up is valid.
const LOOK_UP_LIFETIME: Interval = Interval::from_days(1);

impl Driver {
    pub(super) fn take_off(&mut self, task: Task, told: Timestamp) {
        if let Step::Visit(page, ..) = &task.step {
            self.out.doubles += u64::from(!self.out_pages.insert(page.0));
        }
        let (took, request, result) = match &task.step {
            Step::LookUp(_, url, origin) => {
                let result = self.look_up(origin.server.host(), origin.server.port_for(url.scheme()));
                (Duration::from_millis(20), None, Ended::Address(result))
            }
            Step::Robots(to, request) => {
                let (took, outcome, exchange) = self.exchange(*to, request);
                let text = exchange.as_ref().and_then(fetch::robots_text);
                let answer = robots::RobotsAnswer::read(&outcome, text.as_deref(), AGENT);
                (took, Some((*to, request.clone())), Ended::Robots(outcome, answer, Vec::new()))
            }
            Step::Visit(_, to, request) => {
                let request = request.clone().with("Accept-Encoding", "identity");
                let (took, result) = self.visit(*to, &request);
                (took, Some((*to, request)), result)
            }
            Step::Refuse(..) => (Duration::ZERO, None, Ended::Refused),
        };
        if let Some((to, request)) = &request {
            let coming = coming(*to, request, self.now);
            self.observer.request_arrived(&coming);
        }
        let took = Interval::from_micros(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        self.sequence += 1;
        self.flights.push(Reverse((self.now.plus(took), self.sequence)));
        self.in_flight.insert(self.sequence, Flight { task, request, began: self.now, at: told, result });
    }

    fn look_up(&self, host: &str, port: u16) -> Result<Address, Failure> {
        if self.until(self.year.network_down).is_some() {
            return Err(Failure::new(
                Phase::LookUp,
                Cause::TimeOut(Duration::from_secs(5)),
                Duration::from_secs(5),
            ));
        }
        let failure = || Failure::new(Phase::LookUp, Cause::NoSuchName, Duration::from_millis(20));
        let address = self.web.address(host).ok_or_else(failure)?;
        let addresses = vec![SocketAddr::new(IpAddr::V4(address), port)];
        Ok(Address { addresses, lifetime: LOOK_UP_LIFETIME })
    }
    fn begin(&self, to: SocketAddr, request: &Request) -> Result<StartedExchange, Failure> {
        if self.until(self.year.network_down).is_some() {
            let waited = Duration::from_secs(10);
            return Err(Failure::new(Phase::Connect, Cause::TimeOut(waited), waited));
        }
        self.door.begin(to, request, self.now)
    }
    fn exchange(&self, to: SocketAddr, request: &Request) -> (Duration, Outcome, Option<Exchange>) {
        let result = self.begin(to, request).map(|begun| (begun.took, self.door.complete(begun, request)));
        match result {
            Ok((took, exchange)) => {
                let result = Ok(exchange);
                (took, fetch::outcome(&request.url, &result), result.ok())
            }
            Err(failure) => (failure.took, Outcome::Unreachable(failure), None),
        }
    }
    fn visit(&self, to: SocketAddr, request: &Request) -> (Duration, Ended) {
        match self.begin(to, request) {
            Ok(begun) => {
                let outcome = fetch::outcome(&request.url, &Ok(begun.without_body(request)));
                (begun.took, Ended::Page(Box::new(begun), outcome))
            }
            Err(failure) => (failure.took, Ended::Failed(Outcome::Unreachable(failure))),
        }
    }
}
