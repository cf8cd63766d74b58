//! A name server of the test's own, whose answers change from one question to the next.

use super::web;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;

/// Where it listens.
const ADDRESS: &str = "127.0.0.1:53";
const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;

/// What the names resolve to. A name that is not known and ends in `good.example` is an honest server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Arc<Mutex<HashMap<String, Entry>>>);

#[derive(Debug, Default)]
struct Entry {
    /// The answer to the first look-up, to the second, and so on; the last one stays.
    answers: Vec<Vec<IpAddr>>,
    /// How often each family was asked for.
    asked: [usize; 2],
}

impl Names {
    /// Serves names over UDP.
    pub(crate) async fn start() -> Self {
        let names = Self::default();
        let (socket, served) = (UdpSocket::bind(ADDRESS).await.unwrap(), names.clone());
        tokio::spawn(async move {
            let mut question = [0; 512];
            loop {
                let (length, from) = socket.recv_from(&mut question).await.unwrap();
                socket.send_to(&served.reply(&question[..length]), from).await.unwrap();
            }
        });
        names
    }
    pub(crate) fn servers() -> Vec<SocketAddr> {
        vec![ADDRESS.parse().unwrap()]
    }

    /// From now on, a name has these answers in turn. One that begins with `alias` has them by another name.
    pub(crate) fn set(&self, name: &str, answers: Vec<Vec<IpAddr>>) {
        self.0.lock().unwrap().insert(name.to_owned(), Entry { answers, asked: [0, 0] });
    }

    /// The answer to one more question; nothing for a name that does not exist.
    fn ask(&self, name: &str, family: usize) -> Option<Vec<IpAddr>> {
        let mut table = self.0.lock().unwrap();
        let Some(entry) = table.get_mut(name) else {
            return name.ends_with("good.example").then(web::honest);
        };
        entry.asked[family] += 1;
        entry.answers.get(entry.asked[family] - 1).or(entry.answers.last()).cloned()
    }

    /// The message that answers a message.
    fn reply(&self, question: &[u8]) -> Vec<u8> {
        let (name, kind, end) = read(question);
        let family = usize::from(kind == AAAA);
        let found = if [A, AAAA].contains(&kind) { self.ask(&name, family) } else { Some(vec![]) };
        let addresses = found.iter().flatten().filter(|address| address.is_ipv6() == (kind == AAAA));
        let alias = name.starts_with("alias").then(|| wire(&format!("for-{name}")));
        let owner = alias.clone().unwrap_or_else(|| question[12..end - 4].to_vec());
        let mut records: Vec<Vec<u8>> =
            alias.iter().map(|target| record(&question[12..end - 4], CNAME, target)).collect();
        records.extend(addresses.map(|address| match address {
            IpAddr::V4(v4) => record(&owner, A, &v4.octets()),
            IpAddr::V6(v6) => record(&owner, AAAA, &v6.octets()),
        }));
        let flags: u16 = if found.is_some() { 0x8180 } else { 0x8183 };
        let count = u16::try_from(records.len()).unwrap();
        let head = [flags, 1, count, 0, 0].map(u16::to_be_bytes).concat();
        [&question[..2], &head, &question[12..end], &records.concat()].concat()
    }
}

/// The name that is asked for in lower case, the kind of record, and where the question ends.
fn read(question: &[u8]) -> (String, u16, usize) {
    let (mut labels, mut at) = (Vec::new(), 12);
    while question[at] != 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..end]).to_lowercase());
        at = end;
    }
    (labels.join("."), u16::from_be_bytes([question[at + 1], question[at + 2]]), at + 5)
}

/// A name as it stands in a message.
fn wire(name: &str) -> Vec<u8> {
    let labels =
        name.split('.').flat_map(|label| [&[u8::try_from(label.len()).unwrap()], label.as_bytes()].concat());
    labels.chain([0]).collect()
}

/// A record that may be remembered for no time at all.
fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    [owner, &kind.to_be_bytes(), &[0, 1, 0, 0, 0, 0], &length, data].concat()
}
