//! Servers on loopback with scripted answers, each on its own address.

use base::url::Scheme;
use fetch::{AddressRange, ExchangeLimits, Resolver, Settings, WebDoor};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does about a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends bytes and closes.
    Send(Vec<u8>),
    /// Sends bytes one by one, for ever.
    Drip(Vec<u8>),
    /// Says nothing.
    Silence,
    /// Breaks the connection.
    Reset,
}

/// What is done about a request for a host and a target, by how often it was made before.
pub(crate) type Script = Arc<dyn Fn(&str, &str, usize) -> Act + Send + Sync>;

/// The hosts there are; `nowhere.example` is known and does not answer.
pub(crate) const HOSTS: [&str; 3] = ["a.example", "b.example", "c.example"];

pub(crate) struct Net {
    addresses: HashMap<String, SocketAddr>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Net {
    pub(crate) async fn start(script: Script) -> Self {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut addresses = HashMap::new();
        for (number, host) in (1..).zip(HOSTS) {
            let listener = TcpListener::bind(SocketAddr::from(([127, 0, 1, number], 0))).await.unwrap();
            addresses.insert(host.to_owned(), listener.local_addr().unwrap());
            let (script, log) = (Arc::clone(&script), Arc::clone(&log));
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, host, Arc::clone(&script), Arc::clone(&log)));
                }
            });
        }
        let deserted = TcpListener::bind("127.0.1.9:0").await.unwrap().local_addr().unwrap();
        addresses.insert("nowhere.example".to_owned(), deserted);
        Self { addresses, log }
    }

    /// What was asked for, in order: host and target.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// A real door to these servers and to nothing else, with limits scaled down.
    pub(crate) fn door(&self) -> WebDoor {
        self.door_to(|_| None)
    }
    /// The same with more hosts, whose addresses are judged like any other.
    pub(crate) fn door_to(&self, more: fn(&str) -> Option<SocketAddr>) -> WebDoor {
        let addresses = self.addresses.clone();
        let short = Duration::from_millis(400);
        WebDoor::new(Settings {
            addresses: fetch::AddressPolicy::only(vec![AddressRange::LOOPBACK]),
            resolver: Resolver::new(move |origin| {
                let host = origin.server.host();
                let known = addresses.get(host).copied().or_else(|| more(host));
                known.filter(|_| origin.scheme == Scheme::Http)
            }),
            limits: ExchangeLimits {
                first_byte_time_max: short,
                idle_time_max: short,
                visit_time_max: 3 * short,
                ..ExchangeLimits::default()
            },
            ..Settings::default()
        })
        .unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    host: &str,
    script: Script,
    log: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8(head).unwrap();
    let asked = format!("{host}{}", head.split(' ').nth(1)?);
    let before = {
        let mut log = log.lock().unwrap();
        let before = log.iter().filter(|line| **line == asked).count();
        log.push(asked.clone());
        before
    };
    match script(host, &asked[host.len()..], before) {
        Act::Send(bytes) => stream.write_all(&bytes).await.ok()?,
        Act::Drip(bytes) => {
            for byte in bytes.iter().chain(std::iter::repeat(&b'#')) {
                stream.write_all(&[*byte]).await.ok()?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Act::Silence => _ = stream.read_buf(&mut Vec::new()).await,
        Act::Reset => {
            // Closing with no time to linger sends a reset.
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    }
    Some(())
}
