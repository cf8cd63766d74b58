//! What all hostile servers have in common, and the fault of each.

use super::*;
use base::url::Scheme;
use std::collections::HashSet;

const NOW: Timestamp = crate::ORIGIN;

fn ask(number: u32, target: &str, now: Timestamp) -> WebResponse {
    let host = host(number);
    let request = WebRequest {
        scheme: Scheme::Http,
        host: &host,
        target,
        head_only: false,
        if_none_match: None,
        if_modified_since: None,
        accepts_gzip: true,
    };
    answer(7, number, &request, now)
}

/// One of each kind.
#[expect(clippy::cast_possible_truncation, reason = "there are few kinds")]
const ALL: u32 = HostileKind::ALL.len() as u32;

/// The number of the first server of a kind.
fn first(kind: HostileKind) -> u32 {
    (0..ALL).find(|number| super::kind(*number) == kind).unwrap()
}

fn links(answer: &WebResponse) -> Vec<String> {
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let hrefs = text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    hrefs.collect()
}

fn field<'a>(answer: &'a WebResponse, name: &str) -> Option<&'a str> {
    answer.fields.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str())
}

#[test]
fn every_server_has_an_honest_home_that_leads_to_pages() {
    for number in 0..ALL {
        let home = ask(number, "/", NOW);
        assert_eq!((home.status, &home.delivery), (200, &DeliveryMode::Plain), "{}", host(number));
        let links: Vec<String> = links(&home).into_iter().filter(|link| link != "/").collect();
        assert!(links.len() >= 3, "{}: {links:?}", host(number));
        for link in links.into_iter().filter(|link| link.starts_with('/')) {
            let status = ask(number, &link, NOW).status;
            assert!(matches!(status, 200 | 302 | 429 | 503), "{}{link} {status}", host(number));
        }
        assert_eq!(ask(number, "/no-such-page", NOW).status, 404, "{}", host(number));
    }
}

#[test]
fn even_one_crowd_is_many_names_on_one_address() {
    let web = crate::Web::new(crate::Plan { hostile: ALL, ..crate::Plan::default() });
    let crowd = first(HostileKind::Crowd);
    let address = web.address(&host(crowd)).unwrap();
    let pages = links(&ask(crowd, "/", NOW)).into_iter().filter_map(|link| base::PageUrl::parse(&link).ok());
    let names: HashSet<String> = pages.map(|page| page.host().to_owned()).collect();
    assert_eq!(names.len(), CROWD_NAMES as usize);
    assert!(names.iter().all(|name| web.address(name) == Some(address)), "{names:?}");
    assert_eq!(super::number("crowd-00013-99.example", ALL), None);
}

#[test]
fn answers_depend_on_nothing_else() {
    for number in 0..2 * ALL {
        for link in links(&ask(number, "/", NOW)) {
            assert!(ask(number, &link, NOW) == ask(number, &link, NOW), "{}{link}", host(number));
        }
    }
}

#[test]
fn names_lead_back_to_numbers() {
    for number in 0..200 {
        assert_eq!(super::number(&host(number), 200), Some(number));
        assert_eq!(super::number(&host(number), number), None);
    }
    for name in ["", "slow.example", "slow-1.example", "hang-00000.example", "slow-00000.example.com"] {
        assert_eq!(super::number(name, 200), None, "{name}");
    }
}

#[test]
fn robots_files_answer_except_where_they_are_the_fault() {
    for number in 0..ALL {
        let broken = kind(number) == HostileKind::RobotsBroken;
        let status = ask(number, "/robots.txt", NOW).status;
        assert_eq!(status >= 500, broken, "{}: {status}", host(number));
        assert_eq!(robots_allows(number, "/"), !broken);
        assert!(!robots_allows(number, "/private/"));
    }
}

#[test]
fn redirects_go_in_circles_and_ever_on() {
    let number = first(HostileKind::RedirectLoop);
    let to = |path: &str| field(&ask(number, path, NOW), "Location").map(ToOwned::to_owned);
    assert_eq!(to("/self").as_deref(), Some("/self"));
    assert_eq!(to("/a").as_deref(), Some("/b"));
    assert_eq!(to("/b").as_deref(), Some("/a"));
    assert_eq!(to("/r/41").as_deref(), Some("/r/42"));
    assert_eq!(to("/longer?x").as_deref(), Some("/longer?xx"));
    assert_eq!(to("/nowhere"), None);
    assert_eq!(to("/scheme"), Some(format!("https://{}/scheme", host(number))));
}

#[test]
fn a_calendar_leads_to_ever_new_days() {
    let number = first(HostileKind::Calendar);
    let mut seen = HashSet::new();
    let mut at = "/calendar/2026/01/01".to_owned();
    for _ in 0..400 {
        let page = ask(number, &at, NOW);
        assert_eq!(page.status, 200);
        assert!(seen.insert(at.clone()), "{at}");
        at = links(&page)[2].clone();
    }
    assert_eq!(at, "/calendar/2027/02/05");
    assert_eq!(ask(number, "/calendar/2026/02/30", NOW).status, 404);
}

#[test]
fn session_ids_are_new_at_every_look_and_the_pages_are_not() {
    for number in [first(HostileKind::SessionIds), first(HostileKind::SessionIds) + ALL] {
        let (one, later) =
            (ask(number, "/", NOW), ask(number, "/", NOW.plus(base::Interval::from_seconds(1))));
        let keys = |answer: &WebResponse| {
            let page = base::PageUrl::parse(&format!("http://{}/", host(number))).unwrap();
            links(answer)
                .iter()
                .map(|link| page.join(link).unwrap().key().as_str().to_owned())
                .collect::<Vec<_>>()
        };
        assert!(links(&one).iter().any(|link| link.contains(";jsessionid=")), "{:?}", links(&one));
        assert!(links(&one).iter().any(|link| link.contains("?sid=")), "{:?}", links(&one));
        assert_ne!(links(&one), links(&later));
        assert_eq!(keys(&one), keys(&later), "the same pages by their keys");
        assert_eq!(ask(number, &links(&one)[0], NOW).status, 200);
    }
}

/// Walks a trap breadth first; returns the distinct responses and targets seen within the number of requests.
fn walk(kind: HostileKind, requests: usize) -> (HashSet<String>, HashSet<String>) {
    let number = first(kind);
    let home = base::PageUrl::parse(&format!("http://{}/", host(number))).unwrap();
    let mut waiting = std::collections::VecDeque::from([home.clone()]);
    let mut targets = HashSet::from([home.target().to_owned()]);
    let mut titles = HashSet::new();
    for _ in 0..requests {
        let Some(page) = waiting.pop_front() else { break };
        let answer = ask(number, page.target(), NOW);
        assert_eq!(answer.status, 200, "{}", page.target());
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        titles.insert(text.split("<title>").nth(1).unwrap().split("</title>").next().unwrap().to_owned());
        for link in links(&answer) {
            let link = page.join(&link.replace("&amp;", "&")).unwrap();
            if link.target() != "/private/" && targets.insert(link.target().to_owned()) {
                waiting.push_back(link);
            }
        }
    }
    assert!(!waiting.is_empty(), "{kind:?} ends");
    (titles, targets)
}

#[test]
fn a_maze_has_names_without_number_for_a_few_pages() {
    let (titles, targets) = walk(HostileKind::PathEcho, 2_000);
    assert_eq!(titles.len() as u64, HostileKind::PathEcho.pages().unwrap());
    assert!(targets.contains("/docs/guide/docs/guide/"));
    let (titles, targets) = walk(HostileKind::Facets, 5_000);
    assert_eq!(titles.len() as u64, HostileKind::Facets.pages().unwrap());
    let both = |one: &str, other: &str| targets.contains(&format!("/shop?{one}&{other}"));
    assert!(both("colour=blue", "size=s") && both("size=s", "colour=blue"), "in any order");
    let (titles, targets) = walk(HostileKind::Paging, 3_000);
    let empty = |target: &&String| {
        target.strip_prefix("/list?page=").is_some_and(|page| page.parse::<u64>().unwrap() > 40)
    };
    assert_eq!(titles.len() as u64, 2 + 200);
    assert!(targets.iter().filter(empty).count() > 2_000);
    let (titles, targets) = walk(HostileKind::Listing, 2_000);
    assert_eq!((titles.len() as u64, targets.len()), (HostileKind::Listing.pages().unwrap(), 1 + 12 * 2_000));
}

#[test]
fn who_asks_a_maze_for_what_it_never_links_to_finds_nothing() {
    for (kind, target) in [
        (HostileKind::PathEcho, "/docs/elsewhere/"),
        (HostileKind::PathEcho, "/docs"),
        (HostileKind::Facets, "/shop?colour=purple"),
        (HostileKind::Facets, "/shop?colour=red&colour=red"),
        (HostileKind::Facets, "/product/30"),
        (HostileKind::Paging, "/list?page=0"),
        (HostileKind::Paging, "/entry/200"),
        (HostileKind::Listing, "/topic/A/"),
    ] {
        assert_eq!(ask(first(kind), target, NOW).status, 404, "{target}");
    }
}

#[test]
fn a_busy_server_says_for_how_long_and_recovers() {
    let number = first(HostileKind::TooMany);
    let mut forms = HashSet::new();
    let mut fine = 0;
    for minute in 0..200 {
        let now = NOW.plus(base::Interval::from_minutes(minute));
        let answer = ask(number, "/item/3", now);
        let Some(wait) = field(&answer, "Retry-After") else {
            fine += 1;
            continue;
        };
        let date = wait.parse::<u64>().is_err();
        let until = if date {
            Timestamp::parse_http_date(wait).unwrap()
        } else {
            now.plus(base::Interval::from_seconds(wait.parse().unwrap()))
        };
        assert!(until > now && until.since(now) <= base::Interval::from_minutes(1));
        forms.insert((answer.status, date));
    }
    assert_eq!(forms.len(), 4, "both statuses in both forms: {forms:?}");
    assert!((100..170).contains(&fine), "{fine}");
}

#[test]
fn wrong_lengths_err_on_both_sides() {
    let number = first(HostileKind::WrongLength);
    let (long, short) = (ask(number, "/long", NOW), ask(number, "/short", NOW));
    assert!(matches!(long.delivery, DeliveryMode::WrongLength(n) if n > long.body.len() as u64));
    assert!(matches!(short.delivery, DeliveryMode::WrongLength(n) if n < short.body.len() as u64));
}

#[test]
fn japanese_is_written_as_no_label_says() {
    let number = first(HostileKind::WrongCharset);
    let shift_jis = ask(number, "/text/0", NOW);
    assert_eq!(field(&shift_jis, "Content-Type"), Some("text/html; charset=UTF-8"));
    let (text, _, bad) = encoding_rs::SHIFT_JIS.decode(&shift_jis.body);
    assert!(!bad && text.contains("江戸時代の地図"));
    let iso = ask(number, "/text/6", NOW);
    assert!(iso.body.is_ascii() && iso.body.windows(3).any(|bytes| bytes == b"\x1b$B"));
}
