//! The queue against servers made up on the spot, watched by an observer that knows only what was handed out.

use super::*;
use base::Chance;
use base::door::{Cause, Phase, Truncation};
use std::net::IpAddr;
use std::time::Duration;

const PAUSE: Interval = Interval::from_seconds(10);
const START: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");

fn queue() -> Queue {
    Queue::new(QueueSettings {
        pause: PAUSE,
        revisit_after: Interval::from_hours(1),
        pages_max: 1_000,
        agent: "utsushi".to_owned(),
        start: START,
        opt_out: Arc::default(),
    })
}

/// A queue that leaves alone whom these lines say.
fn queue_without(list: &str) -> Queue {
    let mut queue = queue();
    queue.settings.opt_out = Arc::new(opt_out::List::parse(list).unwrap());
    queue
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn found(address: &str) -> Done {
    let addresses = vec![address.parse().unwrap()];
    Done::LookedUp(Ok(Found { addresses, lifetime: Interval::from_days(1) }))
}

fn fetched() -> Outcome {
    Outcome::Fetched { status: 200, content: None, truncated: None }
}

/// The end of a robots request.
fn robots(outcome: Outcome, text: Option<&str>) -> Done {
    let answer = Answer::read(&outcome, text.map(str::as_bytes), "utsushi");
    Done::Robots(outcome, answer)
}

fn file(text: &str) -> Done {
    robots(fetched(), Some(text))
}

fn moved(target: &str) -> Outcome {
    Outcome::Moved { status: 301, target: Some(url(target)) }
}

fn visited(outcome: Outcome) -> Done {
    Done::Visited(outcome, Vec::new())
}

fn no_answer() -> Failure {
    Failure::new(Phase::Connect, Cause::Broken("refused".to_owned()), Duration::ZERO)
}

#[track_caller]
fn task(queue: &mut Queue, now: Timestamp) -> Task {
    match queue.next(now) {
        Next::Do(task) => task,
        other => panic!("nothing to do at {now}: {other:?}"),
    }
}

/// Takes a server through its look-up; the request for its robots file.
fn asked_for_rules(queue: &mut Queue) -> Task {
    let look_up = task(queue, START);
    assert!(matches!(look_up.step, Step::LookUp(..)));
    queue.done(&look_up, found("127.0.0.1:80"), Interval::ZERO, START);
    let ask = task(queue, START);
    assert!(matches!(&ask.step, Step::Robots(_, request) if request.url.path() == "/robots.txt"));
    ask
}

/// Takes a server through its look-up and its robots file, and returns the moment of its first visit.
fn prepare(queue: &mut Queue, robots: &str) -> Timestamp {
    let ask = asked_for_rules(queue);
    queue.done(&ask, file(robots), Interval::ZERO, START);
    match queue.next(START) {
        Next::Wait(at) => at,
        other => panic!("a request right after the robots file: {other:?}"),
    }
}

#[test]
fn a_server_is_looked_up_then_asked_for_its_rules_then_visited() {
    let mut queue = queue();
    assert!(queue.offer(url("http://a.example/x")));
    assert!(!queue.offer(url("https://a.example/x")), "one page for both schemes");
    let at = prepare(&mut queue, "");
    assert_eq!(at, START.plus(PAUSE));
    let visit = task(&mut queue, at);
    assert!(
        matches!(&visit.step, Step::Visit(_, _, request) if request.url.as_str() == "http://a.example/x")
    );
    assert!(matches!(queue.next(at.plus(PAUSE)), Next::Idle), "one request at a time");
    queue.done(&visit, visited(fetched()), Interval::ZERO, at);
    let next = at.plus(Interval::from_hours(1));
    assert!(matches!(queue.next(at), Next::Wait(until) if until == next), "it is revisited in its turn");
    assert!(matches!(task(&mut queue, next).step, Step::Visit(..)));
}

#[test]
fn what_robots_forbid_is_not_asked_for() {
    let mut queue = queue();
    queue.offer(url("http://a.example/private/x"));
    let refusal = {
        let ask = asked_for_rules(&mut queue);
        queue.done(&ask, file("User-agent: *\nDisallow: /private/"), Interval::ZERO, START);
        task(&mut queue, START.plus(PAUSE))
    };
    assert!(matches!(&refusal.step, Step::Refuse(_, _, Refusal::Robots(line)) if line.contains("/private/")));
    queue.done(&refusal, Done::Refused, Interval::ZERO, START.plus(PAUSE));
    let again = START.plus(PAUSE).plus(Interval::from_days(1));
    assert!(matches!(queue.next(START.plus(PAUSE)), Next::Wait(at) if at == again));
    assert!(matches!(task(&mut queue, again).step, Step::LookUp(..)), "a day later it is judged anew");
}

#[test]
fn robots_that_cannot_be_had_forbid_everything() {
    for outcome in [
        Outcome::Failed { status: 503, retry_after: None },
        Outcome::Failed { status: 429, retry_after: None },
        Outcome::Unreachable(no_answer()),
        Outcome::Moved { status: 301, target: None },
        Outcome::NotModified,
        fetched(),
        Outcome::Fetched { status: 200, content: None, truncated: Some(Truncation::Disconnect) },
    ] {
        let mut queue = queue();
        queue.offer(url("http://a.example/x"));
        let ask = asked_for_rules(&mut queue);
        let text = matches!(&outcome, Outcome::Fetched { truncated: Some(_), .. }).then_some("");
        queue.done(&ask, robots(outcome, text), Interval::ZERO, START);
        let later = START.plus(Interval::from_minutes(20));
        let refusal = task(&mut queue, later);
        assert!(matches!(refusal.step, Step::Refuse(_, _, Refusal::RobotsUnreachable)));
        queue.done(&refusal, Done::Refused, Interval::ZERO, later);
        queue.offer(url("http://a.example/y"));
        let again = START.plus(Interval::from_hours(1));
        assert!(
            matches!(queue.next(later), Next::Wait(at) if at == again),
            "the rest waits for the next try"
        );
        let ask = task(&mut queue, again);
        queue.done(&ask, file(""), Interval::ZERO, again);
        let mut left = Vec::new();
        for n in 1..=2 {
            let now = again.plus(PAUSE.times(f64::from(n)));
            let visit = task(&mut queue, now);
            let Step::Visit(_, _, request) = &visit.step else { panic!("a visit is due: {visit:?}") };
            left.push(request.url.path().to_owned());
            queue.done(&visit, visited(fetched()), Interval::ZERO, now);
        }
        assert_eq!(left, ["/y", "/x"], "what was refused meanwhile is judged anew");
    }
}

#[test]
fn robots_that_do_not_exist_forbid_nothing() {
    for outcome in [Outcome::Gone { status: 404 }, Outcome::Failed { status: 403, retry_after: None }] {
        let mut queue = queue();
        queue.offer(url("http://a.example/x"));
        let ask = asked_for_rules(&mut queue);
        queue.done(&ask, robots(outcome, None), Interval::ZERO, START);
        assert!(matches!(task(&mut queue, START.plus(PAUSE)).step, Step::Visit(..)));
    }
}

#[test]
fn robots_are_asked_for_where_the_server_itself_sends_us() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    let ask = asked_for_rules(&mut queue);
    queue.done(&ask, robots(moved("https://a.example/robots.txt"), None), Interval::ZERO, START);
    let later = START.plus(PAUSE);
    let look_up = task(&mut queue, later);
    assert!(matches!(&look_up.step, Step::LookUp(_, _, origin) if origin.scheme == Scheme::Https));
    queue.done(&look_up, found("127.0.0.1:443"), Interval::ZERO, later);
    let ask = task(&mut queue, later);
    assert!(matches!(&ask.step, Step::Robots(to, _) if to.port() == 443));
}

#[test]
fn who_opted_out_is_neither_looked_up_nor_asked() {
    let mut queue = queue_without(".a.example # by letter\n127.0.0.9");
    queue.offer(url("http://www.a.example/x"));
    let refusal = task(&mut queue, START);
    let Step::Refuse(Some(_), _, Refusal::OptOut(line)) = &refusal.step else { panic!("{refusal:?}") };
    assert_eq!(line, "line 1: `.a.example`");
    queue.done(&refusal, Done::Refused, Interval::ZERO, START);
    let later = START.plus(Interval::from_days(300));
    assert!(matches!(queue.next(later), Next::Wait(Timestamp::MAX)), "the list does not change");
    queue.offer(url("http://b.example/"));
    let look_up = task(&mut queue, later);
    assert!(matches!(look_up.step, Step::LookUp(..)));
    queue.done(&look_up, found("127.0.0.9:80"), Interval::ZERO, later);
    let refusal = task(&mut queue, later);
    assert!(
        matches!(refusal.step, Step::Refuse(Some(_), _, Refusal::OptOut(_))),
        "no robots file is asked for"
    );
}

#[test]
fn pages_that_were_queued_or_known_before_are_judged_by_the_list_of_today() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    queue.recall(Before { url: url("http://a.example/old"), at: START });
    let at = prepare(&mut queue, "");
    queue.settings.opt_out = Arc::new(opt_out::List::parse("a.example").unwrap());
    for now in [at, at.plus(Interval::from_hours(2))] {
        let refusal = task(&mut queue, now);
        assert!(matches!(refusal.step, Step::Refuse(Some(_), _, Refusal::OptOut(_))), "{refusal:?}");
        queue.done(&refusal, Done::Refused, Interval::ZERO, now);
    }
}

#[test]
fn crawl_delay_and_retry_after_lengthen_the_pause() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    queue.offer(url("http://a.example/y"));
    let at = prepare(&mut queue, "User-agent: *\nCrawl-delay: 60");
    assert_eq!(at, START.plus(Interval::from_seconds(60)));
    let visit = task(&mut queue, at);
    let asked = Some(Interval::from_minutes(7));
    queue.done(&visit, visited(Outcome::Failed { status: 429, retry_after: asked }), Interval::ZERO, at);
    assert!(matches!(queue.next(at), Next::Wait(until) if until == at.plus(Interval::from_minutes(7))));
}

#[test]
fn a_slow_server_gets_as_much_rest_as_it_took() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    queue.offer(url("http://a.example/y"));
    let at = prepare(&mut queue, "");
    let visit = task(&mut queue, at);
    queue.done(&visit, visited(fetched()), Interval::from_minutes(2), at);
    assert!(matches!(queue.next(at), Next::Wait(until) if until == at.plus(Interval::from_minutes(2))));
}

#[test]
fn survives_h4_redirects_that_lead_ever_on() {
    let mut queue = queue();
    queue.offer(url("http://a.example/0"));
    let mut at = prepare(&mut queue, "");
    let mut visits = 0;
    // Pages are visited again after an hour.
    while at < START.plus(Interval::from_minutes(59)) {
        match queue.next(at) {
            Next::Do(visit) => {
                visits += 1;
                let on = visited(moved(&format!("http://a.example/{visits}")));
                queue.done(&visit, on, Interval::ZERO, at);
            }
            Next::Wait(until) => at = until,
            Next::Idle => break,
        }
    }
    assert_eq!(visits, 1 + REDIRECTS_MAX);
    assert_eq!(queue.counts().3, 1, "the last one is dropped openly");
    assert!(queue.offer(url("http://a.example/elsewhere")), "what is found by a link begins anew");
}

#[test]
fn a_page_held_back_by_a_proxy_keeps_its_turn() {
    let mut queue = queue();
    queue.offer(url("http://a.example/first"));
    queue.offer(url("http://a.example/second"));
    let at = prepare(&mut queue, "");
    let visit = task(&mut queue, at);
    let wait = Interval::from_minutes(3);
    let held = Outcome::Refused(Refusal::Proxy { reason: "too soon".to_owned(), retry_after: Some(wait) });
    queue.done(&visit, visited(held), Interval::ZERO, at);
    assert!(matches!(queue.next(at), Next::Wait(until) if until == at.plus(wait)));
    let again = task(&mut queue, at.plus(wait));
    assert!(
        matches!(&again.step, Step::Visit(_, _, request) if request.url == url("http://a.example/first"))
    );
    assert_eq!(queue.counts().2, 1, "only the second one waits");
}

#[test]
fn a_page_moves_to_the_scheme_its_server_sends_it_to() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    let at = prepare(&mut queue, "");
    let visit = task(&mut queue, at);
    let target = Some(url("https://a.example/x"));
    queue.done(&visit, visited(Outcome::Moved { status: 301, target }), Interval::ZERO, at);
    let look_up = task(&mut queue, at.plus(PAUSE));
    assert!(matches!(&look_up.step, Step::LookUp(_, _, origin) if origin.scheme == Scheme::Https));
    assert_eq!(queue.counts().1, 1, "it is still one page");
}

#[test]
fn a_page_that_is_sent_in_circles_lets_others_pass() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    queue.offer(url("http://a.example/y"));
    let mut now = prepare(&mut queue, "");
    for _ in 0..60 {
        let next = task(&mut queue, now);
        let done = match &next.step {
            Step::LookUp(..) => found("127.0.0.1:443"),
            Step::Robots(..) => file(""),
            Step::Visit(_, _, request) if request.url.path() == "/y" => return,
            Step::Visit(_, _, request) => {
                let other = if request.url.scheme() == Scheme::Http { "https" } else { "http" };
                let target = Some(url(&format!("{other}://a.example/x")));
                visited(Outcome::Moved { status: 301, target })
            }
            Step::Refuse(..) => panic!("nothing is forbidden"),
        };
        queue.done(&next, done, Interval::ZERO, now);
        now = now.plus(PAUSE);
    }
    panic!("the other page was never visited");
}

#[test]
fn a_new_page_does_not_wait_for_the_revisit_of_an_old_one() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    let at = prepare(&mut queue, "");
    let visit = task(&mut queue, at);
    queue.done(&visit, visited(fetched()), Interval::ZERO, at);
    queue.offer(url("http://a.example/new"));
    assert!(matches!(queue.next(at), Next::Wait(until) if until == at.plus(PAUSE)));
}

#[test]
fn a_look_up_that_fails_loses_no_page_that_came_meanwhile() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    let look_up = task(&mut queue, START);
    queue.done(&look_up, Done::LookedUp(Err(no_answer())), Interval::ZERO, START);
    let later = START.plus(Interval::from_hours(2));
    let look_up = task(&mut queue, later);
    queue.offer(url("http://a.example/new"));
    queue.done(&look_up, Done::LookedUp(Err(no_answer())), Interval::ZERO, later);
    let next = task(&mut queue, later.plus(Interval::from_hours(1)));
    assert!(matches!(&next.step, Step::LookUp(_, url, _) if url.path() == "/new"), "{next:?}");
}

#[test]
fn the_longer_crawl_delay_of_the_two_schemes_counts() {
    let mut server = Server::new(ServerName::parse("a.example").unwrap(), START);
    let slow = Rules::for_agent(b"User-agent: *\nCrawl-delay: 60", "utsushi");
    server.learn_robots(Scheme::Http, &Answer::Rules(slow.into()), START);
    server.learn_robots(Scheme::Https, &Answer::Absent, START);
    server.rest(PAUSE, START);
    server.fresh.push_back(PageId(0));
    assert_eq!(server.pages_due(None, PAUSE), Some(START.plus(Interval::from_seconds(60))));
}

#[test]
fn a_full_queue_drops_links_and_counts_them() {
    let mut queue = queue();
    queue.offer_all((0..1_100).map(|n| url(&format!("http://a.example/{n}"))));
    let (servers, known, waiting, dropped) = queue.counts();
    assert_eq!((servers, known, waiting, dropped), (1, 1_000, 1_000, 100));
}

#[test]
fn a_page_from_an_earlier_run_comes_after_new_ones_and_in_its_turn() {
    let mut queue = queue();
    let before = Before { url: url("http://a.example/old"), at: START };
    queue.recall(before.clone());
    queue.recall(before);
    assert!(!queue.offer(url("http://a.example/old")), "it is known");
    let (servers, known, waiting, _) = queue.counts();
    assert_eq!((servers, known, waiting), (1, 1, 0));
    let due = START.plus(Interval::from_hours(1));
    assert!(matches!(queue.next(START), Next::Wait(at) if at == due));
    queue.offer(url("http://b.example/new"));
    assert!(matches!(&task(&mut queue, START).step, Step::LookUp(_, url, _) if url.path() == "/new"));
}

#[test]
fn a_request_is_conditional_only_on_the_version_that_is_stored() {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    let at = prepare(&mut queue, "");
    let visit = task(&mut queue, at);
    let Step::Visit(page, ..) = visit.step else { panic!("a visit is due") };
    queue.done(&visit, visited(fetched()), Interval::ZERO, at);
    let later = at.plus(Interval::from_hours(1));
    let visit = task(&mut queue, later);
    assert!(
        matches!(&visit.step, Step::Visit(_, _, request) if request.fields.is_empty()),
        "nothing is stored yet"
    );
    queue.done(&visit, visited(fetched()), Interval::ZERO, later);
    let before = Before { url: url("http://a.example/x"), at };
    queue.stored(page, before, Conditions { etag: Some("\"1\"".to_owned()), last_modified: None });
    let visit = task(&mut queue, later.plus(Interval::from_hours(1)));
    let expected = vec![("If-None-Match", "\"1\"".to_owned())];
    assert!(matches!(&visit.step, Step::Visit(_, _, request) if request.fields == expected));
}

/// Watches what is handed out: per server and per address, no overlap and no short pause.
#[derive(Default)]
struct Observer {
    busy: HashMap<String, bool>,
    free_at: HashMap<String, Timestamp>,
    requests: u64,
}

impl Observer {
    fn names(step: &Step) -> Vec<String> {
        match step {
            Step::Robots(to, request) | Step::Visit(_, to, request) => {
                vec![request.url.server().to_string(), to.ip().to_string()]
            }
            Step::LookUp(..) | Step::Refuse(..) => Vec::new(),
        }
    }
    fn begins(&mut self, step: &Step, now: Timestamp) {
        self.requests += u64::from(!Self::names(step).is_empty());
        for name in Self::names(step) {
            assert!(!self.busy.insert(name.clone(), true).unwrap_or(false), "two requests at once to {name}");
            let free_at = self.free_at.get(&name).copied().unwrap_or(Timestamp::MIN);
            assert!(free_at <= now, "{name} is asked at {now}, before {free_at}");
        }
    }
    fn ends(&mut self, step: &Step, now: Timestamp) {
        for name in Self::names(step) {
            self.busy.insert(name.clone(), false);
            self.free_at.insert(name, now.plus(PAUSE));
        }
    }
}

/// An end that fits the step, by chance.
fn some_end(step: &Step, chance: &mut Chance) -> Done {
    match step {
        Step::LookUp(_, _, origin) => {
            let number = base::chance::hash_bytes(0, origin.server.host().as_bytes()) % 7;
            let ip: IpAddr = format!("127.0.0.{}", number + 1).parse().unwrap();
            let addresses = vec![SocketAddr::new(ip, 80)];
            let found = Found { addresses, lifetime: Interval::from_days(1) };
            Done::LookedUp(if chance.happens(0.05) { Err(no_answer()) } else { Ok(found) })
        }
        Step::Robots(..) => robots(some_outcome(chance), Some("User-agent: *\nDisallow: /9")),
        Step::Visit(..) => {
            let links = (0..chance.below(4)).map(|_| some_page(chance)).collect();
            Done::Visited(some_outcome(chance), links)
        }
        Step::Refuse(..) => Done::Refused,
    }
}

fn some_page(chance: &mut Chance) -> PageUrl {
    let scheme = if chance.happens(0.5) { "http" } else { "https" };
    url(&format!("{scheme}://s{}.example/{}", chance.below(40), chance.below(200)))
}

fn some_outcome(chance: &mut Chance) -> Outcome {
    match chance.below(10) {
        0 => Outcome::Unreachable(no_answer()),
        1 => Outcome::Failed { status: 503, retry_after: Some(Interval::from_seconds(chance.below(100))) },
        2 => Outcome::Moved { status: 301, target: Some(some_page(chance)) },
        3 | 4 => Outcome::Gone { status: 404 },
        5 => Outcome::NotModified,
        _ => fetched(),
    }
}

#[test]
fn model_no_server_and_no_address_is_ever_asked_too_soon() {
    for seed in 0..20 {
        let (requests, largest) = play(seed);
        assert!(requests > 1_000, "seed {seed}: only {requests} requests");
        assert!(largest > 3, "seed {seed}: never more than {largest} at once");
    }
}

/// Plays 5,000 steps; how many requests were sent and how many ran at once.
fn play(seed: u64) -> (u64, usize) {
    let (mut queue, mut chance, mut observer) = (queue(), Chance::new(seed), Observer::default());
    queue.offer_all((0..30).map(|_| some_page(&mut chance)).collect::<Vec<_>>());
    let mut running: Vec<(Timestamp, Timestamp, Task)> = Vec::new();
    let (mut now, mut largest) = (START, 0);
    for _ in 0..5_000 {
        let wake = match queue.next(now) {
            Next::Do(task) => {
                observer.begins(&task.step, now);
                running.push((now.plus(Interval::from_millis(chance.below(30_000))), now, task));
                largest = largest.max(running.len());
                continue;
            }
            Next::Wait(at) => at,
            Next::Idle => Timestamp::MAX,
        };
        let first = running.iter().enumerate().min_by_key(|(_, (end, ..))| *end);
        let Some(first) = first.map(|(place, (end, ..))| (place, *end)) else {
            assert!(wake < Timestamp::MAX, "seed {seed}: pages are left and nothing is due");
            now = wake;
            continue;
        };
        if wake < first.1 {
            now = wake;
            continue;
        }
        let (end, began, task) = running.swap_remove(first.0);
        now = now.max(end);
        observer.ends(&task.step, now);
        queue.done(&task, some_end(&task.step, &mut chance), now.since(began), now);
    }
    nobody_waits_in_vain(&queue, &running.iter().map(|(_, _, task)| task).collect::<Vec<_>>());
    (observer.requests, largest)
}

/// Every server that waits for its robots file stands behind an errand that is still to be run, or being run.
fn nobody_waits_in_vain(queue: &Queue, running: &[&Task]) {
    for (number, server) in queue.servers.iter().enumerate() {
        let stands = |(_, askers): &(&PageUrl, &Vec<_>)| askers.iter().any(|(asker, _)| *asker == number);
        assert_eq!(server.away, queue.askers.iter().any(|askers| stands(&askers)), "server {number}");
        let lists = !server.busy && !server.waits && !server.errands.is_empty();
        assert!(!lists || server.listed_at.is_some(), "server {number} is forgotten");
    }
    for url in queue.askers.keys() {
        let waits = queue.servers[queue.by_name[&url.server()]].errands.contains(url);
        assert!(waits || running.iter().any(|task| task.step.errand() == Some(url)), "{url}");
    }
}

mod hops;
