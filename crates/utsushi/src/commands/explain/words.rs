//! The history of a page for people.

use base::Interval;
use node::views::{ExplainView, PageView};
use std::fmt::Write as _;

/// Estimates from fewer observed intervals than this, or from less time than the estimate itself, are marked as rough.
const INTERVALS_FEW: u32 = 4;

/// The history in lines.
pub(super) fn of(life: &ExplainView) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_life(&mut text, life);
    text
}

fn write_life(text: &mut String, life: &ExplainView) -> std::fmt::Result {
    let page = &life.page;
    writeln!(text, "{}", page.url)?;
    row(text, "state", &state(life))?;
    row(text, "known by", &page.key)?;
    row(text, "server", &server(page))?;
    if let Some(seen) = &page.first_seen {
        let on = page
            .found_on
            .as_ref()
            .map_or_else(|| "added by the operator".to_owned(), |on| format!("on {on}"));
        row(text, "first seen", &format!("{seen}, {on}"))?;
    }
    if let Some(last) = &life.last_visit {
        let outcome = page.last_outcome.as_deref().unwrap_or("nothing");
        row(text, "last visit", &format!("{last}: {outcome}"))?;
    }
    if page.visits > 0 {
        write_estimate(text, life)?;
    }
    if let Some(hint) = &page.hint {
        row(text, "hint", hint)?;
    }
    if let Some(due) = &page.next_due {
        row(text, "next due", due)?;
    }
    if let Some(queued) = life.queued_for.as_ref().filter(|queued| page.next_due.as_ref() != Some(queued)) {
        row(text, "queued for", queued)?;
    }
    if let Some(limit) = &page.limited_by {
        row(text, "limited by", limit)?;
    }
    if let Some(share) = page.budget_share {
        row(text, "share", &format!("{:.1} % of the requests to its server", share * 100.0))?;
    }
    row(text, "because", &page.reason)
}

fn state(life: &ExplainView) -> String {
    match life.role.as_str() {
        "page" | "" => life.page.state.clone(),
        role => format!("{}, visited as a {role}", life.page.state),
    }
}

fn server(page: &PageView) -> String {
    let at = page.address.as_ref().map(|address| format!(" at {address}")).unwrap_or_default();
    format!("{}{at}", page.server)
}

/// The observations and the estimate; for the paper's estimate with its numbers: 1/λ ≈ t̄c / ln(T/U).
#[expect(clippy::cast_precision_loss, reason = "shown rounded")]
fn write_estimate(text: &mut String, life: &ExplainView) -> std::fmt::Result {
    let page = &life.page;
    let (elapsed, unchanged) = (time(page.elapsed), time(page.unchanged_sum));
    let beside = match life.side_changes {
        0 => String::new(),
        count => format!(", and {count} without a change of text"),
    };
    row(text, "visits", &format!("{}, changes seen {}{beside}", page.visits, page.changes))?;
    if page.visits > 1 {
        row(
            text,
            "history",
            &format!("T = {elapsed} since the first visit, U = {unchanged} without a change"),
        )?;
    }
    let by_paper = page.policy.starts_with("paper");
    if let Some(estimate) = page.estimate.filter(|_| !by_paper) {
        let is_guess = page.visits <= INTERVALS_FEW || page.elapsed < estimate;
        let few = if is_guess { ", from few observations" } else { "" };
        row(text, "estimate", &format!("it changes about every {}{few}", time(estimate)))?;
    }
    if let Some(estimate) = page.estimate.filter(|_| by_paper && page.unchanged_sum > 0) {
        let ratio = (page.elapsed as f64 / page.unchanged_sum as f64).ln();
        let typical = Interval::from_seconds(estimate).times(ratio);
        let typical = time(typical.as_seconds());
        let estimate = time(estimate);
        row(
            text,
            "estimate",
            &format!("t̄c / ln(T/U) = {typical} / {ratio:.3}: it changes every {estimate}"),
        )?;
    }
    if let Some(interval) = page.interval {
        row(text, "interval", &format!("{}, chosen by `{}`", time(interval), page.policy))?;
    }
    Ok(())
}

fn time(seconds: u64) -> String {
    Interval::from_seconds(seconds).to_string()
}

fn row(text: &mut String, name: &str, what: &str) -> std::fmt::Result {
    writeln!(text, "  {name:<12}{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_told_with_the_numbers_of_its_estimate() {
        let page = PageView {
            url: "http://a.example/".to_owned(),
            state: "live".to_owned(),
            visits: 5,
            changes: 2,
            elapsed: 345_600,
            unchanged_sum: 172_800,
            estimate: Some(124_649),
            interval: Some(124_649),
            policy: "paper".to_owned(),
            reason: "so it is".to_owned(),
            ..PageView::default()
        };
        let text = of(&ExplainView { page: page.clone(), role: "feed".to_owned(), ..ExplainView::default() });
        for part in
            ["state       live, visited as a feed", "T = 4d", "U = 2d", "/ 0.693", "because     so it is"]
        {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
        let page = PageView { policy: "co-change/root".to_owned(), ..page };
        let text = of(&ExplainView { page, side_changes: 3, ..ExplainView::default() });
        for part in ["2, and 3 without a change of text", "it changes about every 1d10h\n"] {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
        assert!(!text.contains("ln(T/U)"));
        let page = PageView {
            policy: "co-change/root".to_owned(),
            visits: 2,
            estimate: Some(60),
            ..PageView::default()
        };
        let text = of(&ExplainView { page, ..ExplainView::default() });
        assert!(text.contains("it changes about every 1m, from few observations"), "{text}");
    }
}
