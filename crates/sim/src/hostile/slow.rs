//! Servers that take their time, or all of it (H6).

use super::Place;
use crate::{Answer, Manner};
use std::time::Duration;

/// How many servers of names like `/hang/3` the home page leads to.
const HANGS: u64 = 3;

/// A few bytes a second, or nothing for a long while and then everything.
pub(super) fn answer(place: &Place<'_>) -> Answer {
    let page = |manner| place.page("Slow", &place.filler(2_000)).sent(manner);
    match place.path() {
        "/" => place.home(&["/drip", "/trickle", "/late", "/later"]),
        "/drip" => page(Manner::Drip(8, Duration::from_secs(1))),
        "/trickle" => page(Manner::Drip(64, Duration::from_millis(500))),
        "/late" => page(Manner::Late(Duration::from_secs(3))),
        "/later" => page(Manner::Late(Duration::from_secs(45))),
        _ => place.missing(),
    }
}

/// No answer at all.
pub(super) fn hang(place: &Place<'_>) -> Answer {
    match place.path() {
        "/" => place.home(&["/hang/1", "/hang/2", "/hang/3", "/close"]),
        "/close" => place.page("Closed", "").sent(Manner::Close),
        _ if place.numbered("/hang/").is_some_and(|n| (1..=HANGS).contains(&n)) => {
            place.page("Silent", "").sent(Manner::Hang)
        }
        _ => place.missing(),
    }
}
