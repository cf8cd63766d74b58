//! The replay against theory and against arithmetic by hand.

use super::contender::{Contender, Played, play_all};
use super::estimates::{CLASSES, Servers, nearness};
use super::replay::{Planner, play};
use super::score::{Score, Seen};
use super::trace::{Event, Trace, Window};
use base::{Chance, Interval};
use frontier::{Estimator, RevisitPolicy};
use std::path::PathBuf;

const DAY: f64 = 86_400.0;
const OPEN: Window = (None, None);

/// Visits pages at given moments, whatever comes of it.
struct At(Vec<(f64, u32)>);

impl Planner for At {
    fn known(&mut self, _page: u32, _at: f64) {}
    fn pick(&mut self, now: f64, _spacing: f64) -> Option<u32> {
        let (at, page) = *self.0.first()?;
        (now >= at).then(|| {
            self.0.remove(0);
            page
        })
    }
    fn saw(&mut self, _page: u32, _now: f64, _seen: Seen, _is_hinted_of: bool) {}
}

/// A trace of one letter an event; time in days.
fn trace(window: (f64, f64), pages: usize, events: &[(f64, u32, char)]) -> Trace {
    let event = |(at, page, letter): &(f64, u32, char)| {
        let event = match letter {
            'A' => Event::Appeared,
            'M' => Event::Changed,
            _ => Event::Vanished,
        };
        (at * DAY, *page, event)
    };
    let paths = (0..pages).map(|page| format!("{page}.html")).collect();
    Trace::of("t", (window.0 * DAY, window.1 * DAY), paths, events.iter().map(event).collect())
}

/// Plays visits at given days, with slots so near each other that they are no matter.
fn visited(trace: &Trace, visits: &[(f64, u32)]) -> Score {
    let mut planner = At(visits.iter().map(|(at, page)| (at * DAY, *page)).collect());
    play(trace, Interval::from_seconds(2), None, &mut planner)
}

#[track_caller]
fn about(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-3 * expected.abs().max(1.0), "{found}, not {expected}");
}

#[test]
fn uniform_visits_of_poisson_pages_are_as_fresh_as_theory_says() {
    // At least 400,000 changes over 600 scored days: chance alone makes 0.2 % (one standard deviation).
    for (pages, mean_days, every_days) in [(8_000, 10.0, 10.0), (20_000, 30.0, 10.0), (1_000, 1.0, 5.0)] {
        let mut chance = Chance::new(3);
        let mut events = Vec::new();
        for page in 0..pages {
            events.push((0.0, page, 'A'));
            let mut at = 0.0;
            while at < 800.0 {
                at -= (1.0 - chance.unit()).ln() * mean_days;
                events.push((at, page, 'M'));
            }
        }
        let trace = trace((0.0, 800.0), pages as usize, &events);
        let score = Contender::Uniform.play(&trace, Interval::from_days(1).times(every_days));
        let r: f64 = every_days / mean_days;
        let freshness = (1.0 - (-r).exp()) / r;
        let age = mean_days * (r / 2.0 - 1.0 + freshness);
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
        assert!(near(score.freshness(), freshness), "{r}: {} {freshness}", score.freshness());
        assert!(near(score.age_days(), age), "{r}: {} {age}", score.age_days());
        assert!(
            near(score.requests_per_day(), f64::from(pages) / every_days),
            "{r}: {}",
            score.requests_per_day()
        );
    }
}

#[test]
fn a_score_is_what_one_reckons_by_hand() {
    // Scored from day 10 to day 40. Page 0 changes on day 8 (seen on day 12), 20 and 22 (seen on day 26), and on 38.
    let events = [(0.0, 0, 'A'), (8.0, 0, 'M'), (20.0, 0, 'M'), (22.0, 0, 'M'), (38.0, 0, 'M')];
    let score = visited(&trace((0.0, 40.0), 1, &events), &[(1.0, 0), (12.0, 0), (15.0, 0), (26.0, 0)]);
    about(score.staleness(), (2.0 + 6.0 + 2.0) / 30.0);
    // From day 10 on the first was 2 to 4 days old.
    about(score.age_days(), ((16.0 - 4.0) / 2.0 + 36.0 / 2.0 + 4.0 / 2.0) / 30.0);
    // Versions of days 20, 22 and 38: the second was fetched. That of day 8 began before.
    about(score.captured(), 1.0 / 3.0);
    about(score.yielded(), 2.0 / 3.0);
    about(score.requests_per_day(), 3.0 / 30.0);
}

#[test]
fn a_page_that_is_never_fetched_is_stale_since_it_appeared() {
    let score = visited(&trace((0.0, 40.0), 1, &[(20.0, 0, 'A')]), &[]);
    about(score.staleness(), 1.0);
    about(score.age_days(), 10.0);
    about(score.captured(), 0.0);
    // One that was there before the window is stale since it began.
    let score = visited(&trace((10.0, 50.0), 1, &[(1.0, 0, 'A')]), &[]);
    about(score.staleness(), 1.0);
    about(score.age_days(), f64::midpoint(10.0, 40.0));
}

#[test]
fn a_deletion_is_a_change_until_a_visit_sees_it_and_a_page_may_come_back() {
    let events = [(0.0, 0, 'A'), (20.0, 0, 'D'), (30.0, 0, 'A')];
    // Seen gone on day 24: 4 stale days, then it is no page until day 30, and stale until day 31.
    let score = visited(&trace((0.0, 40.0), 1, &events), &[(1.0, 0), (24.0, 0), (31.0, 0)]);
    about(score.staleness(), (4.0 + 1.0) / (14.0 + 10.0));
    about(score.yielded(), 1.0 / 2.0);
    about(score.captured(), 1.0);
    // Never seen gone: it is stale from day 20 until the next visit.
    let score = visited(&trace((0.0, 40.0), 1, &events), &[(1.0, 0), (35.0, 0)]);
    about(score.staleness(), 15.0 / 30.0);
    about(score.yielded(), 1.0);
}

#[test]
fn a_page_that_was_seen_gone_is_left_alone() {
    let trace = trace((0.0, 400.0), 2, &[(0.0, 0, 'A'), (0.0, 1, 'A'), (5.0, 0, 'D')]);
    for contender in Contender::all(&[]).into_iter().filter(|contender| *contender != Contender::Oracle) {
        let score = contender.play(&trace, Interval::from_days(1));
        assert!(score.freshness() > 0.99, "{contender:?}: {score:?}");
        // Two pages would be two requests a day; hints cost one more.
        let most = if contender.hints().is_some() { 2.0 } else { 1.0 };
        assert!(score.requests_per_day() < most + 0.01, "{contender:?}: {score:?}");
    }
}

#[test]
fn events_of_one_page_in_one_second_are_one() {
    let text = "100\t7\tA\n100\t8\tA\n100\t7\tM\n200\t7\tM\n200\t7\tD\n200\t8\tM\n201\t8\tM\n";
    let trace = Trace::parse("t", text, "7\ta/b.html\n", OPEN).unwrap();
    assert_eq!(trace.paths, ["a/b.html", "8"], "a page without a path is called by its number");
    let kept = [(100.0, 0, Event::Changed), (100.0, 1, Event::Appeared), (200.0, 0, Event::Vanished)];
    assert_eq!(trace.events[..3], kept);
    // The window ends with the last event, which is no longer in it.
    assert_eq!((trace.events.len(), trace.from, trace.to), (4, 100.0, 201.0));
}

#[test]
fn a_window_begins_with_what_exists() {
    let text = "100\t0\tA\n100\t1\tA\n150\t1\tD\n300\t2\tA\n250\t0\tM\n";
    let trace = Trace::parse("t", text, "", (Some(200.0), Some(400.0))).unwrap();
    assert_eq!(trace.begins, [true, false, false]);
    let kept = [(250.0, 0, Event::Changed), (300.0, 2, Event::Appeared)];
    assert_eq!(trace.events, kept, "in order of time, whatever the file's");
}

#[test]
fn broken_lines_are_told_with_their_number() {
    for line in ["x\t0\tA", "1\t0", "1\t0\tX", "1\t\tA", "-1\t0\tA", "1 0 A"] {
        let error = Trace::parse("t", &format!("1\t0\tA\n{line}\n"), "", OPEN).unwrap_err().to_string();
        assert!(error.starts_with("line 2: `") && error.contains("is no event"), "{error}");
    }
}

#[test]
fn a_directory_without_traces_and_a_broken_file_are_told() {
    let directory = std::env::temp_dir().join(format!("traces-{}", std::process::id()));
    let told = || format!("{:#}", Trace::read_all(&directory, OPEN).unwrap_err());
    assert!(told().starts_with("cannot read the directory of traces `"), "{}", told());
    std::fs::create_dir(&directory).unwrap();
    let empty = told();
    std::fs::write(directory.join("a.events.tsv.gz"), b"no gzip").unwrap();
    let broken = told();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(empty.ends_with("is named NAME.events.tsv.gz"), "{empty}");
    assert!(broken.contains("cannot read `") && broken.contains("a.events.tsv.gz`"), "{broken}");
}

#[test]
fn the_budget_is_spent_and_not_exceeded() {
    // Pages that change once in the window or never, visited each week.
    let events: Vec<_> =
        (0..100).flat_map(|page| [(0.0, page, 'A'), (f64::from(page * 4), page, 'M')]).collect();
    let trace = trace((0.0, 2_000.0), 100, &events[1..]);
    for contender in Contender::all(&[]) {
        let of_budget = contender.play(&trace, Interval::from_days(7)).requests_per_day() / (100.0 / 7.0);
        assert!(of_budget < 1.01, "{contender:?}: {of_budget}");
        let is_spent = match contender {
            Contender::RevisitPolicy(policy) => policy.has_budget(),
            Contender::Oracle | Contender::Clairvoyant => false,
            _ => true,
        };
        assert!(of_budget > 0.97 || !is_spent, "{contender:?}: {of_budget}");
    }
}

/// The least of what the estimates must be, for each class of pages on servers of their class.
#[track_caller]
fn check_estimates(estimator: Estimator, servers: Servers) {
    for ((class, _), near) in CLASSES.iter().zip(nearness(estimator, servers)) {
        assert!((0.9..=1.1).contains(&near.median), "{estimator:?}, {servers:?}, {class}: {near:?}");
        assert!(near.of_bound() <= 1.15, "{estimator:?}, {servers:?}, {class}: {near:?}");
    }
}

#[test]
fn chos_estimates_are_as_near_as_can_be() {
    Servers::ALL.into_iter().for_each(|servers| check_estimates(Estimator::Cho, servers));
}

#[test]
fn the_defaults_estimates_are_as_near_as_can_be() {
    Servers::ALL.into_iter().for_each(|servers| check_estimates(RevisitPolicy::default().estimator, servers));
}

#[test]
fn the_default_beats_uniform_visits_on_real_histories() {
    let Some(directory) = shared("the default on the shared traces") else { return };
    let window = (Some(1_640_995_200.0), Some(1_785_542_400.0)); // 2022-01-01 to 2026-08-01
    let traces = Trace::read_all(&directory, window).unwrap();
    let contenders = [Contender::Uniform, Contender::RevisitPolicy(RevisitPolicy::default())];
    let played = play_all(&contenders, &traces, Interval::from_days(30));
    let [uniform, ours] = &played[..] else { panic!("two took part") };
    let share = |of: fn(&Score) -> f64| of(&ours.together()) / of(&uniform.together());
    let (staleness, age) = (share(Score::staleness), share(Score::age_days));
    assert!(staleness <= 0.72 && age <= 0.72, "{staleness} {age}");
    let worst = |of: fn(&Score) -> f64| Played::worst(ours, uniform, of);
    assert!(worst(Score::staleness) <= 1.02 && worst(Score::age_days) <= 1.02, "{played:?}");
    // Every page in turn, as reckoned apart from this code.
    about(uniform.together().staleness() / 0.01315, 1.0);
    about(uniform.together().age_days() / 0.1385, 1.0);
}

/// The directory of traces, or a loud word that something was not tested.
fn shared(what: &str) -> Option<PathBuf> {
    let found = std::env::var_os("UTSUSHI_SHARED").map(|shared| PathBuf::from(shared).join("data/traces"));
    if found.is_none() {
        // Not by `eprintln!`, which is heard only from tests that fail.
        let notice = format!("NOT TESTED: {what}, for `UTSUSHI_SHARED` does not say where they are\n");
        std::io::Write::write_all(&mut std::io::stderr(), notice.as_bytes()).unwrap();
    }
    found
}

#[test]
fn the_crawler_scores_as_the_replay_says() {
    let Some(directory) = shared("that the crawler scores like the replay on the five shared traces") else {
        return;
    };
    let window = (Some(18_993.0 * DAY), Some(20_666.0 * DAY));
    let traces = Trace::read_all(&directory, window).unwrap();
    let played = play_all(&Contender::crawler(), &traces, Interval::from_days(100));
    let [_, replay, crawler] = played.as_slice() else { panic!("{played:?}") };
    let sum = |played: &Played| {
        let mut sum = Score::default();
        played.scores.iter().for_each(|score| sum.add(score));
        sum
    };
    let (replay, crawler) = (sum(replay), sum(crawler));
    let (freshness, age) = (crawler.freshness() - replay.freshness(), crawler.age_days() / replay.age_days());
    assert!(freshness.abs() <= 0.002 && (age - 1.0).abs() <= 0.03, "{freshness} {age}");
}
