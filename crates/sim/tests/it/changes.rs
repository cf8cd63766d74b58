//! What is served changes exactly when the truth says so.

use crate::asking::{between, day, get, text, web};
use base::{Interval, PageUrl, Timestamp};
use sim::{ChangeMix, ChangeProcess, Plan, Truth, Web};

const YEAR_DAYS: u64 = 365;

/// The main text of a page as a reader sees it.
fn main_text(body: &str) -> String {
    let mut plain = String::new();
    let mut inside = false;
    for letter in between(body, "<main>", "</main>").chars() {
        match letter {
            '<' => inside = true,
            '>' => inside = false,
            _ if !inside => plain.push(letter),
            _ => {}
        }
    }
    plain
}

/// Body and main text of a page at a moment; nothing when it does not exist.
fn served(web: &Web, truth: &Truth, now: Timestamp) -> Option<(Vec<u8>, String)> {
    let url = web.page_url(truth.server, truth.page, now);
    let answer = get(web, &url, now);
    (answer.status == 200).then(|| (answer.body.clone(), main_text(&text(&answer))))
}

/// Looks at a page just before and just after each of a few changes, and at moments between.
fn check_page(web: &Web, server: u32, page: u64) {
    let truth = web.truth_of(server, page, day(0), day(YEAR_DAYS));
    let second = Interval::from_seconds(1);
    let some = truth.byte_changes.len().div_ceil(12).max(1);
    for pair in truth.byte_changes.windows(2).step_by(some) {
        let at = |moment| served(web, &truth, moment).unwrap();
        let (first, last, next) = (at(pair[0]), at(pair[1].minus(second)), at(pair[1]));
        assert_eq!(first, last, "{} is the same between {} and {}", truth.urls[0], pair[0], pair[1]);
        assert_ne!(last.0, next.0, "{} changes at {}", truth.urls[0], pair[1]);
        let text_changed = truth.text_changes.contains(&pair[1]);
        assert_eq!(last.1 != next.1, text_changed, "{} text at {}", truth.urls[0], pair[1]);
    }
    for n in 0..24 {
        let (now, later) = (day(n * 15), day(n * 15 + 15));
        if let (Some(first), Some(last)) = (served(web, &truth, now), served(web, &truth, later)) {
            let within = |all: &[Timestamp]| all.iter().any(|at| *at > now && *at <= later);
            assert_eq!(first.0 != last.0, within(&truth.byte_changes), "{} {now}", truth.urls[0]);
            assert_eq!(first.1 != last.1, within(&truth.text_changes), "{} {now}", truth.urls[0]);
        }
    }
}

#[test]
fn bytes_and_text_differ_exactly_when_the_truth_says_so() {
    let web = web(2_000, 40);
    for server in 0..40 {
        for page in (0..web.server_pages(server)).step_by(9) {
            check_page(&web, server, page);
        }
    }
}

#[test]
fn a_page_is_there_from_its_birth_to_its_end() {
    let web = web(3_000, 30);
    let second = Interval::from_seconds(1);
    let (mut births, mut deaths) = (0, 0);
    for (server, page) in
        (0..30).flat_map(|server| (0..web.server_pages(server)).map(move |page| (server, page)))
    {
        let truth = web.truth_of(server, page, day(0), day(3_000));
        let status = |now| get(&web, &web.page_url(server, page, now), now).status;
        if truth.born > sim::ORIGIN {
            assert_eq!((status(truth.born.minus(second)), status(truth.born)), (404, 200));
            assert_eq!(truth.byte_changes.first(), Some(&truth.born));
            births += 1;
        }
        if let Some((deleted, gone)) = truth.deleted {
            assert_eq!((status(deleted.minus(second)), status(deleted)), (200, gone));
            assert!(truth.byte_changes.iter().all(|at| *at < deleted));
            deaths += 1;
        }
    }
    assert!(
        (390..510).contains(&births) && (90..180).contains(&deaths),
        "{births} births, {deaths} deaths of 3000"
    );
}

#[test]
fn a_listing_changes_when_what_it_lists_is_born() {
    let web = web(3_000, 10);
    let mut seen = 0;
    for child in 13..web.server_pages(0) {
        let born = web.truth_of(0, child, day(0), day(1)).born;
        if born > sim::ORIGIN {
            let later = born.plus(Interval::from_seconds(1));
            let parent = web.truth_of(0, (child - 1) / 12, born, later);
            assert_eq!(parent.text_changes, [born]);
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn consecutive_versions_differ_in_one_or_two_paragraphs() {
    let process = ChangeProcess::Poisson { mean: Interval::from_days(3) };
    let web = Web::new(Plan { pages: 200, servers: 4, mix: ChangeMix::uniform(process), ..Plan::default() });
    let paragraphs = |now| {
        let truth = web.truth_of(0, 20, now, now);
        let body = text(&get(&web, &truth.urls[0], now));
        let main = between(&body, "<main>", "</main>").to_owned();
        main.split("<p>").skip(1).map(|p| p.split("</p>").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let changes = web.truth_of(0, 20, day(0), day(YEAR_DAYS)).text_changes;
    let mut edits = Vec::new();
    for pair in changes.windows(2) {
        let (before, after) = (paragraphs(pair[0]), paragraphs(pair[1]));
        edits.push(before.iter().zip(&after).filter(|(old, new)| old != new).count());
    }
    assert!(edits.len() > 90 && edits.iter().all(|count| *count <= 2), "{edits:?}");
    assert!(edits.iter().filter(|count| **count == 0).count() < 3, "{edits:?}");
}

#[test]
fn a_uniform_mix_changes_by_its_process_alone() {
    let every = Interval::from_hours(1);
    let web = Web::new(Plan {
        pages: 300,
        servers: 5,
        mix: ChangeMix::uniform(ChangeProcess::Periodic { every }),
        ..Plan::default()
    });
    for page in 0..web.server_pages(1) {
        let truth = web.truth_of(1, page, day(10), day(11));
        assert_eq!(truth.byte_changes.len(), 24);
        assert_eq!(truth.byte_changes, truth.text_changes);
        assert!(truth.byte_changes.windows(2).all(|pair| pair[1].since(pair[0]) == every));
    }
}

#[test]
fn the_next_change_is_the_first_of_the_listing() {
    let web = web(500, 10);
    for page in 0..web.server_pages(0) {
        let url = PageUrl::parse(&web.page_url(0, page, day(5))).unwrap();
        let truth = web.truth(&url, day(5).plus(Interval::from_seconds(1)), day(300)).unwrap();
        let next = web.next_change(&url, day(5), day(300));
        assert_eq!(next, truth.byte_changes.first().copied());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let of = |seed| Web::new(Plan { seed, pages: 1_000, servers: 30, ..Plan::default() });
    let (one, same, other) = (of(1), of(1), of(2));
    for server in 0..30 {
        for page in (0..one.server_pages(server)).step_by(5) {
            let url = one.page_url(server, page, day(50));
            assert_eq!(url, same.page_url(server, page, day(50)));
            assert_eq!(get(&one, &url, day(50)), get(&same, &url, day(50)));
            let url = other.page_url(server, page, day(50));
            assert_ne!(
                get(&other, &url, day(50)).body,
                get(&one, &one.page_url(server, page, day(50)), day(50)).body
            );
        }
    }
}

#[test]
fn a_truth_for_ever_is_bounded() {
    let web = web(500, 10);
    for page in 0..web.server_pages(0) {
        let truth = web.truth_of(0, page, Timestamp::MIN, Timestamp::MAX);
        assert!(truth.byte_changes.len() < 2_000_000);
        assert_eq!(truth.byte_changes.first(), Some(&truth.born));
        let json = web.truth_of(0, page, day(0), day(30)).to_json();
        assert_eq!(json["born"], truth.born.to_rfc3339());
    }
}
