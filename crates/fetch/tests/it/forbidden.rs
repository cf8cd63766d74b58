//! The address is judged at connect time, whatever an earlier check said (H1, H3).

use crate::server::{Server, door, door_to};
use base::door::{Cause, Door, Phase, Request};
use base::{Interval, PageUrl};
use fetch::{AddressPolicy, AddressRange, ExchangeLimits, Resolver, Settings, WebDoor};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A door to the public web and nothing else.
fn public_door() -> WebDoor {
    let contact = Some("https://example.org/contact".to_owned());
    WebDoor::new(Settings { addresses: AddressPolicy::public_web(), contact, ..Settings::default() }).unwrap()
}

#[tokio::test]
async fn survives_h3_a_caller_who_passes_a_forbidden_address() {
    let server = Server::start(|_| vec![]).await;
    let port = server.address.port();
    // Whatever the request is for, and however the address of the server is written.
    for to in ["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0", "127.0.0.2", "::ffff:0.0.0.0"] {
        let to = SocketAddr::new(to.parse().unwrap(), port);
        for url in ["http://example.org/ok", "http://93.184.216.34/ok", "http://127.0.0.1/ok"] {
            let request = Request::get(PageUrl::parse(url).unwrap());
            let failure = public_door().exchange(to, &request).await.unwrap_err();
            assert_eq!((failure.phase, failure.address), (Phase::Connect, Some(to)));
            assert!(matches!(failure.cause, Cause::ForbiddenAddress { address, .. } if address == to.ip()));
        }
    }
    assert_eq!(server.accepts(), 0, "the canary is silent");
    let all = AddressPolicy::only(vec!["0.0.0.0/0".parse().unwrap()]);
    let open = WebDoor::new(Settings { addresses: all, ..Settings::default() }).unwrap();
    for to in ["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0"] {
        let to = SocketAddr::new(to.parse().unwrap(), port);
        open.exchange(to, &Request::get(server.page("/ok"))).await.unwrap();
    }
    assert_eq!(server.accepts(), 3, "and it can sing");
}

#[tokio::test]
async fn survives_h3_a_kept_connection_and_another_policy() {
    let server = Server::start(|_| vec![]).await;
    let (allowed, strict) = (door(), public_door());
    server.get(&allowed, "/ok").await.unwrap();
    server.get(&allowed, "/ok").await.unwrap();
    assert_eq!(server.accepts(), 1, "a connection is kept");
    // It belongs to the door that made it, and so to its policy: another door has another pool.
    assert!(matches!(server.get(&strict, "/ok").await.unwrap_err().cause, Cause::ForbiddenAddress { .. }));
    assert_eq!(server.accepts(), 1);
}

#[tokio::test]
async fn survives_h3_a_kept_connection_and_a_name_that_moves() {
    let (old, new) = (Server::start(|_| vec![]).await, Server::start(|_| vec![]).await);
    let door = door_to(old.address, "", ExchangeLimits::default());
    let request = Request::get(PageUrl::parse("http://name.example/ok").unwrap());
    door.exchange(old.address, &request).await.unwrap();
    door.exchange(new.address, &request).await.unwrap();
    assert_eq!((old.accepts(), new.accepts()), (1, 1), "one name, two addresses, two connections");
    // To a forbidden address no kept connection of the name leads.
    let forbidden = SocketAddr::from(([10, 0, 0, 1], old.address.port()));
    assert!(matches!(
        door.exchange(forbidden, &request).await.unwrap_err().cause,
        Cause::ForbiddenAddress { .. }
    ));
    assert_eq!((old.accepts(), new.accepts()), (1, 1));
}

#[tokio::test]
async fn survives_h3_a_name_that_is_good_at_first() {
    let server = Server::start(|_| vec![]).await;
    let (good, asked) = (server.address, Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&asked);
    let resolver = Resolver::new(move |_| {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        Some(if first { good } else { SocketAddr::from(([10, 0, 0, 1], 80)) })
    });
    let addresses = AddressPolicy::only(vec![AddressRange::LOOPBACK]);
    let door = WebDoor::new(Settings { addresses, resolver, ..Settings::default() }).unwrap();
    let request = Request::get(PageUrl::parse("http://name.example/ok").unwrap());
    let found = door.look_up(&request.url.origin()).await.unwrap();
    assert!(found.lifetime > Interval::ZERO);
    for _ in 0..3 {
        door.exchange(found.addresses[0], &request).await.unwrap();
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "an exchange looks nothing up: it goes where it is told");
    let again = door.look_up(&request.url.origin()).await.unwrap_err();
    assert_eq!(again.to_string(), "name look-up: `10.0.0.1` may not be visited: private use (RFC 1918)");
}
