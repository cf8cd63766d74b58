//! Odd answers: each has an outcome, its bytes are kept exactly, and the next request works.

use crate::server::{Act, OK, Server, door, door_to};
use base::door::{Door, Exchange, Failure, Marks, Request};
use base::limits;
use fetch::ExchangeLimits;

/// Whether the connection can serve the next request too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Same,
    Fresh,
}

/// What comes back: status, framing, truncation and body, or the failure.
fn told(result: &Result<Exchange, Failure>) -> String {
    match result {
        Ok(e) => {
            let cut = e.truncated.map_or("whole", |reason| reason.as_str());
            format!(
                "{} {:?} {cut} {}",
                e.status,
                e.framing,
                String::from_utf8_lossy(&e.body.read().unwrap()).escape_debug()
            )
        }
        Err(failure) => failure.to_string(),
    }
}

/// Sends `answer` and does `last`; then asks for a good page.
async fn check(answer: impl AsRef<[u8]>, last: Option<Act>, expected: &str, next: Next) {
    check_with(false, answer.as_ref(), last, expected, next).await;
}

async fn check_with(head_only: bool, answer: &[u8], last: Option<Act>, expected: &str, next: Next) {
    let sent = answer.to_vec();
    let server =
        Server::start(move |_| [Act::Send(sent.clone())].into_iter().chain(last.clone()).collect()).await;
    let limits = ExchangeLimits { body_bytes_max: 100, ..ExchangeLimits::default() };
    let door = door_to(server.address, "", limits);
    let request = Request { head_only, ..Request::get(server.page("/odd")) };
    let result = door.exchange(server.address, &request).await;
    assert_eq!(told(&result), expected);
    let kept = match &result {
        Ok(exchange) => [exchange.response_head.as_slice(), &exchange.body.read().unwrap()].concat(),
        Err(failure) => failure.received.to_vec(),
    };
    let came = answer.trim_ascii_start();
    assert!(memchr::memmem::find(came, &kept).is_some(), "the bytes are kept: {}", kept.escape_ascii());
    let most = limits::HEAD_BYTES_MAX;
    let is_dropped = result.is_err() && came.len() <= most && !expected.contains("interim") && kept != came;
    assert!(!is_dropped && kept.len() <= most, "{} of {} bytes are kept", kept.len(), came.len());
    let good = server.get(&door, "/ok").await.unwrap();
    assert_eq!([good.response_head.as_slice(), &good.body.read().unwrap()].concat(), OK);
    assert_eq!(server.accepts(), if next == Next::Same { 1 } else { 2 }, "{expected}");
}

#[tokio::test]
async fn survives_h15_lengths_that_are_wrong_or_many() {
    let head = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\npage");
    let close = || Some(Act::Close);
    check(head("Content-Length: 4\r\n"), None, "200 Length(4) whole page", Next::Same).await;
    check(head("Content-Length: 9\r\n"), close(), "200 Length(9) disconnect page", Next::Fresh).await;
    check(head("Content-Length: 2\r\n"), None, "200 Length(2) whole pa", Next::Fresh).await;
    check(head("Content-Length: 4\r\nContent-Length: 4\r\n"), None, "200 Length(4) whole page", Next::Fresh)
        .await;
    check(
        head("Content-Length: 4\r\nContent-Length: 5\r\n"),
        close(),
        "200 UntilClose whole page",
        Next::Fresh,
    )
    .await;
    check(head("Content-Length: many\r\n"), close(), "200 UntilClose whole page", Next::Fresh).await;
    check(head(""), close(), "200 UntilClose whole page", Next::Fresh).await;
    check(head("Content-Length: 4\r\nConnection: close\r\n"), None, "200 Length(4) whole page", Next::Fresh)
        .await;
}

#[tokio::test]
async fn survives_h15_chunks_that_are_none() {
    let chunked = |body: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
    let close = || Some(Act::Close);
    check(chunked("4\r\npage\r\n0\r\n\r\n"), None, r"200 Chunked whole 4\r\npage\r\n0\r\n\r\n", Next::Same)
        .await;
    check(chunked("4\npage\n0\nA: b\n\n"), None, r"200 Chunked whole 4\npage\n0\nA: b\n\n", Next::Same).await;
    check(chunked("<p>page"), close(), "200 UntilClose whole <p>page", Next::Fresh).await;
    check(
        chunked("4\r\npage\r\nzz\r\n"),
        close(),
        r"200 Chunked disconnect 4\r\npage\r\nzz\r\n",
        Next::Fresh,
    )
    .await;
    check(chunked("4\r\npage\r\n"), close(), r"200 Chunked disconnect 4\r\npage\r\n", Next::Fresh).await;
    check(chunked("4\r\npage\r\n0\r\n"), close(), r"200 Chunked whole 4\r\npage\r\n0\r\n", Next::Fresh).await;
    check(chunked("0\r\n\r\nHTTP/1.1 200"), None, r"200 Chunked whole 0\r\n\r\n", Next::Fresh).await;
    let both =
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npage\r\n0\r\n\r\n";
    check(both, None, r"200 Chunked whole 4\r\npage\r\n0\r\n\r\n", Next::Fresh).await;
}

#[tokio::test]
async fn answers_without_a_body_have_none_whatever_they_claim() {
    check("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", None, "304 None whole ", Next::Same)
        .await;
    check("HTTP/1.1 204 No Content\r\n\r\n", None, "204 None whole ", Next::Same).await;
    check("HTTP/1.1 204 No Content\r\n\r\nbut some", None, "204 None whole ", Next::Fresh).await;
    let page = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
    check_with(true, page, None, "200 None whole ", Next::Same).await;
    check("HTTP/1.1 101 Switching Protocols\r\n\r\n", None, "101 None whole ", Next::Fresh).await;
}

#[tokio::test]
async fn odd_heads_are_read_and_kept() {
    let same = Next::Same;
    check("HTTP/1.1 200 OK\nContent-Length: 4\n\npage", None, "200 Length(4) whole page", same).await;
    check("\r\n\r\nHTTP/1.1 200\r\nContent-Length:4\r\n\r\npage", None, "200 Length(4) whole page", same)
        .await;
    check("HTTP/1.1 200 OK\r\nA: \0\r\n:\r\nContent-Length: 0\r\n\r\n", None, "200 Length(0) whole ", same)
        .await;
    check("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", None, "200 Length(0) whole ", Next::Fresh).await;
    let folded = b"HTTP/1.1 999 \xe9\r\nA: b\r\n\tc\r\nContent-Length : 0\r\n\r\n";
    check(folded, None, "999 Length(0) whole ", same).await;
}

#[tokio::test]
async fn survives_h7_heads_without_measure() {
    let interim = |count: usize| {
        let before =
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n".repeat(count / 2);
        format!("{before}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    };
    check(interim(16), None, "200 Length(0) whole ", Next::Same).await;
    check(interim(18), None, "answer: not HTTP: too many interim answers", Next::Fresh).await;
    let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(10_000_000));
    check(long, None, "answer: not HTTP: the head is too long", Next::Fresh).await;
    check("\r\n".repeat(200_000), None, "answer: not HTTP: the head is too long", Next::Fresh).await;
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(513));
    check(many, None, "answer: not HTTP: the head has too many fields", Next::Fresh).await;
    let trailers =
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{}", "A: b\r\n".repeat(40_000));
    let kept = trailers[trailers.find("0\r\n").unwrap()..][..100].escape_debug().to_string();
    check(trailers, Some(Act::Close), &format!("200 Chunked length {kept}"), Next::Fresh).await;
}

#[tokio::test]
async fn survives_h6_bodies_without_end() {
    let page = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(5_000));
    check(page, None, &format!("200 UntilClose length {}", "x".repeat(100)), Next::Fresh).await;
    let page = format!("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n{}", "x".repeat(101));
    check(page, None, &format!("200 Length(18446744073709551615) length {}", "x".repeat(100)), Next::Fresh)
        .await;
    let page = format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "x".repeat(100));
    check(page, None, &format!("200 Length(100) whole {}", "x".repeat(100)), Next::Same).await;
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    let close = || Some(Act::Close);
    let reset = || Some(Act::Reset);
    check("", close(), "answer: connection closed", Next::Fresh).await;
    check("", reset(), "answer: connection reset", Next::Fresh).await;
    check("HTTP/1.1 200 OK\r\nContent-", close(), "answer: connection closed", Next::Fresh).await;
    check("SSH-2.0-server\r\n", None, "answer: not HTTP: no status line", Next::Fresh).await;
    check("<html>page</html>", close(), "answer: not HTTP: no status line", Next::Fresh).await;
    check("HTTP/1.1 abc\r\n\r\n", None, "answer: not HTTP: bad status line", Next::Fresh).await;
}

#[tokio::test]
async fn survives_h15_what_is_odd_is_marked() {
    let head = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let (chunked, length) = ("Transfer-Encoding: chunked\r\n", "Content-Length: 4\r\n");
    let doubt = Marks { framing_in_doubt: true, ..Marks::default() };
    let behind = Marks { bytes_behind: true, ..Marks::default() };
    for (answer, expected) in [
        (head(length) + "page", Marks::default()),
        (head("") + "page", Marks::default()),
        (head(chunked) + "4\r\npage\r\n0\r\n\r\n", Marks::default()),
        (head(&format!("{length}{length}")) + "page", doubt),
        (head("Content-Length: 4, 5\r\n") + "page", doubt),
        (head("Content-Length: four\r\n") + "page", doubt),
        (head(&format!("{chunked}{length}")) + "4\r\npage\r\n0\r\n\r\n", doubt),
        (head(chunked) + "page", doubt),
        (head(chunked) + "4\r\npage\r\nzz\r\n", doubt),
        (head(length) + "page and more", behind),
        (head(chunked) + "0\r\n\r\nHTTP/1.1 200 OK\r\n", behind),
    ] {
        let sent = answer.clone().into_bytes();
        let server = Server::start(move |_| vec![Act::Send(sent.clone()), Act::Close]).await;
        let exchange = server.get(&door(), "/odd").await.unwrap();
        assert_eq!(exchange.marks, expected, "{answer}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_inside_the_body_leaves_what_came() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npage".to_vec();
    let pause = std::time::Duration::from_millis(100);
    let acts = vec![Act::Send(answer), Act::Wait(pause), Act::Reset];
    let server = Server::start(move |_| acts.clone()).await;
    let result = server.get(&door(), "/").await;
    assert_eq!(told(&result), "200 Length(9) disconnect page");
}

#[tokio::test]
async fn nobody_at_home_and_nowhere_to_go() {
    let server = Server::start(|_| vec![]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let deserted = listener.local_addr().unwrap();
    drop(listener);
    let request = Request::get(server.page("/ok"));
    assert_eq!(told(&door().exchange(deserted, &request).await), "connect: connection refused");
    let forbidden = fetch::WebDoor::new(fetch::Settings::default()).unwrap();
    let told_forbidden = told(&forbidden.exchange(server.address, &request).await);
    assert!(told_forbidden.starts_with("connect: `127.0.0.1` may not be visited"), "{told_forbidden}");
    assert_eq!(server.accepts(), 0, "the canary is silent");
    assert_eq!(
        told(&door().exchange(server.address, &request).await),
        "200 Length(2) whole ok",
        "and it can sing"
    );
    assert_eq!(server.accepts(), 1);
}

#[tokio::test]
async fn names_are_looked_up_where_they_are_known_and_judged() {
    let address = ([127, 0, 0, 9], 8080).into();
    let look_up = async |door: &fetch::WebDoor, url: &str| {
        let origin = base::PageUrl::parse(url).unwrap().origin();
        door.look_up(&origin).await.map(|found| found.addresses).map_err(|failure| failure.to_string())
    };
    let door = door_to(address, "", ExchangeLimits::default());
    assert_eq!(look_up(&door, "http://name.example/").await, Ok(vec![address]));
    assert_eq!(look_up(&door, "http://127.0.0.3/").await, Ok(vec![([127, 0, 0, 3], 80).into()]));
    assert_eq!(look_up(&door, "http://other.example/").await, Err("name look-up: no such name".to_owned()));
    let elsewhere = door_to(([192, 0, 2, 1], 80).into(), "", ExchangeLimits::default());
    for (door, url) in [(&door, "http://192.0.2.1/"), (&elsewhere, "http://name.example/")] {
        let told = look_up(door, url).await.unwrap_err();
        assert!(told.starts_with("name look-up: `192.0.2.1` may not be visited"), "{told}");
    }
}
