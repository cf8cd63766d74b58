//! The outcome of an exchange: a pure function of the response.
//!
//! **Invariant:** the same response always gives the same outcome; no clock is read. A `Retry-After` with a date is
//! relative to the response's own `Date`.

use base::door::{Exchange, Failure, Truncation};
use base::{ContentDigest, Outcome, PageUrl, http};
use coding::Decoded;

/// The outcome of the visit to `url`.
#[must_use]
pub fn outcome(url: &PageUrl, result: &Result<Exchange, Failure>) -> Outcome {
    match result {
        Ok(exchange) => of_answer(url, exchange, &coding::content(exchange)),
        Err(failure) => Outcome::of_failure(failure),
    }
}

/// The same for a response whose content has been read.
pub(crate) fn of_answer(url: &PageUrl, exchange: &Exchange, content: &Decoded<'_>) -> Outcome {
    let status = exchange.status;
    match status {
        200..300 => {
            let content = content_digest(exchange, content);
            Outcome::Fetched { status, content, truncated: exchange.truncated }
        }
        304 => Outcome::NotModified,
        300..400 => Outcome::Moved { status, target: target(url, exchange) },
        404 | 410 => Outcome::Gone { status },
        _ => Outcome::Failed { status, retry_after: http::retry_after(&exchange.response_head) },
    }
}

/// The digest of the content; `None` if it cannot be decoded, was not requested, or was truncated at a random position:
/// the same page would look changed at every visit.
fn content_digest(exchange: &Exchange, content: &Decoded<'_>) -> Option<ContentDigest> {
    let by_chance = exchange.truncated.is_some_and(Truncation::is_by_chance);
    match content {
        Decoded::Whole(content) if !by_chance && !exchange.request_head.starts_with(b"HEAD ") => {
            Some(ContentDigest::of(content))
        }
        _ => None,
    }
}

fn target(url: &PageUrl, exchange: &Exchange) -> Option<PageUrl> {
    http::field_text(&exchange.response_head, "location").and_then(|location| url.join(&location).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::door::{Cause, Marks, Phase, Times, Truncation};
    use base::http::Framing;
    use base::limits::SERVER_PAUSE_MAX;
    use base::{Interval, Refusal};
    use std::time::Duration;

    fn answer(status: u16, fields: &str, body: &[u8]) -> Exchange {
        Exchange {
            address: ([127, 0, 0, 1], 80).into(),
            request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            response_head: format!("HTTP/1.1 {status} X\r\n{fields}\r\n").into_bytes(),
            body: body.to_vec().into(),
            status,
            framing: if fields.contains("chunked") { Framing::Chunked } else { Framing::UntilClose },
            truncated: None,
            marks: Marks::default(),
            times: Times::default(),
        }
    }

    #[track_caller]
    fn check(exchange: Exchange, expected: &Outcome) {
        let url = PageUrl::parse("https://a.example/x/y").unwrap();
        assert_eq!(outcome(&url, &Ok(exchange)), *expected);
    }

    fn fetched(content: Option<&[u8]>) -> Outcome {
        Outcome::Fetched { status: 200, content: content.map(ContentDigest::of), truncated: None }
    }

    #[test]
    fn the_digest_is_of_the_content_without_any_coding() {
        check(answer(200, "", b"page"), &fetched(Some(b"page")));
        check(
            answer(200, "Transfer-Encoding: chunked\r\n", b"4\r\npage\r\n0\r\n\r\n"),
            &fetched(Some(b"page")),
        );
        check(answer(200, "Content-Encoding: br\r\n", b"page"), &fetched(None));
        let head_only =
            Exchange { request_head: b"HEAD / HTTP/1.1\r\n\r\n".to_vec(), ..answer(200, "", b"") };
        check(head_only, &fetched(None));
        let cut = Exchange { truncated: Some(Truncation::Time), ..answer(200, "", b"page") };
        check(cut, &Outcome::Fetched { status: 200, content: None, truncated: Some(Truncation::Time) });
    }

    #[test]
    fn redirects_lead_to_pages_or_nowhere() {
        for (location, target) in [
            ("Location: ../z\r\n", Some("https://a.example/z")),
            ("Location: //b.example\r\n", Some("https://b.example/")),
            ("Location: /\u{e9}\r\n", Some("https://a.example/%C3%A9")),
            ("Location: mailto:a@b\r\n", None),
            ("", None),
        ] {
            let target = target.map(|url| PageUrl::parse(url).unwrap());
            check(answer(301, location, b""), &Outcome::Moved { status: 301, target });
        }
        check(answer(304, "Location: /z\r\n", b""), &Outcome::NotModified);
    }

    #[test]
    fn a_server_may_ask_to_be_left_alone() {
        let date = "Date: Tue, 31 Mar 2026 09:00:00 GMT\r\n";
        for (fields, seconds) in [
            ("Retry-After: 120\r\n".to_owned(), Some(120)),
            (format!("{date}Retry-After: Tue, 31 Mar 2026 09:10:00 GMT\r\n"), Some(600)),
            (format!("{date}Retry-After: Tue, 31 Mar 2026 08:10:00 GMT\r\n"), Some(0)),
            ("Retry-After: Tue, 31 Mar 2026 09:10:00 GMT\r\n".to_owned(), None),
            ("Retry-After: 99999999999999\r\n".to_owned(), Some(SERVER_PAUSE_MAX.as_seconds())),
            ("Retry-After: soon\r\n".to_owned(), None),
            (String::new(), None),
        ] {
            let retry_after = seconds.map(Interval::from_seconds);
            check(answer(503, &fields, b""), &Outcome::Failed { status: 503, retry_after });
        }
        check(
            answer(429, "Retry-After: 5\r\n", b""),
            &Outcome::Failed { status: 429, retry_after: Some(Interval::from_seconds(5)) },
        );
    }

    #[test]
    fn other_answers_and_none() {
        check(answer(404, "", b""), &Outcome::Gone { status: 404 });
        check(answer(410, "", b""), &Outcome::Gone { status: 410 });
        check(answer(403, "", b""), &Outcome::Failed { status: 403, retry_after: None });
        check(answer(999, "", b""), &Outcome::Failed { status: 999, retry_after: None });
        let url = PageUrl::parse("http://a.example/").unwrap();
        let failure = |cause| Failure::new(Phase::Connect, cause, Duration::ZERO);
        let cause = Cause::ForbiddenAddress { address: [10, 0, 0, 1].into(), why: "private use" };
        let why = "`10.0.0.1` may not be visited: private use".to_owned();
        assert_eq!(outcome(&url, &Err(failure(cause))), Outcome::Refused(Refusal::Address(why)));
        let no_contact = outcome(&url, &Err(failure(Cause::NoContact)));
        assert_eq!(no_contact, Outcome::Refused(Refusal::NoContact));
        let unknown = failure(Cause::NoSuchName);
        assert_eq!(outcome(&url, &Err(unknown.clone())), Outcome::Unreachable(unknown));
    }
}
