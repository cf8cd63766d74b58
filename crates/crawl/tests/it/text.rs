//! Distinguishing changes of the main text from changes around it, against the truth of the simulated web (C3).
//!
//! Every page is read by the crawler's code, at pairs of moments a second to half a year apart. Among the pairs whose
//! bytes differ the verdict is compared with the truth, by kind of page and by what changed.

mod crawled;
mod tally;

use crate::rig::reads;
use base::{Chance, Interval, PageUrl, Timestamp};
use crawl::{Findings, ReadOptions};
use sim::{ORIGIN, Plan, Truth, Web, WebRequest};
use tally::{Part, Tally};

/// How far apart the two moments of a pair are; the first is as near as changes can be.
const APART: [Interval; 5] = [
    Interval::from_seconds(1),
    Interval::from_hours(3),
    Interval::from_days(1),
    Interval::from_days(14),
    Interval::from_days(180),
];
/// How long the pages are looked at.
const DAYS: u64 = 800;

/// A page at a moment.
struct Seen {
    body: Vec<u8>,
    findings: Findings,
}

fn see(web: &Web, reads: &ReadOptions, url: &PageUrl, at: Timestamp) -> Option<Seen> {
    let asked = WebRequest {
        scheme: url.scheme(),
        host: url.host(),
        target: url.target(),
        head_only: false,
        if_none_match: None,
        if_modified_since: None,
        accepts_gzip: false,
    };
    let answer = web.answer(&asked, at);
    let content_type = answer.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let content_type = content_type.map(|(_, value)| value.as_str());
    let body = reads.parser().parse(url, content_type, &answer.body);
    let findings = reads.findings(url, b"", Some(&body));
    (answer.status == 200).then_some(Seen { body: answer.body, findings })
}

/// The moments at which a page is looked at: around changes of its bytes, and at any time.
fn pairs(truth: &Truth, chance: &mut Chance) -> Vec<(Timestamp, Timestamp)> {
    let changes = &truth.byte_changes;
    let near = changes.iter().step_by(1 + changes.len() / 3).map(|at| (at.minus(APART[0]), *at));
    let end = ORIGIN.plus(Interval::from_days(DAYS));
    let far = APART.iter().skip(1).map(|apart| {
        let seconds = Interval::from_days(DAYS).as_seconds() - apart.as_seconds();
        let first = ORIGIN.plus(Interval::from_seconds(chance.below(seconds)));
        (first, first.plus(*apart))
    });
    near.chain(far).filter(|(_, then)| *then < end).collect()
}

/// Whether the main text changed after `from`, until `to`.
fn has_changed(truth: &Truth, from: Timestamp, to: Timestamp) -> bool {
    truth.text_changes.iter().any(|at| *at > from && *at <= to)
}

fn judge(web: &Web, pages_a_server: u64) -> Tally {
    let (reads, mut chance, mut tally) = (reads(), Chance::new(11), Tally::default());
    let end = ORIGIN.plus(Interval::from_days(DAYS));
    for server in 0..web.plan().servers {
        let language = web.server_truth(&web.host(server)).unwrap().language;
        let pages = web.server_pages(server);
        // The home page, the sections, and leaves from all over the server.
        let step = (pages / pages_a_server).max(1);
        for page in (0..pages.min(4)).chain((4..pages).step_by(usize::try_from(step).unwrap())) {
            let truth = web.truth_of(server, page, ORIGIN, end);
            let url = PageUrl::parse(&truth.urls[0]).unwrap();
            for (first, then) in pairs(&truth, &mut chance) {
                let seen = [first, then].map(|at| see(web, &reads, &url, at));
                let [Some(before), Some(after)] = seen else { continue };
                if before.body == after.body {
                    assert!(!has_changed(&truth, first, then), "{url} at {then}: changes show");
                    assert_eq!(before.findings.main, after.findings.main);
                    continue;
                }
                let is_changed = has_changed(&truth, first, then);
                // As a page's state learns it: a text that is not there is never the same.
                let is_said = before.findings.main.is_none() || before.findings.main != after.findings.main;
                let place = place(page, pages);
                let part = Part::that_differs(&before.body, &after.body);
                tally.count(is_changed, is_said, &[truth.process.as_str(), place, language, part.as_str()]);
                if is_changed != is_said {
                    tally.keep(format!("{url} {first} {then} {part:?}: truth {is_changed}, said {is_said}"));
                }
            }
        }
    }
    tally
}

fn place(page: u64, pages: u64) -> &'static str {
    match page {
        0 => "home",
        1..=12 => "section",
        _ if page * 12 + 1 < pages => "inner page",
        _ => "leaf",
    }
}

#[test]
fn changes_of_the_text_are_distinguished_from_changes_around_it() {
    let web = Web::new(Plan { seed: 3, pages: 8_000, servers: 150, ..Plan::default() });
    let tally = judge(&web, 12);
    println!("{tally}");
    let all = tally.all();
    assert!(all.changed() > 2_000 && all.beside() > 1_000, "{tally}");
    assert!(all.precision() >= 0.99 && all.recall() >= 0.99, "{tally}");
    for kind in ["ja", "en", "poisson", "periodic", "bursty", "home", "section", "inner page", "leaf"] {
        let counts = tally.of(kind);
        assert!(counts.precision() >= 0.95 && counts.recall() >= 0.95, "{kind}: {tally}");
    }
    for kind in ["advert only", "never", "advert", "date", "template", "links around"] {
        assert!(tally.of(kind).beside_share() >= 0.95, "{kind}: {tally}");
    }
}
