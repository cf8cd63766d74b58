//! The same through a crawl in simulated time: what pages know of their changes, beside the truth.

use crate::rig::{frontier, seed, settings};
use crate::{PAUSE, drive};
use base::clock::SimulatedClock;
use base::{Clock, ContentDigest, Interval, Outcome, PageUrl, Timestamp};
use frontier::Step;
use sim::door::SimulatedDoor;
use sim::{ORIGIN, Plan, Truth, Web};
use std::collections::BTreeMap;
use std::sync::Arc;

const DAYS: u64 = 12;

/// The visits to a page: when, and the content, if it was sent.
#[derive(Debug, Default)]
struct Visits {
    answered: Vec<(Timestamp, Option<ContentDigest>)>,
    /// Whether there were others: the page moved, was deleted or did not answer.
    has_others: bool,
}

impl Visits {
    fn count(&mut self, at: Timestamp, outcome: &Outcome) {
        match outcome {
            Outcome::Fetched { content, .. } => self.answered.push((at, *content)),
            Outcome::NotModified => self.answered.push((at, None)),
            _ => self.has_others = true,
        }
    }
    /// How often the bytes were other than before.
    fn versions(&self) -> usize {
        let contents: Vec<_> = self.answered.iter().filter_map(|(_, content)| *content).collect();
        contents.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
    /// How many visits found another text, and how many only other surroundings, by the truth.
    fn expected(&self, truth: &Truth) -> (usize, usize) {
        let between =
            |changes: &[Timestamp], from, to| changes.iter().any(|change| *change > from && *change <= to);
        let gaps = self.answered.windows(2).map(|pair| (pair[0].0, pair[1].0));
        gaps.fold((0, 0), |(texts, sides), (from, to)| {
            let is_text = between(&truth.text_changes, from, to);
            let is_side = !is_text && between(&truth.byte_changes, from, to);
            (texts + usize::from(is_text), sides + usize::from(is_side))
        })
    }
}

#[test]
fn pages_of_a_crawl_know_how_often_their_text_and_their_surroundings_changed() {
    let web = Arc::new(Web::new(Plan { seed: 9, pages: 600, servers: 24, ..Plan::default() }));
    let clock = SimulatedClock::new(ORIGIN);
    let door = SimulatedDoor::new(Arc::clone(&web), Arc::clone(&clock) as Arc<dyn Clock>);
    let mut queue =
        frontier(settings(PAUSE), ::frontier::RevisitPolicy::fixed(Interval::from_hours(12)), ORIGIN);
    seed(&mut queue, &PageUrl::parse(&format!("http://{}/", web.host(0))).unwrap(), ORIGIN);
    let end = ORIGIN.plus(Interval::from_days(DAYS));
    let mut pages: BTreeMap<String, Visits> = BTreeMap::new();
    drive(
        &mut queue,
        &door,
        &clock,
        end,
        |_| None,
        |task, ended, now| {
            if let (Step::Visit(..), Some(capture)) = (&task.step, &ended.capture) {
                pages.entry(capture.url.as_str().to_owned()).or_default().count(now, &capture.outcome);
            }
        },
    );
    let (mut known, mut right, mut changing, mut changing_right) = (0, 0, 0, 0);
    let (mut texts, mut sides) = ((0, 0), (0, 0));
    for (url, mut visits) in pages {
        let url = PageUrl::parse(&url).unwrap();
        let told = queue.explain(&url, end).unwrap();
        let Some(truth) = web.truth(&url, ORIGIN, end).filter(|_| !visits.has_others) else { continue };
        // The last visit may still be under way.
        visits.answered.truncate(told.visits as usize);
        let changes = told.changes as usize;
        let (found, expected) = ((changes, visits.versions() - changes), visits.expected(&truth));
        texts = (texts.0 + found.0, texts.1 + expected.0);
        sides = (sides.0 + found.1, sides.1 + expected.1);
        let is_changing = expected != (0, 0);
        (known, right) = (known + 1, right + usize::from(found == expected));
        changing += usize::from(is_changing);
        changing_right += usize::from(is_changing && found == expected);
        if found != expected {
            println!(
                "{url} ({}): text and surroundings {found:?}, truth {expected:?}",
                truth.process.as_str()
            );
        }
    }
    println!("pages: {right} of {known} agree, {changing_right} of the {changing} that changed");
    println!("changes found and true: of texts {texts:?}, of surroundings {sides:?}");
    assert!(known > 300 && changing > 100 && texts.1 > 500 && sides.1 > 300, "{known} {changing}");
    assert!(right * 100 >= known * 95, "{right} of {known}");
    assert!(changing_right * 100 >= changing * 95, "{changing_right} of {changing}");
}
