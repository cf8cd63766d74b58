//! Servers that respond slowly or never (H6).

use super::Place;
use crate::{DeliveryMode, WebResponse};
use std::time::Duration;

/// Number of pages such as `/hang/3` that the home page links to.
const HANGS: u64 = 3;

/// A few bytes a second, or nothing for a long while and then everything.
pub(super) fn answer(place: &Place<'_>) -> WebResponse {
    let page = |delivery| place.page("Slow", &place.filler(2_000)).sent(delivery);
    match place.path() {
        "/" => place.home(&["/drip", "/trickle", "/late", "/later"]),
        "/drip" => page(DeliveryMode::Drip(8, Duration::from_secs(1))),
        "/trickle" => page(DeliveryMode::Drip(64, Duration::from_millis(500))),
        "/late" => page(DeliveryMode::Late(Duration::from_secs(3))),
        "/later" => page(DeliveryMode::Late(Duration::from_secs(45))),
        _ => place.missing(),
    }
}

/// No answer at all.
pub(super) fn hang(place: &Place<'_>) -> WebResponse {
    match place.path() {
        "/" => place.home(&["/hang/1", "/hang/2", "/hang/3", "/close"]),
        "/close" => place.page("Closed", "").sent(DeliveryMode::Close),
        _ if place.numbered("/hang/").is_some_and(|n| (1..=HANGS).contains(&n)) => {
            place.page("Silent", "").sent(DeliveryMode::Hang)
        }
        _ => place.missing(),
    }
}
