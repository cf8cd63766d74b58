//! Every page can be found by following links, and every link leads somewhere known.

use crate::asking::{day, field, follow, get, hrefs, text, web};
use base::{PageUrl, Timestamp};
use sim::{Plan, Web};
use std::collections::{HashSet, VecDeque};

/// All URLs that answer 200 with HTML, by following links from the home page of server 0.
fn crawl(web: &Web, now: Timestamp) -> HashSet<String> {
    let start = web.page_url(0, 0, now);
    let (mut seen, mut queue) = (HashSet::from([start.clone()]), VecDeque::from([start]));
    let mut pages = HashSet::new();
    while let Some(url) = queue.pop_front() {
        let answer = get(web, &url, now);
        let links = match (answer.status, field(&answer, "Location")) {
            (301, Some(to)) => vec![to.to_owned()],
            (200, _) if field(&answer, "Content-Type").unwrap().starts_with("text/html") => {
                hrefs(&text(&answer), &url)
            }
            (200, _) => continue,
            (status, _) => {
                assert!(is_known_broken(web, &url, status, now), "{status} {url}");
                continue;
            }
        };
        if answer.status == 200 {
            pages.insert(url);
        }
        queue.extend(links.into_iter().filter(|link| seen.insert(link.clone())));
    }
    pages
}

/// A link may lead to a page that was deleted, or whose directory moved without a redirect.
fn is_known_broken(web: &Web, url: &str, status: u16, now: Timestamp) -> bool {
    let truth =
        web.truth(&PageUrl::parse(url).unwrap(), now, now).unwrap_or_else(|| panic!("no page at {url}"));
    truth.deleted.is_some_and(|(at, gone)| at <= now && gone == status)
}

fn existing(web: &Web, now: Timestamp) -> HashSet<String> {
    let numbers = (0..web.plan().servers)
        .flat_map(|server| (0..web.server_pages(server)).map(move |page| (server, page)));
    let exists = |(server, page): &(u32, u64)| {
        let truth = web.truth_of(*server, *page, now, now);
        truth.born <= now && truth.deleted.is_none_or(|(at, _)| at > now)
    };
    numbers.filter(exists).map(|(server, page)| web.page_url(server, page, now)).collect()
}

#[test]
fn every_page_that_exists_is_found_from_the_first_home_page() {
    let web = web(500, 20);
    for now in [day(1), day(400), day(1_000)] {
        let (found, expected) = (crawl(&web, now), existing(&web, now));
        let lost: Vec<_> = expected.difference(&found).collect();
        assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), expected.len());
        // The http form of a page whose server speaks both is the same page.
        let other =
            found.difference(&expected).find(|url| !expected.contains(&url.replace("https:", "http:")));
        assert_eq!(other, None);
    }
    assert!(existing(&web, day(1)).len() < existing(&web, day(1_000)).len());
}

#[test]
fn every_hostile_server_is_linked_from_a_home_page() {
    let web = Web::new(Plan { pages: 100, servers: 10, hostile: 30, ..Plan::default() });
    let mut linked = HashSet::new();
    for server in 0..10 {
        let url = web.page_url(server, 0, day(1));
        linked.extend(hrefs(&text(&follow(&web, &url, day(1))), &url));
    }
    for number in 0..30 {
        let host = sim::hostile::host(number);
        assert!(linked.contains(&format!("http://{host}/")), "{host}");
        assert!(web.address(&host).is_some());
    }
}

#[test]
fn pages_have_the_links_and_the_size_of_real_ones() {
    let web = web(5_000, 50);
    let (mut bytes, mut links, mut count) = (0, 0, 0);
    for (server, page) in
        (0..50).flat_map(|server| (0..web.server_pages(server)).step_by(17).map(move |p| (server, p)))
    {
        let url = web.page_url(server, page, day(30));
        let answer = get(&web, &url, day(30));
        if answer.status == 200 {
            bytes += answer.body.len();
            links += hrefs(&text(&answer), &url).len();
            count += 1;
        }
    }
    let (bytes, links) = (bytes / count, links / count);
    assert!((8_000..16_000).contains(&bytes), "{bytes} bytes");
    assert!((30..80).contains(&links), "{links} links");
}

#[test]
fn every_page_leads_to_its_truth_and_back() {
    let web = web(20_000, 200);
    for server in 0..200 {
        for page in 0..web.server_pages(server) {
            check_both_ways(&web, server, page);
        }
    }
}

#[test]
fn a_million_pages_are_told_apart() {
    let web = web(1_000_000, 10_000);
    let mut chance = base::Chance::new(5);
    for _ in 0..5_000 {
        let server = u32::try_from(chance.below(10_000)).unwrap();
        let page = chance.below(web.server_pages(server));
        check_both_ways(&web, server, page);
    }
}

#[track_caller]
fn check_both_ways(web: &Web, server: u32, page: u64) {
    for now in [day(0), day(2_000)] {
        let url = PageUrl::parse(&web.page_url(server, page, now)).unwrap();
        let truth = web.truth(&url, now, now).unwrap();
        assert_eq!((truth.server, truth.page), (server, page), "{url}");
        assert!(truth.urls.iter().any(|one| one == url.as_str()));
    }
}

#[test]
fn what_is_not_written_by_a_page_is_no_page() {
    let web = web(500, 20);
    let home = web.page_url(0, 0, day(1));
    for wrong in [
        "x",
        "news",
        "page1.html",
        "news/page999999999.html",
        "news/?id=1",
        "news/0/",
        "style-99.css",
        "images/007.png",
        "sitemap-0.xml",
        "%00",
        "//",
        "?",
    ] {
        assert_eq!(get(&web, &format!("{home}{wrong}"), day(1)).status, 404, "{wrong}");
    }
    assert_eq!(get(&web, "http://nobody-1.example/", day(1)).status, 421);
}

#[test]
fn a_directory_that_moved_answers_under_its_new_name() {
    let web = web(20_000, 100);
    let (mut redirects, mut dead) = (0, 0);
    for (server, page) in
        (0..100).flat_map(|server| (1..web.server_pages(server)).step_by(7).map(move |p| (server, p)))
    {
        let truth = web.truth_of(server, page, day(0), day(1));
        let Some(moved) = truth.moved.filter(|at| truth.born < *at && truth.deleted.is_none()) else {
            continue;
        };
        let before = moved.minus(base::Interval::from_seconds(1));
        let [old, new] = &truth.urls;
        assert_ne!(old, new);
        assert_eq!((get(&web, old, before).status, get(&web, new, before).status), (200, 404));
        assert_eq!(get(&web, new, moved).status, 200);
        let answer = get(&web, old, moved);
        match answer.status {
            301 => assert_eq!(field(&answer, "Location"), Some(new.as_str())),
            status => assert_eq!(status, 404),
        }
        if answer.status == 301 { redirects += 1 } else { dead += 1 }
    }
    assert!(redirects > 20 && dead > 20, "{redirects} {dead}");
}
