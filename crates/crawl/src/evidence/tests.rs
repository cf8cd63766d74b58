//! Every outcome gives one visit result, live and read back from the archive.

use super::*;
use archive::{Archive, Reader, Settings};
use base::disk::{Disk, SimulatedDisk};
use base::door::{Cause, CauseKind, Failure, Marks, Phase, Times};
use base::http::Framing;
use base::{ContentDigest, Interval, Refusal, RefusalKind, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const AT: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");
const BODY: &[u8] = b"a page";
const WAIT: Interval = Interval::from_seconds(90);

fn url(target: &str) -> PageUrl {
    PageUrl::parse(&format!("http://a.example{target}")).unwrap()
}

/// The capture that ends in `outcome`, with the exchange that leads to it.
fn capture(outcome: Outcome) -> Capture {
    let mut fields = String::new();
    let mut truncated = None;
    let is_answered = match &outcome {
        Outcome::Fetched { truncated: reason, .. } => {
            truncated = *reason;
            true
        }
        Outcome::Moved { target, .. } => {
            let target = target.as_ref().map_or("mailto:a@b", PageUrl::as_str);
            fields = format!("Location: {target}\r\n");
            true
        }
        Outcome::Failed { retry_after, .. } => {
            fields = retry_after
                .map_or_else(String::new, |wait| format!("Retry-After: {}\r\n", wait.as_seconds()));
            true
        }
        Outcome::NotModified | Outcome::Gone { .. } => true,
        Outcome::Refused(_) | Outcome::Unreachable(_) => false,
    };
    let status = outcome.status().unwrap_or(0);
    let exchange = is_answered.then(|| Exchange {
        address: ([192, 0, 2, 7], 80).into(),
        request_head: b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n".to_vec(),
        response_head: format!("HTTP/1.1 {status} X\r\n{fields}\r\n").into_bytes(),
        body: if status == 304 { Vec::new() } else { BODY.to_vec() }.into(),
        status,
        framing: if status == 304 { Framing::None } else { Framing::UntilClose },
        truncated,
        marks: Marks::default(),
        times: Times::default(),
    });
    Capture { url: url("/"), at: AT, outcome, exchange }
}

/// Checks what an outcome means: from itself, from its capture, and from the archive.
#[track_caller]
fn check(outcome: Outcome, expected: &VisitResult<'_>) {
    let capture = capture(outcome);
    let evidence = Evidence::unarchived(&capture, Findings::default());
    assert_eq!(visit_result(&evidence.learned), *expected, "by itself: {:?}", capture.outcome);
    assert_eq!(capture.outcome.is_held_back(), *expected == VisitResult::NotSent, "{:?}", capture.outcome);

    let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(SimulatedDisk::new(1)), Path::new("/archive"));
    let (mut archive, _) = Archive::open(Arc::clone(&disk), path, Settings::default(), AT).unwrap();
    let entry = archive.append(&capture).unwrap().entry;
    archive.close().unwrap();
    assert_eq!(visit_result(&Learned::of(&capture, &entry)), *expected, "live: {:?}", capture.outcome);
    let reader = Reader::open(disk, path).unwrap();
    let learned = reader.learned(&entry).unwrap().unwrap();
    assert_eq!(visit_result(&learned), *expected, "read back: {:?}", capture.outcome);
}

#[test]
fn an_answer_gives_one_result_live_and_read_back() {
    let digest = ContentDigest::of(BODY);
    let content = VisitResult::Content(ContentKey::from(digest).0);
    let fetched = |truncated: Option<Truncation>| {
        let is_known = !truncated.is_some_and(Truncation::is_by_chance);
        Outcome::Fetched { status: 200, content: is_known.then_some(digest), truncated }
    };
    check(fetched(None), &content);
    check(fetched(Some(Truncation::Length)), &content);
    for truncated in [Truncation::Time, Truncation::Disconnect, Truncation::Room] {
        check(fetched(Some(truncated)), &VisitResult::Incomplete);
    }
    check(Outcome::Fetched { status: 203, content: Some(digest), truncated: None }, &content);
    check(Outcome::NotModified, &VisitResult::NotModified);
    let target = url("/b");
    check(
        Outcome::Moved { status: 301, target: Some(target.clone()) },
        &VisitResult::Moved { status: 301, target: Some(&target) },
    );
    check(Outcome::Moved { status: 302, target: None }, &VisitResult::Moved { status: 302, target: None });
    check(Outcome::Gone { status: 404 }, &VisitResult::Gone(404));
    check(Outcome::Gone { status: 410 }, &VisitResult::Gone(410));
    for (status, retry_after) in [(403, None), (429, Some(WAIT)), (503, Some(WAIT)), (500, None)] {
        check(Outcome::Failed { status, retry_after }, &VisitResult::Failed { status, retry_after });
    }
}

#[test]
fn content_that_cannot_be_decoded_is_compared_as_received() {
    let mut capture = capture(Outcome::Fetched { status: 200, content: None, truncated: None });
    let exchange = capture.exchange.as_mut().unwrap();
    exchange.response_head = b"HTTP/1.1 200 X\r\nContent-Encoding: x-odd\r\n\r\n".to_vec();
    let evidence = Evidence::unarchived(&capture, Findings::default());
    assert_eq!(visit_result(&evidence.learned), VisitResult::Content(ContentKey::of(BODY).0));
}

#[test]
fn every_refusal_gives_one_result_live_and_read_back() {
    let reason = || "a reason".to_owned();
    for kind in RefusalKind::ALL {
        let refusal = match kind {
            RefusalKind::Robots => Refusal::Robots(reason()),
            RefusalKind::RobotsUnreachable => Refusal::RobotsUnreachable,
            RefusalKind::Address => Refusal::Address(reason()),
            RefusalKind::OptOut => Refusal::OptOut(reason()),
            RefusalKind::NoContact => Refusal::NoContact,
            RefusalKind::Proxy => Refusal::Proxy { reason: reason(), retry_after: None },
        };
        check(Outcome::Refused(refusal.clone()), &VisitResult::Refused(&refusal));
    }
    let delayed = Refusal::Proxy { reason: reason(), retry_after: Some(WAIT) };
    check(Outcome::Refused(delayed), &VisitResult::NotSent);
}

#[test]
fn every_failure_gives_one_result_live_and_read_back() {
    for kind in CauseKind::ALL {
        let text = || "it broke".to_owned();
        let (cause, expected) = match kind {
            CauseKind::NoSuchName => (Cause::NoSuchName, Some(false)),
            CauseKind::NameServer => (Cause::NameServer(text()), Some(true)),
            CauseKind::ForbiddenAddress => {
                (Cause::ForbiddenAddress { address: [10, 0, 0, 1].into(), why: "private" }, Some(false))
            }
            CauseKind::NoContact => (Cause::NoContact, Some(false)),
            CauseKind::Proxy => (Cause::Proxy { reason: text(), retry_after: None }, Some(false)),
            CauseKind::TimeOut => (Cause::TimeOut(Duration::from_secs(10)), Some(true)),
            CauseKind::Broken => (Cause::Broken(text()), Some(true)),
            CauseKind::Malformed => (Cause::Malformed("no status line"), Some(false)),
            CauseKind::Machine => (Cause::Machine(text()), None),
            CauseKind::Tls => (Cause::Tls(text()), Some(false)),
        };
        let expected =
            expected.map_or(VisitResult::NotSent, |may_pass| VisitResult::Unreachable { may_pass });
        for phase in Phase::ALL {
            let failure = Failure::new(phase, cause.clone(), Duration::from_millis(7));
            let expected = if phase == Phase::Proxy { &VisitResult::NotSent } else { &expected };
            check(Outcome::Unreachable(failure), expected);
        }
    }
}
