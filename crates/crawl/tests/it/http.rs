//! RFC 9309 over real HTTP: what each kind of answer to a robots request means for a page, which requests it takes, and
//! when the file is asked for again. The door and the servers are real, the clock is simulated.

use crate::rig;
use crate::server::{Act, Net, Script};
use base::clock::SimulatedClock;
use base::limits::ROBOTS_BYTES_MAX;
use base::{Clock, Interval, Outcome, PageUrl, Refusal, Timestamp};
use fetch::WebDoor;
use frontier::{Frontier, Next, Step};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

const START: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");
const RULES: &str = "User-agent: *\nDisallow: /page\n";

/// A crawl of the one page `http://a.example/page`, which its server would always give.
struct Crawl {
    net: Net,
    door: WebDoor,
    clock: Arc<SimulatedClock>,
    queue: Frontier,
}

/// What happens next in a crawl.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// The robots file of `a.example` is asked for where it belongs.
    Asked,
    Visited,
    Refused(Refusal),
}

impl Crawl {
    async fn start(robots: impl Fn(&str, &str, usize) -> Act + Send + Sync + 'static) -> Self {
        let script: Script = Arc::new(move |host, target, before| match target {
            "/page" => Act::Send(answer(200, "", "page")),
            target => robots(host, target, before),
        });
        let net = Net::start(script).await;
        let every = frontier::RevisitPolicy::fixed(Interval::from_minutes(30));
        let mut queue = rig::frontier(rig::settings(Interval::from_seconds(10)), every, START);
        rig::seed(&mut queue, &PageUrl::parse("http://a.example/page").unwrap(), START);
        Self { door: net.door(), net, clock: SimulatedClock::new(START), queue }
    }

    /// Continues until something is seen, whatever the time.
    async fn next(&mut self) -> Seen {
        loop {
            let task = match rig::next(&mut self.queue, self.clock.now()) {
                Next::Do(task) => task,
                Next::Wait(at) => {
                    self.clock.advance_to(at);
                    continue;
                }
                Next::Idle => panic!("a page is left"),
            };
            let seen = seen(&task.step);
            let ended = rig::step(&self.door, &self.clock, &task);
            let ended = tokio::time::timeout(Duration::from_secs(20), ended).await.expect("it ends");
            if let (Step::Visit(..), Some(capture)) = (&task.step, &ended.capture) {
                assert!(matches!(capture.outcome, Outcome::Fetched { .. }), "{:?}", capture.outcome);
            }
            rig::finish(&mut self.queue, &task, ended, self.clock.now());
            if let Some(seen) = seen {
                return seen;
            }
        }
    }

    fn hours(&self) -> u64 {
        self.clock.now().since(START).as_seconds() / 3_600
    }
}

fn seen(step: &Step) -> Option<Seen> {
    match step {
        Step::Robots(_, request) if request.url.as_str() == "http://a.example/robots.txt" => {
            Some(Seen::Asked)
        }
        Step::Visit(..) => Some(Seen::Visited),
        Step::Refuse(Some(_), _, refusal) => Some(Seen::Refused(refusal.clone())),
        _ => None,
    }
}

fn answer(status: u16, fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n{fields}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn file(text: impl AsRef<[u8]>) -> Act {
    Act::Send(answer(200, "Content-Type: text/plain\r\n", text))
}

fn status(status: u16) -> Act {
    Act::Send(answer(status, "", "no"))
}

fn sent_to(location: &str) -> Act {
    Act::Send(answer(301, &format!("Location: {location}\r\n"), ""))
}

/// What a robots file that answers so means for the page, in a word, and when it is asked for again, in hours.
async fn check(name: &str, act: Act, expected: &str, again: u64) {
    check_script(name, move |_, _, _| act.clone(), expected, again, &["a.example/robots.txt"]).await;
}

async fn check_script(
    name: &str,
    robots: impl Fn(&str, &str, usize) -> Act + Send + Sync + 'static,
    expected: &str,
    again: u64,
    requests: &[&str],
) {
    let mut crawl = Crawl::start(robots).await;
    let first = loop {
        match crawl.next().await {
            Seen::Asked => {}
            other => break other,
        }
    };
    let told = match &first {
        Seen::Asked => unreachable!("they were passed over"),
        Seen::Visited => "allowed",
        Seen::Refused(Refusal::Robots(line)) => line,
        Seen::Refused(Refusal::RobotsUnreachable) => "unreachable",
        Seen::Refused(other) => panic!("{name}: {other:?}"),
    };
    assert_eq!(told, expected, "{name}");
    let asked: Vec<String> = crawl.net.asked().into_iter().filter(|line| line != "a.example/page").collect();
    assert_eq!(asked, requests, "{name}");
    while crawl.next().await != Seen::Asked {}
    assert_eq!(crawl.hours(), again, "{name}: when it is asked for again");
}

const BY_RULE: &str = "Disallow: /page";

#[tokio::test]
async fn a_file_that_comes_is_obeyed_for_a_day() {
    check("rules", file(RULES), BY_RULE, 24).await;
    check("no rules", file(""), "allowed", 24).await;
    check("no content", Act::Send(b"HTTP/1.1 204 X\r\n\r\n".to_vec()), "allowed", 24).await;
    check("html", file("<!DOCTYPE html>\n<title>Hello</title>\n<p>Disallow: it"), "allowed", 24).await;
    let typed = answer(200, "Content-Type: text/html; charset=shift_jis\r\n", RULES);
    check("another type", Act::Send(typed), BY_RULE, 24).await;
}

#[tokio::test]
async fn a_file_is_read_in_every_coding() {
    check("a mark", file(format!("\u{feff}{RULES}")), BY_RULE, 24).await;
    let wide: Vec<u8> = format!("\u{feff}{RULES}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    check("UTF-16", file(wide), BY_RULE, 24).await;
    check("another charset", file([b"# \x83\x8d\x83\x7b\xff\n", RULES.as_bytes()].concat()), BY_RULE, 24)
        .await;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(RULES.as_bytes()).unwrap();
    let zipped = gzip.finish().unwrap();
    let coded =
        |coding: &str, body: &[u8]| Act::Send(answer(200, &format!("Content-Encoding: {coding}\r\n"), body));
    check("gzip", coded("gzip", &zipped), BY_RULE, 24).await;
    check("half a gzip", coded("gzip", &zipped[..zipped.len() / 2]), "unreachable", 1).await;
    check("no gzip at all", coded("gzip", RULES.as_bytes()), "unreachable", 1).await;
    check("an unknown coding", coded("x-unheard-of", RULES.as_bytes()), "unreachable", 1).await;
    let chunked = format!(
        "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{RULES}\r\n0\r\n\r\n",
        RULES.len()
    );
    check("chunks", Act::Send(chunked.into_bytes()), BY_RULE, 24).await;
}

#[tokio::test]
async fn of_a_long_file_the_first_500_kib_count() {
    let group = "User-agent: *\n";
    let comment = |length: usize| format!("#{}\n", "x".repeat(length - 2));
    let filled =
        |rule: &str| format!("{group}{}{rule}", comment(ROBOTS_BYTES_MAX - group.len() - rule.len()));
    check("a rule that just fits", file(filled("Disallow: /page\n") + "more"), "Disallow: /page", 24).await;
    check("a rule behind the end", file(filled("") + "Disallow: /page\n"), "allowed", 24).await;
    check("a rule that is cut", file(filled("Disallow: /p") + "rivate\n"), "allowed", 24).await;
    let broken = |body: String| {
        let head = "HTTP/1.1 200 X\r\nContent-Length: 9999999\r\n\r\n";
        Act::Send([head.as_bytes(), body.as_bytes()].concat())
    };
    check("broken off behind that", broken(filled("Disallow: /page\n") + "more"), BY_RULE, 24).await;
    check("broken off before that", broken(RULES.to_owned()), "unreachable", 1).await;
}

#[tokio::test]
async fn five_redirects_are_followed_and_a_sixth_means_no_file() {
    for hops in 1..=6 {
        let chain = move |_: &str, target: &str, _: usize| {
            let at: usize = target.trim_start_matches("/r").parse().unwrap_or(0);
            if at == hops { file(RULES) } else { sent_to(&format!("/r{}", at + 1)) }
        };
        let mut requests = vec!["a.example/robots.txt".to_owned()];
        requests.extend((1..=hops.min(5)).map(|at| format!("a.example/r{at}")));
        let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
        let expected = if hops <= 5 { BY_RULE } else { "allowed" };
        check_script(&format!("{hops} hops"), chain, expected, 24, &requests).await;
    }
}

#[tokio::test]
async fn redirects_lead_to_other_servers_and_the_rules_count_here() {
    let across = |host: &str, target: &str, _: usize| match (host, target) {
        ("a.example", _) => sent_to("http://b.example/robots.txt"),
        ("b.example", "/robots.txt") => sent_to("//c.example/of/a.txt"),
        _ => file(RULES),
    };
    let requests = ["a.example/robots.txt", "b.example/robots.txt", "c.example/of/a.txt"];
    check_script("across", across, BY_RULE, 24, &requests).await;
    let circle = |host: &str, _: &str, _: usize| {
        sent_to(if host == "a.example" {
            "http://b.example/robots.txt"
        } else {
            "http://a.example/robots.txt"
        })
    };
    let requests = [["a.example/robots.txt", "b.example/robots.txt"]; 3].concat();
    check_script("in a circle", circle, "allowed", 24, &requests).await;
    let loops = |_: &str, _: &str, _: usize| sent_to("/robots.txt");
    check_script("to itself", loops, "allowed", 24, &["a.example/robots.txt"; 6]).await;
    let broken = |host: &str, _: &str, _: usize| {
        if host == "a.example" { sent_to("http://b.example/robots.txt") } else { status(503) }
    };
    let requests = ["a.example/robots.txt", "b.example/robots.txt"];
    check_script("to a broken server", broken, "unreachable", 1, &requests).await;
}

#[tokio::test]
async fn redirects_to_nowhere_mean_that_the_file_is_unreachable() {
    check("no target", Act::Send(answer(302, "", "")), "unreachable", 1).await;
    for target in [
        "ftp://a.example/robots.txt",
        "http://nowhere.example/",
        "http://unknown.example/",
        "http://192.0.2.1/",
    ] {
        check(target, sent_to(target), "unreachable", 1).await;
    }
    check("not modified", Act::Send(b"HTTP/1.1 304 X\r\n\r\n".to_vec()), "unreachable", 1).await;
}

#[tokio::test]
async fn a_file_that_does_not_exist_forbids_nothing() {
    for code in [400, 401, 403, 404, 405, 410, 418, 451, 499] {
        check(&code.to_string(), status(code), "allowed", 24).await;
    }
}

#[tokio::test]
async fn an_unreachable_file_forbids_everything() {
    for code in [429, 500, 502, 503, 504, 599, 999] {
        check(&code.to_string(), status(code), "unreachable", 1).await;
    }
}

/// No request is sent to a server before the time it names.
#[tokio::test]
async fn a_file_is_fetched_again_at_the_time_the_server_names() {
    for (code, seconds, hours) in [(429, 7_200, 2), (503, 10_800, 3), (503, 1, 1), (503, 999_999_999, 24)] {
        let asks = Act::Send(answer(code, &format!("Retry-After: {seconds}\r\n"), ""));
        let mut crawl = Crawl::start(move |_, _, _| asks.clone()).await;
        assert_eq!(crawl.next().await, Seen::Asked);
        loop {
            match crawl.next().await {
                Seen::Asked => break,
                seen => assert_eq!(seen, Seen::Refused(Refusal::RobotsUnreachable)),
            }
        }
        assert_eq!(crawl.hours(), hours, "{code}, {seconds} s");
        assert_eq!(crawl.net.asked().len(), 2);
    }
}

#[tokio::test]
async fn no_answer_forbids_everything() {
    check("silence", Act::Silence, "unreachable", 1).await;
    check("reset", Act::Reset, "unreachable", 1).await;
    check("nothing", Act::Send(Vec::new()), "unreachable", 1).await;
    check("half a head", Act::Send(b"HTTP/1.1 200 OK\r\nConte".to_vec()), "unreachable", 1).await;
    check("no HTTP", Act::Send(b"SSH-2.0-server\r\n".to_vec()), "unreachable", 1).await;
    let dripping = format!("HTTP/1.1 200 X\r\nContent-Length: 100000\r\n\r\n{RULES}");
    check("a body that drips", Act::Drip(dripping.into_bytes()), "unreachable", 1).await;
    check("a head that drips", Act::Drip(b"HTTP/1.1 200 X\r\nA: ".to_vec()), "unreachable", 1).await;
}

/// The file comes once and never again: its rules stay in use for thirty days, and then everything is refused.
#[tokio::test]
async fn an_old_copy_serves_for_thirty_days() {
    let once =
        |_: &str, _: &str, before: usize| if before == 0 { file("# all may come") } else { status(503) };
    let mut crawl = Crawl::start(once).await;
    let (mut last_visit, mut first_refusal, mut tries) = (0, None, Vec::new());
    while first_refusal.is_none() {
        match crawl.next().await {
            Seen::Asked => tries.push(crawl.hours()),
            Seen::Visited => last_visit = crawl.hours(),
            Seen::Refused(refusal) => {
                assert_eq!(refusal, Refusal::RobotsUnreachable);
                first_refusal = Some(crawl.hours());
            }
        }
    }
    assert!(matches!(last_visit, 719 | 720), "{last_visit}");
    assert_eq!(first_refusal, Some(30 * 24));
    assert_eq!(tries[..8], [0, 24, 25, 27, 31, 39, 55, 79], "less and less often, at least daily");
    assert!(tries.len() < 40, "{tries:?}");
}
