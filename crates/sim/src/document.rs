//! Answers of honest servers: whether a page exists, whether it changed, and in what coding it is sent.
//!
//! **Invariant:** a strong `ETag` stands for one sequence of bytes: it is made from the page, the instant of its last
//! byte change and the coding. `Last-Modified` is that instant.

use crate::change::{Second, timestamp};
use crate::draw::{draw, push_all, push_hex};
use crate::history::History;
use crate::page::Page;
use crate::render;
use crate::response::{DeliveryMode, Source, WebRequest, WebResponse, WebResponseHead};
use crate::server::{Charset, Server, Validators};
use base::Timestamp;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// The response head for a page, requested under the old or the new name of its directory.
pub(crate) fn head(
    page: &Page<'_>,
    under_new_name: bool,
    request: &WebRequest<'_>,
    now: Timestamp,
) -> WebResponseHead {
    let second = now.as_seconds();
    if page.born() > second {
        return missing(&page.server, 404).into();
    }
    if page.deleted().is_some_and(|at| at <= second) {
        return missing(&page.server, page.deleted_status()).into();
    }
    match (under_new_name, page.has_moved(second)) {
        (false, true) if page.server.leaves_redirects() => redirect_to(page, request.host).into(),
        (old, new) if old != new => missing(&page.server, 404).into(),
        _ => present(page, request, second),
    }
}

fn present(page: &Page<'_>, request: &WebRequest<'_>, now: Second) -> WebResponseHead {
    let changed = History::of(page).bytes_changed(now);
    let server = &page.server;
    let compressed = server.compresses() && request.accepts_gzip;
    let mut fields =
        vec![("Server", server.software().to_owned()), ("Content-Type", content_type(server.charset()))];
    push_validators(&mut fields, page, changed, compressed);
    push_further(&mut fields, page, compressed);
    if is_unchanged(&fields, request, changed) {
        fields.retain(|(name, _)| !matches!(*name, "Content-Type" | "Content-Encoding"));
        return WebResponseHead {
            status: 304,
            fields,
            delivery: DeliveryMode::Plain,
            source: Source::Made(Vec::new()),
        };
    }
    let source = Source::Page { server: server.number, page: page.number, now, compressed };
    WebResponseHead { status: 200, fields, delivery: delivery(server), source }
}

/// The body of a page as it is sent.
pub(crate) fn body(page: &Page<'_>, now: Second, compressed: bool) -> Vec<u8> {
    let body = in_charset(render::page(page, &History::of(page), now), page.server.charset());
    if compressed { gzip(&body) } else { body }
}

fn content_type(charset: Charset) -> String {
    let label = if charset.in_field { charset.name } else { "" };
    let mut value = String::from("text/html");
    if !label.is_empty() {
        push_all(&mut value, &["; charset=", label]);
    }
    value
}

fn push_validators(
    fields: &mut Vec<(&'static str, String)>,
    page: &Page<'_>,
    changed: Second,
    compressed: bool,
) {
    let kind = page.server.validators();
    if kind != Validators::None {
        fields.push(("ETag", tag(draw(page.seed, changed.cast_unsigned()), compressed)));
    }
    if kind == Validators::Both {
        fields.push(("Last-Modified", timestamp(changed).to_http_date()));
    }
}

fn push_further(fields: &mut Vec<(&'static str, String)>, page: &Page<'_>, compressed: bool) {
    if page.server.caches() {
        fields.push(("Cache-Control", "max-age=600".to_owned()));
    }
    if let Some((wish, true)) = page.robots_wish() {
        fields.push(("X-Robots-Tag", wish.to_owned()));
    }
    if page.server.compresses() {
        fields.push(("Vary", "Accept-Encoding".to_owned()));
    }
    if compressed {
        fields.push(("Content-Encoding", "gzip".to_owned()));
    }
}

/// Whether the client has these bytes already: by `If-None-Match`, which takes precedence, or by `If-Modified-Since` (RFC 9110, 13.2.2).
fn is_unchanged(fields: &[(&'static str, String)], request: &WebRequest<'_>, changed: Second) -> bool {
    let value =
        |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str());
    match (request.if_none_match, request.if_modified_since) {
        (Some(tags), _) => value("ETag").is_some_and(|tag| names(tags, tag)),
        (None, Some(date)) if value("Last-Modified").is_some() => {
            Timestamp::parse_http_date(date).is_some_and(|date| date.as_seconds() >= changed)
        }
        _ => false,
    }
}

/// Whether a list of tags names `tag`, weakly compared.
fn names(tags: &str, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    tags.trim() == "*" || tags.split(',').any(|listed| bare(listed) == tag)
}

fn tag(version: u64, compressed: bool) -> String {
    let mut tag = String::with_capacity(26);
    tag.push('"');
    push_hex(&mut tag, version >> 32);
    push_hex(&mut tag, version);
    tag.push_str(if compressed { "-gzip\"" } else { "\"" });
    tag
}

fn delivery(server: &Server<'_>) -> DeliveryMode {
    server.chunk_bytes().map_or(DeliveryMode::Plain, DeliveryMode::Chunked)
}

/// The text in the server's charset. Every character used here exists in each charset.
fn in_charset(text: String, charset: Charset) -> Vec<u8> {
    match charset.name {
        "Shift_JIS" => encoding_rs::SHIFT_JIS.encode(&text).0.into_owned(),
        "EUC-JP" => encoding_rs::EUC_JP.encode(&text).0.into_owned(),
        _ => text.into_bytes(),
    }
}

/// `bytes` compressed at the fastest level.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::new(1));
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory succeeds")
}

/// A file that is sent as it is.
pub(crate) fn file(server: &Server<'_>, media_type: &str, body: Vec<u8>) -> WebResponse {
    let mut answer = WebResponse::plain(200, media_type, body);
    answer.fields.insert(0, ("Server", server.software().to_owned()));
    answer
}

/// A file whose `ETag` is a hash of its bytes; 304 if the client sends that tag.
pub(crate) fn tagged_file(
    server: &Server<'_>,
    media_type: &str,
    body: Vec<u8>,
    request: &WebRequest<'_>,
) -> WebResponse {
    let tag = tag(base::chance::hash_bytes(server.seed, &body), false);
    let unchanged = request.if_none_match.is_some_and(|tags| names(tags, &tag));
    let mut answer = file(server, media_type, body);
    answer.fields.push(("ETag", tag));
    if unchanged {
        answer.status = 304;
        answer.body.clear();
    }
    answer
}

/// The response head for a list of pages: its `ETag` depends on a salt and on the time of the last change to the list.
pub(crate) fn list(
    server: &Server<'_>,
    media_type: &str,
    (question, changed): (u64, Second),
    request: &WebRequest<'_>,
    source: Source,
) -> WebResponseHead {
    let tag = tag(draw(draw(server.seed, question), changed.cast_unsigned()), false);
    let is_unchanged = request.if_none_match.is_some_and(|tags| names(tags, &tag));
    let fields = vec![
        ("Server", server.software().to_owned()),
        ("Content-Type", media_type.to_owned()),
        ("ETag", tag),
    ];
    let (status, source) = if is_unchanged { (304, Source::Made(Vec::new())) } else { (200, source) };
    WebResponseHead { status, fields, delivery: DeliveryMode::Plain, source }
}

/// The response for a page that does not exist or no longer exists.
pub(crate) fn missing(server: &Server<'_>, status: u16) -> WebResponse {
    let mut body = String::with_capacity(512);
    render::missing(&mut body, server, status);
    file_of_status(server, status, body)
}

/// A redirect to another URL.
pub(crate) fn redirect(server: &Server<'_>, to: &str) -> WebResponse {
    let mut body = String::with_capacity(256);
    push_all(
        &mut body,
        &["<!DOCTYPE html>\n<title>301</title>\n<p><a href=\"", &escaped(to), "\">301</a></p>\n"],
    );
    let mut answer = file_of_status(server, 301, body);
    answer.fields.push(("Location", to.to_owned()));
    answer
}

/// Text as an attribute value; a request target may contain anything.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

fn redirect_to(page: &Page<'_>, host: &str) -> WebResponse {
    let mut to = String::with_capacity(80);
    push_all(&mut to, &[page.server.scheme().as_str(), "://", host]);
    page.push_target(&mut to, true);
    redirect(&page.server, &to)
}

fn file_of_status(server: &Server<'_>, status: u16, body: String) -> WebResponse {
    let mut answer = file(server, "text/html; charset=utf-8", body.into_bytes());
    answer.status = status;
    answer
}
