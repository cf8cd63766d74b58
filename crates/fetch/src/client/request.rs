//! The head of a request, as sent.
//!
//! **Invariant:** a value that could break the head is never written (H16): a setting is refused when the door is
//! created, and a field of the request (such as an `ETag` from the web) is omitted, which its head then shows.

use super::Settings;
use base::door::Request;

/// Fields that belong to the connection, and so to the door.
const OWN: [&str; 4] = ["host", "connection", "content-length", "transfer-encoding"];

/// The request line, the fields, the empty line.
///
/// # Panics
/// If the program itself passes a field that belongs to the door, or an invalid name.
pub(super) fn head(request: &Request, settings: &Settings) -> Vec<u8> {
    let method = if request.head_only { "HEAD" } else { "GET" };
    let mut head = format!("{method} {} HTTP/1.1\r\n", request.url.target());
    push(&mut head, "Host", request.url.server().as_str());
    for (name, value) in standing_fields(settings, &settings.introduction()) {
        if !value.is_empty() && !request.fields.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) {
            push(&mut head, name, value);
        }
    }
    for (name, value) in &request.fields {
        assert!(may_be_named(name), "`{name}` is no field a request may be given");
        if is_field_value(value) {
            push(&mut head, name, value);
        } else {
            tracing::debug!(name, "a field with control characters is not sent");
        }
    }
    push(&mut head, "Connection", "keep-alive");
    head.push_str("\r\n");
    head.into_bytes()
}

/// The default fields of every request, unless it has its own.
fn standing_fields<'a>(settings: &'a Settings, agent: &'a str) -> [(&'static str, &'a str); 4] {
    [
        ("User-Agent", agent),
        ("Accept", &settings.accept),
        ("Accept-Language", &settings.accept_language),
        ("Accept-Encoding", &settings.accept_encoding),
    ]
}

fn push(head: &mut String, name: &str, value: &str) {
    for part in [name, ": ", value, "\r\n"] {
        head.push_str(part);
    }
}

fn may_be_named(name: &str) -> bool {
    let is_token = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    is_token && !OWN.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Whether a value stays on its line: no control character except the tab.
pub(super) fn is_field_value(value: &str) -> bool {
    value.bytes().all(|b| b == b'\t' || !b.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PageUrl;

    fn sent(request: &Request) -> String {
        let settings = Settings {
            user_agent: "utsushi/9".to_owned(),
            accept: String::new(),
            accept_language: "ja".to_owned(),
            ..Settings::default()
        };
        String::from_utf8(head(request, &settings)).unwrap()
    }

    fn page(url: &str) -> PageUrl {
        PageUrl::parse(url).unwrap()
    }

    #[test]
    fn a_request_says_who_asks_for_what() {
        assert_eq!(
            sent(&Request::get(page("http://a.example:8080/x?y=z"))),
            "GET /x?y=z HTTP/1.1\r\nHost: a.example:8080\r\nUser-Agent: utsushi/9\r\nAccept-Language: ja\r\n\
             Accept-Encoding: gzip\r\nConnection: keep-alive\r\n\r\n"
        );
        let head_only = Request { head_only: true, ..Request::get(page("https://[::1]:443/")) };
        assert!(sent(&head_only).starts_with("HEAD / HTTP/1.1\r\nHost: [::1]\r\n"));
    }

    #[test]
    fn a_contact_stands_behind_the_name() {
        let settings = Settings {
            user_agent: "utsushi/9".to_owned(),
            contact: Some("https://a.example/bot".to_owned()),
            ..Settings::default()
        };
        let head = head(&Request::get(page("http://a.example/")), &settings);
        let head = String::from_utf8(head).unwrap();
        assert!(head.contains("\r\nUser-Agent: utsushi/9 (+https://a.example/bot)\r\n"), "{head}");
    }

    #[test]
    fn a_field_of_the_request_takes_the_place_of_a_standing_one() {
        let head = sent(&Request::get(page("http://a.example/")).with("accept-encoding", "identity"));
        assert!(head.contains("accept-encoding: identity\r\n") && !head.contains("gzip"), "{head}");
    }

    #[test]
    fn survives_h16_fields_that_would_break_the_head_apart() {
        for value in ["\"a\r\nX: y\"", "a\nb", "a\rb", "a\0b", "a\x7fb"] {
            let head = sent(&Request::get(page("http://a.example/")).with("If-None-Match", value));
            assert!(!head.contains("If-None-Match") && !head.contains("X: y"), "{head}");
        }
        let head = sent(&Request::get(page("http://a.example/")).with("If-None-Match", "\"é\t\""));
        assert!(head.contains("If-None-Match: \"é\t\"\r\n"), "{head}");
    }

    #[test]
    #[should_panic(expected = "`Host` is no field")]
    fn the_door_keeps_its_own_fields() {
        sent(&Request::get(page("http://a.example/")).with("Host", "b.example"));
    }
}
