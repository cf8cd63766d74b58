//! The simulated web as HTTP/1.1 and HTTPS on loopback: for any crawler, directly or as a proxy.
//!
//! Every simulated server has an address of its own in 127/8 (D19), and one listener answers for all of them. Asked
//! by the name `localhost` or by an address it answers with the truth about the web instead: what changed when, who
//! asked for what, and how politely.
//!
//! **Invariant:** no connection from outside this machine is answered. Whatever is served for a simulated name is
//! what [`Web::answer`] says at that moment of the clock, byte for byte. After [`Serving::stop`] no task is left.
//!
//! Not here: what the pages say ([`crate::Web`]), how servers misbehave ([`crate::hostile`]).

mod connection;
mod html;
mod ledger;
mod listen;
mod request;
mod send;
mod truth;
mod wire;

pub use ledger::Stats;

use crate::Web;
use crate::log::Log;
use crate::observe::{Observer, Report, Rules};
use crate::tls::Authority;
use base::Clock;
use base::url::{Origin, Scheme};
use connection::House;
use ledger::Ledger;
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// How a simulated web is served.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port for http; 0 for any that is free.
    pub http_port: u16,
    /// The port for https; 0 for any that is free, none for no https but through the proxy.
    pub https_port: Option<u16>,
    /// How many connections may stand at once, two at least; the others wait.
    pub connections_max: usize,
    /// How long an idle connection, and a client that does not read, is borne with.
    pub patience: Duration,
    /// By how much the waits of slow servers are stretched: 1 as they are, 0.01 for a test in a hurry.
    pub slowness: f64,
    /// Where every request is noted, besides in memory.
    pub log_file: Option<PathBuf>,
    /// By which rules politeness is judged.
    pub rules: Rules,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            http_port: 0,
            https_port: Some(0),
            connections_max: 1_000,
            patience: Duration::from_secs(30),
            slowness: 1.0,
            log_file: None,
            rules: Rules::default(),
        }
    }
}

/// A simulated web that is being served.
#[derive(Debug)]
pub struct Serving {
    /// The port for http.
    pub http: u16,
    /// The port for https, if there is one.
    pub https: Option<u16>,
    /// The certificate that a client has to trust for https, as PEM.
    pub authority_pem: String,
    house: Arc<House>,
    closing: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// Serves `web` as it is at the moment of `clock`, until [`Serving::stop`] or the drop of what is returned.
pub async fn start(web: Arc<Web>, clock: Arc<dyn Clock>, settings: Settings) -> io::Result<Serving> {
    let plain = listen::open(settings.http_port)?;
    let secure = settings.https_port.map(listen::open).transpose()?;
    let (http, https) = (plain.local_addr()?.port(), secure.as_ref().map(listen::port).transpose()?);
    let authority = Authority::new().map_err(io::Error::other)?;
    let acceptor = TlsAcceptor::from(authority.server_config().map_err(io::Error::other)?);
    let log = Log::open(settings.log_file.as_deref())?;
    let observer = Observer::new(web.clone(), settings.rules);
    let ledger = Arc::new(Ledger::new(clock, log, observer));
    let authority_pem = authority.pem();
    let facts = truth::Facts { http, https, authority_pem: authority_pem.clone() };
    let (patience, slowness) = (settings.patience, settings.slowness.max(0.0));
    let house = Arc::new(House { web, ledger, acceptor, facts, patience, slowness });
    let mut serving = Serving {
        http,
        https,
        authority_pem,
        house,
        closing: watch::Sender::new(false),
        tasks: JoinSet::new(),
    };
    serving.spawn_all(plain, secure, &settings);
    Ok(serving)
}

impl Serving {
    /// Where an origin of the simulated web answers; nothing for an origin that is not part of it.
    #[must_use]
    pub fn socket_for(&self, origin: &Origin) -> Option<SocketAddr> {
        let ours = match origin.scheme {
            Scheme::Http => self.http,
            Scheme::Https => self.https?,
        };
        let address = self.house.web.address(origin.server.host())?;
        let known = origin.server.port().is_none_or(|port| port == ours);
        known.then(|| SocketAddrV4::new(address, ours).into())
    }
    /// Who asked what.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.house.ledger.log
    }
    /// How politely.
    #[must_use]
    pub fn politeness(&self) -> Report {
        self.house.ledger.report()
    }
    /// What was done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.house.ledger.stats()
    }
    /// Closes every connection, ends every task and completes the log.
    pub async fn stop(mut self) {
        self.closing.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        self.house.ledger.log.flush();
    }

    fn spawn_all(
        &mut self,
        plain: tokio::net::TcpListener,
        secure: Option<tokio::net::TcpListener>,
        settings: &Settings,
    ) {
        // Each listener holds a place for the connection it is waiting for, so there are at least as many.
        let room = Arc::new(Semaphore::new(settings.connections_max.clamp(2, Semaphore::MAX_PERMITS)));
        let listeners = [(Some(plain), Scheme::Http), (secure, Scheme::Https)];
        for (listener, scheme) in listeners {
            let Some(listener) = listener else { continue };
            let (house, room, closing) = (self.house.clone(), room.clone(), self.closing.subscribe());
            self.tasks.spawn(listen::accept(house, listener, scheme, room, closing));
        }
        if settings.log_file.is_some() {
            self.tasks.spawn(flush_each_second(self.house.clone(), self.closing.subscribe()));
        }
    }
}

async fn flush_each_second(house: Arc<House>, mut closing: watch::Receiver<bool>) {
    while tokio::time::timeout(Duration::from_secs(1), closing.changed()).await.is_err() {
        house.ledger.log.flush();
    }
}
