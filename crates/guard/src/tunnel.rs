//! A tunnel at work: bytes both ways, every request of the client on a turn of its own.
//!
//! **Invariant:** a tunnel ends: by its bytes, its time, its silence, a client or server that leaves, a request that
//! would have to wait too long, or because the guard itself must. A panic here ends only its own tunnel.

use crate::answer::Denied;
use crate::gate::Overrun;
use crate::shared::{Ride, Shared};
use crate::tunnel_requests::{Step, TunnelRequests};
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

const BUFFER_BYTES: usize = 32 * 1024;
/// Bytes between two log lines of a tunnel, so that a killed guard loses at most this much of the count.
const LINE_EVERY_BYTES: u64 = 1024 * 1024;
/// Maximum time that a server may keep sending after the client has disconnected.
const LINGER_TIME_MAX: Duration = Duration::from_secs(5);

/// A tunnel between a client and a server.
pub(crate) struct Tunnel<'h> {
    pub(crate) shared: &'h Shared,
    pub(crate) ride: &'h Ride,
    pub(crate) client: &'h mut TcpStream,
    pub(crate) server: TcpStream,
    pub(crate) requests: TunnelRequests,
    pub(crate) cut: watch::Receiver<u64>,
    /// What went through so far, and what of it stands in the log.
    pub(crate) traffic: &'h mut Traffic,
}

/// What went through a tunnel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) requests: u64,
    bytes: u64,
    bytes_logged: u64,
    /// What the line on the next request will speak of, should it be written.
    bytes_asked: u64,
}

impl Traffic {
    /// Of a tunnel whose first request stands in the log.
    pub(crate) fn begin() -> Self {
        Self { requests: 1, ..Self::default() }
    }
    /// Bytes that no line speaks of.
    pub(crate) fn bytes_unlogged(&self) -> u64 {
        self.bytes - self.bytes_logged
    }
    /// Bytes that no line speaks of or is about to.
    fn bytes_unclaimed(&self) -> u64 {
        self.bytes_unlogged() - self.bytes_asked
    }
    /// Number of bytes that the next log line will report.
    fn claim(&mut self) -> u64 {
        self.bytes_asked = self.bytes_unlogged();
        self.bytes_asked
    }
    /// That line was written.
    fn request_passed(&mut self) {
        self.requests += 1;
        self.bytes_logged += self.bytes_asked;
        self.bytes_asked = 0;
    }
}

/// Why a tunnel is over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum End {
    #[error("the client left")]
    Client,
    #[error("the server closed")]
    Server,
    #[error("{0}")]
    Cut(&'static str),
    #[error("{0}")]
    Overrun(#[from] Overrun),
    #[error("refused: {}", .0.reason)]
    Denied(Denied),
}

type Turn<'h> = Pin<Box<dyn Future<Output = Result<(), Denied>> + Send + 'h>>;

/// How far a tunnel is.
struct Course<'h> {
    life_end: Instant,
    idle_max: Duration,
    /// The next request waits for its turn.
    turn: Option<Turn<'h>>,
    client_left: bool,
    from_server: Vec<u8>,
    from_client: Vec<u8>,
}

impl Course<'_> {
    fn new(shared: &Shared) -> Self {
        let limits = shared.settings.limits;
        Self {
            life_end: Instant::now() + limits.tunnel_time_max,
            idle_max: limits.tunnel_idle_max,
            turn: None,
            client_left: false,
            from_server: vec![0; BUFFER_BYTES],
            from_client: vec![0; BUFFER_BYTES],
        }
    }
}

/// What happened first.
enum Event {
    Server(io::Result<usize>),
    Client(io::Result<usize>),
    Turn(Result<(), Denied>),
    Time,
    Cut,
}

impl<'h> Tunnel<'h> {
    /// Carries bytes until the tunnel is over.
    pub(crate) async fn run(&mut self) -> End {
        let mut course = Course::new(self.shared);
        loop {
            if let Err(end) = self.step(&mut course.turn).await {
                return end;
            }
            let event = self.next_event(&mut course).await;
            if let Err(end) = self.react(event, &mut course).await {
                return end;
            }
        }
    }

    async fn next_event(&mut self, course: &mut Course<'h>) -> Event {
        let Course { turn, from_server, from_client, client_left, .. } = course;
        // A client that is made to wait is not idle.
        let idle_end = if turn.is_some() { course.life_end } else { Instant::now() + course.idle_max };
        let may_read = turn.is_none();
        tokio::select! {
            biased;
            _ = self.cut.changed() => Event::Cut,
            read = self.server.read(from_server) => Event::Server(read),
            outcome = its_turn(turn), if !may_read => Event::Turn(outcome),
            read = listen(self.client, from_client, may_read), if !*client_left => Event::Client(read),
            () = tokio::time::sleep_until(course.life_end.min(idle_end)) => Event::Time,
        }
    }

    async fn react(&mut self, event: Event, course: &mut Course<'h>) -> Result<(), End> {
        match event {
            Event::Server(Ok(bytes @ 1..)) => {
                self.hear(course.from_server.get(..bytes).unwrap_or_default()).await
            }
            Event::Server(_) => Err(End::Server),
            Event::Client(Ok(bytes @ 1..)) => {
                self.requests.push(course.from_client.get(..bytes).unwrap_or_default());
                Ok(())
            }
            Event::Client(Err(_)) => Err(End::Client),
            Event::Client(Ok(_)) if course.turn.is_some() => Err(End::Client),
            Event::Client(Ok(_)) => {
                (course.client_left, course.idle_max) = (true, LINGER_TIME_MAX);
                self.server.shutdown().await.map_err(|_| End::Client)
            }
            Event::Turn(outcome) => {
                course.turn = None;
                self.take_turn(outcome)
            }
            Event::Time if course.client_left => Err(End::Client),
            Event::Time if Instant::now() >= course.life_end => {
                Err(End::Cut("the tunnel stood for too long"))
            }
            Event::Time => Err(End::Cut("the tunnel was silent for too long")),
            Event::Cut => Err(End::Cut("the guard ends all tunnels")),
        }
    }

    /// Sends what may leave; begins to wait if what comes next may not.
    async fn step(&mut self, turn: &mut Option<Turn<'h>>) -> Result<(), End> {
        while turn.is_none() {
            match self.requests.next() {
                Step::Listen => break,
                Step::Cut(why) => return Err(End::Cut(why)),
                Step::Send(bytes) => self.tell(&bytes).await?,
                Step::Ask => {
                    let (request, bytes) = (self.traffic.requests + 1, self.traffic.claim());
                    let (shared, ride) = (self.shared, self.ride);
                    *turn = Some(Box::pin(async move { shared.turn(ride, request, bytes).await }));
                }
            }
        }
        Ok(())
    }

    fn take_turn(&mut self, outcome: Result<(), Denied>) -> Result<(), End> {
        outcome.map_err(End::Denied)?;
        self.traffic.request_passed();
        self.requests.give_turn();
        Ok(())
    }

    /// The server said something.
    async fn hear(&mut self, bytes: &[u8]) -> Result<(), End> {
        let answer = self.requests.hear_server(bytes.len());
        self.shared.heard(self.ride, bytes.len() as u64, answer)?;
        self.count(bytes.len())?;
        match timeout(self.shared.settings.limits.tunnel_idle_max, self.client.write_all(bytes)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(End::Client),
        }
    }

    /// Something goes to the server.
    pub(crate) async fn tell(&mut self, bytes: &[u8]) -> Result<(), End> {
        self.shared.said(self.ride, bytes.len() as u64)?;
        self.count(bytes.len())?;
        match timeout(self.shared.settings.limits.tunnel_idle_max, self.server.write_all(bytes)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(End::Server),
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), End> {
        self.traffic.bytes += bytes as u64;
        if self.traffic.bytes > self.shared.settings.limits.tunnel_bytes_max {
            return Err(End::Cut("too many bytes went through the tunnel"));
        }
        let unclaimed = self.traffic.bytes_unclaimed();
        if unclaimed >= LINE_EVERY_BYTES {
            if !self.shared.carried(self.ride, unclaimed) {
                return Err(End::Cut("the log cannot be written"));
            }
            self.traffic.bytes_logged += unclaimed;
        }
        Ok(())
    }
}

/// Reads what the client says. While it is made to wait nothing is read, and only its leaving is noticed.
async fn listen(client: &mut TcpStream, buffer: &mut [u8], may_read: bool) -> io::Result<usize> {
    if may_read {
        return client.read(buffer).await;
    }
    left(client).await;
    Ok(0)
}

/// Returns when the client has left, unless it said something before.
pub(crate) async fn left(client: &TcpStream) {
    if let Ok(1..) = client.peek(&mut [0]).await {
        std::future::pending::<()>().await;
    }
}

async fn its_turn(turn: &mut Option<Turn<'_>>) -> Result<(), Denied> {
    match turn {
        Some(turn) => turn.as_mut().await,
        None => std::future::pending().await,
    }
}
