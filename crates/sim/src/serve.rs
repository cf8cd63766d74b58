//! The simulated web as HTTP/1.1 and HTTPS on loopback: for any crawler, directly or as a proxy.
//!
//! Every simulated server has an address of its own in 127/8 (D19), and one listener answers for all of them. Requested
//! by the name `localhost` or by an address, it serves the truth about the web instead: what changed when, the
//! request log and a politeness report.
//!
//! **Invariant:** no connection from outside this machine is answered. The response for a simulated name is
//! that of [`Web::answer`] at the clock's current time, byte for byte. After [`RunningWeb::stop`] no task is left.
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

pub use ledger::ServeStats;

use crate::Web;
use crate::log::Log;
use crate::observe::{Observer, PolitenessReport, PolitenessRules};
use crate::tls::CertificateAuthority;
use base::Clock;
use base::url::{Origin, Scheme};
use connection::Context;
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
    /// The port for https; 0 for any that is free, none for https only through the proxy.
    pub https_port: Option<u16>,
    /// Maximum number of open connections, at least two; further ones wait.
    pub connections_max: usize,
    /// Time-out of idle connections and of clients that do not read.
    pub patience: Duration,
    /// Factor applied to the waits of slow servers: 1 for real time, 0.01 for fast tests.
    pub slowness: f64,
    /// File to which every request is logged.
    pub log_file: Option<PathBuf>,
    /// The rules by which politeness is judged.
    pub rules: PolitenessRules,
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
            rules: PolitenessRules::default(),
        }
    }
}

/// A simulated web that is being served.
#[derive(Debug)]
pub struct RunningWeb {
    /// The port for http.
    pub http: u16,
    /// The port for https, if there is one.
    pub https: Option<u16>,
    /// The certificate that a client has to trust for https, as PEM.
    pub authority_pem: String,
    context: Arc<Context>,
    closing: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// Serves `web` as it is at the moment of `clock`, until [`RunningWeb::stop`] or the drop of what is returned.
pub async fn start(web: Arc<Web>, clock: Arc<dyn Clock>, settings: Settings) -> io::Result<RunningWeb> {
    let plain = listen::open(settings.http_port)?;
    let secure = settings.https_port.map(listen::open).transpose()?;
    let (http, https) = (plain.local_addr()?.port(), secure.as_ref().map(listen::port).transpose()?);
    let authority = CertificateAuthority::new().map_err(io::Error::other)?;
    let acceptor = TlsAcceptor::from(authority.server_config().map_err(io::Error::other)?);
    let log = Log::open(settings.log_file.as_deref())?;
    let observer = Observer::new(web.clone(), settings.rules);
    let ledger = Arc::new(Ledger::new(clock, log, observer));
    let authority_pem = authority.pem();
    let facts = truth::Facts { http, https, authority_pem: authority_pem.clone() };
    let (patience, slowness) = (settings.patience, settings.slowness.max(0.0));
    let context = Arc::new(Context { web, ledger, acceptor, facts, patience, slowness });
    let mut serving = RunningWeb {
        http,
        https,
        authority_pem,
        context,
        closing: watch::Sender::new(false),
        tasks: JoinSet::new(),
    };
    serving.spawn_all(plain, secure, &settings);
    Ok(serving)
}

impl RunningWeb {
    /// The socket address of an origin; none if it is not part of the simulated web.
    #[must_use]
    pub fn socket_for(&self, origin: &Origin) -> Option<SocketAddr> {
        let ours = match origin.scheme {
            Scheme::Http => self.http,
            Scheme::Https => self.https?,
        };
        let address = self.context.web.address(origin.server.host())?;
        let known = origin.server.port().is_none_or(|port| port == ours);
        known.then(|| SocketAddrV4::new(address, ours).into())
    }
    /// The request log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.context.ledger.log
    }
    /// The politeness report.
    #[must_use]
    pub fn politeness(&self) -> PolitenessReport {
        self.context.ledger.report()
    }
    /// Counters so far.
    #[must_use]
    pub fn stats(&self) -> ServeStats {
        self.context.ledger.stats()
    }
    /// Closes every connection, ends every task and completes the log.
    pub async fn stop(mut self) {
        self.closing.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        self.context.ledger.log.flush();
    }

    fn spawn_all(
        &mut self,
        plain: tokio::net::TcpListener,
        secure: Option<tokio::net::TcpListener>,
        settings: &Settings,
    ) {
        // Each listener holds a permit for the connection it is waiting for, so there are at least two.
        let room = Arc::new(Semaphore::new(settings.connections_max.clamp(2, Semaphore::MAX_PERMITS)));
        let listeners = [(Some(plain), Scheme::Http), (secure, Scheme::Https)];
        for (listener, scheme) in listeners {
            let Some(listener) = listener else { continue };
            let (context, room, closing) = (self.context.clone(), room.clone(), self.closing.subscribe());
            self.tasks.spawn(listen::accept(context, listener, scheme, room, closing));
        }
        if settings.log_file.is_some() {
            self.tasks.spawn(flush_each_second(self.context.clone(), self.closing.subscribe()));
        }
    }
}

async fn flush_each_second(context: Arc<Context>, mut closing: watch::Receiver<bool>) {
    while tokio::time::timeout(Duration::from_secs(1), closing.changed()).await.is_err() {
        context.ledger.log.flush();
    }
}
