use super::*;

fn requests() -> TunnelRequests {
    TunnelRequests::new(ServerName::parse("www.example.jp").unwrap())
}

fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: www.example.jp\r\n\r\n")
}

fn record(content: u8, length: usize) -> Vec<u8> {
    let mut record =
        vec![content, 3, 3, u8::try_from(length / 256).unwrap(), u8::try_from(length % 256).unwrap()];
    record.resize(5 + length, 16);
    record
}

/// A hello for `name`, cut into records of `bytes` each.
fn hello(name: Option<&str>, bytes: usize) -> Vec<u8> {
    let block = |length_bytes: usize, content: &[u8]| {
        let length = content.len().to_be_bytes();
        [&length[length.len() - length_bytes..], content].concat()
    };
    let name = name.map(|name| {
        let entry = [&[0], block(2, name.as_bytes()).as_slice()].concat();
        [&[0, 0], block(2, &block(2, &entry)).as_slice()].concat()
    });
    let other = [&[0, 16][..], &block(2, b"xyz")].concat();
    let extensions = block(2, &[other, name.unwrap_or_default()].concat());
    let body =
        [&[3, 3][..], &[7; 32], &block(1, &[1; 32]), &block(2, &[19, 1]), &block(1, &[0]), &extensions]
            .concat();
    let message = [&[1][..], &block(3, &body)].concat();
    message.chunks(bytes).flat_map(|part| [&[22, 3, 1][..], &block(2, part)].concat()).collect()
}

#[track_caller]
fn sends(requests: &mut TunnelRequests, expected: &[u8]) {
    let mut sent = Vec::new();
    while sent.len() < expected.len() {
        match requests.next() {
            Step::Send(bytes) => sent.extend(bytes),
            other => panic!("{other:?} after {} of {} bytes", sent.len(), expected.len()),
        }
    }
    assert_eq!(sent, expected);
}

#[track_caller]
fn cut(requests: &mut TunnelRequests, why: &str) {
    let step = requests.next();
    assert!(matches!(step, Step::Cut(said) if said.contains(why)), "{step:?}");
}

#[test]
fn a_plain_tunnel_lets_one_request_through_a_turn() {
    let mut requests = requests();
    let (first, second) = (request("/1"), request("/2"));
    requests.push(format!("{first}{second}{}", request("/3")).as_bytes());
    sends(&mut requests, first.as_bytes());
    assert_eq!(requests.next(), Step::Ask, "what comes in one burst is still several requests");
    assert_eq!((requests.hear_server(9), requests.hear_server(9)), (Answer::Yes, Answer::No));
    assert_eq!(requests.next(), Step::Ask);
    requests.give_turn();
    sends(&mut requests, second.as_bytes());
    assert_eq!(requests.next(), Step::Ask);
    requests.give_turn();
    sends(&mut requests, request("/3").as_bytes());
    assert_eq!(requests.next(), Step::Listen);
}

#[test]
fn a_plain_request_leaves_when_it_is_whole() {
    let (mut requests, whole) = (requests(), request("/"));
    for byte in whole.bytes() {
        assert_eq!(requests.next(), Step::Listen);
        requests.push(&[byte]);
    }
    sends(&mut requests, whole.as_bytes());
}

#[test]
fn a_plain_tunnel_is_for_requests_without_body_to_its_server() {
    let check = |text: &str, why: &str| {
        let mut requests = requests();
        requests.push(text.as_bytes());
        cut(&mut requests, why);
    };
    check("GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", "Host");
    check("GET / HTTP/1.1\r\nHost: evil.www.example.jp\r\n\r\n", "Host");
    check("GET / HTTP/1.1\r\n\r\n", "Host");
    check("GET / HTTP/1.1\r\nHost: www.example.jp\r\nHost: www.example.jp\r\n\r\n", "Host");
    check("GET http://other.example/ HTTP/1.1\r\nHost: www.example.jp\r\n\r\n", "path");
    check("POST / HTTP/1.1\r\nHost: www.example.jp\r\n\r\n", "GET and HEAD");
    check("CONNECT a:1 HTTP/1.1\r\nHost: www.example.jp\r\n\r\n", "GET and HEAD");
    check("GET / HTTP/1.1\r\nHost: www.example.jp\r\nContent-Length: 4\r\n\r\nbody", "no body");
    check("GET / HTTP/1.1\r\nHost: www.example.jp\r\nTransfer-Encoding: chunked\r\n\r\n", "no body");
    check("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no HTTP");
    check("\0\0\0nonsense", "no HTTP");
    check(&format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(70_000)), "too large");
    for same in ["WWW.Example.JP", "www.example.jp.", "www.example.jp:8080"] {
        let mut requests = requests();
        let text = format!("GET / HTTP/1.1\r\nHost: {same}\r\n\r\n");
        requests.push(text.as_bytes());
        sends(&mut requests, text.as_bytes());
    }
}

#[test]
fn the_name_in_a_hello_must_be_that_of_the_server() {
    for (name, fits) in [
        (Some("www.example.jp"), true),
        (Some("WWW.example.JP"), true),
        (None, true),
        (Some("other.example"), false),
        (Some("\u{ff}"), false),
        (Some(""), false),
    ] {
        for bytes in [1, 7, 400] {
            let (mut requests, hello) = (requests(), hello(name, bytes));
            for byte in &hello {
                assert_eq!(requests.next(), Step::Listen);
                requests.push(&[*byte]);
            }
            if fits && bytes == 400 {
                sends(&mut requests, &hello);
            } else if !fits {
                cut(&mut requests, "the TLS name");
            }
        }
    }
}

#[test]
fn a_hello_that_cannot_be_read_ends_the_tunnel() {
    let good = hello(Some("www.example.jp"), 4_000);
    let mut refused = 0;
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 0x55;
        let mut requests = requests();
        requests.push(&bad);
        refused += u32::from(matches!(requests.next(), Step::Cut(_)));
    }
    assert!(refused > 20, "{refused}");
    let mut long = requests();
    long.push(&[22, 3, 1, 64, 0, 1, 0, 255, 255]);
    long.push(&[0; 40_000]);
    cut(&mut long, "hello");
}

/// TLS 1.3: the end of the handshake and the request are both application data.
#[test]
fn the_handshake_belongs_to_the_first_request() {
    let (mut requests, hello, finished) =
        (requests(), hello(Some("www.example.jp"), 4_000), [record(20, 1), record(23, 53)].concat());
    requests.push(&hello);
    sends(&mut requests, &hello);
    assert_eq!(requests.hear_server(9), Answer::No, "a handshake is no answer");
    requests.push(&finished);
    sends(&mut requests, &finished);
    assert_eq!(requests.hear_server(9), Answer::No, "session tickets are no answer");
    requests.push(&record(23, 120));
    sends(&mut requests, &record(23, 120));
    requests.push(&record(23, 53));
    sends(&mut requests, &record(23, 53));
    assert_eq!(requests.hear_server(2_000), Answer::Yes);
    requests.push(&record(23, 53));
    assert_eq!(requests.next(), Step::Ask, "data after an answer is another request, whatever its length");
    requests.give_turn();
    sends(&mut requests, &record(23, 53));
    assert_eq!(requests.hear_server(2_000), Answer::Yes);
}

#[test]
fn session_tickets_are_no_certain_answer() {
    let (mut requests, hello) = (requests(), hello(None, 4_000));
    let begin = [hello, record(23, 53), record(23, 300)].concat();
    requests.push(&begin);
    sends(&mut requests, &begin);
    assert_eq!(requests.hear_server(510), Answer::Doubtful, "they may be tickets");
    assert_eq!(requests.hear_server(200), Answer::Doubtful);
    assert_eq!(requests.hear_server(900), Answer::Yes, "so much is an answer");
    assert_eq!(requests.hear_server(10), Answer::No);
    requests.push(&record(23, 300));
    assert_eq!(requests.next(), Step::Ask);
    requests.give_turn();
    sends(&mut requests, &record(23, 300));
    assert_eq!(requests.hear_server(10), Answer::Yes, "tickets come once");
}

/// TLS 1.2: the handshake takes one burst more, and application data is not a handshake.
#[test]
fn an_older_handshake_belongs_to_the_first_request_too() {
    let (mut requests, hello) = (requests(), hello(Some("www.example.jp"), 4_000));
    let keys = [record(22, 70), record(20, 1), record(22, 40)].concat();
    requests.push(&hello);
    sends(&mut requests, &hello);
    assert_eq!(requests.hear_server(9), Answer::No);
    requests.push(&keys);
    sends(&mut requests, &keys);
    assert_eq!(requests.hear_server(9), Answer::No);
    requests.push(&record(23, 53));
    sends(&mut requests, &record(23, 53));
    assert_eq!(requests.hear_server(2_000), Answer::Yes, "of this length or any other");
    requests.push(&record(21, 26));
    sends(&mut requests, &record(21, 26));
    requests.push(&record(23, 200));
    assert_eq!(requests.next(), Step::Ask);
}

#[test]
fn a_farewell_is_no_request_and_the_last_word() {
    let (mut requests, hello) = (requests(), hello(None, 4_000));
    let begin = [hello, record(23, 53), record(23, 300)].concat();
    requests.push(&begin);
    sends(&mut requests, &begin);
    assert_eq!(requests.hear_server(2_000), Answer::Yes);
    let farewell = record(23, 19);
    requests.push(&farewell[..10]);
    assert_eq!(requests.next(), Step::Listen);
    requests.push(&farewell[10..]);
    sends(&mut requests, &farewell);
    requests.push(&record(23, 19));
    cut(&mut requests, "last word");
}

#[test]
fn the_rest_of_a_record_belongs_to_its_beginning() {
    let (mut requests, hello, long) = (requests(), hello(None, 4_000), record(23, 5_000));
    requests.push(&[hello.as_slice(), &record(23, 53), &long[..100]].concat());
    sends(&mut requests, &[hello.as_slice(), &record(23, 53), &long[..100]].concat());
    assert_eq!(requests.hear_server(2_000), Answer::Yes, "the server was quick");
    requests.push(&long[100..]);
    sends(&mut requests, &long[100..]);
    requests.push(&record(23, 60));
    assert_eq!(requests.next(), Step::Ask);
}

#[test]
fn what_is_no_record_ends_the_tunnel() {
    for bad in [
        vec![24, 3, 3, 0, 1, 0],
        vec![23, 2, 3, 0, 1, 0],
        vec![23, 3, 3, 0, 0, 0],
        vec![23, 3, 3, 255, 255, 0],
        b"GET / HTTP/1.1\r\n".to_vec(),
    ] {
        let (mut requests, hello) = (requests(), hello(None, 4_000));
        requests.push(&[hello.as_slice(), &bad].concat());
        sends(&mut requests, &hello);
        cut(&mut requests, "no TLS record");
    }
    let (mut requests, hello) = (requests(), hello(None, 4_000));
    requests.push(&hello);
    sends(&mut requests, &hello);
    requests.push(&record(22, 50).repeat(40));
    while let Step::Send(_) = requests.next() {}
    cut(&mut requests, "no TLS record");
}

#[test]
fn beside_a_single_request_nothing_leaves() {
    let mut requests = TunnelRequests::single(ServerName::parse("www.example.jp").unwrap());
    requests.push(request("/").as_bytes());
    assert_eq!(requests.next(), Step::Listen);
    assert_eq!(requests.hear_server(2_000), Answer::Yes);
}

/// What leaves a plain tunnel, however the client cuts its words, when every request gets a turn.
#[test]
fn requests_are_the_same_however_they_come() {
    let mut chance = base::Chance::new(3);
    let whole: String = (0..20).map(|number| request(&format!("/{number}"))).collect();
    for _ in 0..200 {
        let (mut requests, mut rest) = (requests(), whole.as_bytes());
        let (mut sent, mut turns) = (Vec::new(), 1);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((1 + chance.index(90)).min(rest.len()));
            requests.push(piece);
            rest = after;
            loop {
                match requests.next() {
                    Step::Send(bytes) => sent.extend(bytes),
                    Step::Listen => break,
                    Step::Cut(why) => panic!("{why}"),
                    Step::Ask => {
                        turns += 1;
                        requests.give_turn();
                    }
                }
            }
        }
        assert_eq!((sent.as_slice(), turns), (whole.as_bytes(), 20));
    }
}

/// Whatever a client says, nothing panics, and nothing leaves that it did not say.
#[test]
fn nonsense_is_survived() {
    let mut chance = base::Chance::new(7);
    let seeds = [hello(Some("www.example.jp"), 90), record(23, 70), request("/").into_bytes(), record(20, 1)]
        .concat();
    for _ in 0..3_000 {
        let mut said = seeds.clone();
        for _ in 0..chance.index(12) {
            let place = chance.index(said.len());
            said[place] = u8::try_from(chance.index(256)).unwrap();
        }
        let (mut requests, mut sent) = (requests(), Vec::new());
        for piece in said.chunks(1 + chance.index(200)) {
            requests.push(piece);
            while let Step::Send(bytes) = requests.next() {
                sent.extend(bytes);
            }
            requests.hear_server(chance.index(900));
        }
        assert!(said.starts_with(&sent));
    }
}
