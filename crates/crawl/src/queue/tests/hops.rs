//! Robots files that lie on other servers: every hop is a request to the server it goes to.

use super::*;

/// A queue whose `a.example` was just sent to `target` for its robots file; its address is 127.0.0.1.
fn sent_to(target: &str) -> Queue {
    let mut queue = queue();
    queue.offer(url("http://a.example/x"));
    let ask = asked_for_rules(&mut queue);
    queue.done(&ask, robots(moved(target), None), Interval::ZERO, START);
    queue
}

/// Takes the look-up that is next, if one is, with this end.
fn look_up(queue: &mut Queue, now: Timestamp, end: Done) {
    let next = task(queue, now);
    assert!(matches!(next.step, Step::LookUp(None, ..)), "{next:?}");
    queue.done(&next, end, Interval::ZERO, now);
}

#[track_caller]
fn asked(task: &Task) -> String {
    match &task.step {
        Step::Robots(_, request) => request.url.to_string(),
        other => panic!("no robots file is asked for: {other:?}"),
    }
}

#[test]
fn a_robots_file_on_another_server_is_asked_for_there_and_counts_here() {
    let mut queue = sent_to("http://b.example/our/robots.txt");
    let now = START.plus(PAUSE);
    look_up(&mut queue, now, found("127.0.0.2:80"));
    let hop = task(&mut queue, now);
    assert_eq!(asked(&hop), "http://b.example/our/robots.txt");
    assert!(matches!(&hop.step, Step::Robots(to, _) if to.ip().to_string() == "127.0.0.2"));
    queue.done(&hop, file("User-agent: *\nDisallow: /x"), Interval::ZERO, now);
    let refusal = task(&mut queue, now);
    assert!(
        matches!(&refusal.step, Step::Refuse(_, url, Refusal::Robots(_)) if url.host() == "a.example"),
        "{refusal:?}"
    );
}

#[test]
fn a_hop_waits_for_the_pause_of_the_server_it_goes_to() {
    let mut queue = sent_to("http://b.example/robots.txt");
    queue.offer(url("http://b.example/page"));
    let asked_b = {
        let look_up = task(&mut queue, START);
        queue.done(&look_up, found("127.0.0.2:80"), Interval::ZERO, START);
        task(&mut queue, START)
    };
    assert_eq!(asked(&asked_b), "http://b.example/robots.txt", "its own");
    let late = START.plus(Interval::from_seconds(15));
    assert!(matches!(queue.next(late), Next::Idle), "a's hop joins the request that is under way");
    queue.done(&asked_b, file(""), Interval::ZERO, late);
    let visit = task(&mut queue, late.plus(PAUSE));
    assert!(
        matches!(&visit.step, Step::Visit(_, _, request) if request.url.host() == "a.example"),
        "{visit:?}"
    );
}

#[test]
fn a_hop_to_a_busy_server_or_address_waits() {
    for other in ["http://b.example/r", "http://a.example/r"] {
        let mut queue = sent_to(other);
        queue.offer(url("http://b.example/page"));
        let look_up_b = task(&mut queue, START);
        queue.done(&look_up_b, found("127.0.0.1:80"), Interval::ZERO, START);
        // The two servers share an address, which rests after the first robots file.
        assert!(matches!(queue.next(START), Next::Wait(at) if at == START.plus(PAUSE)));
        let first = task(&mut queue, START.plus(PAUSE));
        assert!(matches!(queue.next(START.plus(PAUSE)), Next::Idle), "one request at a time");
        let end = START.plus(PAUSE).plus(PAUSE);
        queue.done(&first, robots(Outcome::Gone { status: 404 }, None), Interval::ZERO, end);
        assert!(matches!(queue.next(end), Next::Wait(at) if at == end.plus(PAUSE)));
    }
}

#[test]
fn servers_that_are_sent_to_one_file_share_its_answer() {
    let mut queue = queue();
    for n in 0..50 {
        queue.offer(url(&format!("http://s{n}.example/x")));
    }
    let (mut requests, mut now) = (0, START);
    let mut pages = 0;
    while pages < 50 {
        let next = match queue.next(now) {
            Next::Do(task) => task,
            Next::Wait(at) => {
                now = at;
                continue;
            }
            Next::Idle => panic!("pages are left"),
        };
        let end = match &next.step {
            Step::LookUp(_, url, _) => {
                let number: u8 =
                    url.host().bytes().fold(0, |sum: u8, byte| sum.wrapping_mul(7).wrapping_add(byte));
                found(&format!("127.0.{}.{number}:80", url.host().len()))
            }
            Step::Robots(_, request) if request.url.host() == "all.example" => {
                requests += 1;
                file("")
            }
            Step::Robots(..) => robots(moved("http://all.example/robots.txt"), None),
            Step::Visit(..) => {
                pages += 1;
                visited(fetched())
            }
            Step::Refuse(..) => panic!("nothing is forbidden"),
        };
        queue.done(&next, end, Interval::ZERO, now);
    }
    assert_eq!(requests, 1);
}

#[test]
fn hops_that_fail_forbid_and_are_tried_again() {
    let mut queue = sent_to("http://b.example/robots.txt");
    let now = START.plus(PAUSE);
    look_up(&mut queue, now, Done::LookedUp(Err(no_answer())));
    let refusal = task(&mut queue, now);
    assert!(matches!(refusal.step, Step::Refuse(_, _, Refusal::RobotsUnreachable)));
    queue.done(&refusal, Done::Refused, Interval::ZERO, now);
    let again = now.plus(Interval::from_hours(1));
    assert!(matches!(queue.next(now), Next::Wait(at) if at == again));
    assert_eq!(asked(&task(&mut queue, again)), "http://a.example/robots.txt");
}

#[test]
fn survives_h4_robots_files_that_are_sent_in_circles() {
    let mut queue = queue();
    for host in ["a", "b"] {
        queue.offer(url(&format!("http://{host}.example/x")));
    }
    let (mut now, mut requests, mut pages) = (START, 0, 0);
    while pages < 2 {
        match queue.next(now) {
            Next::Wait(at) => now = at,
            Next::Idle => panic!("pages are left"),
            Next::Do(next) => {
                let end = match &next.step {
                    Step::LookUp(_, url, _) => {
                        found(if url.host() == "a.example" { "127.0.0.1:80" } else { "127.0.0.2:80" })
                    }
                    Step::Robots(_, request) => {
                        requests += 1;
                        let other = if request.url.host() == "a.example" { "b" } else { "a" };
                        robots(moved(&format!("http://{other}.example/robots.txt")), None)
                    }
                    Step::Visit(..) => {
                        pages += 1;
                        visited(fetched())
                    }
                    Step::Refuse(..) => panic!("six redirects mean that there is no file"),
                };
                queue.done(&next, end, Interval::ZERO, now);
            }
        }
    }
    assert!((6..=12).contains(&requests), "{requests}");
}

#[test]
fn a_file_that_others_were_sent_to_is_not_asked_for_again() {
    let mut queue = sent_to("https://a.example/robots.txt");
    let now = START.plus(PAUSE);
    look_up(&mut queue, now, found("127.0.0.1:443"));
    let hop = task(&mut queue, now);
    queue.done(&hop, file("User-agent: *\nDisallow: /y"), Interval::ZERO, now);
    let now = now.plus(PAUSE);
    let visit = task(&mut queue, now);
    queue.done(&visit, visited(moved("https://a.example/x")), Interval::ZERO, now);
    let visit = task(&mut queue, now.plus(PAUSE));
    assert!(matches!(&visit.step, Step::Visit(_, to, _) if to.port() == 443), "{visit:?}");
    queue.done(&visit, visited(fetched()), Interval::ZERO, now.plus(PAUSE));
    queue.offer(url("https://a.example/y"));
    let refusal = task(&mut queue, now.plus(PAUSE).plus(PAUSE));
    assert!(matches!(refusal.step, Step::Refuse(_, _, Refusal::Robots(_))), "{refusal:?}");
}

#[test]
fn who_opted_out_is_not_asked_for_the_robots_files_of_others() {
    for list in ["b.example", "127.0.0.2"] {
        let mut queue = queue_without(list);
        queue.offer(url("http://a.example/x"));
        let ask = asked_for_rules(&mut queue);
        queue.done(&ask, robots(moved("http://b.example/robots.txt"), None), Interval::ZERO, START);
        let now = START.plus(PAUSE);
        if list == "127.0.0.2" {
            look_up(&mut queue, now, found("127.0.0.2:80"));
        }
        let refusal = task(&mut queue, now);
        assert!(matches!(refusal.step, Step::Refuse(None, _, Refusal::OptOut(_))), "{refusal:?}");
        queue.done(&refusal, Done::Refused, Interval::ZERO, now);
        let refusal = task(&mut queue, now);
        assert!(matches!(refusal.step, Step::Refuse(Some(_), _, Refusal::RobotsUnreachable)), "{refusal:?}");
    }
}

#[test]
fn what_was_taken_down_is_not_asked_for_as_a_robots_file_of_others() {
    let mut queue = queue();
    queue.exclude([archive::Target::url("http://b.example/secret").unwrap()]);
    queue.offer(url("http://a.example/x"));
    let ask = asked_for_rules(&mut queue);
    queue.done(&ask, robots(moved("http://b.example/secret"), None), Interval::ZERO, START);
    let now = START.plus(PAUSE);
    let next = task(&mut queue, now);
    assert!(matches!(next.step, Step::Refuse(_, _, Refusal::RobotsUnreachable)), "{next:?}");
}

#[test]
fn a_name_too_long_for_a_robots_file_is_refused_and_hurts_nobody() {
    let label = "a".repeat(60);
    let host = vec![label; 34].join(".");
    let mut queue = queue();
    assert!(queue.offer(url(&format!("http://{host}/"))));
    let next = task(&mut queue, START);
    assert!(matches!(next.step, Step::Refuse(_, _, Refusal::RobotsUnreachable)), "{next:?}");
    queue.done(&next, Done::Refused, Interval::ZERO, START);
    queue.offer(url("http://b.example/"));
    assert!(matches!(task(&mut queue, START).step, Step::LookUp(..)));
}
