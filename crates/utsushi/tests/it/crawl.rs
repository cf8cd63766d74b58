//! A crawl by the program itself, over real sockets: what it archives, how it is steered while it runs and while it does
//! not, and what is left after a `kill -9`.

use crate::program::{Ended, objects, on, run, utsushi};
use crate::site::{PAGES, Site};
use base::clock::RealClock;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The words that others rely on (D17).
const EXPLAINED: &str = "url key server address state reason first_seen found_on visits changes elapsed unchanged_sum \
    estimate policy interval next_due limited_by budget_share hint last_outcome";

/// A data directory whose settings suit a site.
pub(crate) fn directory(site: &Site) -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("utsushi.toml"), site.settings()).unwrap();
    (place, data)
}

pub(crate) fn summary(said: &str) -> Value {
    objects(said).pop().unwrap()["summary"].clone()
}

/// A crawl that runs, with its captures as they are acknowledged.
pub(crate) struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    pub(crate) fn start(data: &Path, arguments: &[&str]) -> Self {
        let mut command = utsushi();
        command.arg("--json").arg("--data").arg(data).arg("crawl").args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }
    pub(crate) fn captures(&mut self, count: usize) -> Vec<Value> {
        let lines = self.lines.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        lines.take(count).collect()
    }
    fn pid(&self) -> String {
        self.child.id().to_string()
    }
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.pid()).status().unwrap();
        assert!(status.success());
    }
    /// What it still says, and its exit code.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        let rest =
            self.lines.by_ref().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
        let rest = rest.collect();
        (rest, self.child.wait().unwrap().code())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for something to become true.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let clock = RealClock::start();
    while !is_so() {
        assert!(clock.real_elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_site_is_crawled_until_nothing_new_is_left_and_can_be_explained() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let said = on(&data, &["--json", "crawl", &site.url("/"), "--once", "--for", "60s"]).done();
    let summary = summary(&said);
    assert_eq!(summary["new"], PAGES + 1, "{summary}");
    assert_eq!(
        (&summary["refused"], &summary["gone"], &summary["robots"]),
        (&1.into(), &1.into(), &1.into())
    );
    // The front page, those below it and a missing one; the refused one does not count as archived.
    assert_eq!((&summary["pages"], &summary["unchanged"]), (&(PAGES + 2).into(), &0.into()), "{summary}");
    assert_eq!(summary["requests"], PAGES + 3, "pages and the robots file: {summary}");
    let asked = site.asked();
    assert_eq!(asked.len(), PAGES + 2, "every page once: {asked:?}");
    assert!(!asked.contains(&"/private".to_owned()));

    let page = site.url("/page/7");
    let told = objects(&on(&data, &["--json", "explain", &page]).done()).remove(0);
    let keys: HashSet<&str> = told.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, EXPLAINED.split_whitespace().collect());
    assert_eq!(
        (&told["state"], &told["visits"], &told["found_on"]),
        (&"live".into(), &1.into(), &site.url("/").into())
    );
    let text = on(&data, &["explain", &page]).done();
    for part in ["state       live", "next due    20", "because     it was visited once"] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    let refused = objects(&on(&data, &["--json", "explain", &site.url("/private")]).done()).remove(0);
    assert_eq!(refused["state"], "refused", "{refused}");

    let servers = objects(&on(&data, &["--json", "servers"]).done());
    assert_eq!((servers.len(), &servers[0]["agreed"]), (1, &true.into()), "{servers:?}");
    let table = on(&data, &["servers", &site.address.to_string()]).done();
    assert!(table.lines().all(|line| line.chars().count() <= 100) && table.contains("agreed"), "{table}");
    on(&data, &["servers", "nobody.example"]).found(&["no server `nobody.example` is known"]);
    on(&data, &["servers", "--overloaded"]).done();

    let status = objects(&on(&data, &["--json", "status"]).done()).remove(0);
    assert_eq!(status["schedule"]["pages"], PAGES + 3, "{status}");
    assert_eq!((&status["writer"], &status["schedule"]["paused"]), (&Value::Null, &false.into()));
    assert_eq!(
        (&status["archive"]["captures"], &status["archive"]["unchanged"]),
        (&(PAGES + 4).into(), &0.into()),
        "pages, the robots file and a refusal: {status}"
    );
    let figures = data.with_extension("figures");
    on(&data, &["status", "--figures", figures.to_str().unwrap()]).done();
    for name in ["figure-3.svg", "figure-4.csv", "figure-5.svg"] {
        assert!(fs::metadata(figures.join(name)).unwrap().len() > 0, "{name}");
    }
    made_anew(&data, &page, &told);
}

/// The schedule can be deleted: it is rebuilt with the same times.
fn made_anew(data: &Path, page: &str, before: &Value) {
    let said = on(data, &["--json", "rebuild", "frontier"]).done();
    assert_eq!(objects(&said)[0]["frontier"]["pages"], PAGES + 3, "{said}");
    let after = objects(&on(data, &["--json", "explain", page]).done()).remove(0);
    assert_eq!((&after["next_due"], &after["first_seen"]), (&before["next_due"], &before["first_seen"]));
    fs::remove_dir_all(data.join("frontier")).unwrap();
    let again = objects(&on(data, &["--json", "explain", page]).done()).remove(0);
    assert_eq!(again["next_due"], before["next_due"], "also when it is lost");
}

#[test]
fn an_unknown_page_is_told_what_would_happen() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    fs::write(
        data.join("utsushi.toml"),
        site.settings().replace("[fetch]", "rules = [\"never visit path containing /page/3\"]\n[fetch]"),
    )
    .unwrap();
    on(&data, &["--json", "crawl", &site.url("/"), "--once", "--for", "60s"]).done();
    assert!(!site.asked().iter().any(|target| target.starts_with("/page/3")), "{:?}", site.asked());
    let reason = |url: &str| {
        let said = on(&data, &["--json", "explain", url]).found(&[]);
        let told = objects(&said).remove(0);
        assert_eq!(told["state"], "unknown");
        told["reason"].as_str().unwrap().to_owned()
    };
    let rule = reason(&site.url("/page/3"));
    assert!(rule.contains("never visit path containing /page/3"), "{rule}");
    let robots = reason(&site.url("/private/too"));
    assert!(robots.contains("Disallow: /private"), "{robots}");
    let scope = reason("http://127.0.0.2:9/");
    assert!(scope.contains("(`--scope server`)"), "{scope}");
    let wanted = reason(&site.url("/page/new"));
    assert!(wanted.contains("added, it would be visited"), "{wanted}");
}

#[test]
fn a_crawl_that_runs_is_steered() {
    let (site, other) = (Site::start("127.0.0.1"), Site::start("127.0.0.2"));
    let (_place, data) = directory(&site);
    let mut crawl = Running::start(&data, &[&site.url("/")]);
    crawl.captures(5);
    let pid = crawl.pid();

    on(&data, &["crawl", &site.url("/"), "--for", "1s"])
        .could_not(&[&format!("process {pid}"), "`utsushi crawl`"]);
    on(&data, &["rebuild", "frontier"])
        .could_not(&[&format!("process {pid}"), &format!("stop the crawl first with `kill {pid}`")]);

    let told = objects(&on(&data, &["--json", "add", &other.url("/page/0")]).done());
    assert_eq!((&told[0]["state"], &told[1]["new"]), (&"new".into(), &1.into()), "{told:?}");
    eventually("the added page is visited", || other.asked().contains(&"/page/0".to_owned()));
    let life = objects(&on(&data, &["--json", "explain", &site.url("/")]).done()).remove(0);
    assert_eq!(life["server"], site.address.to_string());
    let status = objects(&on(&data, &["--json", "status"]).done()).remove(0);
    assert_eq!(status["writer"]["pid"].to_string(), pid);
    assert!(status["schedule"]["pages"].as_u64().unwrap() > 3, "{status}");
    assert_eq!(objects(&on(&data, &["--json", "servers", "--limit", "1"]).done()).len(), 1);

    assert_eq!(on(&data, &["--json", "pause"]).done(), "{\"paused\":true,\"was_paused\":false}\n");
    std::thread::sleep(Duration::from_millis(300));
    let (before, after) = (other.asked().len(), {
        std::thread::sleep(Duration::from_secs(2));
        other.asked().len()
    });
    assert_eq!(before, after, "nobody is asked while it is paused");
    assert!(on(&data, &["status"]).done().contains("paused"));
    on(&data, &["resume"]).done();
    eventually("it goes on", || other.asked().len() > after);

    let clock = RealClock::start();
    crawl.signal("TERM");
    let (rest, code) = crawl.end();
    assert_eq!(code, Some(0));
    assert!(clock.real_elapsed() < Duration::from_secs(8), "{:?}", clock.real_elapsed());
    assert!(rest.last().unwrap()["summary"]["pages"].as_u64().is_some());
    assert!(!data.join("control").exists(), "the socket goes with it");
}

#[test]
fn orders_hold_also_when_nobody_crawls() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let told = on(&data, &["add", &site.url("/"), "--priority", "-5"]).done();
    assert!(told.contains("1 page in the crawl, 1 of them new"), "{told}");
    let again = objects(&on(&data, &["--json", "add", &site.url("/")]).done());
    assert_eq!(again.last().unwrap()["new"], 0, "{again:?}");
    assert!(on(&data, &["pause"]).done().contains("it is not running now"));
    let ended = on(&data, &["crawl", "--for", "2s"]);
    assert!(ended.stderr.contains("the crawl is paused"), "{ended:?}");
    ended.done();
    assert!(site.asked().is_empty(), "{:?}", site.asked());
    on(&data, &["resume"]).done();
    let summary = summary(&on(&data, &["--json", "crawl", "--once", "--for", "60s"]).done());
    assert_eq!(summary["new"], PAGES + 1, "{summary}");
    let life = objects(&on(&data, &["--json", "explain", &site.url("/")]).done()).remove(0);
    assert_eq!(life["found_on"], Value::Null, "{life}");
}

#[test]
fn survives_m1_kill_in_the_middle_loses_nothing_acknowledged() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    // Slow enough that three kills find something to interrupt.
    fs::write(data.join("utsushi.toml"), site.settings().replace("pause=20ms", "pause=200ms")).unwrap();
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..3 {
        let seed = site.url("/");
        let seeds = [seed.as_str()];
        let mut crawl = Running::start(&data, if round == 0 { &seeds } else { &[] });
        let lines = crawl.captures(2);
        crawl.signal("KILL");
        let (rest, _) = crawl.end();
        let url = |line: &Value| line["url"].as_str().map(ToOwned::to_owned);
        acknowledged.extend(lines.iter().chain(&rest).filter_map(url));
    }
    assert!(data.join("control").exists(), "a killed crawl leaves its socket");
    let summary = summary(&on(&data, &["--json", "crawl", "--once", "--for", "60s"]).done());
    assert_eq!(summary["lost"], 0);
    for url in &acknowledged {
        assert!(on(&data, &["--json", "history", url]).done().contains("\"offset\""), "{url}");
    }
    let status = objects(&on(&data, &["--json", "status"]).done()).remove(0);
    assert_eq!(
        (&status["schedule"]["new"], &status["schedule"]["pages"]),
        (&0.into(), &(PAGES + 3).into()),
        "{status}"
    );
    on(&data, &["verify"]).done();
    let asked = site.asked();
    let kept: HashSet<&String> = asked.iter().collect();
    assert_eq!(kept.len(), PAGES + 2, "{asked:?}");
}

#[test]
fn the_contact_is_kept_and_the_configuration_as_it_was() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let file = data.join("utsushi.toml");
    let before = fs::read_to_string(&file).unwrap();
    let page = "https://example.net/about";
    let ended = on(&data, &["crawl", &site.url("/"), "--for", "1ms", "--contact", page]);
    assert!(ended.stderr.contains("the settings of this crawl are stored in `"), "{ended:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let kept = fs::read_to_string(data.join("crawl.toml")).unwrap();
    assert!(kept.ends_with(&format!("fetch.contact = \"{page}\"\n")), "{kept}");
    let again = on(&data, &["crawl", "--for", "1ms", "--contact", page]);
    assert!(!again.stderr.contains("are stored in"), "{again:?}");
}

#[test]
fn prometheus_can_scrape_a_crawl() {
    let site = Site::start("127.0.0.1");
    let (_place, data) = directory(&site);
    let mut command = utsushi();
    command.arg("--data").arg(&data).args([
        "crawl",
        &site.url("/"),
        "--for",
        "20s",
        "--metrics",
        "127.0.0.1:0",
    ]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(|line| line.unwrap());
    let told = lines.find_map(|line| line.strip_prefix("metrics: http://").map(ToOwned::to_owned)).unwrap();
    let address = told.strip_suffix("/metrics").unwrap().to_owned();
    let scrape = || {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    eventually("the counts grow", || {
        scrape().contains(&format!("\nutsushi_visits_total{{outcome=\"new\"}} {}\n", PAGES + 1))
    });
    let text = scrape();
    assert!(
        text.contains("\nutsushi_pages 33\n") && text.contains("# TYPE utsushi_paused gauge\n"),
        "{text}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    let seeds = place.path().join("seeds");
    fs::write(&seeds, "nonsense://x\n").unwrap();
    let seeds = seeds.to_str().unwrap();
    let could_not: &[(&[&str], &[&str])] = &[
        (&["crawl", "http://"], &["cannot visit `http://`", "give the full URL"]),
        (&["crawl", "ftp://a.example/"], &["cannot visit", "ftp"]),
        (&["crawl", "http://a.example/"], &["without a contact", "--contact PAGE"]),
        (&["crawl", "--allow-address", "127.0.0.0/8"], &["no page is known yet", "utsushi crawl URL"]),
        (&["crawl", "--seeds", seeds], &["line 1", "one full URL per line"]),
        (&["crawl", "--seeds", "/nowhere/seeds"], &["cannot read the seeds in `/nowhere/seeds`"]),
        (&["add"], &["no page given", "--seeds FILE"]),
        (&["add", "http://"], &["cannot visit `http://`"]),
        (&["explain", "http://"], &["cannot visit `http://`"]),
        (&["servers", "a/b"], &["cannot look for `a/b`"]),
    ];
    for (arguments, parts) in could_not {
        let ended = on(&data, arguments);
        if parts.iter().any(|part| part.contains("/nowhere")) {
            assert_eq!(ended.code, Some(2), "{ended:?}");
            parts.iter().for_each(|part| assert!(ended.stderr.contains(part), "{ended:?}"));
        } else {
            ended.could_not(parts);
        }
    }
    let absent = place.path().join("absent");
    for command in [
        &["pause"][..],
        &["resume"],
        &["servers"],
        &["explain", "http://a.example/"],
        &["rebuild", "frontier"],
    ] {
        on(&absent, command).could_not(&["it does not exist"]);
    }
    assert!(!absent.exists());
    let wrong: &[(&[&str], &str)] = &[
        (&["crawl", "x", "--scope", "world"], "write `server`, `domain`, `prefix` or `any`"),
        (&["crawl", "x", "--pages", "0"], "--pages"),
        (&["crawl", "x", "--for", "soon"], "--for"),
        (&["crawl", "x", "--policy", "mine"], "write an estimator"),
        (&["crawl", "x", "--every", "1s"], "between 1m and 400d"),
        (&["crawl", "x", "--contact", "me"], "the URL of a page"),
        (&["crawl", "x", "--pause", "1ms"], "from 1s to 1d"),
        (&["crawl", "x", "--allow-address", "home"], "--allow-address"),
        (&["crawl", "x", "--proxy", "nowhere"], "--proxy"),
        (&["crawl", "x", "--metrics", "9090"], "--metrics"),
        (&["crawl", "x", "--language", "japanese"], "is not a language code"),
        (&["add", "x", "--feed", "--news"], "cannot be used with"),
        (&["add", "x", "--priority", "101"], "--priority"),
        (&["explain"], "<URL>"),
        (&["servers", "--limit", "0"], "--limit"),
        (&["pause", "now"], "unexpected argument"),
        (&["rebuild", "everything"], "frontier"),
    ];
    for (arguments, part) in wrong {
        on(&data, arguments).wrong(&[part]);
    }
}

#[test]
fn figures_need_something_to_draw() {
    let place = TempDir::new().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("FORMAT"), crate::program::format_text(1, "public")).unwrap();
    let ended: Ended =
        run(utsushi().arg("--data").arg(&data).args(["status", "--figures", "x"]).current_dir(place.path()));
    ended.could_not(&["nothing has been crawled yet"]);
    assert!(on(&data, &["status"]).done().contains("none yet"));
}
