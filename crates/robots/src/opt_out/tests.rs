use super::*;
use base::Chance;

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

/// Which of the URLs a list of one line leaves alone.
#[track_caller]
fn check(line: &str, refused: &[&str], visited: &[&str]) {
    let list = OptOutList::parse(line).unwrap();
    for text in refused {
        assert!(list.refuses(&url(text)).is_some(), "`{line}` must leave {text} alone");
    }
    for text in visited {
        assert_eq!(list.refuses(&url(text)), None, "{text} is not on `{line}`");
    }
}

#[test]
fn a_host_is_left_alone_on_every_port_and_a_server_on_its_own() {
    let all = [
        "http://example.org/",
        "https://example.org/x?y",
        "http://example.org:8080/",
        "http://example.org:443/",
    ];
    let others = ["http://www.example.org/", "http://example.org.uk/", "http://notexample.org/"];
    for line in [
        "example.org",
        "EXAMPLE.ORG.",
        "example.org:80",
        "example.org:443",
        "http://example.org/",
        "https://u:p@example.org",
    ] {
        check(line, &all, &others);
    }
    check(
        "example.org:8080",
        &["http://example.org:8080/x", "https://example.org:8080/"],
        &["http://example.org/"],
    );
    check("日本語.jp", &["http://xn--wgv71a119e.jp/"], &[]);
}

#[test]
fn a_domain_is_left_alone_with_everything_below() {
    let all = ["http://example.org/", "https://a.b.example.org:8443/x", "http://WWW.example.org./"];
    let others = ["http://notexample.org/", "http://org/", "http://example.org.uk/"];
    for line in [".example.org", "*.example.org", ".Example.Org."] {
        check(line, &all, &others);
    }
    check(".jp", &["http://a.jp/", "http://jp/"], &["http://a.jpg/"]);
}

#[test]
fn no_spelling_of_a_page_slips_through() {
    let spellings = [
        "http://example.org/private/x",
        "https://example.org/private/",
        "HTTP://user:word@EXAMPLE.ORG.:80/private/x",
        "http://example.org/%70rivate/x",
        "http://example.org/%70%72ivate%2Fx",
        "http://example.org/a/../private/x",
        "http://example.org/%2e%2E/private/x",
        "http://example.org//private//x",
        r"http:\\example.org\private\x",
        "http://example.org/(S(lit3py55t21z5v55vlm25s55))/private/x",
        "http://example.org/private/;jsessionid=0123456789abcdef?x",
        "http://ex\u{ad}ample.org/private/x#f",
        "http://ｅxample。org/private/x",
    ];
    let others =
        ["http://example.org/privat", "http://example.org/PRIVATE/", "http://example.org:8080/private/"];
    for line in [
        "http://example.org/private/",
        "example.org/private/",
        "example.org:443/private/",
        "https://Example.org/%70rivate/",
        "example.org/x/../private//",
    ] {
        check(line, &spellings, &others);
    }
    check(
        "example.org/a?b=",
        &["http://example.org/a?b=1", "http://example.org/%61?b=%20"],
        &["http://example.org/a?c"],
    );
    check("example.org/写", &["http://example.org/%e5%86%99%e3%81%97"], &["http://example.org/%e5%86"]);
}

#[test]
fn addresses_are_left_alone_by_whatever_name() {
    let list =
        OptOutList::parse("192.0.2.0/24\n198.51.100.7\n2001:db8::/32\n[2001:db9::1]\n10.0.0.0/7").unwrap();
    for (address, line) in [
        ("192.0.2.0", Some(1)),
        ("192.0.2.255", Some(1)),
        ("192.0.3.0", None),
        ("::ffff:192.0.2.9", Some(1)),
        ("198.51.100.7", Some(2)),
        ("198.51.100.8", None),
        ("2001:db8:ffff::1", Some(3)),
        ("2001:db9::1", Some(4)),
        ("2001:db9::2", None),
        ("11.255.0.1", Some(5)),
        ("12.0.0.0", None),
    ] {
        let found = list.refuses_address(address.parse().unwrap()).map(|line| line.number);
        assert_eq!(found, line, "{address}");
    }
    assert!(list.refuses(&url("http://0xC0.0.2.1/x")).is_some(), "an address in a URL is one");
    assert!(list.refuses(&url("https://[2001:db8::5]:8443/")).is_some());
    assert!(list.refuses(&url("http://[::ffff:c000:0201]/")).is_some());
    assert!(OptOutList::parse("0.0.0.0/0").unwrap().refuses_address([8, 8, 8, 8].into()).is_some());
    assert!(
        OptOutList::parse("0.0.0.0/0").unwrap().refuses_address("2001:db8::1".parse().unwrap()).is_none()
    );
    check("192.0.2.1:8080", &["http://192.0.2.1:8080/"], &["http://192.0.2.1/"]);
}

#[test]
fn the_line_that_decides_is_named_and_comments_are_none() {
    let list =
        OptOutList::parse("\u{feff}# all\r\n\r\n  example.org  # why\r\n#x\r\nexample.com/a#b\r\n").unwrap();
    assert_eq!(list.len(), 2);
    let line = list.refuses(&url("http://example.org/")).unwrap();
    assert_eq!((line.number, line.to_string().as_str()), (3, "line 3: `example.org`"));
    assert_eq!(list.refuses(&url("http://example.com/a")).unwrap().number, 5);
    assert!(OptOutList::parse("").unwrap().is_empty());
}

#[test]
fn a_line_that_means_nothing_is_an_error_and_the_list_is_none() {
    for (line, part) in [
        ("example.org example.com", "one entry a line"),
        ("*", "stands only at the beginning"),
        ("http://example.org/*", "write the beginning of the URL"),
        ("www.*.org", "stands only at the beginning"),
        ("ftp://example.org/", "only http and https"),
        (".", "is no server"),
        ("*.", "is no server"),
        (".example.org:80", "neither port nor address"),
        (".192.0.2.1", "neither port nor address"),
        (".example.org/x", "is no server"),
        ("192.0.2.0/33", "write a network and its bits"),
        ("2001:db8::/129", "write a network and its bits"),
        ("exa<mple", "is no server"),
        ("http://", "is no server"),
        ("example.org:99999", "is no server"),
    ] {
        let error = OptOutList::parse(&format!("good.example\n\n{line}\n")).unwrap_err();
        assert_eq!(error.number, 3, "{line}");
        let told = error.to_string();
        assert!(told.starts_with("line 3 of the opt-out list: `") && told.contains(part), "{told}");
    }
    let told = OptOutList::parse("a\u{1b}[31m b").unwrap_err().to_string();
    assert!(!told.contains('\u{1b}'), "{told}");
}

/// Every kind of entry against the definition, one line at a time.
#[test]
fn model_a_long_list_says_what_its_lines_say_one_by_one() {
    let mut chance = Chance::new(11);
    let name = |chance: &mut Chance| {
        let labels = 1 + chance.index(3);
        (0..labels).map(|_| *chance.pick(&["a", "b", "c"])).collect::<Vec<_>>().join(".") + ".example"
    };
    let path = |chance: &mut Chance| {
        let length = chance.index(4);
        (0..length).map(|_| *chance.pick(&["/a", "/b", "/%61", "//", "b", "?a"])).collect::<String>()
    };
    let mut refused = 0;
    for _ in 0..400 {
        let lines: Vec<String> = (0..1 + chance.index(20))
            .map(|_| match chance.index(4) {
                0 => name(&mut chance),
                1 => format!(".{}", name(&mut chance)),
                2 => format!("{}:81", name(&mut chance)),
                _ => format!("{}/{}", name(&mut chance), path(&mut chance)),
            })
            .collect();
        let whole = OptOutList::parse(&lines.join("\n")).unwrap();
        let each: Vec<OptOutList> = lines.iter().map(|line| OptOutList::parse(line).unwrap()).collect();
        for _ in 0..40 {
            let port = if chance.happens(0.2) { ":81" } else { "" };
            let page = url(&format!("http://{}{port}/{}", name(&mut chance), path(&mut chance)));
            let expected = each.iter().any(|list| list.refuses(&page).is_some());
            assert_eq!(whole.refuses(&page).is_some(), expected, "{page} under {lines:?}");
            refused += u32::from(expected);
        }
    }
    assert!(refused > 1_000, "{refused}");
}

/// Generous bounds: what they catch takes minutes, not seconds.
#[test]
fn a_million_lines_are_asked_as_fast_as_one() {
    let text: String = (0..250_000)
        .map(|n| {
            format!(
                "h{n}.example\n.d{n}.example\nexample.org/p{n}/\n2001:db8:{:x}:{:x}::/64\n",
                n >> 16,
                n & 0xffff
            )
        })
        .collect();
    let started = tokio::time::Instant::now();
    let list = OptOutList::parse(&text).unwrap();
    let reading = started.elapsed();
    assert_eq!(list.len(), 1_000_000);
    let pages =
        [url("http://x.d249999.example/"), url("http://example.org/p77/x"), url("http://example.org/q")];
    let started = tokio::time::Instant::now();
    for _ in 0..10_000 {
        let found = pages.each_ref().map(|page| list.refuses(page).is_some());
        assert_eq!(found, [true, true, false]);
        assert!(list.refuses_address("2001:db8:3:10::7".parse().unwrap()).is_some());
    }
    let asking = started.elapsed() / 40_000;
    eprintln!("{} lines read in {reading:?}, a question in {asking:?}", list.len());
    assert!(reading.as_secs() < 60 && asking.as_micros() < 500, "{reading:?} {asking:?}");
}
