//! A name server whose every byte a test decides; it shares no code with the one that reads them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

pub(crate) const A: u8 = 1;
pub(crate) const CNAME: u8 = 5;
pub(crate) const AAAA: u8 = 28;

/// A question as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// In lower case.
    pub(crate) name: String,
    pub(crate) kind: u8,
    pub(crate) bytes: Vec<u8>,
    pub(crate) from: SocketAddr,
    pub(crate) over_tcp: bool,
}

impl Asked {
    fn read(bytes: &[u8], from: SocketAddr, over_tcp: bool) -> Self {
        let mut labels = Vec::new();
        let mut at = 12;
        while bytes[at] != 0 {
            let ends = at + 1 + usize::from(bytes[at]);
            labels.push(String::from_utf8(bytes[at + 1..ends].to_vec()).unwrap().to_lowercase());
            at = ends;
        }
        Self { name: labels.join("."), kind: bytes[at + 2], bytes: bytes.to_vec(), from, over_tcp }
    }
    /// The bytes of the question, without head and options.
    fn question(&self) -> &[u8] {
        &self.bytes[12..12 + self.name.len() + 2 + 4]
    }
    /// The name as it was written.
    pub(crate) fn written(&self) -> &[u8] {
        &self.question()[..self.name.len() + 2]
    }
    /// Whether a longer answer was asked for.
    pub(crate) fn has_options(&self) -> bool {
        self.bytes[11] == 1
    }

    /// A message with this code and these counts, the question as it came, and what follows.
    pub(crate) fn message(&self, flags: u16, counts: [u16; 3], rest: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.bytes[..2].to_vec();
        for word in [flags, 1, counts[0], counts[1], counts[2]] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(self.question());
        bytes.extend(rest.concat());
        bytes
    }
    /// An answer of these records.
    pub(crate) fn answer(&self, records: &[Vec<u8>]) -> Vec<u8> {
        self.message(0x8180, [u16::try_from(records.len()).unwrap(), 0, 0], records)
    }
    /// An answer with this address if that kind was asked for, or with nothing.
    pub(crate) fn address(&self, seconds: u32, address: &str) -> Vec<u8> {
        let record = address_of(&self.name, seconds, address);
        let fits = (self.kind == A) != address.contains(':');
        if fits { self.answer(&[record]) } else { self.nothing(60) }
    }
    /// The name has none of this kind, which may be believed for so long.
    pub(crate) fn nothing(&self, seconds: u32) -> Vec<u8> {
        self.message(0x8180, [0, 1, 0], &[start(seconds)])
    }
    /// The name does not exist.
    pub(crate) fn no_name(&self, seconds: u32) -> Vec<u8> {
        self.message(0x8183, [0, 1, 0], &[start(seconds)])
    }
    /// An error and nothing else.
    pub(crate) fn error(&self, code: u16) -> Vec<u8> {
        self.message(0x8180 | code, [0; 3], &[])
    }
}

/// A name in wire form.
pub(crate) fn name(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in text.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

pub(crate) fn record(owner: &[u8], kind: u8, seconds: u32, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    [owner, &[0, kind, 0, 1], &seconds.to_be_bytes(), &length, data].concat()
}

pub(crate) fn address_of(owner: &str, seconds: u32, address: &str) -> Vec<u8> {
    match address.parse().unwrap() {
        std::net::IpAddr::V4(address) => record(&name(owner), A, seconds, &address.octets()),
        std::net::IpAddr::V6(address) => record(&name(owner), AAAA, seconds, &address.octets()),
    }
}

pub(crate) fn alias_of(owner: &str, seconds: u32, target: &str) -> Vec<u8> {
    record(&name(owner), CNAME, seconds, &name(target))
}

fn start(seconds: u32) -> Vec<u8> {
    let data = [name("ns.example"), name("admin.example"), vec![0; 16], seconds.to_be_bytes().to_vec()];
    record(&name("example"), 6, 86_400, &data.concat())
}

/// What the server does about a question.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Sends from another port.
    SendFromElsewhere(Vec<u8>),
    /// Sends over TCP without the length in front.
    SendBare(Vec<u8>),
    /// Breaks the connection off.
    Close,
    /// Sends a byte now and then, over TCP.
    Drip(Vec<u8>, Duration),
    Wait(Duration),
}

type Script = Arc<dyn Fn(&Asked) -> Vec<Act> + Send + Sync>;

/// A name server; it is gone with the test's runtime.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl NameServer {
    /// Serves the same script over UDP and TCP.
    pub(crate) async fn start(script: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let (udp, tcp) = sockets().await;
        let address = udp.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let script: Script = Arc::new(script);
        tokio::spawn(serve_udp(Arc::new(udp), script.clone(), asked.clone()));
        tokio::spawn(serve_tcp(tcp, script, asked.clone()));
        Self { address, asked }
    }
    /// Answers every question with one message.
    pub(crate) async fn replies(reply: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start(move |asked| vec![Act::Send(reply(asked))]).await
    }
    /// Hears everything and says nothing.
    pub(crate) async fn silent() -> Self {
        Self::start(|_| Vec::new()).await
    }
    /// Every question so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
    /// How many questions were asked.
    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
    /// How many were asked of names that end in this.
    pub(crate) fn count_below(&self, zone: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| asked.name.ends_with(zone)).count()
    }
}

/// A port that is free for both.
async fn sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
    panic!("no port is free for UDP and TCP");
}

async fn serve_udp(socket: Arc<UdpSocket>, script: Script, log: Arc<Mutex<Vec<Asked>>>) {
    let mut buffer = vec![0; 65_536];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        let asked = Asked::read(&buffer[..length], from, false);
        log.lock().unwrap().push(asked.clone());
        let acts = script(&asked);
        let socket = socket.clone();
        tokio::spawn(async move {
            for act in acts {
                // The client may be gone, which is reported as an error.
                let _ = match act {
                    Act::Send(bytes) => socket.send_to(&bytes, from).await,
                    Act::SendFromElsewhere(bytes) => {
                        let elsewhere = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                        elsewhere.send_to(&bytes, from).await
                    }
                    Act::Wait(time) => {
                        tokio::time::sleep(time).await;
                        Ok(0)
                    }
                    Act::Drip(..) | Act::SendBare(_) | Act::Close => panic!("a datagram comes whole"),
                };
            }
        });
    }
}

async fn serve_tcp(listener: TcpListener, script: Script, log: Arc<Mutex<Vec<Asked>>>) {
    while let Ok((stream, from)) = listener.accept().await {
        tokio::spawn(answer_tcp(stream, from, script.clone(), log.clone()));
    }
}

async fn answer_tcp(
    mut stream: TcpStream,
    from: SocketAddr,
    script: Script,
    log: Arc<Mutex<Vec<Asked>>>,
) -> Option<()> {
    let mut bytes = vec![0; usize::from(stream.read_u16().await.ok()?)];
    stream.read_exact(&mut bytes).await.ok()?;
    let asked = Asked::read(&bytes, from, true);
    log.lock().unwrap().push(asked.clone());
    for act in script(&asked) {
        match act {
            Act::Send(bytes) => stream.write_all(&framed(&bytes)).await.ok()?,
            Act::Drip(bytes, pause) => {
                for byte in framed(&bytes) {
                    stream.write_all(&[byte]).await.ok()?;
                    tokio::time::sleep(pause).await;
                }
            }
            Act::SendBare(bytes) => stream.write_all(&bytes).await.ok()?,
            Act::Close => return None,
            Act::Wait(time) => tokio::time::sleep(time).await,
            Act::SendFromElsewhere(_) => panic!("a connection has one end"),
        }
    }
    // Until the other side has enough.
    stream.read_u8().await.ok().map(drop)
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}
