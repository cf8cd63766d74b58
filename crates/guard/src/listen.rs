//! The guard at its door: who comes in, and how it ends.

use crate::answer::Denied;
use crate::connection;
use crate::error::Error;
use crate::house::House;
use crate::settings::Settings;
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
/// A power cut may take the lines of so many looks.
const LOOKS_PER_SYNC: u32 = 5;
/// How long to wait when the system has no descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A guard at work, until [`Guard::stop`] or the drop of it.
#[derive(Debug)]
pub struct Guard {
    house: Arc<House>,
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
        let house = Arc::new(House::open(settings, address, clock)?);
        let closing = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(house.clone(), listener, closing.subscribe()));
        tasks.spawn(look_after_log(house.clone(), closing.subscribe()));
        Ok(Self { house, closing, tasks })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.house.listens_on
    }
    /// Its counts, its limits, and who gets nothing more today.
    #[must_use]
    pub fn status(&self) -> Value {
        self.house.status()
    }
    /// Its decisions from now on, each as the line that stands in the log.
    #[must_use]
    pub fn decisions(&self) -> broadcast::Receiver<Arc<str>> {
        self.house.decisions()
    }
    /// Closes every tunnel, ends every task and completes the log.
    pub async fn stop(mut self) {
        self.closing.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        self.house.note(json!({ "event": "stopped" }));
        self.house.sync_log();
    }
}

async fn accept(house: Arc<House>, listener: TcpListener, mut closing: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(house.settings.limits.clients_max.min(Semaphore::MAX_PERMITS)));
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            _ = closing.changed() => break,
            Some(_) = clients.join_next() => {}
            next = listener.accept() => admit(&house, &mut clients, next, &room).await,
        }
    }
    drop(listener);
    clients.shutdown().await;
}

async fn admit(
    house: &Arc<House>,
    clients: &mut JoinSet<()>,
    next: io::Result<(TcpStream, SocketAddr)>,
    room: &Arc<Semaphore>,
) {
    match (next, room.clone().try_acquire_owned()) {
        (Ok((stream, client)), Ok(place)) => _ = clients.spawn(serve(house.clone(), stream, client, place)),
        (Ok((stream, client)), Err(_)) => {
            let denied = house.refuse(client, json!({}), Denied::new(503, "there are too many clients"));
            // It fits into the buffer of a socket that is new, or the client goes without.
            let _ = stream.try_write(&denied.to_bytes());
        }
        (Err(error), _) => {
            tracing::debug!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}

async fn serve(house: Arc<House>, stream: TcpStream, client: SocketAddr, place: OwnedSemaphorePermit) {
    connection::serve(&house, stream, client).await;
    drop(place);
}

/// Sees that the log can be written, also while nobody asks for anything, and syncs it now and then.
async fn look_after_log(house: Arc<House>, mut closing: watch::Receiver<bool>) {
    let mut looks = 0;
    while tokio::time::timeout(LOOK_PAUSE, closing.changed()).await.is_err() {
        looks += 1;
        let (house, syncs) = (house.clone(), looks % LOOKS_PER_SYNC == 0);
        let looking = tokio::task::spawn_blocking(move || {
            house.look_at_log();
            if syncs {
                house.sync_log();
            }
        });
        // A look that panicked is tried again.
        let _ = looking.await;
    }
}
