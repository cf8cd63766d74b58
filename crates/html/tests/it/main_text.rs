//! The main text changes exactly when the simulated web's truth says so.

use crate::peer::asked;
use base::{Interval, PageUrl, Timestamp};
use html::{Page, read};
use sim::{ORIGIN, Plan, Web};

fn page_at(web: &Web, url: &PageUrl, at: Timestamp) -> Option<Page> {
    let answer = web.answer(&asked(url), at);
    let field = answer.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let content_type = field.map(|(_, value)| value.clone());
    (answer.status == 200).then(|| read(url, content_type.as_deref(), &answer.body, "utsushi"))
}

/// How often a digest changed or stayed when the truth said so.
#[derive(Debug, Default)]
struct Tally {
    changed_right: usize,
    changed_missed: usize,
    stayed_right: usize,
    stayed_missed: usize,
}

#[test]
fn the_main_text_changes_when_the_truth_says_so() {
    let web = Web::new(Plan { pages: 3_000, servers: 60, ..Plan::default() });
    let end = ORIGIN.plus(Interval::from_days(400));
    let mut tally = Tally::default();
    for server in 0..60 {
        for page in 0..web.server_pages(server).min(12) {
            let truth = web.truth_of(server, page, ORIGIN, end);
            let url = PageUrl::parse(&truth.urls[0]).unwrap();
            for pair in truth.byte_changes.iter().step_by(1 + truth.byte_changes.len() / 6) {
                judge(&web, &url, *pair, &truth.text_changes, &mut tally);
            }
        }
    }
    println!("{tally:?}");
    let share = |right: usize, missed: usize| right * 100 / (right + missed).max(1);
    assert!(tally.changed_right > 500 && tally.stayed_right > 300, "{tally:?}");
    assert!(share(tally.changed_right, tally.changed_missed) >= 95, "{tally:?}");
    assert!(share(tally.stayed_right, tally.stayed_missed) >= 95, "{tally:?}");
}

/// Compares the page just before and just after a change of its bytes.
fn judge(web: &Web, url: &PageUrl, at: Timestamp, text_changes: &[Timestamp], tally: &mut Tally) {
    let before = page_at(web, url, at.minus(Interval::from_seconds(1)));
    let (Some(before), Some(after)) = (before, page_at(web, url, at)) else { return };
    let has_changed = before.text.main != after.text.main;
    let slot = match (text_changes.contains(&at), has_changed) {
        (true, true) => &mut tally.changed_right,
        (true, false) => &mut tally.changed_missed,
        (false, false) => &mut tally.stayed_right,
        (false, true) => &mut tally.stayed_missed,
    };
    *slot += 1;
}
