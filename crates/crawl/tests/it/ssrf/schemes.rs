//! References that are no http or https page lead nowhere, even when every address is allowed (H4).

use super::cases::{Route, html};
use super::walks::{AnyDoor, walk};
use super::web::{Hit, Stage, Web, redirect};
use base::PageUrl;

/// Each names an address that a canary watches, or a file of this machine.
const REFERENCES: [&str; 32] = [
    "ftp://10.0.0.1:8080/",
    "ftps://10.0.0.1:8080/",
    "sftp://10.0.0.1:22/",
    "ssh://10.0.0.1:22/",
    "gopher://10.0.0.1:6379/_SLAVEOF",
    "dict://10.0.0.1:6379/info",
    "ldap://10.0.0.1:8080/",
    "tftp://10.0.0.1:8080/x",
    "telnet://10.0.0.1:22",
    "redis://10.0.0.1:6379/0",
    "ws://10.0.0.1/",
    "wss://10.0.0.1/",
    "file:///etc/passwd",
    "file://10.0.0.1/share",
    "FILE:///etc/passwd",
    "smb://10.0.0.1/share",
    "\\\\?\\UNC\\10.0.0.1\\share",
    "unix:///run/docker.sock",
    "jar:http://10.0.0.1/a.jar!/b",
    "view-source:http://10.0.0.1/",
    "feed:http://10.0.0.1/",
    "feed://10.0.0.1/",
    "url:http://10.0.0.1/",
    "blob:http://10.0.0.1/x",
    "filesystem:http://10.0.0.1/x",
    "data:text/html,<a href=http://10.0.0.1/>",
    "javascript:location='http://10.0.0.1/'",
    "about:blank",
    "intent://10.0.0.1/#Intent;scheme=http;end",
    "httpx://10.0.0.1/",
    "http+unix://10.0.0.1/",
    "netdoc:///etc/passwd",
];

/// Offers each as a redirect of a page, of a robots file, and as a link.
pub(crate) async fn check(door: &AnyDoor, web: &Web) -> Vec<String> {
    for reference in REFERENCES {
        for seen in offer(reference, door, web).await {
            assert!(seen.iter().all(Hit::is_honest), "{reference}: {seen:?}");
            assert!(!seen.is_empty(), "{reference} is offered");
        }
    }
    for seen in offer("http://10.0.0.1:8080/", door, web).await {
        assert!(!seen.iter().all(Hit::is_honest), "a page can be reached");
    }
    web.settle().await;
    assert_eq!(web.seen(), [], "no late connection");
    vec![format!("{} references of other schemes lead nowhere, whatever is allowed", REFERENCES.len())]
}

/// What is seen, offer by offer.
async fn offer(reference: &str, door: &AnyDoor, web: &Web) -> Vec<Vec<Hit>> {
    let page = html(format!("<base href=\"{reference}\"><a href=\"{reference}\"><a href=x>").as_bytes());
    let moved = redirect(302, reference.as_bytes());
    let stages = [
        Stage { page, ..Stage::default() },
        Stage { page: moved.clone(), ..Stage::default() },
        Stage { robots: moved, ..Stage::default() },
    ];
    let mut seen = Vec::new();
    for stage in stages {
        web.set(stage);
        let seed = PageUrl::parse("http://good.example/page").unwrap();
        walk(door, seed, Route::Direct.time(), Route::Direct.pause()).await;
        seen.push(web.seen());
    }
    seen
}
