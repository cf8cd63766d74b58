//! The simulated web over real sockets, requested by plain HTTP clients.

mod client;
mod manners;
mod pages;
mod truth;

use base::clock::SimulatedClock;
use base::{Interval, PageUrl};
use client::Client;
use sim::serve::{RunningWeb, Settings, start};
use sim::{Plan, Web};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// A web that is served at a fixed moment.
struct Rig {
    web: Arc<Web>,
    clock: Arc<SimulatedClock>,
    serving: RunningWeb,
}

impl Rig {
    async fn new(settings: Settings) -> Self {
        let plan = Plan { seed: 11, pages: 2_000, servers: 60, hostile: 28, ..Plan::default() };
        let web = Arc::new(Web::new(plan));
        let clock = SimulatedClock::new(sim::ORIGIN.plus(Interval::from_days(40)));
        let serving = start(web.clone(), clock.clone(), settings).await.unwrap();
        Self { web, clock, serving }
    }
    async fn plain() -> Self {
        Self::new(Settings::default()).await
    }
    async fn hurried() -> Self {
        Self::new(Settings { slowness: 0.001, ..Settings::default() }).await
    }
    /// The listener by its own name.
    fn own(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.serving.http))
    }
    /// A connection to the server of a URL.
    async fn client_for(&self, url: &str) -> Client {
        let page = PageUrl::parse(url).unwrap();
        Client::connect(self.serving.socket_for(&page.origin()).unwrap()).await
    }
    /// The home page of the first honest server of a scheme.
    fn home(&self, scheme: &str) -> String {
        let urls = (0..60).map(|number| self.web.page_url(number, 0, base::Clock::now(&*self.clock)));
        urls.into_iter().find(|url| url.starts_with(&format!("{scheme}://"))).unwrap()
    }
    /// Waits until `count` requests are finished.
    async fn finished(&self, requests: u64) {
        for _ in 0..2_000 {
            if self.serving.log().count() >= requests {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("only {} of {requests} requests are finished", self.serving.log().count());
    }
}

/// The home page of the first hostile server whose name begins with `word`.
fn hostile(word: &str) -> String {
    let number = (0..28).find(|number| sim::hostile::kind(*number).word() == word).unwrap();
    format!("http://{}/", sim::hostile::host(number))
}
