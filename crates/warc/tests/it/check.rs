//! The validator: every rule with a record that breaks it and a twin that does not.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write as _};
use warc::check::{Check, CheckSummary, Finding, Severity};
use warc::{Draft, Kind, Level, RecordId, WarcWriter};

/// Everything that is found in `file`.
fn look_at(file: &[u8]) -> (Vec<Finding>, CheckSummary) {
    let mut check = Check::new(Cursor::new(file));
    let findings = check.by_ref().collect::<Result<_, _>>().unwrap();
    (findings, check.summary().clone())
}

/// A finding as the tables below write it: `!5.4` is an error, `?5.4` advice.
fn short(finding: &Finding) -> String {
    let mark = if finding.severity == Severity::Error { '!' } else { '?' };
    format!("{mark}{}", finding.clause_number())
}

/// The findings of `file`, each once, in their order.
#[track_caller]
fn check(file: &[u8], expected: &str) {
    let (findings, _) = look_at(file);
    let mut found: Vec<_> = findings.iter().map(short).collect();
    found.dedup();
    let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(found.join(" "), expected, "\n{}\nin\n{}", told.join("\n"), file.escape_ascii());
}

const ID: &str = "<urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39>";
const OTHER_ID: &str = "<urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>";
const NOTHING: &str = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const REQUEST: &str = "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
/// The SHA-1 of `hi`.
const HI: &str = "sha1:YIVV7ELYGQTASQUNN5I3FRNPJQF542SC";

/// A record that can be bent out of shape.
#[derive(Clone)]
struct Sample {
    version: &'static str,
    lines: Vec<String>,
    block: String,
}

impl Sample {
    /// A record of the given type with which nothing is wrong.
    fn good(kind: &str) -> Self {
        let mut lines = vec![
            format!("WARC-Type: {kind}"),
            format!("WARC-Record-ID: {ID}"),
            "WARC-Date: 2026-03-31T09:00:00Z".to_owned(),
        ];
        if kind != "warcinfo" {
            lines.push("WARC-Target-URI: https://example.org/".to_owned());
        }
        let (content_type, block) = match kind {
            "response" => ("application/http;msgtype=response", RESPONSE),
            "request" => ("application/http; msgtype=request", REQUEST),
            "warcinfo" | "metadata" => ("application/warc-fields", "software: utsushi\r\nformat: WARC\r\n"),
            "revisit" => ("application/http;msgtype=response", "HTTP/1.1 200 OK\r\n\r\n"),
            "continuation" => ("", "the rest"),
            _ => ("text/plain; charset=\"utf-8\"", "hi"),
        };
        if !content_type.is_empty() {
            lines.push(format!("Content-Type: {content_type}"));
        }
        match kind {
            "revisit" => lines.extend([
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest".to_owned(),
                format!("WARC-Payload-Digest: {HI}"),
                format!("WARC-Refers-To: {OTHER_ID}"),
                "WARC-Refers-To-Target-URI: https://example.org/".to_owned(),
                "WARC-Refers-To-Date: 2026-03-30T09:00:00.123456Z".to_owned(),
                "WARC-Truncated: length".to_owned(),
            ]),
            "continuation" => {
                lines.extend([
                    "WARC-Segment-Number: 2".to_owned(),
                    format!("WARC-Segment-Origin-ID: {OTHER_ID}"),
                ]);
            }
            _ => {}
        }
        lines.push(format!("Content-Length: {}", block.len()));
        Self { version: "WARC/1.1", lines, block: block.to_owned() }
    }
    fn old(mut self) -> Self {
        self.version = "WARC/1.0";
        self.lines.iter_mut().for_each(|line| *line = line.replace("/warc/1.1/", "/warc/1.0/"));
        self
    }
    /// Without the field of that name.
    fn without(mut self, name: &str) -> Self {
        self.lines.retain(|line| !line.starts_with(&format!("{name}:")));
        self
    }
    /// With the line in place of the field of its name, if there is one.
    fn with(self, line: &str) -> Self {
        let name = line.split(':').next().unwrap().to_owned();
        self.without(&name).and(line)
    }
    /// With the line besides.
    fn and(mut self, line: &str) -> Self {
        self.lines.push(line.to_owned());
        self
    }
    fn holding(mut self, block: &str) -> Self {
        self.block = block.to_owned();
        self.with(&format!("Content-Length: {}", block.len()))
    }
    fn head(&self) -> String {
        format!("{}\r\n{}\r\n\r\n", self.version, self.lines.join("\r\n"))
    }
    fn bytes(&self) -> Vec<u8> {
        format!("{}{}\r\n\r\n", self.head(), self.block).into_bytes()
    }
    #[track_caller]
    fn check(&self, expected: &str) {
        check(&self.bytes(), expected);
    }
}

fn good(kind: &str) -> Sample {
    Sample::good(kind)
}

const KINDS: [&str; 8] =
    ["warcinfo", "response", "request", "revisit", "metadata", "resource", "conversion", "continuation"];

#[test]
fn records_of_every_type_and_both_editions_are_valid() {
    for kind in KINDS {
        good(kind).check("");
        good(kind).old().check("");
        let mut loud = good(kind);
        loud.lines.iter_mut().for_each(|line| {
            let (name, value) = line.split_once(':').unwrap();
            *line = format!("{}:{value}", name.to_uppercase());
        });
        loud.check("");
    }
}

#[test]
fn mandatory_fields_are_missed() {
    for kind in KINDS {
        good(kind).without("WARC-Record-ID").check("!5.2");
        good(kind).without("Content-Length").check("!5.3");
        good(kind).without("WARC-Date").check("!5.4");
        good(kind).with("WARC-Record-ID:").check("!5.2");
        good(kind).with("WARC-Date:").check("!5.4");
        good(kind).with("Content-Length:").check("!5.3");
    }
    good("resource").without("WARC-Type").check("!5.5");
    good("resource").with("WARC-Type:").check("!5.5");
    good("resource").with("WARC-Type: Resource").check("");
    good("resource").with("WARC-Type: own").check("?5.5");
    good("resource").with("WARC-Type: res ource").check("!5.5");
    for kind in ["response", "request", "revisit", "resource", "conversion", "continuation"] {
        good(kind).without("WARC-Target-URI").check("!5.14");
        good(kind).old().without("WARC-Target-URI").check("!5.12");
    }
    good("metadata").without("WARC-Target-URI").check("");
    good("revisit").without("WARC-Profile").check("!5.18");
    good("revisit").old().without("WARC-Profile").check("!5.16");
    good("continuation").without("WARC-Segment-Number").check("!5.20");
    good("continuation").without("WARC-Segment-Origin-ID").check("!5.21");
    good("response").without("Content-Type").check("?5.6");
    good("response").without("Content-Type").holding("").check("");
}

#[test]
fn fields_stand_where_they_may() {
    for (line, kinds, expected) in [
        (&format!("WARC-Concurrent-To: {OTHER_ID}"), &["warcinfo", "conversion", "continuation"][..], "!5.7"),
        (&"WARC-IP-Address: 192.0.2.1".to_owned(), &["warcinfo", "conversion", "continuation"], "!5.10"),
        (
            &format!("WARC-Refers-To: {OTHER_ID}"),
            &["warcinfo", "response", "resource", "request", "continuation"],
            "!5.11",
        ),
        (
            &"WARC-Refers-To-Target-URI: https://example.org/".to_owned(),
            &["warcinfo", "response", "resource", "request", "continuation", "metadata", "conversion"],
            "!5.12",
        ),
        (
            &"WARC-Refers-To-Date: 2026-03-30T09:00:00Z".to_owned(),
            &["warcinfo", "response", "resource", "request", "continuation", "metadata", "conversion"],
            "!5.13",
        ),
        (&"WARC-Target-URI: https://example.org/".to_owned(), &["warcinfo"], "!5.14"),
        (&format!("WARC-Warcinfo-ID: {OTHER_ID}"), &["warcinfo"], "?5.16"),
        (
            &"WARC-Filename: a.warc".to_owned(),
            &["response", "request", "revisit", "metadata", "resource", "conversion", "continuation"],
            "!5.17",
        ),
        (
            &"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified".to_owned(),
            &["warcinfo", "response", "request", "metadata", "resource", "conversion", "continuation"],
            "?5.18",
        ),
        (&"WARC-Identified-Payload-Type: text/html".to_owned(), &["warcinfo", "metadata"], "!5.19"),
        (
            &format!("WARC-Segment-Origin-ID: {OTHER_ID}"),
            &["warcinfo", "response", "request", "revisit", "metadata", "resource", "conversion"],
            "!5.21",
        ),
        (
            &"WARC-Segment-Total-Length: 2".to_owned(),
            &["warcinfo", "response", "request", "revisit", "metadata", "resource", "conversion"],
            "!5.22",
        ),
    ] {
        for kind in KINDS {
            good(kind).with(line).check(if kinds.contains(&kind) { expected } else { "" });
        }
    }
    good("warcinfo").with(&format!("WARC-Payload-Digest: {NOTHING}")).check("!5.9");
    good("metadata").holding("").with(&format!("WARC-Payload-Digest: {NOTHING}")).check("?5.9");
    // A field that 1.0 lacks is an extension there.
    good("response").old().with("WARC-Refers-To-Date: 2026-03-30T09:00:00Z").check("");
    // The fields of unknown types are not checked.
    good("resource").with("WARC-Type: own").with("WARC-Filename: a").check("?5.5");
}

#[test]
fn fields_stand_once() {
    for line in [
        "WARC-Type: response",
        "WARC-Date: 2026-03-31T09:00:00Z",
        "Content-Type: application/http;msgtype=response",
        "WARC-Target-URI: https://example.org/",
        "content-length: 40",
    ] {
        good("response").and(line).check("!5.1");
    }
    for line in ["WARC-IP-Address: 192.0.2.1", "WARC-Truncated: time", &format!("WARC-Payload-Digest: {HI}")]
    {
        good("response").and(line).check("");
        good("response").and(line).and(line).check("!5.1");
    }
    let others = [format!("WARC-Concurrent-To: {ID}"), format!("WARC-Concurrent-To: {OTHER_ID}")];
    good("response").and(&others[0]).and(&others[1]).check("");
    good("response").and("X-Own: 1").and("X-Own: 2").check("");
}

#[test]
fn ids_are_uris_in_angle_brackets() {
    for (field, kind, expected) in [
        ("WARC-Record-ID", "response", "!5.2"),
        ("WARC-Concurrent-To", "response", "!5.7"),
        ("WARC-Refers-To", "metadata", "!5.11"),
        ("WARC-Warcinfo-ID", "response", "!5.16"),
        ("WARC-Segment-Origin-ID", "continuation", "!5.21"),
    ] {
        let with = |value: &str| good(kind).with(&format!("{field}: {value}"));
        with("<urn:uuid:00000000-0000-0000-0000-000000000000>").check("");
        with("<https://example.org/records/1>").check("");
        for wrong in [
            "urn:uuid:00000000-0000-0000-0000-000000000000",
            "<urn:uuid:00000000-0000-0000-0000-000000000000",
            "00000000-0000-0000-0000-000000000000",
            "<00000000-0000-0000-0000-000000000000>",
            "<urn:uuid: 00000000>",
            "<>",
            "<<urn:uuid:0>>",
            "< urn:uuid:0 >",
        ] {
            with(wrong).check(expected);
        }
    }
}

#[test]
fn uris_are_uris() {
    let with = |value: &str| good("resource").with(&format!("WARC-Target-URI: {value}"));
    with("urn:X-wpull:log").check("");
    with("<https://example.org/>").check("!5.14");
    with("<https://example.org/>").old().check("");
    with("<https://example.org/").old().check("!5.12");
    with("example.org").check("!5.14");
    with("/index.html").check("!5.14");
    with("").check("!5.14");
    with("https://example.org/a b").check("!5.14");
    with("https://example.org/a|b").check("?5.14");
    with("https://example.org/日本").check("?5.14");
    with("https://example.org/%zz").check("?5.14");
    let with = |value: &str| good("revisit").with(&format!("WARC-Refers-To-Target-URI: {value}"));
    with("https://example.org/other").check("");
    with("nowhere").check("!5.12");
    let with = |value: &str| good("revisit").with(&format!("WARC-Profile: {value}"));
    with("http://netpreserve.org/warc/1.1/revisit/server-not-modified").check("");
    with("http://netpreserve.org/warc/1.0/revisit/server-not-modified").check("?6.7.4");
    with("https://example.org/my-profile").check("?6.7.4");
    with("server-not-modified").check("!5.18 ?6.7.4");
    with("http://example.org/{x}").check("!5.18 ?6.7.4");
}

#[test]
fn numbers_are_digits() {
    for (field, kind, expected) in [
        ("WARC-Segment-Number", "continuation", "!5.20"),
        ("WARC-Segment-Total-Length", "continuation", "!5.22"),
    ] {
        good(kind).with(&format!("{field}: 10")).check("");
        for wrong in ["-1", "+3", "1.5", "0x10", "two", "1 0", "1,000", "99999999999999999999"] {
            good(kind).with(&format!("{field}: {wrong}")).check(expected);
        }
    }
    for wrong in ["-1", "+2", "2.0", "0x2", "two", "2 2", "2,0", "99999999999999999999"] {
        good("resource").with(&format!("Content-Length: {wrong}")).check("!5.3");
    }
    good("resource").with("Content-Length: 002").check("");
}

#[test]
fn segments_are_numbered() {
    for kind in ["response", "resource", "conversion"] {
        good(kind).with("WARC-Segment-Number: 1").check("");
    }
    for kind in ["response", "request", "revisit", "metadata", "resource", "conversion", "warcinfo"] {
        good(kind).with("WARC-Segment-Number: 2").check("!5.20");
        good(kind).with("WARC-Segment-Number: 0").check("!5.20");
    }
    for kind in ["warcinfo", "request", "metadata", "revisit"] {
        good(kind).with("WARC-Segment-Number: 1").check("?7");
    }
    good("continuation").with("WARC-Segment-Number: 0").check("!5.20");
    good("continuation").with("WARC-Segment-Number: 1").check("!5.20");
    good("continuation").with("WARC-Segment-Number: 3").check("");
    good("continuation").with("Content-Type: text/plain").check("?7");
}

#[test]
fn segments_add_up() {
    let first = good("resource").with("WARC-Segment-Number: 1").with(&format!("WARC-Record-ID: {OTHER_ID}"));
    let last = good("continuation");
    let file = |last: &Sample| [first.bytes(), last.bytes()].concat();
    check(&file(&last.clone().with("WARC-Segment-Total-Length: 10")), "");
    check(&file(&last.clone().with("WARC-Segment-Total-Length: 11")), "!5.22");
    check(&file(&last.clone().with("WARC-Target-URI: https://example.org/other")), "!7");
    let late = last.with("WARC-Segment-Number: 3").with("WARC-Segment-Total-Length: 11");
    check(&file(&late), "");
}

#[test]
fn dates_depend_on_the_edition() {
    let with = |value: &str| good("resource").with(&format!("WARC-Date: {value}"));
    with("2026-03").check("");
    with("2026-03").old().check("!5.4");
    with("2026-03-31T09:00:00.123456789Z").check("");
    with("2026-03-31T09:00:00.000Z").old().check("?5.4");
    with("2026-02-30T09:00:00Z").check("!5.4");
    with("2026-03-31T24:00:00Z").check("!5.4");
    with("2026-03-31T09:00:00").check("!5.4");
    with("20260331090000").check("!5.4");
    with("2026-03-31T09:00:00+09:00").check("!5.4");
    let with = |value: &str| good("revisit").with(&format!("WARC-Refers-To-Date: {value}"));
    with("2026-03-30").check("");
    with("30 March 2026").check("!5.13");
}

#[test]
fn media_types_have_a_form() {
    for (field, expected, advice) in
        [("Content-Type", "!5.6", "?5.6"), ("WARC-Identified-Payload-Type", "!5.19", "?5.19")]
    {
        let with = |value: &str| good("resource").with(&format!("{field}: {value}"));
        for right in ["text/html", "text/html;charset=utf-8", "a/b ; c=d ;\te=\"f \\\" g\"", "image/svg+xml"]
        {
            with(right).check("");
        }
        for wrong in
            ["", "text", "text/", "/html", "te xt/html", "text/html/x", "text html", "text/(x)", "=/="]
        {
            with(wrong).check(expected);
        }
        for sloppy in
            ["text/html;", "text/html; charset", "text/html; charset=", "text/html; charset=a b", "a/b;c=\"d"]
        {
            with(sloppy).check(advice);
        }
    }
    good("warcinfo").with("Content-Type: text/plain").check("?6.2");
    good("response").with("Content-Type: text/html").check("?6.3.2");
    good("response").with("Content-Type: application/http").check("");
    good("response").with("Content-Type: application/http;msgtype=request").check("?6.3.2");
    good("request").with("Content-Type: text/plain").check("?6.5.2");
    good("metadata").with("Content-Type: application/json").check("");
    good("resource").with("WARC-Target-URI: dns:example.org").check("!6.4.4");
    good("resource").with("WARC-Target-URI: dns:example.org").with("Content-Type: text/dns").check("");
}

#[test]
fn addresses_have_a_form() {
    let with = |value: &str| good("response").with(&format!("WARC-IP-Address: {value}"));
    for right in ["192.0.2.1", "2001:db8::1", "::1", "::ffff:192.0.2.1", "2001:DB8:0:0:0:0:0:1"] {
        with(right).check("");
    }
    for wrong in [
        "",
        "example.org",
        "192.0.2",
        "192.0.2.256",
        "192.0.2.1:80",
        "[::1]",
        "::1%eth0",
        "2001:db8::1::2",
        "1,2,3,4",
    ] {
        with(wrong).check("!5.10");
    }
}

#[test]
fn reasons_of_truncation_are_words() {
    let with = |value: &str| good("response").with(&format!("WARC-Truncated: {value}"));
    for right in ["length", "time", "disconnect", "unspecified", "Length"] {
        with(right).check("");
    }
    with("own-reason").check("?5.15");
    with("too long").check("!5.15");
    with("").check("!5.15");
}

#[test]
fn empty_values_are_no_values() {
    for (line, kind, expected) in [
        ("Content-Type:", "resource", "!5.6"),
        ("WARC-Concurrent-To:", "response", "!5.7"),
        ("WARC-Block-Digest:", "response", "!5.8"),
        ("WARC-Payload-Digest:", "response", "!5.9"),
        ("WARC-IP-Address:", "response", "!5.10"),
        ("WARC-Refers-To:", "metadata", "!5.11"),
        ("WARC-Refers-To-Target-URI:", "revisit", "!5.12"),
        ("WARC-Refers-To-Date:", "revisit", "!5.13"),
        ("WARC-Warcinfo-ID:", "response", "!5.16"),
        ("WARC-Filename:", "warcinfo", "!5.17"),
        ("WARC-Profile:", "revisit", "!5.18"),
        ("WARC-Identified-Payload-Type:", "response", "!5.19"),
        ("WARC-Segment-Number:", "continuation", "!5.20"),
        ("WARC-Segment-Origin-ID:", "continuation", "!5.21"),
        ("WARC-Segment-Total-Length:", "continuation", "!5.22"),
    ] {
        good(kind).with(line).check(expected);
    }
    good("warcinfo").with("WARC-Filename: \"a b.warc.gz\"").check("");
}

#[test]
fn revisits_state_what_their_profile_requires() {
    good("revisit").without("WARC-Payload-Digest").check("!6.7.2");
    good("revisit").without("WARC-Truncated").check("?6.7.2");
    good("revisit").without("WARC-Truncated").holding("").check("");
    let lonely = good("revisit")
        .without("WARC-Refers-To")
        .without("WARC-Refers-To-Date")
        .without("WARC-Refers-To-Target-URI");
    lonely.check("?6.7.2");
    // The digest is of content that is elsewhere.
    good("revisit").with(&format!("WARC-Payload-Digest: {NOTHING}")).check("");
}

#[test]
fn digests_are_computed_again() {
    let block_digest = |sample: Sample, value: &str| sample.with(&format!("WARC-Block-Digest: {value}"));
    let payload_digest = |sample: Sample, value: &str| sample.with(&format!("WARC-Payload-Digest: {value}"));
    for right in [
        HI,
        "sha1:c22b5f9178342609428d6f51b2c5af4c0bde6a42",
        "SHA-1:yivv7elygqtasqunn5i3frnpjqf542sc",
        "md5:49f68a5c8493ec2c0bf489821c21fc3b",
        "sha256:8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
        "sha-256:8F434346648F6B96DF89DDA901C5176B10A6D83961DD3C1AC88B59B2DC327AA4",
        "sha512:150a14ed5bea6cc731cf86c41566ac427a8db48ef1b9fd626664b3bfbb99071fa4c922f33dde38719b8c8354e2b7ab9d77e0e67fc12843920a712e73d558e197",
    ] {
        block_digest(good("resource"), right).check("");
        payload_digest(good("resource"), right).check("");
        payload_digest(good("response"), right).check("");
    }
    block_digest(good("resource"), NOTHING).check("!5.8");
    payload_digest(good("resource"), NOTHING).check("!5.9");
    payload_digest(good("response"), NOTHING).check("!5.9");
    payload_digest(good("conversion"), NOTHING).check("!5.9");
    payload_digest(good("request"), HI).check("!5.9");
    payload_digest(good("request"), NOTHING).check("");
    block_digest(good("warcinfo"), NOTHING).check("!5.8");
    block_digest(good("revisit"), NOTHING).check("!5.8");
    for wrong in [
        "sha1",
        "sha1:",
        "sha1:short",
        "YIVV7ELYGQTASQUNN5I3FRNPJQF542SC",
        "sha1:YIVV7ELYGQTASQUNN5I3FRNPJQF54210",
    ] {
        block_digest(good("resource"), wrong).check("!5.8");
        payload_digest(good("resource"), wrong).check("!5.9");
    }
    block_digest(good("resource"), "xxh3:0123").check("?5.8");
    // The payload of a segment is that of the whole.
    payload_digest(good("response").with("WARC-Segment-Number: 1"), NOTHING).check("");
}

#[test]
fn a_chunked_payload_counts_with_its_framing_or_without() {
    let block = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let framed = base::Sha1Digest::of(&[b"2\r\nhi\r\n0\r\n\r\n"]).to_string();
    for (digest, expected) in [(HI, ""), (framed.as_str(), ""), (NOTHING, "!5.9")] {
        good("response").holding(block).with(&format!("WARC-Payload-Digest: {digest}")).check(expected);
    }
}

#[test]
fn blocks_hold_what_their_type_says() {
    good("response").holding("<html>hi").check("?6.3.2");
    good("response").holding("HTTP/1.1 200 OK\r\nA: b\r\n").check("?6.3.2");
    good("response").holding("HTTP/1.1 200\r\n\r\n").check("");
    good("request").holding("hi").check("?6.5.2");
    good("warcinfo").holding("no field\r\n").check("?4");
    good("warcinfo").holding("a: b\r\n folded\r\n\r\n").check("");
    good("metadata").holding("via: \u{e9}\r\n").check("");
}

#[test]
fn versions_are_those_of_the_standard() {
    for (version, expected) in [
        ("WARC/1.0", ""),
        ("WARC/1.1", ""),
        ("WARC/0.17", "?4"),
        ("WARC/0.18", "?4"),
        ("WARC/1.2", "!4"),
        ("WARC/2.0", "!4"),
        ("WARC/1", "!4"),
        ("WARC/1.", "!4"),
        ("WARC/.1", "!4"),
        ("WARC/1.0.0", "!4"),
        ("WARC/1.0 ", "!4"),
        ("WARC/ 1.0", "!4"),
        ("WARC/x.y", "!4"),
        ("WARC/-1.0", "!4"),
        ("WARC/01.0", "!4"),
        ("WARC/10", "!4"),
        ("WARC /1.0", "!4"),
        ("WARC 1.0", "!4"),
        ("WARC1.0", "!4"),
        ("WARC", "!4"),
        ("WARC/", "!4"),
        // Literals of the grammar are case-insensitive (RFC 2616, section 2.1).
        ("warc/1.0", "?4"),
        ("Warc/1.1", "?4"),
        ("warc/1.2", "!4"),
        ("WARCS/1.0", "!4"),
    ] {
        let mut sample = good("resource");
        sample.version = version;
        sample.check(expected);
    }
    for beginning in
        ["", " WARC/1.0", "XWARC/1.0", "\u{feff}WARC/1.0", "HTTP/1.1 200 OK", "CRAW/1.0", "WAR/1.0"]
    {
        let mut sample = good("resource");
        sample.version = beginning;
        sample.check("!4");
    }
}

#[test]
fn heads_have_a_form() {
    let text = String::from_utf8(good("resource").bytes()).unwrap();
    let (head, rest) = text.split_once("\r\n\r\n").unwrap();
    let lf = format!("{}\n\n{rest}", head.replace("\r\n", "\n"));
    check(lf.as_bytes(), "!4");
    check(text.replacen("\r\n", "\n", 1).as_bytes(), "!4");
    check(text.replacen("\r\n", "\r\r\n", 2).as_bytes(), "!4");
    for line in [
        "no colon",
        ": no name",
        "Two Words: x",
        "Space-Before : x",
        "N\u{e4}me: x",
        "(comment): x",
        "a@b: x",
        "X-Own: a\x01b",
        "X-Own: a\x7fb",
        "X-Own: a\rb",
        "X-Own: a\0b",
    ] {
        good("resource").and(line).check("!4");
    }
    for line in
        ["X-Own: 日本", "X-Own:", "X-Own:x", "X-Own:\tx\t", "X-Own: a\r\n folded", "X!#$%&'*+-.^_`|~: x"]
    {
        good("resource").and(line).check("");
    }
    let mut folded = good("resource");
    folded.lines.insert(0, " continues nothing".to_owned());
    folded.check("!4");
    let mut not_text = good("resource").and("X-Own: ?").bytes();
    let place = not_text.iter().position(|b| *b == b'?').unwrap();
    not_text[place] = 0xff;
    check(&not_text, "!4");
    let folded = good("resource").with("WARC-Date:\r\n 2026-03-31T09:00:00Z");
    folded.check("");
}

#[test]
fn an_id_that_occurs_twice_in_a_file_is_an_error() {
    let (one, same) = (good("resource").bytes(), good("response").bytes());
    check(&[&one[..], &same].concat(), "!5.2");
    let other = good("response").with(&format!("WARC-Record-ID: {OTHER_ID}")).bytes();
    check(&[&one[..], &other].concat(), "");
    check(&[&one[..], &other, &same, &other].concat(), "!5.2");
}

#[test]
fn the_first_word_of_a_record_is_read_in_letters_of_any_case() {
    let mut small = good("resource");
    small.version = "warc/1.1";
    let other = good("response").with(&format!("WARC-Record-ID: {OTHER_ID}"));
    let file = [small.bytes(), b"garbage\r\n".to_vec(), other.bytes()].concat();
    check(&file, "?4 !4");
    let mut reader = warc::WarcReader::new(std::io::Cursor::new(&file), 100);
    assert_eq!(reader.next().unwrap().unwrap().version, warc::WarcVersion::One1);
    let mut damaged = other.bytes();
    damaged.extend_from_slice(b"garbage\r\n");
    damaged.extend(small.bytes());
    let mut reader = warc::WarcReader::new(std::io::Cursor::new(&damaged), 100);
    assert!(reader.next().unwrap().is_ok() && reader.next().unwrap().is_err());
    assert!(reader.resume().unwrap(), "it is found again after damage");
    assert_eq!(reader.next().unwrap().unwrap().block, b"hi");
}

#[test]
fn heads_end() {
    let sample = good("resource");
    let head = sample.head();
    check(head.strip_suffix("\r\n\r\n").unwrap().as_bytes(), "!4");
    check(head.strip_suffix("\r\n").unwrap().as_bytes(), "!4");
    check(b"WARC/1.1\r\n", "!4 !5.2 !5.3 !5.4 !5.5");
    check(b"WARC/1.1\r\n\r\n\r\n\r\n", "!5.2 !5.3 !5.4 !5.5");
    let long = good("resource").and(&format!("X-Long: {}", "a".repeat(400_000)));
    let (findings, summary) = look_at(&[long.bytes(), good("response").bytes()].concat());
    assert_eq!(short(&findings[0]), "!4");
    assert_eq!(summary.records, 2, "{findings:?}");
}

#[test]
fn two_line_ends_follow_a_block() {
    let sample = good("resource");
    let next =
        String::from_utf8(good("response").with(&format!("WARC-Record-ID: {OTHER_ID}")).bytes()).unwrap();
    for (end, expected) in [
        ("\r\n\r\n", ""),
        ("", "!4"),
        ("\r\n", "!4"),
        ("\n\n", "!4"),
        ("\r\n\n", "!4"),
        ("\r\r", "!4"),
        ("\r\n\r\n\r\n", "!4"),
        ("\r\n\r\n\r\n\r\n", "!4"),
        ("\r\n\r\n\n", "!4"),
        ("\r\n\r\n ", "!4"),
        ("\r\n\r\ngarbage\r\n", "!4"),
        ("x\r\n\r\n", "!5.3"),
        (" \r\n\r\n", "!5.3"),
        ("\0\0\0\0", "!5.3"),
    ] {
        for next in ["", &next] {
            let file = format!("{}{}{end}{next}", sample.head(), sample.block);
            // A blank at the end of the line before keeps the next record from beginning a line.
            let expected = if end.ends_with(' ') && !next.is_empty() { "!4" } else { expected };
            check(file.as_bytes(), expected);
        }
    }
}

#[test]
fn lengths_are_those_of_blocks() {
    let next = good("response").with(&format!("WARC-Record-ID: {OTHER_ID}"));
    let with =
        |length: usize| good("resource").holding("0123456789").with(&format!("Content-Length: {length}"));
    with(10).check("");
    for length in [0, 1, 9] {
        with(length).check("!5.3");
        check(&[with(length).bytes(), next.bytes()].concat(), "!5.3");
    }
    for length in [11, 12, 13, 14] {
        with(length).check("!4");
        check(&[with(length).bytes(), next.bytes()].concat(), "!4");
    }
    for length in [15, 20, 100, 1_000_000, usize::MAX] {
        with(length).check("!5.3");
        let (findings, summary) = look_at(&[with(length).bytes(), next.bytes()].concat());
        assert_eq!(findings.iter().map(short).collect::<Vec<_>>(), ["!5.3"]);
        assert_eq!(summary.records, 2, "the record that the length swallowed is found: {length}");
    }
}

#[test]
fn a_file_has_records_and_nothing_else() {
    check(b"", "!4");
    check(b"\r\n", "!4");
    check(b"hello", "!4");
    check(b"<html>\r\n<p>not a WARC file\r\n", "!4");
    check(&[0; 10_000], "!4");
    let sample = good("resource").bytes();
    check(&[b"\r\n", sample.as_slice()].concat(), "!4");
    check(&[b"garbage\r\n", sample.as_slice()].concat(), "!4");
    check(&[b"garbage\n", sample.as_slice()].concat(), "!4");
    let (findings, _) = look_at(b"filedesc://a.arc 0.0.0.0 20260331090000 text/plain 0\n\n");
    assert!(findings[0].what.contains("ARC file"), "{}", findings[0]);
}

#[test]
fn ids_are_distinguished() {
    let other = good("resource").with(&format!("WARC-Record-ID: {OTHER_ID}"));
    check(&[good("resource").bytes(), other.bytes()].concat(), "");
    check(&[good("resource").bytes(), good("request").bytes()].concat(), "!5.2");
    let concurrent = other.with(&format!("WARC-Concurrent-To: {ID}"));
    check(&[good("response").bytes(), concurrent.bytes()].concat(), "");
    let later = concurrent.with("WARC-Date: 2026-03-31T09:00:01Z");
    check(&[good("response").bytes(), later.bytes()].concat(), "?5.4");
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Three records, each a member by `pack`.
fn three(pack: fn(&[u8]) -> Vec<u8>) -> [Vec<u8>; 3] {
    ["response", "request", "metadata"].map(|kind| {
        let id = format!("WARC-Record-ID: <urn:example:{kind}>");
        pack(&good(kind).with(&id).bytes())
    })
}

/// The findings, and how many records were seen.
#[track_caller]
fn check_members(file: &[u8], expected: &str, records: u64) {
    check(file, expected);
    assert_eq!(look_at(file).1.records, records);
}

#[test]
fn gzip_members_hold_one_record_each() {
    let [a, b, c] = three(gzip);
    check_members(&[a, b, c].concat(), "", 3);
    let [a, b, c] = three(<[u8]>::to_vec);
    check_members(&gzip(&[a.as_slice(), &b, &c].concat()), "?D.2", 3);
    let (front, back) = a.split_at(100);
    check_members(&[gzip(front), gzip(back), gzip(&b), gzip(&c)].concat(), "?D.2", 3);
    check_members(&[gzip(&a), gzip(b""), gzip(&b)].concat(), "", 2);
}

#[test]
fn lengths_do_not_reach_into_other_members() {
    let [_, b, c] = three(gzip);
    let too_long = good("resource").with("Content-Length: 100");
    check_members(&[gzip(&too_long.bytes()), b.clone(), c.clone()].concat(), "!5.3", 3);
    let too_short = good("resource").with("Content-Length: 1");
    check_members(&[gzip(&too_short.bytes()), b.clone(), c.clone()].concat(), "!5.3", 3);
    let headless = good("resource").head();
    let headless = headless.strip_suffix("\r\n\r\n").unwrap();
    check_members(&[gzip(headless.as_bytes()), b, c].concat(), "!4", 3);
}

#[test]
fn gzip_members_are_whole() {
    let [a, b, c] = three(gzip);
    let with = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut b = b.clone();
        edit(&mut b);
        [a.clone(), b, c.clone()].concat()
    };
    let last = b.len();
    check_members(&with(&|b| b[last - 8] ^= 1), "!RFC 1952", 3);
    check_members(&with(&|b| b[last - 1] ^= 1), "!RFC 1952", 3);
    check_members(&with(&|b| b[3] |= 0x80), "!RFC 1952", 3);
    check_members(&with(&|b| b[2] = 7), "!RFC 1952", 2);
    check_members(&with(&|b| b[0] = 0), "!RFC 1952", 2);
    check_members(&with(&|b| b.truncate(last - 4)), "!RFC 1952", 3);
    check_members(&with(&|b| b.truncate(last / 2)), "!RFC 1952", 2);
    check_members(&with(&|b| b.extend(b"garbage")), "!RFC 1952", 3);
    check_members(&with(&|b| b.extend([0; 512])), "!RFC 1952", 3);
    let whole = [a.clone(), b.clone(), c.clone()].concat();
    let (findings, _) = look_at(&whole[..whole.len() - 3]);
    assert_eq!(findings.iter().map(short).collect::<Vec<_>>(), ["!RFC 1952"]);
    assert_eq!(findings[0].offset, (a.len() + b.len()) as u64);
    check(&[whole, b"trailing".to_vec()].concat(), "!RFC 1952");
}

#[test]
fn the_checksum_of_a_gzip_header_is_checked() {
    // FHCRC: the two bytes after the header are the lower half of its CRC32.
    let mut member = gzip(&good("resource").bytes());
    member[3] |= 2;
    let crc = {
        let mut crc = flate2::Crc::new();
        crc.update(&member[..10]);
        u16::try_from(crc.sum() & 0xffff).unwrap().to_le_bytes()
    };
    let with = |crc: [u8; 2]| [&member[..10], &crc, &member[10..]].concat();
    check(&with(crc), "");
    check(&with([crc[0] ^ 1, crc[1]]), "!RFC 1952");
}

fn zstd_frame(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::bulk::Compressor::new(3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.compress(content).unwrap()
}

#[test]
fn zstd_frames_hold_one_record_each() {
    let [a, b, c] = three(zstd_frame);
    check_members(&[a, b, c].concat(), "", 3);
    let skippable = [0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let [a, b, c] = three(zstd_frame);
    check_members(&[a.as_slice(), &skippable, &b, &skippable, &c].concat(), "", 3);
    let [a, b, c] = three(<[u8]>::to_vec);
    check_members(&zstd_frame(&[a.as_slice(), &b, &c].concat()), "?WARC-zstd 1.0", 3);
    let (front, back) = a.split_at(100);
    check_members(&[zstd_frame(front), zstd_frame(back), zstd_frame(&b)].concat(), "", 2);
    let plain = zstd::bulk::compress(&a, 3).unwrap();
    check_members(&plain, "?WARC-zstd 1.0", 1);
}

#[test]
fn zstd_frames_are_whole() {
    let [a, b, c] = three(zstd_frame);
    let with = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut b = b.clone();
        edit(&mut b);
        [a.clone(), b, c.clone()].concat()
    };
    let last = b.len();
    check_members(&with(&|b| b[last - 1] ^= 1), "!RFC 8878", 2);
    check_members(&with(&|b| b.truncate(last / 2)), "!RFC 8878", 2);
    check_members(&with(&|b| b.extend(b"garbage")), "!RFC 8878", 3);
    check_members(&with(&|b| b[0] = 0), "!RFC 8878", 2);
    let whole = [a, b, c].concat();
    check(&whole[..whole.len() - 3], "!RFC 8878");
}

#[test]
fn zstd_dictionaries_come_first() {
    let samples: Vec<Vec<u8>> =
        (0..500).map(|n| good("response").with(&format!("X-N: {n}")).bytes()).collect();
    let dictionary = zstd::dict::from_samples(&samples, 4096).unwrap();
    let frame = {
        let mut encoder = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.compress(&good("response").bytes()).unwrap()
    };
    let skippable = |content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        [&[0x5d, 0x2a, 0x4d, 0x18][..], &length, content].concat()
    };
    check_members(&[skippable(&dictionary), frame.clone(), frame.clone()].concat(), "!5.2", 2);
    check_members(&[skippable(&zstd_frame(&dictionary)), frame.clone()].concat(), "", 1);
    check(&frame, "!RFC 8878 !4");
    check(&[skippable(b"no dictionary"), frame.clone()].concat(), "!RFC 8878 !4");
    check(&skippable(&dictionary)[..100], "!RFC 8878 !4");
}

#[test]
fn what_we_write_is_valid() {
    let at = "2026-03-31T09:00:00.000001Z".parse().unwrap();
    let mut file = Vec::new();
    let mut writer = WarcWriter::new(Level::DEFAULT);
    for kind in [Kind::Warcinfo, Kind::Response, Kind::Metadata] {
        let id = RecordId::at("a.warc.gz", file.len() as u64, at, &kind);
        let draft = Draft::new(&kind, &id, at);
        let (draft, content_type, block) = match kind {
            Kind::Response => (draft.target("https://example.org/"), warc::HTTP_RESPONSE, RESPONSE),
            _ => (draft, warc::WARC_FIELDS, "a: b\r\n"),
        };
        writer.append(draft, content_type, &[block.as_bytes()], &mut file);
    }
    check_members(&file, "", 3);
}

#[test]
fn the_summary_counts() {
    let file = [good("warcinfo").bytes(), good("response").with("WARC-Date: x").bytes()].concat();
    let (findings, summary) = look_at(&file);
    assert_eq!((summary.records, summary.errors, summary.advice), (2, 2, 0));
    assert_eq!(summary.bytes, file.len() as u64);
    assert_eq!(
        summary.types.into_iter().collect::<Vec<_>>(),
        [("response".to_owned(), 1), ("warcinfo".to_owned(), 1)]
    );
    assert_eq!(findings[0].record, 2);
    assert_eq!(findings[0].offset, good("warcinfo").bytes().len() as u64);
    assert_eq!(findings[0].id.as_deref(), Some(ID));
}

#[test]
fn findings_cannot_forge_lines() {
    let (findings, _) = look_at(&good("resource").with("WARC-Date: \x1b[31mred\x07\u{202e}").bytes());
    for finding in findings {
        let told = finding.to_string();
        assert!(!told.chars().any(char::is_control), "{told:?}");
    }
}

#[test]
fn no_byte_makes_it_panic_or_run_on() {
    let [a, b, c] = three(gzip);
    let [d, e, f] = three(zstd_frame);
    let plain = three(<[u8]>::to_vec).concat();
    for file in [[a, b, c].concat(), [d, e, f].concat(), plain] {
        for place in 0..file.len() {
            let mut damaged = file.clone();
            damaged[place] ^= 0x55;
            let (findings, summary) = look_at(&damaged);
            assert!(summary.records <= 8 && findings.len() < 200);
            look_at(&file[..place]);
        }
    }
}
