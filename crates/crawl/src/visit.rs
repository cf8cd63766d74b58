//! One step through the door: a look-up, a robots file or a visit, and what is learned from it.
//!
//! The running crawler takes steps in tasks, a simulation in a plain loop; both take them here.

use crate::queue::{Conditions, Done, Step};
use base::clock::Clock;
use base::door::{Door, Exchange, Request};
use base::{Capture, Interval, PageUrl, Timestamp};
use fetch::robots::{self, Answer};
use fetch::{Decoded, Read};
use html::LinkKind;
use std::borrow::Cow;
use std::net::SocketAddr;

/// How a step ended.
#[derive(Debug)]
pub struct Ended {
    /// What the queue learns from it.
    pub done: Done,
    /// What the archive keeps of it.
    pub capture: Option<Capture>,
    /// How long it took, by the clock that was handed in.
    pub took: Interval,
}

/// Takes one step through the door, known to robots files and pages as `agent`.
///
/// # Panics
/// When the step is a refusal, which needs no door.
pub async fn take<D: Door>(door: &D, clock: &dyn Clock, agent: &str, step: &Step) -> Ended {
    let at = clock.now();
    match step {
        Step::LookUp(_, url, origin) => {
            let result = door.look_up(origin).await;
            let capture = result.as_ref().err().map(|failure| {
                let outcome = fetch::outcome(url, &Err(failure.clone()));
                Capture { url: url.clone(), at, outcome, exchange: None }
            });
            Ended { done: Done::LookedUp(result), capture, took: Interval::ZERO }
        }
        Step::Robots(to, request) => {
            let (capture, text, took) = visit(door, clock, *to, request, at, robots_text).await;
            let answer = Answer::read(&capture.outcome, text.flatten().as_deref(), agent);
            Ended { done: Done::Robots(capture.outcome.clone(), answer), capture: Some(capture), took }
        }
        Step::Visit(_, to, request) => {
            let url = request.url.clone();
            let learn = move |exchange: &Exchange, content: &Decoded<'_>| links(&url, exchange, content);
            let (capture, links, took) = visit(door, clock, *to, request, at, learn).await;
            let done = Done::Visited(capture.outcome.clone(), links.unwrap_or_default());
            Ended { done, capture: Some(capture), took }
        }
        Step::Refuse(..) => unreachable!("a refusal needs no door"),
    }
}

async fn visit<D: Door, T: Send + 'static>(
    door: &D,
    clock: &dyn Clock,
    to: SocketAddr,
    request: &Request,
    at: Timestamp,
    learn: impl FnOnce(&Exchange, &Decoded<'_>) -> T + Send + 'static,
) -> (Capture, Option<T>, Interval) {
    let result = door.exchange(to, request).await;
    let told = result.as_ref().map_or_else(|failure| failure.took, |exchange| exchange.times.total);
    let took = clock.now().since(at).max(clock.elapsed_in(told));
    let Read { outcome, learned, exchange } = fetch::read(&request.url, result, learn).await;
    (Capture { url: request.url.clone(), at, outcome, exchange }, learned, took)
}

/// The text of a robots file; nothing when it is coded in a way that cannot be read within the limits.
fn robots_text(_: &Exchange, content: &Decoded<'_>) -> Option<Vec<u8>> {
    robots::text_of(content.clone()).map(Cow::into_owned)
}

/// What makes the next request conditional on this capture.
pub(crate) fn conditions(capture: &Capture) -> Conditions {
    let field =
        |name| capture.exchange.as_ref().and_then(|exchange| exchange.field(name)).map(ToOwned::to_owned);
    Conditions { etag: field("etag"), last_modified: field("last-modified") }
}

/// The pages that a page points to and that its author lets us follow (C8).
fn links(url: &PageUrl, exchange: &Exchange, content: &Decoded<'_>) -> Vec<PageUrl> {
    let content = match content {
        Decoded::Whole(content) if is_page(exchange) => content,
        _ => return Vec::new(),
    };
    let page = html::read(url, exchange.field("content-type"), content);
    if page.nofollow || header_says_nofollow(exchange) {
        return Vec::new();
    }
    let followed = |kind| !matches!(kind, LinkKind::Embed | LinkKind::Feed);
    let links = page.links.into_iter();
    links.filter(|link| followed(link.kind) && !link.nofollow).map(|link| link.url).collect()
}

/// `X-Robots-Tag` for everyone: `nofollow` or `none`, not addressed to some other robot by name.
fn header_says_nofollow(exchange: &Exchange) -> bool {
    let values = base::http::fields(&exchange.response_head, "x-robots-tag");
    let mut words = values.flat_map(|value| value.split(',')).map(str::trim);
    words.any(|word| word.eq_ignore_ascii_case("nofollow") || word.eq_ignore_ascii_case("none"))
}

fn is_page(exchange: &Exchange) -> bool {
    let kind = exchange.media_type();
    (200..300).contains(&exchange.status)
        && matches!(kind.as_str(), "text/html" | "application/xhtml+xml" | "")
}
