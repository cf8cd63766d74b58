//! What the fuzz targets need of the decoders of a client's words, which are private otherwise.

use crate::request::{self, Asked, BODY_BYTES_MAX};
use crate::tunnel_requests::{Step, TunnelRequests};
use base::ServerName;

/// Reads what a client sends to the guard first.
///
/// # Panics
/// When a head that would be passed on is more than one request.
pub fn read_request(input: &[u8]) {
    let Ok(Some((asked, bytes))) = request::read(input) else { return };
    assert!(bytes <= input.len());
    if let Asked::Single { to, head, body_bytes } = asked {
        let mut fields = [httparse::EMPTY_HEADER; 128];
        let mut passed_on = httparse::Request::new(&mut fields);
        let read = passed_on.parse(&head).expect("a head that is passed on can be read");
        assert_eq!(read, httparse::Status::Complete(head.len()), "one head is passed on");
        let hosts = passed_on.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("host"));
        assert_eq!(hosts.map(|field| field.value).collect::<Vec<_>>(), [to.server.as_str().as_bytes()]);
        assert!(body_bytes <= BODY_BYTES_MAX);
    }
}

/// Lets a client say `input` in a tunnel, in pieces of at most `piece_bytes`, giving every turn that is asked for. What left
/// is the beginning of what was said.
///
/// # Panics
/// When something left that was not said.
pub fn read_tunnel(input: &[u8], piece_bytes: usize) {
    let server = ServerName::parse("a.example").expect("that is a server");
    let mut requests = TunnelRequests::new(server);
    let mut sent = Vec::new();
    for piece in input.chunks(piece_bytes.max(1)) {
        requests.push(piece);
        loop {
            match requests.next() {
                Step::Send(bytes) => sent.extend_from_slice(&bytes),
                Step::Ask => {
                    requests.hear_server(9_999);
                    requests.give_turn();
                }
                Step::Listen => break,
                Step::Cut(_) => return,
            }
            assert!(input.starts_with(&sent));
        }
    }
}
