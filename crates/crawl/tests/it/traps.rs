//! Traps cost little, and an ordinary server beside them is fully covered (H10).

use crate::rig::{frontier, settings};
use crate::{PAUSE, drive};
use base::clock::SimulatedClock;
use base::{Clock, Interval, PageUrl};
use frontier::{FoundUrl, RevisitPolicy, Step};
use sim::door::SimulatedDoor;
use sim::{ORIGIN, Plan, Web, hostile};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What a trap may cost.
const TRAP_FETCHES_MAX: u64 = 1_000;
/// Days of crawling: at one request in ten seconds the honest server takes more than one of them.
const DAYS: u64 = 3;

#[test]
fn survives_h10_traps_while_a_server_of_ten_thousand_pages_is_covered_whole() {
    let kinds = u32::try_from(hostile::HostileKind::ALL.len()).unwrap();
    let plan = Plan { seed: 3, pages: 10_000, servers: 1, hostile: kinds, ..Plan::default() };
    let web = Arc::new(Web::new(plan));
    let clock = SimulatedClock::new(ORIGIN);
    let door = SimulatedDoor::new(Arc::clone(&web), Arc::clone(&clock) as Arc<dyn Clock>);
    let mut queue = frontier(settings(PAUSE), RevisitPolicy::paper(), ORIGIN);
    let hosts: Vec<String> = (0..kinds).map(hostile::host).chain([web.host(0)]).collect();
    let seeds: Vec<FoundUrl> = hosts
        .iter()
        .map(|host| FoundUrl::page(PageUrl::parse(&format!("http://{host}/")).unwrap()))
        .collect();
    queue.add(&seeds, 0, ORIGIN).unwrap();
    let (mut fetches, mut seen) = (BTreeMap::<String, u64>::new(), HashSet::new());
    let end = ORIGIN.plus(Interval::from_days(DAYS));
    drive(
        &mut queue,
        &door,
        &clock,
        end,
        |_| None,
        |task, _, _| {
            if let Step::Visit(_, _, request) = &task.step {
                *fetches.entry(request.url.host().to_owned()).or_default() += 1;
                seen.insert(request.url.key());
            }
        },
    );
    println!("{fetches:?}");
    for host in &hosts[..kinds as usize] {
        let cost = fetches.get(host).copied().unwrap_or(0);
        assert!(cost <= TRAP_FETCHES_MAX, "{host}: {cost}");
    }
    let day = Interval::from_days(1);
    let missed: Vec<String> = (0..web.server_pages(0))
        .map(|page| web.page_url(0, page, ORIGIN))
        .filter(|text| {
            let url = PageUrl::parse(text).unwrap();
            let truth = web.truth(&url, ORIGIN, end).unwrap();
            let lives = truth.born <= ORIGIN && truth.deleted.is_none_or(|(at, _)| at > ORIGIN.plus(day));
            lives && truth.robots_allow && !seen.contains(&url.key())
        })
        .collect();
    assert!(missed.is_empty(), "{} missed: {:?}", missed.len(), &missed[..missed.len().min(5)]);
}
