//! The pages that the listener serves under its own name: the servers of the simulated web, the truth about
//! any page, the request log, the politeness report.
//!
//! **Invariant:** these pages change no state, and no response is larger than its limit.

use super::connection::Context;
use super::html::{escape, escape_query, guarded, page};
use crate::{WebResponse, hostile};
use base::{PageUrl, Timestamp};
use serde_json::Value;
use std::fmt::Write;

/// Number of servers listed on one page.
const ROWS: u32 = 200;
/// Number of log entries in one response: maximum and default.
const LOG_LIMIT_MAX: usize = 10_000;
const LOG_LIMIT: usize = 1_000;
/// Maximum number of changes that a readable history lists.
const MOMENTS_LISTED_MAX: usize = 200;

/// Facts known only once the listeners are open.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) http: u16,
    pub(super) https: Option<u16>,
    pub(super) authority_pem: String,
}

/// The response to a request about the simulated web.
pub(super) fn answer(context: &Context, target: &str, now: Timestamp) -> WebResponse {
    let Ok(url) = PageUrl::parse(&format!("http://localhost{target}")) else {
        return refusal(400, "the target is no path");
    };
    match url.path() {
        "/" => servers(context, &url, now),
        "/truth" => truth_json(context, &url, now),
        "/truth.html" => truth_page(context, &url, now),
        "/log" => log(context, &url),
        "/politeness" => json(200, &context.ledger.report().to_json()),
        "/hosts" => plain("text/plain; charset=utf-8", hosts(context)),
        "/ca.pem" => plain("application/x-pem-file", context.facts.authority_pem.clone()),
        "/robots.txt" => plain("text/plain; charset=utf-8", "User-agent: *\nDisallow: /\n".to_owned()),
        _ => refusal(404, "there is no such page about the simulated web"),
    }
}

/// An error response with its reason.
pub(super) fn refusal(status: u16, reason: &str) -> WebResponse {
    let body = format!(
        "<p>{}</p><p>This is a simulated web for trying out crawlers, served on this machine alone.</p>",
        escape(reason)
    );
    let mut answer = page(status, "No page", &body);
    if matches!(status, 400 | 405 | 431) {
        answer.fields.push(("Connection", "close".to_owned()));
    }
    answer
}

fn plain(media_type: &str, body: String) -> WebResponse {
    guarded(WebResponse::plain(200, media_type, body))
}

fn json(status: u16, value: &Value) -> WebResponse {
    guarded(WebResponse::plain(status, "application/json", format!("{value:#}\n")))
}

/// The value of a parameter of the query.
fn parameter(query: &PageUrl, name: &str) -> Option<String> {
    query.as_url().query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}

fn number<T: std::str::FromStr>(query: &PageUrl, name: &str) -> Option<T> {
    parameter(query, name)?.parse().ok()
}

fn servers(context: &Context, query: &PageUrl, now: Timestamp) -> WebResponse {
    let plan = context.web.plan();
    let all = plan.servers.saturating_add(plan.hostile);
    let from = number(query, "from").unwrap_or(0).min(all.saturating_sub(1)) / ROWS * ROWS;
    let to = from.saturating_add(ROWS).min(all);
    let mut body = introduction(context, now);
    let _ = write!(body, "<h2>Servers {} to {to} of {all}</h2><p>", from + 1);
    for (label, start) in [("first", 0), ("previous", from.saturating_sub(ROWS)), ("next", from + ROWS)] {
        if start < all && start != from {
            let _ = write!(body, "<a href=\"/?from={start}\">{label}</a> ");
        }
    }
    body.push_str("</p><div class=wide><table><tr><th>server<th>address<th class=n>pages<th>");
    (from..to).for_each(|at| push_server(&mut body, context, at, now));
    body.push_str("</table></div>");
    page(200, "A simulated web", &body)
}

/// The host of server `at`: first the honest ones, then the hostile.
fn host(context: &Context, at: u32) -> String {
    let honest = context.web.plan().servers;
    if at < honest { context.web.host(at) } else { hostile::host(at - honest) }
}

fn push_server(body: &mut String, context: &Context, at: u32, now: Timestamp) {
    let honest = context.web.plan().servers;
    let host = host(context, at);
    let address = context.web.address(&host).map_or_else(String::new, |address| address.to_string());
    let (home, pages, note) = if at < honest {
        let home = context.web.page_url(at, 0, now);
        let truth = format!("<a href=\"/truth.html?url={}\">truth of its home page</a>", escape_query(&home));
        (home, context.web.server_pages(at).to_string(), truth)
    } else {
        let kind = hostile::kind(at - honest);
        let pages = kind.pages().map_or_else(String::new, |pages| pages.to_string());
        (format!("http://{host}/"), pages, format!("misbehaves: {}", kind.word()))
    };
    let (home, host) = (escape(&home), escape(&host));
    let _ = write!(body, "<tr><td><a href=\"{home}\">{host}</a><td>{address}<td class=n>{pages}<td>{note}");
}

fn introduction(context: &Context, now: Timestamp) -> String {
    let (plan, facts) = (context.web.plan(), &context.facts);
    let (http, host) = (facts.http, context.web.host(0));
    let https =
        facts.https.map_or_else(|| "through the proxy only".to_owned(), |port| format!("on port {port}"));
    format!(
        "<p>This web exists on this machine alone. It has {pages} pages on {servers} servers, and {bad} servers that \
         misbehave. Every page changes by a known process, so what a crawler should have seen is known exactly. Its \
         clock shows <strong>{now}</strong>; https answers {https}.</p>\
         <h2>How to crawl it</h2><p>As a proxy, with any crawler:</p>\
         <pre>curl -x http://127.0.0.1:{http} http://{host}/\n\
         curl -O http://127.0.0.1:{http}/ca.pem\n\
         http_proxy=http://127.0.0.1:{http} https_proxy=http://127.0.0.1:{http} \\\n  \
         wget --ca-certificate=ca.pem -r -l 2 http://{host}/</pre>\
         <p>Or directly: add the lines of <a href=/hosts>hosts</a> to the hosts file and name port {http}, or tell the \
         crawler where a name lives:</p>\
         <pre>curl --resolve '{host}:{http}:{address}' http://{host}:{http}/</pre>",
        pages = context.web.pages(),
        servers = plan.servers,
        bad = plan.hostile,
        address = context.web.address(&host).map_or_else(String::new, |address| address.to_string()),
    )
}

fn hosts(context: &Context) -> String {
    let plan = context.web.plan();
    let mut lines = String::new();
    for at in 0..plan.servers.saturating_add(plan.hostile) {
        let host = host(context, at);
        if let Some(address) = context.web.address(&host) {
            let alias = if at < plan.servers { context.web.alias(at) } else { None };
            let _ = writeln!(
                lines,
                "{address} {host}{}",
                alias.map_or_else(String::new, |alias| format!(" {alias}"))
            );
        }
    }
    lines
}

fn log(context: &Context, query: &PageUrl) -> WebResponse {
    let log = &context.ledger.log;
    let limit = number(query, "limit").unwrap_or(LOG_LIMIT).min(LOG_LIMIT_MAX);
    let newest = log.count().saturating_sub(limit as u64);
    let mut lines = Vec::new();
    for entry in log.since(number(query, "since").unwrap_or(newest), limit) {
        entry.push_json_line(&mut lines);
    }
    guarded(WebResponse::plain(200, "application/jsonl; charset=utf-8", lines))
}

/// The requested page and period.
fn span(query: &PageUrl, now: Timestamp) -> Result<(PageUrl, Timestamp, Timestamp), String> {
    let url = parameter(query, "url").ok_or("name a page: ?url=http://…&from=2026-01-01&to=now")?;
    let page = PageUrl::parse(&url).map_err(|error| error.to_string())?;
    let moment = |name, default| match parameter(query, name).filter(|text| !text.is_empty()) {
        Some(text) => Timestamp::parse(&text, now).map_err(|error| error.to_string()),
        None => Ok(default),
    };
    Ok((page, moment("from", crate::ORIGIN)?, moment("to", now.max(crate::ORIGIN))?))
}

fn truth_of(context: &Context, query: &PageUrl, now: Timestamp) -> Result<Value, (u16, String)> {
    let (page, from, to) = span(query, now).map_err(|reason| (400, reason))?;
    let truth = context.web.truth(&page, from, to);
    truth
        .map(|truth| truth.to_json())
        .ok_or_else(|| (404, format!("`{page}` is no page of the simulated web")))
}

fn truth_json(context: &Context, query: &PageUrl, now: Timestamp) -> WebResponse {
    match truth_of(context, query, now) {
        Ok(value) => json(200, &value),
        Err((status, reason)) => json(status, &serde_json::json!({ "error": reason })),
    }
}

fn truth_page(context: &Context, query: &PageUrl, now: Timestamp) -> WebResponse {
    let url = parameter(query, "url").unwrap_or_default();
    let mut body = format!(
        "<form action=/truth.html><label>Page <input name=url value=\"{}\" placeholder=\"http://…\"></label> \
         <button>Show</button></form>",
        escape(&url)
    );
    let (status, title) = match truth_of(context, query, now) {
        _ if url.is_empty() => (200, "What changed, and when"),
        Ok(value) => {
            let _ = write!(body, "<p><a href=\"/truth?url={}\">the same as JSON</a></p>", escape_query(&url));
            push_truth(&mut body, &value, query, now);
            (200, "What changed, and when")
        }
        Err((status, reason)) => {
            let _ = write!(body, "<p>{}</p>", escape(&reason));
            (status, "No such page")
        }
    };
    page(status, title, &body)
}

/// Facts in a table; lists of moments on a line of time.
fn push_truth(body: &mut String, value: &Value, query: &PageUrl, now: Timestamp) {
    let Some(fields) = value.as_object() else { return };
    body.push_str("<div class=wide><table>");
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_array()) {
        let shown = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let _ = write!(body, "<tr><th>{}<td>{}", escape(&name.replace('_', " ")), escape(&shown));
    }
    body.push_str("</table></div>");
    let (from, to) = span(query, now).map_or((crate::ORIGIN, now), |(_, from, to)| (from, to));
    for (name, value) in fields {
        if let Some(list) = value.as_array() {
            push_moments(body, name, list, (from, to));
        }
    }
}

fn push_moments(body: &mut String, name: &str, list: &[Value], (from, to): (Timestamp, Timestamp)) {
    let moments: Vec<Timestamp> =
        list.iter().filter_map(Value::as_str).filter_map(|text| text.parse().ok()).collect();
    let _ = write!(body, "<h2>{} ({})</h2>", escape(&name.replace('_', " ")), list.len());
    push_line_of_time(body, &moments, from, to);
    body.push_str("<p class=soft>");
    for (place, value) in list.iter().take(MOMENTS_LISTED_MAX).enumerate() {
        let shown = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let _ = write!(body, "{}{}", if place > 0 { ", " } else { "" }, escape(&shown));
    }
    body.push_str(if list.len() > MOMENTS_LISTED_MAX { ", …</p>" } else { "</p>" });
}

/// A drawing a thousand units wide, with a mark for each moment; marks that fall together are drawn once.
fn push_line_of_time(body: &mut String, moments: &[Timestamp], from: Timestamp, to: Timestamp) {
    let unit = (to.since(from).as_micros() / 1_000).max(1);
    let mut places: Vec<u64> =
        moments.iter().map(|at| (at.since(from).as_micros() / unit).min(1_000)).collect();
    places.sort_unstable();
    places.dedup();
    let label = format!("{} moments between {from} and {to}", moments.len());
    let _ = write!(
        body,
        "<svg viewBox=\"0 0 1000 40\" preserveAspectRatio=none role=img aria-label=\"{label}\">"
    );
    body.push_str("<line x1=0 y1=20 x2=1000 y2=20 />");
    for place in places {
        let _ = write!(body, "<line class=at x1={place} y1=6 x2={place} y2=34 />");
    }
    let _ = write!(body, "</svg><p class=soft>{from} to {to}</p>");
}
