//! Short texts: URLs, dates, and the words of an operator.

use crate::{page, texts};
use base::limits::URL_BYTES_MAX;
use base::{Interval, PageUrl, Period, ServerName, Timestamp};

/// Reads a URL, whole and as a reference.
pub(crate) fn url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = (ServerName::parse(&text), base::server::registrable_domain_of_text(&text));
    for url in [PageUrl::parse(&text), page().join(&text)] {
        match url {
            Ok(url) => check_url(&url),
            Err(error) => assert!(!error.to_string().contains(['\n', '\u{1b}']), "{error}"),
        }
    }
}

fn check_url(url: &PageUrl) {
    let text = url.as_str();
    assert!(text.len() <= URL_BYTES_MAX && !text.contains(['#', ' ', '\n']), "{text}");
    assert_eq!(PageUrl::parse(text).as_ref(), Ok(url), "a URL is read as it is written");
    assert!(!url.host().is_empty() && !url.host().ends_with('.') && url.target().starts_with('/'), "{text}");
    let server = url.server();
    assert_eq!(ServerName::parse(server.as_str()), Ok(server), "a server is read as it is written");
    assert_eq!(
        url.with_scheme(base::url::Scheme::Https).key(),
        url.key(),
        "a key is the same by http and https"
    );
    assert!(!url.key().as_str().is_empty());
    let _ = archive::Key::of(text);
}

/// Turns a URL around.
pub(crate) fn surt(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let surt = formats::cdxj::surt(&text);
    assert!(!surt.contains([' ', '\n', '\r', '\t']), "{surt:?}");
}

/// Reads moments and lengths of time in all their forms.
pub(crate) fn dates(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let now = Timestamp::from_seconds(1_800_000_000).expect("that is a date");
    let moments = [
        Timestamp::parse(&text, now).ok(),
        Timestamp::parse_http_date(&text),
        text.parse::<Timestamp>().ok(),
        warc::moment(&text),
    ];
    for moment in moments.into_iter().flatten() {
        assert_eq!(moment.to_rfc3339().parse(), Ok(moment), "a moment is read as it is written");
        let _ = (moment.to_stamp(), moment.to_http_date());
    }
    if let Some(moment) = moments[1] {
        assert_eq!(Timestamp::parse_http_date(&moment.to_http_date()), Some(moment));
    }
    if let Ok(period) = Period::parse(&text, now) {
        assert!(period.from() <= period.to());
    }
    let _ = text.parse::<Interval>().map(|interval| interval.to_string());
    let feed = format!("<rss><item><link>/x</link><pubDate>{}</pubDate></item></rss>", text.replace('<', ""));
    let _ = html::feed::read(&page(), None, feed.as_bytes());
}

/// Reads what an operator writes on the command line and in settings.
pub(crate) fn operator_words(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = (
        text.parse::<frontier::Rule>(),
        text.parse::<frontier::RevisitPolicy>(),
        text.parse::<frontier::Mode>(),
    );
    let _ = (
        text.parse::<frontier::AgreedRate>(),
        text.parse::<fetch::Proxy>(),
        text.parse::<fetch::AddressRange>(),
    );
    let _ =
        (text.parse::<guard::AddressBlock>(), text.parse::<archive::Unit>(), text.parse::<archive::Flag>());
    let _ = (text.parse::<archive::MediaPattern>(), text.parse::<archive::Relations>());
    let _ = (archive::Scope::site(&text), archive::Scope::server(&text), archive::Scope::prefix(&text));
    let _ = (archive::Target::url(&text), archive::Target::prefix(&text), archive::Target::server(&text));
    if let Ok(recipe) = text.parse::<archive::Recipe>() {
        let _ = format!("{recipe:?}");
    }
    if let Ok(place) = text.parse::<archive::Checkpoint>() {
        assert_eq!(place.to_string().parse::<archive::Checkpoint>().ok(), Some(place));
    }
    if let Some(selection) = frontier::Selection::read(&text) {
        assert_eq!(frontier::Selection::read(&selection.to_string()), Some(selection));
    }
    let _ = base::exclusion::Directives::of_field(&text, "utsushi")
        .and(base::exclusion::Directives::of_meta(&text));
    assert!(!base::printable(&text).contains(['\u{1b}', '\u{0}', '\u{7f}']));
}

pub(crate) fn url_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "http://User:pass@WWW.Example.JP.:80/a/../b;jsessionid=1?sid=2&q=%e5%86%99#f",
        "https://xn--n8jaaaaai5bhf7as8fsfk3jnknefdde3.example:8443/写し?x=y z",
        "//192.0.2.1/x",
        "http://[2001:db8::1]:81/",
        "?q",
        "mailto:a@b.example",
        "http://0x7f.1/",
        "dns:a.example",
        "filedesc://a.arc",
        "http://a.example/%zz%2F\\..//?PHPSESSID=00000000000000000000000000000000",
    ])
}

pub(crate) fn dates_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "Tue, 31 Mar 2026 09:00:00 GMT",
        "Tuesday, 31-Mar-26 09:00:00 GMT",
        "Tue Mar 31 09:00:00 2026",
        "2026-03-31T09:00:00.123456+09:00",
        "2026-03-31",
        "20260331090000",
        "3d ago",
        "1h30m",
        "2026-03",
        "2026-01-01..2026-02-01",
        "last 7d",
        "Tue, 31 Mar 26 09:00 EST",
        "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:60Z",
    ])
}

pub(crate) fn operator_words_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "include http://a.example/*",
        "exclude *.b.example",
        "site",
        "a.example 10s 2",
        "http://127.0.0.1:3128",
        "10.0.0.0/8",
        "2001:db8::/32",
        "text/*",
        "utsushi-20261115231600123456-00000.warc.gz@337",
        "url http://a.example/",
        "prefix http://a.example/x",
        "server a.example:81",
        "http://a.example/x/",
        "utsushi: noindex, unavailable_after: 25 Jun 2030 15:00:00 GMT",
        "none, nofollow",
        "adaptive",
        "fresh",
    ])
}
