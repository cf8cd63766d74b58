//! A URL that may be read in two ways is read in one everywhere: for the connection, for `Host`, and for the robots
//! file (H25).

use super::cases::{Route, html};
use super::walks::{AnyDoor, walk};
use super::web::{Hit, Stage, Web};
use base::PageUrl;

/// URLs with two hosts in them, and the one that the standard means: where it is, and as what it is asked.
const READINGS: [(&str, &str, &str); 25] = [
    ("http://good.example@10.0.0.1/", "10.0.0.1:80", "10.0.0.1"),
    ("http://10.0.0.1@good.example/", "93.184.216.34:80", "good.example"),
    ("http://good.example:80@10.0.0.1:8080/", "10.0.0.1:8080", "10.0.0.1:8080"),
    ("http://10.0.0.1:8080@good.example:80/", "93.184.216.34:80", "good.example"),
    ("http://a@good.example@10.0.0.1/", "10.0.0.1:80", "10.0.0.1"),
    ("http://10.0.0.1#@good.example/", "10.0.0.1:80", "10.0.0.1"),
    ("http://good.example#@10.0.0.1/", "93.184.216.34:80", "good.example"),
    ("http://10.0.0.1?@good.example/", "10.0.0.1:80", "10.0.0.1"),
    ("http://good.example?@10.0.0.1/", "93.184.216.34:80", "good.example"),
    ("http://10.0.0.1\\@good.example/", "10.0.0.1:80", "10.0.0.1"),
    ("http://good.example\\@10.0.0.1/", "93.184.216.34:80", "good.example"),
    ("http://good.example/\\@10.0.0.1/", "93.184.216.34:80", "good.example"),
    ("http://good.example%2f@10.0.0.1/", "10.0.0.1:80", "10.0.0.1"),
    ("http://good.example%23@10.0.0.1/", "10.0.0.1:80", "10.0.0.1"),
    ("http:\\\\10.0.0.1\\@good.example/", "10.0.0.1:80", "10.0.0.1"),
    ("http:////10.0.0.1//good.example/", "10.0.0.1:80", "10.0.0.1"),
    ("http://10.0.0.1\t.good.example/", "93.184.216.34:80", "10.0.0.1.good.example"),
    ("http://10.0.0.1\u{3002}good.example/", "93.184.216.34:80", "10.0.0.1.good.example"),
    ("http://012.1/", "10.0.0.1:80", "10.0.0.1"),
    ("http://10.0.0.1.:80/", "10.0.0.1:80", "10.0.0.1"),
    ("http://\u{ff11}\u{ff10}.1/", "10.0.0.1:80", "10.0.0.1"),
    ("http://[::FFFF:10.0.0.1]/", "10.0.0.1:80", "[::ffff:a00:1]"),
    ("http://[0:0:0:0:0:ffff:0a00:0001]:8000/", "10.0.0.1:8000", "[::ffff:a00:1]:8000"),
    ("http://[64:ff9b::10.0.0.1]/", "[64:ff9b::a00:1]:80", "[64:ff9b::a00:1]"),
    ("http://GOOD.example./", "93.184.216.34:80", "good.example"),
];

/// With everything allowed, so that all of them can be seen to go one way.
pub(crate) async fn check(door: &AnyDoor, web: &Web) -> Vec<String> {
    let (hour, pause) = (Route::Direct.time(), Route::Direct.pause());
    for (text, to, host) in READINGS {
        let expected: Vec<Hit> = ["/robots.txt", "/"].map(|target| seen(to, host, target)).into();
        web.set(Stage::default());
        walk(door, PageUrl::parse(text).unwrap(), hour, pause).await;
        assert_eq!(requests(web), expected, "{text} as a seed");
        // The same as a link, read on a page of another server.
        let page = html(format!("<a href=\"{text}\">").as_bytes());
        web.set(Stage { page, ..Stage::default() });
        walk(door, PageUrl::parse("http://www.good.example/from").unwrap(), hour, pause).await;
        let mut followed = requests(web);
        followed.retain(|hit| hit.asked.as_ref().is_some_and(|(host, _)| host != "www.good.example"));
        assert_eq!(followed, expected, "{text} as a link");
    }
    vec![format!(
        "{} URLs with two readings: one each, by connection, `Host` and robots file",
        READINGS.len()
    )]
}

fn seen(to: &str, host: &str, target: &str) -> Hit {
    Hit { to: to.parse().unwrap(), asked: Some((host.to_owned(), target.to_owned())) }
}

/// The requests, the path of a page being `/` whatever it is.
fn requests(web: &Web) -> Vec<Hit> {
    let mut requests: Vec<Hit> = web.seen().into_iter().filter(|hit| hit.asked.is_some()).collect();
    for hit in &mut requests {
        if let Some((_, target)) = &mut hit.asked
            && target != "/robots.txt"
        {
            "/".clone_into(target);
        }
    }
    requests
}
