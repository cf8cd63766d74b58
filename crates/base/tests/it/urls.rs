//! URLs as the tests of the WHATWG standard expect them, and pages made from them.

mod differences;

use base::{Chance, PageUrl, url::read};
use differences::KNOWN_DIFFERENCES_OTHER_SCHEMES;
use serde_json::Value;
use std::collections::BTreeSet;
use url::{Url, quirks};

/// A part of a URL by the name that the standard's tests give it, and how to get it.
type Part = (&'static str, fn(&Url) -> String);

const PARTS: [Part; 11] = [
    ("href", |url| quirks::href(url).to_owned()),
    ("protocol", |url| quirks::protocol(url).to_owned()),
    ("username", |url| quirks::username(url).to_owned()),
    ("password", |url| quirks::password(url).to_owned()),
    ("host", |url| quirks::host(url).to_owned()),
    ("hostname", |url| quirks::hostname(url).to_owned()),
    ("port", |url| quirks::port(url).to_owned()),
    ("pathname", |url| quirks::pathname(url).to_owned()),
    ("search", |url| quirks::search(url).to_owned()),
    ("hash", |url| quirks::hash(url).to_owned()),
    ("origin", quirks::origin),
];

#[test]
fn pages_and_failures_are_those_of_the_standard() {
    let wrong: Vec<String> =
        cases().iter().filter(|case| !is_other_scheme(case)).filter_map(difference).collect();
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn other_schemes_differ_only_in_known_cases() {
    let cases = cases();
    if cases.is_empty() {
        return;
    }
    let others = cases.iter().filter(|case| is_other_scheme(case));
    let found: BTreeSet<_> = others.filter(|case| difference(case).is_some()).map(name).collect();
    let known: BTreeSet<_> = KNOWN_DIFFERENCES_OTHER_SCHEMES.iter().copied().collect();
    let (new, gone): (Vec<_>, Vec<_>) =
        (found.difference(&known).collect(), known.difference(&found).collect());
    assert!(new.is_empty() && gone.is_empty(), "not known: {new:#?}\nno longer true: {gone:#?}");
}

#[test]
fn every_page_of_the_standard_keeps_its_form() {
    let mut count = 0;
    for case in cases() {
        if let Some(page) = parsed(&case).ok().and_then(|url| PageUrl::from_url(url).ok()) {
            check_page(&page);
            count += 1;
        }
    }
    eprintln!("{count} pages");
}

/// The invariants of a page, and that its key can be made.
#[track_caller]
pub(crate) fn check_page(page: &PageUrl) {
    let url = page.as_url();
    assert!(matches!(url.scheme(), "http" | "https") && page.as_str().is_ascii(), "{page}");
    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none(), "{page}");
    assert!(!page.host().is_empty() && !page.host().ends_with('.'), "{page}");
    assert_eq!(PageUrl::parse(page.as_str()).as_ref(), Ok(page), "the form is stable");
    assert!(page.path().starts_with('/') && page.target().starts_with('/'), "{page}");
    let key = page.key();
    assert!(
        key.as_str().contains(")/") && key.as_str().bytes().all(|b| b.is_ascii_graphic()),
        "{page} {key}"
    );
}

#[test]
fn random_references_are_pages_or_refused() {
    const PIECES: [&str; 40] = [
        "http",
        "https",
        ":",
        ":",
        "/",
        "/",
        "//",
        "\\",
        "?",
        "#",
        "@",
        "a.jp",
        "あ.jp",
        ".",
        "..",
        "%2e",
        "%",
        "%7e",
        "%zz",
        "[::1]",
        "[",
        "]",
        "127.1",
        "0x7f",
        "1",
        "99999",
        ":80",
        ":443",
        ";jsessionid=1",
        "(S(",
        "))",
        "&",
        "=",
        " ",
        "\t",
        "\u{0}",
        "\u{ad}",
        "^",
        "|",
        "é",
    ];
    let mut chance = Chance::new(crate::number("UTSUSHI_TORTURE_SEED", 1));
    let base = PageUrl::parse("https://a.jp/x/y?z").unwrap();
    let mut count = 0;
    for _ in 0..20_000 {
        let length = chance.index(12);
        let text: String = (0..length).map(|_| *chance.pick(&PIECES)).collect();
        for page in [base.join(&text), PageUrl::parse(&format!("http://{text}"))].into_iter().flatten() {
            check_page(&page);
            count += 1;
        }
    }
    assert!(count > 10_000, "only {count} pages");
}

/// The cases of the suite; none when it is absent.
fn cases() -> Vec<Value> {
    let Some(suite) = crate::suite("urltestdata.json") else { return Vec::new() };
    let all: Vec<Value> = serde_json::from_str(&without_lone_surrogates(&suite)).unwrap();
    // Strings between the cases are headings.
    let cases: Vec<Value> = all.into_iter().filter(Value::is_object).collect();
    assert!(cases.len() > 800, "only {} cases", cases.len());
    cases
}

fn name(case: &Value) -> (&str, Option<&str>) {
    (case["input"].as_str().unwrap(), case["base"].as_str())
}

fn is_other_scheme(case: &Value) -> bool {
    case["protocol"].as_str().is_some_and(|scheme| !matches!(scheme, "http:" | "https:"))
}

fn parsed(case: &Value) -> Result<Url, url::ParseError> {
    let (input, base) = name(case);
    let base = base.map(|base| read(base, None)).transpose()?;
    read(input, base.as_ref())
}

/// How our result differs from the case, if it does.
fn difference(case: &Value) -> Option<String> {
    let url = parsed(case);
    if case["failure"] == true {
        return url.ok().map(|url| format!("{:?}: `{url}` is expected to fail", name(case)));
    }
    let Ok(url) = url else { return Some(format!("{:?}: fails", name(case))) };
    PARTS.iter().find_map(|(part, of)| {
        let (wanted, found) = (case[part].as_str()?, of(&url));
        (wanted != found).then(|| format!("{:?}: {part} is `{found}`, not `{wanted}`", name(case)))
    })
}

/// Our strings are always valid Unicode; the standard's readers see U+FFFD for a lone surrogate.
fn without_lone_surrogates(json: &str) -> String {
    let mut rest = json;
    let mut clean = String::with_capacity(json.len());
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let (escape, length) = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (&rest[..12], 12),
            (Some(0xd800..0xe000), _) => ("\\ufffd", 6),
            _ => (&rest[..2], 2),
        };
        clean.push_str(escape);
        rest = &rest[length..];
    }
    clean + rest
}

/// The value of the `\uXXXX` that `text` begins with.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[test]
fn lone_surrogates_are_replaced_and_pairs_kept() {
    let json = r#"["\\ud800 \ud800x \uDC00\n \ud83d\ude00 \ud83d\ud83d\ude00 é\u00e9"]"#;
    let texts: Vec<String> = serde_json::from_str(&without_lone_surrogates(json)).unwrap();
    assert_eq!(texts, ["\\ud800 \u{fffd}x \u{fffd}\n 😀 \u{fffd}😀 éé"]);
}
