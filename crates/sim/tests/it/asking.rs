//! Requests as tests make them, and a small reader of what comes back.

use base::url::Scheme;
use base::{PageUrl, Timestamp};
use sim::{Plan, Web, WebRequest, WebResponse};

/// A web with these numbers of pages and servers.
pub(crate) fn web(pages: u64, servers: u32) -> Web {
    Web::new(Plan { pages, servers, ..Plan::default() })
}

/// A plain GET.
pub(crate) fn get(web: &Web, url: &str, now: Timestamp) -> WebResponse {
    ask(web, url, now, |_| {})
}

/// A GET with what `change` adds to it.
pub(crate) fn ask<'a>(
    web: &Web,
    url: &'a str,
    now: Timestamp,
    change: impl FnOnce(&mut WebRequest<'a>),
) -> WebResponse {
    let (scheme, rest) = url.split_once("://").unwrap();
    let slash = rest.find('/').unwrap();
    let mut asked = WebRequest {
        scheme: if scheme == "https" { Scheme::Https } else { Scheme::Http },
        host: &rest[..slash],
        target: &rest[slash..],
        head_only: false,
        if_none_match: None,
        if_modified_since: None,
        accepts_gzip: false,
    };
    change(&mut asked);
    web.answer(&asked, now)
}

/// A GET that follows redirects.
pub(crate) fn follow(web: &Web, url: &str, now: Timestamp) -> WebResponse {
    let mut url = url.to_owned();
    for _ in 0..5 {
        let answer = get(web, &url, now);
        match field(&answer, "Location") {
            Some(to) => url = to.to_owned(),
            None => return answer,
        }
    }
    panic!("too many redirects at {url}");
}

/// The field called `name`.
pub(crate) fn field<'a>(answer: &'a WebResponse, name: &str) -> Option<&'a str> {
    answer.fields.iter().find(|(found, _)| *found == name).map(|(_, value)| value.as_str())
}

/// The body as text, whatever its charset.
pub(crate) fn text(answer: &WebResponse) -> String {
    let bytes = &answer.body;
    let label = |name: &str| {
        let in_field = field(answer, "Content-Type").is_some_and(|value| value.contains(name));
        in_field || find(bytes, format!("<meta charset=\"{name}\"").as_bytes())
    };
    if label("Shift_JIS") {
        encoding_rs::SHIFT_JIS.decode(bytes).0.into_owned()
    } else if label("EUC-JP") {
        encoding_rs::EUC_JP.decode(bytes).0.into_owned()
    } else {
        String::from_utf8(bytes.clone()).unwrap()
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// The text between the first `before` and the `after` that follows it.
pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("no {before}")) + before.len();
    let length = text[start..].find(after).unwrap_or_else(|| panic!("no {after}"));
    &text[start..start + length]
}

/// The targets of all `a` elements, whole.
pub(crate) fn hrefs(text: &str, url: &str) -> Vec<String> {
    let page = PageUrl::parse(url).unwrap();
    let found = text.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    found.map(|href| page.join(&href.replace("&amp;", "&")).unwrap().as_str().to_owned()).collect()
}

/// This many days after the origin.
pub(crate) fn day(days: u64) -> Timestamp {
    sim::ORIGIN.plus(base::Interval::from_days(days))
}
