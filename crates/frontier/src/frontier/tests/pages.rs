//! What one page learns from its captures.

use super::*;

#[test]
fn imported_captures_become_estimates_and_old_ones_fold_the_page_again() {
    let mut frontier = open(&SimulatedDisk::new(1), settings(), START);
    let page = url("http://a.example/");
    let at = |days: u64| START.minus(Interval::from_days(1_000)).plus(Interval::from_days(days));
    let content = |number: u8| VisitResult::Content([number; 16]);
    frontier.know(&[(page.clone(), at(0))]).unwrap();
    let visits = [(0, 1), (10, 1), (20, 2), (30, 2), (40, 3)];
    let lessons: Vec<_> =
        visits.iter().map(|(day, version)| lesson(&page, at(*day), content(*version), &[])).collect();
    for lesson in lessons.iter().skip(1) {
        assert_eq!(frontier.learn(lesson).unwrap(), LearnResult::Learned);
    }
    let late = frontier.explain(&page, START).unwrap();
    assert_eq!((late.visits, late.changes), (4, 2));
    assert_eq!(frontier.learn(&lessons[0]).unwrap(), LearnResult::Outdated);
    assert_eq!(frontier.refold(&lessons).unwrap(), LearnResult::Learned);
    let anew = frontier.explain(&page, START).unwrap();
    assert_eq!((anew.visits, anew.changes, anew.elapsed), (5, 2, Interval::from_days(40)));
    // 10 d / ln(40/20)
    assert_eq!(anew.estimate.unwrap().as_seconds() / 86_400, 14);
    assert_eq!(
        frontier.learn(&lessons[4]).unwrap(),
        LearnResult::Learned,
        "what was learned changes nothing"
    );
    assert_eq!(frontier.explain(&page, START).unwrap(), anew);
    let servers = frontier.servers(START);
    assert_eq!((servers[0].pages, servers[0].new), (1, 0));
}

#[test]
fn feeds_are_visited_daily_and_requisites_rarely() {
    for (role, from, to) in [(Role::Feed, 0, 1), (Role::News, 0, 1), (Role::Requisite, 7, 400)] {
        let mut frontier = open(&SimulatedDisk::new(1), settings(), START);
        let page = url("http://a.example/x");
        frontier.add(&[FoundUrl { url: page.clone(), role, announced: None }], 0, START).unwrap();
        frontier.settle(START).unwrap();
        for visit in 0..20 {
            let at = START.plus(Interval::from_days(30 * visit));
            frontier.learn(&lesson(&page, at, VisitResult::Content([1; 16]), &[])).unwrap();
        }
        let interval = frontier.explain(&page, START).unwrap().interval.unwrap();
        assert!(
            interval >= Interval::from_days(from) && interval <= Interval::from_days(to),
            "{role:?} {interval}"
        );
    }
}

#[test]
fn an_unchanging_requisite_is_visited_more_and_more_rarely_outside_the_budget() {
    let policy = RevisitPolicy { every: Interval::from_days(30), ..RevisitPolicy::default() };
    let mut frontier = open_by(policy, &SimulatedDisk::new(1), settings(), START);
    let image = url("http://a.example/x.png");
    frontier
        .add(&[FoundUrl { url: image.clone(), role: Role::Requisite, announced: None }], 0, START)
        .unwrap();
    frontier.settle(START).unwrap();
    let (mut at, mut waits) = (START, Vec::new());
    for digest in [1, 1, 1, 1, 1, 1, 2] {
        frontier.learn(&lesson(&image, at, VisitResult::Content([digest; 16]), &[])).unwrap();
        let wait = frontier.explain(&image, at).unwrap().interval.unwrap();
        waits.push(wait.as_seconds() / 86_400);
        at = at.plus(wait);
    }
    assert_eq!(waits[..6], [30, 60, 120, 240, 400, 400]);
    assert!(waits[6] >= 7, "{waits:?}");
    assert!(frontier.servers(at)[0].load == 0.0, "it is no part of the budget of pages");
}

#[test]
fn a_requisite_outside_the_scope_leads_only_to_requisites() {
    let mut scope = CrawlScope::new(Mode::Server, vec!["never visit ending .mp4".parse().unwrap()]);
    scope.add_seed(&url("http://a.example/"));
    let mut frontier = open(&SimulatedDisk::new(1), Settings { scope, ..settings() }, START);
    let (page, sheet, stranger) =
        (url("http://a.example/"), url("http://b.example/x.css"), url("http://c.example/"));
    frontier.know(&[(page.clone(), START), (stranger.clone(), START)]).unwrap();
    let requisite = |text: &str| FoundUrl { role: Role::Requisite, ..FoundUrl::page(url(text)) };
    let mut teach = |from: &PageUrl, links: &[FoundUrl]| {
        frontier.learn(&lesson(from, START.plus(PAUSE), VisitResult::Content([1; 16]), links)).unwrap();
        frontier.settle(START.plus(PAUSE)).unwrap();
        links.iter().map(|link| frontier.knows(&link.url).unwrap()).collect::<Vec<bool>>()
    };
    let on_page = [
        requisite(sheet.as_str()),
        FoundUrl::page(url("http://b.example/page")),
        requisite("http://b.example/x.mp4"),
    ];
    assert_eq!(teach(&page, &on_page), [true, false, false], "scope and rules");
    let on_sheet = [requisite("http://d.example/font"), FoundUrl::page(url("http://b.example/other"))];
    assert_eq!(teach(&sheet, &on_sheet), [true, false], "a style sheet leads to its font and to no page");
    assert_eq!(
        teach(&stranger, &[requisite("http://c.example/x.png")]),
        [false],
        "it is no page of the crawl"
    );
}

#[test]
fn a_change_beside_the_main_text_does_not_shorten_the_interval() {
    let mut frontier = open(&SimulatedDisk::new(1), settings(), START);
    let page = url("http://a.example/");
    frontier.know(&[(page.clone(), START)]).unwrap();
    for visit in 0..5_u8 {
        let at = START.plus(Interval::from_days(visit.into()));
        let text = Some(TextFeatures { main: 7, features: &[] });
        let lesson = Lesson { text, ..lesson(&page, at, VisitResult::Content([visit; 16]), &[]) };
        frontier.learn(&lesson).unwrap();
    }
    let told = frontier.explain(&page, START).unwrap();
    assert_eq!((told.visits, told.changes, told.interval), (5, 0, Some(Interval::from_days(2))));
}

#[test]
fn a_redirect_loop_of_a_page_ends() {
    let other = |at: &PageUrl, _: Timestamp| {
        let scheme = if at.scheme() == base::url::Scheme::Http {
            base::url::Scheme::Https
        } else {
            base::url::Scheme::Http
        };
        (301, vec![at.with_scheme(scheme)], Vec::new())
    };
    let mut world = World::new(settings(), other);
    world.add(&["http://a.example/"]);
    world.run(Interval::from_days(60));
    assert!(world.visits.len() < 40, "{}", world.visits.len());
}

#[test]
fn no_page_is_due_before_its_interval_has_passed() {
    for second in [0, 1, 30, 59] {
        let mut frontier = open(&SimulatedDisk::new(1), settings(), START);
        let page = url("http://a.example/");
        frontier.know(&[(page.clone(), START)]).unwrap();
        let mut at = START.plus(Interval::from_seconds(second));
        for visit in 0..30_u8 {
            frontier.learn(&lesson(&page, at, VisitResult::Content([visit; 16]), &[])).unwrap();
            let told = frontier.explain(&page, at).unwrap();
            let wait = told.next_due.unwrap().since(at);
            assert!(wait >= told.interval.unwrap() && wait >= Interval::from_minutes(1), "{wait} {told:?}");
            at = at.plus(wait).plus(Interval::from_seconds(second));
        }
    }
}
