//! What planning costs: everything that the default policy does for a visit, over a million pages.
//!
//! `cargo run --release -p frontier --example planning` visits a million pages of a thousand servers three times each:
//! it learns from the visit, counts the page in its server's load, plans its next visit, updates the pages beside it,
//! and asks for the best of them. It prints the processor time per visit, and that of the most expensive part.
#![expect(clippy::print_stdout, reason = "its result")]

use base::{Chance, Interval};
use frontier::revisit::co_change::{CoChange, PageFinding, keeps};
use frontier::revisit::estimate::Belief;
use frontier::revisit::pace::{Pace, Reason};
use frontier::{Load, RevisitPolicy};
use rustix::time::{ClockId, clock_gettime};

const SERVERS: usize = 1_000;
const PAGES: usize = 1_000;
const ROUNDS: u64 = 3;
/// The beginning, in seconds, and what lies between two rounds.
const BEGIN: u64 = 1_800_000_000;
const MONTH: u64 = 30 * 86_400;

#[derive(Default)]
struct Server {
    pace: Pace,
    load: Load,
    co_change: CoChange,
    pages: Vec<(Belief, u64, f64)>,
}

fn spent() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "seconds of a short run")]
    let seconds = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9;
    seconds
}

fn main() {
    let (policy, mut chance) = (RevisitPolicy::default(), Chance::new(1));
    let mut servers: Vec<Server> = (0..SERVERS).map(|_| Server::default()).collect();
    let targets: Vec<String> = (0..PAGES).map(|page| format!("/{}/{page}.html", page / 50)).collect();
    let (begun, mut learning) = (spent(), 0.0);
    for round in 0..=ROUNDS {
        for (page, target) in targets.iter().enumerate() {
            for (number, server) in servers.iter_mut().enumerate() {
                let at = BEGIN + round * MONTH + u64::try_from(page * 2_592).unwrap_or(0);
                server.pace.tick(at);
                if round == 0 {
                    server.pages.push((Belief::default(), 0, 0.0));
                    policy.estimator.begin(&mut server.pages[page].0, &server.pace);
                    let number = u32::try_from(page).unwrap_or(0);
                    server.co_change.join(number, target, at, 0);
                    server.co_change.met(number, target, BEGIN, at);
                } else {
                    let is_changed = chance.unit() < 0.05;
                    let before = if number == 0 { spent() } else { 0.0 };
                    let (belief, own, turn) = &mut server.pages[page];
                    let expected = belief.stale_after(Interval::from_seconds(MONTH));
                    policy.estimator.learn(
                        belief,
                        &mut server.pace,
                        Interval::from_seconds(MONTH),
                        is_changed,
                    );
                    learning += if number == 0 { spent() - before } else { 0.0 };
                    server.load.remove(*own, 0);
                    server.pace.visits(Reason::Turn(*turn), at, PAGES as u64);
                    server.co_change.visited(
                        u32::try_from(page).unwrap_or(0),
                        target,
                        at - MONTH,
                        at,
                        if is_changed { PageFinding::Changed } else { PageFinding::Unchanged },
                        expected,
                    );
                    let own = Interval::from_seconds(*own);
                    server.co_change.scheduled(expected * keeps(own, Interval::from_seconds(MONTH)));
                    if let Some(candidate) = server.co_change.best(at, 0.0, 0.0) {
                        server.co_change.pass(&candidate);
                    }
                }
                let (belief, own, turn) = &mut server.pages[page];
                let interval = Interval::from_seconds(1).times(1.0 / belief.rate());
                *own = interval.as_seconds();
                server.load.add(*own, 0);
                if let Some(next) = server.pace.next(&policy, &server.load, 0.1, interval, 0.0) {
                    *turn = next.turn;
                    let page = u32::try_from(page).unwrap_or(0);
                    server.co_change.planned(page, Some((interval, next.wait)));
                }
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few million")]
    let visits = (SERVERS * PAGES) as f64 * (ROUNDS + 1) as f64;
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    let learned = (PAGES as u64 * ROUNDS) as f64;
    println!(
        "{:.2} µs a visit, of which learning {:.2} µs",
        (spent() - begun) / visits * 1e6,
        learning / learned * 1e6
    );
}
