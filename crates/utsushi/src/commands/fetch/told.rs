//! A visit for people and for programs.

use super::trip::{Leg, Verdict, refusal};
use crate::words::bytes;
use base::door::{Cause, Exchange};
use base::{Outcome, PageUrl};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// The maximum number of sitemaps listed.
const SITEMAPS_SHOWN_MAX: usize = 10;

/// The contents of the output.
pub(super) struct Seen<'a> {
    pub(super) url: &'a PageUrl,
    pub(super) verdict: &'a Verdict,
    pub(super) legs: &'a [Leg],
    /// Whether only the robots file was requested.
    pub(super) robots_only: bool,
}

impl<'a> Seen<'a> {
    /// The visit to the page itself, if it was made.
    pub(super) fn page(&self) -> Option<&'a Leg> {
        self.legs.iter().find(|leg| !leg.is_robots)
    }

    /// Whether the request succeeded.
    pub(super) fn is_answered(&self) -> bool {
        if self.robots_only {
            return self.verdict.is_allowed();
        }
        self.page().is_some_and(|leg| leg.exchange.is_some())
    }

    /// As text, one phase per line.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for leg in self.legs {
            write_leg(&mut text, leg);
        }
        self.write_verdict(&mut text);
        match (self.page(), self.robots_only) {
            (Some(page), _) => write_answer(&mut text, page),
            (None, true) => self.write_robots(&mut text),
            (None, false) => {}
        }
        text
    }

    fn write_verdict(&self, text: &mut String) {
        let said = match self.verdict {
            Verdict::None => return,
            Verdict::Unreachable if self.robots_refusal().is_some() => return,
            Verdict::Unreachable => {
                "refused: the robots file cannot be fetched, so no page may be visited".to_owned()
            }
            Verdict::Rules(rules, url) => {
                let verdict = rules.judge(url.target());
                format!("{}: {verdict}", if verdict.allowed { "allowed" } else { "refused" })
            }
        };
        let _ = writeln!(text, "robots {said}");
    }

    fn write_robots(&self, text: &mut String) {
        let Verdict::Rules(rules, _) = self.verdict else { return };
        if let Some(delay) = rules.crawl_delay() {
            let _ = writeln!(text, "crawl-delay {delay}");
        }
        for sitemap in rules.sitemaps().iter().take(SITEMAPS_SHOWN_MAX) {
            let _ = writeln!(text, "sitemap {sitemap}");
        }
        let file = self.legs.iter().rev().find_map(|leg| leg.content.as_ref()?.robots.as_deref());
        if let Some(file) = file {
            let _ = write!(text, "\n{}", String::from_utf8_lossy(file));
        }
    }

    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let page = self.page();
        let (allowed, line) = match self.verdict {
            Verdict::Rules(rules, url) => {
                let verdict = rules.judge(url.target());
                (verdict.allowed, Some(verdict.to_string()))
            }
            other => (other.is_allowed(), None),
        };
        let rules = if let Verdict::Rules(rules, _) = self.verdict { Some(rules) } else { None };
        json!({
            "url": self.url.as_str(),
            "outcome": page.map(|leg| leg.outcome.as_str()).or((!allowed).then_some("refused")),
            "status": page.and_then(|leg| leg.outcome.status()),
            "reason": self.reason(),
            "robots": {
                "allowed": allowed,
                "rule": line,
                "crawl_delay_seconds": rules.and_then(|rules| rules.crawl_delay()).map(base::Interval::as_seconds_f64),
                "sitemaps": rules.map(|rules| rules.sitemaps()),
            },
            "requests": self.legs.iter().map(leg_json).collect::<Vec<_>>(),
        })
    }

    /// Why the robots file was not requested; the page would be refused for the same reason.
    fn robots_refusal(&self) -> Option<String> {
        match self.legs.last().map(|leg| &leg.outcome) {
            Some(Outcome::Refused(why)) => Some(refusal(why)),
            _ => None,
        }
    }

    /// Why there is no response.
    fn reason(&self) -> Option<String> {
        match (self.page().map(|leg| &leg.outcome), self.verdict) {
            (Some(Outcome::Refused(why)), _) => Some(refusal(why)),
            (Some(Outcome::Unreachable(failure)), _) => Some(failure.to_string()),
            (None, Verdict::Unreachable) => {
                Some(self.robots_refusal().unwrap_or_else(|| "the robots file cannot be fetched".to_owned()))
            }
            (None, verdict) if !verdict.is_allowed() => Some("the robots file forbids it".to_owned()),
            _ => None,
        }
    }
}

fn write_leg(text: &mut String, leg: &Leg) {
    let _ = writeln!(text, "{} {}", if leg.is_robots { "robots" } else { "page" }, leg.url);
    let addresses = leg.found.as_ref().map(|found| {
        let all: Vec<String> = found.addresses.iter().map(ToString::to_string).collect();
        format!("{}, valid for {}", all.join(" "), found.lifetime)
    });
    phase(text, "look-up", leg.look_up, &addresses.unwrap_or_default());
    if !leg.waited.is_zero() {
        phase(text, "waited", leg.waited, "the delay between two requests to one server");
    }
    if let Some(exchange) = &leg.exchange {
        write_phases(text, exchange);
    }
    let _ = writeln!(text, "  {}", ended(leg));
}

fn write_phases(text: &mut String, exchange: &Exchange) {
    let times = &exchange.times;
    if times.connect.is_zero() {
        let _ = writeln!(text, "  reused the connection of the previous request");
    } else {
        phase(text, "connect", times.connect, "");
    }
    if !times.proxy.is_zero() {
        phase(text, "proxy", times.proxy, "until it accepted the request");
    }
    if !times.tls.is_zero() {
        phase(text, "TLS", times.tls, "");
    }
    phase(text, "first byte", times.first_byte, "");
    let before = times.connect + times.proxy + times.tls + times.first_byte;
    phase(text, "body", times.total.saturating_sub(before), &bytes(exchange.body.len() as u64));
    phase(text, "in all", times.total, "");
}

fn phase(text: &mut String, name: &str, took: Duration, remark: &str) {
    let line = format!("  {name:<11}{:>10.1} ms  {remark}", took.as_secs_f64() * 1e3);
    let _ = writeln!(text, "{}", line.trim_end());
}

/// The outcome of a request, in one line.
fn ended(leg: &Leg) -> String {
    match &leg.outcome {
        Outcome::Refused(why) => format!("refused: {}", refusal(why)),
        Outcome::Unreachable(failure) => format!("unreachable: {failure}{}", hint(&failure.cause)),
        Outcome::Moved { status, target } => {
            let target =
                target.as_ref().map_or("to no URL that can be visited".to_owned(), |url| format!("to {url}"));
            format!("{status} moved {target}")
        }
        outcome => {
            let status = outcome.status().map(|status| status.to_string()).unwrap_or_default();
            format!("{status} {}", outcome.as_str())
        }
    }
}

/// A hint about a failure.
fn hint(cause: &Cause) -> &'static str {
    match cause {
        Cause::NoSuchName => "; check the spelling",
        Cause::Tls(_) => "; `certificates = \"marked\"` under `[fetch]` accepts and marks it",
        _ => "",
    }
}

/// The response: its kind and its head.
fn write_answer(text: &mut String, leg: &Leg) {
    let Some(exchange) = &leg.exchange else { return };
    let media_type = exchange.media_type();
    let content = leg.content.as_ref().map(|content| match &content.decoded {
        Ok(length) => format!("{} of content", bytes(*length as u64)),
        Err(why) => format!("content {why}"),
    });
    let what = if media_type.is_empty() { "no type given" } else { &media_type };
    let _ = writeln!(text, "  {what}, {}", content.unwrap_or_default());
    if let Outcome::Fetched { content: Some(digest), .. } = &leg.outcome {
        let _ = writeln!(text, "  digest {digest}");
    }
    if let Some(why) = exchange.truncated {
        let _ = writeln!(text, "  cut off: {}", why.as_str());
    }
    for mark in exchange.marks.names() {
        let _ = writeln!(text, "  marked {mark}");
    }
    let _ = write!(text, "\n{}", String::from_utf8_lossy(&exchange.response_head).replace('\r', ""));
}

fn leg_json(leg: &Leg) -> Value {
    let seconds = |took: Duration| took.as_secs_f64();
    let times = &leg.times;
    let exchange = leg.exchange.as_ref();
    json!({
        "url": leg.url.as_str(),
        "robots": leg.is_robots,
        "addresses": leg.found.as_ref().map(|found| found.addresses.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "address": exchange.map(|exchange| exchange.address.to_string()),
        "look_up_seconds": seconds(leg.look_up),
        "waited_seconds": seconds(leg.waited),
        "connect_seconds": seconds(times.connect),
        "proxy_seconds": seconds(times.proxy),
        "tls_seconds": seconds(times.tls),
        "first_byte_seconds": seconds(times.first_byte),
        "total_seconds": seconds(times.total),
        "outcome": leg.outcome.as_str(),
        "status": leg.outcome.status(),
        "failure": leg.failure.as_ref().map(ToString::to_string),
        "moved_to": if let Outcome::Moved { target, .. } = &leg.outcome { target.as_ref().map(PageUrl::as_str) } else { None },
        "request_head": exchange.map(|exchange| String::from_utf8_lossy(&exchange.request_head).into_owned()),
        "response_head": exchange.map(|exchange| String::from_utf8_lossy(&exchange.response_head).into_owned()),
        "body_bytes": exchange.map(|exchange| exchange.body.len()),
        "content_bytes": leg.content.as_ref().and_then(|content| content.decoded.as_ref().ok()),
        "content_digest": if let Outcome::Fetched { content: Some(digest), .. } = &leg.outcome { Some(digest.to_string()) } else { None },
        "truncated": exchange.and_then(|exchange| exchange.truncated).map(base::door::Truncation::as_str),
        "marks": exchange.map(|exchange| exchange.marks.names().collect::<Vec<_>>()),
    })
}
