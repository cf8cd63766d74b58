//! What the fuzz targets need of the reader of messages, which is private otherwise.

use super::message::{ADDRESSES_MAX, ALIASES_MAX, Kind, Message, Query, Reply, read};
use super::name::Name;

/// Reads `bytes` as an answer to a question for `host` with the id of the message itself.
///
/// # Panics
/// When the answer is more than an answer may be.
pub fn read_message(bytes: &[u8], host: &str) {
    let Some(name) = Name::parse(host) else { return };
    assert_eq!(Name::from_wire(&name.to_wire()), Some(name.clone()), "a name is read as it is sent");
    let id = bytes.first_chunk().map_or(0, |id| u16::from_be_bytes(*id));
    for kind in [Kind::A, Kind::Aaaa] {
        match read(bytes, &Query { id, name: name.to_wire(), kind, extended: true }) {
            Message::Reply(Reply::Addresses { addresses, .. }) => {
                assert!((1..=ADDRESSES_MAX).contains(&addresses.len()));
                assert!(addresses.iter().all(|address| address.is_ipv4() == (kind == Kind::A)));
            }
            Message::Reply(Reply::Alias { links, .. }) => assert!((1..=ALIASES_MAX).contains(&links)),
            _ => {}
        }
    }
}
