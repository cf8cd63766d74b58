//! One step through the door: a look-up, a robots file or a visit, and what is learned from it.
//!
//! The running crawler takes steps in tasks, a simulation in a plain loop; both take them here.

use crate::queue::{Conditions, Done, Step};
use base::clock::Clock;
use base::door::{Door, Exchange, Request};
use base::limits::VALIDATOR_BYTES_MAX;
use base::{Capture, Interval, PageUrl, Timestamp};
use fetch::robots::{self, Answer};
use fetch::{Decoded, Read};
use html::LinkKind;
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
            let (url, agent) = (request.url.clone(), agent.to_owned());
            let learn =
                move |exchange: &Exchange, content: &Decoded<'_>| links(&url, exchange, content, &agent);
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
    robots::text_of(content).map(<[u8]>::to_vec)
}

/// What makes the next request conditional on this capture.
pub(crate) fn conditions(capture: &Capture) -> Conditions {
    // What is too long for a validator is none: the next request is a plain one.
    let fits = |value: &&str| value.len() <= VALIDATOR_BYTES_MAX;
    let field = |name| {
        capture
            .exchange
            .as_ref()
            .and_then(|exchange| exchange.field(name))
            .filter(fits)
            .map(ToOwned::to_owned)
    };
    Conditions { etag: field("etag"), last_modified: field("last-modified") }
}

/// The pages that a page points to and that its author lets us follow (C8).
fn links(url: &PageUrl, exchange: &Exchange, content: &Decoded<'_>, agent: &str) -> Vec<PageUrl> {
    let content = match content {
        Decoded::Whole(content) if is_page(exchange) => content,
        _ => return Vec::new(),
    };
    let page = html::read(url, exchange.field("content-type"), content, agent);
    if page.asks.and(fetch::exclusion(&exchange.response_head, agent)).nofollow {
        return Vec::new();
    }
    let followed = |kind| !matches!(kind, LinkKind::Embed | LinkKind::Feed);
    let links = page.links.into_iter();
    links.filter(|link| followed(link.kind) && !link.nofollow).map(|link| link.url).collect()
}

fn is_page(exchange: &Exchange) -> bool {
    let kind = exchange.media_type();
    (200..300).contains(&exchange.status)
        && matches!(kind.as_str(), "text/html" | "application/xhtml+xml" | "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::door::{Marks, Times};
    use base::http::Framing;

    /// How many links are followed of a page with one link, under these fields and with this in its head.
    #[track_caller]
    fn check(fields: &str, element: &str, expected: usize) {
        let url = PageUrl::parse("http://a.example/").unwrap();
        let exchange = Exchange {
            address: ([127, 0, 0, 1], 80).into(),
            request_head: Vec::new(),
            response_head: format!("HTTP/1.1 200 OK\r\n{fields}\r\n").into_bytes(),
            body: format!("{element}<a href=x>x</a>").into_bytes().into(),
            status: 200,
            framing: Framing::UntilClose,
            truncated: None,
            marks: Marks::default(),
            times: Times::default(),
        };
        let found = links(&url, &exchange, &fetch::content(&exchange), "utsushi");
        assert_eq!(found.len(), expected, "{fields}{element}");
    }

    #[test]
    fn nofollow_is_obeyed_when_it_is_for_us() {
        check("", "", 1);
        check("X-Robots-Tag: noindex\r\nX-Robots-Tag: nofollow\r\n", "", 0);
        check("X-Robots-Tag: otherbot: nofollow\r\n", "", 1);
        check("X-Robots-Tag: otherbot: nofollow\r\nX-Robots-Tag: utsushi: none\r\n", "", 0);
        check("", "<meta name=robots content=nofollow>", 0);
        check("", "<meta name=utsushi content=nofollow>", 0);
        check("", "<meta name=otherbot content=nofollow>", 1);
        check("X-Robots-Tag: noarchive\r\n", "<meta name=robots content=noindex>", 1);
    }
}
