//! Every kind of misbehaviour, as it shows on the wire.

use super::client::request;
use super::{Rig, hostile};
use base::{Clock, Interval, http};
use std::time::Duration;

impl Rig {
    /// All bytes of an answer, up to `most`.
    async fn bytes_of(&self, url: &str, most: usize) -> Vec<u8> {
        let mut client = self.client_for(url).await;
        client.send(request("GET", url, "Connection: close\r\n")).await;
        client.until_close(most).await
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn slow_servers_drip_and_come_late_but_say_it_all() {
    let rig = Rig::hurried().await;
    for page in ["drip", "trickle", "late", "later"] {
        let url = format!("{}{page}", hostile("slow"));
        let mut client = rig.client_for(&url).await;
        let answer = client.get(&url).await;
        assert_eq!(answer.status(), 200);
        assert!(answer.text().ends_with("</html>\n"));
        assert_eq!(client.get(&hostile("slow")).await.status(), 200, "the connection is in step");
    }
    rig.serving.stop().await;
}

#[tokio::test]
async fn drops_come_one_by_one() {
    let rig = Rig::plain().await;
    let url = format!("{}drip", hostile("slow"));
    let mut client = rig.client_for(&url).await;
    client.send(request("GET", &url, "")).await;
    assert_eq!(client.until_close(8).await, b"HTTP/1.1");
    drop(client);
    rig.finished(1).await;
    assert!(
        rig.serving.log().since(0, 1)[0].bytes <= 24,
        "a client that disconnects is noticed while waiting"
    );
    rig.serving.stop().await;
}

#[tokio::test]
async fn silence_and_slammed_doors() {
    let rig = Rig::plain().await;
    let url = format!("{}hang/2", hostile("hang"));
    let mut client = rig.client_for(&url).await;
    client.send(request("GET", &url, "")).await;
    assert!(!client.hears_within(Duration::from_millis(100)).await);
    drop(client);
    rig.finished(1).await;
    assert!(rig.bytes_of(&format!("{}close", hostile("hang")), 1).await.is_empty());
    let log = rig.serving.log().since(0, 2);
    assert!(log.iter().all(|entry| entry.status == 0 && entry.bytes == 0));
    rig.serving.stop().await;
}

#[tokio::test]
async fn endless_bodies_do_not_end() {
    let rig = Rig::plain().await;
    for page in ["endless.html", "radio.mp3", "chunks"] {
        let found = rig.bytes_of(&format!("{}{page}", hostile("endless")), 3_000_000).await;
        assert!(found.len() >= 3_000_000, "{page}: {}", found.len());
        assert_eq!(http::status(&found), Some(200));
    }
    rig.finished(3).await;
    rig.serving.stop().await;
}

#[tokio::test]
async fn lengths_lie_both_ways() {
    let rig = Rig::plain().await;
    for (page, longer) in [("long", true), ("short", false), ("zero", false), ("absurd", true)] {
        let found = rig.bytes_of(&format!("{}{page}", hostile("wrong-length")), usize::MAX).await;
        let promised: u64 = http::field(&found, "content-length").unwrap().parse().unwrap();
        let head = found.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
        let (came, all) = ((found.len() - head) as u64, text(&found).ends_with("</html>\n"));
        assert!(all && (promised > came) == longer && promised != came, "{page}: {promised} {came}");
    }
    rig.serving.stop().await;
}

#[tokio::test]
async fn heads_are_huge_and_without_end() {
    let rig = Rig::plain().await;
    let of = |page: &str| format!("{}{page}", hostile("huge-head"));
    assert!(rig.bytes_of(&of("field"), usize::MAX).await.len() > 10_000_000);
    let fields = text(&rig.bytes_of(&of("fields"), usize::MAX).await);
    assert_eq!(fields.matches("X-Field-").count(), 10_000);
    let interim = text(&rig.bytes_of(&of("interim"), 1_000_000).await);
    assert!(interim.matches("HTTP/1.1 103 Early Hints\r\n").count() > 10_000);
    let endless = text(&rig.bytes_of(&of("endless-fields"), 1_000_000).await);
    assert_eq!(endless.matches("HTTP/1.1 200 OK").count(), 1);
    assert!(!endless.contains("\r\n\r\n"));
    let few = text(&rig.bytes_of(&of("few-interim"), usize::MAX).await);
    assert_eq!((few.matches("HTTP/1.1 1").count(), few.matches("HTTP/1.1 200").count()), (3, 1));
    rig.serving.stop().await;
}

#[tokio::test]
async fn malformed_messages_are_sent_as_they_are() {
    let rig = Rig::plain().await;
    let of = |page: &str| format!("{}{page}", hostile("malformed"));
    let two = rig.bytes_of(&of("two-lengths"), usize::MAX).await;
    assert_eq!(http::fields(&two, "content-length").count(), 2);
    assert!(rig.bytes_of(&of("garbage-before-status"), usize::MAX).await.starts_with(b"\x01\x02garbage"));
    assert!(!text(&rig.bytes_of(&of("bare-line-feeds"), usize::MAX).await).contains('\r'));
    assert!(rig.bytes_of(&of("nul-in-field"), usize::MAX).await.contains(&0));
    assert!(text(&rig.bytes_of(&of("garbage-after-body"), usize::MAX).await).ends_with("fake"));
    let early = rig.bytes_of(&of("early-close"), usize::MAX).await;
    assert!(!text(&early).contains("xyz"));
    rig.serving.stop().await;
}

#[tokio::test]
async fn a_bomb_is_small_on_the_wire() {
    let rig = Rig::plain().await;
    let url = format!("{}bomb.html", hostile("bomb"));
    let answer = rig.client_for(&url).await.get(&url).await;
    assert_eq!((answer.field("content-encoding"), &answer.body[..2]), (Some("gzip"), &[0x1f, 0x8b][..]));
    assert!(answer.body.len() < 10_000_000);
    rig.serving.stop().await;
}

#[tokio::test]
async fn politeness_is_judged_as_it_is_felt() {
    let rig = Rig::hurried().await;
    let url = hostile("slow");
    for _ in 0..3 {
        assert_eq!(rig.client_for(&url).await.get(&format!("{url}trickle")).await.status(), 200);
        rig.clock.advance(Interval::from_seconds(70));
    }
    assert_eq!(rig.serving.politeness().violations(), 0);
    assert_eq!(rig.serving.politeness().at_servers.gap_min, Some(Interval::from_seconds(70)));

    let silent = format!("{}hang/1", hostile("hang"));
    let mut first = rig.client_for(&silent).await;
    first.send(request("GET", &silent, "")).await;
    while rig.serving.stats().requests_open == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(rig.client_for(&silent).await.get(&hostile("hang")).await.status(), 200);
    assert_eq!(
        rig.client_for(&silent).await.get(&format!("{}private/", hostile("hang"))).await.status(),
        200
    );
    let report = rig.serving.politeness();
    assert_eq!(
        (report.at_servers.overlaps, report.at_addresses.overlaps, report.at_servers.forbidden),
        (2, 2, 1)
    );
    assert_eq!(report.offenders.len(), 2);
    rig.serving.stop().await;
}

#[tokio::test]
async fn a_retry_after_is_noted() {
    let rig = Rig::plain().await;
    let url = format!("{}item/1", hostile("too-many"));
    let mut client = rig.client_for(&url).await;
    let mut busy = client.get(&url).await;
    while busy.status() == 200 {
        rig.clock.advance(Interval::from_minutes(1));
        busy = client.get(&url).await;
    }
    let entry = rig.serving.log().since(rig.serving.log().count() - 1, 1).remove(0);
    assert_eq!(entry.status, busy.status());
    let until = entry.retry_at.or(entry.retry_after.map(|wait| entry.finished.plus(wait))).unwrap();
    let wait = until.since(entry.finished);
    assert!(wait > Interval::ZERO && wait <= Interval::from_minutes(1), "{wait}");
    assert_eq!(entry.finished, rig.clock.now());
    client.get(&url).await;
    assert_eq!(rig.serving.politeness().at_servers.early, 1);
    rig.serving.stop().await;
}
