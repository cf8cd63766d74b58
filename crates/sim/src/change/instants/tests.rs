//! The processes against their statistics, and against a listing of all their instants.

use super::*;
use base::chance::mix;

const YEAR: Second = 365 * 86_400;

fn listing(instants: &Instants, from: Second, to: Second) -> Vec<Second> {
    let mut found = Vec::new();
    instants.all(from, to, &mut found);
    found
}

fn samples() -> Vec<Instants> {
    let mut all = vec![
        Instants::NEVER,
        Instants::periodic(Interval::from_hours(1), 125),
        Instants::periodic(Interval::from_days(7), 86_399),
    ];
    for seed in 0..20 {
        all.push(Instants::poisson(mix(seed), Interval::from_hours(1 + 50 * seed)));
        all.push(Instants::bursty(mix(seed), Interval::from_days(1 + 7 * seed)));
    }
    all
}

#[test]
fn the_count_of_poisson_instants_has_the_mean_and_the_variance_of_a_poisson_number() {
    // 2,000 windows of 25.5 mean intervals each, none of them on the edges of cells.
    let window = 51 * 1_800;
    let counts: Vec<f64> = (0..2_000)
        .map(|n| {
            let instants = Instants::poisson(mix(n), Interval::from_hours(1));
            let from = 1_000_000 + n.cast_signed() * 777;
            listing(&instants, from, from + window).len() as f64
        })
        .collect();
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
    // Standard errors: of the mean √(25.5 ÷ 2000) = 0.11, of the variance about 25.5 × √(2 ÷ 2000) = 0.81.
    assert!((25.1..25.9).contains(&mean), "mean {mean}");
    assert!((23.0..28.0).contains(&variance), "variance {variance}");
}

#[test]
fn the_gaps_of_a_poisson_process_are_memoryless() {
    let instants = Instants::poisson(7, Interval::from_hours(10));
    let all = listing(&instants, 0, 20_000 * 36_000);
    let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 36_000.0).collect();
    for (bound, expected) in [(0.5, 0.3935), (1.0, 0.6321), (2.0, 0.8647)] {
        let share = gaps.iter().filter(|gap| **gap < bound).count() as f64 / gaps.len() as f64;
        assert!((share - expected).abs() < 0.012, "{bound}: {share}");
    }
}

#[test]
fn last_recent_and_next_agree_with_a_listing() {
    for instants in samples() {
        let all = listing(&instants, 0, 2 * YEAR);
        for n in 0..200 {
            let (after, until) = (below_second(mix(n), YEAR), below_second(mix(n + 1_000), YEAR) + YEAR);
            let expected: Vec<Second> =
                all.iter().rev().filter(|at| **at > after && **at <= until).take(8).copied().collect();
            let mut found = [0; 8];
            let count = instants.recent(after, until, &mut found);
            assert_eq!(found[..count], expected, "{instants:?}");
            assert_eq!(instants.last(after, until), expected.first().copied());
            let next = all.iter().find(|at| **at > after && **at < until).copied();
            assert_eq!(instants.next(after, until), next, "{instants:?}");
        }
    }
}

#[test]
fn a_listing_is_in_order_and_falls_apart_into_its_parts() {
    for instants in samples() {
        let whole = listing(&instants, 1_000, YEAR);
        assert!(whole.is_sorted_by(|a, b| a < b), "{instants:?}");
        let mut parts = listing(&instants, 1_000, 5_000_000);
        instants.all(5_000_000, YEAR, &mut parts);
        assert_eq!(whole, parts);
    }
}

#[test]
fn periodic_instants_are_exact() {
    let instants = Instants::periodic(Interval::from_days(1), 54_000);
    assert_eq!(listing(&instants, 0, 3 * 86_400), [54_000, 140_400, 226_800]);
    assert_eq!(instants.last(0, 140_400), Some(140_400));
    assert_eq!(instants.last(0, 140_399), Some(54_000));
    assert_eq!(instants.next(54_000, YEAR), Some(140_400));
    assert_eq!(instants.last(54_000, 140_399), None);
}

#[test]
fn bursts_are_short_and_far_apart() {
    let instants = Instants::bursty(3, Interval::from_days(60));
    let all = listing(&instants, 0, 100 * YEAR);
    let bursts: Vec<&[Second]> = all.chunk_by(|a, b| b - a <= 900).collect();
    let (years, bursts_a_year) = (100.0, bursts.len() as f64 / 100.0);
    assert!((5.0..7.2).contains(&bursts_a_year), "{bursts_a_year}");
    assert!((all.len() as f64 / years / bursts_a_year - 7.5).abs() < 0.5);
}
