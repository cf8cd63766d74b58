//! Failures and redirects of a `--once` crawl, over real sockets: what may pass is retried, the pace adapts, seeds that lead
//! elsewhere are followed, and what could not be fetched is named.

use crate::program::{objects, on};
use base::clock::RealClock;
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// What is answered to a request for a target that was made so many times before, so long after the last request.
type Script = dyn Fn(&str, usize, Duration) -> String + Send + Sync;

/// A server that runs until the process ends.
#[derive(Clone)]
struct Scripted {
    address: SocketAddr,
    script: Arc<Script>,
    /// Every target that was asked for, with the status of the answer.
    asked: Arc<Mutex<Vec<(String, String)>>>,
    clock: Arc<RealClock>,
    last: Arc<Mutex<Duration>>,
}

impl Scripted {
    fn start(host: &str, script: impl Fn(&str, usize, Duration) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((host, 0)).unwrap();
        let site = Self {
            address: listener.local_addr().unwrap(),
            script: Arc::new(script),
            asked: Arc::default(),
            clock: RealClock::start(),
            last: Arc::default(),
        };
        let serving = site.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let site = serving.clone();
                std::thread::spawn(move || site.answer(stream.unwrap()));
            }
        });
        site
    }
    fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }
    fn asked(&self, target: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(asked, _)| asked == target).map(|(_, status)| status.clone()).collect()
    }
    fn answered(&self, status: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|(_, answered)| answered == status).count()
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let answer = if target == "/robots.txt" { page(404, "", "") } else { self.script_for(&target) };
        let _ = stream.write_all(answer.as_bytes());
    }
    fn script_for(&self, target: &str) -> String {
        let since = {
            let (now, mut last) = (self.clock.real_elapsed(), self.last.lock().unwrap());
            now - std::mem::replace(&mut *last, now)
        };
        let answer = (self.script)(target, self.asked(target).len(), since);
        let status = answer.split(' ').nth(1).unwrap().to_owned();
        self.asked.lock().unwrap().push((target.to_owned(), status));
        answer
    }
}

fn page(status: u16, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n{fields}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
/// A page with text of its own that links to these targets.
fn linking(title: &str, links: &[String]) -> String {
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">{link}</a> ")).collect();
    page(200, "", &format!("<title>{title}</title><p>The text of {title}, and of it alone.</p>{links}"))
}
fn redirect(to: &str) -> String {
    page(302, &format!("Location: {to}\r\n"), "")
}
/// An error with which the server asks to wait for a second.
fn error(status: u16) -> String {
    page(status, "Retry-After: 1\r\n", "")
}

/// A data directory for servers whose owners agreed to a short pause.
fn directory(sites: &[&Scripted]) -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    let agreed: Vec<String> = sites.iter().map(|site| format!("\"{} pause=20ms\"", site.address)).collect();
    let settings = format!(
        "[crawl]\npause = \"1s\"\nagreed = [{}]\n[fetch]\nallow_addresses = [\"127.0.0.0/8\"]\n\
         [store]\npool_bytes = \"1MiB\"\nlog_bytes = \"1MiB\"\nsegment_bytes = \"1MiB\"\n",
        agreed.join(", ")
    );
    fs::write(data.join("utsushi.toml"), settings).unwrap();
    (place, data)
}
fn summary(said: &str) -> Value {
    objects(said).pop().unwrap()["summary"].clone()
}

#[test]
fn a_server_that_allows_few_requests_a_second_is_crawled_whole() {
    const PAGES: usize = 40;
    let site = Scripted::start("127.0.0.1", |target, _, since| {
        if since < Duration::from_millis(120) {
            return error(429);
        }
        let links: Vec<String> = (0..PAGES).map(|n| format!("/page/{n}")).collect();
        linking(target, if target == "/" { &links } else { &[] })
    });
    let (_place, data) = directory(&[&site]);
    let said = on(&data, &["--json", "crawl", &site.url("/"), "--once", "--for", "120s"]).done();
    let summary = summary(&said);
    assert_eq!((&summary["new"], &summary["failing"]), (&(PAGES + 1).into(), &0.into()), "{summary}");
    let refused = site.answered("429");
    assert!((1..=8).contains(&refused), "the pace adapts: {refused}");
    let server = objects(&on(&data, &["--json", "servers"]).done()).remove(0);
    let (slowed_by, pause) = (&server["slowed_by"], server["pause"].as_f64().unwrap());
    assert!(*slowed_by == "429" && pause > 0.1, "and is kept: {server}");
    let told = objects(&on(&data, &["--json", "explain", &site.url("/page/7")]).done()).remove(0);
    assert!(told["reason"].as_str().unwrap().contains("its server answered 429"), "{told}");
}

#[test]
fn a_page_that_goes_on_failing_is_named_and_one_that_recovers_is_not() {
    let site = Scripted::start("127.0.0.1", |target, before, _| match target {
        "/" => {
            let targets = ["/broken", "/flaky", "/gone", "/lost", "/fine"];
            linking("front", &targets.map(ToOwned::to_owned))
        }
        "/broken" => error(500),
        "/flaky" if before < 2 => error(503),
        "/gone" => page(410, "", ""),
        "/lost" => page(404, "", ""),
        target => linking(target, &[]),
    });
    let (_place, data) = directory(&[&site]);
    let said = on(&data, &["--json", "crawl", &site.url("/"), "--once", "--for", "120s"]).found(&[]);
    assert_eq!(site.asked("/broken").len(), 4, "retried three times");
    assert_eq!(site.asked("/flaky"), ["503", "503", "200"]);
    let summary = summary(&said);
    assert_eq!((&summary["failing"], &summary["gone"]), (&1.into(), &2.into()), "{summary}");
    let failing = &summary["failing_pages"][0];
    assert_eq!(
        (&failing["url"], &failing["reason"], &failing["failures"]),
        (&site.url("/broken").into(), &"status 500".into(), &4.into())
    );
    let again = on(&data, &["crawl", "--once", "--for", "60s"]).found(&[]);
    let named = format!("  {}  status 500, 4 times in a row", site.url("/broken"));
    assert!(again.contains("1 page could not be fetched so far") && again.contains(&named), "{again}");
    assert!(again.contains("status --failed"), "{again}");
    let listed = objects(&on(&data, &["--json", "status", "--failed"]).done());
    assert_eq!((listed.len(), &listed[0]["url"]), (1, &site.url("/broken").into()), "{listed:?}");
    assert!(on(&data, &["status"]).done().contains("failed          1 page at the last visit"));
}

#[test]
fn pages_that_do_not_exist_are_answers() {
    let site = Scripted::start("127.0.0.1", |target, _, _| match target {
        "/" => linking("front", &["/lost".to_owned()]),
        _ => page(404, "", ""),
    });
    let (_place, data) = directory(&[&site]);
    let said = on(&data, &["crawl", &site.url("/"), "--once", "--for", "60s"]).done();
    assert!(!said.contains("could not be fetched"), "{said}");
    assert!(on(&data, &["status", "--failed"]).done().is_empty());
}

#[test]
fn the_target_of_a_redirected_seed_is_crawled_and_named() {
    let target = Scripted::start("127.0.0.2", |target, _, _| match target {
        "/start/" => redirect("/home"),
        "/home" => linking("home", &["/a".to_owned(), "/b".to_owned()]),
        target => linking(target, &[]),
    });
    let start = target.url("/start/");
    let to = start.clone();
    let seed = Scripted::start("127.0.0.1", move |_, _, _| redirect(&to));
    let (_place, data) = directory(&[&seed, &target]);
    let said = on(&data, &["--json", "crawl", &seed.url("/"), "--once", "--for", "60s"]).done();
    let summary = summary(&said);
    assert_eq!((&summary["new"], &summary["moved"]), (&3.into(), &2.into()), "{summary}");
    assert_eq!(summary["seeds"][0]["target"], target.url("/home"), "{summary}");

    let told = objects(&on(&data, &["--json", "explain", &seed.url("/")]).done()).remove(0);
    assert_eq!(told["last_outcome"], format!("moved (302) to {start}"), "{told}");
    let history = objects(&on(&data, &["--json", "history", &seed.url("/")]).done()).remove(0);
    assert_eq!(history["target"], start, "{history}");
    assert!(on(&data, &["history", &seed.url("/")]).done().contains(&format!("to {start}")));

    let life = || objects(&on(&data, &["--json", "explain", &target.url("/a")]).done()).remove(0);
    let before = life();
    assert_eq!((&before["state"], &before["found_on"]), (&"live".into(), &target.url("/home").into()));
    on(&data, &["rebuild", "frontier"]).done();
    let after = life();
    assert_eq!((&after["next_due"], &after["reason"]), (&before["next_due"], &before["reason"]));
    let unknown = objects(&on(&data, &["--json", "explain", &target.url("/c")]).found(&[])).remove(0);
    assert!(unknown["reason"].as_str().unwrap().contains("added, it would be visited"), "{unknown}");
}

#[test]
fn seeds_that_lead_nowhere_are_named() {
    let site = Scripted::start("127.0.0.1", |target, _, _| match target {
        "/one" => redirect("/two"),
        "/two" => redirect("/one"),
        "/fine" => linking("fine", &[]),
        _ => page(404, "", ""),
    });
    let (_place, data) = directory(&[&site]);
    let seeds = [site.url("/one"), site.url("/fine"), site.url("/lost")];
    let [one, fine, lost] = seeds.each_ref().map(String::as_str);
    let said = on(&data, &["crawl", one, fine, lost, "--once", "--for", "60s"]).found(&[]);
    assert!(said.contains(&format!("seed {one} leads to {one}: redirect loop")), "{said}");
    assert!(said.contains(&format!("seed {lost}: gone (status 404)")), "{said}");
    assert!(!said.contains(fine), "{said}");

    // A missing seed is reported; if other pages were fetched, it is not a failure.
    let (_place, data) = directory(&[&site]);
    let said = on(&data, &["crawl", fine, lost, "--once", "--for", "60s"]).done();
    assert!(said.contains(&format!("seed {lost}: gone (status 404)")), "{said}");
    let (_place, data) = directory(&[&site]);
    on(&data, &["crawl", lost, "--once", "--for", "60s"]).found(&[]);

    // Port 1 is reserved, and nothing listens there.
    let (_place, data) = directory(&[&site]);
    let said = on(&data, &["crawl", "http://127.0.0.3:1/", "--once", "--for", "60s"]).found(&[]);
    assert!(
        said.contains("seed http://127.0.0.3:1/: refused while the robots file cannot be fetched"),
        "{said}"
    );
}
