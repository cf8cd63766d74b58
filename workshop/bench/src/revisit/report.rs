//! The results, for people and for programs.

use super::contender::Played;
use super::score::Score;
use super::trace::Trace;
use serde_json::{Value, json};

/// One object a line: for each contender every trace, then all.
pub(crate) fn print_json(played: &[Played], traces: &[Trace], every_days: f64) {
    for one in played {
        for (trace, score) in traces.iter().zip(&one.scores) {
            println!("{}", object(one, &trace.name, score, every_days));
        }
        println!("{}", object(one, "all", &one.together(), every_days));
    }
}

fn object(played: &Played, trace: &str, score: &Score, every_days: f64) -> Value {
    let (estimator, allocation) = played.contender.names();
    let mut object = json!({
        "estimator": estimator,
        "allocation": allocation,
        "default": played.contender.is_default(),
        "every_days": every_days,
        "trace": trace,
        "freshness": score.freshness(),
        "age_days": score.age_days(),
        "captured": score.captured(),
        "requests_per_day": score.requests_per_day(),
        "yield": score.yielded(),
    });
    if let Some(kind) = played.contender.hints() {
        object["hints"] = kind.name().into();
    }
    if let Some(name) = played.contender.tuning() {
        object["tuning"] = name.into();
    }
    object
}

/// A table. The first contender is what the others are compared with.
pub(crate) fn print(played: &[Played], traces: &[Trace], every_days: f64) {
    let Some(base) = played.first() else { return };
    println!("\nevery {every_days} days; {} traces together, weighted by page-time", traces.len());
    println!(
        "{:<30} {:>9} {:>9} | {:>9} {:>6} | {:>9} {:>6} | {:>8} {:>9} {:>7}",
        "policy",
        "fresh",
        "age days",
        "staleness",
        "age",
        "worst of",
        "traces",
        "captured",
        "req./day",
        "yield"
    );
    for one in played {
        let (of, to) = (one.together(), base.together());
        println!(
            "{:<30} {:>9.5} {:>9.4} | {:>9.3} {:>6.3} | {:>9.3} {:>6.3} | {:>8.3} {:>9.1} {:>7.4}",
            title(one),
            of.freshness(),
            of.age_days(),
            of.staleness() / to.staleness().max(1e-12),
            of.age_days() / to.age_days().max(1e-12),
            one.worst(base, Score::staleness),
            one.worst(base, Score::age_days),
            of.captured(),
            of.requests_per_day(),
            of.yielded()
        );
    }
}

/// For each trace the numbers that serve best on the others, by the product of staleness and age beside the first contender.
pub(crate) fn print_left_out(played: &[Played], traces: &[Trace]) {
    let Some((base, tuned)) = played.split_first() else { return };
    println!(
        "\nleft out, and the numbers that serve best on the other traces: staleness and age on the one left out"
    );
    for (out, trace) in traces.iter().enumerate() {
        let others = |one: &Played| {
            let mut sum = Score::default();
            let kept = one.scores.iter().enumerate().filter(|(at, _)| *at != out);
            kept.for_each(|(_, score)| sum.add(score));
            sum.staleness() * sum.age_days()
        };
        let best = tuned.iter().min_by(|a, b| others(a).total_cmp(&others(b)));
        let Some(best) = best else { continue };
        let (score, uniform) = (&best.scores[out], &base.scores[out]);
        println!(
            "{:<20} {:<40} {:>6.3} {:>6.3}",
            trace.name,
            title(best),
            score.staleness() / uniform.staleness().max(1e-12),
            score.age_days() / uniform.age_days().max(1e-12),
        );
    }
}

fn title(played: &Played) -> String {
    let (estimator, allocation) = played.contender.names();
    let name = match (estimator, allocation) {
        ("none", allocation) => allocation.to_owned(),
        (estimator, "none") => estimator.to_owned(),
        (estimator, allocation) => format!("{estimator}/{allocation}"),
    };
    match played.contender.hints() {
        Some(kind) => format!("{name}, hints: {}", kind.name()),
        None if played.contender.is_default() => format!("{name} (default)"),
        None if played.contender.tuning().is_some() => {
            format!("{name}, {}", played.contender.tuning().unwrap_or_default())
        }
        None => name,
    }
}
