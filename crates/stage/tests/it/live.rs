//! A capture says the same during the crawl and when it is read back from the archive.

use crate::counts::Counts;
use crate::{ARCHIVE, START, open_archive, parser, reader, runner};
use archive::Appended;
use base::disk::SimulatedDisk;
use base::door::{Exchange, Marks, Times};
use base::http::Framing;
use base::{Capture, Interval, Outcome, PageUrl, Refusal};
use stage::{Arrival, Delivery, Stage};
use std::path::Path;

fn visit(number: u64) -> Capture {
    let url = PageUrl::parse(&format!("http://a.example/{number}")).unwrap();
    let at = START.plus(Interval::from_seconds(number));
    if number % 4 == 3 {
        let outcome = Outcome::Refused(Refusal::Robots("Disallow: /".to_owned()));
        return Capture { url, at, outcome, exchange: None };
    }
    let head = b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html\r\nETag: \"1\"\r\n\r\n";
    let exchange = Exchange {
        address: "192.0.2.7:80".parse().unwrap(),
        request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        response_head: head.to_vec(),
        body: format!("<title>page</title><a href=/{}>on</a>", number / 2).into_bytes().into(),
        status: 200,
        framing: Framing::UntilClose,
        truncated: None,
        marks: Marks::default(),
        times: Times::default(),
    };
    let outcome = Outcome::Fetched { status: 200, content: None, truncated: None };
    Capture { url, at, outcome, exchange: Some(exchange) }
}

#[test]
fn what_arrives_live_is_what_arrives_later() {
    let (disk, parser) = (SimulatedDisk::new(1), parser());
    let mut archive = open_archive(&disk);
    let mut live = Counts::open(&disk, "live").unwrap();
    let mut delivery = Delivery::start(&[&mut live]).unwrap();
    for number in 0..11 {
        let capture = visit(number);
        let Appended { entry, .. } = archive.append(&capture).unwrap();
        archive.commit().unwrap();
        let arrival = Arrival::visited(entry.clone(), &capture, &parser);
        delivery.take(&mut [&mut live], &arrival).unwrap();
        if number % 3 == 0 {
            delivery.commit(&mut [&mut live]).unwrap();
        }
        let reader = reader(&disk);
        let later = Arrival::archived(entry, &reader, &parser);
        assert_eq!(arrival.url(), later.url());
        assert_eq!(arrival.visit().unwrap(), later.visit().unwrap());
        assert_eq!(arrival.head().unwrap(), later.head().unwrap());
        assert_eq!(arrival.content().unwrap(), later.content().unwrap());
        assert_eq!(format!("{:?}", arrival.body().unwrap()), format!("{:?}", later.body().unwrap()));
        assert_eq!(arrival.checkpoint(), later.checkpoint());
    }
    let noted = archive.note("test", START, "a note").unwrap();
    archive.close().unwrap();
    let arrival = Arrival::noted(noted.entry.clone(), "test", "a note", &parser);
    let reader = reader(&disk);
    let later = Arrival::archived(noted.entry, &reader, &parser);
    assert_eq!(arrival.note().unwrap(), later.note().unwrap());
    assert_eq!(later.note().unwrap(), Some(("test", "a note")));
    delivery.take(&mut [&mut live], &arrival).unwrap();
    delivery.commit(&mut [&mut live]).unwrap();
    let mut later = Counts::open(&disk, "later").unwrap();
    runner(&disk).catch_up(&mut [&mut later], |_| {}).unwrap();
    assert_eq!((live.to_string(), live.bodies.len()), ("nginx 9".to_owned(), 9));
    assert_eq!((live.to_string(), live.bodies.len()), (later.to_string(), later.bodies.len()));
    assert_eq!(live.checkpoint().unwrap(), later.checkpoint().unwrap());
}

#[test]
fn a_live_body_is_parsed_by_the_visit_alone() {
    let (disk, parser) = (SimulatedDisk::new(1), parser());
    let capture = visit(0);
    let mut archive = open_archive(&disk);
    let entry = archive.append(&capture).unwrap().entry;
    archive.close().unwrap();
    assert!(disk.files().iter().any(|(path, _)| path.starts_with(Path::new(ARCHIVE))));
    let parsed = parser.parse(&capture.url, Some("text/html"), b"<title>as the visit parsed it</title>");
    let arrival = Arrival::visited(entry, &capture, &parser).with_body(Some(parsed));
    assert_eq!(arrival.page().unwrap().unwrap().title, "as the visit parsed it");
    assert!(arrival.into_body().is_some());
}
