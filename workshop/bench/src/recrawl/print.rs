//! The results, for people and for programs.

use super::{Args, Race, Run};
use crate::revisit::score::Score;
use serde_json::json;

/// Prints a race; whether every crawl kept up.
pub(super) fn print(race: &Race, args: &Args) -> bool {
    let Some(first) = race.runs.first() else { return true };
    if !args.json {
        heading(race, args);
    }
    let mut all_valid = true;
    for run in &race.runs {
        let why = run.outcome.invalid(run.replayed.requests_per_day(), args.every);
        all_valid &= why.is_none();
        if args.json {
            println!("{}", object((run, first), race, args, why.as_deref()));
        } else {
            line(run, first);
            if let Some(why) = why {
                println!("  INVALID: {why}");
            }
        }
    }
    all_valid
}

fn heading(race: &Race, args: &Args) {
    let pages = race.site.live(None, race.site.trace.to).count();
    println!(
        "\n{}: {pages} pages at the end, every {} days for {} days, {} times as fast, hints: {:?}",
        race.site.trace.name, args.every, args.days, args.accelerate, args.hints
    );
    println!(
        "{:<16} {:>8} {:>8} {:>8} | {:>15} {:>15} | {:>7} {:>6} {:>6} {:>6} | {:>12} {:>7}",
        "policy",
        "fresh",
        "replay",
        "content",
        "staleness t/c",
        "age t/c",
        "pages/d",
        "gone/d",
        "list/d",
        "aids/d",
        "lag d 50/99",
        "CPU s"
    );
}

fn ratio(of: &Score, to: &Score, figure: fn(&Score) -> f64) -> f64 {
    figure(of) / figure(to).max(1e-12)
}

fn line(run: &Run, first: &Run) {
    let (own, base) = (&run.outcome, &first.outcome);
    let both = |figure| {
        format!(
            "{:.3}/{:.3}",
            ratio(&own.text, &base.text, figure),
            ratio(&own.content, &base.content, figure)
        )
    };
    println!(
        "{:<16} {:>8.5} {:>8.5} {:>8.5} | {:>15} {:>15} | {:>7.1} {:>6.2} {:>6.2} {:>6.2} | {:>5.3}/{:<6.3} {:>7.1}",
        run.policy.to_string(),
        own.text.freshness(),
        run.replayed.freshness(),
        own.content.freshness(),
        both(Score::staleness),
        both(Score::age_days),
        own.pages_per_day,
        own.gone_per_day,
        own.listings_per_day,
        own.aids_per_day,
        own.lag_days.0,
        own.lag_days.1,
        own.cpu_seconds
    );
}

fn object((run, first): (&Run, &Run), race: &Race, args: &Args, invalid: Option<&str>) -> serde_json::Value {
    let (own, base) = (&run.outcome, &first.outcome);
    let scores = |of: &Score, to: &Score| {
        json!({
            "freshness": of.freshness(),
            "age_days": of.age_days(),
            "staleness_share": ratio(of, to, Score::staleness),
            "age_share": ratio(of, to, Score::age_days),
            "captured": of.captured(),
        })
    };
    json!({
        "trace": race.site.trace.name,
        "policy": run.policy.to_string(),
        "every_days": args.every,
        "days": args.days,
        "accelerate": args.accelerate,
        "hints": format!("{:?}", args.hints).to_lowercase(),
        "pages": race.site.live(None, race.site.trace.to).count(),
        "text": scores(&own.text, &base.text),
        "content": scores(&own.content, &base.content),
        "replay": scores(&run.replayed, &first.replayed),
        "replay_requests_per_day": run.replayed.requests_per_day(),
        "pages_per_day": own.pages_per_day,
        "gone_per_day": own.gone_per_day,
        "listings_per_day": own.listings_per_day,
        "aids_per_day": own.aids_per_day,
        "never_fetched": own.never_fetched,
        "lag_days_median": own.lag_days.0,
        "lag_days_p99": own.lag_days.1,
        "cpu_seconds": own.cpu_seconds,
        "invalid": invalid,
    })
}
