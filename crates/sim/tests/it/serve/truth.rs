//! The pages that the listener serves under its own name.

use super::client::{Client, Message, request};
use super::{Rig, Settings};
use serde_json::Value;

impl Rig {
    async fn about(&self, target: &str) -> Message {
        let mut client = Client::connect(self.own()).await;
        client.ask(&format!("GET {target} HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", self.serving.http)).await
    }
}

#[tokio::test]
async fn the_servers_are_listed() {
    let rig = Rig::plain().await;
    let page = rig.about("/").await;
    assert_eq!(page.status(), 200);
    let policy = page.field("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"));
    assert!(page.text().contains(&rig.web.host(7)) && page.text().contains("malformed-00012.example"));
    assert!(page.text().contains(&format!("http_proxy=http://127.0.0.1:{}", rig.serving.http)));
    let hosts = rig.about("/hosts").await.text();
    assert_eq!(hosts.lines().count(), 88);
    let address = rig.web.address(&rig.web.host(7)).unwrap();
    assert!(hosts.contains(&format!("{address} {}", rig.web.host(7))));
    assert_eq!(rig.about("/ca.pem").await.text(), rig.serving.authority_pem);
    assert_eq!(rig.about("/?from=4000000000").await.status(), 200);
    assert_eq!(rig.about("/nothing").await.status(), 404);
    assert_eq!(rig.serving.log().count(), 0, "questions about the web are not part of it");
    rig.serving.stop().await;
}

#[tokio::test]
async fn the_truth_is_told_in_two_forms() {
    let rig = Rig::plain().await;
    let url = rig.home("http");
    let answer = rig.about(&format!("/truth?url={url}&from=2026-01-01&to=2027-01-01")).await;
    let json: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(json["url"], url.as_str());
    assert!(!json["byte_changes"].as_array().unwrap().is_empty());
    let page = rig.about(&format!("/truth.html?url={url}&to=2027-01-01")).await.text();
    assert!(page.contains("<svg") && page.contains("byte changes"));
    for (target, status) in [
        ("/truth", 400),
        ("/truth?url=nonsense", 400),
        ("/truth?url=http://www.example.org/", 404),
        ("/truth?url=http://www.example.org/&from=yesterday", 400),
        ("/truth.html", 200),
    ] {
        assert_eq!(rig.about(target).await.status(), status, "{target}");
    }
    rig.serving.stop().await;
}

#[tokio::test]
async fn what_is_asked_comes_back_as_text_only() {
    let rig = Rig::plain().await;
    let page = rig.about("/truth.html?url=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").await.text();
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
    rig.serving.stop().await;
}

#[tokio::test]
async fn the_log_is_shown_and_written() {
    let path = std::env::temp_dir().join(format!("simulated-web-log-{}.jsonl", std::process::id()));
    let rig = Rig::new(Settings { log_file: Some(path.clone()), ..Settings::default() }).await;
    let url = rig.home("http");
    let mut client = rig.client_for(&url).await;
    for _ in 0..3 {
        client.ask(&request("GET", &url, "")).await;
    }
    let shown = rig.about("/log?since=1&limit=1").await.text();
    let entry: Value = serde_json::from_str(shown.trim()).unwrap();
    assert_eq!(
        (&entry["sequence"], &entry["status"], &entry["user_agent"]),
        (&1.into(), &200.into(), &"tester".into())
    );
    assert_eq!(rig.about("/log").await.text().lines().count(), 3);
    let politeness: Value = serde_json::from_slice(&rig.about("/politeness").await.body).unwrap();
    assert_eq!(politeness["at_servers"]["requests"], 3);
    assert_eq!(politeness["at_servers"]["short_gaps"], 2, "the clock stands still");
    rig.serving.stop().await;
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(written.lines().count(), 3);
    assert!(written.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}
