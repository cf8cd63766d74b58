//! The guard at its door: who comes in, and how it ends.

use crate::answer::Denied;
use crate::connection;
use crate::error::Error;
use crate::settings::Settings;
use crate::shared::Shared;
use base::Clock;
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};
use tokio::task::JoinSet;

/// How often the log is looked at while nothing is written.
const LOOK_PAUSE: Duration = Duration::from_secs(1);
/// Number of checks between two syncs; a power cut may lose the lines of these.
const LOOKS_PER_SYNC: u32 = 5;
/// How long to wait when the system has no descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A guard at work, until [`Guard::stop`] or the drop of it.
#[derive(Debug)]
pub struct Guard {
    shared: Arc<Shared>,
    closing: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Guard {
    /// Opens the log, takes up the day where it was left, and listens.
    pub async fn start(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let address = settings.listen;
        if !address.ip().is_loopback() && !settings.public_listen {
            return Err(Error::Public { address });
        }
        let fail = |source| Error::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let shared = Arc::new(Shared::open(settings, address, clock)?);
        let closing = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(shared.clone(), listener, closing.subscribe()));
        tasks.spawn(look_after_log(shared.clone(), closing.subscribe()));
        Ok(Self { shared, closing, tasks })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.shared.listens_on
    }
    /// Its counts, its limits, and who gets nothing more today.
    #[must_use]
    pub fn status(&self) -> Value {
        self.shared.status()
    }
    /// Its decisions from now on, each as the line that stands in the log.
    #[must_use]
    pub fn decisions(&self) -> broadcast::Receiver<Arc<str>> {
        self.shared.decisions()
    }
    /// Closes every tunnel, ends every task and completes the log.
    pub async fn stop(mut self) {
        self.closing.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        self.shared.note(json!({ "event": "stopped" }));
        self.shared.sync_log();
    }
}

async fn accept(shared: Arc<Shared>, listener: TcpListener, mut closing: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(shared.settings.limits.clients_max.min(Semaphore::MAX_PERMITS)));
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            _ = closing.changed() => break,
            Some(_) = clients.join_next() => {}
            next = listener.accept() => admit(&shared, &mut clients, next, &room).await,
        }
    }
    drop(listener);
    clients.shutdown().await;
}

async fn admit(
    shared: &Arc<Shared>,
    clients: &mut JoinSet<()>,
    next: io::Result<(TcpStream, SocketAddr)>,
    room: &Arc<Semaphore>,
) {
    match (next, room.clone().try_acquire_owned()) {
        (Ok((stream, client)), Ok(place)) => _ = clients.spawn(serve(shared.clone(), stream, client, place)),
        (Ok((stream, client)), Err(_)) => {
            let denied = shared.refuse(client, json!({}), Denied::new(503, "there are too many clients"));
            // It fits into the buffer of a socket that is new, or the client goes without.
            let _ = stream.try_write(&denied.to_bytes());
        }
        (Err(error), _) => {
            tracing::debug!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

async fn serve(shared: Arc<Shared>, stream: TcpStream, client: SocketAddr, place: OwnedSemaphorePermit) {
    connection::serve(&shared, stream, client).await;
    drop(place);
}

/// Checks that the log can be written, also while there are no requests, and syncs it from time to time.
async fn look_after_log(shared: Arc<Shared>, mut closing: watch::Receiver<bool>) {
    let mut looks = 0;
    while tokio::time::timeout(LOOK_PAUSE, closing.changed()).await.is_err() {
        looks += 1;
        let (shared, syncs) = (shared.clone(), looks % LOOKS_PER_SYNC == 0);
        let looking = tokio::task::spawn_blocking(move || {
            shared.look_at_log();
            if syncs {
                shared.sync_log();
            }
        });
        // A look that panicked is tried again.
        let _ = looking.await;
    }
}
