//! One client: what it asks for, whether it may, and the tunnel it gets.

use crate::address::ForbiddenAddress;
use crate::answer::{self, Denied};
use crate::gate::Target;
use crate::request::{self, Asked, Authority};
use crate::shared::{Ride, Shared};
use crate::tunnel::{End, Traffic, Tunnel, left};
use crate::tunnel_requests::TunnelRequests;
use base::ServerName;
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

const READ_BYTES: usize = 4 * 1024;
/// The most addresses of a name that are looked at.
const ADDRESSES_MAX: usize = 16;
/// How much is read and thrown away so that an answer is not lost to a reset, and for how long.
const LINGER_BYTES_MAX: usize = 64 * 1024;
const LINGER_TIME_MAX: std::time::Duration = std::time::Duration::from_millis(500);

/// Serves a client.
pub(crate) async fn serve(shared: &Shared, mut stream: TcpStream, client: SocketAddr) {
    // A connection that cannot be hurried is merely slower.
    let _ = stream.set_nodelay(true);
    let mut input = Vec::new();
    let asked = ask(shared, &mut stream, &mut input).await;
    let outcome = match asked {
        Ok(None) => return,
        Ok(Some(Asked::Status)) => {
            return say(shared, &mut stream, &answer::status(&shared.status())).await;
        }
        Ok(Some(asked)) => Visit { shared, client, input }.go(asked, &mut stream).await,
        Err(denied) => Err(shared.refuse(client, json!({}), denied)),
    };
    if let Err(denied) = outcome {
        say(shared, &mut stream, &denied.to_bytes()).await;
    }
}

/// What the client asks for, in time; nothing if it leaves before it has said so. Its body, if it has one, is read too
/// and left in `input`.
async fn ask(shared: &Shared, stream: &mut TcpStream, input: &mut Vec<u8>) -> Result<Option<Asked>, Denied> {
    let reading = async {
        loop {
            if let Some((asked, bytes)) = request::read(input)? {
                input.drain(..bytes);
                if let Asked::Single { body_bytes, .. } = &asked {
                    while input.len() < *body_bytes {
                        if !more(stream, input).await {
                            return Ok(None);
                        }
                    }
                    input.truncate(*body_bytes);
                }
                return Ok(Some(asked));
            }
            if !more(stream, input).await {
                return Ok(None);
            }
        }
    };
    let time_out = || Err(Denied::new(408, "the request did not come in time"));
    timeout(shared.settings.limits.head_time_max, reading).await.unwrap_or_else(|_| time_out())
}

async fn more(stream: &mut TcpStream, input: &mut Vec<u8>) -> bool {
    input.reserve(READ_BYTES);
    matches!(stream.read_buf(input).await, Ok(1..))
}

/// Says something for the last time.
async fn say(shared: &Shared, stream: &mut TcpStream, bytes: &[u8]) {
    let limits = shared.settings.limits;
    if !matches!(timeout(limits.head_time_max, stream.write_all(bytes)).await, Ok(Ok(()))) {
        return;
    }
    let farewell = async {
        let _ = stream.shutdown().await;
        let (mut rest, mut read) = (vec![0; READ_BYTES], 0);
        while read < LINGER_BYTES_MAX {
            match stream.read(&mut rest).await {
                Ok(bytes @ 1..) => read += bytes,
                _ => break,
            }
        }
    };
    let _ = timeout(LINGER_TIME_MAX, farewell).await;
}

/// A client with a wish.
struct Visit<'h> {
    shared: &'h Shared,
    client: SocketAddr,
    /// What it said beyond its wish.
    input: Vec<u8>,
}

impl Visit<'_> {
    async fn go(self, asked: Asked, stream: &mut TcpStream) -> Result<(), Denied> {
        let (to, server, single) = match asked {
            Asked::Tunnel { to, server } => (to, server, None),
            Asked::Single { to, head, .. } => (to.clone(), to.server, Some(head)),
            Asked::Status => return Ok(()),
        };
        let ride = self.ride(&to, server).await?;
        let cut = self.shared.cut.subscribe();
        if let Err(denied) = self.turn(&ride, stream).await {
            return Err(self.shared.refuse(self.client, Shared::about(&ride), denied));
        }
        let traffic = Traffic::begin();
        let mut over = Over { shared: self.shared, ride: &ride, traffic, why: None, was_open: false };
        let connected = self.connect(&ride).await;
        let server = connected.inspect_err(|denied| over.why = Some(denied.reason.clone()))?;
        self.shared.opened();
        over.was_open = true;
        let requests = if single.is_some() { TunnelRequests::single } else { TunnelRequests::new };
        let mut tunnel = Tunnel {
            shared: self.shared,
            ride: &ride,
            client: stream,
            server,
            requests: requests(ride.target.server().clone()),
            cut,
            traffic: &mut over.traffic,
        };
        let end = self.carry(&mut tunnel, single).await;
        over.why = Some(end.to_string());
        Ok(())
    }

    /// Waits for the first turn, unless the client leaves meanwhile.
    async fn turn(&self, ride: &Ride, stream: &TcpStream) -> Result<(), Denied> {
        tokio::select! {
            turn = self.shared.turn(ride, 1, 0) => turn,
            () = left(stream) => Err(Denied::new(499, "the client left before its turn")),
        }
    }

    async fn carry(&self, tunnel: &mut Tunnel<'_>, single: Option<Vec<u8>>) -> End {
        let begun = match single {
            Some(head) => tunnel.tell(&[head.as_slice(), &self.input].concat()).await,
            None => {
                tunnel.requests.push(&self.input);
                tunnel.client.write_all(answer::TUNNEL_OPEN).await.map_err(|_| End::Client)
            }
        };
        match begun {
            Ok(()) => tunnel.run().await,
            Err(end) => end,
        }
    }

    /// Where the client may go.
    async fn ride(&self, to: &Authority, server: ServerName) -> Result<Ride, Denied> {
        let about = json!({ "server": server.as_str(), "port": to.port });
        let refuse = |about: Value, denied| Err(self.shared.refuse(self.client, about, denied));
        let address = match self.address(to).await {
            Ok(address) => address,
            Err(denied) => return refuse(about, denied),
        };
        let number = self.shared.number();
        let ride = Ride { number, client: self.client, target: Target::new(address, server), port: to.port };
        let listens_on = self.shared.listens_on;
        if listens_on.port() == to.port
            && (ride.target.address() == listens_on.ip() || listens_on.ip().is_unspecified())
        {
            return refuse(Shared::about(&ride), Denied::new(403, "that is the guard itself"));
        }
        match self.shared.settings.addresses.judge(address) {
            Ok(()) => Ok(ride),
            Err(forbidden) => refuse(Shared::about(&ride), forbidden.into()),
        }
    }

    /// The address that is meant: the one named, or of those that the name has the first that is open.
    async fn address(&self, to: &Authority) -> Result<IpAddr, Denied> {
        if let Some(address) = to.address() {
            return Ok(address);
        }
        let limits = self.shared.settings.limits;
        let found = timeout(limits.connect_time_max, lookup_host((to.server.host(), to.port))).await;
        let Ok(found) = found else { return Err(Denied::new(504, "the name was not found in time")) };
        let Ok(found) = found else { return Err(Denied::new(502, "the name was not found")) };
        let found: Vec<IpAddr> = found.map(|address| address.ip()).take(ADDRESSES_MAX).collect();
        let open = found.iter().find(|address| self.shared.settings.addresses.judge(**address).is_ok());
        // If none is allowed, the first one gives the reason.
        open.or(found.first()).copied().ok_or_else(|| Denied::new(502, "the name has no address"))
    }

    async fn connect(&self, ride: &Ride) -> Result<TcpStream, Denied> {
        let to = (ride.target.address(), ride.port);
        match timeout(self.shared.settings.limits.connect_time_max, TcpStream::connect(to)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                Ok(stream)
            }
            Ok(Err(error)) => Err(Denied::new(502, format!("the server cannot be reached: {error}"))),
            Err(_) => Err(Denied::new(504, "the server did not answer in time")),
        }
    }
}

impl From<ForbiddenAddress> for Denied {
    fn from(forbidden: ForbiddenAddress) -> Self {
        Self::new(403, forbidden.to_string())
    }
}

/// Says that a tunnel is over when it is, even if its task was ended.
struct Over<'h> {
    shared: &'h Shared,
    ride: &'h Ride,
    traffic: Traffic,
    why: Option<String>,
    was_open: bool,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let why = self.why.as_deref().unwrap_or("the guard ended");
        let Traffic { requests, .. } = self.traffic;
        self.shared.closed(self.ride, why, requests, self.traffic.bytes_unlogged(), self.was_open);
    }
}
