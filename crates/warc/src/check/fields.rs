//! The named fields of one record (clauses 5 and 6): which are there, how often, and how they are written.
//!
//! Severities follow one rule: what the standard says with *shall* is an error, what it says with *should* or
//! *recommended* is advice. Where common writers break a *shall*, it is advice as well, with the reason in a comment.

use super::clause::{Clause, Edition, Field};
use super::date;
use super::digest::Claim;
use super::head::{Head, is_token};
use super::report::{Report, Severity, shown};
use super::uri::{self, Flaw};
use crate::Kind;
use std::net::IpAddr;

/// Checks every field of `head`.
pub(super) fn check(head: &Head, kind: &Kind, report: &mut Report) {
    check_presence(head, kind, report);
    check_repetition(head, report);
    for (field, value) in head.defined() {
        check_value(field, value, head.edition, report);
    }
    check_type(kind, report);
    check_segment(head, kind, report);
    check_content_type(head, kind, report);
    if *kind == Kind::Revisit {
        check_revisit(head, report);
    }
}

enum Presence {
    Required,
    Free,
    Unwanted(Severity),
}

fn check_presence(head: &Head, kind: &Kind, report: &mut Report) {
    for field in Field::ALL.iter().copied() {
        let is_there = head.get(field).is_some();
        match presence(field, kind, head.edition) {
            Presence::Required if !is_there => {
                report.wrong(
                    field,
                    format!("there is none; a record of type `{}` must have it", shown(kind.as_str())),
                );
            }
            Presence::Unwanted(severity) if is_there => {
                let modal = if severity == Severity::Error { "must" } else { "should" };
                let what = format!("a record of type `{}` {modal} not have it", shown(kind.as_str()));
                report.add(severity, Clause::Field(field), what);
            }
            _ => {}
        }
    }
}

/// Which records have a field.
#[expect(clippy::match_same_arms, reason = "the table stands in the order of the standard, line by line")]
fn presence(field: Field, kind: &Kind, edition: Edition) -> Presence {
    use Kind::{Continuation, Conversion, Metadata, Other, Request, Resource, Response, Revisit, Warcinfo};
    use Presence::{Free, Required, Unwanted};
    let unwanted = Unwanted(Severity::Error);
    match (field, kind) {
        (Field::RecordId | Field::ContentLength | Field::Date | Field::Type, _) => Required,
        (_, Other(_)) => Free,
        (Field::ConcurrentTo | Field::IpAddress, Warcinfo | Conversion | Continuation) => unwanted,
        (Field::PayloadDigest | Field::IdentifiedPayloadType, Warcinfo) => unwanted,
        // warcio gives every metadata record the digest of its block as payload digest.
        (Field::PayloadDigest, Metadata) => Unwanted(Severity::Advice),
        (Field::IdentifiedPayloadType, Metadata) => unwanted,
        (Field::RefersTo, Warcinfo | Response | Resource | Request | Continuation) => unwanted,
        (Field::RefersToTargetUri | Field::RefersToDate, kind)
            if *kind != Revisit && edition == Edition::V1_1 =>
        {
            unwanted
        }
        (Field::TargetUri, Warcinfo) => unwanted,
        (Field::TargetUri, Response | Resource | Request | Revisit | Conversion | Continuation) => Required,
        // wpull names the record itself.
        (Field::WarcinfoId, Warcinfo) => Unwanted(Severity::Advice),
        (Field::Filename, kind) if *kind != Warcinfo => unwanted,
        (Field::Profile, Revisit) => Required,
        // "Undefined for other record types", which is not "shall not".
        (Field::Profile, _) => Unwanted(Severity::Advice),
        (Field::SegmentNumber | Field::SegmentOriginId, Continuation) => Required,
        (Field::SegmentOriginId | Field::SegmentTotalLength, kind) if *kind != Continuation => unwanted,
        _ => Free,
    }
}

fn check_repetition(head: &Head, report: &mut Report) {
    for field in Field::ALL.iter().copied().filter(|field| *field != Field::ConcurrentTo) {
        let times = head.all(field).count();
        if times > 1 {
            let what = format!("`{}` occurs `{times}` times; it may occur once", field.name());
            report.error(Clause::Repeated, what);
        }
    }
}

fn check_value(field: Field, value: &str, edition: Edition, report: &mut Report) {
    if value.is_empty() {
        report.wrong(field, "is empty");
        return;
    }
    match field {
        Field::RecordId
        | Field::ConcurrentTo
        | Field::RefersTo
        | Field::WarcinfoId
        | Field::SegmentOriginId => {
            check_id(field, value, report);
        }
        Field::ContentLength | Field::SegmentNumber | Field::SegmentTotalLength => {
            check_number(field, value, report);
        }
        Field::Date | Field::RefersToDate => check_date(field, value, edition, report),
        Field::ContentType | Field::IdentifiedPayloadType => check_media_type(field, value, report),
        Field::BlockDigest | Field::PayloadDigest => check_digest(field, value, report),
        Field::IpAddress => check_address(value, report),
        Field::TargetUri | Field::RefersToTargetUri | Field::Profile => {
            check_uri(field, value, edition, report);
        }
        Field::Truncated => check_truncated(value, report),
        Field::Type | Field::Filename => {}
    }
}

/// `<` URI `>`.
fn check_id(field: Field, value: &str, report: &mut Report) {
    let inner = value.strip_prefix('<').and_then(|value| value.strip_suffix('>'));
    let Some(inner) = inner else {
        let what = format!("`{}` is not in angle brackets; expected `<urn:uuid:…>`", shown(value));
        report.wrong(field, what);
        return;
    };
    if let Err(flaw) = uri::check(inner) {
        report.wrong(field, format!("`{}` {flaw}", shown(value)));
    }
}

fn check_number(field: Field, value: &str, report: &mut Report) {
    if number(value).is_none() {
        report.wrong(field, format!("`{}` is not a number; expected digits and nothing else", shown(value)));
    }
}

/// Digits and nothing else: `u64` alone would take a plus sign as well.
pub(crate) fn number(value: &str) -> Option<u64> {
    value.bytes().all(|b| b.is_ascii_digit()).then(|| value.parse().ok())?
}

fn check_date(field: Field, value: &str, edition: Edition, report: &mut Report) {
    // 1.0 does not know what a revisit's date refers to; writers that add it take the form of 1.1.
    let edition = if field == Field::RefersToDate { Edition::V1_1 } else { edition };
    if let Err((severity, what)) = date::check(value, edition) {
        report.add(severity, Clause::Field(field), format!("`{}` {what}", shown(value)));
    }
}

fn check_media_type(field: Field, value: &str, report: &mut Report) {
    let (essence, parameters) =
        value.split_once(';').map_or((value, None), |(essence, rest)| (essence, Some(rest)));
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_token);
    let is_type =
        essence.trim_ascii_end().split_once('/').is_some_and(|(kind, sub)| is_word(kind) && is_word(sub));
    if !is_type {
        report.wrong(field, format!("`{}` is not a media type; expected `type/subtype`", shown(value)));
    } else if parameters.is_some_and(|parameters| !are_parameters(parameters)) {
        // The media type of a resource is copied from the server unchanged.
        let what = format!("`{}` has malformed parameters; expected `; name=value`", shown(value));
        report.advice(Clause::Field(field), what);
    }
}

fn are_parameters(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some((name, after)) = rest.split_once('=') else { return false };
        let name = name.trim_matches([' ', '\t']);
        if name.is_empty() || !name.bytes().all(is_token) {
            return false;
        }
        let Some(after) = after_parameter_value(after) else { return false };
        match after.trim_start_matches([' ', '\t']) {
            "" => return true,
            after => match after.strip_prefix(';') {
                Some(next) => rest = next,
                None => return false,
            },
        }
    }
}

/// What follows a word or a quoted string.
fn after_parameter_value(text: &str) -> Option<&str> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| !u8::try_from(c).is_ok_and(is_token)).unwrap_or(text.len());
        return if end == 0 { None } else { text.get(end..) };
    };
    let mut is_escaped = false;
    let end = quoted.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    quoted.get(end? + 1..)
}

fn check_digest(field: Field, value: &str, report: &mut Report) {
    match Claim::read(value) {
        Ok(Claim::Known(..)) => {}
        Ok(Claim::Unknown(label)) => {
            let what =
                format!("the algorithm `{}` is not known here, so the digest is not checked", shown(&label));
            report.advice(Clause::Field(field), what);
        }
        Err(what) => report.wrong(field, what),
    }
}

fn check_address(value: &str, report: &mut Report) {
    if value.parse::<IpAddr>().is_err() {
        let what = format!(
            "`{}` is not an address; expected one such as `192.0.2.1` or `2001:db8::1`",
            shown(value)
        );
        report.wrong(Field::IpAddress, what);
    }
}

/// The grammar of 1.0 puts every URI in angle brackets, its examples do not, and writers do both. 1.1 has none.
fn check_uri(field: Field, value: &str, edition: Edition, report: &mut Report) {
    let bracketed = value.strip_prefix('<').and_then(|value| value.strip_suffix('>'));
    let uri = match bracketed {
        Some(_) if edition == Edition::V1_1 => {
            let what =
                format!("`{}` is in angle brackets, which 1.1 has only around record ids", shown(value));
            report.wrong(field, what);
            return;
        }
        Some(inner) => inner,
        None => value,
    };
    let Err(flaw) = uri::check(uri) else { return };
    // URLs are written as browsers accept them, which is not always as RFC 3986 requires.
    let is_usual = flaw.is_usual() && field != Field::Profile;
    let severity = if is_usual { Severity::Advice } else { Severity::Error };
    report.add(severity, Clause::Field(field), told(uri, flaw));
}

fn told(uri: &str, flaw: Flaw) -> String {
    format!("`{}` {flaw}", shown(uri))
}

fn check_truncated(value: &str, report: &mut Report) {
    if !value.bytes().all(is_token) {
        report.wrong(Field::Truncated, format!("`{}` is not one word", shown(value)));
    } else if !["length", "time", "disconnect", "unspecified"]
        .iter()
        .any(|known| value.eq_ignore_ascii_case(known))
    {
        let what = format!(
            "`{}` is not a reason of the standard, which has `length`, `time`, `disconnect` and `unspecified`",
            shown(value)
        );
        report.advice(Clause::Field(Field::Truncated), what);
    }
}

fn check_type(kind: &Kind, report: &mut Report) {
    let Kind::Other(word) = kind else { return };
    if word.is_empty() {
        return;
    }
    if word.bytes().all(is_token) {
        let what = format!("`{}` is not a type of the standard; readers skip the record", shown(word));
        report.advice(Clause::Field(Field::Type), what);
    } else {
        report.wrong(Field::Type, format!("`{}` is not one word", shown(word)));
    }
}

fn check_segment(head: &Head, kind: &Kind, report: &mut Report) {
    let Some(value) = head.get(Field::SegmentNumber).and_then(number) else { return };
    match kind {
        Kind::Continuation if value < 2 => {
            report.wrong(Field::SegmentNumber, format!("`{value}` in a continuation; expected `2` or more"));
        }
        Kind::Continuation | Kind::Other(_) => {}
        _ if value != 1 => {
            report.wrong(
                Field::SegmentNumber,
                format!("`{value}` in a record that is not a continuation; expected `1`"),
            );
        }
        Kind::Warcinfo | Kind::Request | Kind::Metadata | Kind::Revisit => {
            report.advice(
                Clause::Segmentation,
                format!("segments of type `{}` are not recommended", kind.as_str()),
            );
        }
        _ => {}
    }
}

fn check_content_type(head: &Head, kind: &Kind, report: &mut Report) {
    let length = head.get(Field::ContentLength).and_then(number).unwrap_or_default();
    let Some(value) = head.get(Field::ContentType) else {
        if length > 0 && *kind != Kind::Continuation {
            let what = "there is none; a record whose block is not empty should have it";
            report.advice(Clause::Field(Field::ContentType), what);
        }
        return;
    };
    let essence = essence(value);
    let target = target(head);
    let over_http = target.starts_with("http:") || target.starts_with("https:");
    match kind {
        Kind::Warcinfo if essence != "application/warc-fields" => {
            let what =
                format!("its content type is `{}`; recommended is `application/warc-fields`", shown(value));
            report.advice(Clause::Warcinfo, what);
        }
        Kind::Response if over_http => expect_http(value, "response", Clause::HttpResponse, report),
        Kind::Request if over_http => expect_http(value, "request", Clause::HttpRequest, report),
        Kind::Resource if target.starts_with("dns:") && essence != "text/dns" => {
            report.error(
                Clause::DnsResource,
                format!("its content type is `{}`; expected `text/dns`", shown(value)),
            );
        }
        Kind::Continuation => {
            let what = "a continuation has a `Content-Type`; only the first segment should";
            report.advice(Clause::Segmentation, what);
        }
        _ => {}
    }
}

fn expect_http(value: &str, direction: &str, clause: Clause, report: &mut Report) {
    let other = if direction == "request" { "response" } else { "request" };
    let goes_the_other_way = value.to_ascii_lowercase().contains(&format!("msgtype={other}"));
    if essence(value) != "application/http" || goes_the_other_way {
        let what = format!(
            "its content type is `{}`; expected `application/http;msgtype={direction}`",
            shown(value)
        );
        report.advice(clause, what);
    }
}

/// A media type without its parameters, in lower case.
pub(super) fn essence(value: &str) -> String {
    value.split(';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase()
}

/// The target without angle brackets, in lower case; empty if there is none.
pub(super) fn target(head: &Head) -> String {
    let value = head.get(Field::TargetUri).unwrap_or_default();
    value.trim_start_matches('<').to_ascii_lowercase()
}

fn check_revisit(head: &Head, report: &mut Report) {
    let profile = head.get(Field::Profile).unwrap_or_default();
    let profile = profile.trim_start_matches('<').trim_end_matches('>');
    let of_netpreserve = profile.strip_prefix("http://netpreserve.org/warc/").unwrap_or_default();
    let (edition, name) = of_netpreserve.split_once("/revisit/").unwrap_or_default();
    let expected_edition = if head.edition == Edition::V1_0 { "1.0" } else { "1.1" };
    let is_defined = matches!(name, "identical-payload-digest" | "server-not-modified");
    if !profile.is_empty() && (!is_defined || edition != expected_edition) {
        let what = format!(
            "`{}` is not a profile of this edition; it defines `http://netpreserve.org/warc/{expected_edition}/revisit/` with `identical-payload-digest` and `server-not-modified`",
            shown(profile)
        );
        report.advice(Clause::OtherProfile, what);
    }
    if name != "identical-payload-digest" {
        return;
    }
    if head.get(Field::PayloadDigest).is_none() {
        report
            .error(Clause::IdenticalDigest, "there is no `WARC-Payload-Digest`, which this profile requires");
    }
    let length = head.get(Field::ContentLength).and_then(number).unwrap_or_default();
    if length > 0 && !head.get(Field::Truncated).is_some_and(|reason| reason.eq_ignore_ascii_case("length")) {
        // Neither pywb nor warcio writes it.
        let what = "the content is left out without `WARC-Truncated: length`";
        report.advice(Clause::IdenticalDigest, what);
    }
    if [Field::RefersTo, Field::RefersToTargetUri, Field::RefersToDate]
        .iter()
        .all(|field| head.get(*field).is_none())
    {
        let what = "nothing says where the content is; recommended are `WARC-Refers-To`, `WARC-Refers-To-Target-URI` and `WARC-Refers-To-Date`";
        report.advice(Clause::IdenticalDigest, what);
    }
}
